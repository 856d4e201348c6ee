package random;
import java.io.Serializable;
import java.math.*;
import java.net.*;
import java.nio.charset.Charset;
import java.sql.Timestamp;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.regex.Pattern;

public class Shapes {
    public enum Hue implements Serializable { RED, GREEN { public int n() { return 1; } }, BLUE { public int n() { return 2; } }; public int n() { return 0; } }
    public enum Flat { ONE, TWO, THREE }
    public interface Mark extends Serializable {}
    public static class Base implements Mark { private static final long serialVersionUID = 1; public int id; public String name; public Object any; public Long big; }
    public static class Child extends Base { private static final long serialVersionUID = 1; public List<Short> shorts; public Map<Hue, List<Byte>> bytesBy; public char c; public float f; }
    public static final class Leaf extends Base { private static final long serialVersionUID = 1; public Character[] chars; public short[][] grid; public Optional<String> nothing; }
    public static class Pairing<A, B> implements Mark { private static final long serialVersionUID = 1; public A first; public B second; public List<A> firsts; public Map<String, B> seconds; public A[] array; }
    public static class Twice<T> extends Pairing<T, List<T>> { private static final long serialVersionUID = 1; public T third; public Pairing<T, T> inner; }
    public static class OfShorts extends Twice<Short> { private static final long serialVersionUID = 1; public Short own; }
    public record Point(int x, Long y, Object z) implements Mark {}
    public record Held<T>(T value, List<T> values, Hue hue) implements Mark {}
    public static class EnumMaps implements Mark {
        private static final long serialVersionUID = 1; 
        public EnumMap<Hue, Short> shorts; public EnumMap<Hue, List<Short>> lists; public EnumMap<Flat, Set<Character>> sets; public EnumMap<Flat, Map<String, Float>> maps;
        public EnumMap<Flat, EnumMap<Hue, Byte>> nested; public EnumMap<Flat, short[]> arrays; public EnumMap<Flat, List<long[]>> listsOfArrays; public EnumMap<Flat, Long> longs; public EnumMap<Flat, List<Long>> listsOfLongs;
        public EnumMap<Hue, Object> objects; public EnumMap<Hue, Base> bases; public EnumMap<Hue, Leaf> leaves; public EnumMap<Flat, List<Leaf>> lists2; public EnumMap<Flat, Hue> hues; public EnumMap<Flat, UUID> ids; public EnumMap<Flat, BigDecimal> decs;
        public EnumMap<Flat, Held<Short>> held; public EnumMap<Flat, Map<Flat, Character>> maps2; public EnumMap<Flat, Float[]> floats; public EnumMap<Flat, Double> doubles; public EnumMap<Flat, List<Double>> doubles2; public EnumMap<Flat, Date> dates;
        public Map<Flat, Short> plain; public Map<Hue, EnumMap<Flat, List<Character>>> within; public List<EnumMap<Flat, Float>> many; public EnumSet<Flat> set; public EnumMap<Flat, EnumSet<Hue>> sets2; public EnumMap<Flat, Locale> locales; public EnumMap<Flat, List<UUID>> ids2; public EnumMap<Flat, Class<?>> classes; public EnumMap<Flat, StringBuilder> builders;
        public EnumMap<Flat, Optional<String>> opts; public EnumMap<Flat, AtomicInteger> atoms; public EnumMap<Flat, Flat> flats; public EnumMap<Flat, List<Flat>> flats2; public EnumMap<Flat, Hue[]> hues2; public EnumMap<Flat, byte[]> raw;
    }
    public static class Numbers implements Mark {
        private static final long serialVersionUID = 1; 
        public byte b; public short s; public int i; public long l; public float f; public double d; public char c; public boolean z; public Byte B; public Short S; public Integer I; public Long L; public Float F; public Double D; public Character C; public Boolean Z;
        public BigInteger bi; public BigDecimal bd; public AtomicInteger ai; public AtomicLong al; public AtomicBoolean ab; public Number n; public Comparable<?> cmp; public CharSequence cs; public Object o; public Serializable ser;
    }
    public static class Scalars implements Mark {
        private static final long serialVersionUID = 1; 
        public UUID id; public Date date; public Timestamp ts; public java.sql.Date sd; public java.sql.Time st; public URI uri; public URL url; public Locale locale; public Currency cur; public Pattern pat; public TimeZone tz; public Charset cs; public BitSet bits; public StringBuilder sb; public StringBuffer sbf; public Class<?> cls; public Hue hue; public Flat flat; public byte[] raw; public char[] chars; public Object o; public List<Object> os;
        public Optional<String> opt; public Optional<List<Short>> opt2; public OptionalInt oi; public OptionalLong ol; public OptionalDouble od; public AtomicReference<Object> ref; public AtomicReference<Short> ref2; public Optional<Optional<Long>> oo;
    }
    public static class Times implements Mark {
        private static final long serialVersionUID = 1; 
        public java.time.Instant i; public java.time.LocalDate d; public java.time.LocalTime t; public java.time.LocalDateTime dt; public java.time.OffsetDateTime odt; public java.time.ZonedDateTime zdt; public java.time.Duration du; public java.time.Period p; public java.time.Year y; public java.time.YearMonth ym; public java.time.MonthDay md; public java.time.ZoneId z; public java.time.ZoneOffset zo; public java.time.DayOfWeek dow; public TimeUnit tu; public Object any; public List<Object> os;
    }
    public static class Arrays2 implements Mark {
        private static final long serialVersionUID = 1; 
        public int[] i; public long[][] l; public short[] s; public byte[][] b; public char[][] c; public boolean[] z; public float[] f; public double[][] d; public String[] st; public String[][] st2; public Object[] o; public Object[][] o2; public Short[] S; public Long[][] L; public Character[] C; public Base[] bases; public Base[][] bases2; public Leaf[] leaves; public List<Short>[] lists; public Map<String, Long>[] maps; public Hue[] hues; public Flat[][] flats; public UUID[] ids; public Held<Leaf>[] helds; public Number[] n; public Comparable<?>[] cmps; public EnumMap<Flat, Short>[] ems; public List<Short[]> la; public List<List<Character>[]> lla; public Object any;
    }
    public static class Cols implements Mark {
        private static final long serialVersionUID = 1; 
        public List<Short> a; public Set<Byte> b; public Collection<Character> c; public Queue<Long> q; public Deque<Float> dq; public SortedSet<String> ss; public NavigableMap<String, Short> nm; public ConcurrentMap<String, Long> cm; public LinkedList<Integer> ll; public ArrayDeque<Object> ad; public TreeMap<Integer, List<Short>> tm; public HashMap<Long, Base> hm; public Hashtable<String, Object> ht; public Vector<Object> v; public Stack<Leaf> st; public PriorityQueue<Long> pq; public LinkedHashSet<UUID> lhs; public CopyOnWriteArrayList<Object> cow; public ConcurrentSkipListMap<String, Object> csl; public Set<Base> bs; public Set<Hue> hs; public Map<UUID, List<Object>> mu; public Map<Integer, Map<Long, Object>> mm; public Iterable<Short> it; public Map<Flat, Flat> ff; public List<? extends Base> w; public List<? super Leaf> w2; public List<?> w3; public Map<?, ?> w4; public Properties props; public IdentityHashMap<String, Object> ihm; public WeakHashMap<String, Object> whm; public LinkedBlockingDeque<Object> lbd; public Map<String, Object[]> mo; public Map<Boolean, Double> bools; public Map<Character, Byte> cb; public Map<Short, Float> sf; public Map<Date, Long> dl; public Map<Double, Double> ddm;
    }
    public static class Holder implements Mark {
        private static final long serialVersionUID = 1; 
        public Twice<Leaf> a; public Pairing<Short, Character> b; public Pairing<List<Byte>, Map<Hue, Short>> c; public Held<Long> d; public Held<List<Short>> e; public Held<Hue> f; public OfShorts g; public Pairing<Held<Short>, Held<Leaf>> h; public List<Pairing<Short, Leaf>> i; public Map<String, Held<Character>> j; public Base k; public Mark l; public Object m; public Point n; public Pairing<?, ? extends Base> o; public Twice<UUID> p; public Twice<Long> q; public Optional<Held<Short>> r; public Held<Short[]> s; public Held<EnumMap<Flat, Short>> t; public Twice<Character> u; public Leaf v; public Child w; public Shadow x;
    }
    public static class Shade implements Mark { private static final long serialVersionUID = 1; public Object v; public int n; public String own; }
    public static class Shadow extends Shade { private static final long serialVersionUID = 1; public Short v2; public List<Short> own2; }
    public static final class Empty implements Mark { private static final long serialVersionUID = 1;  }
    public static class Inits implements Mark { private static final long serialVersionUID = 1; public List<Short> l = new ArrayList<>(); public int n = 5; public String s = "x"; public Map<String, Object> m = new HashMap<>(); public Hue h = Hue.RED; public Object o; public Short sh; }
    public static class Tags extends ArrayList<Short> { private static final long serialVersionUID = 1;  }
    public static class Table<V> extends HashMap<String, V> { private static final long serialVersionUID = 1;  }
    public static class UseCols implements Mark { private static final long serialVersionUID = 1; public Tags t; public Table<Character> tc; public List<Tags> lt; public Map<String, Table<Long>> mt; public Object o; public EnumMap<Flat, Tags> em; public Collection<Short> cs; public Table<Leaf> tl; }
}
