import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.*;
import java.util.*;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Function;
import org.redisson.client.codec.Codec;
import org.redisson.codec.Kryo5Codec;
import org.redisson.codec.SerializationCodec;

/**
 * Sorted collections: random values of each class that has an order, and the use of what another has written.
 *
 * <p>{@code write SEED COUNT} prints a line for each class: its name, and in hex a list of random values in Java's
 * order, a TreeSet of them, and a TreeSet with the opposite order. {@code read} takes lines of a codec and bytes in hex. For each
 * it prints {@code found} if all elements or keys are found and stand in order, or else the reason.
 */
public class Sorted {
    static final Random RANDOM = new Random();

    static String text(int length, String letters) {
        StringBuilder made = new StringBuilder();
        for (int i = RANDOM.nextInt(length + 1); i > 0; i--) made.append(letters.charAt(RANDOM.nextInt(letters.length())));
        return made.toString();
    }

    static long number() {
        return RANDOM.nextLong() >> RANDOM.nextInt(64);
    }

    static long of(long... few) {
        return few[RANDOM.nextInt(few.length)];
    }

    static LocalDate date() {
        return RANDOM.nextInt(4) == 0 ? LocalDate.of((int) of(-999_999_999, -5, 0, 1, 9999, 10_000, 999_999_999), 1 + RANDOM.nextInt(12), 1 + RANDOM.nextInt(28))
                : LocalDate.ofEpochDay(RANDOM.nextInt(40_000));
    }

    static LocalTime time() {
        return LocalTime.of(RANDOM.nextInt(3) * 11, RANDOM.nextInt(2) * 59, RANDOM.nextInt(2) * 30, (int) of(0, 1, 999, 1_000, 999_999_999));
    }

    static ZoneOffset offset() {
        return ZoneOffset.ofTotalSeconds((int) of(0, 3600, -3600, 5400, 64_800, -64_800, 1, -1));
    }

    static ZoneId zone() {
        return RANDOM.nextBoolean() ? offset() : ZoneId.of(List.of("Europe/Berlin", "UTC", "America/New_York", "Asia/Tokyo").get(RANDOM.nextInt(4)));
    }

    static String uri() {
        String host = List.of("a.example", "B.example", "127.0.0.1", "localhost").get(RANDOM.nextInt(4));
        String port = List.of("", ":80", ":8080", ":").get(RANDOM.nextInt(4));
        String user = List.of("", "", "bob@", "al:pw@").get(RANDOM.nextInt(4));
        String end = List.of("", "?q=1", "?q=2#f", "#f", "#").get(RANDOM.nextInt(5));
        switch (RANDOM.nextInt(6)) {
            case 0: return "mailto:" + text(3, "abAB") + "x@example.com" + (end.startsWith("#") ? end : "");
            case 1: return "urn:isbn:" + RANDOM.nextInt(100);
            case 2: return text(2, "ab/") + "p" + end;
            case 3: return "file:///" + text(4, "abAB/\u00e9") + end;
            default: return List.of("http", "HTTPS", "ftp").get(RANDOM.nextInt(3)) + "://" + user + host + port + "/" + text(3, "aB/") + end;
        }
    }

    /** The larger number comes first. */
    public static class Rank implements Comparable<Rank>, Serializable {
        private static final long serialVersionUID = 1;
        int number;

        Rank(int number) {
            this.number = number;
        }

        @Override
        public int compareTo(Rank other) {
            return Integer.compare(other.number, number);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Rank && ((Rank) other).number == number;
        }

        @Override
        public int hashCode() {
            return number;
        }
    }

    static Object ranked(Map<Object, Object> made) {
        for (int number : new int[] {3, 20, 100, 7}) made.put(new Rank(number), "of " + number);
        return made;
    }

    static final Map<String, Function<Integer, Object>> KINDS = new LinkedHashMap<>();

