package io.redissondq.interop;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.Base64;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;

/** The types whose value crosses as one string. A further type is a further row. */
final class TextTypes {
    private record Row(String name, Function<String, Object> parse, Function<Object, String> print) {
    }

    private static final Map<String, Row> BY_NAME = new HashMap<>();

    static {
        row(Boolean.class, Boolean::valueOf);
        row(Byte.class, Byte::valueOf);
        row(Short.class, Short::valueOf);
        row(Integer.class, Integer::valueOf);
        row(Long.class, Long::valueOf);
        row(Float.class, Float::valueOf);
        row(Double.class, Double::valueOf);
        row(Character.class, TextTypes::character);
        row(String.class, s -> s);
        row(BigInteger.class, BigInteger::new);
        row(BigDecimal.class, BigDecimal::new);
        row(byte[].class, Base64.getDecoder()::decode, Base64.getEncoder()::encodeToString);
        row(UUID.class, UUID::fromString);
        row(Date.class, s -> new Date(Long.parseLong(s)), date -> Long.toString(date.getTime()));
        row(Duration.class, Duration::parse);
        row(Instant.class, Instant::parse);
        row(LocalDate.class, LocalDate::parse);
        row(LocalDateTime.class, LocalDateTime::parse);
        row(LocalTime.class, LocalTime::parse);
        row(OffsetDateTime.class, OffsetDateTime::parse);
        row(ZonedDateTime.class, ZonedDateTime::parse);
    }

    private TextTypes() {
    }

    static boolean has(String name) {
        return BY_NAME.containsKey(name);
    }

    static Object parse(String name, String text) {
        return BY_NAME.get(name).parse.apply(text);
    }

    static String print(Object value) {
        return BY_NAME.get(value.getClass().getTypeName()).print.apply(value);
    }

    private static <T> void row(Class<T> type, Function<String, T> parse) {
        row(type, parse, Object::toString);
    }

    private static <T> void row(Class<T> type, Function<String, T> parse, Function<T, String> print) {
        String name = type.getTypeName();
        BY_NAME.put(name, new Row(name, parse::apply, value -> print.apply(type.cast(value))));
    }

    private static char character(String text) {
        if (text.length() != 1) {
            throw new IllegalArgumentException("a Character is one UTF-16 unit, not " + text.length());
        }
        return text.charAt(0);
    }
}
