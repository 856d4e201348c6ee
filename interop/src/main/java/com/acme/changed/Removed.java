package com.acme.changed;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** With one field less. */
public class Removed implements Serializable {
    private static final long serialVersionUID = 1;

    public int count = 7;
    public String first = "Ann";
    public String last = "Lee";
    public Long total = 9L;
}
