package io.redissondq.interop;

import com.google.protobuf.Message;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

/**
 * Whether two values are the same to a user: of one class at every level, equal, and in the same order where their
 * class keeps one. It also compares what has no equals of its own. Transient fields do not count.
 */
final class Same {
    /** The prefixes of the names of classes without an order. */
    private static final Set<String> UNORDERED = Set.of("java.util.HashMap", "java.util.HashSet", "java.util.Hashtable",
            "java.util.Properties", "java.util.IdentityHashMap", "java.util.WeakHashMap",
            "java.util.ImmutableCollections$Set", "java.util.ImmutableCollections$Map",
            "java.util.Collections$SetFromMap", "java.util.concurrent.ConcurrentHashMap");

    /** Pairs under comparison, by identity: cycles are the same if nothing else differs. */
    private final Map<Object, Object> under = new IdentityHashMap<>();

    private Same() {
    }

    static boolean values(Object a, Object b) {
        return new Same().same(a, b);
    }

    private boolean same(Object a, Object b) {
        if (a == b) {
            return true;
        }
        if (a == null || b == null || a.getClass() != b.getClass()) {
            return false;
        }
        if (under.get(a) == b) {
            return true;
        }
        Object outer = under.put(a, b);
        try {
            return sameContent(a, b);
        } finally {
            if (outer == null) {
                under.remove(a);
            } else {
                under.put(a, outer);
            }
        }
    }

    private boolean sameContent(Object a, Object b) {
        if (a.getClass().isArray()) {
            return sameArray(a, b);
        }
        if (a instanceof Map<?, ?> map) {
            return sameComparator(a, b) && sameMap(map, (Map<?, ?>) b);
        }
        if (a instanceof Collection<?> collection) {
            return sameComparator(a, b) && sameCollection(collection, (Collection<?>) b);
        }
        if (a instanceof Map.Entry<?, ?> entry) {
            Map.Entry<?, ?> other = (Map.Entry<?, ?>) b;
            return same(entry.getKey(), other.getKey()) && same(entry.getValue(), other.getValue());
        }
        if (a instanceof Optional<?> optional) {
            return same(optional.orElse(null), ((Optional<?>) b).orElse(null));
        }
        if (a instanceof AtomicReference<?> reference) {
            return same(reference.get(), ((AtomicReference<?>) b).get());
        }
        if (a instanceof Pattern pattern) {
            return pattern.flags() == ((Pattern) b).flags() && pattern.pattern().equals(((Pattern) b).pattern());
        }
        if (a instanceof CharSequence || a instanceof Number) {
            return a.equals(b) || hasNoEquals(a) && a.toString().equals(b.toString());
        }
        if (a instanceof Throwable error && !sameThrowable(error, (Throwable) b)) {
            return false;
        }
        if (isOwn(a)) {
            return sameFields(a, b);
        }
        return a instanceof Throwable || a.equals(b) || hasNoEquals(a) && looksSame(a, b);
    }

    private static boolean isOwn(Object value) {
        return Fields.areOpen(value.getClass()) && !(value instanceof Enum)
                && !(value instanceof Message);
    }

    private static boolean hasNoEquals(Object value) {
        try {
            return value.getClass().getMethod("equals", Object.class).getDeclaringClass() == Object.class;
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A plain Object, or a class such as AtomicBoolean, whose text is its value. */
    private static boolean looksSame(Object a, Object b) {
        return a.getClass() == Object.class || a.toString().equals(b.toString());
    }

    private boolean sameArray(Object a, Object b) {
        int length = Array.getLength(a);
        boolean same = length == Array.getLength(b);
        for (int i = 0; same && i < length; i++) {
            same = same(Array.get(a, i), Array.get(b, i));
        }
        return same;
    }

    private static boolean sameComparator(Object a, Object b) {
        return Vectors.className(ValueWriter.comparator(a)).equals(Vectors.className(ValueWriter.comparator(b)));
    }

    private boolean sameMap(Map<?, ?> a, Map<?, ?> b) {
        if (a.size() != b.size()) {
            return false;
        }
        if (!hasOrder(a)) {
            return a.entrySet().stream().allMatch(entry -> b.entrySet().stream().anyMatch(
                    other -> same(entry.getKey(), other.getKey()) && same(entry.getValue(), other.getValue())));
        }
        Iterator<? extends Map.Entry<?, ?>> others = b.entrySet().iterator();
        for (Map.Entry<?, ?> entry : a.entrySet()) {
            Map.Entry<?, ?> other = others.next();
            if (!same(entry.getKey(), other.getKey()) || !same(entry.getValue(), other.getValue())) {
                return false;
            }
        }
        return true;
    }

    private boolean sameCollection(Collection<?> a, Collection<?> b) {
        if (a.size() != b.size()) {
            return false;
        }
        if (!hasOrder(a)) {
            return a.stream().allMatch(item -> b.stream().anyMatch(other -> same(item, other)));
        }
        Iterator<?> others = b.iterator();
        return a.stream().allMatch(item -> same(item, others.next()));
    }

    private static boolean hasOrder(Object value) {
        String name = value.getClass().getName();
        return UNORDERED.stream().noneMatch(name::startsWith);
    }

    private boolean sameThrowable(Throwable a, Throwable b) {
        return Objects.equals(a.getMessage(), b.getMessage())
                && same(a.getStackTrace(), b.getStackTrace())
                && same(a.getCause(), b.getCause())
                && same(a.getSuppressed(), b.getSuppressed());
    }

    private boolean sameFields(Object a, Object b) {
        for (Field field : Fields.of(a.getClass())) {
            if (!Modifier.isTransient(field.getModifiers())
                    && !same(Fields.get(field, a), Fields.get(field, b))) {
                return false;
            }
        }
        return true;
    }
}
