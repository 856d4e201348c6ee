import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.nio.file.StandardOpenOption;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.Vector;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Classes that write themselves, and a Java that reads them.
 *
 * <p>{@code java Streams} prints a line for each sample: its name and its bytes. {@code java Streams read} reads bytes
 * from standard input, a line each, and prints a line for each: the class, the text, and the bytes that Java writes of
 * what it read; or the error.
 */
public class Streams {
    private static final HexFormat HEX = HexFormat.of();

    enum Priority { LOW, HIGH { @Override boolean urgent() { return true; } }; boolean urgent() { return false; } }

    /** All of it is its own. */
    public static class Temperature implements Externalizable {
        private static final long serialVersionUID = 1;
        double degrees;
        Object scale;

        public Temperature() { }

        Temperature(double degrees, Object scale) { this.degrees = degrees; this.scale = scale; }

        @Override public void writeExternal(ObjectOutput out) throws IOException {
            out.writeDouble(degrees);
            out.writeObject(scale);
            out.writeUTF("end");
        }

        @Override public void readExternal(ObjectInput in) throws IOException, ClassNotFoundException {
            degrees = in.readDouble();
            scale = in.readObject();
            if (!in.readUTF().equals("end")) {
                throw new IOException("no end");
            }
        }

        @Override public String toString() { return degrees + " " + scale; }
    }

    /** Fields, and after them data of its own: bytes, an object, and bytes for more than one block. */
    public static class Stamped implements Serializable {
        private static final long serialVersionUID = 2;
        String name;
        transient byte[] seal;
        transient Object note;

