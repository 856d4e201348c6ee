package io.redissondq.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Date;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.redisson.api.queue.DequeMoveArgs;
import org.redisson.api.queue.DequeMoveDestination;

/**
 * A call of any method of a queue's interface. Arguments say what they are, and so choose among overloads: a value is
 * for a parameter of type Object alone, which is what the type of an element is erased to.
 */
final class Invocation {
    private interface Reader {
        Object read(JsonNode body) throws Exception;
    }

    /** Converts an argument of a kind to the type of a parameter. */
    private record Form(String kind, Class<?> parameter, Reader reader) {
    }

    private record Argument(String kind, JsonNode body) {
        static Argument of(JsonNode node) {
            return node.has("arg") ? new Argument(node.get("arg").textValue(), node.path(Values.VALUE))
                    : new Argument("value", node);
        }

        Optional<Form> form(Class<?> parameter) {
            return FORMS.stream().filter(form -> form.kind.equals(kind) && form.parameter == parameter).findFirst();
        }

        Object as(Class<?> parameter) throws Exception {
            return form(parameter).orElseThrow().reader.read(body);
        }
    }

    /** The kind for a collection that the method fills. Its values are part of the result. */
    private static final String COLLECT = "collect";

    private static final List<Form> FORMS = List.of(
            new Form("value", Object.class, Values::read),
            new Form("values", Collection.class, Values::read),
            new Form("values", Object[].class, body -> ((Collection<?>) Values.read(body)).toArray()),
            new Form(COLLECT, Collection.class, body -> new ArrayList<>()),
            new Form("int", int.class, JsonNode::intValue),
            new Form("long", long.class, JsonNode::longValue),
            new Form("unit", TimeUnit.class, body -> TimeUnit.valueOf(body.textValue())),
            new Form("duration", Duration.class, body -> Duration.ofMillis(body.longValue())),
            new Form("instant", Instant.class, body -> Instant.ofEpochMilli(body.longValue())),
            new Form("instant", Date.class, body -> new Date(body.longValue())),
            new Form("string", String.class, JsonNode::textValue),
            new Form("strings", String[].class, body -> stream(body).map(JsonNode::textValue).toArray(String[]::new)),
            new Form("bytes", byte[].class, JsonNode::binaryValue),
            new Form("deque_move", DequeMoveArgs.class, Invocation::dequeMove));

    private Invocation() {
    }

    static JsonNode of(QueueKind kind, Object queue, String name, JsonNode args) throws Exception {
        List<Argument> given = stream(args).map(Argument::of).toList();
        Method method = Methods.of(kind).stream()
                .filter(found -> found.getName().equals(name) && fit(given, found.getParameterTypes()))
                .findFirst()
                .orElseThrow(() -> new NoSuchMethodException(signature(kind, name, given)));
        Object[] taken = new Object[given.size()];
        for (int i = 0; i < taken.length; i++) {
            taken[i] = given.get(i).as(method.getParameterTypes()[i]);
        }
        JsonNode result = write(method.getReturnType(), method.invoke(queue, taken));
        for (int i = 0; i < taken.length; i++) {
            if (given.get(i).kind.equals(COLLECT)) {
                return Json.array().add(result).add(Values.writeAll(((Collection<?>) taken[i]).iterator()));
            }
        }
        return result;
    }

    private static boolean fit(List<Argument> given, Class<?>[] parameters) {
        return given.size() == parameters.length && IntStream.range(0, parameters.length)
                .allMatch(i -> given.get(i).form(parameters[i]).isPresent());
    }

    private static String signature(QueueKind kind, String name, List<Argument> given) {
        return given.stream().map(Argument::kind)
                .collect(Collectors.joining(", ", kind.type.getSimpleName() + "." + name + "(", ")"));
    }

    private static DequeMoveArgs dequeMove(JsonNode body) {
        DequeMoveDestination from = isFirst(body.get("from")) ? DequeMoveArgs.pollFirst() : DequeMoveArgs.pollLast();
        String queue = body.get("queue").textValue();
        return isFirst(body.get("to")) ? from.addFirstTo(queue) : from.addLastTo(queue);
    }

    private static boolean isFirst(JsonNode end) {
        return switch (end.textValue()) {
            case "first" -> true;
            case "last" -> false;
            default -> throw new IllegalArgumentException("an end of a deque is first or last");
        };
    }

    /** The declared type distinguishes an element, which may be a collection itself, from a collection of elements. */
    private static JsonNode write(Class<?> declared, Object result) throws ReflectiveOperationException {
        if (declared == Object.class || result == null || result instanceof byte[]) {
            return Values.write(result);
        }
        if (result instanceof Iterator<?> iterator) {
            return Values.writeAll(iterator);
        }
        if (result instanceof Collection<?> collection) {
            return Values.writeAll(collection.iterator());
        }
        if (result instanceof Stream<?> stream) {
            return Values.writeAll(stream.iterator());
        }
        if (result instanceof Object[] array) {
            return Values.writeAll(Arrays.asList(array).iterator());
        }
        if (result instanceof Map<?, ?> map) {
            ObjectNode node = Json.object();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                node.set((String) entry.getKey(), write(List.class, entry.getValue()));
            }
            return node;
        }
        if (declared.getName().equals("org.redisson.api.Entry")) {
            // By reflection: Redisson 3.20 has no such class.
            return Json.array().add((String) declared.getMethod("getKey").invoke(result))
                    .add(Values.write(declared.getMethod("getValue").invoke(result)));
        }
        return result instanceof Number || result instanceof Boolean
                ? Json.of(result) : Json.NODES.textNode(result.toString());
    }

    private static Stream<JsonNode> stream(JsonNode list) {
        return StreamSupport.stream(list.spliterator(), false);
    }
}
