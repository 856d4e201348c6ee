import java.io.*;
import java.nio.charset.StandardCharsets;

/**
 * Calls the main() of a program as often as it is told, so that all calls pay for one JVM.
 *
 * <p>A call is the number of its arguments, the arguments and what the program reads, each behind its length. The answer
 * is 0 or 1 for a failure, and what the program printed, or the failure.
 */
public class Calls {
    public static void main(String[] arguments) throws Exception {
        var program = Class.forName(arguments[0]).getMethod("main", String[].class);
        var in = new DataInputStream(new BufferedInputStream(System.in));
        var out = new DataOutputStream(new BufferedOutputStream(System.out));
        while (true) {
            int count;
            try { count = in.readInt(); } catch (EOFException end) { return; }
            var given = new String[count];
            for (int at = 0; at < count; at++) given[at] = new String(bytes(in), StandardCharsets.UTF_8);
            System.setIn(new ByteArrayInputStream(bytes(in)));
            var printed = new ByteArrayOutputStream();
            int failed = 0;
            try (var stream = new PrintStream(printed, false, StandardCharsets.UTF_8)) {
                System.setOut(stream);
                try { program.invoke(null, (Object) given); } catch (Throwable failure) {
                    failed = 1;
                    printed.reset();
                    failure.printStackTrace(stream);
                }
            }
            out.writeByte(failed);
            out.writeInt(printed.size());
            printed.writeTo(out);
            out.flush();
        }
    }

    private static byte[] bytes(DataInputStream in) throws IOException {
        return in.readNBytes(in.readInt());
    }
}
