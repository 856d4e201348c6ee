package com.acme;

public class Square implements Shape {
    private int side;

    public Square() {
    }

    public Square(int side) {
        this.side = side;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Square square && side == square.side;
    }

    @Override
    public int hashCode() {
        return side;
    }
}
