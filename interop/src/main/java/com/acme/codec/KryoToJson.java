package com.acme.codec;

import org.redisson.client.codec.BaseCodec;
import org.redisson.client.codec.Codec;
import org.redisson.client.protocol.Decoder;
import org.redisson.client.protocol.Encoder;
import org.redisson.codec.JsonJacksonCodec;
import org.redisson.codec.Kryo5Codec;

/** Reads Kryo and JSON, and writes one of them. */
public class KryoToJson extends BaseCodec {
    private final Codec kryo = new Kryo5Codec();
    private final Codec json = new JsonJacksonCodec();
    private final Codec written;

    public KryoToJson(boolean writeJson) {
        written = writeJson ? json : kryo;
    }

    @Override
    public Encoder getValueEncoder() {
        return written.getValueEncoder();
    }

    @Override
    public Decoder<Object> getValueDecoder() {
        return (bytes, state) -> {
            // JSON begins with a printable character, Kryo with a byte below.
            Codec codec = bytes.getByte(bytes.readerIndex()) < ' ' ? kryo : json;
            return codec.getValueDecoder().decode(bytes, state);
        };
    }
}
