package com.acme;

/** A private field of the same name as one of its superclass. */
public class Reseller extends Customer {
    private String name;

    public Reseller() {
    }

    public Reseller(String ownName, String name) {
        super(name, null);
        this.name = ownName;
    }
}
