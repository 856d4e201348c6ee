package annotated;

import io.netty.buffer.*;
import java.lang.reflect.*;
import java.util.*;
import org.redisson.client.codec.Codec;
import org.redisson.codec.*;

/**
 * Writes the samples by each codec, or reads what another has written.
 *
 * <p>{@code write} prints a line for each sample and codec: both names, the class, the bytes in hex, and the text of what
 * Java itself reads of them. {@code read} takes lines of a codec, a class and bytes in hex, and prints the text of each.
 */
public class Driver {
    static final Map<String, Codec> CODECS = new HashMap<>();

    static Codec codec(String name, Class<?> of) throws Exception {
        boolean typed = name.startsWith("Typed");
        String key = typed ? name + " " + of.getName() : name;
        Codec made = CODECS.get(key);
        if (made == null) {
            Class<?> kind = Class.forName("org.redisson.codec." + name);
            made = (Codec) (typed ? kind.getConstructor(Class.class).newInstance(of) : kind.getConstructor().newInstance());
            CODECS.put(key, made);
        }
        return made;
    }

    static String text(Object value) throws Exception {
        if (value == null) return "null";
        Class<?> kind = value.getClass();
        if (kind.isEnum() || kind.getName().startsWith("java.")) {
            if (value instanceof Collection) { List<String> all = new ArrayList<>(); for (Object each : (Collection<?>) value) all.add(text(each)); return all.toString(); }
            if (value instanceof Map) { Map<String, String> all = new TreeMap<>(); for (Map.Entry<?, ?> each : ((Map<?, ?>) value).entrySet()) all.put(text(each.getKey()), text(each.getValue())); return all.toString(); }
            return kind.isEnum() ? ((Enum<?>) value).name() : value.toString();
        }
        StringBuilder found = new StringBuilder(kind.getSimpleName() + "(");
        for (Class<?> each = kind; each != null && !each.getName().startsWith("java."); each = each.getSuperclass())
            for (Field field : each.getDeclaredFields())
                if (!Modifier.isStatic(field.getModifiers()) && !field.isSynthetic()) { field.setAccessible(true); found.append(field.getName()).append('=').append(text(field.get(value))).append(' '); }
        return found.append(')').toString();
    }

    static String error(Throwable error) {
        while (error.getCause() != null && error.getCause() != error) error = error.getCause();
        return ("ERROR " + error.getClass().getName() + ": " + error.getMessage()).replaceAll("[\t\n\r]", " ");
    }

    static String read(Codec codec, String hex) {
        try { return text(codec.getValueDecoder().decode(Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex)), null)); } catch (Throwable failure) { return error(failure); }
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("write")) {
            Map<String, Object> samples = new LinkedHashMap<>(Names.samples());
            for (Map.Entry<String, Object> sample : samples.entrySet())
                for (int at = 1; at < arguments.length; at++) {
                    Object value = sample.getValue();
                    Codec codec = codec(arguments[at], value.getClass());
                    String hex;
                    try { hex = ByteBufUtil.hexDump(codec.getValueEncoder().encode(value)); } catch (Throwable failure) { hex = error(failure); }
                    System.out.println(String.join("\t", sample.getKey(), arguments[at], value.getClass().getName(), hex, hex.startsWith("ERROR") ? "" : read(codec, hex), text(value)));
                }
        } else {
            Scanner in = new Scanner(System.in);
            while (in.hasNextLine()) {
                String[] parts = in.nextLine().split("\t");
                System.out.println(read(codec(parts[0], Class.forName(parts[1])), parts[2]));
            }
        }
    }
}
