import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Scanner;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.redisson.client.codec.Codec;
import org.redisson.codec.JsonJackson3Codec;
import org.redisson.codec.JsonJacksonCodec;

/**
 * Optionals and elements of stack traces wherever they may be declared, in JSON.
 *
 * <p>Prints a line for each codec, with its name and what it writes of a value. Then reads lines of the same form, and
 * prints for each the text of the value that it reads.
 */
public class Held {
    public Optional<String> full = Optional.of("a");
    public Optional<String> empty = Optional.empty();
    public Optional<Optional<String>> nested = Optional.of(Optional.empty());
    public Optional<AtomicReference<String>> reference = Optional.of(new AtomicReference<>());
    public Optional<List<Integer>> items = Optional.of(new ArrayList<>(List.of(1)));
    public OptionalInt number = OptionalInt.empty();
    public List<Optional<String>> many = new ArrayList<>(Arrays.asList(Optional.of("b"), Optional.empty()));
    public Map<String, Optional<Long>> mapped = new TreeMap<>(Map.of("x", Optional.empty(), "y", Optional.of(5L)));
    @SuppressWarnings("unchecked")
    public Optional<String>[] array = new Optional[] {Optional.empty(), Optional.of("c")};
    public StackTraceElement at = new StackTraceElement("app", "base", "17", "C", "m", "C.java", 5);
    public StackTraceElement nowhere;
    public List<StackTraceElement> trace = new ArrayList<>(List.of(new StackTraceElement("C", "m", null, -2)));
    public StackTraceElement[] frames = {at, null};
    public Object any = new StackTraceElement("D", "n", "D.java", 7);

    @Override public String toString() {
        return String.join(" ", full.toString(), empty.toString(), nested.toString(), reference.map(String::valueOf).get(),
                items.toString(), number.toString(), many.toString(), mapped.toString(), Arrays.toString(array),
                String.valueOf(at), String.valueOf(nowhere), trace.toString(),
                Arrays.toString(frames), any.toString())
                .replace("app/base@17/", "");  // which Jackson 2 writes, and does not read
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, Codec> codecs = new TreeMap<>(Map.of(
                "JsonJacksonCodec", new JsonJacksonCodec(new ObjectMapper().registerModule(new Jdk8Module())),
                "JsonJackson3Codec", new JsonJackson3Codec()));
        for (Map.Entry<String, Codec> each : codecs.entrySet()) {
            String written = each.getValue().getValueEncoder().encode(new Held()).toString(StandardCharsets.UTF_8);
            System.out.println(each.getKey() + " " + written);
        }
        System.out.println(new Held());
        Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8);
        while (lines.hasNext()) {
            Codec codec = codecs.get(lines.next());
            byte[] sent = lines.nextLine().strip().getBytes(StandardCharsets.UTF_8);
            System.out.println(codec.getValueDecoder().decode(Unpooled.wrappedBuffer(sent), null));
        }
    }
}
