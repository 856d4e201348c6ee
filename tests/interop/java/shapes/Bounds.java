package shapes;
import java.io.Serializable;
import java.util.*;
/** Wildcards with bounds, nested ones, recursive bounds, and bounded type variables. */
public class Bounds implements Serializable {
    private static final long serialVersionUID = 1L;
    public record Geo(double lat, double lon) implements Serializable {}
    public interface Result<T> extends Serializable {}
    public static class Ok<T> implements Result<T> { private static final long serialVersionUID = 1L; public T value; public List<T> more; public Ok() {} public Ok(T v) { value = v; more = new ArrayList<>(List.of(v)); } }
    public static class Box<T extends Comparable<T>> implements Serializable { private static final long serialVersionUID = 1L; public T value; public List<? extends T> below; public List<? super T> above; public Map<String, ? extends List<? extends T>> deep; public Box() {} }
    public static class Self<T extends Self<T>> implements Serializable { private static final long serialVersionUID = 1L; public T next; public List<? extends T> all; public String name; public Self() {} }
    public static class Me extends Self<Me> { private static final long serialVersionUID = 1L; public int n; public Me() {} public Me(int n) { this.n = n; name = "me" + n; } }
    public static final class Fin implements Serializable { private static final long serialVersionUID = 1L; public int x; public Fin() {} public Fin(int x) { this.x = x; } }
    public static class Pair<A, B extends Number> implements Serializable { private static final long serialVersionUID = 1L; public A a; public B b; public Map<? super A, ? extends B> map; public Pair() {} }
    public static class Both<A, B> implements Serializable { private static final long serialVersionUID = 1L; public A first; public B second; public Both() {} }
    public static class Flipped<A, B> extends Both<B, A> { private static final long serialVersionUID = 1L; public List<A> as; public Flipped() {} }
    public static class Twice<A, B> extends Flipped<B, A> { private static final long serialVersionUID = 1L; public Map<A, B> map; public Twice() {} }

    public List<? extends Result<Geo>> results;
    public Map<? super String, ?> anyMap;
    public List<? super Fin> supers;
    public List<? super Geo> supergeo;
    public List<? super Long> longs;
    public List<? extends Number> numbers;
    public List<? extends Long> onlyLongs;
    public List<? extends Fin> fins;
    public Map<? extends String, ? extends List<? extends Result<? extends Geo>>> nested;
    public List<List<? extends Result<Fin>>> lists;
    public List<List<? super Fin>> lists2;
    public Box<Long> box;
    public Box<String> sbox;
    public Box<? extends String> wbox;
    public Me me;
    public Self<?> self;
    public Pair<String, Long> pair;
    public Pair<? super Geo, ? extends Long> wpair;
    public Optional<? extends Result<Geo>> opt;
    public Set<? extends Geo> geos;
    public Collection<? extends Collection<? extends Fin>> coll;
    public Map<String, ? super List<Fin>> superLists;
    public List<? extends Geo[]> arrays;
    public Result<? extends Result<? extends Geo>> rr;
    public Result<? super Geo> rs;
    public List<? extends Map<String, ? extends Geo>> maps;
    public Flipped<Character, Float> flipped;
    public Twice<Character, Float> twice;
    public Bounds() {}

