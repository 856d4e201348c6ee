package com.acme;

import java.io.Serializable;
import java.util.List;

/** Fields of a generic class whose superclass is generic as well. */
public class Dock implements Serializable {
    private Crate<String, Integer> crate;
    private List<Crate<Integer, String>> crates;
    private Box<String> box;

    public Dock() {
    }

    public Dock(Crate<String, Integer> crate, List<Crate<Integer, String>> crates, Box<String> box) {
        this.crate = crate;
        this.crates = crates;
        this.box = box;
    }
}
