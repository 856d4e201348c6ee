package io.redissondq.interop;

import static io.redissondq.interop.CollectionSamples.linked;
import static io.redissondq.interop.CollectionSamples.list;

import com.acme.Account;
import com.acme.Address;
import com.acme.Arrays;
import com.acme.Box;
import com.acme.Boxed;
import com.acme.Circle;
import com.acme.Collected;
import com.acme.Color;
import com.acme.Crate;
import com.acme.Customer;
import com.acme.Dates;
import com.acme.Dock;
import com.acme.Drawing;
import com.acme.Empty;
import com.acme.Invoice;
import com.acme.Line;
import com.acme.Loose;
import com.acme.Maybe;
import com.acme.Modifiers;
import com.acme.Money;
import com.acme.Order;
import com.acme.OrderFailed;
import com.acme.Outer;
import com.acme.Parcel;
import com.acme.Planet;
import com.acme.Point;
import com.acme.Primitives;
import com.acme.Reseller;
import com.acme.Sealed;
import com.acme.Shape;
import com.acme.Shelf;
import com.acme.Square;
import com.acme.Stock;
import com.acme.StringBox;
import com.acme.Ticket;
import com.acme.TreeNode;
import com.acme.VipCustomer;
import com.acme.proto.Recipient;
import com.acme.proto.Shipment;
import com.acme.proto.State;
import com.google.protobuf.ByteString;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Currency;
import java.util.Date;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

/** Instances of classes and records that a user may have written, and exceptions. */
final class ObjectSamples {
    private ObjectSamples() {
    }

    static void define() {
        objects();
        records();
        together();
        exceptions();
        cycles();
        messages();
    }

    static Order order(long id) {
        return new Order(id, "A-" + id, 19.99, list("new", "gift"), new Customer("Ann", address()));
    }

    static Address address() {
        return new Address("Main St 1", "Springfield", 12_345);
    }

    private static void objects() {
        Account account = new Account();
        account.setOwner("ann");
        account.setBalance(5_000_000_000L);
        account.setActive(true);
        account.setURL("https://example.com");
        Samples.group("object")
                .add("order", order(1))
                .add("order-nulls", new Order())
                .add("order-immutable-tags", new Order(5L, "B", -0.0, List.of("x", "y"), null))
                .add("order-aslist-tags", new Order(5L, "B", 1e10, java.util.Arrays.asList("x", null), null))
                .add("order-vip", new Order(1L << 40, "", 0, list(),
                        new VipCustomer("Bob", address(), 3, "north", 0.25)))
                .add("address", address())
                .add("customer", new Customer("Ann", null))
                .add("vip-customer", new VipCustomer("Bob", address(), 3, null, null))
                .add("reseller", new Reseller("own", "inherited"))
                .add("primitives", new Primitives(true, (byte) -1, (short) 300, '\u20ac', 1 << 20, 1L << 40, 1.1f, 1.1))
                .add("primitives-zero", new Primitives())
                .add("boxed", new Boxed(true, (byte) -1, (short) 300, 'c', 1 << 20, 5L, 1.1f, 1.1,
                        BigInteger.ONE.shiftLeft(70), new BigDecimal("1.50"), "text"))
                .add("boxed-nulls", new Boxed())
                .add("circle", new Circle(1.5))
                .add("square", new Square(2))
                .add("drawing", new Drawing(new Square(9), new Circle(0.5), list(new Circle(1), new Square(2), null),
                        linked("c", new Circle(3), "n", null), new Shape[] {new Square(4), null, new Circle(5)}))
                .add("drawing-nulls", new Drawing())
                .add("box-string", new Box<>("a"))
                .add("box-long", new Box<>(5L))
                .add("box-null", new Box<>())
                .add("box-order", new Box<>(order(1)))
                .add("box-list", new Box<>(list(1, "a")))
                .add("box-box", new Box<>(new Box<>(1)))
                .add("string-box", new StringBox("a", 2))
                .add("shelf", new Shelf(new Box<>("a"), new Box<>(1), list(new Box<>("b"), new Box<>()),
                        new Box<>(list(1, 2))))
                .add("crate", new Crate<>("a", 1, list("b", "c")))
                .add("dock", new Dock(new Crate<>("a", 1, list("b", "c")),
                        list(new Crate<>(2, "k", list(3)), new Crate<>()), new Box<>("d")))
                .add("inner", new Outer.Inner("a", new Outer.Inner("b", null)))
                .add("modifiers", new Modifiers("fixed", 5, "gone"))
                .add("loose", new Loose(order(1), 5L, "chars", 7,
                        UUID.fromString("123e4567-e89b-42d3-a456-426614174000"), list(1, "a"),
                        Color.BLUE, Planet.EARTH))
                .add("loose-others", new Loose(list(1), new BigDecimal("2.5"), new StringBuilder("built"), "c",
                        new int[] {1, 2}, new LinkedHashSet<>(list("x")), null, Planet.PLUTO))
                .add("loose-nulls", new Loose())
                .add("arrays", new Arrays(new byte[] {1, -1}, new int[] {1, -1}, new long[] {1L << 40},
                        new double[] {1.5}, new char[] {'a'}, new boolean[] {true}, new String[] {"a", null},
                        new Integer[] {1, null}, new Object[] {1, "a", null}, new Point[] {new Point(1, 2), null},
                        new Order[] {order(1)}, new int[][] {{1}, {}}, new Color[] {Color.RED}))
                .add("arrays-nulls", new Arrays())
                .add("collected", new Collected(list(1, 2), list("a", null), new LinkedList<>(list(1L)),
                        new LinkedHashSet<>(list(new UUID(0, 1))), list(1, "a", null), linked("a", 1L),
                        new TreeMap<>(Map.of("b", 2, "a", 1)), linked(Color.RED, list(order(1))), linked(1, "a"),
                        list(list("a"), list()), list(new Customer("Ann", null),
                                new VipCustomer("Bob", null, 1, "z", 0.5))))
                .add("collected-nulls", new Collected())
                .add("dates", new Dates(new Date(1_709_209_815_123L),
                        Instant.ofEpochSecond(1_709_209_815L, 123_456_789), LocalDate.of(2024, 2, 29),
                        LocalDate.of(2024, 2, 29).atTime(12, 30).atZone(ZoneId.of("Europe/Berlin")),
                        Duration.ofMillis(1_500), new UUID(0, 1)))
                .add("dates-nulls", new Dates())
                .add("invoice", new Invoice(new UUID(0, 1), new BigDecimal("99.90"), BigInteger.valueOf(7),
                        Currency.getInstance("EUR"), Locale.US, new Date(0), Color.GREEN))
                .add("maybe", new Maybe(Optional.of("a"), Optional.empty()))
                .add("money", new Money(1_999, "EUR"))
                .add("sealed", new Sealed("label", 42, "hint"))
                .add("account", account)
                .add("ticket", new Ticket(7, "Help", "private"))
                .add("stock", stock("text", stock(5L, stock(1.5, stock(true, stock(null, null))))))
                .add("empty", new Empty());
    }

