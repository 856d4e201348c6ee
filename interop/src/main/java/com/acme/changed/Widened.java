package com.acme.changed;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** An int has become a long. */
public class Widened implements Serializable {
    private static final long serialVersionUID = 1;

    public long count = 7L;
    public String first = "Ann";
    public String last = "Lee";
    public List<String> tags = new ArrayList<>(List.of("a", "b"));
    public Long total = 9L;
}
