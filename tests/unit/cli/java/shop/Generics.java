package shop;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/** Type parameters, and the ways in which they get their arguments. */
public class Generics {
    private Pair<String, Integer> pair;
    private Pair<?, ? extends Number> open;
    private Pair<? super Integer, ? extends List<String>> bounded;
    @SuppressWarnings("rawtypes")
    private Pair raw;
    private List<Pair<String, List<Node>>> deep;
    private Map<String, ? extends Pair<String, String>> wild;
    private List<String>[] lists;
    private Pair<String, String>[][] pairs;
    private ArrayList<String> texts;
    private Collection<Long> longs;
    private Deque<int[]> arrays;
    private HashMap<String, byte[]> blobs;
    private SortedMap<String, Integer> sorted;
    private TreeSet<Character> letters;
    private Set<Set<Boolean>> sets;
    private Properties properties;
    private Optional<String> maybe;
    private Class<? extends Node> type;
    private Source<String> source;
    private Supplier<List<String>> supplier;
    private Comparator<? super String> comparator;

    public interface Source<T> {
        T next();
    }

    public static class Pair<A, B> {
        private A first;
        private B second;
        private A[] firsts;
        private List<B> seconds;
        private Source<A> source;
    }

    public static class Twisted<X, Y extends Number> extends Pair<Y, X> {
        private Y number;
        private Map<X, List<Y>> numbers;
        private ArrayList<X> others;
    }

    /** Its superclass's argument is a class that can only be defined after it. */
    public static class Entity<S extends Entity<S> & Serializable> {
        private S self;
    }

    public static class Node extends Entity<Node> implements Serializable {
        private List<Node> nodes;
    }

    public static class Half<T> extends Pair<T, List<Zone>> {
    }

    public static class Zone {
    }

    public static class Outer<T> {
        public class Inner {
            private T content;
            private List<T> contents;
        }

        private Inner inner;
    }
}
