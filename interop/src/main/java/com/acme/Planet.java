package com.acme;

/** Constants with fields, and some with a body, which makes them instances of a class of their own. */
public enum Planet {
    MERCURY(3.303e+23) {
        @Override
        public String greeting() {
            return "hot";
        }
    },
    EARTH(5.976e+24) {
        @Override
        public String greeting() {
            return "hello";
        }
    },
    PLUTO(1.27e+22);

    private final double mass;

    Planet(double mass) {
        this.mass = mass;
    }

    public double mass() {
        return mass;
    }

    public String greeting() {
        return "cold";
    }
}
