package com.acme;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;

/** Writes further data after its default fields. */
public class Sealed implements Serializable {
    private static final long serialVersionUID = 1L;

    private String label;
    private transient int secret;
    private transient String hint;

    public Sealed() {
    }

    public Sealed(String label, int secret, String hint) {
        this.label = label;
        this.secret = secret;
        this.hint = hint;
    }

    private void writeObject(ObjectOutputStream out) throws IOException {
        out.defaultWriteObject();
        out.writeInt(secret ^ 0x5a5a5a5a);
        out.writeObject(hint);
    }

    private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
        in.defaultReadObject();
        secret = in.readInt() ^ 0x5a5a5a5a;
        hint = (String) in.readObject();
    }
}
