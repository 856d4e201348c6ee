package io.redissondq.interop;

import com.acme.Color;
import com.acme.Order;
import com.acme.Planet;
import com.acme.Point;
import com.acme.changed.Added;
import com.acme.changed.AddedAtTheEnd;
import com.acme.changed.Boxed;
import com.acme.changed.Holder;
import com.acme.changed.Moved;
import com.acme.changed.Outer;
import com.acme.changed.Ranked;
import com.acme.changed.Removed;
import com.acme.changed.Renamed;
import com.acme.changed.RenamedInPlace;
import com.acme.changed.RenamedPastItsLike;
import com.acme.changed.Retyped;
import com.acme.changed.Widened;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Date;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Properties;
import java.util.Set;
import java.util.Stack;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.Vector;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Samples outside of the vectors, which tests compare only with a live Java. */
final class MoreSamples {
    private static final List<String> WORDS = List.of("a", "bc", "Aa", "BB", "delta", "\u00e9", "");

    private MoreSamples() {
    }

    static void define(Map<String, Samples.Sample> all) {
        hashes(new Samples.Group("hashes", all));
        equalInPython(new Samples.Group("equal", all));
        immutable(new Samples.Group("copies", all));
        enums(new Samples.Group("enums", all));
        views(new Samples.Group("views", all));
        capacities(new Samples.Group("capacity", all));
        shared(new Samples.Group("shared", all));
        thrown(new Samples.Group("thrown", all));
        objects(new Samples.Group("fields", all));
        new Samples.Group("changed", all)
                .add("same", new com.acme.changed.Same())
                .add("added", new Added())
                .add("added-at-the-end", new AddedAtTheEnd())
                .add("removed", new Removed())
                .add("renamed", new Renamed())
                .add("renamed-in-place", new RenamedInPlace())
                .add("renamed-past-its-like", new RenamedPastItsLike())
                .add("moved", new Moved())
                .add("boxed", new Boxed())
                .add("retyped", new Retyped())
                .add("widened", new Widened())
                .add("inside", new Outer())
                .add("in-list", new ArrayList<>(List.of(new Added(), new Added())));
    }

