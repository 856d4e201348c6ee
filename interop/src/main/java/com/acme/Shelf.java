package com.acme;

import java.io.Serializable;
import java.util.List;

/** Fields whose type arguments are known in the declaration. */
public class Shelf implements Serializable {
    private Box<String> label;
    private Box<Integer> count;
    private List<Box<String>> boxes;
    private Box<List<Integer>> numbers;

    public Shelf() {
    }

    public Shelf(Box<String> label, Box<Integer> count, List<Box<String>> boxes, Box<List<Integer>> numbers) {
        this.label = label;
        this.count = count;
        this.boxes = boxes;
        this.numbers = numbers;
    }
}
