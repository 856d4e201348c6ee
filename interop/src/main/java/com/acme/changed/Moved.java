package com.acme.changed;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** Two fields of the same type have swapped places in the source. */
public class Moved implements Serializable {
    private static final long serialVersionUID = 1;

    public int count = 7;
    public String last = "Lee";
    public String first = "Ann";
    public List<String> tags = new ArrayList<>(List.of("a", "b"));
    public Long total = 9L;
}