    private static void hashes(Samples.Group group) {
        Map<String, Collection<?>> contents = new LinkedHashMap<>();
        contents.put("texts", WORDS);
        contents.put("texts-reversed", reversed(WORDS));
        contents.put("integers", numbers(40));
        contents.put("longs", numbers(40).stream().map(number -> number * 7_000_000_000L).toList());
        contents.put("doubles", numbers(13).stream().map(number -> number / 3.0).toList());
        contents.put("decimals", List.of(new BigDecimal("1.50"), new BigDecimal("-3"), new BigDecimal("1E+30")));
        contents.put("uuids", numbers(20).stream().map(number -> new UUID(number * 77L, ~number)).toList());
        contents.put("characters", List.of('x', 'y', 'z', '\u00e9'));
        contents.put("dates", numbers(9).stream().map(number -> new Date(number * 86_399_999L)).toList());
        contents.put("local-dates", numbers(9).stream().map(number -> LocalDate.ofEpochDay(number * 100)).toList());
        contents.put("instants", numbers(9).stream().map(number -> Instant.ofEpochSecond(number, number)).toList());
        contents.put("constants", List.of(Color.BLUE, Color.RED, Color.GREEN));
        contents.put("records", List.of(new Point(1, 2), new Point(3, 4), new Point(-5, 6)));
        contents.put("orders", numbers(9).stream().map(MoreSamples::order).toList());
        contents.put("lists", List.of(list(1), list(2, 3), list("x")));
        contents.put("sets", List.of(new HashSet<>(WORDS), new HashSet<>(numbers(30))));
        contents.put("mixed", Arrays.asList("a", 1, null, 2L, 1.5, 'c', true, List.of(1)));
        contents.put("one", List.of("only"));
        contents.put("none", List.of());
        Map<String, Supplier<Collection<Object>>> sets = new LinkedHashMap<>();
        sets.put("hash-set", HashSet::new);
        sets.put("hash-set-large", () -> new HashSet<>(500));
        sets.put("hash-set-dense", () -> new HashSet<>(4, 4.0f));
        sets.put("linked-set", LinkedHashSet::new);
        sets.put("linked-set-large", () -> new LinkedHashSet<>(500));
        sets.put("key-set", ConcurrentHashMap::newKeySet);
        sets.put("copy-on-write-set", CopyOnWriteArraySet::new);
        sets.forEach((kind, make) -> contents.forEach((name, items) -> {
            Collection<Object> made = make.get();
            items.stream().filter(item -> item != null || !kind.equals("key-set")).forEach(made::add);
            group.add(kind + "-" + name, made);
        }));
        Map<String, Supplier<Map<Object, Object>>> maps = new LinkedHashMap<>();
        maps.put("hash-map", HashMap::new);
        maps.put("hash-map-large", () -> new HashMap<>(500, 0.5f));
        maps.put("linked-map", LinkedHashMap::new);
        maps.put("linked-map-large", () -> new LinkedHashMap<>(500));
        maps.put("access-order", () -> new LinkedHashMap<>(16, 0.75f, true));
        maps.put("hashtable", Hashtable::new);
        maps.put("hashtable-large", () -> new Hashtable<>(500));
        maps.put("concurrent-map", ConcurrentHashMap::new);
        maps.put("concurrent-map-large", () -> new ConcurrentHashMap<>(500));
        maps.put("identity-map", IdentityHashMap::new);
        maps.put("weak-map", WeakHashMap::new);
        maps.put("properties", Properties::new);
        maps.forEach((kind, make) -> contents.forEach((name, items) -> {
            Map<Object, Object> made = make.get();
            boolean nulls = !List.of("hashtable", "hashtable-large", "concurrent-map", "concurrent-map-large",
                    "properties").contains(kind);
            items.stream().filter(item -> item != null || nulls).forEach(item -> made.put(item, made.size()));
            group.add(kind + "-" + name, made);
        }));
        group.add("hash-set-shrunk", shrunk(new HashSet<>()))
                .add("copied-set", new HashSet<>(numbers(12)))
                .add("copied-map", new HashMap<>(counted(12)))
                .add("copied-linked-map", new LinkedHashMap<>(counted(12)))
                .add("sorted-set", new TreeSet<>(WORDS))
                .add("sorted-set-reverse", filled(new TreeSet<>(Comparator.<Integer>reverseOrder()), numbers(9)))
                .add("skip-list-set", new ConcurrentSkipListSet<>(numbers(9)))
                .add("skip-list-map", new ConcurrentSkipListMap<>(counted(9)))
                .add("ranked-set", new TreeSet<>(List.of(new Ranked(3), new Ranked(1))))
                .add("ranked-map", new TreeMap<>(Map.of(new Ranked(3), "c", new Ranked(1), "a")))
                .add("ranked-set-reverse", filled(new TreeSet<>(Comparator.<Ranked>reverseOrder()),
                        List.of(new Ranked(3), new Ranked(1))))
                .add("ranked-map-reverse", rankedMap());
    }

    private static void equalInPython(Samples.Group group) {
        List<Object> ones = List.of(1, 1L, 1.0, true, 1.0f, (byte) 1, new BigDecimal("1"), new BigDecimal("1.0"));
        List<Object> zeros = List.of(0.0, -0.0, 0, false);
        group.add("hash-set", new HashSet<>(ones))
                .add("linked-set", new LinkedHashSet<>(ones))
                .add("zeros", new HashSet<>(zeros))
                .add("set-of-2", new LinkedHashSet<>(List.of(1, 1L)))
                .add("map", keyed(new LinkedHashMap<>(), ones))
                .add("hash-map", keyed(new HashMap<>(), ones))
                .add("concurrent-map", keyed(new ConcurrentHashMap<>(), ones))
                .add("key-set", filled(ConcurrentHashMap.newKeySet(), ones))
                .add("identity-map", identity());
    }

