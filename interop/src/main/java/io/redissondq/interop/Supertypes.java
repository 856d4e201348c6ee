package io.redissondq.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Modifier;
import java.util.Set;
import java.util.TreeSet;

/** The supertypes of classes of this JDK. */
final class Supertypes {
    private Supertypes() {
    }

    /** By name, for those that this JDK has: the kind, {@code I}, {@code A}, {@code F} or {@code C}, then supertypes. */
    static JsonNode of(JsonNode names) {
        ObjectNode answer = Json.object();
        for (JsonNode name : names) {
            try {
                Class<?> type = Class.forName(name.textValue(), false, Supertypes.class.getClassLoader());
                Set<String> found = new TreeSet<>();
                collect(type, found);
                ArrayNode row = answer.putArray(name.textValue()).add(kind(type));
                found.forEach(row::add);
            } catch (ClassNotFoundException e) {
                // A class of another JDK.
            }
        }
        return answer;
    }

    private static String kind(Class<?> type) {
        int modifiers = type.getModifiers();
        if (type.isInterface()) {
            return "I";
        }
        return Modifier.isAbstract(modifiers) ? "A" : Modifier.isFinal(modifiers) ? "F" : "C";
    }

    private static void collect(Class<?> type, Set<String> found) {
        if (type == null) {
            return;
        }
        if (Modifier.isPublic(type.getModifiers())) {
            found.add(type.getName());
        }
        collect(type.getSuperclass(), found);
        for (Class<?> each : type.getInterfaces()) {
            collect(each, found);
        }
    }
}
