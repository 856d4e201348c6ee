import java.io.IOException;
import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamField;
import java.io.Serializable;

/** Classes that Java could not read if their fields alone were written, and some that it can read. */
public class Refused {
    public static class Counted implements Serializable {
        private static final long serialVersionUID = 1;
        public int a;
        public transient int more;

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.defaultWriteObject();
            written(out, more);
        }

        private static void written(ObjectOutputStream out, int value) throws IOException { out.writeInt(value); }

        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            in.defaultReadObject();
            more = in.readInt();
        }
    }

    public static class Counting extends Counted { private static final long serialVersionUID = 1; }

    public static class Peeking implements Serializable {
        private static final long serialVersionUID = 1;
        public int a;

        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            in.defaultReadObject();
            a += in.readInt();
        }
    }

    public static class Proxied implements Serializable {
        private static final long serialVersionUID = 1;
        public int a;

        private Object writeReplace() { return a; }

        private void readObject(ObjectInputStream in) throws InvalidObjectException {
            throw new InvalidObjectException("a proxy is needed");
        }
    }

    public static class Listed implements Serializable {
        private static final long serialVersionUID = 1;
        private static final ObjectStreamField[] serialPersistentFields = {new ObjectStreamField("b", String.class)};
        public int a;
        public String b;
    }

    public static class Unmade { protected Unmade(int size) { } }

    public static class OfUnmade extends Unmade implements Serializable {
        private static final long serialVersionUID = 1;
        public int a;

        public OfUnmade() { super(1); }
    }

    public static class Bare { public int size = 1; }

    public static class OfBare extends Bare implements Serializable {
        private static final long serialVersionUID = 1;
        public int a;
    }

    public class Inner implements Serializable {
        private static final long serialVersionUID = 1;
        public int a;

        Refused outer() { return Refused.this; }
    }

    // What Java reads

    public static class Putting implements Serializable {
        private static final long serialVersionUID = 1;
        public int a;

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.putFields().put("a", a);
            out.writeFields();
        }

        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            a = in.readFields().get("a", 0);
        }

        @Override public String toString() { return "Putting " + a; }
    }

    static class Near { Near() { } }

    public static class OfNear extends Near implements Serializable {
        private static final long serialVersionUID = 1;
        public int a;
        public transient int left = 7;

        @Override public String toString() { return "OfNear " + a + " " + left; }
    }

    public static class Cents extends Number {
        public int of;

        @Override public int intValue() { return of; }

        @Override public long longValue() { return of; }

        @Override public float floatValue() { return of; }

        @Override public double doubleValue() { return of; }

        @Override public String toString() { return "Cents " + of; }
    }

    public record Pair(int a, String b) implements Serializable {
        private void writeObject(ObjectOutputStream out) throws IOException { out.writeInt(1); }  // Java does not call it
    }
}
