package com.acme;

import java.io.Serializable;

public class Primitives implements Serializable {
    private static final long serialVersionUID = 1L;

    private boolean flag;
    private byte tiny;
    private short small;
    private char letter;
    private int number;
    private long big;
    private float ratio;
    private double exact;

    public Primitives() {
    }

    public Primitives(boolean flag, byte tiny, short small, char letter, int number, long big, float ratio,
            double exact) {
        this.flag = flag;
        this.tiny = tiny;
        this.small = small;
        this.letter = letter;
        this.number = number;
        this.big = big;
        this.ratio = ratio;
        this.exact = exact;
    }
}
