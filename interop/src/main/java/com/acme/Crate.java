package com.acme;

import java.util.List;
import java.util.Objects;

/** A generic class under a generic one, with a parameter of its own. */
public class Crate<T, K> extends Box<T> {
    private K key;
    private List<T> spares;

    public Crate() {
    }

    public Crate(T content, K key, List<T> spares) {
        super(content);
        this.key = key;
        this.spares = spares;
    }

    @Override
    public boolean equals(Object other) {
        return super.equals(other) && Objects.equals(key, ((Crate<?, ?>) other).key)
                && Objects.equals(spares, ((Crate<?, ?>) other).spares);
    }

    @Override
    public int hashCode() {
        return Objects.hash(super.hashCode(), key, spares);
    }
}
