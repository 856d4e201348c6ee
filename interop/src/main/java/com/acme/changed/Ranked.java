package com.acme.changed;

import java.io.Serializable;

/** Comparable objects, for sorted collections. */
public class Ranked implements Comparable<Ranked>, Serializable {
    private static final long serialVersionUID = 1;

    public int rank;

    public Ranked() {
    }

    public Ranked(int rank) {
        this.rank = rank;
    }

    @Override
    public int compareTo(Ranked other) {
        return Integer.compare(rank, other.rank);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Ranked ranked && rank == ranked.rank;
    }

    @Override
    public int hashCode() {
        return rank * 31;
    }
}
