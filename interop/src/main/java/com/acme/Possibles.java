package com.acme;

import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** Fields of types that Java's serialization does not write. */
public class Possibles {
    public Optional<Long> maybe;
    public OptionalInt maybeInt;
    public OptionalLong maybeLong;
    public OptionalDouble maybeDouble;
}
