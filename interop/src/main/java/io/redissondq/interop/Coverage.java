package io.redissondq.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.redissondq.interop.Samples.Sample;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/** Which codec writes which samples: for a sample the spec of the codec, or null when it is not to be written. */
record Coverage(Function<Sample, JsonNode> spec) {
    private static final Set<String> TIMES = Set.of("instant", "localdate", "localtime", "localdatetime",
            "calendarpart", "zone", "offsetdatetime", "offsettime", "zoneddatetime", "duration", "period");

    private static final List<String> REGISTERED = List.of("[Ljava.lang.Object;", "com.acme.Address", "com.acme.Color",
            "com.acme.Customer", "com.acme.Line", "com.acme.Order", "com.acme.Point", "com.acme.VipCustomer",
            "java.util.ArrayList", "java.util.Date", "java.util.LinkedHashMap");

    /** The declared types that TypedJsonJacksonCodec is given, by sample. */
    private static final Map<String, String> TYPES = new LinkedHashMap<>();

    static {
        TYPES.put("objects/list", "java.util.List<com.acme.Order>");
        TYPES.put("objects/list-points", "java.util.ArrayList<com.acme.Point>");
        TYPES.put("objects/map-by-color",
                "java.util.Map<com.acme.Color,java.util.List<com.acme.Order>>");
        TYPES.put("list/arraylist-longs", "java.util.List<java.lang.Long>");
        TYPES.put("list/arraylist-mixed", "java.util.List<java.lang.Object>");
        TYPES.put("set/linkedhashset", "java.util.Set<java.lang.String>");
        TYPES.put("map/tree", "java.util.Map<java.lang.String,java.lang.Integer>");
        TYPES.put("keys/long", "java.util.Map<java.lang.Long,java.lang.String>");
        TYPES.put("keys/uuid", "java.util.Map<java.util.UUID,java.lang.String>");
        TYPES.put("keys/date", "java.util.Map<java.util.Date,java.lang.String>");
        TYPES.put("object/box-string", "com.acme.Box<java.lang.String>");
        TYPES.put("object/box-long", "com.acme.Box<java.lang.Long>");
        TYPES.put("object/box-order", "com.acme.Box<com.acme.Order>");
    }

    JsonNode spec(Sample sample) {
        return spec.apply(sample);
    }

    /** The codecs of the library, each with every option that affects its bytes. */
    static List<Coverage> main() {
        List<Coverage> all = new ArrayList<>();
        for (String codec : List.of("Kryo5Codec", "JsonJacksonCodec", "SerializationCodec", "MsgPackJacksonCodec",
                "CborJacksonCodec", "SmileJacksonCodec", "IonJacksonCodec")) {
            all.add(new Coverage(Json.NODES.textNode(codec), Coverage::isCommon));
        }
        all.add(new Coverage(name("SerializationCodec"), in("cycle")));
        kryo(all);
        json(all);
        schemas(all);
        plain(all);
        nested(all);
        return all;
    }

    /** Codecs whose bytes only need to be recognized. */
    static List<Coverage> foreign() {
        List<Coverage> all = new ArrayList<>();
        for (String codec : List.of("MarshallingCodec", "FstCodec", "KryoCodec", "FuryCodec", "ForyCodec",
                "SnappyCodec")) {
            all.add(new Coverage(name(codec), Coverage::isBasic));
        }
        return all;
    }

    /** The default codec of Redisson before 3.19. */
    static List<Coverage> marshalling() {
        return List.of(new Coverage(name("MarshallingCodec"), in("message").negate()));
    }

    private Coverage(JsonNode codec, Predicate<Sample> chosen) {
        this(sample -> chosen.test(sample) ? codec : null);
    }

    private static void kryo(List<Coverage> all) {
        JsonNode references = spec("Kryo5Codec", "references", true);
        JsonNode registered = spec("Kryo5Codec", "allowedClasses", REGISTERED);
        JsonNode both = spec("Kryo5Codec", "allowedClasses", REGISTERED, "references", true);
        Predicate<Sample> few = named("null/null", "string/ascii", "int/1", "enum/plain", "date/millis",
                "list/arraylist-mixed", "map/linked-mixed", "array/object-empty", "array/int", "object/order",
                "object/order-vip", "object/circle", "record/line", "objects/array", "objects/shared");
        all.add(new Coverage(references, in("object", "record", "objects", "exception", "cycle", "list", "array",
                "optional", "atomic", "date", "enum", "keys").or(Coverage::isBasic)));
        all.add(new Coverage(registered, few));
        all.add(new Coverage(both, few));
    }

