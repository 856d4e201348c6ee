package shapes;

import io.netty.buffer.*;
import java.lang.reflect.*;
import java.util.*;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.redisson.client.codec.Codec;
import org.redisson.codec.*;
/**
 * Writes the samples of a class by each codec, or reads what another has written.
 *
 * <p>{@code write shapes.Bounds} prints a line for each sample and codec: both names, the bytes in hex, and whether Java
 * reads them back the same. Then a line TEXTS, and the text of each sample. {@code read} takes lines of a codec and bytes
 * in hex, and prints the text of each value. {@code use} does the same, and prints what Faces.use says of each. A Kryo that failed keeps type arguments, and writes
 * other bytes from then on, so it is not used again.
 */
public class Rig {
    static Map<String, Codec> codecs() throws Exception {
        Map<String, Codec> c = new LinkedHashMap<>();
        c.put("Kryo5Codec", new Kryo5Codec()); c.put("JsonJacksonCodec", new JsonJacksonCodec(new ObjectMapper().registerModule(new com.fasterxml.jackson.datatype.jdk8.Jdk8Module()).registerModule(new com.fasterxml.jackson.datatype.jsr310.JavaTimeModule()))); c.put("SerializationCodec", new SerializationCodec());
        c.put("JsonJackson3Codec", new JsonJackson3Codec()); c.put("CborJacksonCodec", new CborJacksonCodec()); c.put("IonJacksonCodec", new IonJacksonCodec());
        try { c.put("JsonJacksonCodec+KotlinModule", new JsonJacksonCodec((ObjectMapper) Class.forName("com.fasterxml.jackson.module.kotlin.ExtensionsKt").getMethod("jacksonObjectMapper").invoke(null))); } catch (ClassNotFoundException e) { }
        return c;
    }
    static String text(Object o, int d, Set<Object> seen) throws Exception {
        if (o == null) return "null";
        if (d > 14) return "...";
        Class<?> k = o.getClass();
        if (k.isArray()) { StringBuilder s = new StringBuilder(k.getName() + "["); for (int i = 0; i < Array.getLength(o); i++) s.append(text(Array.get(o, i), d + 1, seen)).append(","); return s + "]"; }
        String extra = "";
        boolean own = !k.getName().startsWith("java.") && !k.getName().startsWith("kotlin.") && !k.isEnum();
        if (own) { StringBuilder s = new StringBuilder("{"); for (Class<?> c = k; c != null && !c.getName().startsWith("java."); c = c.getSuperclass()) for (Field f : c.getDeclaredFields()) if (!Modifier.isStatic(f.getModifiers())) { f.setAccessible(true); s.append(f.getName()).append("=").append(text(f.get(o), d + 1, seen)).append(";"); } extra = s + "}"; }
        if (o instanceof Map) { Map<String, String> s = new TreeMap<>(); for (Map.Entry<?, ?> e : ((Map<?, ?>) o).entrySet()) s.put(text(e.getKey(), d + 1, seen), text(e.getValue(), d + 1, seen)); return k.getName() + extra + s; }
        if (o instanceof Set) { Set<String> s = new TreeSet<>(); for (Object e : (Set<?>) o) s.add(text(e, d + 1, seen)); return k.getName() + extra + s; }
        if (o instanceof Collection) { List<String> s = new ArrayList<>(); for (Object e : (Collection<?>) o) s.add(text(e, d + 1, seen)); return k.getName() + extra + s; }
        if (o instanceof java.util.concurrent.atomic.AtomicReference) return "Ref(" + text(((java.util.concurrent.atomic.AtomicReference<?>) o).get(), d + 1, seen) + ")";
        if (o instanceof Optional) return "Opt(" + text(((Optional<?>) o).orElse(null), d + 1, seen) + ")";
        return own ? k.getName() + extra : k.getName() + "(" + o + ")";
    }
    static String err(Throwable e) { while (e.getCause() != null && e.getCause() != e) e = e.getCause(); return (e.getClass().getName() + ": " + e.getMessage()).replaceAll("[\t\n\r]", " "); }
    public static void main(String[] a) throws Exception {
        Map<String, Codec> cs = codecs();
        if (a[0].equals("write")) {
            Map<String, Object> s = (Map<String, Object>) Class.forName(a[1]).getMethod("samples").invoke(null);
            for (Map.Entry<String, Object> e : s.entrySet()) for (Map.Entry<String, Codec> c : cs.entrySet()) {
                String hex, back;
                try { hex = ByteBufUtil.hexDump(c.getValue().getValueEncoder().encode(e.getValue())); } catch (Throwable t) { System.out.println(e.getKey() + "\t" + c.getKey() + "\tENC\t" + err(t)); cs.put("Kryo5Codec", new Kryo5Codec()); continue; }
                try { back = text(c.getValue().getValueDecoder().decode(Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex)), null), 0, null).equals(text(e.getValue(), 0, null)) ? "same" : "lost"; } catch (Throwable t) { back = "DEC " + err(t); }
                System.out.println(e.getKey() + "\t" + c.getKey() + "\t" + hex + "\t" + back);
            }
            System.out.println("TEXTS");
            for (Map.Entry<String, Object> e : s.entrySet()) System.out.println(e.getKey() + "\t" + text(e.getValue(), 0, null));
        } else {
            Scanner in = new Scanner(System.in);
            while (in.hasNextLine()) {
                String[] p = in.nextLine().split("\t");
                Codec c = cs.get(p[0]);
                try {
                    Object o = c.getValueDecoder().decode(Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(p[1])), null);
                    if (a[0].equals("use")) { System.out.println(Faces.use(o)); continue; }
                    String t = text(o, 0, null);
                    String h; try { h = ByteBufUtil.hexDump(c.getValueEncoder().encode(o)); } catch (Throwable e) { h = "ENC " + err(e); }
                    System.out.println(t.replaceAll("[\t\n\r]", " ") + "\t" + h);
                } catch (Throwable t) { System.out.println("DEC " + err(t)); }
            }
        }
    }
}
