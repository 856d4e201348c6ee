package com.acme;

import java.io.Serializable;
import java.util.Objects;

public class Box<T> implements Serializable {
    private T content;

    public Box() {
    }

    public Box(T content) {
        this.content = content;
    }

    @Override
    public boolean equals(Object other) {
        return other != null && other.getClass() == getClass() && Objects.equals(content, ((Box<?>) other).content);
    }

    @Override
    public int hashCode() {
        return Objects.hashCode(content);
    }
}
