import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.ObjectStreamClass;
import java.io.Serializable;

/** Prints the serialVersionUID of every class named on standard input that can be loaded and needs one. */
public class Uids {
    public static void main(String[] args) {
        for (String name : new BufferedReader(new InputStreamReader(System.in)).lines().toList()) {
            try {
                Class<?> type = Class.forName(name, false, Uids.class.getClassLoader());
                // An enum's constant is written by its name.
                boolean constant = Enum.class.isAssignableFrom(type);
                if (Serializable.class.isAssignableFrom(type) && !type.isInterface() && !constant) {
                    System.out.println(name + " " + ObjectStreamClass.lookup(type).getSerialVersionUID());
                }
            } catch (ClassNotFoundException | LinkageError missing) {
                // It needs a jar that is not there.
            }
        }
    }
}
