package io.redissondq.interop;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.List;
import org.redisson.client.codec.Codec;
import org.redisson.client.handler.State;

/** Redisson's codecs by simple class name. Nothing is linked: a version without a class fails only for that name. */
final class Codecs {
    private static final List<String> PACKAGES = List.of("org.redisson.codec.", "org.redisson.client.codec.");

    private Codecs() {
    }

    static Codec named(String name) throws ReflectiveOperationException {
        for (String place : PACKAGES) {
            try {
                return (Codec) Class.forName(place + name).getConstructor().newInstance();
            } catch (ClassNotFoundException e) {
                // The next package may have it.
            }
        }
        throw new ClassNotFoundException("this Redisson has no codec " + name);
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
}
