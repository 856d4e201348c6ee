package com.acme.changed;

import java.io.Serializable;
import java.util.Collection;
import java.util.Map;
import java.util.Set;

/** Collections in fields, whatever their class. */
public class Holder implements Serializable {
    private static final long serialVersionUID = 1;

    public Set<Object> set;
    public Map<String, Object> map;
    public Collection<Object> items;
    public Set<Long> longs;

    public Holder() {
    }

    public Holder(Set<Object> set, Map<String, Object> map, Collection<Object> items, Set<Long> longs) {
        this.set = set;
        this.map = map;
        this.items = items;
        this.longs = longs;
    }
}
