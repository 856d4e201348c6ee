package mappers;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import java.math.*;
import java.util.*;
import java.util.concurrent.atomic.*;

/** Numbers of a mapper that writes some of their classes as texts, as Spring's serializerByType does. */
public class Numbers {
    public Long id;
    public long count;
    public Integer size;
    public Object any;
    public Number number;
    public Long[] ids;
    public long[] raw;
    public long[][] grid;
    public List<Long> list;
    public Map<String, Long> byName;
    public Map<Long, Long> byId;
    public Object[] mixed;
    public BigInteger big;
    public BigDecimal price;
    public AtomicLong atomic;
    public AtomicReference<Long> held;
    public Date at;

    static Numbers of(long value) {
        Numbers made = new Numbers();
        made.id = made.count = value;
        made.size = 5;
        made.any = value;
        made.number = value;
        made.ids = new Long[] {value, null, 1L};
        made.raw = new long[] {value, 2};
        made.grid = new long[][] {{value}, {}};
        made.list = new ArrayList<>(List.of(value, -1L));
        made.byName = new LinkedHashMap<>(Map.of("a", value));
        made.byId = new LinkedHashMap<>(Map.of(value, value));
        made.mixed = new Object[] {value, 1, new BigDecimal("1.50"), new BigInteger("7"), 2.5, (short) 3};
        made.big = BigInteger.valueOf(value).multiply(BigInteger.TEN);
        made.price = new BigDecimal("12.50").add(BigDecimal.valueOf(value));
        made.atomic = new AtomicLong(value);
        made.held = new AtomicReference<>(value);
        made.at = new Date(1_783_944_123_000L);
        return made;
    }

    static Map<String, Object> samples() {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("small", of(7));
        all.put("large", of(1_734_567_890_123_456_789L));
        all.put("negative", of(Long.MIN_VALUE));
        all.put("nothing", new Numbers());
        all.put("list", new ArrayList<>(List.of(1L, 2, new BigDecimal("0.10"), new BigInteger("5"))));
        all.put("map", new LinkedHashMap<>(Map.of("someKey", 5_000_000_000L)));
        all.put("array", new Long[] {1L, 5_000_000_000L});
        all.put("long", 5L);
        all.put("big", new BigInteger("5"));
        all.put("price", new BigDecimal("1.50"));
        return all;
    }

    @Override public String toString() {
        return "Numbers(" + id + " " + count + " " + size + " " + Driver.text(any) + " " + Driver.text(number) + " " + Arrays.toString(ids)
                + " " + Arrays.toString(raw) + " " + Arrays.deepToString(grid) + " " + list + " " + byName + " " + byId + " "
                + (mixed == null ? null : Driver.text(mixed)) + " " + big + " " + price + " " + atomic + " " + held + " "
                + (at == null ? null : at.getTime()) + ")";
    }

    /** "texts": of Longs. "texts_boxed": not of the primitive type. "texts_all": of larger numbers, too. */
    static ObjectMapper mapper(String setting) {
        SimpleModule module = new SimpleModule();
        module.addSerializer(Long.class, ToStringSerializer.instance);
        if (!setting.equals("texts_boxed")) module.addSerializer(Long.TYPE, ToStringSerializer.instance);
        if (setting.equals("texts_all")) {
            module.addSerializer(BigInteger.class, ToStringSerializer.instance);
            module.addSerializer(BigDecimal.class, ToStringSerializer.instance);
        }
        return new ObjectMapper().registerModule(module);
    }
}
