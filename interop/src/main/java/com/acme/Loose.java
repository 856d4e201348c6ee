package com.acme;

import java.io.Serializable;
import java.util.Collection;

/** Fields whose class is decided by each value. */
public class Loose implements Serializable {
    private Object any;
    private Number number;
    private CharSequence chars;
    private Comparable<?> comparable;
    private Serializable serializable;
    private Collection<?> items;
    private Color color;
    private Planet planet;

    public Loose() {
    }

    public Loose(Object any, Number number, CharSequence chars, Comparable<?> comparable, Serializable serializable,
            Collection<?> items, Color color, Planet planet) {
        this.any = any;
        this.number = number;
        this.chars = chars;
        this.comparable = comparable;
        this.serializable = serializable;
        this.items = items;
        this.color = color;
        this.planet = planet;
    }
}
