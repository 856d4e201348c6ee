package com.acme;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

public class Drawing implements Serializable {
    private Shape background;
    private Circle hole;
    private List<Shape> shapes;
    private Map<String, Shape> named;
    private Shape[] order;

    public Drawing() {
    }

    public Drawing(Shape background, Circle hole, List<Shape> shapes, Map<String, Shape> named, Shape[] order) {
        this.background = background;
        this.hole = hole;
        this.shapes = shapes;
        this.named = named;
        this.order = order;
    }
}
