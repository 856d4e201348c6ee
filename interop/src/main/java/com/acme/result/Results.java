package com.acme.result;

import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/** Fields of generic base types, and the classes of what they hold. */
public final class Results {
    private Results() {
    }

    public record Geo(double lat, double lon) implements Serializable, Comparable<Geo> {
        @Override
        public int compareTo(Geo other) {
            return Double.compare(lat, other.lat);
        }
    }

    public static final class Tag implements Serializable {
        public String text;
    }

    public static class Note implements Serializable {
        public String text;
    }

    public enum Level { LOW, HIGH }

    public enum Step {
        UP {
            @Override
            public int by() {
                return 1;
            }
        },
        STAY;

        public int by() {
            return 0;
        }
    }

    public abstract static class Result<T> implements Serializable {
    }

    public static class Ok<T> extends Result<T> {
        public T value;
        public List<T> others;
        public T[] array;
    }

    /** A parameter of another name, two classes down. */
    public static class Cached<V> extends Ok<V> {
        public V before;
    }

    /** A parameter that the base does not have. */
    public static class Failed<T, E> extends Result<T> {
        public E error;
        public T last;
    }

    public static class Listed<T> extends Result<List<T>> {
        public T first;
    }

    public static class Bounded<T extends Comparable<T>> extends Result<T> {
        public T least;
    }

    public static class Fixed extends Ok<Geo> {
        public Geo home;
    }

    /** Its superclass is raw. */
    @SuppressWarnings("rawtypes")
    public static class Raw<T> extends Ok {
        public T plain;
    }

    public abstract static class Pair<A, B> implements Serializable {
        public A first;
        public B second;
    }

    public static class Straight<A, B> extends Pair<A, B> {
        public List<B> list;
    }

    public static class Mapped<K, V> extends Straight<K, V> {
        public Map<K, V> map;
    }

    public static class Swapped<X, Y> extends Pair<Y, X> {
        public X x;
        public Y y;
    }

    public static class Half<X> extends Pair<X, String> {
        public X half;
    }

    public static class Twice<T> extends Pair<T, T> {
        public T both;
    }

    public interface Either<L, R> extends Serializable {
    }

    public record Left<L, R>(L value) implements Either<L, R> {
    }

    public record Right<R, L>(R value, List<R> more) implements Either<L, R> {
    }

    public interface Same<T> extends Either<T, T> {
    }

    public record Both<Z>(Z one, Z other) implements Same<Z> {
    }

    public static final class Plain<T> implements Either<T, List<T>> {
        public T plain;
    }

    public static class Given<T> implements Supplier<T>, Serializable {
        public T given;

        @Override
        public T get() {
            return given;
        }
    }

    /** The fields. */
    public static class Holder implements Serializable {
        public Result<Geo> geo;
        public Result<Tag> tag;
        public Result<Note> note;
        public Result<Level> level;
        public Result<Step> step;
        public Result<String> text;
        public Result<Long> number;
        public Result<Object> any;
        public Result<int[]> ints;
        public Result<Geo[]> geos;
        public Result<List<Geo>> list;
        public Result<Result<Geo>> deep;
        public Result<?> open;
        @SuppressWarnings("rawtypes")
        public Result raw;
        public Pair<Geo, Level> pair;
        public Pair<Level, String> half;
        public Pair<String, Geo> named;
        public Pair<Geo, Geo> twice;
        public Either<Geo, Level> either;
        public Either<Geo, Geo> same;
        public Either<Geo, List<Geo>> plain;
        public Supplier<Geo> supplier;
        public List<Result<Geo>> all;
        public Map<String, Either<Level, Geo>> map;
        public Result<Geo>[] array;
        public AtomicReference<Result<Geo>> reference;
    }

    public static class Of<T> implements Serializable {
        public Result<T> result;
        public List<Either<T, T>> eithers;
    }

    public static class OfGeo implements Serializable {
        public Of<Geo> geo;
        public Of<Level> level;
    }
}
