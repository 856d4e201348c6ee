package mappers;

import com.fasterxml.jackson.annotation.*;
import com.fasterxml.jackson.databind.*;
import com.fasterxml.jackson.databind.jsontype.impl.LaissezFaireSubTypeValidator;
import io.netty.buffer.*;
import java.math.*;
import java.util.*;
import org.redisson.client.codec.Codec;
import org.redisson.codec.*;

/**
 * Codecs with mappers as teams configure them.
 *
 * <p>{@code write} prints of each sample its name, the bytes in hex and the text of what Java itself reads of them.
 * {@code read} takes lines of bytes in hex, and prints the text of what Java reads of each.
 */
public class Driver {
    public enum Level { LOW, HIGH }

    public static class Part {
        public String partNumber;
        public Long longId;
        public Part() {}
        Part(String number, Long id) { partNumber = number; longId = id; }
        @Override public String toString() { return "Part(" + partNumber + " " + longId + ")"; }
    }

    public static class Job extends Part {
        public int retryCount;
        public String aURL;
        public String x2Y;
        public BigDecimal unitPrice;
        public Level topLevel;
        public UUID traceId;
        public Object anyValue;
        public Part mainPart;
        public List<Part> allParts;
        public Map<String, Object> extraData;
        @JsonProperty("Fixed_Name") public String givenName;
        @Override public String toString() {
            return "Job(" + super.toString() + " " + retryCount + " " + aURL + " " + x2Y + " " + unitPrice + " " + topLevel + " "
                    + traceId + " " + text(anyValue) + " " + mainPart + " " + text(allParts) + " " + text(extraData) + " "
                    + givenName + ")";
        }
    }

    static final String UUID_TEXT = "123e4567-e89b-12d3-a456-426614174000";

    static Job job() {
        Job job = new Job();
        job.partNumber = "p";
        job.longId = 7L;
        job.retryCount = 3;
        job.aURL = "u";
        job.x2Y = "x";
        job.unitPrice = new BigDecimal("1.5");
        job.topLevel = Level.HIGH;
        job.traceId = UUID.fromString(UUID_TEXT);
        job.anyValue = 5L;
        job.mainPart = new Part("main", null);
        job.allParts = new ArrayList<>(List.of(new Part("a", 1L), new Part(null, 5_000_000_000L)));
        job.extraData = new HashMap<>(Map.of("orderId", "kept", "longValue", 5_000_000_000L));
        job.givenName = "g";
        return job;
    }

    static Map<String, Object> samples() {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("job", job());
        all.put("part", new Part("p", 8L));
        all.put("parts", new ArrayList<>(List.of(new Part("a", 1L), new Part("b", 2L))));
        all.put("by name", new LinkedHashMap<>(Map.of("someKey", new Part("a", 1L))));
        all.put("nothing", new Job());
        return all;
    }

    /** Of values without parts, and of those in collections, which only the codecs with types of classes keep. */
    static Map<String, Object> values() {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("text", "t");
        all.put("integer", 5);
        all.put("long", 5_000_000_000L);
        all.put("mixed", new ArrayList<>(Arrays.asList(1, 2L, "t", true, 1.5, new BigDecimal("12345678901234567.89"),
                new BigInteger("5"), Level.LOW, UUID.fromString(UUID_TEXT), null, new ArrayList<>(List.of(1L)))));
        all.put("map", new HashMap<>(Map.of("a", new LinkedHashMap<>(Map.of("b", new Part("c", 1L))))));
        all.put("objects", new ArrayList<>(List.of((Object) new Object[] {1L, new Part("d", 2L)}, new Long[] {1L, null}, new Part[] {new Part("e", 3L)})));
        all.put("set", new HashSet<>(List.of("s")));
        return all;
    }

    static String text(Object value) {
        if (value instanceof Object[] array) return value.getClass().getSimpleName() + text(Arrays.asList(array));
        if (value instanceof Collection<?> all) {
            StringJoiner found = new StringJoiner(", ", value.getClass().getSimpleName() + "[", "]");
            for (Object each : all) found.add(text(each));
            return found.toString();
        }
        if (value instanceof Map<?, ?> map) {
            Map<String, String> found = new TreeMap<>();
            map.forEach((key, item) -> found.put(text(key), text(item)));
            return value.getClass().getSimpleName() + found;
        }
        if (value == null || value instanceof Part || value instanceof Dated || value instanceof Numbers) return "" + value;
        return value.getClass().getSimpleName() + " " + value;
    }

