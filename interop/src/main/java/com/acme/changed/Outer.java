package com.acme.changed;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** Holds a changed class in a field. */
public class Outer implements Serializable {
    private static final long serialVersionUID = 1;

    public String name = "outer";
    public Added part = new Added();
    public List<Added> parts = new ArrayList<>(List.of(new Added(), new Added()));
}
