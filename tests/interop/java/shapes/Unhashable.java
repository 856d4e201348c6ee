package shapes;
import java.util.*;
import java.io.Serializable;
/** Sets and maps whose elements and keys Python cannot hash. */
public class Unhashable implements Serializable {
    private static final long serialVersionUID = 1L;
    public static class Line implements Serializable, Comparable<Line> {
        private static final long serialVersionUID = 1L;
        public String sku; public int count;
        public Line() {}
        public Line(String sku, int count) { this.sku = sku; this.count = count; }
        @Override public boolean equals(Object other) { return other instanceof Line && ((Line) other).sku.equals(sku); }
        @Override public int hashCode() { return sku.hashCode(); }
        @Override public int compareTo(Line other) { return sku.compareTo(other.sku); }
    }
    public record Pair(String left, List<Integer> right) implements Serializable {}
    public enum Kind { A, B }
    public Set<Line> set; public HashSet<Line> hash; public LinkedHashSet<Line> linked; public Map<Line, Integer> map; public HashMap<Line, List<Line>> hashMap;
    public Set<List<String>> lists; public Set<Object> objects; public Set<Pair> pairs; public Map<Object, Object> any; public List<Set<Line>> nested; public Map<String, Set<Line>> inside;
    public Set<String> texts; public Set<Kind> kinds; public Map<Kind, Line> byKind; public Set<Line> fresh = new LinkedHashSet<>();
    public Unhashable() {}
    static Set<Line> lines(Set<Line> into) { into.add(new Line("b", 2)); into.add(new Line("a", 1)); into.add(new Line("c", 3)); return into; }
    public static Map<String, Object> samples() {
        Map<String, Object> m = new LinkedHashMap<>(); Unhashable w;
        m.put("nothing", new Unhashable());
        w = new Unhashable(); w.set = lines(new HashSet<>()); m.put("set", w);
        w = new Unhashable(); w.set = Collections.unmodifiableSet(lines(new LinkedHashSet<>())); m.put("unmodifiable", w);
        w = new Unhashable(); w.set = Collections.synchronizedSet(lines(new HashSet<>())); m.put("synchronized", w);
        w = new Unhashable(); w.hash = (HashSet<Line>) lines(new HashSet<>()); m.put("hash", w);
        w = new Unhashable(); w.linked = (LinkedHashSet<Line>) lines(new LinkedHashSet<>()); m.put("linked", w);
        w = new Unhashable(); w.map = new HashMap<>(); w.map.put(new Line("k", 1), 7); m.put("map", w);
        w = new Unhashable(); w.map = Collections.unmodifiableMap(new TreeMap<>(Map.of(new Line("k", 1), 7))); m.put("tree", w);
        w = new Unhashable(); w.hashMap = new HashMap<>(); w.hashMap.put(new Line("k", 1), new ArrayList<>(List.of(new Line("v", 2)))); m.put("hash-map", w);
        w = new Unhashable(); w.lists = new HashSet<>(); w.lists.add(new ArrayList<>(List.of("x", "y"))); m.put("lists", w);
        w = new Unhashable(); w.objects = new HashSet<>(); w.objects.add(new Line("o", 1)); w.objects.add("text"); m.put("objects", w);
        w = new Unhashable(); w.objects = new HashSet<>(); w.objects.add("text"); m.put("objects-of-text", w);
        w = new Unhashable(); w.pairs = new HashSet<>(); w.pairs.add(new Pair("l", new ArrayList<>(List.of(1)))); m.put("pairs", w);
        w = new Unhashable(); w.any = new HashMap<>(); w.any.put(new Line("k", 1), new Line("v", 2)); m.put("any", w);
        w = new Unhashable(); w.any = new HashMap<>(); w.any.put(1, 2); w.any.put(1L, 3); m.put("any-of-numbers", w);
        w = new Unhashable(); w.nested = new ArrayList<>(); w.nested.add(lines(new HashSet<>())); m.put("nested", w);
        w = new Unhashable(); w.inside = new LinkedHashMap<>(); w.inside.put("x", lines(new LinkedHashSet<>())); m.put("inside", w);
        w = new Unhashable(); w.texts = new HashSet<>(List.of("p", "q")); m.put("texts", w);
        w = new Unhashable(); w.kinds = new HashSet<>(List.of(Kind.B)); m.put("kinds", w);
        w = new Unhashable(); w.byKind = new LinkedHashMap<>(Map.of(Kind.A, new Line("z", 9))); m.put("by-kind", w);
        w = new Unhashable(); lines(w.fresh); m.put("fresh", w);
        return m;
    }
}
