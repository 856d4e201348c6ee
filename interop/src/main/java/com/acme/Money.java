package com.acme;

import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectOutput;

/** Has its own writeObject and readObject. */
public class Money implements Externalizable {
    private static final long serialVersionUID = 1L;

    private long cents;
    private String currency;

    public Money() {
    }

    public Money(long cents, String currency) {
        this.cents = cents;
        this.currency = currency;
    }

    @Override
    public void writeExternal(ObjectOutput out) throws IOException {
        out.writeLong(cents);
        out.writeObject(currency);
    }

    @Override
    public void readExternal(ObjectInput in) throws IOException, ClassNotFoundException {
        cents = in.readLong();
        currency = (String) in.readObject();
    }
}
