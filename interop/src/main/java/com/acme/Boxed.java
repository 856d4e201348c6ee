package com.acme;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;

public class Boxed implements Serializable {
    private Boolean flag;
    private Byte tiny;
    private Short small;
    private Character letter;
    private Integer number;
    private Long big;
    private Float ratio;
    private Double exact;
    private BigInteger huge;
    private BigDecimal amount;
    private String text;

    public Boxed() {
    }

    public Boxed(Boolean flag, Byte tiny, Short small, Character letter, Integer number, Long big, Float ratio,
            Double exact, BigInteger huge, BigDecimal amount, String text) {
        this.flag = flag;
        this.tiny = tiny;
        this.small = small;
        this.letter = letter;
        this.number = number;
        this.big = big;
        this.ratio = ratio;
        this.exact = exact;
        this.huge = huge;
        this.amount = amount;
        this.text = text;
    }
}
