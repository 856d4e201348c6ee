package com.acme;

import java.util.Objects;

/** Its own fields sort before, between and after those it inherits. */
public class VipCustomer extends Customer {
    private static final long serialVersionUID = 2L;

    private int level;
    private String zone;
    private Double discount;

    public VipCustomer() {
    }

    public VipCustomer(String name, Address address, int level, String zone, Double discount) {
        super(name, address);
        this.level = level;
        this.zone = zone;
        this.discount = discount;
    }

    @Override
    public boolean equals(Object other) {
        return super.equals(other) && level == ((VipCustomer) other).level
                && Objects.equals(zone, ((VipCustomer) other).zone)
                && Objects.equals(discount, ((VipCustomer) other).discount);
    }

    @Override
    public int hashCode() {
        return Objects.hash(super.hashCode(), level, zone, discount);
    }
}
