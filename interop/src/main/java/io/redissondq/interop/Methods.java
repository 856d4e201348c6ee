package io.redissondq.interop;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.redisson.api.RFuture;

/** The public methods of this Redisson's queues, inherited ones included. */
final class Methods {
    private Methods() {
    }

    static void print(PrintStream out) {
        rows().forEach(row -> out.println(Json.print(row)));
    }

    static List<ObjectNode> rows() {
        return Arrays.stream(QueueKind.values())
                .flatMap(kind -> of(kind).stream().map(method -> row(kind, method)))
                .toList();
    }

    /** Sorted, because reflection returns methods in no particular order. */
    static List<Method> of(QueueKind kind) {
        return Arrays.stream(kind.type.getMethods())
                .filter(method -> !method.isBridge() && !isOfObject(method) && !isAsync(method))
                .sorted(Comparator.comparing(Method::getName)
                        .thenComparing(method -> Arrays.toString(method.getParameterTypes())))
                .toList();
    }

    /** Collection declares equals and hashCode again. */
    private static boolean isOfObject(Method method) {
        return Arrays.stream(Object.class.getMethods()).anyMatch(other -> other.getName().equals(method.getName())
                && Arrays.equals(other.getParameterTypes(), method.getParameterTypes()));
    }

    private static boolean isAsync(Method method) {
        return method.getName().endsWith("Async") && method.getReturnType() == RFuture.class;
    }

    private static ObjectNode row(QueueKind kind, Method method) {
        ObjectNode row = Json.object().put("interface", kind.type.getSimpleName()).put("method", method.getName());
        ArrayNode parameters = row.putArray("parameters");
        for (Class<?> parameter : method.getParameterTypes()) {
            parameters.add(parameter.getTypeName());
        }
        return row.put("returns", method.getReturnType().getTypeName())
                .put("declaredIn", method.getDeclaringClass().getSimpleName())
                .put("deprecated", method.isAnnotationPresent(Deprecated.class));
    }
}
