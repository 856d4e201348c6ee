package io.redissondq.interop;

import com.acme.Color;
import com.acme.Places;
import com.acme.Possibles;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.Set;
import org.redisson.client.codec.Codec;

/** Uses the fields of decoded objects as their types allow: a field that holds another class fails here. */
final class Uses {
    private Uses() {
    }

    /** For each item: the result of each field, by the field's name, or the error. */
    static JsonNode of(Codec codec, JsonNode items) {
        ArrayNode answers = Json.array();
        for (JsonNode item : items) {
            ObjectNode answer = answers.addObject();
            try {
                Object decoded = Codecs.decode(codec, HexFormat.of().parseHex(item.textValue()));
                if (decoded instanceof Possibles possibles) {
                    use(possibles, answer);
                } else {
                    use((Places) decoded, answer);
                }
            } catch (Exception | LinkageError e) {
                answer.put("error", String.valueOf(e));
            }
        }
        return answers;
    }

    private static void use(Places p, ObjectNode out) {
        if (p.amount != null) {
            out.put("amount", String.valueOf(p.amount.add(BigDecimal.ONE)));
        }
        if (p.amounts != null) {
            out.put("amounts", String.valueOf(p.amounts.stream().reduce(BigDecimal.ONE, BigDecimal::add)));
        }
        if (p.prices != null) {
            out.put("prices", String.valueOf(p.prices[0].add(p.prices[1])));
        }
        if (p.big != null) {
            out.put("big", String.valueOf(p.big.add(BigInteger.ONE)));
        }
        if (p.aLong != null) {
            out.put("aLong", String.valueOf(p.aLong + 1));
        }
        if (p.anInteger != null) {
            out.put("anInteger", String.valueOf(p.anInteger + 1));
        }
        if (p.aShort != null) {
            out.put("aShort", String.valueOf(p.aShort + 1));
        }
        if (p.aByte != null) {
            out.put("aByte", String.valueOf(p.aByte + 1));
        }
        if (p.aDouble != null) {
            out.put("aDouble", String.valueOf(p.aDouble + 1));
        }
        if (p.aFloat != null) {
            out.put("aFloat", String.valueOf(p.aFloat + 1));
        }
        if (p.aCharacter != null) {
            out.put("aCharacter", String.valueOf((char) (p.aCharacter + 1)));
        }
        if (p.text != null) {
            out.put("text", String.valueOf(p.text.concat("!")));
        }
        if (p.number != null) {
            out.put("number", String.valueOf(p.number.intValue() + 1));
        }
        if (p.chars != null) {
            out.put("chars", String.valueOf(p.chars.length()));
        }
        if (p.builder != null) {
            out.put("builder", String.valueOf(p.builder.append('!')));
        }
        if (p.integer != null) {
            out.put("integer", String.valueOf(p.integer.incrementAndGet()));
        }
        if (p.counter != null) {
            out.put("counter", String.valueOf(p.counter.incrementAndGet()));
        }
        if (p.flag != null) {
            out.put("flag", String.valueOf(p.flag.get() ? "yes" : "no"));
        }
        if (p.reference != null) {
            out.put("reference", String.valueOf(p.reference.get() + 1));
        }
        if (p.colors != null) {
            out.put("colors", String.valueOf(colors(p.colors)));
        }
        if (p.byColor != null) {
            out.put("byColor", String.valueOf(colors(p.byColor.keySet()) + sum(p.byColor.values())));
        }
        if (p.bits != null) {
            out.put("bits", String.valueOf(p.bits.nextSetBit(2) + p.bits.cardinality()));
        }
        if (p.date != null) {
            out.put("date", String.valueOf(p.date.getTime()));
        }
        if (p.dates != null) {
            out.put("dates", String.valueOf(p.dates.get(0).getTime()));
        }
        if (p.stamp != null) {
            out.put("stamp", String.valueOf(p.stamp.getNanos()));
        }
        if (p.instant != null) {
            out.put("instant", String.valueOf(p.instant.getEpochSecond()));
        }
        if (p.local != null) {
            out.put("local", String.valueOf(p.local.getMinute()));
        }
        if (p.offset != null) {
            out.put("offset", String.valueOf(p.offset.toInstant().getEpochSecond()));
        }
        if (p.zoned != null) {
            out.put("zoned", String.valueOf(p.zoned.toInstant().getEpochSecond()));
        }
        if (p.day != null) {
            out.put("day", String.valueOf(p.day.getDayOfMonth()));
        }
        if (p.time != null) {
            out.put("time", String.valueOf(p.time.getMinute()));
        }
        if (p.length != null) {
            out.put("length", String.valueOf(p.length.getSeconds()));
        }
        if (p.year != null) {
            out.put("year", String.valueOf(p.year.isLeap()));
        }
        if (p.zone != null) {
            out.put("zone", String.valueOf(p.zone.getId()));
        }
        if (p.charset != null) {
            out.put("charset", String.valueOf(p.charset.name()));
        }
        if (p.timeZone != null) {
            out.put("timeZone", String.valueOf(p.timeZone.getID()));
        }
        if (p.currency != null) {
            out.put("currency", String.valueOf(p.currency.getDefaultFractionDigits()));
        }
        if (p.uri != null) {
            out.put("uri", String.valueOf(p.uri.getScheme()));
        }
        if (p.url != null) {
            out.put("url", String.valueOf(p.url.getProtocol()));
        }
        if (p.pattern != null) {
            out.put("pattern", String.valueOf(p.pattern.matcher("aaa").matches()));
        }
        if (p.type != null) {
            out.put("type", String.valueOf(p.type.getSimpleName()));
        }
        if (p.longs != null) {
            out.put("longs", String.valueOf(sum(p.longs)));
        }
        if (p.arrayList != null) {
            out.put("arrayList", String.valueOf(grown(p.arrayList) + sum(p.arrayList)));
        }
        if (p.linked != null) {
            out.put("linked", String.valueOf(p.linked.getFirst() + sum(p.linked)));
        }
        if (p.vector != null) {
            out.put("vector", String.valueOf(p.vector.firstElement() + sum(p.vector)));
        }
        if (p.stack != null) {
            out.put("stack", String.valueOf(p.stack.peek() + sum(p.stack)));
        }
        if (p.copied != null) {
            out.put("copied", String.valueOf(p.copied.addIfAbsent(9L) ? sum(p.copied) : -1));
        }
        if (p.queue != null) {
            out.put("queue", String.valueOf(p.queue.peek() + sum(p.queue)));
        }
        if (p.deque != null) {
            out.put("deque", String.valueOf(p.deque.peekLast() + sum(p.deque)));
        }
        if (p.arrayDeque != null) {
            out.put("arrayDeque", String.valueOf(p.arrayDeque.peekLast() + sum(p.arrayDeque)));
        }
        if (p.priority != null) {
            out.put("priority", String.valueOf(p.priority.peek() + sum(p.priority)));
        }
        if (p.blocking != null) {
            out.put("blocking", String.valueOf(p.blocking.remainingCapacity() + sum(p.blocking)));
        }
        if (p.numbers != null) {
            out.put("numbers", String.valueOf(sum(p.numbers)));
        }
        if (p.hashSet != null) {
            out.put("hashSet", String.valueOf(p.hashSet.contains(1L) ? sum(p.hashSet) : -1));
        }
        if (p.linkedSet != null) {
            out.put("linkedSet", String.valueOf(p.linkedSet.contains(1L) ? sum(p.linkedSet) : -1));
        }
        if (p.treeSet != null) {
            out.put("treeSet", String.valueOf(p.treeSet.first() + (long) p.treeSet.ceiling(2L) * 10 + (p.treeSet.contains(3L) ? 100 : 0)));
        }
        if (p.sorted != null) {
            out.put("sorted", String.valueOf(p.sorted.first() + p.sorted.last() + p.sorted.contains("b")));
        }
        if (p.skipSet != null) {
            out.put("skipSet", String.valueOf(p.skipSet.first() + (long) p.skipSet.ceiling(2L) * 10));
        }
        if (p.hashMap != null) {
            out.put("hashMap", String.valueOf(p.hashMap.get("b") + sum(p.hashMap.values())));
        }
        if (p.map != null) {
            out.put("map", String.valueOf(sum(p.map.get("b"))));
        }
        if (p.byLong != null) {
            out.put("byLong", String.valueOf(p.byLong.get(2L)));
        }
        if (p.treeMap != null) {
            out.put("treeMap", String.valueOf(p.treeMap.firstKey() + p.treeMap.get("b") + p.treeMap.get("a")));
        }
        if (p.sortedMap != null) {
            out.put("sortedMap", String.valueOf(p.sortedMap.firstKey() + p.sortedMap.get("b") + p.sortedMap.get("a")));
        }
        if (p.concurrent != null) {
            out.put("concurrent", String.valueOf(p.concurrent.merge("b", 1L, Long::sum)));
        }
        if (p.skipMap != null) {
            out.put("skipMap", String.valueOf(p.skipMap.firstKey() + p.skipMap.get("b") + p.skipMap.get("a")));
        }
        if (p.hashtable != null) {
            out.put("hashtable", String.valueOf(p.hashtable.get("b") + sum(p.hashtable.values())));
        }
        if (p.properties != null) {
            out.put("properties", String.valueOf(p.properties.getProperty("b")));
        }
        if (p.range != null) {
            out.put("range", String.valueOf(p.range.high - p.range.low));
        }
        if (p.ranges != null) {
            out.put("ranges", String.valueOf(p.ranges.get(0).high.subtract(p.ranges.get(0).low)));
        }
        if (p.span != null) {
            out.put("span", String.valueOf(p.span.high - p.span.low));
        }
        if (p.shift != null) {
            out.put("shift", String.valueOf(sum(p.shift.hours()) + p.shift.id() + p.shift.pay().get(Color.RED).intValue()));
        }
        if (p.primitive != 0) {
            out.put("primitive", String.valueOf(p.primitive + 1));
        }
        if (p.array != null) {
            out.put("array", String.valueOf(p.array[0] + p.array[1]));
        }
        if (p.boxes != null) {
            out.put("boxes", String.valueOf(p.boxes[0] + p.boxes[1]));
        }
    }

    private static void use(Possibles p, ObjectNode out) {
        if (p.maybe != null && p.maybe.isPresent()) {
            out.put("maybe", String.valueOf(p.maybe.get() + 1));
        }
        if (p.maybeInt != null && p.maybeInt.isPresent()) {
            out.put("maybeInt", String.valueOf(p.maybeInt.getAsInt() + 1));
        }
        if (p.maybeLong != null && p.maybeLong.isPresent()) {
            out.put("maybeLong", String.valueOf(p.maybeLong.getAsLong() + 1));
        }
        if (p.maybeDouble != null && p.maybeDouble.isPresent()) {
            out.put("maybeDouble", String.valueOf(p.maybeDouble.getAsDouble() + 1));
        }
    }

    private static long sum(Collection<Long> numbers) {
        long sum = 0;
        for (Long number : numbers) {
            sum += number;
        }
        return sum;
    }

    private static int grown(ArrayList<Long> list) {
        list.ensureCapacity(100);
        return list.size();
    }

    private static String colors(Set<Color> colors) {
        StringBuilder names = new StringBuilder();
        for (Color color : colors) {
            names.append(color.ordinal());
        }
        return names.toString();
    }
}
