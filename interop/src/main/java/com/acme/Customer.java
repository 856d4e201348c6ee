package com.acme;

import java.io.Serializable;
import java.util.Objects;

public class Customer implements Serializable {
    private static final long serialVersionUID = 1L;

    private String name;
    private Address address;

    public Customer() {
    }

    public Customer(String name, Address address) {
        this.name = name;
        this.address = address;
    }

    @Override
    public boolean equals(Object other) {
        return other != null && other.getClass() == getClass()
                && Objects.equals(name, ((Customer) other).name) && Objects.equals(address, ((Customer) other).address);
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, address);
    }
}
