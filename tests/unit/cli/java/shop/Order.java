package shop;

import java.util.List;

public class Order {
    private List<Line> lines;

    public static class Line {
        private int count;
    }
}
