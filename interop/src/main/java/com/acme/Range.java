package com.acme;

import java.io.Serializable;

/** A generic class whose type argument only the field that holds it tells. */
public class Range<T extends Comparable<T>> implements Serializable {
    private static final long serialVersionUID = 1;

    public T low;
    public T high;
}
