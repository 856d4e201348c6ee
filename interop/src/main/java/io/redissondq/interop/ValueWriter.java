package io.redissondq.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

/** A Java value as typed JSON, with the class of each part. The rules are in the README. */
final class ValueWriter {
    private static final String UP = "up";
    private static final String COMPARATOR = "comparator";

    /** The values that contain the current one, the innermost last. */
    private final ArrayList<Object> outer = new ArrayList<>();

    JsonNode write(Object value) {
        if (value == null) {
            return Json.NODES.nullNode();
        }
        if (value instanceof String text) {
            return Json.NODES.textNode(text);
        }
        if (value instanceof Boolean flag) {
            return Json.NODES.booleanNode(flag);
        }
        if (value instanceof Integer number) {
            return Json.NODES.numberNode(number);
        }
        if (value instanceof Double number && Double.isFinite(number)) {
            return Json.NODES.numberNode(number);
        }
        for (int i = outer.size() - 1; i >= 0; i--) {
            if (outer.get(i) == value) {
                return typed(value).put(UP, outer.size() - i);
            }
        }
        outer.add(value);
        try {
            return inside(value);
        } finally {
            outer.remove(outer.size() - 1);
        }
    }

    private JsonNode inside(Object value) {
        if (value.getClass() == ArrayList.class) {
            return elements(((Collection<?>) value).iterator());
        }
        if (value.getClass() == LinkedHashMap.class && isPlain((Map<?, ?>) value)) {
            ObjectNode node = Json.object();
            ((Map<?, ?>) value).forEach((key, item) -> node.set((String) key, write(item)));
            return node;
        }
        ObjectNode node = typed(value).set(Values.VALUE, body(value));
        Comparator<?> comparator = comparator(value);
        return comparator == null ? node : node.put(COMPARATOR, comparator.getClass().getName());
    }

    /** A constant with a body has its own class, but the enum's name is used. */
    private static ObjectNode typed(Object value) {
        Class<?> type = value instanceof Enum<?> constant ? constant.getDeclaringClass() : value.getClass();
        return Json.object().put(Values.TYPE, type.getTypeName());
    }

    static Comparator<?> comparator(Object value) {
        if (value instanceof SortedMap<?, ?> map) {
            return map.comparator();
        }
        if (value instanceof SortedSet<?> set) {
            return set.comparator();
        }
        return value instanceof PriorityQueue<?> queue ? queue.comparator() : null;
    }

    private JsonNode body(Object value) {
        if (TextTypes.has(value.getClass().getTypeName())) {
            return Json.NODES.textNode(TextTypes.print(value));
        }
        if (value instanceof Map<?, ?> map) {
            ArrayNode entries = Json.array();
            map.forEach((key, item) -> entries.addArray().add(write(key)).add(write(item)));
            return entries;
        }
        if (value instanceof Map.Entry<?, ?> entry) {
            return Json.array().add(write(entry.getKey())).add(write(entry.getValue()));
        }
        if (value instanceof Collection<?> collection) {
            return elements(collection.iterator());
        }
        if (value.getClass().isArray()) {
            ArrayNode items = Json.array();
            for (int i = 0; i < Array.getLength(value); i++) {
                items.add(write(Array.get(value, i)));
            }
            return items;
        }
        if (value instanceof Enum<?> constant) {
            return Json.NODES.textNode(constant.name());
        }
        if (value instanceof Optional<?> optional) {
            return write(optional.orElse(null));
        }
        if (value instanceof AtomicReference<?> reference) {
            return write(reference.get());
        }
        if (value instanceof Class<?> type) {
            return Json.NODES.textNode(type.getName());
        }
        if (value instanceof Pattern pattern) {
            return Json.object().put("pattern", pattern.pattern()).put("flags", pattern.flags());
        }
        if (value instanceof Calendar calendar) {
            return Json.object().put("ms", calendar.getTimeInMillis()).put("zone", calendar.getTimeZone().getID());
        }
        if (value instanceof Throwable error) {
            return fields(error, throwable(error));
        }
        return Fields.areOpen(value.getClass()) ? fields(value, Json.object())
                : Json.NODES.textNode(value.toString());
    }

    private ArrayNode elements(Iterator<?> elements) {
        ArrayNode items = Json.array();
        elements.forEachRemaining(item -> items.add(write(item)));
        return items;
    }

    private ObjectNode throwable(Throwable error) {
        ObjectNode node = Json.object().put("message", error.getMessage());
        node.set("cause", write(error.getCause()));
        ArrayNode trace = node.putArray("stackTrace");
        for (StackTraceElement element : error.getStackTrace()) {
            trace.add(element.toString());
        }
        ArrayNode suppressed = node.putArray("suppressed");
        for (Throwable aside : error.getSuppressed()) {
            suppressed.add(write(aside));
        }
        return node;
    }

    /** The name of a field that hides one of a superclass includes its class. */
    private ObjectNode fields(Object value, ObjectNode node) {
        for (Field field : Fields.of(value.getClass())) {
            String name = field.getName();
            node.set(node.has(name) ? field.getDeclaringClass().getName() + "." + name : name,
                    write(Fields.get(field, value)));
        }
        return node;
    }

    /** Whether the map can be written as a JSON object without looking like a typed value. */
    private static boolean isPlain(Map<?, ?> map) {
        return map.keySet().stream().allMatch(key -> key instanceof String text && !text.startsWith(Values.TYPE));
    }
}