    private static void immutable(Samples.Group group) {
        for (int size = 0; size < 4; size++) {
            List<Integer> items = numbers(size);
            group.add("stream-" + size, items.stream().toList())
                    .add("stream-" + size + "-in-list", list(items.stream().toList(), items.stream().toList()))
                    .add("collected-" + size, items.stream().collect(Collectors.toUnmodifiableList()))
                    .add("collected-set-" + size, items.stream().collect(Collectors.toUnmodifiableSet()))
                    .add("list-copy-" + size, List.copyOf(new LinkedList<>(items)))
                    .add("set-copy-" + size, Set.copyOf(new HashSet<>(items)))
                    .add("map-copy-" + size, Map.copyOf(counted(size)))
                    .add("sub-list-" + size, List.of(9, 0, 1, 2, 9, 9).subList(1, 1 + size))
                    .add("stream-sub-list-" + size, Stream.of(9, 0, 1, 2, 9).toList().subList(1, 1 + size))
                    .add("n-copies-" + size, Collections.nCopies(size, "x"))
                    .add("as-list-" + size, Arrays.asList(items.toArray()))
                    .add("array-sub-list-" + size, new ArrayList<>(numbers(9)).subList(1, 1 + size));
        }
        group.add("stream-nulls", Stream.of("a", null).toList())
                .add("empty-set", Collections.emptySet())
                .add("empty-map", Collections.emptyMap())
                .add("singleton-order", Collections.singleton(order(1)))
                .add("singleton-map-order", Collections.singletonMap(order(1), order(2)))
                .add("set-of-orders", Set.of(order(1), order(2)))
                .add("map-of-orders", Map.of(order(1), 1, order(2), 2))
                .add("set-of-1-and-1L", Set.of(1, 1L))
                .add("map-of-1-and-1L", Map.of(1, "a", 1L, "b"));
    }

    private static void enums(Samples.Group group) {
        EnumMap<Planet, Object> planets = new EnumMap<>(Planet.class);
        planets.put(Planet.PLUTO, new HashSet<>(WORDS));
        planets.put(Planet.EARTH, order(1));
        group.add("with-body", Planet.EARTH)
                .add("without-body", Planet.PLUTO)
                .add("bodies", list(Planet.EARTH, Planet.MERCURY, Planet.PLUTO, Planet.EARTH))
                .add("body-as-key", keyed(new LinkedHashMap<>(), List.of(Planet.EARTH)))
                .add("body-in-set", new LinkedHashSet<>(List.of(Planet.EARTH, Planet.PLUTO)))
                .add("set-of-bodies", EnumSet.allOf(Planet.class))
                .add("map-of-bodies", planets)
                .add("set", EnumSet.of(Color.BLUE, Color.RED))
                .add("of-the-jdk", list(TimeUnit.DAYS, TimeUnit.SECONDS));
    }

