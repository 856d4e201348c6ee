package com.acme;

import java.io.Serializable;
import java.util.Map;

/** Everything that an Avro schema can express: a map, an enum, bytes, an array, a union, and recursion. */
public class Stock implements Serializable {
    private Map<String, Long> counts;
    private Color color;
    private byte[] label;
    private int[] places;
    private Object any;
    private Stock next;

    public Stock() {
    }

    public Stock(Map<String, Long> counts, Color color, byte[] label, int[] places, Object any, Stock next) {
        this.counts = counts;
        this.color = color;
        this.label = label;
        this.places = places;
        this.any = any;
        this.next = next;
    }
}
