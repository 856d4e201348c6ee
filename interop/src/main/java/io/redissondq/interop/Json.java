package io.redissondq.interop;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** One line of JSON as a tree, and back as pure ASCII: a lone surrogate has an escape but no UTF-8. */
final class Json {
    static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

    private Json() {
    }

    static JsonNode parse(String line) throws JsonProcessingException {
        return MAPPER.readTree(line);
    }

    static JsonNode of(Object result) {
        return MAPPER.valueToTree(result);
    }

    static String print(JsonNode node) {
        try {
            return MAPPER.writeValueAsString(node);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    static ObjectNode object() {
        return NODES.objectNode();
    }

    static ArrayNode array() {
        return NODES.arrayNode();
    }
}
