package com.acme;

import java.io.Serializable;

public class Arrays implements Serializable {
    private byte[] bytes;
    private int[] ints;
    private long[] longs;
    private double[] doubles;
    private char[] chars;
    private boolean[] flags;
    private String[] texts;
    private Integer[] numbers;
    private Object[] objects;
    private Point[] points;
    private Order[] orders;
    private int[][] grid;
    private Color[] colors;

    public Arrays() {
    }

    public Arrays(byte[] bytes, int[] ints, long[] longs, double[] doubles, char[] chars, boolean[] flags,
            String[] texts, Integer[] numbers, Object[] objects, Point[] points, Order[] orders, int[][] grid,
            Color[] colors) {
        this.bytes = bytes;
        this.ints = ints;
        this.longs = longs;
        this.doubles = doubles;
        this.chars = chars;
        this.flags = flags;
        this.texts = texts;
        this.numbers = numbers;
        this.objects = objects;
        this.points = points;
        this.orders = orders;
        this.grid = grid;
        this.colors = colors;
    }
}
