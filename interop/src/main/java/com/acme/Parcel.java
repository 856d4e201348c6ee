package com.acme;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

/** A record with every kind of component, not in the order of their names. */
public record Parcel(long number, Long reference, String label, double weight, boolean fragile, Color color,
        List<Point> route, Map<String, Integer> stock, int[] sizes, Object note) implements Serializable {
}
