package io.redissondq.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.TimeZone;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.redisson.Redisson;

/** Answers JSON requests on stdin with JSON on stdout, one a line, until stdin ends. */
public final class Peer {
    private final PrintStream out;
    private final Operations operations = new Operations();
    private final ExecutorService pool = Executors.newCachedThreadPool();

    private Peer(PrintStream out) {
        this.out = out;
    }

    public static void main(String[] args) {
        PrintStream out = System.out;
        // Output of a library must not appear between the answers.
        System.setOut(System.err);
        int status = 0;
        try {
            // Some classes of java.sql and java.util print their values in the zone and locale of the machine.
            TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
            Locale.setDefault(Locale.ROOT);
            switch (args.length == 0 ? "serve" : args[0]) {
                case "golden" -> Golden.print(out);
                case "types" -> Vectors.print(out, Coverage.main());
                case "marshalling" -> Vectors.print(out, Coverage.marshalling());
                case "foreign" -> Vectors.print(out, Coverage.foreign());
                case "methods" -> Methods.print(out);
                default -> new Peer(out).serve();
            }
        } catch (Exception e) {
            e.printStackTrace();
            status = 1;
        }
        out.flush();
        // Otherwise the threads of pending blocking calls would keep the JVM alive.
        System.exit(status);
    }

    static String redissonVersion() {
        return Redisson.class.getPackage().getImplementationVersion();
    }

    private void serve() throws IOException {
        print(Json.object()
                .put("ready", true)
                .put("redisson", redissonVersion())
                .put("java", System.getProperty("java.version")));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Request request = new Request(Json.parse(line));
            pool.execute(() -> print(answer(request)));
        }
        operations.close();
    }

    private ObjectNode answer(Request request) {
        return answer(Json.object().set("id", request.field("id")), request);
    }

    private ObjectNode answer(ObjectNode answer, Request request) {
        try {
            JsonNode result = request.text("op").equals("many") ? many(request) : operations.run(request);
            return answer.put("ok", true).set("result", result);
        } catch (Throwable failure) {
            return answer.put("ok", false).put("error", text(unwrapped(failure)));
        }
    }

    /** The answers to requests that differ only in their items, one after the other. */
    private ArrayNode many(Request request) {
        ArrayNode answers = Json.array();
        for (JsonNode item : request.field("items")) {
            ObjectNode one = Json.object();
            one.setAll((ObjectNode) request.json());
            one.setAll((ObjectNode) item);
            one.set("op", request.field("each"));
            answers.add(answer(Json.object(), new Request(one)));
        }
        return answers;
    }

    private static String text(Throwable failure) {
        String text = failure.getClass().getName() + ": " + failure.getMessage();
        return failure.getCause() == null ? text : text + "; caused by " + text(unwrapped(failure.getCause()));
    }

    private static Throwable unwrapped(Throwable failure) {
        boolean wrapper = failure instanceof ExecutionException || failure instanceof CompletionException
                || failure instanceof InvocationTargetException;
        return wrapper && failure.getCause() != null ? unwrapped(failure.getCause()) : failure;
    }

    private void print(ObjectNode line) {
        String text = Json.print(line);
        synchronized (out) {
            out.println(text);
            out.flush();
        }
    }
}
