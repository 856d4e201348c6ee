package com.acme;

import java.io.Serializable;
import java.util.Objects;

public class Address implements Serializable {
    private static final long serialVersionUID = -4_284_923_451_872_310_233L;

    private String street;
    private String city;
    private int zip;

    public Address() {
    }

    public Address(String street, String city, int zip) {
        this.street = street;
        this.city = city;
        this.zip = zip;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Address address && zip == address.zip
                && Objects.equals(street, address.street) && Objects.equals(city, address.city);
    }

    @Override
    public int hashCode() {
        return Objects.hash(street, city, zip);
    }
}