    private static void json(List<Coverage> all) {
        all.add(new Coverage(name("JsonJacksonCodec"), in("cycle")));
        all.add(new Coverage(spec("JsonJacksonCodec", "modules", true), in(TIMES)
                .or(in("optional")).or(named("object/dates", "object/maybe", "keys/local-date"))));
        all.add(new Coverage(name("JsonJackson3Codec"), Coverage::isCommon));
        all.add(new Coverage(name("CborJackson3Codec"), Coverage::isBasic));
        all.add(new Coverage(name("SmileJackson3Codec"), Coverage::isBasic));
        all.add(new Coverage(sample -> in("object", "record", "exception").or(Coverage::isBasic).test(sample)
                ? ofClass("TypedJsonJacksonCodec", sample) : null));
        all.add(new Coverage(sample -> in("instant", "duration").or(named("object/dates", "object/maybe")).test(sample)
                ? ofClass("TypedJsonJacksonCodec", sample).put("modules", true) : null));
        all.add(new Coverage(sample -> TYPES.containsKey(sample.name())
                ? spec("TypedJsonJacksonCodec", "type", TYPES.get(sample.name())) : null));
    }

    private static void schemas(List<Coverage> all) {
        all.add(new Coverage(Coverage::avro));
        // Protostuff reads into a field's existing value, which here is the JVM's shared empty Optional.
        Predicate<Sample> harmless = named("object/maybe").negate();
        Predicate<Sample> chosen = in("message", "object", "record").or(Coverage::isBasic).and(harmless);
        all.add(new Coverage(sample -> chosen.test(sample) ? ofClass("ProtobufCodec", sample) : null));
    }

    private static void plain(List<Coverage> all) {
        all.add(new Coverage(name("StringCodec"), in("string", "null", "int", "double", "boolean")));
        for (String charset : List.of("UTF-16", "UTF-16LE", "UTF-32", "ISO-8859-1", "US-ASCII", "windows-1251",
                "Shift_JIS", "EUC-KR", "Big5", "GB18030", "IBM037")) {
            all.add(new Coverage(spec("StringCodec", "charset", charset),
                    in("string").and(sample -> ((String) sample.value()).length() < 100)));
        }
        all.add(new Coverage(name("LongCodec"), in("long")));
        all.add(new Coverage(name("IntegerCodec"), in("int")));
        all.add(new Coverage(name("DoubleCodec"), in("double")));
        all.add(new Coverage(name("ByteArrayCodec"), sample -> sample.value() instanceof byte[]));
    }

    private static void nested(List<Coverage> all) {
        Predicate<Sample> texts = in("string");
        Predicate<Sample> values = texts.or(Coverage::isBasic).or(sample -> sample.value() instanceof byte[]);
        JsonNode json = spec("LZ4Codec", "inner", "JsonJacksonCodec");
        for (String codec : List.of("LZ4Codec", "LZ4CodecV2", "SnappyCodecV2", "ZStdCodec")) {
            all.add(new Coverage(name(codec), values));
            all.add(new Coverage(spec(codec, "inner", "StringCodec"), texts));
            all.add(new Coverage(spec(codec, "inner", json), Coverage::isBasic));
        }
        all.add(new Coverage(spec("CompositeCodec", "mapKey", "StringCodec", "mapValue", "LongCodec", "value",
                "JsonJacksonCodec"), Coverage::isBasic));
    }

    private static boolean isCommon(Sample sample) {
        return !in("message", "cycle").test(sample);
    }

    private static boolean isBasic(Sample sample) {
        return named("null/null", "boolean/true", "string/ascii", "string/unicode", "int/1", "int/2147483647", "long/1",
                "long/9223372036854775807", "float/1.1", "double/19.99", "biginteger/2-to-64", "bigdecimal/19.99",
                "char/a", "array/byte", "uuid/random", "enum/plain", "date/millis", "list/arraylist-strings",
                "list/arraylist-mixed", "set/linkedhashset", "map/linked-mixed", "map/tree",
                "object/order").test(sample);
    }

    private static Predicate<Sample> in(String... groups) {
        return in(Set.of(groups));
    }

    private static Predicate<Sample> in(Set<String> groups) {
        return sample -> groups.contains(sample.group());
    }

    private static Predicate<Sample> named(String... names) {
        Set<String> chosen = Set.of(names);
        return sample -> chosen.contains(sample.name());
    }

    private static JsonNode name(String codec) {
        return Json.NODES.textNode(codec);
    }

    /** Options and their values, alternating. */
    private static ObjectNode spec(String codec, Object... options) {
        ObjectNode spec = Json.object().put("name", codec);
        for (int i = 0; i < options.length; i += 2) {
            spec.set((String) options[i], Json.of(options[i + 1]));
        }
        return spec;
    }

    private static ObjectNode ofClass(String codec, Sample sample) {
        Object value = sample.value();
        Class<?> type = value == null ? Object.class
                : value instanceof Enum<?> constant ? constant.getDeclaringClass() : value.getClass();
        return spec(codec, "class", type.getName());
    }

    private static JsonNode avro(Sample sample) {
        String type = Vectors.className(sample.value());
        try (InputStream schema = Coverage.class.getResourceAsStream("/avro/" + type + ".avsc")) {
            return schema == null ? null : spec("AvroJacksonCodec", "class", type, "schema",
                    Json.parse(new String(schema.readAllBytes(), StandardCharsets.UTF_8)).toString());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
