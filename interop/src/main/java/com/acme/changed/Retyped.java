package com.acme.changed;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** A text has become a number. */
public class Retyped implements Serializable {
    private static final long serialVersionUID = 1;

    public int count = 7;
    public String first = "Ann";
    public Integer last = 5;
    public List<String> tags = new ArrayList<>(List.of("a", "b"));
    public Long total = 9L;
}
