package shop;

import java.io.Serializable;

/** Fields whose names mean something in Python, or cannot stand there. */
public class Names implements Serializable {
    private int class_;
    private int from;
    private String str;
    private String list;
    private int java;
    private int attrs;
    private int Order;
    private int _hidden;
    private int __very;
    private int $money;
    private int größe;
    private int ﬁne;
    private int fine;
    private int aLongName;
    private int URLValue;
    private int self;
    private static int counted;
    private transient int forgotten;
    private Status status;
    private Order order;
    private depot.Order other;
    private Order.Line line;
    private depot.Order.Line otherLine;

    public enum Status { None, mro, name, _X, VALUE }

    /** Hides two fields of its superclass. */
    public static class More extends Names {
        private int fine;
        private String from;
        private int fine_;
    }

    /** A class that is named as what the module imports. */
    public static class Decimal {
        private java.math.BigDecimal value;
        private Enum<?> any;
    }

    public class Inner {
        private int depth;
    }
}