    static <T> List<T> l(T... a) { return new ArrayList<>(Arrays.asList(a)); }
    @SuppressWarnings({"unchecked","rawtypes"})
    public static Map<String, Object> samples() {
        Map<String, Object> m = new LinkedHashMap<>();
        Geo g = new Geo(1, 2);
        Bounds w;
        w = new Bounds(); w.results = l(new Ok<>(g), new Ok<>(g)); m.put("results", w);
        w = new Bounds(); Map<Object, Object> am = new HashMap<>(); am.put("a", 5L); w.anyMap = am; m.put("anyMap", w);
        w = new Bounds(); w.supers = l(new Fin(1), new Fin(2)); m.put("supers", w);
        w = new Bounds(); w.supers = (List) l(new Fin(1), "x"); m.put("supers-mixed", w);
        w = new Bounds(); w.supergeo = l(g); m.put("supergeo", w);
        w = new Bounds(); w.longs = l(1L, 2L); m.put("longs", w);
        w = new Bounds(); w.longs = (List) l(1L, 2, "a"); m.put("longs-mixed", w);
        w = new Bounds(); w.numbers = l(1L, 2, 3.0); m.put("numbers", w);
        w = new Bounds(); w.onlyLongs = l(1L, 2L); m.put("onlyLongs", w);
        w = new Bounds(); w.fins = l(new Fin(3), null); m.put("fins", w);
        w = new Bounds(); Map<String, List<? extends Result<? extends Geo>>> n = new HashMap<>(); n.put("k", l(new Ok<>(g))); w.nested = n; m.put("nested", w);
        w = new Bounds(); w.lists = l(l(new Ok<>(new Fin(4)))); m.put("lists", w);
        w = new Bounds(); w.lists2 = l(l(new Fin(4))); m.put("lists2", w);
        w = new Bounds(); w.box = new Box<>(); w.box.value = 7L; w.box.below = l(8L); w.box.above = l(9L); Map<String, List<Long>> d = new HashMap<>(); d.put("q", l(1L)); w.box.deep = d; m.put("box", w);
        w = new Bounds(); w.sbox = new Box<>(); w.sbox.value = "v"; w.sbox.below = l("b"); w.sbox.above = l("c"); m.put("sbox", w);
        w = new Bounds(); Box<String> wb = new Box<>(); wb.value = "v"; wb.below = l("b"); wb.above = l("c"); w.wbox = wb; m.put("wbox", w);
        w = new Bounds(); w.me = new Me(1); w.me.next = new Me(2); w.me.all = l(new Me(3)); m.put("me", w);
        w = new Bounds(); Me q = new Me(1); q.next = new Me(2); w.self = q; m.put("self", w);
        w = new Bounds(); w.pair = new Pair<>(); w.pair.a = "a"; w.pair.b = 5L; Map<Object, Long> pm = new HashMap<>(); pm.put("k", 6L); w.pair.map = pm; m.put("pair", w);
        w = new Bounds(); Pair<Geo, Long> gp = new Pair<>(); gp.a = g; gp.b = 5L; w.wpair = gp; m.put("wpair", w);
        w = new Bounds(); w.opt = Optional.of(new Ok<>(g)); m.put("opt", w);
        w = new Bounds(); w.geos = new HashSet<>(l(g)); m.put("geos", w);
        w = new Bounds(); w.coll = l(l(new Fin(1))); m.put("coll", w);
        w = new Bounds(); Map<String, List<Fin>> sl = new HashMap<>(); sl.put("z", l(new Fin(6))); w.superLists = (Map) sl; m.put("superLists", w);
        w = new Bounds(); w.arrays = l(new Geo[] {g}, new Geo[] {}); m.put("arrays", w);
        w = new Bounds(); w.rr = new Ok<>(new Ok<>(g)); m.put("rr", w);
        w = new Bounds(); w.rs = new Ok<>(g); m.put("rs", w);
        w = new Bounds(); Map<String, Geo> mg = new HashMap<>(); mg.put("g", g); w.maps = l(mg); m.put("maps", w);
        w = new Bounds(); w.flipped = new Flipped<>(); w.flipped.first = 1.5f; w.flipped.second = 'b'; w.flipped.as = l('a'); m.put("flipped", w);
        w = new Bounds(); w.twice = new Twice<>(); w.twice.first = 'a'; w.twice.second = 1.5f; w.twice.as = l(2.5f); Map<Character, Float> cf = new HashMap<>(); cf.put('c', 3.5f); w.twice.map = cf; m.put("twice", w);
        return m;
    }
}
