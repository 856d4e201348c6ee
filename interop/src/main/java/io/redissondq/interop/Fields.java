package io.redissondq.interop;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The instance fields of classes that are not the JDK's, the topmost superclass first. */
final class Fields {
    private static final ClassValue<List<Field>> OF = new ClassValue<>() {
        @Override
        protected List<Field> computeValue(Class<?> type) {
            return find(type);
        }
    };

    private Fields() {
    }

    /** Whether the class is a user's or a library's: those are on the class path, in no named module. */
    static boolean areOpen(Class<?> type) {
        return !type.getModule().isNamed();
    }

    static List<Field> of(Class<?> type) {
        return OF.get(type);
    }

    static Object get(Field field, Object owner) {
        try {
            return field.get(owner);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<Field> find(Class<?> type) {
        Deque<Class<?>> line = new ArrayDeque<>();
        for (Class<?> c = type; c != null && areOpen(c); c = c.getSuperclass()) {
            line.push(c);
        }
        List<Field> fields = new ArrayList<>();
        for (Class<?> c : line) {
            for (Field field : c.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers())) {
                    fields.add(field);
                }
            }
        }
        AccessibleObject.setAccessible(fields.toArray(AccessibleObject[]::new), true);
        return fields;
    }
}
