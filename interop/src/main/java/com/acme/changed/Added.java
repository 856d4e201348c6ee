package com.acme.changed;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** With one more field. */
public class Added implements Serializable {
    private static final long serialVersionUID = 1;

    public int count = 7;
    public String first = "Ann";
    public String last = "Lee";
    public String note = "new";
    public List<String> tags = new ArrayList<>(List.of("a", "b"));
    public Long total = 9L;
}
