package annotated;

import com.fasterxml.jackson.annotation.*;
import com.fasterxml.jackson.databind.*;
import com.fasterxml.jackson.databind.annotation.*;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import java.lang.annotation.*;
import java.math.*;
import java.util.*;

/** Classes with Jackson's annotations that a declaration carries. */
public class Names {
    public static class Renamed { @JsonProperty("amt") public long amount; private String note; @JsonProperty("tags_list") List<String> tags; public Renamed() {} Renamed(long a, String n, List<String> t) { amount = a; note = n; tags = t; } public String getNote() { return note; } public void setNote(String n) { note = n; } public List<String> getTags() { return tags; } public void setTags(List<String> t) { tags = t; } }
    public static class OnGetter { private long amount; private boolean open; public OnGetter() {} OnGetter(long a, boolean o) { amount = a; open = o; } @JsonProperty("amt") public long getAmount() { return amount; } public void setAmount(long a) { amount = a; } @JsonGetter("is_open") public boolean isOpen() { return open; } public void setOpen(boolean o) { open = o; } }
    public static class OnSetter { private long amount; public OnSetter() {} OnSetter(long a) { amount = a; } public long getAmount() { return amount; } @JsonSetter("amt") public void setAmount(long a) { amount = a; } }
    public static class Split { @JsonProperty("both") public String plain; @JsonProperty("a") private String value; public Split() {} Split(String p, String v) { plain = p; value = v; } @JsonProperty("a") public String getValue() { return value; } @JsonProperty("b") public void setValue(String v) { value = v; } }
    public static class Exchanged { @JsonProperty("b") public String a; @JsonProperty("a") public String b; public Exchanged() {} Exchanged(String x, String y) { a = x; b = y; } }
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class) public static class Snake { public String customerName; public int orderCount2; public String aURL; public String URLOf; public String x; @JsonProperty("Fixed") public String kept; @JsonProperty public String emptyOne; public Snake() {} Snake(String c) { customerName = c; orderCount2 = 3; aURL = "u"; URLOf = "v"; x = "x"; kept = "k"; emptyOne = "e"; } }
    @JsonNaming(PropertyNamingStrategies.UpperCamelCaseStrategy.class) public static class Camel { public String customerName; public int x1; public Camel() {} Camel(String c) { customerName = c; x1 = 1; } }
    @JsonNaming(PropertyNamingStrategies.LowerCaseStrategy.class) public static class Lower { public String customerName; public Lower() {} Lower(String c) { customerName = c; } }
    @JsonNaming(PropertyNamingStrategies.KebabCaseStrategy.class) public static class Kebab { public String customerName; public String aBCd; public String theURL; public Kebab() {} Kebab(String c) { customerName = c; aBCd = "d"; theURL = "u"; } }
    @JsonNaming(PropertyNamingStrategies.LowerDotCaseStrategy.class) public static class Dot { public String customerName; public String aBCd; public Dot() {} Dot(String c) { customerName = c; aBCd = "d"; } }
    @JsonNaming(PropertyNamingStrategies.UpperSnakeCaseStrategy.class) public static class Loud { public String customerName; public Loud() {} Loud(String c) { customerName = c; } }
    public static class Base { public String firstName; public int yearBorn; }
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class) public static class SnakeSub extends Base { public String lastName; public SnakeSub() {} SnakeSub(String f, String l) { firstName = f; lastName = l; yearBorn = 7; } }
    public static class SnakeSubSub extends SnakeSub { public String middleName; public SnakeSubSub() {} SnakeSubSub(String f, String m, String l) { super(f, l); middleName = m; } }
    public static class PlainSub extends Base { public String lastName; public PlainSub() {} PlainSub(String f, String l) { firstName = f; lastName = l; } }
    public record Line(@JsonProperty("amt") long amount, String note, @JsonProperty("q") Integer quantity) {}
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class) public record SnakeLine(long amountDue, String theNote) {}
    public record Partly(long amount, @JsonIgnore String secret) {}
    public static class Hidden { public long amount; @JsonIgnore public String secret; private String other; @JsonIgnore(false) public String shown; public Hidden() {} Hidden(long a) { amount = a; secret = "s"; other = "o"; shown = "y"; } @JsonIgnore public String getOther() { return other; } }
    @JsonIgnoreProperties({"secret", "amt"}) public static class HiddenByClass { @JsonProperty("amt") public long amount; public String secret; public String note; public HiddenByClass() {} HiddenByClass(long a) { amount = a; secret = "s"; note = "n"; } }
    @JsonIgnoreProperties(value = "id", allowGetters = true, ignoreUnknown = true) public static class OutOnly { public long id; public String note; public OutOnly() {} OutOnly(long a) { id = a; note = "n"; } }
    @JsonIncludeProperties({"note"}) public static class Included { public long id; public String note; public Included() {} Included(long a) { id = a; note = "n"; } }
    @JsonIgnoreType public static class Secret { public String text = "t"; }
    public static class OfSecret { public Secret secret = new Secret(); public String note = "n"; public List<Secret> more = new ArrayList<>(); }
    public static class Access { @JsonProperty(access = JsonProperty.Access.READ_ONLY) public long id; @JsonProperty(access = JsonProperty.Access.WRITE_ONLY) public String password; public String note; public Access() {} Access(long a) { id = a; password = "p"; note = "n"; } }
    public static class Aliased { @JsonAlias({"sum", "total"}) @JsonProperty("amt") public long amount; @JsonAlias("remark") public String note; public Aliased() {} Aliased(long a) { amount = a; note = "n"; } }
    @JsonPropertyOrder({"zeta", "m"}) public static class Ordered { public int alpha = 1; @JsonProperty("m") public int beta = 2; public int zeta = 3; @JsonProperty(index = 0) public int yota = 4; }
    public static class Nulls { @JsonInclude(JsonInclude.Include.ALWAYS) public String currency = "EUR"; public String other = "x"; @JsonInclude(JsonInclude.Include.NON_EMPTY) public List<String> tags = new ArrayList<>(); }
    @JsonInclude(JsonInclude.Include.ALWAYS) public static class AllNulls { public String currency = "EUR"; @JsonInclude(JsonInclude.Include.NON_NULL) public String other = "x"; public int n; }
    public static class Created { private final long amount; private final String note; @JsonCreator public Created(@JsonProperty("amt") long amount, @JsonProperty("note") String note) { this.amount = amount; this.note = note; } @JsonProperty("amt") public long getAmount() { return amount; } public String getNote() { return note; } }
    public static class CreatedOnly { private final long zed; private final String alpha; private String late; @JsonCreator CreatedOnly(@JsonProperty("zed") long z, @JsonProperty("alpha") String a) { zed = z; alpha = a; } public long getZed() { return zed; } public String getAlpha() { return alpha; } public String getLate() { return late; } public void setLate(String l) { late = l; } }
    public static class Factory { private final long amount; private Factory(long a) { amount = a; } @JsonCreator public static Factory of(@JsonProperty("amt") long amt) { return new Factory(amt); } @JsonProperty("amt") public long amount() { return amount; } }
    public interface HasName { @JsonProperty("nm") String getName(); }
    public static class Named implements HasName { private String name; public Named() {} Named(String n) { name = n; } public String getName() { return name; } public void setName(String n) { name = n; } }
    public static abstract class Above { private String name; @JsonProperty("title") public String getName() { return name; } public void setName(String n) { name = n; } }
    public static class Below extends Above { public int size; public Below() {} Below(String n) { setName(n); size = 2; } @Override public String getName() { return super.getName(); } }
    @Retention(RetentionPolicy.RUNTIME) @JacksonAnnotationsInside @JsonProperty("bundled") @JsonAlias("other_name") public @interface Bundle {}
    @Retention(RetentionPolicy.RUNTIME) @JacksonAnnotationsInside @Bundle public @interface Outer {}
    @Retention(RetentionPolicy.RUNTIME) @JacksonAnnotationsInside @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class) @JsonIgnoreProperties("the_secret") public @interface House {}
    public static class Bundled { @Bundle public long amount; public Bundled() {} Bundled(long a) { amount = a; } }
    public static class BundledTwice { @Outer public long amount; public BundledTwice() {} BundledTwice(long a) { amount = a; } }
    @House public static class OfHouse { public long theAmount; public String theSecret; public OfHouse() {} OfHouse(long a) { theAmount = a; theSecret = "s"; } }
    @JsonAutoDetect(fieldVisibility = JsonAutoDetect.Visibility.NONE, getterVisibility = JsonAutoDetect.Visibility.PUBLIC_ONLY) public static class ByGetters { private long amount; private String hidden; private String note; public ByGetters() {} ByGetters(long a) { amount = a; hidden = "h"; note = "n"; } public long getAmount() { return amount; } public void setAmount(long a) { amount = a; } @JsonProperty("nt") public String getNote() { return note; } public void setNote(String n) { note = n; } }
    @JsonAutoDetect(fieldVisibility = JsonAutoDetect.Visibility.PUBLIC_ONLY) public static class PublicOnly { public long amount; private String hidden; @JsonProperty private String shown; public PublicOnly() {} PublicOnly(long a) { amount = a; hidden = "h"; shown = "s"; } }
    public static class Viewed { @JsonView(Object.class) @JsonPropertyDescription("what") @JsonFormat public long amount; @JsonManaged public String note; public Viewed() {} Viewed(long a) { amount = a; note = "n"; } }
    @Retention(RetentionPolicy.RUNTIME) public @interface JsonManaged {}
    public static class Computed { public long amount; public Computed() {} Computed(long a) { amount = a; } @JsonProperty("doubled") public long twice() { return 2 * amount; } @JsonProperty("set_it") public void set(String x) { } }
    public enum Color { @JsonProperty("r") RED, @JsonProperty("g") @JsonAlias({"gr", "green"}) GREEN, BLUE }
    public enum Level { LOW("low-level", 1), HIGH("high-level", 2); private final String code; private final int rank; Level(String c, int r) { code = c; rank = r; } @JsonValue public String getCode() { return code; } @JsonCreator public static Level of(String c) { for (Level l : values()) if (l.code.equals(c)) return l; throw new IllegalArgumentException(c); } }
    public enum Rank { FIRST(10), SECOND(-300); @JsonValue private final int number; Rank(int n) { number = n; } }
    public enum Small { BIG_ONE, TINY; @JsonValue public String text() { return name().toLowerCase(Locale.ROOT); } }
    public static class OfEnums { public Color color = Color.GREEN; public Level level = Level.HIGH; public Rank rank = Rank.SECOND; public Small small = Small.BIG_ONE; public List<Color> colors = new ArrayList<>(List.of(Color.RED, Color.BLUE)); public Map<Level, Color> by = new TreeMap<>(Map.of(Level.LOW, Color.RED)); public Object any = Color.RED; public Object anyLevel = Level.LOW; public EnumSet<Color> set = EnumSet.of(Color.RED, Color.BLUE); public Map<Color, Long> byColor = new HashMap<>(Map.of(Color.GREEN, 5L)); }
    @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS) public static class TypedByClass { public long amount = 3; @JsonProperty("n") public String note = "x"; }
    public static class OfTyped { public TypedByClass one = new TypedByClass(); public List<TypedByClass> more = new ArrayList<>(List.of(new TypedByClass())); }
    public static class Holder { public Renamed renamed = new Renamed(1, "n", new ArrayList<>(List.of("a"))); public Line line = new Line(5, "x", 2); public Object any = new Exchanged("1", "2"); public List<Object> all = new ArrayList<>(List.of(new Snake("c"), new Line(6, null, null), new Aliased(4))); public Map<String, Kebab> map = new HashMap<>(Map.of("k", new Kebab("z"))); }

    public static class IsActive { private boolean isActive; private boolean isOther; public IsActive() {} IsActive(boolean a) { isActive = a; isOther = a; } @JsonProperty("isActive") public boolean isActive() { return isActive; } @JsonProperty("isActive") public void setActive(boolean a) { isActive = a; } }
    public static class Password { private String password; private String pin; public Password() {} Password(String p) { password = p; pin = p; } @JsonIgnore public String getPassword() { return password; } @JsonProperty("pwd") public void setPassword(String p) { password = p; } public String getPin() { return pin; } @JsonIgnore public void setPin(String p) { pin = p; } }
    public static class MethodNamed { private long amount; private String note; public MethodNamed() {} MethodNamed(long a) { amount = a; note = "n"; } @JsonGetter public long amount() { return amount; } @JsonSetter("amount") public void put(long a) { amount = a; } @JsonGetter("the_note") public String note() { return note; } @JsonSetter("the_note") public MethodNamed note(String n) { note = n; return this; } }
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class) public interface Snaky {}
    public static class OfSnaky implements Snaky { public String firstName = "f"; private boolean isBig = true; public boolean isBig() { return isBig; } @JsonProperty public String getFirstName() { return firstName; } }
    public static class GenericBox<T> { @JsonProperty("v") public T value; @JsonAlias("k") public String key; }
    public static class OfBox { @JsonProperty("b") public GenericBox<Long> box = new GenericBox<>(); @JsonProperty("l") public List<GenericBox<Line>> boxes = new ArrayList<>(); }
    public static class Shadowed extends Base { @JsonProperty("given") public String firstName; public Shadowed() {} Shadowed(String f) { firstName = f; } }
    public static class ReGetter extends Named { public ReGetter() {} ReGetter(String n) { super(n); } @Override @JsonProperty("renamed") public String getName() { return super.getName(); } }
    @JsonIgnoreProperties("yearBorn") public static class LessBase extends Base { public int z = 3; }
    public static class LessLess extends LessBase { public int q = 4; }
    @JsonIgnoreProperties("z") public static class OtherLess extends LessBase { }
    public static class PrivateCreator { private final String theName; private final List<Long> longs; @JsonCreator private PrivateCreator(@JsonProperty("the_name") String n, @JsonProperty("longs") List<Long> l) { theName = n; longs = l; } @JsonProperty("the_name") private String getTheName() { return theName; } static PrivateCreator make() { return new PrivateCreator("n", new ArrayList<>(List.of(5L))); } }
    public static class MixedOrder { public int zed = 1; public final int mid; public final int alpha; public int beta = 4; @JsonCreator public MixedOrder(@JsonProperty("mid") int m, @JsonProperty("alpha") int a) { mid = m; alpha = a; } }
    public record Created2(long a, String b) { @JsonCreator public static Created2 of(@JsonProperty("a") long a, @JsonProperty("b") String b) { return new Created2(a, b); } }
    public record Accessor(String name) { @JsonProperty("n") public String name() { return name; } }
    @JsonPropertyOrder(alphabetic = true) public record Sorted(int z, int a) {}
    public static class Dashed { @JsonProperty("a-b.c d") public String a = "x"; @JsonProperty("\u00e4\"\\") public String b = "y"; @JsonProperty("") public String c = "z"; }
    public static class Box3 { @JsonProperty("x") public Long boxed = 5L; @JsonProperty("y") public Object any = 7L; @JsonProperty("i") public int[] ints = {1}; @JsonProperty("u") public UUID id = new UUID(1, 2); @JsonProperty("m") public Map<String, Long> map = new LinkedHashMap<>(Map.of("a", 1L)); }
    public enum Upper { A_B, C; @JsonValue @Override public String toString() { return name().toLowerCase(); } }
    public enum Body { ONE("1") { }, TWO("2"); @JsonValue final String code; Body(String c) { code = c; } }
    public enum Coded { X(1, "x"), Y(2, "y"); private final int number; private final String text; Coded(int n, String t) { number = n; text = t; } @JsonValue public int number() { return number; } @JsonCreator static Coded of(int n) { return n == 1 ? X : Y; } }
    public static class OfMoreEnums { public Upper upper = Upper.A_B; public Body body = Body.ONE; public Coded coded = Coded.Y; public List<Coded> list = new ArrayList<>(List.of(Coded.X)); public Map<Coded, String> map = new HashMap<>(Map.of(Coded.Y, "v")); public Coded[] array = {Coded.X}; }

    /** Jackson 3 names these by their getters, which do not have the names of the fields. */
    public static class Beans {
        private String eMail = "e"; private String uRL = "u"; private String URLValue = "v"; private int cnt = 3;
        public String getEMail() { return eMail; } public void setEMail(String s) { eMail = s; } public String getURL() { return uRL; } public void setURL(String s) { uRL = s; }
        public String getURLValue() { return URLValue; } public void setURLValue(String s) { URLValue = s; }
        public int getCount() { return cnt; } public void setCount(int c) { cnt = c; }
    }
    public static class Flags { private boolean isOpen = true; public boolean isOpen() { return isOpen; } public void setOpen(boolean b) { isOpen = b; } }
    public static class SubFlags extends Flags { @JsonProperty("x") public String added = "a"; private Boolean isNew = true; public Boolean isNew() { return isNew; } public void setNew(Boolean b) { isNew = b; } }
    public static class Mail { private String eMail = "e"; private String note = "n"; @JsonProperty("mail") public String getEMail() { return eMail; } @JsonProperty("mail") public void setEMail(String s) { eMail = s; } @JsonProperty("text") public String fetch() { return note; } @JsonProperty("text") public void put(String s) { note = s; } }
    public static class Entity<ID> { protected ID id; @JsonProperty("_id") public ID getId() { return id; } public void setId(ID i) { id = i; } }
    public static class OfLong extends Entity<Long> { public OfLong() {} OfLong(long i) { id = i; } @Override @JsonProperty("_id") public Long getId() { return id; } }
    @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS) public interface Pay {}
    public static class Card implements Pay { @JsonProperty("no") public String number = "4"; }
    public record Cash(@JsonProperty("amt") long amount) implements Pay {}
    public static class OfPay { public Pay pay = new Card(); public List<Pay> all = new ArrayList<>(List.of(new Cash(5), new Card())); public Map<String, Pay> map = new HashMap<>(Map.of("k", new Cash(6))); public Pay[] array = {new Card()}; }
    @JsonInclude(JsonInclude.Include.NON_DEFAULT) public static class Defaults { public String note = "n"; public Integer count = 5; }
    public enum Alike { A("x"), B("y"), C("x"); @JsonValue final String code; Alike(String c) { code = c; } }
    public enum Overlap { ONE, @JsonAlias("ONE") TWO, @JsonProperty("m") THREE, @JsonAlias({"m", "four"}) FOUR }
    public static class OfAlike { public List<Alike> alike = new ArrayList<>(List.of(Alike.values())); public List<Overlap> overlap = new ArrayList<>(List.of(Overlap.values())); }

    static <T> T with(T value, java.util.function.Consumer<T> change) { change.accept(value); return value; }

    @Retention(RetentionPolicy.RUNTIME) @JacksonAnnotationsInside @JsonSerialize(using = ToStringSerializer.class) public @interface Text {}
    public static class Texts {
        @JsonSerialize(using = ToStringSerializer.class) public Long id;
        @JsonSerialize(using = ToStringSerializer.class) public long plain;
        @JsonFormat(shape = JsonFormat.Shape.STRING) public Long shaped;
        @JsonFormat(shape = JsonFormat.Shape.STRING) public int count;
        @Text public Integer bundled;
        @Text public short small;
        @Text public Byte tiny;
        @Text public BigInteger big;
        @Text public BigDecimal price;
        @JsonSerialize(contentUsing = ToStringSerializer.class) public List<Long> ids;
        @JsonSerialize(contentUsing = ToStringSerializer.class) public Map<String, Long> byName;
        private Long got;
        @JsonSerialize(using = ToStringSerializer.class) public Long getGot() { return got; }
        public void setGot(Long value) { got = value; }
        public Long other;
    }
    public static class SubTexts extends Texts { @Text public long more; }
    static Texts texts(Texts made, long id) {
        made.id = id; made.plain = -id; made.shaped = id; made.count = -7; made.bundled = 5; made.small = 3; made.tiny = -1; made.big = BigInteger.valueOf(id).pow(3);
        made.price = new BigDecimal("12345678901234567.890"); made.ids = new ArrayList<>(List.of(id, 2L)); made.byName = new HashMap<>(Map.of("a", id)); made.got = id; made.other = id;
        return made;
    }

    public static Map<String, Object> samples() {
        Map<String, Object> all = new LinkedHashMap<>();
        for (Object value : new Object[] {new Renamed(5, "n", new ArrayList<>(List.of("x"))), new OnGetter(7, true), new OnSetter(8), new Split("p", "v"), new Exchanged("A", "B"), new Snake("Ann"), new Camel("Ann"), new Lower("Ann"), new Kebab("Ann"), new Dot("Ann"), new Loud("Ann"), new SnakeSub("F", "L"), new SnakeSubSub("F", "M", "L"), new PlainSub("F", "L"), new Line(5, "x", 3), new SnakeLine(5, "x"), new Partly(5, "s"), new Hidden(5), new HiddenByClass(5), new OutOnly(5), new Included(5), new OfSecret(), new Access(5), new Aliased(5), new Ordered(), new Nulls(), new AllNulls(), new Created(5, "n"), new CreatedOnly(5, "a"), Factory.of(5), new Named("n"), new Below("n"), new Bundled(5), new BundledTwice(5), new OfHouse(5), new ByGetters(5), new PublicOnly(5), new Viewed(5), new Computed(5), new OfEnums(), new TypedByClass(), new OfTyped(), new Holder(), new IsActive(true), new Password("p"), new MethodNamed(5), new OfSnaky(), with(new OfBox(), value -> { value.box.value = 5L; value.box.key = "k"; value.boxes.add(with(new GenericBox<Line>(), box -> box.value = new Line(1, "n", 2))); }), new Shadowed("f"), new ReGetter("n"), new LessBase(), new LessLess(), new OtherLess(), PrivateCreator.make(), new MixedOrder(1, 2), new Created2(1, "b"), new Accessor("a"), new Sorted(1, 2), new Dashed(), new Box3(), new OfMoreEnums()})
            all.put(value.getClass().getSimpleName(), value);
        all.put("NullsSet", with(new Nulls(), value -> { value.currency = null; value.other = null; }));
        all.put("AllNullsSet", with(new AllNulls(), value -> { value.currency = null; value.other = null; }));
        for (Object value : new Object[] {new Beans(), new Flags(), new SubFlags(), new Mail(), new OfLong(5), new OfPay(), new Defaults(), new OfAlike()})
            all.put(value.getClass().getSimpleName(), value);
        all.put("DefaultsSet", with(new Defaults(), value -> { value.note = null; value.count = null; }));
        all.put("Texts", texts(new Texts(), 5000000000L));
        all.put("TextsSmall", texts(new Texts(), 5L));
        all.put("TextsNull", new Texts());
        all.put("SubTexts", with((SubTexts) texts(new SubTexts(), -9L), value -> { value.more = 4; value.price = new BigDecimal("1E+30"); }));
        all.put("LineNull", new Line(0, null, null));
        all.put("List", new ArrayList<>(List.of(new Line(1, "a", 2), new Renamed(1, "n", null), Color.RED, Level.HIGH, Small.TINY)));
        return all;
    }
}
