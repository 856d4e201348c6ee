package shapes;
import java.io.Serializable;
import java.util.*;
import java.util.concurrent.*;
/** Classes that extend the collections of java.util, with fields of their own and without. */
public class Extended implements Serializable {
    private static final long serialVersionUID = 1L;
    public enum P { X, Y }
    public enum Loud { LOW, HIGH { @Override public String toString() { return "high!"; } }; @Override public String toString() { return name().toLowerCase(); } }
    public enum Mute { ON { @Override public String toString() { return "on"; } }, OFF }
    public static class Order implements Serializable { private static final long serialVersionUID = 1L; public long id; public String sku; public Order() {} public Order(long i) { id = i; sku = "s" + i; } }
    public static final class Fin implements Serializable, Comparable<Fin> { private static final long serialVersionUID = 1L; public int x; public Fin() {} public Fin(int x) { this.x = x; } public int compareTo(Fin o) { return Integer.compare(x, o.x); } public int hashCode() { return x; } public boolean equals(Object o) { return o instanceof Fin && ((Fin) o).x == x; } }
    public static class Names extends ArrayList<String> { private static final long serialVersionUID = 1L; }
    public static class Owned extends ArrayList<Order> { private static final long serialVersionUID = 1L; public String owner; public int count = 3; public List<Long> items; }
    public static class Index extends HashMap<String, Order> { private static final long serialVersionUID = 1L; }
    public static class Longs extends HashMap<String, Long> { private static final long serialVersionUID = 1L; public String note; }
    public static class Sorted extends TreeSet<String> { private static final long serialVersionUID = 1L; public Sorted() {} }
    public static class SMap extends TreeMap<Integer, List<Long>> { private static final long serialVersionUID = 1L; }
    public static class HSet extends HashSet<Long> { private static final long serialVersionUID = 1L; }
    public static class LHSet extends LinkedHashSet<Fin> { private static final long serialVersionUID = 1L; }
    public static class LL extends LinkedList<Integer> { private static final long serialVersionUID = 1L; }
    public static class Tags<T> extends ArrayList<T> { private static final long serialVersionUID = 1L; }
    public static class Sub extends Names { private static final long serialVersionUID = 1L; public String extra; }
    public static final class FinL extends ArrayList<Fin> { private static final long serialVersionUID = 1L; }
    public static class ByP extends LinkedHashMap<P, Fin> { private static final long serialVersionUID = 1L; }
    public static class KV<V> extends HashMap<String, V> { private static final long serialVersionUID = 1L; }
    public static class Conc extends ConcurrentHashMap<String, Long> { private static final long serialVersionUID = 1L; }
    public static class Dq extends ArrayDeque<String> { private static final long serialVersionUID = 1L; }
    public static class Vec extends Vector<String> { private static final long serialVersionUID = 1L; }
    public static class Nested extends ArrayList<List<? extends Fin>> { private static final long serialVersionUID = 1L; }
    public static class PQ extends PriorityQueue<String> { private static final long serialVersionUID = 1L; }
    public static class Cow extends CopyOnWriteArrayList<Long> { private static final long serialVersionUID = 1L; }
    public static class Raw extends ArrayList { private static final long serialVersionUID = 1L; }
    public static class LP extends ArrayList<P> { private static final long serialVersionUID = 1L; }
    public static class Ints extends ArrayList<int[]> { private static final long serialVersionUID = 1L; }
    public static class APairs extends ArrayList<Pair<P, Fin>> { private static final long serialVersionUID = 1L; }
    public static class Pair<A, B> implements Serializable { private static final long serialVersionUID = 1L; public A a; public B b; public Pair() {} public Pair(A a, B b) { this.a = a; this.b = b; } }
    public static class Lists<E> extends ArrayList<List<E>> { private static final long serialVersionUID = 1L; }
    public static class Held<T> implements Serializable { private static final long serialVersionUID = 1L; public Collection<T> in; public Map<String, T> by; }
    public Names names; public Owned owned; public Index index; public Longs longs; public Sorted sorted; public SMap smap; public HSet hset; public LHSet lhset; public LL ll; public Tags<Fin> tags; public Sub sub; public FinL finl; public ByP byp; public KV<Long> kv; public List<String> list; public Map<String, Long> map; public Object any; public List<Fin> finlist; public Set<Long> set; public Collection<? extends Names> coll; public Raw raw; public Conc conc; public Dq dq; public Vec vec; public Nested nested; public PQ pq; public Cow cow;
    public List<Object> objects; public Map<?, ?> wild; public Held<?> held; public Held<Object> holds; public List<List<Object>> inner; public List<? extends Comparable<?>> compared; public LP lp; public Ints ints; public APairs apairs; public List<Fin>[] arrays; public Pair<Fin, List<Fin>>[] pairs; public List<List<Fin>> lists; public Loud loud; public Map<Loud, EnumSet<Loud>> louds; public Mute mute;
    public Extended() {}
    static <T extends Collection<E>, E> T with(T c, E... es) { for (E e : es) c.add(e); return c; }
    static <T extends Map<K, V>, K, V> T put(T m, K k, V v) { m.put(k, v); return m; }
    public static Map<String, Object> samples() {
        Map<String, Object> m = new LinkedHashMap<>(); Extended w;
        m.put("names", with(new Names(), "a", "b"));
        m.put("names-empty", new Names());
        Owned o = with(new Owned(), new Order(1), new Order(2)); m.put("owned-plain", o);
        o = with(new Owned(), new Order(1)); o.owner = "me"; o.count = 7; o.items = new ArrayList<>(List.of(1L)); m.put("owned", o);
        m.put("index", put(new Index(), "k", new Order(1)));
        Longs ls = put(new Longs(), "k", 5L); m.put("longs", ls);
        ls = put(new Longs(), "k", 5L); ls.note = "n"; m.put("longs-note", ls);
        m.put("sorted", with(new Sorted(), "b", "a"));
        m.put("smap", put(new SMap(), 5, new ArrayList<>(List.of(1L))));
        HSet hs = new HSet(); for (long i = 0; i < 30; i++) hs.add(i * 7919); hs.remove(7919L); m.put("hset", hs);
        m.put("lhset", with(new LHSet(), new Fin(2), new Fin(1)));
        m.put("ll", with(new LL(), 1, 2)); m.put("tags", with(new Tags<Fin>(), new Fin(1)));
        m.put("sub", with(new Sub(), "x")); Sub sb = with(new Sub(), "x"); sb.extra = "e"; m.put("sub-extra", sb);
        m.put("finl", with(new FinL(), new Fin(4))); m.put("byp", put(new ByP(), P.Y, new Fin(1))); m.put("kv", put(new KV<Long>(), "a", 1L)); m.put("kv-empty", new KV<Long>());
        m.put("conc", put(new Conc(), "a", 1L)); m.put("dq", with(new Dq(), "z")); m.put("vec", with(new Vec(), "z")); m.put("nested", with(new Nested(), new ArrayList<>(List.of(new Fin(1))))); m.put("pq", with(new PQ(), "q", "p")); m.put("cow", with(new Cow(), 3L)); m.put("raw", with(new Raw(), 1L, "x", new Fin(2)));
        m.put("lp", with(new LP(), P.X)); m.put("ints", with(new Ints(), new int[] {1})); m.put("apairs", with(new APairs(), new Pair<>(P.Y, new Fin(1))));
        Map<String, Object> f = new LinkedHashMap<>(m);
        for (Map.Entry<String, Object> e : f.entrySet()) {
            w = new Extended(); Object v = e.getValue();
            try { for (java.lang.reflect.Field fd : Extended.class.getFields()) if (fd.getType() == v.getClass()) fd.set(w, v); } catch (Exception x) { throw new RuntimeException(x); }
            m.put("f-" + e.getKey(), w);
            w = new Extended(); w.any = v; m.put("any-" + e.getKey(), w);
            // What Jackson writes of the elements depends on the type that the field declares.
            if (v instanceof List) { w = new Extended(); w.objects = (List<Object>) v; m.put("objects-" + e.getKey(), w); w = new Extended(); w.inner = new ArrayList<>(List.of((List<Object>) v)); m.put("inner-" + e.getKey(), w); }
            if (v instanceof Map) { w = new Extended(); w.wild = (Map<?, ?>) v; m.put("wild-" + e.getKey(), w); }
            if (v instanceof Collection) { Held<Object> h = new Held<>(); h.in = (Collection<Object>) v; w = new Extended(); w.held = h; m.put("held-" + e.getKey(), w); w = new Extended(); w.holds = h; m.put("holds-" + e.getKey(), w); }
        }
        w = new Extended(); w.list = with(new Names(), "a"); m.put("list", w);
        w = new Extended(); w.map = put(new Longs(), "a", 1L); m.put("map", w);
        w = new Extended(); w.map = put(new KV<Long>(), "a", 1L); m.put("map-kv", w);
        w = new Extended(); w.finlist = with(new Tags<Fin>(), new Fin(1)); m.put("finlist", w);
        w = new Extended(); w.finlist = with(new FinL(), new Fin(1)); m.put("finlist-finl", w);
        w = new Extended(); w.set = with(new HSet(), 1L, 2L); m.put("set", w);
        w = new Extended(); w.coll = new ArrayList<>(List.of(with(new Names(), "q"), with(new Sub(), "r"))); m.put("coll", w);
        w = new Extended(); w.compared = with(new LP(), P.Y); m.put("compared", w);
        List<Fin> fins = new ArrayList<>(List.of(new Fin(1))); w = new Extended(); w.arrays = new List[] {fins, null}; m.put("arrays", w);
        w = new Extended(); w.pairs = new Pair[] {new Pair<>(new Fin(2), fins)}; m.put("pairs", w);
        w = new Extended(); w.lists = with(new Lists<Fin>(), fins); m.put("lists", w);
        w = new Extended(); w.loud = Loud.HIGH; w.louds = new TreeMap<>(Map.of(Loud.LOW, EnumSet.allOf(Loud.class))); w.any = new ArrayList<>(List.of(Loud.LOW, Loud.HIGH)); m.put("louds", w);
        m.put("in-list", new ArrayList<>(Arrays.asList(with(new Names(), "a"), put(new Index(), "k", null), with(new Sorted(), "z"))));
        return m;
    }
}
