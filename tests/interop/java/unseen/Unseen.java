package unseen;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.*;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.redisson.client.codec.Codec;

/** Objects of rare classes of the JDK: {@code write} prints name, bytes and what Java itself reads of them. */
public class Unseen {
    public static class Settings extends Properties {}

    public static class Named extends Properties {
        public String name;
    }

    public static class Zoned implements java.io.Serializable {
        public TimeZone zone;
        public SimpleTimeZone simple;
        public String note;
    }

    public static class Boxed implements java.io.Serializable {
        public ArrayBlockingQueue<String> queue;
        public BlockingQueue<Long> any;
        public int count;
    }

    static Map<String, Object> samples() {
        Map<String, Object> all = new LinkedHashMap<>();
        Settings settings = new Settings();
        settings.setProperty("url", "jdbc:x");
        settings.setProperty("b", "2");
        settings.setProperty("a", "1");
        all.put("settings", settings);
        all.put("no settings", new Settings());
        Named named = new Named();
        named.setProperty("k", "v");
        all.put("named", named);
        Zoned zoned = new Zoned();
        zoned.simple = new SimpleTimeZone(3600000, "Own");
        zoned.zone = new SimpleTimeZone(7200000, "Summer", 2, -1, 1, 7200000, 9, -1, 1, 10800000);
        zoned.note = "n";
        all.put("zoned", zoned);
        Zoned usual = new Zoned();
        usual.zone = TimeZone.getTimeZone("Europe/Berlin");
        all.put("usual zone", usual);
        all.put("simple", new SimpleTimeZone(3600000, "Own"));
        Boxed boxed = new Boxed();
        boxed.queue = new ArrayBlockingQueue<>(3, false, List.of("a", "b"));
        boxed.any = new ArrayBlockingQueue<>(2, true, List.of(5L));
        all.put("boxed", boxed);
        all.put("empty box", new Boxed());
        ArrayBlockingQueue<Object> queue = new ArrayBlockingQueue<>(4, false, List.of("x", 7, "y"));
        queue.poll();
        all.put("queue", queue);
        return all;
    }

    static String text(Object value) {
        if (value instanceof Zoned zoned) return "Zoned " + zoned.zone + " " + zoned.simple + " " + zoned.note;
        if (value instanceof Boxed boxed) return "Boxed " + text(boxed.queue) + " " + text(boxed.any) + " " + boxed.count;
        if (value instanceof BlockingQueue<?> queue) return queue + " of " + queue.remainingCapacity() + " more";
        if (value instanceof Map<?, ?> map) return value.getClass().getName() + new TreeMap<Object, Object>(map);
        return "" + value;
    }

    static String read(Codec codec, byte[] data) {
        try {
            return text(codec.getValueDecoder().decode(Unpooled.wrappedBuffer(data), null));
        } catch (Throwable error) {
            return ("ERROR " + error).replaceAll("[\t\n\r]", " ");
        }
    }

    public static void main(String[] arguments) throws Exception {
        Codec codec = (Codec) Class.forName("org.redisson.codec." + arguments[1]).getConstructor().newInstance();
        if (arguments[0].equals("read")) {
            System.out.println(read(codec, ByteBufUtil.decodeHexDump(new String(System.in.readAllBytes()).trim())));
            return;
        }
        for (Map.Entry<String, Object> each : samples().entrySet()) {
            byte[] data = ByteBufUtil.getBytes(codec.getValueEncoder().encode(each.getValue()));
            System.out.println(each.getKey() + "\t" + ByteBufUtil.hexDump(data) + "\t" + read(codec, data));
        }
    }
}
