package io.redissondq.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** Java values as typed JSON, and back. The rules are in the README. */
final class Values {
    static final String REPEAT = "$repeat";

    static final String TYPE = "$";
    static final String VALUE = "v";

    private Values() {
    }

    static Object read(JsonNode node) throws ReflectiveOperationException {
        return switch (node.getNodeType()) {
            case NULL, MISSING -> null;
            case BOOLEAN -> node.booleanValue();
            case STRING -> node.textValue();
            case NUMBER -> number(node);
            case ARRAY -> fill(new ArrayList<>(), node);
            default -> object(node);
        };
    }

    static JsonNode write(Object value) {
        return new ValueWriter().write(value);
    }

    static ArrayNode writeAll(Iterator<?> values) {
        ArrayNode node = Json.array();
        values.forEachRemaining(value -> node.add(write(value)));
        return node;
    }

    private static Object number(JsonNode node) {
        if (!node.isIntegralNumber()) {
            return node.doubleValue();
        }
        if (node.canConvertToInt()) {
            return node.intValue();
        }
        // The cast keeps the conditional from unboxing both sides to one numeric type.
        return node.canConvertToLong() ? (Object) node.longValue() : node.bigIntegerValue();
    }

    private static Object object(JsonNode node) throws ReflectiveOperationException {
        if (node.has(TYPE)) {
            return typed(node.get(TYPE).textValue(), node.path(VALUE));
        }
        if (node.has(REPEAT)) {
            return node.get(REPEAT).get(0).textValue().repeat(node.get(REPEAT).get(1).intValue());
        }
        Map<String, Object> map = new LinkedHashMap<>();
        for (var fields = node.fields(); fields.hasNext();) {
            var field = fields.next();
            map.put(field.getKey(), read(field.getValue()));
        }
        return map;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object typed(String name, JsonNode body) throws ReflectiveOperationException {
        if (TextTypes.has(name)) {
            return TextTypes.parse(name, body.asText());
        }
        if (name.endsWith("[]")) {
            return array(componentType(name.substring(0, name.length() - 2)), body);
        }
        Class<?> type = Class.forName(name);
        if (type.isEnum()) {
            return Enum.valueOf((Class) type, body.textValue());
        }
        Object empty = type.getConstructor().newInstance();
        if (empty instanceof Map map) {
            for (JsonNode entry : body) {
                map.put(read(entry.get(0)), read(entry.get(1)));
            }
            return map;
        }
        return fill((Collection<Object>) empty, body);
    }

    private static Collection<Object> fill(Collection<Object> collection, JsonNode items)
            throws ReflectiveOperationException {
        for (JsonNode item : items) {
            collection.add(read(item));
        }
        return collection;
    }

    private static Object array(Class<?> component, JsonNode items) throws ReflectiveOperationException {
        Object array = Array.newInstance(component, items.size());
        for (int i = 0; i < items.size(); i++) {
            Array.set(array, i, read(items.get(i)));
        }
        return array;
    }

    private static Class<?> componentType(String name) throws ReflectiveOperationException {
        return switch (name) {
            case "boolean" -> boolean.class;
            case "char" -> char.class;
            case "short" -> short.class;
            case "int" -> int.class;
            case "long" -> long.class;
            case "float" -> float.class;
            case "double" -> double.class;
            default -> Class.forName(name);
        };
    }
}
