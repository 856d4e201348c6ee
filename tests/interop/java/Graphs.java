import io.netty.buffer.*;
import java.io.Serializable;
import java.math.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.stream.*;
import org.redisson.client.codec.Codec;
import org.redisson.codec.*;

/**
 * Random graphs of objects, in which texts, boxed numbers, dates and collections stand at several places, and equal ones
 * that are objects of their own stand beside them.
 *
 * <p>Prints a line for each graph and codec that Java reads back: the seed, the codec, and the bytes in hex.
 */
public class Graphs {
    public enum Lvl implements Serializable { LOW { public int n() { return 1; } }, HIGH { public int n() { return 2; } }, MID; public int n() { return 0; } }
    public static class Node implements Serializable {
        private static final long serialVersionUID = 5L;
        public Object a; public String s; public Long n; public Date d; public Boolean b; public List<Object> items; public BigDecimal dec; public Node next; public byte[] raw; public Set<String> tags; public Map<String, Object> map; public Lvl lvl; public Integer i; public Double x; public java.util.UUID id;
        public Node() {}
    }
    static Random r;
    static List<Object> pool;
    static Object leaf() {
        switch (r.nextInt(22)) {
            case 0: return "t" + r.nextInt(3);
            case 1: return new String("LOW");
            case 2: return "LOW";
            case 3: return Integer.valueOf(r.nextInt(300));
            case 4: return new Integer(r.nextInt(3));
            case 5: return Long.valueOf(r.nextInt(300));
            case 6: return new Long(r.nextInt(3));
            case 7: return new Date(r.nextInt(3));
            case 8: return BigDecimal.valueOf(r.nextInt(4));
            case 9: return BigInteger.valueOf(r.nextInt(30));
            case 10: return Boolean.valueOf(r.nextBoolean());
            case 11: return Lvl.values()[r.nextInt(3)];
            case 12: return new UUID(r.nextInt(2), 1);
            case 13: return java.time.LocalDate.of(2020, 1, 1 + r.nextInt(3));
            case 14: return Double.valueOf(r.nextInt(3));
            case 15: return Float.valueOf(r.nextInt(3));
            case 16: return Character.valueOf((char) ('a' + r.nextInt(3)));
            case 17: return Short.valueOf((short) r.nextInt(300));
            case 18: return new java.sql.Timestamp(r.nextInt(3));
            case 19: return Currency.getInstance("EUR");
            case 20: return new byte[] {(byte) r.nextInt(3)};
            case 21: return r.nextBoolean() ? Locale.US : Locale.GERMANY;
        }
        return null;
    }
    static Object any(int depth) {
        if (!pool.isEmpty() && r.nextInt(4) == 0) return pool.get(r.nextInt(pool.size()));
        Object made = depth <= 0 || r.nextInt(3) == 0 ? leaf() : box(depth);
        pool.add(made);
        return made;
    }
    static List<Object> some(int depth) { List<Object> l = new ArrayList<>(); int n = r.nextInt(4); for (int i = 0; i < n; i++) l.add(any(depth - 1)); return l; }
    static List<Object> leaves() { List<Object> l = new ArrayList<>(); int n = r.nextInt(4); for (int i = 0; i < n; i++) { Object o = any(0); if (o instanceof Comparable || o instanceof Currency) l.add(o); } return l; }
    static Set<Object> hs(Set<Object> s) { int n = r.nextInt(5); for (int i = 0; i < n; i++) s.add("k" + r.nextInt(40)); return s; }
    static Map<Object, Object> hm(Map<Object, Object> s, int d) { int n = r.nextInt(4); for (int i = 0; i < n; i++) { Object v = any(d - 1); s.put("k" + r.nextInt(40), v); } return s; }
    static Object box(int d) {
        switch (r.nextInt(26)) {
            case 0: return some(d);
            case 1: return new LinkedList<>(some(d));
            case 2: return hs(new HashSet<>(1 << r.nextInt(8)));
            case 3: return hs(new LinkedHashSet<>());
            case 4: return hm(new HashMap<>(1 << r.nextInt(8)), d);
            case 5: return hm(new LinkedHashMap<>(), d);
            case 6: return hm(new TreeMap<>(), d);
            case 7: return hm(new ConcurrentHashMap<>(), d).size() >= 0 ? hm(new Hashtable<>(), d) : null;
            case 8: return Collections.unmodifiableList(some(d));
            case 9: { Object o = any(d - 1); return o instanceof List ? Collections.unmodifiableList((List<?>) o) : Collections.singletonList(o); }
            case 10: { Object o = any(d - 1); return o instanceof Map ? Collections.unmodifiableMap((Map<?, ?>) o) : o instanceof Set ? Collections.synchronizedSet((Set<?>) o) : Collections.nCopies(r.nextInt(3), o); }
            case 11: return Arrays.asList(some(d).toArray());
            case 12: { List<Object> l = some(d); return l.stream().toList(); }
            case 13: { List<Object> l = some(d); l.removeIf(Objects::isNull); return List.copyOf(l); }
            case 14: { List<Object> l = some(d); l.removeIf(Objects::isNull); List<Object> k = List.copyOf(l); return k.subList(0, k.size() / 2); }
            case 15: { Node n = new Node(); fill(n, d); return n; }
            case 16: { EnumMap<Lvl, Object> m = new EnumMap<>(Lvl.class); m.put(Lvl.HIGH, any(d - 1)); m.put(Lvl.LOW, "HIGH"); return m; }
            case 17: return EnumSet.of(Lvl.HIGH, Lvl.values()[r.nextInt(3)]);
            case 18: { ArrayDeque<Object> q = new ArrayDeque<>(); for (Object o : some(d)) if (o != null) q.add(o); return q; }
            case 19: return some(d).toArray();
            case 20: return new String[] {"a", new String("a"), (r.nextBoolean() ? "LOW" : null)};
            case 21: return new Long[] {1L, 500L, 500L};
            case 22: return hs(Collections.newSetFromMap(new ConcurrentHashMap<>())).size() > -1 ? hs(ConcurrentHashMap.newKeySet()) : null;
            case 23: { HashSet<Object> s = new HashSet<>(); for (int i = 0; i < 40; i++) s.add("x" + i); for (int i = 0; i < 37; i++) s.remove("x" + i); return s; }
            case 24: { HashMap<Object, Object> s = new HashMap<>(); for (int i = 0; i < 40; i++) s.put((long) i * 16, i); for (int i = 0; i < 37; i++) s.remove((long) i * 16); return s; }
            case 25: { HashSet<Object> s = new HashSet<>(); s.add(Lvl.HIGH); s.add(Lvl.MID); s.add(Lvl.LOW); return s; }
        }
        return null;
    }
    static void fill(Node n, int d) {
        n.a = any(d - 1); n.items = some(d);
        for (Object o : List.of(any(0), any(0), any(0), any(0), any(0), any(0), any(0))) {
            if (o instanceof String) n.s = (String) o;
            if (o instanceof Long) n.n = (Long) o;
            if (o instanceof Boolean) n.b = (Boolean) o;
            if (o instanceof BigDecimal) n.dec = (BigDecimal) o;
            if (o instanceof byte[]) n.raw = (byte[]) o;
            if (o instanceof Lvl) n.lvl = (Lvl) o;
            if (o instanceof Integer) n.i = (Integer) o;
            if (o instanceof Double) n.x = (Double) o;
            if (o instanceof UUID) n.id = (UUID) o;
            if (o != null && o.getClass() == Date.class) n.d = (Date) o;
        }
        if (d > 1 && r.nextInt(3) == 0) { n.next = new Node(); fill(n.next, d - 1); }
        if (r.nextBoolean()) { n.tags = new HashSet<>(); for (int i = 0; i < r.nextInt(6); i++) n.tags.add("g" + r.nextInt(50)); }
        if (r.nextBoolean()) { n.map = new HashMap<>(); for (int i = 0; i < r.nextInt(6); i++) n.map.put("g" + r.nextInt(50), leaf()); }
    }
    public static void main(String[] a) throws Exception {
        Map<String, Codec> codecs = new LinkedHashMap<>();
        codecs.put("Kryo5Codec", new Kryo5Codec()); codecs.put("JsonJacksonCodec", new JsonJacksonCodec()); codecs.put("SerializationCodec", new SerializationCodec());
        int from = Integer.parseInt(a[0]), to = Integer.parseInt(a[1]);
        for (int seed = from; seed < to; seed++) {
            r = new Random(seed); pool = new ArrayList<>();
            Object v;
            try { v = box(3); } catch (RuntimeException e) { continue; }
            for (Map.Entry<String, Codec> c : codecs.entrySet()) {
                String hex;
                try {
                    ByteBuf b = c.getValue().getValueEncoder().encode(v);
                    hex = ByteBufUtil.hexDump(b);
                    Object back = c.getValue().getValueDecoder().decode(Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex)), null);
                } catch (Throwable e) { continue; }
                System.out.println(seed + " " + c.getKey() + " " + hex);
            }
        }
    }
}
