package io.redissondq.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HexFormat;
import org.redisson.client.codec.Codec;

/** Many values decoded and encoded again in one request, for tests with values by the thousand. */
final class Recoding {
    private static final HexFormat HEX = HexFormat.of();

    /** The text is for readers of a failure. */
    private static final int LONGEST_TEXT = 200;

    private Recoding() {
    }

    static ArrayNode of(Codec codec, JsonNode items) {
        ArrayNode answers = Json.array();
        items.forEach(item -> answers.add(recode(codec, HEX.parseHex(item.textValue()))));
        return answers;
    }

    private static ObjectNode recode(Codec codec, byte[] bytes) {
        Object value;
        try {
            value = Codecs.decode(codec, bytes);
        } catch (Exception | LinkageError | StackOverflowError e) {
            return Json.object().put("error", e.toString());
        }
        ObjectNode answer = Json.object().put("class", Vectors.className(value)).put("text", text(value));
        try {
            return answer.put("hex", HEX.formatHex(Codecs.encode(codec, value)));
        } catch (Exception | LinkageError | StackOverflowError e) {
            return answer.put("encodeError", e.toString());
        }
    }

    private static String text(Object value) {
        try {
            String text = String.valueOf(value);
            return text.substring(0, Math.min(text.length(), LONGEST_TEXT));
        } catch (RuntimeException | StackOverflowError e) {
            return e.toString();
        }
    }
}
