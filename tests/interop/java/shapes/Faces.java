package shapes;
import java.io.Serializable;
import java.util.*;
import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectOutput;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
/** Fields whose types are interfaces and abstract classes; {@link #use} calls what each of them promises. */
public class Faces implements Serializable {
    private static final long serialVersionUID = 1L;
    public interface Face extends Serializable { double area(); }
    public interface Round extends Face, Comparable<Face> { @Override default int compareTo(Face other) { return Double.compare(area(), other.area()); } }
    public sealed interface Sealed<T> extends Serializable permits Leaf, Twig {}
    public record Leaf<T>(T value) implements Sealed<T>, Callable<T> { @Override public T call() { return value; } }
    public record Twig<T>(List<? extends Sealed<? extends T>> below) implements Sealed<T> {}
    public enum Unit implements Face { METRE { @Override public double area() { return 1; } }, FOOT { @Override public double area() { return 0.1; } } }
    public static final class Disc implements Round { private static final long serialVersionUID = 1L; public double r; public Disc() {} public Disc(double r) { this.r = r; } @Override public double area() { return 3 * r * r; } }
    public abstract static class Base implements Face { private static final long serialVersionUID = 1L; public String name; }
    public static class Square extends Base implements UnaryOperator<String> { private static final long serialVersionUID = 1L; public double side; public Square() {} public Square(double side) { this.side = side; } @Override public double area() { return side * side; } @Override public String apply(String s) { return s + side; } }
    public static class Stranger implements Serializable { private static final long serialVersionUID = 1L; public double side; public Stranger() {} }
    public static class Discs extends ArrayList<Disc> implements Face { private static final long serialVersionUID = 1L; @Override public double area() { return stream().mapToDouble(Disc::area).sum(); } }

    public static class Leaves extends ArrayList<Sealed<Long>> { private static final long serialVersionUID = 1L; }
    public record Plain(int x) {}
    public static class Own implements Externalizable { public int x; @Override public void writeExternal(ObjectOutput o) throws IOException { o.writeInt(x); } @Override public void readExternal(ObjectInput i) throws IOException { x = i.readInt(); } }
    public static class Stand implements Serializable { private static final long serialVersionUID = 1L; public int x; private Object readResolve() { return new Disc(x); } }

    public Face face;
    public Round round;
    public Base base;
    public Sealed<Long> sealed;
    public Comparable<Face> comparable;
    public Callable<Long> callable;
    public UnaryOperator<String> operator;
    public Number number;
    public List<Face> list;
    public Map<String, ? extends Face> map;
    public Face[] array;
    public EnumMap<Unit, Face> byUnit;
    public Optional<Face> maybe;
    public AtomicReference<Leaf<Long>> reference;
    public List<AtomicReference<Disc>> references;
    public ChronoUnit unit;
    public Map<ChronoUnit, Long> units;
    public EnumSet<ChronoUnit> allUnits;
    public Faces() {}

    /** What the one field that is set does. */
    public static Object use(Object value) {
        Faces f = (Faces) value;
        try {
            if (f.face != null) return f.face.area();
            if (f.round != null) return f.round.compareTo(f.round);
            if (f.base != null) return f.base.area();
            if (f.sealed != null) return f.sealed instanceof Leaf<Long> l ? l.value() + 1 : ((Twig<Long>) f.sealed).below().size();
            if (f.comparable != null) return f.comparable.compareTo(new Disc(1));
            if (f.callable != null) return f.callable.call() + 1;
            if (f.operator != null) return f.operator.apply("s");
            if (f.number != null) return f.number.intValue();
            if (f.list != null) return f.list.get(0).area();
            if (f.map != null) return f.map.values().iterator().next().area();
            if (f.array != null) return f.array[0].area();
            if (f.byUnit != null) return f.byUnit.values().iterator().next().area();
            return f.maybe.get().area();
        } catch (Throwable t) {
            return t.getClass().getSimpleName();
        }
    }

    private static Faces made(java.util.function.Consumer<Faces> with) { Faces f = new Faces(); with.accept(f); return f; }
    public static Map<String, Object> samples() {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("face-disc", made(f -> f.face = new Disc(2)));
        m.put("face-enum", made(f -> f.face = Unit.FOOT));
        m.put("face-square", made(f -> f.face = new Square(3)));
        m.put("face-discs", made(f -> { Discs d = new Discs(); d.add(new Disc(1)); f.face = d; }));
        m.put("round", made(f -> f.round = new Disc(2)));
        m.put("base", made(f -> f.base = new Square(2)));
        m.put("sealed-leaf", made(f -> f.sealed = new Leaf<>(5L)));
        m.put("sealed-twig", made(f -> f.sealed = new Twig<>(new ArrayList<>(List.of(new Leaf<>(5L), new Twig<Long>(new ArrayList<>()))))));
        m.put("comparable", made(f -> f.comparable = new Disc(2)));
        m.put("callable", made(f -> f.callable = new Leaf<>(7L)));
        m.put("operator", made(f -> f.operator = new Square(2)));
        m.put("number", made(f -> f.number = 5L));
        m.put("list", made(f -> f.list = new ArrayList<>(List.of(new Disc(1), Unit.METRE))));
        m.put("map", made(f -> f.map = new HashMap<>(Map.of("k", new Square(1)))));
        m.put("array", made(f -> f.array = new Face[] {new Disc(1), null}));
        m.put("byUnit", made(f -> f.byUnit = new EnumMap<>(Map.of(Unit.FOOT, new Disc(1)))));
        m.put("maybe", made(f -> f.maybe = Optional.of(new Disc(1))));
        m.put("reference", made(f -> f.reference = new AtomicReference<>(new Leaf<>(5L))));
        m.put("references", made(f -> f.references = new ArrayList<>(List.of(new AtomicReference<>(new Disc(1)), new AtomicReference<>()))));
        m.put("unit", made(f -> f.unit = ChronoUnit.HALF_DAYS));
        m.put("units", made(f -> f.units = new TreeMap<>(Map.of(ChronoUnit.HALF_DAYS, 5L))));
        m.put("allUnits", made(f -> f.allUnits = EnumSet.allOf(ChronoUnit.class)));
        return m;
    }
}
