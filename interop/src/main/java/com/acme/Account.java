package com.acme;

import java.io.Serializable;

/** A JavaBean whose getters differ from its fields in number and names. */
public class Account implements Serializable {
    private static final long serialVersionUID = 1L;

    private String owner;
    private long balance;
    private boolean active;
    private String uRL;

    public String getOwner() {
        return owner;
    }

    public void setOwner(String owner) {
        this.owner = owner;
    }

    public long getBalance() {
        return balance;
    }

    public void setBalance(long balance) {
        this.balance = balance;
    }

    public boolean isActive() {
        return active;
    }

    public void setActive(boolean active) {
        this.active = active;
    }

    public String getURL() {
        return uRL;
    }

    public void setURL(String url) {
        this.uRL = url;
    }

    public String getDisplayName() {
        return owner + " (" + balance + ")";
    }
}
