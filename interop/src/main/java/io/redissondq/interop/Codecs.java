package io.redissondq.interop;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.type.TypeFactory;
import com.fasterxml.jackson.dataformat.avro.AvroMapper;
import com.fasterxml.jackson.dataformat.avro.AvroSchema;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Type;
import java.nio.charset.Charset;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.client.codec.Codec;
import org.redisson.client.handler.State;

/**
 * Redisson's codecs by simple class name, or by an object with that name and options. Nothing is linked: a version
 * without a class or a constructor fails only where it is asked for.
 */
final class Codecs {
    private static final List<String> PACKAGES =
            List.of("org.redisson.codec.", "org.redisson.client.codec.", "com.acme.codec.");

    private static final Map<JsonNode, Codec> MADE = new ConcurrentHashMap<>();

    private Codecs() {
    }

    /** The same object for the same spec, for a codec keeps pools that are costly to fill. */
    static Codec of(JsonNode spec) throws ReflectiveOperationException {
        Codec made = MADE.get(spec);
        if (made == null) {
            made = spec.isTextual() ? named(spec.textValue()) : make(new Request(spec));
            MADE.put(spec, made);
        }
        return made;
    }

    static Codec named(String name) throws ReflectiveOperationException {
        return make(name, List.of());
    }

    static byte[] encode(Codec codec, Object value) throws IOException {
        ByteBuf buffer = codec.getValueEncoder().encode(value);
        try {
            return ByteBufUtil.getBytes(buffer);
        } finally {
            buffer.release();
        }
    }

    static Object decode(Codec codec, byte[] bytes) throws IOException {
        return codec.getValueDecoder().decode(Unpooled.wrappedBuffer(bytes), new State());
    }

    private static Codec make(Request spec) throws ReflectiveOperationException {
        String name = spec.text("name");
        if (spec.has("allowedClasses") || spec.has("references")) {
            Set<String> allowed = new LinkedHashSet<>();
            spec.json().path("allowedClasses").forEach(item -> allowed.add(item.textValue()));
            return make(name, List.of(Set.class, boolean.class), allowed, spec.json().path("references").asBoolean());
        }
        if (spec.has("keys")) {
            Map<String, byte[]> keys = new LinkedHashMap<>();
            spec.json().path("keys").fields().forEachRemaining(
                    key -> keys.put(key.getKey(), ByteBufUtil.decodeHexDump(key.getValue().textValue())));
            return make(name, List.of(Codec.class, Map.class, String.class), of(spec.field("inner")), keys,
                    spec.text("queue"));
        }
        if (spec.has("inner")) {
            return make(name, List.of(Codec.class), of(spec.field("inner")));
        }
        if (spec.has("charset")) {
            return make(name, List.of(Charset.class), Charset.forName(spec.text("charset")));
        }
        if (spec.has("schema")) {
            return make(name, List.of(Class.class, AvroSchema.class), type(spec), schema(spec.text("schema")));
        }
        if (spec.has("class") && spec.has("modules")) {
            return make(name, List.of(Class.class, ObjectMapper.class), type(spec), mapper());
        }
        if (spec.has("class")) {
            return make(name, List.of(Class.class), type(spec));
        }
        if (spec.has("type")) {
            return make(name, List.of(TypeReference.class), new Reference(spec.text("type")));
        }
        if (spec.has("modules")) {
            return make(name, List.of(ObjectMapper.class), mapper());
        }
        if (spec.has("writeJson")) {
            return make(name, List.of(boolean.class), spec.json().path("writeJson").asBoolean());
        }
        if (spec.has("value")) {
            return make(name, List.of(Codec.class, Codec.class, Codec.class),
                    of(spec.field("mapKey")), of(spec.field("mapValue")), of(spec.field("value")));
        }
        return named(name);
    }

    private static Codec make(String name, List<Class<?>> parameters, Object... arguments)
            throws ReflectiveOperationException {
        try {
            return (Codec) find(name).getConstructor(parameters.toArray(Class[]::new)).newInstance(arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw e;
        }
    }

    private static Class<?> find(String name) throws ClassNotFoundException {
        for (String place : PACKAGES) {
            try {
                return Class.forName(place + name);
            } catch (ClassNotFoundException e) {
                // Try the next package.
            }
        }
        throw new ClassNotFoundException("this Redisson has no codec " + name);
    }

    private static Class<?> type(Request spec) throws ClassNotFoundException {
        return Class.forName(spec.text("class"));
    }

    /** The modules with which users enable java.time and Optional in the JSON codecs. */
    private static ObjectMapper mapper() {
        return new ObjectMapper().registerModules(new JavaTimeModule(), new Jdk8Module());
    }

    private static AvroSchema schema(String text) {
        try {
            return new AvroMapper().schemaFrom(text);
        } catch (IOException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** A type with its arguments, such as {@code java.util.List<com.acme.Order>}. */
    private static final class Reference extends TypeReference<Object> {
        private final JavaType type;

        Reference(String name) {
            this.type = TypeFactory.defaultInstance().constructFromCanonical(name);
        }

        @Override
        public Type getType() {
            return type;
        }
    }
}