        Stamped(String name, byte[] seal, Object note) { this.name = name; this.seal = seal; this.note = note; }

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.defaultWriteObject();
            out.writeInt(seal.length);
            out.writeObject(note);
            for (byte each : seal) {
                out.write(each);
            }
        }

        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            in.defaultReadObject();
            seal = new byte[in.readInt()];
            note = in.readObject();
            in.readFully(seal);
        }

        @Override public String toString() {
            return name + " " + Arrays.hashCode(seal) + " " + (note instanceof byte[] bytes ? HEX.formatHex(bytes) : note);
        }
    }

    /** A class below one that writes data of its own. */
    public static class Signed extends Stamped {
        private static final long serialVersionUID = 3;
        int by;

        Signed(int by, Object note) { super("signed", new byte[] {1, 2}, note); this.by = by; }

        @Override public String toString() { return super.toString() + " " + by; }
    }

    /** Its writeObject writes nothing but the fields. */
    public static class Quiet implements Serializable {
        private static final long serialVersionUID = 4;
        int size;
        String name;

        Quiet(int size, String name) { this.size = size; this.name = name; }

        private void writeObject(ObjectOutputStream out) throws IOException { out.defaultWriteObject(); }

        @Override public String toString() { return size + " " + name; }
    }

    /** Another class stands for it in the stream. */
    public static class Money implements Serializable {
        private static final long serialVersionUID = 5;
        final transient long cents;

        Money(long cents) { this.cents = cents; }

        private Object writeReplace() { return new Form(cents); }

        private void readObject(ObjectInputStream in) throws IOException { throw new IOException("a Form is needed"); }

        @Override public String toString() { return cents + " cents"; }

        static class Form implements Serializable {
            private static final long serialVersionUID = 6;
            final long cents;

            Form(long cents) { this.cents = cents; }

            private Object readResolve() { return new Money(cents); }
        }
    }

    /** Collections of one's own. */
    public static class Names extends ArrayList<String> {
        private static final long serialVersionUID = 7;
        int extra = 5;

        Names(String... names) { super(List.of(names)); }

        @Override public String toString() { return super.toString() + extra; }
    }

    /** Elements, and data of its own. */
    public static class Sealed extends ArrayList<String> {
        private static final long serialVersionUID = 9;

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.defaultWriteObject();
            out.writeInt(5);
        }

        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            in.defaultReadObject();
            in.readInt();
        }
    }

    public static class Counts extends HashMap<String, Integer> {
        private static final long serialVersionUID = 8;

        Counts(Map<String, Integer> counts) { super(counts); }
    }

    public static class Stackable extends Vector<Object> {
        private static final long serialVersionUID = 9;
    }

    public static class Plain implements Serializable {
        private static final long serialVersionUID = 10;
        byte small = 1;
        char letter = 'x';
        Long number = 5L;
        Object any = "any";
        int[] numbers = {1, 2};
        Priority priority = Priority.HIGH;
        Plain self = this;

        @Override public String toString() { return small + " " + letter + number + any + numbers[1] + priority; }
    }

    /** It leaves its fields out of the stream, which the specification does not allow. */
    public static class Lawless implements Serializable {
        private static final long serialVersionUID = 11;
        int number = 7;
        String name = "seven";

        private void writeObject(ObjectOutputStream out) throws IOException { out.writeInt(number); }

        private void readObject(ObjectInputStream in) throws IOException { number = in.readInt(); }
    }

    static Map<String, Object> samples() {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("text-then-constant", list("LOW", Priority.LOW, "LOW", Priority.LOW));
        all.put("constant-then-text", list(Priority.LOW, "LOW", "LOW"));
        all.put("two-constants", list(TimeUnit.DAYS, Priority.LOW, "LOW", "DAYS"));
        Map<Priority, Object> map = new EnumMap<>(Priority.class);
        map.put(Priority.LOW, "HIGH");
        map.put(Priority.HIGH, 1);
        all.put("enum-map", map);
        all.put("classes-of-enums", list(Priority.class, Priority.HIGH.getClass(), Priority.HIGH, TimeUnit.class,
                TimeUnit[].class, Enum.class));
        all.put("classes", list(int.class, String.class, List.class, Plain.class, Temperature.class, Thread.class,
                Priority[].class, Counts.class, StandardOpenOption.class, Plain[].class, int[].class));
        all.put("class-and-object", list(Plain.class, new Plain(), Plain.class));
        all.put("entries", list(new AbstractMap.SimpleEntry<>("a", 1), new AbstractMap.SimpleImmutableEntry<>(null, "a")));
        all.put("type-texts", list("Ljava/lang/Object;", new AbstractMap.SimpleEntry<>("a", "Ljava/lang/Object;")));
        all.put("external", new Temperature(21.5, "C"));
        all.put("externals", list(new Temperature(1, Priority.LOW), new Temperature(2, list("C")), "C"));
        all.put("stamped", new Stamped("a", new byte[] {1, 2, 3}, list(1, "x")));
        all.put("stamped-by-array", new Stamped("a", new byte[0], new byte[] {4}));
        all.put("stamped-at-length", new Stamped("a", new byte[5000], null));
        all.put("signed", list(new Signed(7, "n"), new Signed(8, TimeUnit.DAYS), 9));
        all.put("quiet", new Quiet(3, "q"));
        all.put("replaced", list(new Money(5), new Money(6)));
        all.put("list-with-data-of-its-own", new Sealed());
        all.put("list-of-ones-own", new Names("x", "y"));
        all.put("map-of-ones-own", new Counts(Map.of("x", 1)));
        all.put("vector-of-ones-own", new Stackable());
        all.put("plain", new Plain());
        all.put("in-field-of-jdk", new AbstractMap.SimpleEntry<>(new Temperature(3, "K"), new AtomicInteger(4)));
        all.put("lawless", list(new Lawless(), new Lawless()));
        return all;
    }

    @SafeVarargs
    static <T> ArrayList<T> list(T... items) { return new ArrayList<>(Arrays.asList(items)); }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length == 0) {
            for (Map.Entry<String, Object> each : samples().entrySet()) {
                System.out.println(each.getKey() + " " + HEX.formatHex(written(each.getValue())));
            }
            return;
        }
        Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8);
        while (lines.hasNextLine()) {
            System.out.println(read(HEX.parseHex(lines.nextLine())));
        }
    }

    static byte[] written(Object value) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(value);
        }
        return bytes.toByteArray();
    }

    static String read(byte[] bytes) {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            Object value = in.readObject();
            return value.getClass().getName() + "\t" + value + "\t" + HEX.formatHex(written(value));
        } catch (Exception | LinkageError | StackOverflowError e) {
            return e.toString().replaceAll("\\s", " ");
        }
    }
}
