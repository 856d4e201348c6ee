package shop;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.BitSet;
import java.util.Calendar;
import java.util.Date;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The JDK's own types, as the components of a record. */
public record Times(
        boolean flag, byte tiny, char letter, short small, int number, long big, float ratio, double exact,
        Boolean flags, Byte tinies, Character letters, Short smalls, Integer numbers, Long bigs, Float ratios,
        Double exacts, String text, CharSequence chars, Object any, Number some, BigInteger huge, BigDecimal amount,
        Instant instant, LocalDate date, LocalTime time, LocalDateTime local, OffsetDateTime offset,
        OffsetTime offsetTime, ZonedDateTime zoned, ZoneId zone, Duration duration, Period period, Year year,
        DayOfWeek day, TimeUnit unit, Date old, java.sql.Timestamp stamp, Calendar calendar, UUID uuid, URI uri,
        Locale locale, BitSet bits, AtomicLong counter, EnumSet<DayOfWeek> days, EnumMap<TimeUnit, String> units,
        ConcurrentHashMap<String, Integer> counts, boolean[] array, char[][] grid, Integer[] boxes, Object[] objects,
        String[][] table, UUID[] ids) {
}
