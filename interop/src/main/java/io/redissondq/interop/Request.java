package io.redissondq.interop;

import com.fasterxml.jackson.databind.JsonNode;

/** The fields of one request. A missing one is named in the error. */
record Request(JsonNode json) {
    boolean has(String name) {
        return json.hasNonNull(name);
    }

    JsonNode field(String name) {
        if (!json.has(name)) {
            throw new IllegalArgumentException("the request has no " + name);
        }
        return json.get(name);
    }

    String text(String name) {
        return field(name).textValue();
    }

    String text(String name, String otherwise) {
        return has(name) ? text(name) : otherwise;
    }

    long number(String name) {
        return field(name).longValue();
    }

    long number(String name, long otherwise) {
        return has(name) ? number(name) : otherwise;
    }

    Object value() throws ReflectiveOperationException {
        return Values.read(field("value"));
    }
}