    private static Stock stock(Object any, Stock next) {
        return new Stock(linked("a", 1L, "b", 1L << 40), Color.GREEN, new byte[] {0, -1}, new int[] {1, -1}, any, next);
    }

    private static void records() {
        Samples.group("record")
                .add("point", new Point(1, -2))
                .add("line", new Line(new Point(0, 0), new Point(3, 4), "diagonal"))
                .add("line-nulls", new Line(null, new Point(1, 1), null))
                .add("parcel", new Parcel(1, 2L, "label", 2.5, true, Color.BLUE, list(new Point(1, 2)),
                        linked("a", 1), new int[] {1, 2}, 5L))
                .add("parcel-nulls", new Parcel(0, null, null, 0, false, null, null, null, null, null));
    }

    private static void together() {
        Customer ann = new Customer("Ann", address());
        Samples.group("objects")
                .add("array", new Object[] {order(1), new Point(1, 2), Color.RED, null})
                .add("list", list(order(1), order(2)))
                .add("list-points", list(new Point(1, 2), new Point(3, 4)))
                .add("list-mixed", list(new Circle(1), new Square(2), Planet.EARTH, null))
                .add("map", linked("first", order(1), "second", new Line(null, null, "x")))
                .add("map-by-color", linked(Color.RED, list(order(1))))
                .add("shared", list(ann, ann, new Box<>(ann)))
                .add("equal-strings", list("same", "same", new String("same")))
                .add("shared-date", sharedDate());
    }

    private static List<Object> sharedDate() {
        Date date = new Date(0);
        return list(date, date, linked("at", date));
    }

    private static void exceptions() {
        RuntimeException full = traced(new RuntimeException("outer", traced(new IOException("inner"))));
        full.addSuppressed(traced(new IllegalStateException("aside")));
        Samples.group("exception")
                .add("runtime", traced(new RuntimeException("message")))
                .add("no-message", traced(new IllegalArgumentException()))
                .add("no-trace", untraced(new RuntimeException("bare")))
                .add("cause-and-suppressed", full)
                .add("own", traced(new OrderFailed("no stock", traced(new IOException("inner")), "A-1", 3)))
                .add("own-in-list", list(traced(new OrderFailed("no stock", null, "A-1", 3)), 1))
                .add("error", traced(new StackOverflowError("deep")))
                .add("stack-trace-element", trace()[0]);
    }

    private static <T extends Throwable> T traced(T error) {
        error.setStackTrace(trace());
        return error;
    }

    private static <T extends Throwable> T untraced(T error) {
        error.setStackTrace(new StackTraceElement[0]);
        return error;
    }

    private static StackTraceElement[] trace() {
        return new StackTraceElement[] {
            new StackTraceElement("com.acme.Shop", "buy", "Shop.java", 42),
            new StackTraceElement("com.acme.Main", "main", null, -2),
        };
    }

    private static void cycles() {
        List<Object> itself = new ArrayList<>();
        itself.add(1);
        itself.add(itself);
        Object[] array = new Object[2];
        array[0] = array;
        Samples.group("cycle")
                .add("tree", new TreeNode("root", new TreeNode("left"), new TreeNode("right", new TreeNode("leaf"))))
                .add("list", itself)
                .add("array", array);
    }

    private static void messages() {
        Samples.group("message")
                .add("empty", Shipment.getDefaultInstance())
                .add("full", Shipment.newBuilder()
                        .setId(-5).setSku("A-1").setPrice(19.99).addTags("new").addTags("\u20ac")
                        .setRecipient(Recipient.newBuilder().setName("Ann").setCity("Springfield"))
                        .setState(State.SENT).putStock("a", 1).setLabel(ByteString.copyFrom(new byte[] {0, -1}))
                        .setOffset(-300).setInsured(false).build())
                .add("nested", Recipient.newBuilder().setName("Bob").build());
    }
}
