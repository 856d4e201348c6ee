package io.redissondq.interop;

import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.Month;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Calendar;
import java.util.Date;
import java.util.GregorianCalendar;
import java.util.Locale;
import java.util.SimpleTimeZone;
import java.util.TimeZone;

/** java.time, java.util's dates, and java.sql's. */
final class TimeSamples {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    private static final LocalDateTime LEAP_DAY = LocalDateTime.of(2024, 2, 29, 12, 30, 15);

    private TimeSamples() {
    }

    static void define() {
        legacy();
        instants();
        locals();
        zoned();
        amounts();
    }

    private static void legacy() {
        Samples.group("date")
                .add("epoch", new Date(0))
                .add("millis", new Date(1_709_209_815_123L))
                .add("before-1970", new Date(-1))
                .add("year-1", new Date(-62_135_596_800_000L))
                .add("year-10000", new Date(253_402_300_800_000L))
                .add("min", new Date(Long.MIN_VALUE))
                .add("sql-timestamp", timestamp(1_709_209_815_123L, 123_000_000))
                .add("sql-timestamp-nanos", timestamp(1_709_209_815_123L, 123_456_789))
                .add("sql-timestamp-before-1970", timestamp(-1, 999_000_001))
                .add("sql-date", new java.sql.Date(1_709_164_800_000L))
                .add("sql-time", new java.sql.Time(45_015_000L));
        Samples.group("calendar")
                .add("utc", calendar(TimeZone.getTimeZone("UTC")))
                .add("berlin", calendar(TimeZone.getTimeZone("Europe/Berlin")));
        Samples.group("timezone")
                .add("utc", TimeZone.getTimeZone("UTC"))
                .add("berlin", TimeZone.getTimeZone("Europe/Berlin"))
                .add("offset", TimeZone.getTimeZone("GMT+05:30"))
                .add("simple", new SimpleTimeZone(3_600_000, "Own"));
    }

    private static void instants() {
        Samples.group("instant")
                .add("epoch", Instant.EPOCH)
                .add("seconds", Instant.ofEpochSecond(1_709_209_815L))
                .add("millis", Instant.ofEpochMilli(1_709_209_815_120L))
                .add("micros", Instant.ofEpochSecond(1_709_209_815L, 123_456_000))
                .add("nanos", Instant.ofEpochSecond(1_709_209_815L, 123_456_789))
                .add("before-1970", Instant.ofEpochSecond(-1, 1))
                .add("year-10000", Instant.ofEpochSecond(253_402_300_800L))
                .add("min", Instant.MIN)
                .add("max", Instant.MAX);
    }

    private static void locals() {
        Samples.group("localdate")
                .add("leap-day", LEAP_DAY.toLocalDate())
                .add("year-1", LocalDate.of(1, 1, 1))
                .add("year-0", LocalDate.of(0, 12, 31))
                .add("year-10000", LocalDate.of(10_000, 1, 1))
                .add("min", LocalDate.MIN)
                .add("max", LocalDate.MAX);
        Samples.group("localtime")
                .add("midnight", LocalTime.MIDNIGHT)
                .add("hour", LocalTime.of(13, 0))
                .add("minute", LocalTime.of(13, 5))
                .add("second", LocalTime.of(13, 0, 7))
                .add("millis", LocalTime.of(13, 5, 7, 120_000_000))
                .add("nanos", LocalTime.of(0, 0, 0, 1))
                .add("max", LocalTime.MAX);
        Samples.group("localdatetime")
                .add("leap-day", LEAP_DAY)
                .add("midnight", LEAP_DAY.toLocalDate().atStartOfDay())
                .add("micros", LEAP_DAY.withNano(123_456_000))
                .add("nanos", LEAP_DAY.withNano(123_456_789))
                .add("min", LocalDateTime.MIN)
                .add("max", LocalDateTime.MAX);
        Samples.group("calendarpart")
                .add("year", Year.of(2024))
                .add("year-negative", Year.of(-44))
                .add("yearmonth", YearMonth.of(2024, 2))
                .add("yearmonth-far", YearMonth.of(-999_999_999, 12))
                .add("monthday", MonthDay.of(2, 29))
                .add("dayofweek", DayOfWeek.SUNDAY)
                .add("month", Month.FEBRUARY);
    }

