package io.redissondq.interop;

import com.acme.Color;
import com.acme.Letter;
import com.acme.Planet;
import com.acme.Point;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.AbstractMap.SimpleEntry;
import java.util.AbstractMap.SimpleImmutableEntry;
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
import java.util.PriorityQueue;
import java.util.Properties;
import java.util.Set;
import java.util.Stack;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.Vector;
import java.util.WeakHashMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.function.Supplier;

/** The collections and maps of java.util and java.util.concurrent, with various contents. */
final class CollectionSamples {
    private static final List<String> ABC = List.of("a", "b", "c");
    private static final List<Object> MIXED = Arrays.asList(1, "a", null, 2L, 1.5, true);

    private CollectionSamples() {
    }

    static void define() {
        lists();
        immutable();
        queues();
        sets();
        enums();
        maps();
        keys();
        wrappers();
    }

    private static void lists() {
        List<Object> nested = list(list(1, list("a")), new LinkedHashMap<>(Map.of("k", list(2L))), list());
        List<Integer> twice = list(1, 2);
        Samples.group("list")
                .add("arraylist-empty", list())
                .add("arraylist-strings", list("a", "b", "c"))
                .add("arraylist-integers", list(1, -1, 300))
                .add("arraylist-longs", list(1L, -1L))
                .add("arraylist-doubles", list(1.5, -0.0))
                .add("arraylist-mixed", new ArrayList<>(MIXED))
                .add("arraylist-nulls", list(null, null))
                .add("arraylist-string-and-null", list("a", null))
                .add("arraylist-nested", nested)
                .add("arraylist-arrays", list(new byte[] {1}, new int[] {2}, new String[] {"a"}))
                .add("arraylist-same-twice", list(twice, twice))
                .add("arraylist-300", new ArrayList<>(Collections.nCopies(300, 7)))
                .add("linkedlist", new LinkedList<>(MIXED))
                .add("linkedlist-empty", new LinkedList<>())
                .add("vector", new Vector<>(ABC))
                .add("stack", stack())
                .add("copyonwrite", new CopyOnWriteArrayList<>(ABC))
                .add("aslist", Arrays.asList("a", "b"))
                .add("aslist-mixed", Arrays.asList(1, "a", null))
                .add("aslist-objects", Arrays.asList(new Object[] {1, "a"}))
                .add("aslist-empty", Arrays.asList())
                .add("sublist", new ArrayList<>(List.of(0, 1, 2, 3)).subList(1, 3))
                .add("sublist-of-linked", new LinkedList<>(List.of(0, 1, 2, 3)).subList(1, 3));
    }

