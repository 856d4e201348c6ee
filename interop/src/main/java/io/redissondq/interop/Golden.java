package io.redissondq.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import org.redisson.client.codec.Codec;

/** Prints the bytes of each codec for the values of {@code golden.jsonl}. */
final class Golden {
    private record Fit(String codec, Class<?> type) {
        boolean takes(Object value) {
            return type.isInstance(value) || value == null && type == Object.class;
        }
    }

    private static final List<Fit> CODECS = List.of(
            new Fit("Kryo5Codec", Object.class),
            new Fit("JsonJacksonCodec", Object.class),
            new Fit("StringCodec", String.class),
            new Fit("LongCodec", Long.class),
            new Fit("IntegerCodec", Integer.class),
            new Fit("DoubleCodec", Double.class),
            new Fit("ByteArrayCodec", byte[].class));

    /** Longer bytes are printed as a digest, to keep the file small. */
    private static final int LONGEST = 4096;

    private Golden() {
    }

    static void print(PrintStream out) throws Exception {
        String version = Peer.redissonVersion();
        List<String> samples = samples();
        for (Fit fit : CODECS) {
            Codec codec = Codecs.named(fit.codec);
            for (String sample : samples) {
                JsonNode given = Json.parse(sample);
                Object value = Values.read(given);
                if (fit.takes(value)) {
                    ObjectNode line = Json.object().put("codec", fit.codec).put("redisson", version);
                    line.put("javaType", value == null ? "null" : value.getClass().getTypeName());
                    line.set("value", given.has(Values.REPEAT) ? given : Values.write(value));
                    out.println(Json.print(describe(line, codec, value)));
                }
            }
        }
    }

    /** Adds the bytes, and the value that Java itself reads from them if it differs. */
    private static ObjectNode describe(ObjectNode line, Codec codec, Object value) throws Exception {
        byte[] bytes;
        try {
            bytes = Codecs.encode(codec, value);
        } catch (Exception e) {
            return line.put("encodeError", e.getClass().getName());
        }
        if (bytes.length <= LONGEST) {
            line.put("hex", HexFormat.of().formatHex(bytes));
        } else {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
            line.put("length", bytes.length).put("sha256", HexFormat.of().formatHex(digest));
        }
        try {
            JsonNode decoded = Values.write(Codecs.decode(codec, bytes));
            return decoded.equals(Values.write(value)) ? line : line.set("decoded", decoded);
        } catch (Exception e) {
            return line.put("decodeError", e.getClass().getName());
        }
    }

    private static List<String> samples() throws IOException {
        try (var reader = new BufferedReader(new InputStreamReader(
                Golden.class.getResourceAsStream("/golden.jsonl"), StandardCharsets.UTF_8))) {
            return reader.lines().filter(line -> !line.isBlank() && !line.startsWith("#")).toList();
        }
    }
}
