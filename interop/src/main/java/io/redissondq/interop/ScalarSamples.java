package io.redissondq.interop;

import com.acme.Color;
import com.acme.Order;
import com.acme.Planet;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Currency;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

/** Texts, numbers, arrays, and the small value classes of java.lang, java.net and java.util. */
final class ScalarSamples {
    private ScalarSamples() {
    }

    static void define() {
        strings();
        numbers();
        arrays();
        values();
    }

    private static void strings() {
        Samples.group("null").add("null", null);
        Samples.group("string")
                .add("empty", "")
                .add("one", "a")
                .add("ascii", "hello, world")
                .add("ascii-63", "x".repeat(63))
                .add("ascii-64", "x".repeat(64))
                .add("latin", "caf\u00e9")
                .add("unicode", "\u65e5\u672c\u8a9e \u20ac \u0416")
                .add("surrogates", "x\ud83d\ude00y")
                .add("lone-high", "a\ud800b")
                .add("lone-low", "a\udc00b")
                .add("swapped-surrogates", "\udc00\ud800")
                .add("controls", "\u0000\u0001\b\t\n\f\r\u001b\u007f\u0085\u2028\ufeff")
                .add("quotes", "\"\\/'")
                .add("class-name", "java.util.ArrayList")
                .add("number", "12345")
                .add("ascii-65536", "0123456789abcdef".repeat(4096))
                .add("ascii-100k", "0123456789".repeat(10_000))
                .add("unicode-100k", "\u20ac\u00e9\ud83d\ude00z".repeat(10_000));
        Samples.group("boolean").add("true", true).add("false", false);
        Samples.group("char")
                .add("a", 'a')
                .add("nul", '\u0000')
                .add("euro", '\u20ac')
                .add("surrogate", '\ud800')
                .add("last", '\uffff');
    }

