package com.acme;

public class StringBox extends Box<String> {
    private int seals;

    public StringBox() {
    }

    public StringBox(String content, int seals) {
        super(content);
        this.seals = seals;
    }
}
