package io.redissondq.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;

/** Many offers or takes in one request, so that a measurement does not include the pipe to this process. */
@SuppressWarnings("deprecation")
final class Bulk {
    /** If there is a due time, the delay is the time until then, when the item is offered. */
    private record Item(Object value, long fixedMs, JsonNode dueMs) {
        long delayMs() {
            return dueMs == null ? fixedMs : Math.max(0, dueMs.longValue() - System.currentTimeMillis());
        }
    }

    private Bulk() {
    }

    /** Returns the nanoseconds it took; the values are built before. */
    static long offer(RDelayedQueue<Object> queue, JsonNode json, int inFlight) throws Exception {
        List<Item> items = new ArrayList<>(json.size());
        for (JsonNode item : json) {
            items.add(new Item(Values.read(item.get("value")), item.path("delayMs").longValue(), item.get("dueMs")));
        }
        long start = System.nanoTime();
        if (inFlight > 1) {
            offerAsync(queue, items, inFlight);
        } else {
            items.forEach(item -> queue.offer(item.value, item.delayMs(), TimeUnit.MILLISECONDS));
        }
        return System.nanoTime() - start;
    }

    private static void offerAsync(RDelayedQueue<Object> queue, List<Item> items, int inFlight) throws Exception {
        Semaphore permits = new Semaphore(inFlight);
        List<CompletableFuture<Void>> sent = new ArrayList<>(items.size());
        for (Item item : items) {
            permits.acquire();
            sent.add(queue.offerAsync(item.value, item.delayMs(), TimeUnit.MILLISECONDS)
                    .toCompletableFuture()
                    .whenComplete((nothing, error) -> permits.release()));
        }
        CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new)).get();
    }

    /** Ends at the count, or when nothing arrived within the timeout. */
    static ArrayNode take(RBlockingQueue<Object> queue, long count, long timeoutMs) throws InterruptedException {
        ArrayNode taken = Json.array();
        while (taken.size() < count) {
            Object value = queue.poll(timeoutMs, TimeUnit.MILLISECONDS);
            double atMs = nowMs();
            if (value == null) {
                break;
            }
            taken.addObject().put("atMs", atMs).set("value", Values.write(value));
        }
        return taken;
    }

    /** Goes on until the client closes: each value is a line of the file, with the wall clock in microseconds after it. */
    static void takeTo(RBlockingQueue<Object> queue, Path file) throws InterruptedException, IOException {
        try (OutputStream lines = Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            while (true) {
                Object value = queue.take();
                String line = value + " " + (long) (nowMs() * 1e3) + "\n";
                lines.write(line.getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    /** Takes up to the limit in each call. Ends at the count, or this time after the start. */
    static ArrayNode drain(RBlockingQueue<Object> queue, long count, int limit, long timeoutMs)
            throws InterruptedException {
        ArrayNode batches = Json.array();
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        long taken = 0;
        while (taken < count && System.nanoTime() < end) {
            Object first = queue.poll(1, TimeUnit.SECONDS);
            if (first == null) {
                continue;
            }
            List<Object> more = queue.poll(limit);
            ObjectNode batch = batches.addObject().put("atMs", nowMs());
            ArrayNode values = batch.putArray("values").add(Values.write(first));
            more.forEach(value -> values.add(Values.write(value)));
            taken += values.size();
        }
        return batches;
    }

    private static double nowMs() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1e3 + now.getNano() / 1e6;
    }
}
