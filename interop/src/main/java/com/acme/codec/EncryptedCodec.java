package com.acme.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.redisson.client.codec.BaseCodec;
import org.redisson.client.codec.Codec;
import org.redisson.client.protocol.Decoder;
import org.redisson.client.protocol.Encoder;

/**
 * The counterpart of redisson_dq.codecs.EncryptedCodec, to copy: AES-GCM around another codec, with the id of the key in
 * front. Each queue has a codec of its own, as its values are bound to its name.
 */
public class EncryptedCodec extends BaseCodec {
    private static final byte[] MAGIC = {(byte) 0xfe, (byte) 0xe1, 1};
    private static final int NONCE = 12;
    private static final int TAG_BITS = 128;

    private final SecureRandom random = new SecureRandom();
    private final Map<String, SecretKeySpec> keys = new LinkedHashMap<>();
    private final Codec inner;
    private final String current;
    private final byte[] queue;

    /** The first of the keys encrypts, so the map has an order. The others are those that values may still have. */
    public EncryptedCodec(Codec inner, Map<String, byte[]> keys, String queue) {
        this.inner = inner;
        this.queue = queue.getBytes(StandardCharsets.UTF_8);
        keys.forEach((id, key) -> this.keys.put(id, new SecretKeySpec(key, "AES")));
        current = keys.keySet().iterator().next();
    }

    @Override
    public Encoder getValueEncoder() {
        return value -> {
            ByteBuf raw = inner.getValueEncoder().encode(value);
            try {
                byte[] id = current.getBytes(StandardCharsets.UTF_8);
                byte[] nonce = new byte[NONCE];
                random.nextBytes(nonce);
                byte[] head = ByteBuffer.allocate(MAGIC.length + 1 + id.length)
                        .put(MAGIC).put((byte) id.length).put(id).array();
                byte[] secret = run(Cipher.ENCRYPT_MODE, current, head, nonce, ByteBufUtil.getBytes(raw));
                return Unpooled.wrappedBuffer(head, nonce, secret);
            } finally {
                raw.release();
            }
        };
    }

    @Override
    public Decoder<Object> getValueDecoder() {
        return (buffer, state) -> {
            byte[] data = new byte[buffer.readableBytes()];
            buffer.readBytes(data);
            int start = MAGIC.length + 1;
            if (data.length < start || !Arrays.equals(MAGIC, Arrays.copyOf(data, MAGIC.length))) {
                throw new IOException("the bytes are not encrypted by this codec");
            }
            int end = start + (data[MAGIC.length] & 0xff);
            if (data.length < end + NONCE + TAG_BITS / 8) {
                throw new IOException("the bytes end before the value");
            }
            String id = new String(data, start, end - start, StandardCharsets.UTF_8);
            byte[] nonce = Arrays.copyOfRange(data, end, end + NONCE);
            byte[] secret = Arrays.copyOfRange(data, end + NONCE, data.length);
            byte[] raw = run(Cipher.DECRYPT_MODE, id, Arrays.copyOf(data, end), nonce, secret);
            return inner.getValueDecoder().decode(Unpooled.wrappedBuffer(raw), state);
        };
    }

    private byte[] run(int mode, String id, byte[] head, byte[] nonce, byte[] text) throws IOException {
        SecretKeySpec key = keys.get(id);
        if (key == null) {
            throw new IOException("encrypted with the key " + id + ", there are " + keys.keySet());
        }
        try {
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
            cipher.updateAAD(head);
            cipher.updateAAD(queue);
            return cipher.doFinal(text);
        } catch (GeneralSecurityException error) {
            throw new IOException("no value of this queue under the key " + id, error);
        }
    }
}
