package io.redissondq.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.redisson.client.codec.Codec;

/** Prints the bytes of each codec of this Redisson for the samples, one line each. */
final class Vectors {
    /** Longer bytes are printed as a digest, to keep the file small. */
    private static final int LONGEST = 4096;

    private Vectors() {
    }

    static void print(PrintStream out, List<Coverage> coverages) throws ReflectiveOperationException {
        String version = Peer.redissonVersion();
        for (Coverage coverage : coverages) {
            for (Samples.Sample sample : Samples.all()) {
                JsonNode spec = coverage.spec(sample);
                if (spec != null && isHere(spec)) {
                    ObjectNode line = Json.object();
                    line.set("codec", spec.isTextual() ? spec : spec.get("name"));
                    if (spec.isObject()) {
                        line.set("spec", spec);
                    }
                    line.put("redisson", version).put("name", sample.name()).put("javaType", className(sample.value()));
                    out.println(Json.print(describe(line, Codecs.of(spec), sample)));
                }
            }
        }
    }

    static String className(Object value) {
        return value == null ? "null" : value.getClass().getName();
    }

    /** False for a codec or an option that this Redisson does not have yet, or no longer has. */
    private static boolean isHere(JsonNode spec) throws ReflectiveOperationException {
        try {
            Codecs.of(spec);
            return true;
        } catch (ClassNotFoundException | NoSuchMethodException e) {
            return false;
        }
    }

    private static ObjectNode describe(ObjectNode line, Codec codec, Samples.Sample sample) {
        byte[] bytes;
        try {
            bytes = Codecs.encode(codec, sample.value());
        } catch (Exception | LinkageError | StackOverflowError e) {
            return line.put("encodeError", e.getClass().getName());
        }
        if (bytes.length <= LONGEST) {
            line.put("hex", HexFormat.of().formatHex(bytes));
        } else {
            line.put("length", bytes.length).put("sha256", sha256(bytes));
        }
        if (sample.varies()) {
            line.put("deterministic", false);
        }
        try {
            Object back = Codecs.decode(codec, bytes);
            line.put("sameBack", Same.values(sample.value(), back));
            if (!className(back).equals(className(sample.value()))) {
                line.put("decodedAs", className(back));
            }
        } catch (Exception | LinkageError | StackOverflowError e) {
            line.put("decodeError", e.getClass().getName());
        }
        return line;
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
