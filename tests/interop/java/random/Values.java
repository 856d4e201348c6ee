package random;
import io.netty.buffer.*;
import java.lang.reflect.*;
import java.math.*;
import java.net.*;
import java.nio.charset.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.regex.Pattern;
import java.util.stream.*;
import org.redisson.client.codec.Codec;
import org.redisson.codec.*;

/**
 * Values of the classes of Shapes, with random values in their fields: collections in maps in EnumMaps, Optionals of
 * Optionals, arrays of lists, generics in generics, of whatever the fields declare.
 *
 * <p>Prints a line for each value and codec that writes it: the seed, the codec, and the bytes in hex.
 */
public class Values {
    static Random r;
    static boolean times;
    static List<Class<?>> concrete = new ArrayList<>();
    static int n(int k) { return r.nextInt(k); }
    static Class<?> raw(Type t) {
        if (t instanceof Class<?> c) return c;
        if (t instanceof ParameterizedType p) return (Class<?>) p.getRawType();
        if (t instanceof GenericArrayType g) return Array.newInstance(raw(g.getGenericComponentType()), 0).getClass();
        if (t instanceof WildcardType w) return raw(w.getLowerBounds().length > 0 ? w.getLowerBounds()[0] : w.getUpperBounds()[0]);
        return Object.class;
    }
    static Type sub(Type t, Map<String, Type> b) {
        if (t instanceof TypeVariable<?> v) return b.getOrDefault(v.getName(), Object.class);
        if (t instanceof ParameterizedType p) {
            Type[] a = Stream.of(p.getActualTypeArguments()).map(x -> sub(x, b)).toArray(Type[]::new);
            return new ParameterizedType() {
                public Type[] getActualTypeArguments() { return a; } public Type getRawType() { return p.getRawType(); } public Type getOwnerType() { return p.getOwnerType(); } };
        }
        if (t instanceof GenericArrayType g) { Type c = sub(g.getGenericComponentType(), b); return c instanceof Class<?> k ? (Type) Array.newInstance(k, 0).getClass() : (GenericArrayType) () -> c; }
        if (t instanceof WildcardType w) return sub(w.getLowerBounds().length > 0 ? w.getLowerBounds()[0] : w.getUpperBounds()[0], b);
        return t;
    }
    static Type arg(Type t, int i) { return t instanceof ParameterizedType p && p.getActualTypeArguments().length > i ? sub(p.getActualTypeArguments()[i], Map.of()) : Object.class; }
    static final Class<?>[] SCALARS = {String.class, Integer.class, Long.class, Short.class, Byte.class, Character.class, Float.class, Double.class, Boolean.class, BigInteger.class, BigDecimal.class, UUID.class, Date.class, java.sql.Timestamp.class, URI.class, Locale.class, Currency.class, Pattern.class, Shapes.Hue.class, Shapes.Flat.class, byte[].class, short[].class, Short[].class, Object[].class, int[][].class, AtomicInteger.class, AtomicLong.class, StringBuilder.class, BitSet.class, TimeZone.class, Class.class, Charset.class, char[].class, String[].class, Character[].class, Shapes.Leaf[].class, Shapes.Hue[].class, UUID[].class, long[].class, OptionalInt.class, AtomicReference.class, GregorianCalendar.class, SimpleTimeZone.class};
    static final Class<?>[] CONT = {ArrayList.class, LinkedList.class, ArrayDeque.class, HashSet.class, LinkedHashSet.class, TreeSet.class, HashMap.class, LinkedHashMap.class, TreeMap.class, ConcurrentHashMap.class, Hashtable.class, Vector.class, PriorityQueue.class, EnumMap.class, EnumSet.class, List.class, Set.class, Map.class, Collection.class};
    static final Class<?>[] TIMES = {Instant.class, LocalDate.class, LocalTime.class, LocalDateTime.class, OffsetDateTime.class, ZonedDateTime.class, Duration.class, Period.class, Year.class, YearMonth.class, MonthDay.class, ZoneId.class, ZoneOffset.class, DayOfWeek.class, TimeUnit.class, OffsetTime.class};
    static <T> T pick(T[] a) { return a[n(a.length)]; }
    static String text() { return switch (n(9)) { case 0 -> ""; case 1 -> "t" + n(3); case 2 -> "a b\"\\\n\u0007"; case 3 -> "\u00e9\ud83d\ude00"; case 4 -> "java.lang.String"; case 5 -> "LOW"; case 6 -> "2020-01-01"; case 7 -> "x".repeat(n(100)); default -> "k" + n(100); }; }
    static Object any(int d) {
        int k = n(10);
        if (k < 4 || d <= 0) return gen(times && n(4) == 0 ? pick(TIMES) : pick(SCALARS), d - 1);
        if (k < 7) return gen(pick(CONT), d - 1);
        return gen(concrete.get(n(concrete.size())), d - 1);
    }
    static Object nn(Type t, int d) { for (int i = 0; i < 20; i++) { Object o = gen(t, d); if (o != null) return o; } throw new IllegalStateException(); }
    static Object key(Type t, int d) { return t == Object.class ? (Object) ("k" + n(30)) : nn(t, 0); }
    static Number num() { return (Number) gen(pick(new Class<?>[] {Integer.class, Long.class, Short.class, Double.class, BigDecimal.class, Byte.class, Float.class, BigInteger.class, AtomicInteger.class}), 0); }
    static int len(int d) { return d <= 0 ? n(2) : n(4); }
    static Object gen(Type t, int d) {
        Class<?> c = raw(t);
        if (!c.isPrimitive() && n(9) == 0 && d < 4) return null;
        if (d < -6 && !c.isPrimitive()) return null;
        if (c == int.class || c == Integer.class) return pick(new Integer[] {0, 1, -1, 127, 128, 300, Integer.MAX_VALUE, Integer.MIN_VALUE});
        if (c == long.class || c == Long.class) return pick(new Long[] {0L, 5L, -1L, 1L << 31, 1L << 40, Long.MAX_VALUE, Long.MIN_VALUE});
        if (c == short.class || c == Short.class) return (short) (n(70000));
        if (c == byte.class || c == Byte.class) return (byte) n(256);
        if (c == char.class || c == Character.class) return pick(new Character[] {'a', '\u00e9', '\u4e2d', ' ', '"', '\0', '5'});
        if (c == float.class || c == Float.class) return pick(new Float[] {0f, 1.5f, -2.25f, 3f, 0.1f, 1e10f, -0f});
        if (c == double.class || c == Double.class) return pick(new Double[] {0., 1.5, -2.25, 3., 0.1, 1e100, -0., 1e7, 123456.0});
        if (c == boolean.class || c == Boolean.class) return r.nextBoolean();
        if (c == String.class) return text();
        if (c == CharSequence.class) return n(5) == 0 ? new StringBuilder(text()) : text();
        if (c == BigInteger.class) return pick(new BigInteger[] {BigInteger.ZERO, BigInteger.valueOf(5), BigInteger.ONE.shiftLeft(70), BigInteger.valueOf(-1L << 40)});
        if (c == BigDecimal.class) return new BigDecimal(pick(new String[] {"0", "1.50", "-3", "1E+5", "0.00", "12345678901234567890.5", "1e-10", "0E-8", "100"}));
        if (c == Number.class) return num();
        if (c == Comparable.class) return gen(pick(new Class<?>[] {String.class, Integer.class, Long.class, Short.class, Character.class, BigDecimal.class, UUID.class, Date.class, Shapes.Flat.class}), d);
        if (c == java.io.Serializable.class) return n(2) == 0 ? gen(Comparable.class, d) : gen(concrete.get(n(concrete.size())), d - 1);
        if (c == UUID.class) return new UUID(r.nextLong(), r.nextLong());
        if (c == Date.class) return n(4) == 0 ? new java.sql.Timestamp(1000L * n(100)) : new Date(n(1 << 30) * 1000L + n(1000));
        if (c == java.sql.Timestamp.class) { var x = new java.sql.Timestamp(n(1 << 30) * 1000L); x.setNanos(n(2) == 0 ? n(1000) * 1000000 : 0); return x; }
        if (c == java.sql.Date.class) return new java.sql.Date(86400000L * n(20000));
        if (c == java.sql.Time.class) return new java.sql.Time(n(86400000));
        if (c == URI.class) return URI.create("http://a.b/" + n(9));
        try { if (c == URL.class) return new URL("http://a.b/" + n(9)); } catch (MalformedURLException e) { }
        if (c == Locale.class) return pick(new Locale[] {Locale.US, Locale.GERMAN, Locale.ROOT, new Locale("de", "AT", "x")});
        if (c == Currency.class) return Currency.getInstance(pick(new String[] {"EUR", "USD"}));
        if (c == Pattern.class) return Pattern.compile("a+", n(2) * Pattern.CASE_INSENSITIVE);
        if (c == GregorianCalendar.class) { GregorianCalendar made = new GregorianCalendar(TimeZone.getTimeZone(pick(new String[] {"UTC", "Europe/Berlin", "GMT+2"}))); made.setTimeInMillis(n(1 << 30) * 1000L); if (n(2) == 0) made.get(Calendar.YEAR); return made; }
        if (c == SimpleTimeZone.class) return new SimpleTimeZone(n(9) * 3600_000, "own", 2, -1, 1, 7200000, 9, -1, 1, 7200000);
        if (c == TimeZone.class) return TimeZone.getTimeZone(pick(new String[] {"UTC", "Europe/Berlin", "GMT+2"}));
        if (c == Charset.class) return pick(new Charset[] {StandardCharsets.UTF_8, StandardCharsets.ISO_8859_1});
        if (c == BitSet.class) { BitSet b = new BitSet(); for (int i = n(4); i > 0; i--) b.set(n(200)); return b; }
        if (c == StringBuilder.class) return new StringBuilder(text());
        if (c == StringBuffer.class) return new StringBuffer(text());
        if (c == Class.class) return pick(new Class<?>[] {String.class, int.class, int[].class, Shapes.Leaf.class, Map.Entry.class});
        if (c == Optional.class) return Optional.ofNullable(gen(arg(t, 0), d - 1));
        if (c == OptionalInt.class) return n(2) == 0 ? OptionalInt.empty() : OptionalInt.of(n(300));
        if (c == OptionalLong.class) return n(2) == 0 ? OptionalLong.empty() : OptionalLong.of(1L << n(50));
        if (c == OptionalDouble.class) return n(2) == 0 ? OptionalDouble.empty() : OptionalDouble.of(n(30) / 2.);
        if (c == AtomicInteger.class) return new AtomicInteger(n(500));
        if (c == AtomicLong.class) return new AtomicLong(1L << n(50));
        if (c == AtomicBoolean.class) return new AtomicBoolean(n(2) == 0);
        if (c == AtomicReference.class) return new AtomicReference<>(gen(arg(t, 0), d - 1));
        if (c == Instant.class) return Instant.ofEpochSecond(n(1 << 30), n(3) == 0 ? 0 : n(1000000000));
        if (c == LocalDate.class) return LocalDate.of(1900 + n(200), 1 + n(12), 1 + n(28));
        if (c == LocalTime.class) return LocalTime.of(n(24), n(60), n(2) * n(60), n(2) * n(1000) * 1000000);
        if (c == LocalDateTime.class) return LocalDateTime.of(LocalDate.of(2020, 1, 1 + n(28)), LocalTime.of(n(24), n(60), n(2) * 5, n(2) * n(1000000000)));
        if (c == OffsetDateTime.class) return OffsetDateTime.of(2020, 1 + n(12), 1, n(24), 0, 0, n(2) * n(1000000), ZoneOffset.ofHours(n(5) - 2));
        if (c == OffsetTime.class) return OffsetTime.of(n(24), 0, 0, n(2) * n(1000000), ZoneOffset.ofHours(n(5) - 2));
        if (c == ZonedDateTime.class) return ZonedDateTime.of(2020, 1 + n(12), 1, 12, 0, 0, 0, ZoneId.of(pick(new String[] {"Europe/Berlin", "UTC", "+02:00", "Z"})));
        if (c == Duration.class) return Duration.ofSeconds(n(100000), n(2) * n(1000000000));
        if (c == Period.class) return Period.of(n(3), n(3), n(3));
        if (c == Year.class) return Year.of(n(3000));
        if (c == YearMonth.class) return YearMonth.of(n(3000), 1 + n(12));
        if (c == MonthDay.class) return MonthDay.of(1 + n(12), 1);
        if (c == ZoneOffset.class) return ZoneOffset.ofHours(n(5) - 2);
        if (c == ZoneId.class) return ZoneId.of(pick(new String[] {"Europe/Berlin", "UTC", "+02:00", "Z"}));
        if (c.isEnum()) { Object[] k = c.getEnumConstants(); return k[n(k.length)]; }
        if (c == Object.class) return any(d);
        if (c.isArray()) {
            Type ct = t instanceof GenericArrayType g ? g.getGenericComponentType() : c.getComponentType();
            int k = len(d); Object a = Array.newInstance(raw(ct), k);
            for (int i = 0; i < k; i++) Array.set(a, i, gen(ct, d - 1));
            return a;
        }
        if (c == EnumSet.class) { Type e = arg(t, 0); Class<?> ec = e == Object.class ? (n(2) == 0 ? Shapes.Flat.class : Shapes.Hue.class) : raw(e); return set(ec); }
        if (c == EnumMap.class) { Type e = arg(t, 0); Class<?> ec = e == Object.class ? (n(2) == 0 ? Shapes.Flat.class : Shapes.Hue.class) : raw(e); return emap(ec, arg(t, 1), d); }
        if (Map.class.isAssignableFrom(c) && !c.getName().startsWith("random.")) return map(c, arg(t, 0), arg(t, 1), d);
        if (Iterable.class.isAssignableFrom(c) && !c.getName().startsWith("random.")) return coll(c, arg(t, 0), d);
        return obj(t, c, d);
    }
    @SuppressWarnings({"unchecked", "rawtypes"})
    static Object set(Class c) { EnumSet s = EnumSet.noneOf(c); for (int i = n(3); i > 0; i--) s.add(pick(c.getEnumConstants())); return s; }
    @SuppressWarnings({"unchecked", "rawtypes"})
    static Object emap(Class c, Type v, int d) { EnumMap m = new EnumMap(c); for (int i = n(3); i > 0; i--) m.put((Enum) pick(c.getEnumConstants()), gen(v, d - 1)); return m; }
    @SuppressWarnings({"unchecked", "rawtypes"})
    static Object map(Class<?> c, Type k, Type v, int d) {
        Map<Object, Object> m; boolean nulls = true;
        if (c == Map.class) {
            switch (n(9)) {
                case 0: m = new LinkedHashMap<>(); break; case 1: m = new TreeMap<>(); break; case 2: m = new ConcurrentHashMap<>(); nulls = false; break;
                case 3: { Map<Object, Object> x = (Map) map(HashMap.class, k, v, d); return Collections.unmodifiableMap(x); }
                case 4: return Collections.emptyMap();
                case 5: return Collections.singletonMap(key(k, d), gen(v, d - 1));
                case 6: if (raw(k).isEnum()) return emap(raw(k), v, d); m = new HashMap<>(); break;
                case 7: return Map.of(key(k, d), nn(v, d - 1));
                default: m = new HashMap<>(1 << n(6));
            }
            if (m instanceof TreeMap && !Comparable.class.isAssignableFrom(raw(k)) && k != Object.class) m = new HashMap<>();
        } else if (c == Properties.class) { Properties p = new Properties(); for (int i = len(d); i > 0; i--) p.setProperty("k" + n(20), text()); return p; }
        else if (c == ConcurrentMap.class) { m = new ConcurrentHashMap<>(); nulls = false; }
        else if (c == NavigableMap.class || c == SortedMap.class) m = new TreeMap<>(n(4) == 0 ? (Comparator) Comparator.reverseOrder() : null);
        else { try { m = (Map) c.getConstructor().newInstance(); } catch (ReflectiveOperationException e) { throw new IllegalStateException(c.toString()); } nulls = !(m instanceof ConcurrentMap || m instanceof Hashtable); }
        for (int i = len(d); i > 0; i--) m.put(key(k, d), nulls ? gen(v, d - 1) : nn(v, d - 1));
        return m;
    }
    @SuppressWarnings({"unchecked", "rawtypes"})
    static Object coll(Class<?> c, Type e, int d) {
        Collection<Object> s; boolean nulls = true;
        if (c == List.class || c == Collection.class || c == Iterable.class) {
            List<Object> l = (List) coll(ArrayList.class, e, d);
            switch (n(12)) {
                case 0: return new LinkedList<>(l); case 1: return Arrays.asList(l.toArray((Object[]) Array.newInstance(boxed(raw(e)), 0))); case 2: return Collections.unmodifiableList(l);
                case 3: l.removeIf(Objects::isNull); return List.copyOf(l); case 4: return l.stream().toList(); case 5: return Collections.singletonList(gen(e, d)); case 6: return Collections.emptyList(); case 7: return l.isEmpty() ? l : Collections.synchronizedList(l);
                default: return l;
            }
        }
        if (c == Set.class) {
            Set<Object> l = (Set) coll(n(2) == 0 ? HashSet.class : LinkedHashSet.class, e, d);
            switch (n(8)) {
                case 0: return Collections.unmodifiableSet(l); case 1: l.removeIf(Objects::isNull); return Set.copyOf(l); case 2: return Collections.singleton(gen(e, d)); case 3: return Collections.emptySet();
                case 4: if (raw(e).isEnum()) return set(raw(e)); return l;
                case 5: if (Comparable.class.isAssignableFrom(raw(e)) && e != Comparable.class) return coll(TreeSet.class, e, d); return l;
                default: return l;
            }
        }
        if (c == Queue.class || c == Deque.class) s = n(2) == 0 ? new LinkedList<>() : new ArrayDeque<>();
        else if (c == SortedSet.class || c == NavigableSet.class || c == TreeSet.class) s = new TreeSet<>(n(4) == 0 ? (Comparator) Comparator.reverseOrder() : null);
        else { try { s = (Collection) c.getConstructor().newInstance(); } catch (ReflectiveOperationException x) { throw new IllegalStateException(c.toString()); } }
        boolean sorted = s instanceof SortedSet || s instanceof PriorityQueue;
        if (sorted && e == Object.class) e = String.class;
        nulls = !sorted && !(s instanceof ArrayDeque || s instanceof BlockingDeque);
        for (int i = len(d); i > 0; i--) s.add(nulls ? gen(e, d - 1) : nn(e, d - 1));
        return s;
    }
    static Class<?> boxed(Class<?> c) { return c.isPrimitive() ? Array.get(Array.newInstance(c, 1), 0).getClass() : c; }
    static Object obj(Type t, Class<?> c, int d) {
        if (d < -2) return null;
        List<Class<?>> fit = concrete.stream().filter(c::isAssignableFrom).filter(k -> k == c || k.getTypeParameters().length == 0 || c.getTypeParameters().length == 0).toList();
        Class<?> k = n(3) == 0 || !concrete.contains(c) ? fit.get(n(fit.size())) : c;
        if (k != c && c.getTypeParameters().length > 0) { k = c; }
        Map<String, Type> b = new HashMap<>();
        for (int i = 0; i < k.getTypeParameters().length; i++) b.put(k.getTypeParameters()[i].getName(), k == c ? arg(t, i) : Object.class);
        try {
            if (k.isRecord()) {
                RecordComponent[] rc = k.getRecordComponents(); Object[] a = new Object[rc.length]; Class<?>[] ts = new Class<?>[rc.length];
                for (int i = 0; i < a.length; i++) { a[i] = gen(sub(rc[i].getGenericType(), b), d - 1); ts[i] = rc[i].getType(); }
                Constructor<?> m = k.getDeclaredConstructor(ts); m.setAccessible(true); return m.newInstance(a);
            }
            Constructor<?> m = k.getDeclaredConstructor(); m.setAccessible(true);
            Object o = m.newInstance();
            Class<?> x = k; Map<String, Type> bx = b;
            while (x != null && x.getName().startsWith("random.")) {
                boolean wide = x.getDeclaredFields().length > 12;
                for (Field f : x.getDeclaredFields()) {
                    if (Modifier.isStatic(f.getModifiers())) continue;
                    if (wide && n(4) != 0 || d <= 0 && n(2) == 0) continue;
                    f.setAccessible(true); Object v = gen(sub(f.getGenericType(), bx), d - 1);
                    try { f.set(o, v); } catch (IllegalArgumentException e) { throw new IllegalStateException(f + " " + (v == null ? null : v.getClass()), e); }
                }
                if (Collection.class.isAssignableFrom(k)) { @SuppressWarnings("unchecked") Collection<Object> cc = (Collection<Object>) o; for (int i = n(3); i > 0; i--) cc.add(gen(Short.class, 0)); }
                if (Map.class.isAssignableFrom(k)) { @SuppressWarnings("unchecked") Map<Object, Object> cc = (Map<Object, Object>) o; for (int i = n(3); i > 0; i--) cc.put("k" + n(9), gen(b.getOrDefault("V", Object.class), d - 1)); }
                Type s = x.getGenericSuperclass(); Map<String, Type> by = new HashMap<>();
                if (s instanceof ParameterizedType p) { Class<?> sr = (Class<?>) p.getRawType(); for (int i = 0; i < sr.getTypeParameters().length; i++) by.put(sr.getTypeParameters()[i].getName(), sub(p.getActualTypeArguments()[i], bx)); }
                x = x.getSuperclass(); bx = by;
            }
            return o;
        } catch (ReflectiveOperationException e) { throw new IllegalStateException(e); }
    }
    static Map<String, Codec> codecs() {
        Map<String, Codec> m = new LinkedHashMap<>();
        m.put("Kryo5Codec", new Kryo5Codec()); m.put("Kryo5Codec+refs", new Kryo5Codec(Set.of(), true)); m.put("SerializationCodec", new SerializationCodec());
        m.put("JsonJacksonCodec", new JsonJacksonCodec()); m.put("JsonJackson3Codec", new JsonJackson3Codec());
        m.put("MsgPackJacksonCodec", new MsgPackJacksonCodec()); m.put("CborJacksonCodec", new CborJacksonCodec()); m.put("SmileJacksonCodec", new SmileJacksonCodec()); m.put("IonJacksonCodec", new IonJacksonCodec());
        return m;
    }
    public static void main(String[] a) {
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        for (Class<?> c : Shapes.class.getDeclaredClasses()) if (!c.isInterface() && !c.isEnum()) concrete.add(c);
        concrete.sort(Comparator.comparing(Class::getName));
        Map<String, Codec> codecs = codecs();
        for (Class<?> c : concrete) { codecs.put("TypedJsonJacksonCodec:" + c.getName(), new TypedJsonJacksonCodec(c)); codecs.put("TypedJsonJackson3Codec:" + c.getName(), new TypedJsonJackson3Codec(c)); }
        for (int seed = Integer.parseInt(a[0]); seed < Integer.parseInt(a[1]); seed++) {
            r = new Random(seed * 31L + 7);
            times = seed % 3 == 0;
            Object v;
            try { v = n(3) == 0 ? any(3) : gen(concrete.get(n(concrete.size())), 4); } catch (IllegalStateException | ClassCastException | NullPointerException | IllegalArgumentException e) { continue; }
            if (v == null) continue;
            // A Kryo that failed keeps the type arguments, and writes other bytes from then on.
            codecs.put("Kryo5Codec", new Kryo5Codec()); codecs.put("Kryo5Codec+refs", new Kryo5Codec(Set.of(), true));
            for (Map.Entry<String, Codec> e : codecs.entrySet()) {
                int at = e.getKey().indexOf(':');
                if (at > 0 && !e.getKey().substring(at + 1).equals(v.getClass().getName())) continue;
                String hex;
                try { hex = ByteBufUtil.hexDump(e.getValue().getValueEncoder().encode(v)); } catch (Throwable x) { continue; }
                Codec reader = e.getKey().equals("Kryo5Codec") ? new Kryo5Codec() : e.getKey().equals("Kryo5Codec+refs") ? new Kryo5Codec(Set.of(), true) : e.getValue();
                String back = "lost";
                try { if (hex.equals(ByteBufUtil.hexDump(reader.getValueEncoder().encode(reader.getValueDecoder().decode(Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex)), null))))) back = "back"; } catch (Throwable x) { }
                System.out.println(seed + " " + e.getKey() + " " + hex + " " + back);
            }
        }
    }
}
