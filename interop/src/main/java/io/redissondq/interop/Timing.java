package io.redissondq.interop;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.concurrent.TimeUnit;
import org.redisson.client.codec.Codec;

/** The time of a codec for one value, measured repeatedly, without the pipe to this process. */
final class Timing {
    /** Calls between two readings of the clock. */
    private static final int BATCH = 50;

    private interface Call {
        Object run() throws Exception;
    }

    /** Keeps results, so that no compiler finds them unused. */
    private static volatile Object last;

    private Timing() {
    }

    static ObjectNode encoding(Codec codec, Object value, long millis) throws Exception {
        return repeated(() -> Codecs.encode(codec, value), millis);
    }

    static ObjectNode decoding(Codec codec, Object value, long millis) throws Exception {
        byte[] bytes = Codecs.encode(codec, value);
        return repeated(() -> Codecs.decode(codec, bytes), millis);
    }

    private static ObjectNode repeated(Call call, long millis) throws Exception {
        long start = System.nanoTime();
        long end = start + TimeUnit.MILLISECONDS.toNanos(millis);
        long count = 0;
        long now;
        do {
            for (int i = 0; i < BATCH; i++) {
                last = call.run();
            }
            count += BATCH;
            now = System.nanoTime();
        } while (now < end);
        return Json.object().put("count", count).put("nanos", now - start);
    }
}
