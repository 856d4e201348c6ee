import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** For every class named on standard input that can be loaded, prints what Java's reflection says it declares. */
public class Reflect {
    /** Their Python classes take no type arguments; no codec needs them. */
    private static final Set<String> NOT_GENERIC = Set.of(
            "java.lang.Class");

    private static Class<?> current;

    public static void main(String[] args) throws Exception {
        for (String name : new BufferedReader(new InputStreamReader(System.in)).lines().toList()) {
            try {
                current = Class.forName(name, false, Reflect.class.getClassLoader());
                String[] facts = {name, kind(), isFinal(), superclass(), uid(), fields(), constants()};
                System.out.println(String.join(" | ", facts));
            } catch (ClassNotFoundException | LinkageError missing) {
                // It needs a jar that is not there.
            }
        }
    }

    private static String kind() {
        if (Collection.class.isAssignableFrom(current) || Map.class.isAssignableFrom(current)) {
            return "collection";
        }
        return current.isEnum() ? "enum" : current.isRecord() ? "record" : "class";
    }

    private static String isFinal() {
        return Modifier.isFinal(current.getModifiers()) ? "final" : "open";
    }

    private static String superclass() {
        boolean root = current.isEnum() || current.isRecord() || current.getSuperclass() == Object.class;
        return root ? "-" : text(current.getGenericSuperclass());
    }

    private static String uid() {
        if (current.isEnum() || !Serializable.class.isAssignableFrom(current)) {
            return "-";
        }
        long uid = ObjectStreamClass.lookup(current).getSerialVersionUID();
        return current.isRecord() && uid == 0 ? "-" : Long.toString(uid);
    }

    private static String fields() {
        return Stream.of(current.getDeclaredFields())
                .filter(field -> (field.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) == 0)
                .filter(field -> !field.isSynthetic() && !current.isEnum())
                .map(field -> field.getName() + ": " + fieldType(field))
                .collect(Collectors.joining("; "));
    }

    private static String fieldType(Field field) {
        Type type = field.getGenericType();
        return isForeign(type) ? field.getType().getName() : text(type);
    }

    private static String constants() {
        return !current.isEnum() ? "" : Stream.of(current.getDeclaredFields()).filter(Field::isEnumConstant)
                .map(Field::getName).collect(Collectors.joining(" "));
    }

    /** A type variable of an enclosing class, which a declaration does not know. */
    private static boolean isForeign(Type type) {
        return type instanceof TypeVariable<?> variable && variable.getGenericDeclaration() != current;
    }

    private static String text(Type type) {
        if (type instanceof TypeVariable<?> variable) {
            return isForeign(type) ? "java.lang.Object" : erased(type).getName() + " " + variable.getName();
        }
        if (type instanceof WildcardType wildcard) {
            boolean isLower = wildcard.getLowerBounds().length > 0;
            Type bound = bound(wildcard);
            String word = isLower ? "? super " : bound instanceof ParameterizedType ? "? extends " : "";
            return word + text(bound);
        }
        if (!(type instanceof ParameterizedType generic)) {
            return erased(type).getName();
        }
        List<String> arguments = Arrays.stream(generic.getActualTypeArguments()).map(Reflect::text).toList();
        String name = erased(type).getName();
        boolean raw = NOT_GENERIC.contains(name) || arguments.stream().allMatch("java.lang.Object"::equals);
        return raw ? name : name + "<" + String.join(", ", arguments) + ">";
    }

    private static Type bound(WildcardType wildcard) {
        return (wildcard.getLowerBounds().length == 0 ? wildcard.getUpperBounds() : wildcard.getLowerBounds())[0];
    }

    private static Class<?> erased(Type type) {
        if (type instanceof ParameterizedType generic) {
            return (Class<?>) generic.getRawType();
        }
        if (type instanceof TypeVariable<?> variable) {
            return erased(variable.getBounds()[0]);
        }
        if (type instanceof WildcardType wildcard) {
            return erased(bound(wildcard));
        }
        if (type instanceof GenericArrayType array) {
            return Array.newInstance(erased(array.getGenericComponentType()), 0).getClass();
        }
        return (Class<?>) type;
    }
}
