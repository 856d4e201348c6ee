package com.acme.changed;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** The last name is earlier, which comes before the first name in the order of the names. */
public class RenamedPastItsLike implements Serializable {
    private static final long serialVersionUID = 1;

    public int count = 7;
    public String first = "Ann";
    public String earlier = "Lee";
    public List<String> tags = new ArrayList<>(List.of("a", "b"));
    public Long total = 9L;
}
