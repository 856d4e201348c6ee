package com.acme;

import java.io.Serializable;
import java.util.Objects;

public class Outer {
    private Outer() {
    }

    public static class Inner implements Serializable {
        private static final long serialVersionUID = 1L;

        private String text;
        private Inner next;

        public Inner() {
        }

        public Inner(String text, Inner next) {
            this.text = text;
            this.next = next;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Inner inner && Objects.equals(text, inner.text) && Objects.equals(next, inner.next);
        }

        @Override
        public int hashCode() {
            return Objects.hash(text, next);
        }
    }
}