    private static void views(Samples.Group group) {
        Map<String, Set<Object>> sets = new LinkedHashMap<>();
        sets.put("texts", new HashSet<>(WORDS));
        sets.put("orders", new HashSet<>(List.of(order(1), order(2), order(3))));
        sets.put("linked-orders", new LinkedHashSet<>(List.of(order(3), order(1))));
        sets.put("ones", new LinkedHashSet<>(List.of(1, 1L, true, 1.0)));
        sets.put("lists", new HashSet<>(List.of(list(1), list(2))));
        sets.put("empty", new HashSet<>());
        sets.put("one-order", new HashSet<>(List.of(order(1))));
        sets.put("large", filled(new HashSet<>(500), WORDS));
        sets.forEach((name, set) -> {
            group.add("unmodifiable-set-" + name, Collections.unmodifiableSet(set))
                    .add("synchronized-set-" + name, Collections.synchronizedSet(set))
                    .add("checked-set-" + name, Collections.checkedSet(set, Object.class))
                    .add("unmodifiable-collection-" + name, Collections.unmodifiableCollection(set))
                    .add("synchronized-collection-" + name, Collections.synchronizedCollection(set))
                    .add("checked-collection-" + name, Collections.checkedCollection(set, Object.class))
                    .add("twice-" + name, Collections.unmodifiableSet(Collections.synchronizedSet(set)))
                    .add("nested-" + name, list(Collections.unmodifiableSet(set), Collections.unmodifiableSet(set)));
            Map<Object, Object> map = keyed(new HashMap<>(), set);
            Map<Object, Object> linked = keyed(new LinkedHashMap<>(), set);
            group.add("unmodifiable-map-" + name, Collections.unmodifiableMap(map))
                    .add("synchronized-map-" + name, Collections.synchronizedMap(linked))
                    .add("checked-map-" + name, Collections.checkedMap(map, Object.class, Object.class))
                    .add("value-" + name, new LinkedHashMap<>(Map.of("k", Collections.unmodifiableMap(linked))));
        });
        TreeSet<Ranked> ranked = new TreeSet<>(List.of(new Ranked(3), new Ranked(1)));
        group.add("unmodifiable-sorted-ranked", Collections.unmodifiableSortedSet(ranked))
                .add("synchronized-sorted-ranked", Collections.synchronizedSortedSet(ranked))
                .add("unmodifiable-navigable-ranked", Collections.unmodifiableNavigableSet(ranked))
                .add("unmodifiable-sorted-map-ranked", Collections.unmodifiableSortedMap(rankedMap()))
                .add("synchronized-navigable-map-ranked", Collections.synchronizedNavigableMap(rankedMap()))
                .add("unmodifiable-deque", Collections.unmodifiableCollection(new ArrayDeque<>(WORDS)))
                .add("unmodifiable-list", Collections.unmodifiableList(list(order(1), order(2))))
                .add("unmodifiable-list-of", Collections.unmodifiableList(List.of(1, 2)))
                .add("unmodifiable-stream", Collections.unmodifiableList(Stream.of(1, 2).toList()))
                .add("set-of-views", new HashSet<>(List.of(Collections.unmodifiableSet(sets.get("texts")),
                        Collections.unmodifiableSet(sets.get("ones")))));
    }

    private static void capacities(Samples.Group group) {
        Vector<Object> vector = new Vector<>(100, 5);
        vector.addAll(WORDS);
        Stack<Object> stack = new Stack<>();
        stack.addAll(numbers(25));
        group.add("vector", vector)
                .add("vector-exact", new Vector<>(WORDS))
                .add("stack", stack)
                .add("array-list", filled(new ArrayList<>(100), WORDS))
                .add("array-deque", filled(new ArrayDeque<>(100), WORDS))
                .add("priority-queue", filled(new PriorityQueue<>(100), WORDS))
                .add("priority-queue-ranked", new PriorityQueue<>(List.of(new Ranked(3), new Ranked(1))))
                .add("priority-blocking-queue", filled(new PriorityBlockingQueue<>(50), WORDS))
                .add("blocking-queue", filled(new LinkedBlockingQueue<>(70), WORDS))
                .add("blocking-deque", filled(new LinkedBlockingDeque<>(70), WORDS))
                .add("blocking-queue-unbounded", new LinkedBlockingQueue<>(WORDS));
    }

    @SuppressWarnings({"StringOperationCanBeSimplified", "removal"})
    private static void shared(Samples.Group group) {
        List<Object> items = list(1, "a");
        Date date = new Date(5);
        Integer number = new Integer(1000);
        String text = "text";
        group.add("list-twice", list(items, items))
                .add("equal-lists", list(list(1, "a"), list(1, "a")))
                .add("set-twice", list(new HashSet<>(WORDS), new HashSet<>(WORDS)))
                .add("one-date-twice", list(date, date))
                .add("equal-dates", list(new Date(5), new Date(5)))
                .add("one-number-twice", list(number, number))
                .add("equal-numbers", list(new Integer(1000), new Integer(1000)))
                .add("one-text-twice", list(text, text))
                .add("equal-texts", list(new String("text"), new String("text")))
                .add("equal-texts-in-wrapper",
                        Collections.unmodifiableList(list(new String("text"), new String("text"))))
                .add("order-twice", list(order(1), order(1)));
    }

