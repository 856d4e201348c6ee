package com.alibaba.fastjson;

import java.io.Serializable;
import java.util.*;

/** In structure the class of that library: a map that keeps its entries in a field. */
public class JSONObject extends AbstractMap<String, Object> implements Cloneable, Serializable {
    private static final long serialVersionUID = 1L;
    private final Map<String, Object> map = new HashMap<>();

    public Map<String, Object> getInnerMap() {
        return map;
    }

    @Override
    public Object put(String key, Object value) {
        return map.put(key, value);
    }

    @Override
    public Set<Map.Entry<String, Object>> entrySet() {
        return map.entrySet();
    }
}

class JSONArray extends AbstractList<Object> implements Serializable {
    private final List<Object> list = new ArrayList<>();

    @Override
    public Object get(int index) {
        return list.get(index);
    }

    @Override
    public int size() {
        return list.size();
    }
}
