package mappers;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import com.fasterxml.jackson.datatype.jsr310.deser.*;
import com.fasterxml.jackson.datatype.jsr310.ser.*;
import java.sql.Timestamp;
import java.text.SimpleDateFormat;
import java.time.*;
import java.time.format.DateTimeFormatter;
import java.util.*;

/** Dates and times by patterns, of fields and of mappers. */
public class Dated {
    @JsonFormat(pattern = "yyyy-MM-dd HH:mm:ss", timezone = "GMT+8") public Date created;
    @JsonFormat(pattern = "yyyy-MM-dd HH:mm:ss") public Date updated;
    @JsonFormat(shape = JsonFormat.Shape.STRING, pattern = "yyyy-MM-dd") public Date day;
    @JsonFormat(pattern = "yyyy-MM-dd HH:mm:ss.SSS", timezone = "Europe/Berlin") public Timestamp paid;
    @JsonFormat(pattern = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", timezone = "America/New_York") public Date sent;
    @JsonFormat(pattern = "yyyyMMddHHmmssZ", timezone = "Asia/Kolkata") public Date packed;
    @JsonFormat(pattern = "yyyy-MM-dd HH:mm:ss") public LocalDateTime due;
    @JsonFormat(pattern = "dd.MM.yyyy 'um' HH:mm") public LocalDateTime german;
    @JsonFormat(pattern = "uuuu-MM-dd HH:mm:ss.SSSSSS") public LocalDateTime fine;
    @JsonFormat(pattern = "yyyy/MM/dd") public LocalDate birthday;
    @JsonFormat(pattern = "HH:mm") public LocalTime opens;
    @JsonFormat(pattern = "yyyy-MM-dd HH:mm:ss", timezone = "Asia/Tokyo") public Instant at;
    @JsonFormat(pattern = "yyyy-MM-dd HH:mm", timezone = "GMT-3") public List<Date> dates;
    @JsonFormat(pattern = "yyyy-MM-dd") public LocalDate[] days;
    @JsonFormat(pattern = "yyyy-MM-dd HH:mm:ss") public Map<String, LocalDateTime> byName;
    public Date plainDate;
    public LocalDateTime plainTime;
    public LocalDate plainDay;
    public LocalTime plainClock;
    public Map<Date, String> byDate;

    static Dated of(long seconds, int millis) {
        Instant instant = Instant.ofEpochSecond(seconds);
        LocalDateTime local = LocalDateTime.ofInstant(instant, ZoneOffset.UTC);
        LocalDateTime minute = local.withSecond(0);
        Date date = Date.from(instant);
        Dated made = new Dated();
        made.created = made.updated = made.packed = made.plainDate = date;
        made.day = new Date(Math.floorDiv(seconds, 86400) * 86400_000L);
        made.paid = new Timestamp(seconds * 1000 + millis);
        made.sent = new Date(seconds * 1000 + millis);
        made.due = made.plainTime = local;
        made.german = minute;
        made.fine = local.plusNanos(123_456_000);
        made.birthday = made.plainDay = local.toLocalDate();
        made.opens = minute.toLocalTime();
        made.plainClock = local.toLocalTime();
        made.at = instant;
        made.dates = new ArrayList<>(List.of(new Date(seconds * 1000 - Math.floorMod(seconds, 60) * 1000)));
        made.days = new LocalDate[] {local.toLocalDate(), null};
        made.byName = new LinkedHashMap<>(Map.of("a", local));
        made.byDate = new LinkedHashMap<>(Map.of(date, "d"));
        return made;
    }

    static Map<String, Object> samples() {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("summer", of(1_783_944_123L, 7));
        all.put("winter", of(1_767_225_599L, 999));
        all.put("epoch", of(0, 0));
        all.put("before", of(-1_000_000_001L, 1));
        all.put("far", of(4_102_444_800L, 500));
        all.put("forward", of(1_774_746_000L, 0)); // 2026-03-29 01:00 UTC, when Berlin's clocks go forward
        all.put("back", of(1_792_890_000L, 0)); // 2026-10-25 01:00 UTC, the second 02:00 in Berlin
        all.put("nothing", new Dated());
        return all;
    }

    @Override public String toString() {
        StringJoiner found = new StringJoiner(" ");
        for (Date date : new Date[] {created, updated, day, paid, sent, packed}) found.add(text(date));
        for (Object time : new Object[] {due, german, fine, birthday, opens, at}) found.add("" + time);
        if (dates != null) for (Date date : dates) found.add(text(date));
        found.add(Arrays.toString(days)).add("" + byName).add(text(plainDate)).add("" + plainTime + plainDay + plainClock);
        if (byDate != null) byDate.forEach((key, value) -> found.add(text(key) + "=" + value));
        return found.toString();
    }

    private static String text(Date date) {
        return date == null ? "null" : date.getClass().getSimpleName() + date.getTime();
    }

    /** "fields": a mapper with JavaTimeModule. A zone after it is that of the mapper. "mapper": patterns of its own. */
    static ObjectMapper mapper(String setting) {
        ObjectMapper mapper = new ObjectMapper();
        JavaTimeModule module = new JavaTimeModule();
        String[] parts = setting.split("@");
        if (parts[0].equals("mapper")) {
            DateTimeFormatter both = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss");
            module.addSerializer(LocalDateTime.class, new LocalDateTimeSerializer(both));
            module.addDeserializer(LocalDateTime.class, new LocalDateTimeDeserializer(both));
            DateTimeFormatter day = DateTimeFormatter.ofPattern("yyyy-MM-dd");
            module.addSerializer(LocalDate.class, new LocalDateSerializer(day));
            module.addDeserializer(LocalDate.class, new LocalDateDeserializer(day));
            DateTimeFormatter clock = DateTimeFormatter.ofPattern("HH:mm:ss");
            module.addSerializer(LocalTime.class, new LocalTimeSerializer(clock));
            module.addDeserializer(LocalTime.class, new LocalTimeDeserializer(clock));
            SimpleDateFormat format = new SimpleDateFormat("yyyy-MM-dd HH:mm:ss");
            format.setTimeZone(TimeZone.getTimeZone("Asia/Shanghai"));
            mapper.setDateFormat(format);
        }
        if (parts.length > 1) mapper.setTimeZone(TimeZone.getTimeZone(parts[1]));
        return mapper.registerModule(module);
    }
}