    private static void numbers() {
        Samples.group("byte").add("zero", (byte) 0).add("max", Byte.MAX_VALUE).add("min", Byte.MIN_VALUE);
        Samples.group("short")
                .add("zero", (short) 0)
                .add("200", (short) 200)
                .add("max", Short.MAX_VALUE)
                .add("min", Short.MIN_VALUE);
        Samples.Group ints = Samples.group("int");
        for (int number : new int[] {0, 1, -1, 23, 24, 63, 64, -64, -65, 127, 128, 255, 256, 32768, 65535, 65536,
            134_217_727, 134_217_728, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            ints.add(Integer.toString(number), number);
        }
        Samples.Group longs = Samples.group("long");
        for (long number : new long[] {0, 1, -1, 64, 128, -32, -33, -128, -129, 65535, (1L << 31) - 1,
            1L << 31, 1L << 32, -(1L << 31), -(1L << 31) - 1, 1L << 53, (1L << 53) + 1, 1L << 55, 1L << 62,
            Long.MAX_VALUE, Long.MIN_VALUE}) {
            longs.add(Long.toString(number), number);
        }
        Samples.Group floats = Samples.group("float");
        for (float number : new float[] {0f, -0f, 1f, 1.1f, 1e10f, 3.4e-5f, Float.MIN_VALUE, Float.MAX_VALUE, Float.NaN,
            Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
            floats.add(Float.toString(number), number);
        }
        Samples.Group doubles = Samples.group("double");
        for (double number : new double[] {0d, -0d, 1d, 1.1d, 19.99d, 100d, 1e7, 1e-4, 1e21, 1e300, Math.PI,
            9007199254740993d, Double.MIN_VALUE, Double.MAX_VALUE, Double.NaN, Double.POSITIVE_INFINITY,
            Double.NEGATIVE_INFINITY}) {
            doubles.add(Double.toString(number), number);
        }
        Samples.group("biginteger")
                .add("zero", BigInteger.ZERO)
                .add("small", BigInteger.valueOf(-5))
                .add("128", BigInteger.valueOf(128))
                .add("int", BigInteger.valueOf(1_000_000))
                .add("long", BigInteger.valueOf(Long.MIN_VALUE))
                .add("beyond-long", BigInteger.ONE.shiftLeft(63))
                .add("2-to-64", BigInteger.ONE.shiftLeft(64))
                .add("minus-2-to-64", BigInteger.ONE.shiftLeft(64).negate())
                .add("300-digits", BigInteger.TEN.pow(300).subtract(BigInteger.ONE));
        Samples.Group decimals = Samples.group("bigdecimal");
        for (String number : List.of("0", "1", "10", "0.00", "-1.50", "19.99", "1E+3", "1E-10",
                "123456789.123456789123", "-170141183460469231731687303715884105728.5", "9223372036854775808",
                "1E+400")) {
            decimals.add(number, new BigDecimal(number));
        }
    }

    private static void arrays() {
        byte[] every = new byte[256];
        for (int i = 0; i < every.length; i++) {
            every[i] = (byte) i;
        }
        Samples.group("array")
                .add("byte-empty", new byte[0])
                .add("byte", new byte[] {0, 1, -1, 127, -128})
                .add("byte-256", every)
                .add("byte-100k", new byte[100_000])
                .add("byte-random-100k", random(100_000))
                .add("boolean", new boolean[] {true, false, true})
                .add("short", new short[] {0, -1, Short.MAX_VALUE})
                .add("char", new char[] {'a', '\u20ac', '\ud800'})
                .add("char-empty", new char[0])
                .add("int-empty", new int[0])
                .add("int", new int[] {0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE})
                .add("long", new long[] {0, -1, Long.MAX_VALUE, Long.MIN_VALUE})
                .add("float", new float[] {0f, -0f, 1.5f, Float.NaN})
                .add("double", new double[] {0d, -0d, 1.5d, Double.POSITIVE_INFINITY})
                .add("string-empty", new String[0])
                .add("string", new String[] {"a", "", null, "\u20ac"})
                .add("object-empty", new Object[0])
                .add("object", new Object[] {1, "a", null, 2L, 1.5, true, new int[] {1}, new ArrayList<>(List.of("x"))})
                .add("integer", new Integer[] {1, null, -1})
                .add("boxed-long", new Long[] {1L, null})
                .add("boxed-double", new Double[] {1.5, null})
                .add("number", new Number[] {1, 2L, 1.5, null})
                .add("enum", new Color[] {Color.RED, null, Color.BLUE})
                .add("uuid", new UUID[] {new UUID(0, 1), null})
                .add("int-2d", new int[][] {{1, 2}, {}, {3}})
                .add("int-2d-null", new int[][] {{1}, null})
                .add("int-3d", new int[][][] {{{1}, {2, 3}}, {}})
                .add("byte-2d", new byte[][] {{1, 2}, {}})
                .add("string-2d", new String[][] {{"a", null}, {}, {"b"}})
                .add("object-2d", new Object[][] {{1, "a"}, {null}, {new Object[] {2L}}})
                .add("list", new List<?>[] {new ArrayList<>(List.of(1)), null})
                .add("order", new Order[] {ObjectSamples.order(1), null})
                .add("object-2d-in-object", new Object[] {new String[] {"a"}, new Object[] {new long[] {1}}});
    }

    private static void values() {
        Samples.group("uuid")
                .add("zero", new UUID(0, 0))
                .add("random", UUID.fromString("123e4567-e89b-42d3-a456-426614174000"))
                .add("all-ones", new UUID(-1, -1));
        Samples.group("enum")
                .add("plain", Color.GREEN)
                .add("with-body", Planet.EARTH)
                .add("without-body", Planet.PLUTO)
                .add("jdk", TimeUnit.SECONDS);
        Samples.group("net").add("uri", URI.create("https://example.com:8443/a%20b?q=1#top")).add("url", url());
        Samples.group("locale")
                .add("root", Locale.ROOT)
                .add("language", Locale.GERMAN)
                .add("country", Locale.US)
                .add("variant", new Locale("es", "ES", "Traditional_WIN"))
                .add("script", Locale.forLanguageTag("zh-Hant-TW"))
                .add("extension", Locale.forLanguageTag("th-TH-u-nu-thai"));
        Samples.group("lang")
                .add("currency", Currency.getInstance("EUR"))
                .add("charset-utf8", StandardCharsets.UTF_8)
                .add("charset-latin1", StandardCharsets.ISO_8859_1)
                .add("pattern", Pattern.compile("a+b"))
                .add("pattern-flags", Pattern.compile("a.b", Pattern.CASE_INSENSITIVE | Pattern.DOTALL))
                .add("class", String.class)
                .add("class-primitive", int.class)
                .add("class-array", int[][].class)
                .add("class-own", Order.class)
                .add("class-void", void.class)
                .add("bitset-empty", new BitSet())
                .add("bitset", BitSet.valueOf(new long[] {0x8000_0000_0000_0005L, 1L}))
                .add("stringbuilder", new StringBuilder("built \u20ac"))
                .add("stringbuffer", new StringBuffer("buffered"))
                .add("object", new Object());
        Samples.group("optional")
                .add("empty", Optional.empty())
                .add("string", Optional.of("a"))
                .add("long", Optional.of(5L))
                .add("order", Optional.of(ObjectSamples.order(1)))
                .add("int-empty", OptionalInt.empty())
                .add("int", OptionalInt.of(5))
                .add("long-empty", OptionalLong.empty())
                .add("primitive-long", OptionalLong.of(1L << 40))
                .add("double-empty", OptionalDouble.empty())
                .add("double", OptionalDouble.of(1.5));
        Samples.group("atomic")
                .add("integer", new AtomicInteger(5))
                .add("long", new AtomicLong(1L << 40))
                .add("boolean", new AtomicBoolean(true))
                .add("reference", new AtomicReference<>("a"))
                .add("reference-null", new AtomicReference<>())
                .add("reference-map", new AtomicReference<>(new LinkedHashMap<>(Map.of("k", 1L))));
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(1).nextBytes(bytes);
        return bytes;
    }

    private static URL url() {
        try {
            return new URL("https://user@example.com:8443/path/file.html?q=1#ref");
        } catch (MalformedURLException e) {
            throw new IllegalStateException(e);
        }
    }
}
