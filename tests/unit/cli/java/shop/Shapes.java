package shop;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Values of types that say little about them. */
public class Shapes {
    private Shape one;
    private List<? extends Body> bodies;
    private Failure failure;
    private Exception cause;
    private Bag bag;
    private Basket basket;
    private Clock clock;
    private Unit unit;
    private Runnable runnable;

    public interface Shape {
    }

    public interface Round extends Shape {
    }

    public abstract static class Body implements Serializable {
        private double mass;
    }

    public static final class Ball extends Body implements Round {
        private double radius;
    }

    public record Disc(double radius, Unit unit) implements Round {
    }

    public static class Failure extends RuntimeException {
        private int code;
    }

    public static class Bag extends ArrayList<String> {
        private int size;
    }

    public abstract static class Basket implements Collection<String> {
        private int weight;
    }

    public static class Clock extends java.util.Observable {
        private int hour;
    }

    public enum Unit implements Shape {
        METRE,
        FOOT {
            @Override
            double metres() {
                return 0.3048;
            }
        };

        double metres() {
            return 1;
        }
    }

    static Shape anonymous() {
        class Local implements Shape {
            private int hidden;
        }
        return new Shape() {
            private final Local local = new Local();
        };
    }
}
