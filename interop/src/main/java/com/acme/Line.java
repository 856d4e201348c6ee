package com.acme;

import java.io.Serializable;

public record Line(Point from, Point to, String label) implements Serializable {
}
