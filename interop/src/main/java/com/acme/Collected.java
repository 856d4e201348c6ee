package com.acme;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/** Collections of element types that are final, concrete, abstract and nested. */
public class Collected implements Serializable {
    private List<Integer> numbers;
    private ArrayList<String> texts;
    private LinkedList<Long> linked;
    private Set<UUID> ids;
    private Collection<Object> anything;
    private Map<String, Long> counts;
    private TreeMap<String, Integer> sorted;
    private Map<Color, List<Order>> byColor;
    private Map<Integer, String> byNumber;
    private List<List<String>> nested;
    private List<Customer> customers;

    public Collected() {
    }

    public Collected(List<Integer> numbers, ArrayList<String> texts, LinkedList<Long> linked, Set<UUID> ids,
            Collection<Object> anything, Map<String, Long> counts, TreeMap<String, Integer> sorted,
            Map<Color, List<Order>> byColor, Map<Integer, String> byNumber, List<List<String>> nested,
            List<Customer> customers) {
        this.numbers = numbers;
        this.texts = texts;
        this.linked = linked;
        this.ids = ids;
        this.anything = anything;
        this.counts = counts;
        this.sorted = sorted;
        this.byColor = byColor;
        this.byNumber = byNumber;
        this.nested = nested;
        this.customers = customers;
    }
}
