package com.acme;

import java.io.Serializable;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/** A record whose components have type arguments. */
public record Shift(List<Long> hours, Long id, Map<Color, BigDecimal> pay) implements Serializable {
}