    private static void zoned() {
        ZoneOffset india = ZoneOffset.ofHoursMinutes(5, 30);
        Samples.group("zone")
                .add("region", BERLIN)
                .add("region-utc", ZoneId.of("UTC"))
                .add("region-prefixed", ZoneId.of("UTC+02:00"))
                .add("offset-zero", ZoneOffset.UTC)
                .add("offset-quarters", india)
                .add("offset-negative", ZoneOffset.ofHours(-8))
                .add("offset-seconds", ZoneOffset.ofTotalSeconds(3_601))
                .add("offset-max", ZoneOffset.MAX);
        Samples.group("offsetdatetime")
                .add("utc", LEAP_DAY.atOffset(ZoneOffset.UTC))
                .add("india", LEAP_DAY.atOffset(india))
                .add("nanos", LEAP_DAY.withNano(123_456_789).atOffset(ZoneOffset.ofHours(-8)))
                .add("odd-seconds", LEAP_DAY.atOffset(ZoneOffset.ofTotalSeconds(3_601)))
                .add("min", OffsetDateTime.MIN)
                .add("max", OffsetDateTime.MAX);
        Samples.group("offsettime")
                .add("utc", OffsetTime.of(12, 30, 0, 0, ZoneOffset.UTC))
                .add("nanos", OffsetTime.of(12, 30, 15, 123_456_789, india))
                .add("max", OffsetTime.MAX);
        ZonedDateTime overlap = ZonedDateTime.of(2024, 10, 27, 2, 30, 0, 0, BERLIN);
        Samples.group("zoneddatetime")
                .add("berlin", LEAP_DAY.atZone(BERLIN))
                .add("nanos", LEAP_DAY.withNano(123_456_789).atZone(BERLIN))
                .add("overlap-earlier", overlap.withEarlierOffsetAtOverlap())
                .add("overlap-later", overlap.withLaterOffsetAtOverlap())
                .add("region-utc", LEAP_DAY.atZone(ZoneId.of("UTC")))
                .add("offset-utc", LEAP_DAY.atZone(ZoneOffset.UTC))
                .add("offset", LEAP_DAY.atZone(india))
                .add("far", ZonedDateTime.of(12_345, 1, 1, 0, 0, 0, 0, BERLIN));
    }

    private static void amounts() {
        Samples.group("duration")
                .add("zero", Duration.ZERO)
                .add("seconds", Duration.ofSeconds(90))
                .add("millis", Duration.ofMillis(1_500))
                .add("micros", Duration.ofSeconds(5, 123_456_000))
                .add("nanos", Duration.ofNanos(1))
                .add("negative", Duration.ofMillis(-1_500))
                .add("negative-nano", Duration.ofNanos(-1))
                .add("min", Duration.ofSeconds(Long.MIN_VALUE))
                .add("max", Duration.ofSeconds(Long.MAX_VALUE, 999_999_999));
        Samples.group("period")
                .add("zero", Period.ZERO)
                .add("mixed", Period.of(1, 14, -3))
                .add("extreme", Period.of(Integer.MIN_VALUE, Integer.MAX_VALUE, 0));
    }

    private static java.sql.Timestamp timestamp(long millis, int nanos) {
        java.sql.Timestamp timestamp = new java.sql.Timestamp(millis);
        timestamp.setNanos(nanos);
        return timestamp;
    }

    private static Calendar calendar(TimeZone zone) {
        Calendar calendar = new GregorianCalendar(zone, Locale.ROOT);
        calendar.setTimeInMillis(1_709_209_815_123L);
        return calendar;
    }
}
