package com.acme.changed;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** With one more field, whose name is the last in order. */
public class AddedAtTheEnd implements Serializable {
    private static final long serialVersionUID = 1;

    public int count = 7;
    public String first = "Ann";
    public String last = "Lee";
    public List<String> tags = new ArrayList<>(List.of("a", "b"));
    public Long total = 9L;
    public String zone = "new";
}
