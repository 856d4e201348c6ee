package io.redissondq.interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RQueue;
import org.redisson.client.codec.Codec;

/** The table of operations a request may name, over the clients that are open. */
final class Operations implements AutoCloseable {
    /** The result is a tree, or a value that Jackson writes in one obvious form. */
    private interface Operation {
        Object run(Request request) throws Exception;
    }

    private static final HexFormat HEX = HexFormat.of();

    private final Map<String, Operation> table = new HashMap<>();
    private final Map<String, Client> clients = new ConcurrentHashMap<>();

    Operations() {
        table.put("open", this::open);
        table.put("settings", request -> Settings.load(request.text("file")).toYAML());
        table.put("close", request -> discard(clients.remove(clientName(request))));

        table.put("open_delayed", request -> client(request).openDelayed(queue(request)));
        table.put("destroy_delayed", request -> client(request).destroyDelayed(queue(request)));
        table.put("offer", request -> client(request).delayed(queue(request), delayed -> {
            delayed.offer(request.value(), request.number("delayMs"), TimeUnit.MILLISECONDS);
            return null;
        }));
        table.put("offer_many", request -> client(request).delayed(queue(request),
                delayed -> Bulk.offer(delayed, request.field("items"), (int) request.number("inFlight", 1))));

        table.put("add", request -> ready(request).add(request.value()));
        table.put("take", request -> Values.write(ready(request).take()));
        table.put("take_many", request ->
                Bulk.take(ready(request), request.number("count"), request.number("timeoutMs")));
        table.put("take_to", request -> {
            Bulk.takeTo(ready(request), Path.of(request.text("file")));
            return null;
        });
        table.put("drain", request -> Bulk.drain(ready(request), request.number("count"),
                (int) request.number("limit"), request.number("timeoutMs")));

        table.put("poll", request -> side(request, queue -> Values.write(poll(queue, request.number("timeoutMs", 0)))));
        table.put("poll_limit", request -> side(request,
                queue -> Values.writeAll(queue.poll((int) request.number("limit")).iterator())));
        table.put("peek", request -> side(request, queue -> Values.write(queue.peek())));
        table.put("size", request -> side(request, RQueue::size));
        table.put("contains", request -> side(request, queue -> queue.contains(request.value())));
        table.put("remove", request -> side(request, queue -> queue.remove(request.value())));
        table.put("read_all", request -> side(request, queue -> Values.writeAll(queue.readAll().iterator())));

        table.put("invoke", request -> queueAs(request,
                queue -> Invocation.of(kind(request), queue, request.text("method"), request.field("args"))));
        table.put("iterator_remove", request -> queueAs(request,
                queue -> removeByIterator(queue, request.number("index"))));
        table.put("methods", request -> Methods.rows());

        table.put("dump", request -> client(request).dump(queue(request)));
        table.put("samples", request -> Samples.all().stream().map(Samples.Sample::name).toList());
        table.put("more_samples", request -> Samples.more().stream().map(Samples.Sample::name).toList());
        table.put("encode_sample", request -> HEX.formatHex(Codecs.encode(codec(request), sample(request))));
        table.put("check_sample", Operations::checkSample);
        table.put("time_encode", request ->
                Timing.encoding(codec(request), sample(request), request.number("millis")));
        table.put("time_decode", request ->
                Timing.decoding(codec(request), sample(request), request.number("millis")));
        table.put("use_many", request -> Uses.of(codec(request), request.field("items")));
        table.put("supertypes", request -> Supertypes.of(request.field("names")));
        table.put("recode_many", request -> Recoding.of(codec(request), request.field("items")));

        table.put("encode", request -> HEX.formatHex(Codecs.encode(codec(request), request.value())));
        table.put("decode", request -> Values.write(decoded(request)));
        table.put("describe", table.get("decode"));
    }

    JsonNode run(Request request) throws Exception {
        Operation operation = table.get(request.text("op"));
        if (operation == null) {
            throw new IllegalArgumentException("no operation " + request.text("op"));
        }
        return Json.of(operation.run(request));
    }

    @Override
    public void close() {
        clients.values().forEach(Client::close);
    }

    private Object open(Request request) throws ReflectiveOperationException, IOException {
        if (request.has("file")) {
            discard(clients.put(clientName(request), Client.configured(request.text("file"))));
            return null;
        }
        Codec codec = request.has("codec") ? codec(request) : null;
        String prefix = request.text("nameMapperPrefix", "");
        Client client = Client.open(request.text("address"), request.has("cluster"), codec, prefix);
        discard(clients.put(clientName(request), client));
        return null;
    }

    private static boolean discard(Client client) {
        if (client != null) {
            client.close();
        }
        return client != null;
    }

    private static String clientName(Request request) {
        return request.text("client", "main");
    }

    private Client client(Request request) {
        Client client = clients.get(clientName(request));
        if (client == null) {
            throw new IllegalStateException("no open client " + clientName(request));
        }
        return client;
    }

    private static String queue(Request request) {
        return request.text("queue");
    }

    private RBlockingQueue<Object> ready(Request request) {
        return client(request).ready(queue(request));
    }

    private Object side(Request request, Client.Use<RQueue<Object>, Object> use) throws Exception {
        return switch (request.text("side")) {
            case "ready" -> use.of(ready(request));
            case "delayed" -> client(request).delayed(queue(request), use::of);
            default -> throw new IllegalArgumentException("side is ready or delayed");
        };
    }

    private Object queueAs(Request request, Client.Use<RQueue<Object>, Object> use) throws Exception {
        return client(request).as(kind(request), queue(request), use);
    }

    private static QueueKind kind(Request request) {
        return QueueKind.valueOf(request.text("kind").toUpperCase(Locale.ROOT));
    }

    private static JsonNode removeByIterator(RQueue<Object> queue, long index) {
        Iterator<Object> iterator = queue.iterator();
        for (long i = 0; i < index; i++) {
            iterator.next();
        }
        Object removed = iterator.next();
        iterator.remove();
        return Values.write(removed);
    }

    private static Object poll(RQueue<Object> queue, long timeoutMs) throws InterruptedException {
        return timeoutMs > 0
                ? ((RBlockingQueue<Object>) queue).poll(timeoutMs, TimeUnit.MILLISECONDS)
                : queue.poll();
    }

    private static JsonNode checkSample(Request request) throws Exception {
        Object decoded = decoded(request);
        return Json.object()
                .put("equal", Same.values(sample(request), decoded))
                .put("class", Vectors.className(decoded))
                .put("text", String.valueOf(decoded));
    }

    private static Object sample(Request request) {
        return Samples.named(request.text("name")).value();
    }

    private static Object decoded(Request request) throws Exception {
        return Codecs.decode(codec(request), HEX.parseHex(request.text("hex")));
    }

    private static Codec codec(Request request) throws ReflectiveOperationException {
        return Codecs.of(request.field("codec"));
    }
}
