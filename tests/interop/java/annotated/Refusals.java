package annotated;

import com.fasterxml.jackson.annotation.*;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.*;
import com.fasterxml.jackson.databind.annotation.*;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import java.lang.annotation.*;
import java.util.*;

/** Classes with annotations of Jackson that no declaration can say. */
public class Refusals {
    public static class Inner { public int x; }
    public static class Unwrapped { @JsonUnwrapped public Inner inner; }
    public static class UnwrappedGetter { private Inner inner; @JsonUnwrapped public Inner getInner() { return inner; } }
    public static class AnyGetter { private Map<String, Object> more = new HashMap<>(); @JsonAnyGetter public Map<String, Object> getMore() { return more; } @JsonAnySetter public void put(String k, Object v) { more.put(k, v); } }
    public static class AnyField { @JsonAnySetter public Map<String, Object> more = new HashMap<>(); }
    public static class OfValue { @JsonValue public String text; }
    public static class OfValueMethod { public int a; @JsonValue public String toText() { return "t" + a; } }
    public static class Delegating { public int a; @JsonCreator public static Delegating of(String text) { return new Delegating(); } }
    public static class DelegatingMode { public int a; public DelegatingMode() {} @JsonCreator(mode = JsonCreator.Mode.DELEGATING) public DelegatingMode(Map<String, Object> all) {} }
    public static class Formatted { @JsonFormat(pattern = "dd MMM yyyy") public Date day; }
    public static class AsText { @JsonFormat(shape = JsonFormat.Shape.STRING) public double id; }
    @JsonFormat(shape = JsonFormat.Shape.ARRAY) public static class AsArray { public int a; }
    public static class Upper extends JsonSerializer<String> { public void serialize(String s, JsonGenerator g, SerializerProvider p) throws java.io.IOException { g.writeString(s.toUpperCase()); } }
    public static class Serialized { @JsonSerialize(using = ToStringSerializer.class) public List<Long> id; }
    public static class Deserialized { private String note; public String getNote() { return note; } @JsonDeserialize(contentAs = String.class) public void setNote(String n) { note = n; } }
    @JsonSerialize(using = ToStringSerializer.class) public static class SerializedWhole { public int a; }
    @JsonDeserialize(builder = Built.Builder.class) public static class Built { public int a; public static class Builder { public int a; public Built build() { return new Built(); } } }
    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, include = JsonTypeInfo.As.WRAPPER_ARRAY) @JsonSubTypes(@JsonSubTypes.Type(Circle.class)) public interface Shape {}
    public static class Circle implements Shape { public double radius; }
    public static class OfShape { public Shape shape; }
    @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS, include = JsonTypeInfo.As.PROPERTY, property = "type") public static class TypedElsewhere { public int a; }
    public static class TypedField { @JsonTypeInfo(use = JsonTypeInfo.Id.NAME) public Object any; }
    @JsonIdentityInfo(generator = ObjectIdGenerators.PropertyGenerator.class, property = "id") public static class Identified { public int id; }
    public static class Child { public int a; @JsonBackReference public Parent parent; }
    public static class Parent { @JsonManagedReference public List<Child> children; }
    public static class Raw { @JsonRawValue public String json; }
    @JsonFilter("f") public static class Filtered { public int a; }
    public static class OwnNames extends PropertyNamingStrategies.SnakeCaseStrategy { @Override public String translate(String s) { return "x_" + s; } }
    @JsonNaming(OwnNames.class) public static class Strange { public int a; }
    public static class LessOfInner { @JsonIgnoreProperties("x") public Inner inner; }
    public static class OtherType { private long cents; @JsonProperty("cents") public String getCents() { return cents + " ct"; } }
    public static class OnlyCreated { private final long cents; @JsonCreator public OnlyCreated(@JsonProperty("amount") String amount) { cents = Long.parseLong(amount); } @JsonProperty("amount") public String amount() { return "" + cents; } }
    public static class Kept { @JsonProperty("t") private transient String token; public int a; }
    public static class SubOfUnwrapped extends Unwrapped { public int b; }
    @Retention(RetentionPolicy.RUNTIME) @JacksonAnnotationsInside @JsonSerialize(using = Upper.class) public @interface AsString {}
    public static class Bundled { @AsString public String id; }
    public enum Computed { A, B; @JsonValue public int code() { return ordinal() * 10; } }
    @JsonFormat(shape = JsonFormat.Shape.NUMBER) public enum Numbered { A, B }
    public enum Unnamed { A, @JsonProperty B }
    public enum Twice { @JsonProperty("B") A, B }
}