    /** The codec of a spec: its name, and the setting of its mapper. */
    static Codec codec(String spec) throws Exception {
        String[] parts = spec.split(" ");
        String name = parts[0];
        ObjectMapper mapper = new ObjectMapper();
        String setting = parts[1];
        if (setting.equals("wrapper_array")) {
            mapper.activateDefaultTyping(LaissezFaireSubTypeValidator.instance, ObjectMapper.DefaultTyping.NON_FINAL);
        } else if (setting.equals("property")) {
            mapper.activateDefaultTyping(
                    LaissezFaireSubTypeValidator.instance, ObjectMapper.DefaultTyping.NON_FINAL, JsonTypeInfo.As.PROPERTY);
        } else if (setting.startsWith("texts")) {
            mapper = Numbers.mapper(setting);
            if (setting.equals("texts_typed")) {
                mapper.activateDefaultTyping(LaissezFaireSubTypeValidator.instance, ObjectMapper.DefaultTyping.NON_FINAL);
            }
        } else if (setting.startsWith("fields") || setting.startsWith("mapper")) {
            mapper = Dated.mapper(setting);
        } else if (!setting.equals("none")) {
            naming = (PropertyNamingStrategy) PropertyNamingStrategies.class.getField(setting.toUpperCase()).get(null);
            mapper.setPropertyNamingStrategy(naming);
        }
        if (name.startsWith("Typed")) {
            Class<?> type = parts.length > 2 ? Class.forName(parts[2]) : Object.class;
            return new TypedJsonJacksonCodec(type, mapper);
        }
        return switch (name) {
            case "CborJacksonCodec" -> new Cbor();
            case "SmileJacksonCodec" -> new Smile();
            case "MsgPackJacksonCodec" -> new MsgPack();
            case "IonJacksonCodec" -> new Ion();
            default -> new JsonJacksonCodec(mapper);
        };
    }

    /** Of the codecs whose constructor takes no mapper. */
    static PropertyNamingStrategy naming;

    static class Cbor extends CborJacksonCodec {
        @Override protected void init(ObjectMapper mapper) { super.init(mapper); mapper.setPropertyNamingStrategy(naming); }
    }

    static class Smile extends SmileJacksonCodec {
        @Override protected void init(ObjectMapper mapper) { super.init(mapper); mapper.setPropertyNamingStrategy(naming); }
    }

    static class MsgPack extends MsgPackJacksonCodec {
        @Override protected void init(ObjectMapper mapper) { super.init(mapper); mapper.setPropertyNamingStrategy(naming); }
    }

    static class Ion extends IonJacksonCodec {
        @Override protected void init(ObjectMapper mapper) { super.init(mapper); mapper.setPropertyNamingStrategy(naming); }
    }

    static String read(Codec codec, byte[] data) {
        try {
            return text(codec.getValueDecoder().decode(Unpooled.wrappedBuffer(data), null));
        } catch (Throwable error) {
            return ("ERROR " + error).replaceAll("[\t\n\r]", " ");
        }
    }

    public static void main(String[] arguments) throws Exception {
        Codec codec = codec(arguments[1]);
        if (arguments[0].equals("write")) {
            Map<String, Object> all =
                    switch (arguments[2]) {
                        case "samples" -> samples();
                        case "dates" -> Dated.samples();
                        case "numbers" -> Numbers.samples();
                        default -> values();
                    };
            for (Map.Entry<String, Object> each : all.entrySet()) {
                byte[] data = ByteBufUtil.getBytes(codec.getValueEncoder().encode(each.getValue()));
                System.out.println(each.getKey() + "\t" + ByteBufUtil.hexDump(data) + "\t" + read(codec, data));
            }
        } else {
            for (String line : new String(System.in.readAllBytes(), "UTF-8").split("\n")) {
                System.out.println(read(codec, ByteBufUtil.decodeHexDump(line)));
            }
        }
    }
}