    private static void thrown(Samples.Group group) {
        RuntimeException cause = trace(new IllegalStateException("cause"));
        RuntimeException with = trace(new IllegalArgumentException("with", cause));
        RuntimeException suppressing = trace(new IllegalArgumentException("suppressing"));
        suppressing.addSuppressed(cause);
        group.add("plain", trace(new IllegalStateException("plain")))
                .add("without-message", trace(new IllegalStateException()))
                .add("null-cause", trace(new IllegalStateException("x", null)))
                .add("with-cause", with)
                .add("suppressing", suppressing)
                .add("in-list", list(with, cause, with));
    }

    private static void objects(Samples.Group group) {
        Set<Object> orders = new HashSet<>(List.of(order(1), order(2)));
        group.add("sets", new Holder(new HashSet<>(WORDS), new HashMap<>(Map.of("k", new HashSet<>(numbers(30)))),
                        new HashSet<>(WORDS), new HashSet<>(List.of(70_000_000_000L, 3L, 16L, 32L))))
                .add("orders", new Holder(orders, keyed(Map.of("o", orders)), new ArrayList<>(orders), Set.of(1L)))
                .add("views", new Holder(Collections.unmodifiableSet(orders), Collections.unmodifiableMap(
                        keyed(Map.of("o", Collections.unmodifiableSet(orders)))),
                        Collections.unmodifiableCollection(orders), Collections.synchronizedSet(new HashSet<>())))
                .add("streams", new Holder(Set.copyOf(numbers(2)), Map.copyOf(keyed(Map.of("k", 1))),
                        new ArrayList<Object>(list(Stream.of(1).toList())), new LinkedHashSet<>(List.of(5L))))
                .add("optional", list(Optional.of(new HashSet<>(WORDS)), Optional.of(orders)));
    }

    private static <E extends Throwable> E trace(E error) {
        error.setStackTrace(new StackTraceElement[] {new StackTraceElement("com.acme.Main", "main", "Main.java", 7)});
        return error;
    }

    private static Order order(int id) {
        return new Order((long) id, "sku-" + id, id / 2.0, new ArrayList<>(List.of("t" + id)), null);
    }

    private static TreeMap<Ranked, Object> rankedMap() {
        TreeMap<Ranked, Object> map = new TreeMap<>(Comparator.<Ranked>reverseOrder());
        map.put(new Ranked(1), "a");
        map.put(new Ranked(3), "c");
        return map;
    }

    @SuppressWarnings("StringOperationCanBeSimplified")
    private static Map<Object, Object> identity() {
        Map<Object, Object> map = new IdentityHashMap<>();
        map.put(new String("same"), 1);
        map.put(new String("same"), 2);
        return map;
    }

    private static Set<Object> shrunk(Set<Object> set) {
        set.addAll(numbers(500));
        set.removeIf(number -> (int) number % 41 != 0);
        return set;
    }

    private static List<Integer> numbers(int count) {
        List<Integer> found = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            found.add(i * i * 37 - 11);
        }
        return found;
    }

    private static Map<String, Integer> counted(int count) {
        Map<String, Integer> map = new HashMap<>();
        for (int i = 0; i < count; i++) {
            map.put("key-" + i, i);
        }
        return map;
    }

    private static <T> List<T> reversed(List<T> items) {
        List<T> found = new ArrayList<>(items);
        Collections.reverse(found);
        return found;
    }

    private static List<Object> list(Object... items) {
        return new ArrayList<>(Arrays.asList(items));
    }

    private static <T, C extends Collection<T>> C filled(C empty, Collection<? extends T> items) {
        empty.addAll(items);
        return empty;
    }

    private static Map<Object, Object> keyed(Map<Object, Object> map, Collection<?> keys) {
        keys.forEach(key -> map.put(key, map.size()));
        return map;
    }

    private static Map<String, Object> keyed(Map<String, ?> map) {
        return new LinkedHashMap<>(map);
    }
}
