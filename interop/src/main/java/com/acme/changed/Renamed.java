package com.acme.changed;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** The field tags is called words, which comes after total. */
public class Renamed implements Serializable {
    private static final long serialVersionUID = 1;

    public int count = 7;
    public String first = "Ann";
    public String last = "Lee";
    public List<String> words = new ArrayList<>(List.of("a", "b"));
    public Long total = 9L;
}
