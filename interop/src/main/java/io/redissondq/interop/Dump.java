package io.redissondq.interop;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HexFormat;
import java.util.List;
import org.redisson.RedissonObject;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.protocol.ScoredEntry;

/** The raw bytes of one queue's keys. */
final class Dump {
    private static final HexFormat HEX = HexFormat.of();

    private Dump() {
    }

    static ObjectNode of(RedissonClient redisson, String name) {
        ObjectNode dump = Json.object();
        dump.set("ready", list(redisson, name));
        dump.set("envelopes", list(redisson, RedissonObject.prefixName("redisson_delay_queue", name)));
        dump.set("timeouts", scored(redisson, RedissonObject.prefixName("redisson_delay_queue_timeout", name)));
        return dump;
    }

    private static ObjectNode list(RedissonClient redisson, String key) {
        List<byte[]> found = redisson.<byte[]>getList(key, ByteArrayCodec.INSTANCE).readAll();
        ObjectNode node = Json.object().put("key", key);
        ArrayNode items = node.putArray("items");
        found.forEach(bytes -> items.add(HEX.formatHex(bytes)));
        return node;
    }

    private static ObjectNode scored(RedissonClient redisson, String key) {
        var found = redisson.<byte[]>getScoredSortedSet(key, ByteArrayCodec.INSTANCE).entryRange(0, -1);
        ObjectNode node = Json.object().put("key", key);
        ArrayNode items = node.putArray("items");
        for (ScoredEntry<byte[]> entry : found) {
            items.addObject().put("hex", HEX.formatHex(entry.getValue())).put("score", entry.getScore());
        }
        return node;
    }
}