    private static void immutable() {
        Samples.group("immutable")
                .add("list-of-0", List.of())
                .add("list-of-1", List.of("a"))
                .add("list-of-2", List.of("a", 1))
                .add("list-of-3", List.of("a", "b", "c"))
                .add("list-of-12", List.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12))
                .add("list-copyof", List.copyOf(new ArrayList<>(ABC)))
                .add("list-sublist", List.of(1, 2, 3, 4).subList(1, 3))
                .add("stream-tolist", ABC.stream().toList())
                .add("stream-tolist-null", MIXED.stream().toList())
                .add("set-of-0", Set.of())
                .add("set-of-1", Set.of("a"))
                .addVarying("set-of-2", Set.of("a", "b"))
                .addVarying("set-of-3", Set.of("a", "b", "c"))
                .add("map-of-0", Map.of())
                .add("map-of-1", Map.of("a", 1))
                .addVarying("map-of-2", Map.of("a", 1, "b", 2))
                .addVarying("map-of-3", Map.of("a", 1, "b", 2, "c", 3))
                .add("entry", Map.entry("a", 1))
                .add("simple-entry", new SimpleEntry<>("a", 1))
                .add("simple-immutable-entry", new SimpleImmutableEntry<>("a", 1))
                .add("empty-list", Collections.emptyList())
                .add("empty-set", Collections.emptySet())
                .add("empty-map", Collections.emptyMap())
                .add("empty-sorted-set", Collections.emptySortedSet())
                .add("empty-sorted-map", Collections.emptySortedMap())
                .add("singleton-list", Collections.singletonList("a"))
                .add("singleton-list-null", Collections.singletonList(null))
                .add("singleton-set", Collections.singleton("a"))
                .add("singleton-map", Collections.singletonMap("a", 1L))
                .add("ncopies", Collections.nCopies(3, "a"))
                .add("reverse-order", Comparator.reverseOrder())
                .add("natural-order", Comparator.naturalOrder())
                .add("case-insensitive-order", String.CASE_INSENSITIVE_ORDER);
    }

    private static void queues() {
        Samples.group("queue")
                .add("arraydeque", new ArrayDeque<>(ABC))
                .add("arraydeque-empty", new ArrayDeque<>())
                .add("priority", new PriorityQueue<>(List.of(3, 1, 2)))
                .add("priority-empty", new PriorityQueue<>())
                .add("priority-reverse", filled(
                        new PriorityQueue<>(Comparator.<Integer>reverseOrder()), List.of(3, 1, 2)))
                .add("concurrent", new ConcurrentLinkedQueue<>(ABC))
                .add("concurrent-deque", new ConcurrentLinkedDeque<>(ABC))
                .add("linked-blocking", new LinkedBlockingQueue<>(ABC))
                .add("linked-blocking-bounded", filled(new LinkedBlockingQueue<>(5), ABC))
                .add("linked-blocking-deque", new LinkedBlockingDeque<>(ABC))
                .add("array-blocking", filled(new ArrayBlockingQueue<>(5), ABC))
                .add("priority-blocking", new PriorityBlockingQueue<>(ABC));
    }

    private static void sets() {
        Samples.group("set")
                .add("hashset-empty", new HashSet<>())
                .add("hashset", new HashSet<>(ABC))
                .add("hashset-mixed", new HashSet<>(MIXED))
                .add("hashset-lists", new HashSet<>(List.of(list(1), list(2))))
                .add("hashset-1-and-1L", new HashSet<>(List.of(1, 1L)))
                .add("hashset-20", new HashSet<>(Arrays.asList(
                        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)))
                .add("linkedhashset", new LinkedHashSet<>(List.of("c", "a", "b")))
                .add("linkedhashset-empty", new LinkedHashSet<>())
                .add("treeset", new TreeSet<>(ABC))
                .add("treeset-empty", new TreeSet<>())
                .add("treeset-reverse", filled(new TreeSet<>(Comparator.<String>reverseOrder()), ABC))
                .add("treeset-case-insensitive", filled(
                        new TreeSet<>(String.CASE_INSENSITIVE_ORDER), List.of("b", "A")))
                .add("skiplist", new ConcurrentSkipListSet<>(ABC))
                .add("skiplist-reverse", filled(new ConcurrentSkipListSet<>(Comparator.<String>reverseOrder()), ABC))
                .add("copyonwrite", new CopyOnWriteArraySet<>(ABC))
                .add("concurrent", filled(ConcurrentHashMap.newKeySet(), ABC))
                .add("from-map", filled(Collections.newSetFromMap(new HashMap<>()), ABC));
    }

    private static void enums() {
        Samples.group("enumset")
                .add("empty", EnumSet.noneOf(Color.class))
                .add("some", EnumSet.of(Color.BLUE, Color.RED))
                .add("all", EnumSet.allOf(Color.class))
                .add("with-bodies", EnumSet.of(Planet.EARTH, Planet.PLUTO))
                .add("with-bodies-empty", EnumSet.noneOf(Planet.class))
                .add("large", EnumSet.of(Letter.L00, Letter.L63, Letter.L64, Letter.L69))
                .add("large-empty", EnumSet.noneOf(Letter.class));
        EnumMap<Color, Object> colors = new EnumMap<>(Color.class);
        colors.put(Color.BLUE, 1L);
        colors.put(Color.RED, null);
        EnumMap<Planet, Object> planets = new EnumMap<>(Planet.class);
        planets.put(Planet.EARTH, "e");
        Samples.group("enummap")
                .add("empty", new EnumMap<>(Color.class))
                .add("some", colors)
                .add("with-bodies", planets);
    }

    private static void maps() {
        Samples.Group maps = Samples.group("map")
                .add("linked-empty", new LinkedHashMap<>())
                .add("linked-mixed", linked("a", 1, "b", "x", "c", 2L, "d", null, "e", list(1), "f", linked("g", 1.5)))
                .add("linked-same-class", linked("b", 1, "a", 2))
                .add("linked-dollar", linked("$", 1, "@class", "x", "", 2))
                .add("linked-null-key", linked(null, 1))
                .add("hash-empty", new HashMap<>())
                .add("hash-null-key", new HashMap<>(linked(null, "n", "a", null)))
                .add("hash-20", numbered(20))
                .add("tree-empty", new TreeMap<>())
                .add("tree-reverse", put(new TreeMap<>(Comparator.<String>reverseOrder())))
                .add("tree-case-insensitive", put(new TreeMap<>(String.CASE_INSENSITIVE_ORDER)))
                .add("skiplist-reverse", put(new ConcurrentSkipListMap<>(Comparator.<String>reverseOrder())))
                .add("identity", new IdentityHashMap<>(Map.of("a", 1)))
                .add("properties", properties(new Properties()))
                .add("properties-defaults", properties(new Properties(properties(new Properties()))))
                .add("access-order", put(new LinkedHashMap<>(16, 0.75f, true)))
                .add("capacity", put(new HashMap<>(1000, 0.5f)));
        Map<String, Supplier<Map<String, Integer>>> kinds = new LinkedHashMap<>();
        kinds.put("hash", HashMap::new);
        kinds.put("tree", TreeMap::new);
        kinds.put("hashtable", Hashtable::new);
        kinds.put("concurrent", ConcurrentHashMap::new);
        kinds.put("skiplist", ConcurrentSkipListMap::new);
        kinds.put("weak", WeakHashMap::new);
        kinds.forEach((name, kind) -> maps.add(name, put(kind.get())));
    }

    private static void keys() {
        Samples.group("keys")
                .add("integer", linked(1, "a", -1, "b"))
                .add("long", linked(1L, "a", 1L << 40, "b"))
                .add("integer-and-long", linked(1, "a", 1L, "b"))
                .add("boolean", linked(true, 1, false, 0))
                .add("double", linked(1.5, "a"))
                .add("uuid", linked(new UUID(0, 1), "a"))
                .add("date", linked(new Date(0), "a"))
                .add("enum", linked(Color.RED, "a", Color.BLUE, "b"))
                .addVarying("enum-hash", new HashMap<>(linked(Color.RED, "a", Color.BLUE, "b", Color.GREEN, "c")))
                .add("enum-with-body", linked(Planet.EARTH, "a"))
                .add("record", linked(new Point(1, 2), "a"))
                .add("object", linked(ObjectSamples.address(), "a"))
                .add("list", linked(list(1, 2), "a"))
                .add("byte-array", linked(new byte[] {1}, "a"))
                .add("character", linked('c', "a"))
                .add("bigdecimal", linked(new BigDecimal("1.50"), "a"))
                .add("local-date", linked(LocalDate.of(2024, 2, 29), "a"))
                .add("class", linked(String.class, "a"))
                .add("tree-integer", new TreeMap<>(Map.of(2, "b", 1, "a")))
                .add("tree-long", new TreeMap<>(Map.of(2L, "b", 1L, "a")));
    }

    private static void wrappers() {
        Samples.group("unmodifiable")
                .add("collection", Collections.unmodifiableCollection(list("a", 1)))
                .add("list", Collections.unmodifiableList(list("a", 1)))
                .add("list-linked", Collections.unmodifiableList(new LinkedList<>(ABC)))
                .add("list-twice", list(Collections.unmodifiableList(list(1)), Collections.unmodifiableList(list(2))))
                .add("set", Collections.unmodifiableSet(new LinkedHashSet<>(ABC)))
                .add("map", Collections.unmodifiableMap(linked("a", 1)))
                .add("map-hash", Collections.unmodifiableMap(new HashMap<>(linked("a", 1))))
                .add("sorted-set", Collections.unmodifiableSortedSet(new TreeSet<>(ABC)))
                .add("sorted-map", Collections.unmodifiableSortedMap(put(new TreeMap<>())))
                .add("navigable-set", Collections.unmodifiableNavigableSet(new TreeSet<>(ABC)))
                .add("navigable-map", Collections.unmodifiableNavigableMap(put(new TreeMap<>())));
        Samples.group("synchronized")
                .add("collection", Collections.synchronizedCollection(list("a", 1)))
                .add("list", Collections.synchronizedList(list("a", 1)))
                .add("list-linked", Collections.synchronizedList(new LinkedList<>(ABC)))
                .add("set", Collections.synchronizedSet(new LinkedHashSet<>(ABC)))
                .add("map", Collections.synchronizedMap(linked("a", 1)))
                .add("sorted-set", Collections.synchronizedSortedSet(new TreeSet<>(ABC)))
                .add("sorted-map", Collections.synchronizedSortedMap(put(new TreeMap<>())))
                .add("navigable-set", Collections.synchronizedNavigableSet(new TreeSet<>(ABC)))
                .add("navigable-map", Collections.synchronizedNavigableMap(put(new TreeMap<>())));
        Samples.group("checked")
                .add("collection", Collections.checkedCollection(list("a"), String.class))
                .add("list", Collections.checkedList(list("a"), String.class))
                .add("queue", Collections.checkedQueue(new ArrayDeque<>(ABC), String.class))
                .add("set", Collections.checkedSet(new LinkedHashSet<>(ABC), String.class))
                .add("map", Collections.checkedMap(put(new LinkedHashMap<>()), String.class, Integer.class))
                .add("sorted-set", Collections.checkedSortedSet(new TreeSet<>(ABC), String.class))
                .add("sorted-map", Collections.checkedSortedMap(put(new TreeMap<>()), String.class, Integer.class))
                .add("navigable-set", Collections.checkedNavigableSet(new TreeSet<>(ABC), String.class))
                .add("navigable-map", Collections.checkedNavigableMap(
                        put(new TreeMap<>()), String.class, Integer.class));
    }

    @SafeVarargs
    static <T> ArrayList<T> list(T... items) {
        return items == null ? new ArrayList<>() : new ArrayList<>(Arrays.asList(items));
    }

    /** Keys and values, alternating. */
    @SuppressWarnings("unchecked")
    static <K, V> LinkedHashMap<K, V> linked(Object... entries) {
        LinkedHashMap<K, V> map = new LinkedHashMap<>();
        for (int i = 0; i < entries.length; i += 2) {
            map.put((K) entries[i], (V) entries[i + 1]);
        }
        return map;
    }

    private static <T, C extends Collection<T>> C filled(C empty, List<T> items) {
        empty.addAll(items);
        return empty;
    }

    private static <M extends Map<String, Integer>> M put(M map) {
        map.put("b", 2);
        map.put("a", 1);
        map.put("c", 3);
        return map;
    }

    private static Map<String, Integer> numbered(int count) {
        Map<String, Integer> map = new HashMap<>();
        for (int i = 0; i < count; i++) {
            map.put("key-" + i, i);
        }
        return map;
    }

    private static Properties properties(Properties properties) {
        properties.setProperty("host", "localhost");
        return properties;
    }

    private static Stack<String> stack() {
        Stack<String> stack = new Stack<>();
        stack.addAll(ABC);
        return stack;
    }
}
