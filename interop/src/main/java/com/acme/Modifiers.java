package com.acme;

import java.io.Serializable;

/** Fields that are not the object's state, and one that cannot be set twice. */
public class Modifiers implements Serializable {
    private static final long serialVersionUID = 1L;
    public static int instances = 7;

    private final String fixed;
    private volatile int changing;
    private transient String forgotten;
    public String open;
    protected String sheltered;
    String local;

    public Modifiers() {
        this(null, 0, null);
    }

    public Modifiers(String fixed, int changing, String forgotten) {
        this.fixed = fixed;
        this.changing = changing;
        this.forgotten = forgotten;
        this.open = "open";
        this.sheltered = "sheltered";
        this.local = "local";
    }
}
