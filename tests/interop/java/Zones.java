import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.Scanner;

/** Prints each id of the input that is no time zone of that id in this JVM. */
public class Zones {
    public static void main(String[] arguments) {
        Scanner lines = new Scanner(System.in);
        while (lines.hasNext()) {
            String id = lines.next();
            try {
                if (!ZoneId.of(id).getId().equals(id)) System.out.println(id);
            } catch (DateTimeException unknown) {
                System.out.println(id);
            }
        }
    }
}
