package com.acme;

import java.util.Optional;

/** Not Serializable, nor is an Optional. */
public class Maybe {
    private Optional<String> text = Optional.empty();
    private Optional<Order> order = Optional.empty();

    public Maybe() {
    }

    public Maybe(Optional<String> text, Optional<Order> order) {
        this.text = text;
        this.order = order;
    }
}
