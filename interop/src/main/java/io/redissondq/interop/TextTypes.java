package io.redissondq.interop;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Base64;
import java.util.Currency;
import java.util.Date;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/** The types whose values are passed as one string. A further type needs a further row. */
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
        row(OffsetTime.class, OffsetTime::parse);
        row(ZonedDateTime.class, ZonedDateTime::parse);
        row(Period.class, Period::parse);
        row(Year.class, TextTypes::year, year -> Integer.toString(year.getValue()));
        row(YearMonth.class, YearMonth::parse);
        row(MonthDay.class, MonthDay::parse);
        row(ZoneOffset.class, ZoneOffset::of);
        BY_NAME.put("java.time.ZoneRegion", new Row("java.time.ZoneRegion", ZoneId::of, Object::toString));
        row(Timestamp.class, Timestamp::valueOf);
        row(URI.class, URI::create);
        row(Currency.class, Currency::getInstance);
        row(Locale.class, Locale::forLanguageTag, Locale::toLanguageTag);
        row(StringBuilder.class, StringBuilder::new);
        row(StringBuffer.class, StringBuffer::new);
        row(AtomicInteger.class, s -> new AtomicInteger(Integer.parseInt(s)));
        row(AtomicLong.class, s -> new AtomicLong(Long.parseLong(s)));
        row(AtomicBoolean.class, s -> new AtomicBoolean(Boolean.parseBoolean(s)));
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

    private static <T> void row(Class<T> type, Function<String, ? extends T> parse) {
        row(type, parse, Object::toString);
    }

    private static <T> void row(Class<T> type, Function<String, ?> parse, Function<T, String> print) {
        String name = type.getTypeName();
        BY_NAME.put(name, new Row(name, parse::apply, value -> print.apply(type.cast(value))));
    }

    private static Year year(String text) {
        return Year.of(Integer.parseInt(text));
    }

    private static char character(String text) {
        if (text.length() != 1) {
            throw new IllegalArgumentException("a Character is one UTF-16 unit, not " + text.length());
        }
        return text.charAt(0);
    }
}
