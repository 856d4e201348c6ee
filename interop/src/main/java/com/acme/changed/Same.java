package com.acme.changed;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** The class as the Python declaration has it; the others are this one, changed. */
public class Same implements Serializable {
    private static final long serialVersionUID = 1;

    public int count = 7;
    public String first = "Ann";
    public String last = "Lee";
    public List<String> tags = new ArrayList<>(List.of("a", "b"));
    public Long total = 9L;
}
