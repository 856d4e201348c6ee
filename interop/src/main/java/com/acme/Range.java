package com.acme;

import java.io.Serializable;

/** A generic class whose type argument is known only from the field that holds it. */
public class Range<T extends Comparable<T>> implements Serializable {
    private static final long serialVersionUID = 1;

    public T low;
    public T high;
}