    static {
        String letters = "abAB01 \u00e9\u00df\u0416\uffff\ud83d\ude00";
        KINDS.put("String", i -> text(4, letters));
        KINDS.put("StringBuilder", i -> new StringBuilder(text(4, letters)));
        KINDS.put("StringBuffer", i -> new StringBuffer(text(4, letters)));
        KINDS.put("Character", i -> letters.charAt(RANDOM.nextInt(letters.length())));
        KINDS.put("Boolean", i -> RANDOM.nextBoolean());
        KINDS.put("Byte", i -> (byte) number());
        KINDS.put("Short", i -> (short) number());
        KINDS.put("Integer", i -> (int) number());
        KINDS.put("Long", i -> number());
        KINDS.put("Float", i -> new float[] {Float.NaN, 0f, -0f, Float.MIN_VALUE, Float.NEGATIVE_INFINITY, RANDOM.nextFloat(), -RANDOM.nextFloat()}[RANDOM.nextInt(7)]);
        KINDS.put("Double", i -> new double[] {Double.NaN, 0d, -0d, Double.MIN_VALUE, Double.POSITIVE_INFINITY, RANDOM.nextGaussian() * 1e300}[RANDOM.nextInt(6)]);
        KINDS.put("BigInteger", i -> BigInteger.valueOf(number()).multiply(BigInteger.valueOf(number())));
        KINDS.put("BigDecimal", i -> BigDecimal.valueOf(number(), RANDOM.nextInt(40) - 20));
        KINDS.put("UUID", i -> new UUID(number(), number()));
        KINDS.put("URI", i -> URI.create(uri()));
        KINDS.put("LocalDate", i -> date());
        KINDS.put("LocalTime", i -> time());
        KINDS.put("LocalDateTime", i -> LocalDateTime.of(date(), time()));
        KINDS.put("Instant", i -> RANDOM.nextInt(5) == 0 ? Instant.ofEpochSecond(of(-31557014167219200L, 31556889864403199L)) : Instant.ofEpochSecond(RANDOM.nextInt(3), RANDOM.nextInt(3)));
        KINDS.put("Duration", i -> Duration.ofSeconds(number(), RANDOM.nextInt(1_000_000_000)));
        KINDS.put("OffsetTime", i -> OffsetTime.of(time(), offset()));
        KINDS.put("OffsetDateTime", i -> OffsetDateTime.of(date(), time(), offset()));
        KINDS.put("ZonedDateTime", i -> ZonedDateTime.of(date(), time(), zone()));
        KINDS.put("Year", i -> Year.of((int) of(-999_999_999, -1, 0, 1, 1999, 2024, 999_999_999)));
        KINDS.put("YearMonth", i -> YearMonth.of((int) of(-1, 0, 1999, 2024), 1 + RANDOM.nextInt(12)));
        KINDS.put("MonthDay", i -> MonthDay.of(1 + RANDOM.nextInt(12), 1 + RANDOM.nextInt(29)));
        KINDS.put("ZoneOffset", i -> offset());
        KINDS.put("Date", i -> new Date(RANDOM.nextBoolean() ? number() : RANDOM.nextInt(10)));
        KINDS.put("sql.Date", i -> new java.sql.Date(RANDOM.nextInt(1_000_000)));
        KINDS.put("sql.Time", i -> new java.sql.Time(RANDOM.nextInt(1_000_000)));
        KINDS.put("some Date", i -> RANDOM.nextBoolean() ? new java.sql.Date(RANDOM.nextInt()) : new Date(RANDOM.nextInt()));
        KINDS.put("Timestamp", i -> { java.sql.Timestamp t = new java.sql.Timestamp(RANDOM.nextInt(3) * 1000); t.setNanos(RANDOM.nextInt(1_000_000_000)); return t; });
        KINDS.put("Calendar", i -> { Calendar c = new GregorianCalendar(TimeZone.getTimeZone(RANDOM.nextBoolean() ? "UTC" : "Europe/Berlin")); c.setTimeInMillis(RANDOM.nextInt()); return c; });
        KINDS.put("DayOfWeek", i -> DayOfWeek.of(1 + RANDOM.nextInt(7)));
        KINDS.put("TimeUnit", i -> java.util.concurrent.TimeUnit.values()[RANDOM.nextInt(7)]);
    }

