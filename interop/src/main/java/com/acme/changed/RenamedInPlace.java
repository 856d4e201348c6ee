package com.acme.changed;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** A field has another name and the same place. */
public class RenamedInPlace implements Serializable {
    private static final long serialVersionUID = 1;

    public int count = 7;
    public String first = "Ann";
    public String lastName = "Lee";
    public List<String> tags = new ArrayList<>(List.of("a", "b"));
    public Long total = 9L;
}
