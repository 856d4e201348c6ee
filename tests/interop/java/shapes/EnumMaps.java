package shapes;
import java.util.*;
import java.io.Serializable;
/** Maps of enum constants, and what their values may be. */
public class EnumMaps implements Serializable {
    private static final long serialVersionUID = 1L;
    public enum K { A, B { } }
    public static class Range<T> implements Serializable { private static final long serialVersionUID = 1L; public T lo; public T hi; public List<T> all; public Range() {} public Range(T l, T h) { lo = l; hi = h; all = new ArrayList<>(List.of(l, h)); } }
    public EnumMap<K, Range<Long>> ranges; public EnumMap<K, List<Long>> lists; public Map<String, List<Long>> maps; public EnumMap<K, Long> longs; public EnumMap<K, Map<String, Long>> deep; public Map<K, List<Range<Long>>> kmap; public EnumMap<K, Object> any; public EnumMap<K, long[]> arrays; public EnumMap<K, Set<Long>> sets; public EnumMap<K, Optional<Long>> opts; public EnumMap<K, K> ks; public EnumMap<K, EnumMap<K, Long>> nested; public EnumMap<K, EnumSet<K>> esets; public EnumMap<K, java.math.BigDecimal> decs; public EnumMap<K, Double> dbl; public EnumMap<K, java.util.Date> dates; public EnumMap<K, byte[]> bytes; public EnumMap<K, UUID> uuids; public EnumMap<K, String> strs; public EnumMap<K, Short> shorts; public EnumMap<K, Character> chars;
    public HashMap<String, EnumMap<K, List<Long>>> outer; public List<EnumMap<K, Long>> inList; public TreeMap<Long, List<Long>> tree; public Map<Long, Long> ll;
    public EnumMaps() {}
    static <V> EnumMap<K, V> em(V v) { EnumMap<K, V> m = new EnumMap<>(K.class); m.put(K.A, v); m.put(K.B, v); return m; }
    static <T> List<T> l(T... a) { return new ArrayList<>(Arrays.asList(a)); }
    public static Map<String, Object> samples() {
        Map<String, Object> m = new LinkedHashMap<>(); EnumMaps w;
        w = new EnumMaps(); w.ranges = em(new Range<>(1L, 2L)); m.put("ranges", w);
        w = new EnumMaps(); w.lists = em(l(1L, 5000000000L)); m.put("lists", w);
        w = new EnumMaps(); w.maps = new HashMap<>(); w.maps.put("k", l(1L, 2L)); m.put("maps", w);
        w = new EnumMaps(); w.longs = em(5L); m.put("longs", w);
        w = new EnumMaps(); w.deep = em(new HashMap<>(Map.of("x", 3L))); m.put("deep", w);
        w = new EnumMaps(); w.kmap = new HashMap<>(); w.kmap.put(K.A, l(new Range<>(1L, 2L))); m.put("kmap", w);
        w = new EnumMaps(); w.any = em(l(1L, 2)); w.any.put(K.A, 7L); m.put("any", w);
        w = new EnumMaps(); w.any = em(new Range<>(1L, 2L)); m.put("any-range", w);
        w = new EnumMaps(); w.arrays = em(new long[] {1, 2}); m.put("arrays", w);
        w = new EnumMaps(); w.sets = em(new HashSet<>(l(1L))); m.put("sets", w);
        w = new EnumMaps(); w.opts = em(Optional.of(4L)); m.put("opts", w);
        w = new EnumMaps(); w.ks = em(K.B); m.put("ks", w);
        w = new EnumMaps(); w.nested = em(em(9L)); m.put("nested", w);
        w = new EnumMaps(); w.esets = em(EnumSet.of(K.A)); m.put("esets", w);
        w = new EnumMaps(); w.decs = em(new java.math.BigDecimal("1.50")); m.put("decs", w);
        w = new EnumMaps(); w.dbl = em(1.5); m.put("dbl", w);
        w = new EnumMaps(); w.dates = em(new Date(5)); m.put("dates", w);
        w = new EnumMaps(); w.bytes = em(new byte[] {1}); m.put("bytes", w);
        w = new EnumMaps(); w.uuids = em(new UUID(1, 2)); m.put("uuids", w);
        w = new EnumMaps(); w.strs = em("s"); m.put("strs", w);
        w = new EnumMaps(); w.shorts = em((short) 3); m.put("shorts", w);
        w = new EnumMaps(); w.chars = em('c'); m.put("chars", w);
        w = new EnumMaps(); w.outer = new HashMap<>(); w.outer.put("o", em(l(1L))); m.put("outer", w);
        w = new EnumMaps(); w.inList = l(em(1L)); m.put("inList", w);
        w = new EnumMaps(); w.tree = new TreeMap<>(); w.tree.put(5L, l(1L)); m.put("tree", w);
        w = new EnumMaps(); w.ll = new HashMap<>(); w.ll.put(5L, 6L); m.put("ll", w);
        m.put("bare", em(new Range<>(1L, 2L))); m.put("bare-lists", em(l(1L))); m.put("bare-longs", em(1L)); m.put("bare-map", new HashMap<>(Map.of("a", l(1L)))); m.put("in-list", l(em(l(1L)), em(2L)));
        return m;
    }
}