    static void use(Object given) {
        if (given instanceof List) {
            for (Object each : (List<?>) given) use(each);
            return;
        }
        Collection<Object> elements = new ArrayList<>();
        Comparator<Object> order = null;
        if (given instanceof Map) {
            Map<Object, Object> read = (Map<Object, Object>) given;
            for (Map.Entry<Object, Object> each : read.entrySet()) if (!Objects.equals(read.get(each.getKey()), each.getValue()) || !read.containsKey(each.getKey())) throw new IllegalStateException("lost " + each.getKey());
            elements = read.keySet();
            order = (Comparator<Object>) ((SortedMap<Object, Object>) read).comparator();
        } else if (given instanceof SortedSet) {
            for (Object each : (SortedSet<Object>) given) if (!((SortedSet<Object>) given).contains(each)) throw new IllegalStateException("lost " + each);
            elements = (SortedSet<Object>) given;
            order = (Comparator<Object>) ((SortedSet<Object>) given).comparator();
        } else {
            PriorityQueue<Object> queue = (PriorityQueue<Object>) given;
            order = (Comparator<Object>) queue.comparator();
            while (!queue.isEmpty()) elements.add(queue.poll());
        }
        List<Object> sorted = new ArrayList<>(elements);
        sorted.sort(order);
        if (!sorted.equals(new ArrayList<>(elements))) throw new IllegalStateException("in the order " + elements);
    }

    public static void main(String[] arguments) throws Exception {
        Codec serialization = new SerializationCodec();
        if (arguments[0].equals("write")) {
            RANDOM.setSeed(Long.parseLong(arguments[1]));
            for (String name : KINDS.keySet()) {
                TreeSet<Object> made = new TreeSet<>();
                TreeSet<Object> opposite = new TreeSet<>(Collections.reverseOrder());
                for (int i = Integer.parseInt(arguments[2]); i > 0; i--) made.add(KINDS.get(name).apply(i));
                opposite.addAll(made);
                System.out.print(name);
                for (Object each : List.of(new ArrayList<>(made), made, opposite)) System.out.print("\t" + ByteBufUtil.hexDump(serialization.getValueEncoder().encode(each)));
                System.out.println();
            }
            TreeSet<Object> made = new TreeSet<>((Comparator<Object>) (Comparator<?>) String.CASE_INSENSITIVE_ORDER);
            for (int i = Integer.parseInt(arguments[2]); i > 0; i--) made.add(text(4, "abABzZ_[09 \u00e9\u00c9\u00ff\u0178\u0416\u0436\u03c3\u03c2\u6ce8"));
            System.out.print("caseless");
            for (Object each : List.of(new ArrayList<>(made), made, made)) System.out.print("\t" + ByteBufUtil.hexDump(serialization.getValueEncoder().encode(each)));
            System.out.println();
            System.out.print("ranks");
            for (Object each : List.of(ranked(new TreeMap<>()), ranked(new TreeMap<>(Collections.reverseOrder())), ranked(new ConcurrentSkipListMap<>()), new TreeSet<>(((Map<?, ?>) ranked(new TreeMap<>())).keySet()), Collections.unmodifiableSortedMap((SortedMap<?, ?>) ranked(new TreeMap<>())))) System.out.print("\t" + ByteBufUtil.hexDump(serialization.getValueEncoder().encode(each)));
            System.out.println();
            return;
        }
        Codec kryo = new Kryo5Codec();
        Scanner lines = new Scanner(System.in);
        while (lines.hasNext()) {
            Codec codec = lines.next().equals("Kryo5Codec") ? kryo : serialization;
            try {
                use(codec.getValueDecoder().decode(Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(lines.next())), null));
                System.out.println("found");
            } catch (Exception failure) {
                // One that failed may read the next ones wrong.
                kryo = new Kryo5Codec();
                System.out.println(failure.toString().replaceAll("\\s", " "));
            }
        }
    }
}
