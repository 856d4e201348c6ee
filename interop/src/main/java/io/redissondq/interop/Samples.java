package io.redissondq.interop;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/** Java values by name, {@code group/name}, for the vectors and the {@code *_sample} operations. */
final class Samples {
    /** A value that {@code varies} gets other bytes in another JVM: its order is by identity or a random salt. */
    record Sample(String name, Object value, boolean varies) {
        String group() {
            return name.substring(0, name.indexOf('/'));
        }
    }

    /** Names the samples of one group. */
    record Group(String name, Map<String, Sample> all) {
        Group add(String sample, Object value) {
            return put(sample, value, false);
        }

        Group addVarying(String sample, Object value) {
            return put(sample, value, true);
        }

        private Group put(String sample, Object value, boolean varies) {
            String full = name + "/" + sample;
            if (all.put(full, new Sample(full, value, varies)) != null) {
                throw new IllegalStateException("two samples are named " + full);
            }
            return this;
        }
    }

    private static final Map<String, Sample> ALL = new LinkedHashMap<>();
    /** The samples outside of the vectors. */
    private static final Map<String, Sample> MORE = new LinkedHashMap<>();

    static {
        ScalarSamples.define();
        TimeSamples.define();
        CollectionSamples.define();
        ObjectSamples.define();
        MoreSamples.define(MORE);
    }

    private Samples() {
    }

    static Group group(String name) {
        return new Group(name, ALL);
    }

    static Collection<Sample> all() {
        return ALL.values();
    }

    static Collection<Sample> more() {
        return MORE.values();
    }

    static Sample named(String name) {
        Sample sample = ALL.getOrDefault(name, MORE.get(name));
        if (sample == null) {
            throw new IllegalArgumentException("no sample " + name);
        }
        return sample;
    }
}
