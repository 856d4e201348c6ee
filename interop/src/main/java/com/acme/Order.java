package com.acme;

import java.io.Serializable;
import java.util.List;
import java.util.Objects;

public class Order implements Serializable {
    private Long id;
    private String sku;
    private double price;
    private List<String> tags;
    private Customer customer;

    public Order() {
    }

    public Order(Long id, String sku, double price, List<String> tags, Customer customer) {
        this.id = id;
        this.sku = sku;
        this.price = price;
        this.tags = tags;
        this.customer = customer;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Order order && Objects.equals(id, order.id) && Objects.equals(sku, order.sku)
                && price == order.price && Objects.equals(tags, order.tags)
                && Objects.equals(customer, order.customer);
    }

    @Override
    public int hashCode() {
        return Objects.hash(id, sku, price, tags, customer);
    }
}
