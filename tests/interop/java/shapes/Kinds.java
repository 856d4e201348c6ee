package shapes;
import java.io.Serializable;
import java.math.*;
import java.net.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
/**
 * Kinds of classes that a Java program has: sealed hierarchies of records, bounded type variables and arrays of them,
 * shadowed fields, enums inside one another, java.time and Optionals in collections of collections.
 */
public class Kinds {
    public enum Hue implements Serializable { RED, GREEN, BLUE }
    public enum Flat { ONE, TWO { }, THREE }
    /** An interface with default methods and a constant. */
    public interface Priced extends Serializable { BigDecimal VAT = new BigDecimal("0.19"); BigDecimal getNet(); default BigDecimal gross() { return getNet().multiply(BigDecimal.ONE.add(VAT)); } static Priced free() { return null; } }
    public sealed interface Payment extends Serializable permits Cash, Card, Wire {}
    public record Cash(BigDecimal amount, Currency currency) implements Payment, Priced { public Cash { if (amount != null && amount.signum() < -5) throw new IllegalArgumentException(); } public BigDecimal getNet() { return amount; } }
    public sealed interface Card extends Payment permits Debit, Credit {}
    public record Debit(String number, YearMonth until) implements Card {}
    public record Credit(String number, Optional<Long> limit, List<Payment> split) implements Card {}
    public static final class Wire implements Payment { private static final long serialVersionUID = 1; public URI to; public Map<String, ? extends Payment> parts; public Payment[] others; }
    /** Deep generics with bounds. */
    public static abstract class Node<K extends Comparable<K>, V extends Serializable> implements Serializable { private static final long serialVersionUID = 1; public K key; public V value; public Node<K, V> next; public Map<String, List<? extends V>> index; }
    public static class Branch<K extends Comparable<K>> extends Node<K, ArrayList<K>> { private static final long serialVersionUID = 1; public K[] keys; public List<K>[] lists; public Branch<K>[] kids; public Set<? super K> seen; }
    public static final class Longs extends Branch<Long> { private static final long serialVersionUID = 1; public long[][] raw; public Long top; }
    public static class Texts extends Branch<String> { private static final long serialVersionUID = 1; protected String note; private transient int hash; public static int count; }
    /** Shadowed fields. */
    public static class Animal implements Serializable { private static final long serialVersionUID = 1; public String name; protected Object tag; private int legs; }
    public static class Dog extends Animal { private static final long serialVersionUID = 1; public Dog friend; private List<Animal> pack; public char grade; }
    /** Inner enum, nested. */
    public static class Machine implements Serializable { private static final long serialVersionUID = 1; public enum State { ON, OFF, BROKEN; public enum Cause { HEAT, AGE } } public State state; public State.Cause cause; public EnumMap<State, EnumSet<State.Cause>> causes; public Map<State, Set<State.Cause>> more; public EnumSet<State> seen; public List<EnumMap<State.Cause, Integer>> counts; public State[] path; public Optional<State> last; }
    public static class Calendar2 implements Serializable { private static final long serialVersionUID = 1; public List<Instant> instants; public Map<LocalDate, List<LocalTime>> slots; public Set<DayOfWeek> days; public Duration[] lengths; public Map<ZoneId, ZonedDateTime> zones; public TreeMap<YearMonth, Period> periods; public EnumMap<DayOfWeek, LocalTime> opens; public AtomicReference<Instant> at; }
    public static class Maybe implements Serializable { private static final long serialVersionUID = 1; public List<Optional<Long>> longs; public Map<String, Optional<List<Short>>> lists; public Optional<Optional<Hue>> twice; public Optional<Map<Hue, BigDecimal>> prices; public Optional<Payment> payment; public Optional<?> any; public Optional<int[]> ints; public Optional<Animal> animal; public OptionalLong[] ol; }
    public static class Wide<A, B extends A, C extends List<? super B>> implements Serializable { private static final long serialVersionUID = 1; public A a; public B b; public C c; public A[] as; public B[][] bs; public Map<String, Map<Hue, C>> deep; public Function2<A, B> f; }
    public record Function2<X, Y>(X from, Y to, X[] all) implements Serializable {}
    public static class Uses implements Serializable { private static final long serialVersionUID = 1; public Wide<Object, Short, ArrayList<Object>> w; public Wide<Number, Integer, List<Number>> w2; public Node<String, ArrayList<String>> n; public Branch<UUID> b; public Branch<Hue> bh; public Longs l; public Function2<Long, Short> f; public Function2<Hue, List<Character>> f2; public Payment p; public Priced pr; public Card card; public List<? extends Payment> ps; public Map<Hue, Payment[]> mp; public Animal an; public List<Animal[]> ans; public Object o; @SuppressWarnings("rawtypes") public Wide raw; @SuppressWarnings("rawtypes") public List<Branch> rawBranches; }
    public static class Multi extends TreeMap<String, List<Long>> { private static final long serialVersionUID = 1; public Multi() {} public Multi(Comparator<? super String> c) { super(c); } }
    public static class Two<A, B> extends ArrayList<B> { private static final long serialVersionUID = 1; }
    public static class UseTwo implements Serializable { private static final long serialVersionUID = 1; public Two<String, Long> two; public Multi multi; public List<Two<Hue, Short>> twos; public Collection<Two<String, Character>> c; public Object o; }
    static Longs longs() { Longs l = new Longs(); l.key = 5L; l.value = new ArrayList<>(List.of(1L, 1L << 40)); l.top = 7L; l.raw = new long[][] {{1}, {}, null}; l.keys = new Long[] {3L, null}; l.lists = new List[] {new ArrayList<>(List.of(8L)), null}; l.seen = new HashSet<>(List.of(4L)); l.index = new HashMap<>(Map.of("2", new ArrayList<>(List.of(new ArrayList<>(List.of(9L)))))); return l; }
    static Branch<UUID> branch() { Branch<UUID> b = new Branch<>(); b.key = new UUID(1, 2); b.keys = new UUID[] {new UUID(3, 4)}; b.kids = new Branch[] {new Branch<UUID>()}; b.kids[0].key = b.key; b.kids[0].keys = new UUID[0]; return b; }
    static Wide<Number, Integer, List<Number>> wide() { Wide<Number, Integer, List<Number>> w = new Wide<>(); w.a = 5L; w.b = 6; w.c = new ArrayList<>(List.of(1.5, 2)); w.as = new Number[] {7L, null}; w.bs = new Integer[][] {{8, null}, {}, null}; w.f = new Function2<>(9L, 10, new Number[] {11}); return w; }
    public static Map<String, Object> samples() {
        Map<String, Object> m = new LinkedHashMap<>(); Uses u;
        Cash cash = new Cash(new BigDecimal("1.50"), Currency.getInstance("EUR")); Debit debit = new Debit("d", YearMonth.of(2024, 2));
        Credit credit = new Credit("c", Optional.of(5L), new ArrayList<>(List.of(cash, debit)));
        Wire wire = new Wire(); wire.to = URI.create("http://a.b/1"); wire.parts = new HashMap<>(Map.of("x", credit)); wire.others = new Payment[] {cash, null, debit};
        m.put("wire", wire); m.put("cash", cash); m.put("payments", new ArrayList<>(List.of(cash, debit, wire)));
        u = new Uses(); u.p = wire; m.put("payment", u); u = new Uses(); u.pr = cash; m.put("priced", u); u = new Uses(); u.card = debit; u.ps = new ArrayList<>(List.of(cash, debit)); m.put("card", u);
        u = new Uses(); u.mp = new TreeMap<>(Map.of(Hue.RED, new Payment[] {cash}, Hue.BLUE, new Payment[0])); m.put("arrays", u);
        Texts texts = new Texts(); texts.key = "k"; texts.keys = new String[] {"a", null}; texts.note = "n"; texts.value = new ArrayList<>(List.of("v"));
        Longs longs = longs(); longs.next = longs(); m.put("longs", longs); m.put("texts", texts); m.put("branch", branch());
        u = new Uses(); u.b = branch(); u.bh = new Branch<>(); u.bh.keys = new Hue[] {Hue.RED, null}; u.l = longs(); u.n = texts; m.put("branches", u);
        u = new Uses(); u.rawBranches = new ArrayList<>(List.of(branch(), texts)); u.o = branch(); m.put("raw", u);
        // In an object whose variable is another class, an inner array of a variable has that class when it is empty.
        Longs outer = longs(); Texts inner = new Texts(); Branch<String> kid = new Branch<>(); kid.keys = new String[0]; inner.kids = new Branch[] {kid}; outer.next = (Node) inner; m.put("empty-inside", outer);
        m.put("wide", wide()); u = new Uses(); u.w2 = wide(); m.put("f-wide", u); u = new Uses(); u.w = new Wide<>(); u.w.b = (short) 5; u.w.bs = new Short[][] {{1}, {}}; u.w.a = "x"; m.put("f-wide-objects", u);
        u = new Uses(); u.raw = wide(); m.put("raw-wide", u);
        u = new Uses(); u.f = new Function2<>(1L, (short) 2, new Long[] {3L}); u.f2 = new Function2<>(Hue.RED, new ArrayList<>(List.of('c')), new Hue[0]); m.put("functions", u);
        Dog dog = new Dog(); dog.name = "rex"; dog.tag = 5L; dog.grade = 'a'; dog.friend = new Dog(); dog.pack = new ArrayList<>(List.of(new Animal(), dog.friend)); m.put("dog", dog);
        u = new Uses(); u.an = dog; u.ans = new ArrayList<>(Arrays.asList(new Animal[0], null, new Animal[] {dog})); m.put("lists-of-arrays", u);
        Machine k = new Machine(); k.state = Machine.State.ON; k.cause = Machine.State.Cause.AGE; k.causes = new EnumMap<>(Machine.State.class); k.causes.put(Machine.State.ON, EnumSet.of(Machine.State.Cause.AGE)); k.causes.put(Machine.State.OFF, EnumSet.noneOf(Machine.State.Cause.class)); k.causes.put(Machine.State.BROKEN, EnumSet.noneOf(Machine.State.Cause.class));
        k.more = new LinkedHashMap<>(); k.more.put(Machine.State.OFF, EnumSet.of(Machine.State.Cause.HEAT)); k.seen = EnumSet.allOf(Machine.State.class); k.path = new Machine.State[] {Machine.State.BROKEN, null}; k.counts = new ArrayList<>(List.of(new EnumMap<>(Map.of(Machine.State.Cause.HEAT, 5)))); m.put("machine", k);
        k = new Machine(); k.last = Optional.of(Machine.State.ON); m.put("machine-last", k);
        Calendar2 c = new Calendar2(); c.instants = new ArrayList<>(List.of(Instant.ofEpochSecond(5, 7))); c.slots = new TreeMap<>(Map.of(LocalDate.of(2024, 2, 29), new ArrayList<>(List.of(LocalTime.NOON)))); c.days = EnumSet.of(DayOfWeek.MONDAY); c.lengths = new Duration[] {Duration.ofSeconds(1), null}; c.periods = new TreeMap<>(Map.of(YearMonth.of(2024, 1), Period.ofDays(3))); c.opens = new EnumMap<>(Map.of(DayOfWeek.FRIDAY, LocalTime.of(9, 30))); c.at = new AtomicReference<>(Instant.EPOCH); m.put("calendar", c);
        Maybe y = new Maybe(); y.longs = new ArrayList<>(List.of(Optional.of(5L), Optional.empty())); y.lists = new HashMap<>(Map.of("a", Optional.of(new ArrayList<>(List.of((short) 1))))); y.twice = Optional.of(Optional.of(Hue.RED)); y.prices = Optional.of(new HashMap<>(Map.of(Hue.BLUE, BigDecimal.TEN))); y.payment = Optional.of(cash); y.any = Optional.of("x"); y.ints = Optional.of(new int[] {1}); y.animal = Optional.of(new Animal()); y.ol = new OptionalLong[] {OptionalLong.of(1L << 40), OptionalLong.empty()}; m.put("maybe", y);
        UseTwo t = new UseTwo(); t.two = new Two<>(); t.multi = new Multi(); t.multi.put("a", new ArrayList<>(List.of(5L))); t.twos = new ArrayList<>(List.of(new Two<>())); m.put("two-empty", t);
        Two<String, Long> two = new Two<>(); two.add(5L); m.put("two", two); t = new UseTwo(); t.o = two; m.put("two-object", t); t = new UseTwo(); t.two = two; m.put("two-field", t);
        // Equal texts that are two objects.
        m.put("locale", new ArrayList<>(List.of(new String("de"), Locale.GERMAN)));
        return m;
    }
}
