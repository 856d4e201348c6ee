"""The decoded Python value of each named sample of the Java peer.

The names are those of the peer's Samples; tests/vectors/types-*.jsonl has their bytes. A sample that is not here is
one that no codec reads, or that each reads as something else; the tests of the codecs say which.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from redisson_dq import java
from tests.unit.codecs import acme

__all__ = ["SAMPLES"]

UTC = timezone.utc
BERLIN = ZoneInfo("Europe/Berlin")
INDIA = timezone(timedelta(hours=5, minutes=30))
LEAP_DAY = datetime(2024, 2, 29, 12, 30, 15)
LEAP_INSTANT = LEAP_DAY.replace(tzinfo=UTC)
HELPERS = "java.util.Collections$"
REVERSE = java.Comparator.REVERSE_ORDER
CASELESS = java.Comparator.CASE_INSENSITIVE_ORDER
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ABC = {"b": 2, "a": 1, "c": 3}
SORTED = {"a": 1, "b": 2, "c": 3}
REVERSED = {"c": 3, "b": 2, "a": 1}

SAMPLES: dict[str, Any] = {}


def group(name: str, **samples: Any) -> None:
    """Names of samples with hyphens are written with underscores here."""
    SAMPLES.update({f"{name}/{key.replace('_', '-')}": value for key, value in samples.items()})


def _numbers() -> None:
    for number in (
        *(0, 1, -1, 23, 24, 63, 64, -64, -65, 127, 128, 255, 256, 32768, 65535, 65536, 134_217_727, 134_217_728),
        *(2**31 - 1, -(2**31)),
    ):
        SAMPLES[f"int/{number}"] = number
    for number in (
        *(0, 1, -1, 64, 128, -32, -33, -128, -129, 65535, 2**31, -(2**31), 2**31 - 1, 2**32, -(2**31) - 1),
        *(2**53, 2**53 + 1, 2**55, 2**62, 2**63 - 1, -(2**63)),
    ):
        SAMPLES[f"long/{number}"] = java.Long(number) if -(2**31) <= number < 2**31 else number
    for text in ("0.0", "-0.0", "1.0", "1.1", "1.0E10", "3.4E-5", "1.4E-45", "3.4028235E38"):
        SAMPLES[f"float/{text}"] = java.Float(float(text))
    for text in (
        *("0.0", "-0.0", "1.0", "1.1", "19.99", "100.0", "1.0E7", "1.0E-4", "1.0E21", "1.0E300"),
        *("3.141592653589793", "9.007199254740992E15", "4.9E-324", "1.7976931348623157E308"),
    ):
        SAMPLES[f"double/{text}"] = float(text)
    for text, value in (("NaN", "nan"), ("Infinity", "inf"), ("-Infinity", "-inf")):
        SAMPLES[f"float/{text}"], SAMPLES[f"double/{text}"] = java.Float(float(value)), float(value)
    for text in (
        *("0", "1", "10", "0.00", "-1.50", "19.99", "1E+3", "1E-10", "123456789.123456789123"),
        *("-170141183460469231731687303715884105728.5", "9223372036854775808", "1E+400"),
    ):
        SAMPLES[f"bigdecimal/{text}"] = Decimal(text)
    SAMPLES.update(
        {
            "biginteger/zero": java.BigInteger(0),
            "biginteger/small": java.BigInteger(-5),
            "biginteger/128": java.BigInteger(128),
            "biginteger/int": java.BigInteger(1_000_000),
            "biginteger/long": java.BigInteger(-(2**63)),
            "biginteger/beyond-long": 2**63,
            "biginteger/2-to-64": 2**64,
            "biginteger/minus-2-to-64": -(2**64),
            "biginteger/300-digits": 10**300 - 1,
            "short/200": java.Short(200),
        }
    )


_numbers()
group("byte", zero=java.Byte(0), max=java.Byte(127), min=java.Byte(-128))
group("short", zero=java.Short(0), max=java.Short(32767), min=java.Short(-32768))
group("null", null=None)
group("boolean", true=True, false=False)
group(
    "string",
    empty="",
    one="a",
    ascii="hello, world",
    ascii_63="x" * 63,
    ascii_64="x" * 64,
    latin="caf\u00e9",
    unicode="\u65e5\u672c\u8a9e \u20ac \u0416",
    surrogates="x\U0001f600y",
    lone_high="a\ud800b",
    lone_low="a\udc00b",
    swapped_surrogates="\udc00\ud800",
    controls="\u0000\u0001\b\t\n\f\r\u001b\u007f\u0085\u2028\ufeff",
    quotes="\"\\/'",
    class_name="java.util.ArrayList",
    number="12345",
)
group(
    "char",
    a=java.Character("a"),
    nul=java.Character("\0"),
    euro=java.Character("\u20ac"),
    surrogate=java.Character("\ud800"),
    last=java.Character("\uffff"),
)
group(
    "array",
    byte_empty=b"",
    byte=b"\x00\x01\xff\x7f\x80",
    byte_256=bytes(range(256)),
    boolean=java.BooleanArray([True, False, True]),
    short=java.ShortArray([0, -1, 32767]),
    char=java.CharArray(["a", "\u20ac", "\ud800"]),
    char_empty=java.CharArray(),
    int_empty=java.IntArray(),
    int=java.IntArray([0, 1, -1, 2**31 - 1, -(2**31)]),
    long=java.LongArray([0, -1, 2**63 - 1, -(2**63)]),
    float=java.FloatArray([0.0, -0.0, 1.5, float("nan")]),
    double=java.DoubleArray([0.0, -0.0, 1.5, float("inf")]),
    string_empty=java.StringArray(),
    string=java.StringArray(["a", "", None, "\u20ac"]),
    object_empty=java.ObjectArray(),
    object=java.ObjectArray([1, "a", None, java.Long(2), 1.5, True, java.IntArray([1]), ["x"]]),
    integer=java.Array("java.lang.Integer", [1, None, -1]),
    boxed_long=java.Array("java.lang.Long", [java.Long(1), None]),
    boxed_double=java.Array("java.lang.Double", [1.5, None]),
    number=java.Array("java.lang.Number", [1, java.Long(2), 1.5, None]),
    enum=java.Array("com.acme.Color", [acme.Color.RED, None, acme.Color.BLUE]),
    uuid=java.Array("java.util.UUID", [UUID(int=1), None]),
    int_2d=java.Array("[I", [java.IntArray([1, 2]), java.IntArray(), java.IntArray([3])]),
    int_2d_null=java.Array("[I", [java.IntArray([1]), None]),
    int_3d=java.Array("[[I", [java.Array("[I", [java.IntArray([1]), java.IntArray([2, 3])]), java.Array("[I")]),
    byte_2d=java.Array("[B", [b"\x01\x02", b""]),
    string_2d=java.Array(
        "[Ljava.lang.String;", [java.StringArray(["a", None]), java.StringArray(), java.StringArray(["b"])]
    ),
    object_2d=java.Array(
        "[Ljava.lang.Object;",
        [java.ObjectArray([1, "a"]), java.ObjectArray([None]), java.ObjectArray([java.ObjectArray([java.Long(2)])])],
    ),
    list=java.Array("java.util.List", [[1], None]),
    object_2d_in_object=java.ObjectArray([java.StringArray(["a"]), java.ObjectArray([java.LongArray([1])])]),
)
group("uuid", zero=UUID(int=0), random=UUID("123e4567-e89b-42d3-a456-426614174000"), all_ones=UUID(int=2**128 - 1))
group(
    "enum",
    plain=acme.Color.GREEN,
    with_body=acme.Planet.EARTH,
    without_body=acme.Planet.PLUTO,
    jdk=java.TimeUnit.SECONDS,
)
group(
    "net",
    uri=java.Uri("https://example.com:8443/a%20b?q=1#top"),
    url=java.Url("https://user@example.com:8443/path/file.html?q=1#ref"),
)
group(
    "locale",
    root=java.Locale(),
    language=java.Locale("de"),
    country=java.Locale("en", "US"),
    variant=java.Locale("es", "ES", "Traditional_WIN"),
    script=java.Locale("zh", "TW", script="Hant"),
    extension=java.Locale("th", "TH", extensions="u-nu-thai"),
)
group(
    "timezone",
    utc=java.TimeZone("UTC"),
    berlin=java.TimeZone("Europe/Berlin"),
    offset=java.TimeZone("GMT+05:30"),
)
group(
    "lang",
    currency=java.Currency("EUR"),
    charset_utf8=java.Charset("UTF-8"),
    charset_latin1=java.Charset("ISO-8859-1"),
    pattern=java.Pattern("a+b"),
    pattern_flags=java.Pattern("a.b", 2 | 32),
    class_=java.JavaClass("java.lang.String"),
    class_primitive=java.JavaClass("int"),
    class_array=java.JavaClass("[[I"),
    class_own=java.JavaClass("com.acme.Order"),
    class_void=java.JavaClass("void"),
    bitset_empty=java.BitSet(),
    bitset=java.BitSet({0, 2, 63, 64}),
    stringbuilder=java.StringBuilder("built \u20ac"),
    stringbuffer=java.StringBuffer("buffered"),
)
SAMPLES["lang/class"] = SAMPLES.pop("lang/class-")
ORDER = acme.Order(
    java.Long(1), "A-1", 19.99, ["new", "gift"], acme.Customer("Ann", acme.Address("Main St 1", "Springfield", 12345))
)
ADDRESS = acme.Address("Main St 1", "Springfield", 12345)
group(
    "optional",
    empty=java.Optional(),
    string=java.Optional("a"),
    long=java.Optional(java.Long(5)),
    order=java.Optional(ORDER),
    int_empty=java.OptionalInt(),
    int=java.OptionalInt(5),
    long_empty=java.OptionalLong(),
    primitive_long=java.OptionalLong(2**40),
    double_empty=java.OptionalDouble(),
    double=java.OptionalDouble(1.5),
)
group(
    "atomic",
    integer=java.AtomicInteger(5),
    long=java.AtomicLong(2**40),
    boolean=java.AtomicBoolean(True),
    reference=java.AtomicReference("a"),
    reference_null=java.AtomicReference(),
    reference_map=java.AtomicReference({"k": java.Long(1)}),
)
SAMPLES["array/order"] = java.Array("com.acme.Order", [ORDER, None])

# Times
MILLIS = datetime(2024, 2, 29, 12, 30, 15, 123000, tzinfo=UTC)
SAMPLES.update(
    {
        "date/epoch": java.JavaDate(EPOCH),
        "date/millis": java.JavaDate(MILLIS),
        "date/before-1970": java.JavaDate(EPOCH - timedelta(milliseconds=1)),
        "date/year-1": java.JavaDate(datetime(1, 1, 1, tzinfo=UTC)),
        "date/year-10000": java.FarTime("java.util.Date", (253_402_300_800_000,)),
        "date/min": java.FarTime("java.util.Date", (-(2**63),)),
        "date/sql-timestamp": java.Timestamp(MILLIS),
        "date/sql-timestamp-nanos": java.Timestamp(MILLIS + timedelta(microseconds=456), nanosecond=789),
        "date/sql-timestamp-before-1970": java.Timestamp(EPOCH - timedelta(microseconds=1000), nanosecond=1),
        "date/sql-date": java.SqlDate(datetime(2024, 2, 29, tzinfo=UTC)),
        "date/sql-time": java.SqlTime(datetime(1970, 1, 1, 12, 30, 15, tzinfo=UTC)),
        "calendar/utc": java.GregorianCalendar(MILLIS),
        "calendar/berlin": java.GregorianCalendar(MILLIS, "Europe/Berlin"),
        "instant/epoch": EPOCH,
        "instant/seconds": LEAP_INSTANT,
        "instant/millis": LEAP_INSTANT.replace(microsecond=120000),
        "instant/micros": LEAP_INSTANT.replace(microsecond=123456),
        "instant/nanos": java.Instant(LEAP_INSTANT.replace(microsecond=123456), nanosecond=789),
        "instant/before-1970": java.Instant(EPOCH - timedelta(seconds=1), nanosecond=1),
        "instant/year-10000": java.FarTime("java.time.Instant", (253_402_300_800, 0)),
        "instant/min": java.FarTime("java.time.Instant", (-31557014167219200, 0)),
        "instant/max": java.FarTime("java.time.Instant", (31556889864403199, 999_999_999)),
        "localdate/leap-day": date(2024, 2, 29),
        "localdate/year-1": date(1, 1, 1),
        "localdate/year-0": java.FarTime("java.time.LocalDate", (0, 12, 31)),
        "localdate/year-10000": java.FarTime("java.time.LocalDate", (10_000, 1, 1)),
        "localdate/min": java.FarTime("java.time.LocalDate", (-999_999_999, 1, 1)),
        "localdate/max": java.FarTime("java.time.LocalDate", (999_999_999, 12, 31)),
        "localtime/midnight": time(),
        "localtime/hour": time(13),
        "localtime/minute": time(13, 5),
        "localtime/second": time(13, 0, 7),
        "localtime/millis": time(13, 5, 7, 120_000),
        "localtime/nanos": java.LocalTime(0, nanosecond=1),
        "localtime/max": java.LocalTime(23, 59, 59, 999_999, nanosecond=999),
        "localdatetime/leap-day": LEAP_DAY,
        "localdatetime/midnight": datetime(2024, 2, 29),
        "localdatetime/micros": LEAP_DAY.replace(microsecond=123456),
        "localdatetime/nanos": java.LocalDateTime(LEAP_DAY.replace(microsecond=123456), nanosecond=789),
        "localdatetime/min": java.FarTime("java.time.LocalDateTime", (-999_999_999, 1, 1, 0, 0, 0, 0)),
        "localdatetime/max": java.FarTime("java.time.LocalDateTime", (999_999_999, 12, 31, 23, 59, 59, 999_999_999)),
        "calendarpart/year": java.Year(2024),
        "calendarpart/year-negative": java.Year(-44),
        "calendarpart/yearmonth": java.YearMonth(2024, 2),
        "calendarpart/yearmonth-far": java.YearMonth(-999_999_999, 12),
        "calendarpart/monthday": java.MonthDay(2, 29),
        "calendarpart/dayofweek": java.DayOfWeek.SUNDAY,
        "calendarpart/month": java.Month.FEBRUARY,
        "zone/region": java.ZoneId("Europe/Berlin"),
        "zone/region-utc": java.ZoneId("UTC"),
        "zone/region-prefixed": java.ZoneId("UTC+02:00"),
        "zone/offset-zero": java.ZoneOffset(0),
        "zone/offset-quarters": java.ZoneOffset(19800),
        "zone/offset-negative": java.ZoneOffset(-28800),
        "zone/offset-seconds": java.ZoneOffset(3601),
        "zone/offset-max": java.ZoneOffset(64800),
        "offsetdatetime/utc": java.OffsetDateTime(LEAP_INSTANT),
        "offsetdatetime/india": LEAP_DAY.replace(tzinfo=INDIA),
        "offsetdatetime/nanos": java.OffsetDateTime(
            LEAP_DAY.replace(microsecond=123456, tzinfo=timezone(timedelta(hours=-8))), nanosecond=789
        ),
        "offsetdatetime/odd-seconds": LEAP_DAY.replace(tzinfo=timezone(timedelta(seconds=3601))),
        "offsetdatetime/min": java.FarTime("java.time.OffsetDateTime", (-999_999_999, 1, 1, 0, 0, 0, 0, 64800)),
        "offsetdatetime/max": java.FarTime(
            "java.time.OffsetDateTime", (999_999_999, 12, 31, 23, 59, 59, 999_999_999, -64800)
        ),
        "offsettime/utc": time(12, 30, tzinfo=UTC),
        "offsettime/nanos": java.OffsetTime(time(12, 30, 15, 123456, INDIA), nanosecond=789),
        "offsettime/max": java.OffsetTime(time(23, 59, 59, 999_999, timezone(timedelta(hours=-18))), nanosecond=999),
        "zoneddatetime/berlin": LEAP_DAY.replace(tzinfo=BERLIN),
        "zoneddatetime/nanos": java.ZonedDateTime(LEAP_DAY.replace(microsecond=123456, tzinfo=BERLIN), nanosecond=789),
        "zoneddatetime/overlap-earlier": datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN),
        "zoneddatetime/overlap-later": datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN, fold=1),
        "zoneddatetime/region-utc": LEAP_DAY.replace(tzinfo=ZoneInfo("UTC")),
        "zoneddatetime/offset-utc": java.ZonedDateTime(LEAP_INSTANT, zone="Z"),
        "zoneddatetime/offset": java.ZonedDateTime(LEAP_DAY.replace(tzinfo=INDIA), zone="+05:30"),
        "zoneddatetime/far": java.FarTime("java.time.ZonedDateTime", (12_345, 1, 1, 0, 0, 0, 0, 3600, "Europe/Berlin")),
        "duration/zero": timedelta(),
        "duration/seconds": timedelta(seconds=90),
        "duration/millis": timedelta(milliseconds=1500),
        "duration/micros": timedelta(seconds=5, microseconds=123456),
        "duration/nanos": java.Duration(timedelta(), nanosecond=1),
        "duration/negative": timedelta(milliseconds=-1500),
        "duration/negative-nano": java.Duration(timedelta(microseconds=-1), nanosecond=999),
        "duration/min": java.FarTime("java.time.Duration", (-(2**63), 0)),
        "duration/max": java.FarTime("java.time.Duration", (2**63 - 1, 999_999_999)),
        "period/zero": java.Period(),
        "period/mixed": java.Period(1, 14, -3),
        "period/extreme": java.Period(-(2**31), 2**31 - 1, 0),
    }
)

# Collections
MIXED = [1, "a", None, java.Long(2), 1.5, True]
group(
    "list",
    arraylist_empty=[],
    arraylist_strings=["a", "b", "c"],
    arraylist_integers=[1, -1, 300],
    arraylist_longs=[java.Long(1), java.Long(-1)],
    arraylist_doubles=[1.5, -0.0],
    arraylist_mixed=MIXED,
    arraylist_nulls=[None, None],
    arraylist_string_and_null=["a", None],
    arraylist_nested=[[1, ["a"]], {"k": [java.Long(2)]}, []],
    arraylist_arrays=[b"\x01", java.IntArray([2]), java.StringArray(["a"])],
    arraylist_same_twice=[[1, 2], [1, 2]],
    arraylist_300=[7] * 300,
    linkedlist=java.LinkedList(MIXED),
    linkedlist_empty=java.LinkedList(),
    vector=java.Vector("abc"),
    stack=java.Stack("abc"),
    copyonwrite=java.CopyOnWriteArrayList("abc"),
    aslist=java.ArrayAsList("ab"),
    aslist_mixed=java.ArrayAsList([1, "a", None]),
    aslist_objects=java.ArrayAsList([1, "a"]),
    aslist_empty=java.ArrayAsList(),
)
group(
    "immutable",
    list_of_0=java.ListOf(),
    list_of_1=java.ListOf("a"),
    list_of_2=java.ListOf(["a", 1]),
    list_of_3=java.ListOf("abc"),
    list_of_12=java.ListOf(range(1, 13)),
    list_copyof=java.ListOf("abc"),
    list_sublist=java.ListOf([2, 3]),
    stream_tolist=java.ListOf("abc"),
    stream_tolist_null=java.ListOf(MIXED),
    set_of_0=java.SetOf(),
    set_of_1=java.SetOf("a"),
    set_of_2=java.SetOf("ab"),
    set_of_3=java.SetOf("abc"),
    map_of_0=java.MapOf(),
    map_of_1=java.MapOf({"a": 1}),
    map_of_2=java.MapOf({"a": 1, "b": 2}),
    map_of_3=java.MapOf({"a": 1, "b": 2, "c": 3}),
    simple_entry=java.SimpleEntry("a", 1),
    simple_immutable_entry=java.SimpleImmutableEntry("a", 1),
    empty_list=java.EmptyList(),
    empty_set=java.EmptySet(),
    empty_map=java.EmptyMap(),
    singleton_list=java.SingletonList(["a"]),
    singleton_list_null=java.SingletonList([None]),
    singleton_set=java.SingletonSet(["a"]),
    singleton_map=java.SingletonMap({"a": java.Long(1)}),
    empty_sorted_set=java.SetView(f"{HELPERS}UnmodifiableNavigableSet$EmptyNavigableSet", java.TreeSet()),
    empty_sorted_map=java.MapView(f"{HELPERS}UnmodifiableNavigableMap$EmptyNavigableMap", java.TreeMap()),
    reverse_order=REVERSE,
    natural_order=java.Comparator.NATURAL_ORDER,
    case_insensitive_order=CASELESS,
)
group(
    "queue",
    arraydeque=java.ArrayDeque("abc"),
    arraydeque_empty=java.ArrayDeque(),
    priority=java.PriorityQueue([1, 3, 2]),
    priority_empty=java.PriorityQueue(),
    priority_reverse=java.PriorityQueue([3, 1, 2], REVERSE),
    concurrent=java.ConcurrentLinkedQueue("abc"),
    concurrent_deque=java.ConcurrentLinkedDeque("abc"),
    linked_blocking=java.LinkedBlockingQueue("abc"),
    linked_blocking_bounded=java.LinkedBlockingQueue("abc"),
    linked_blocking_deque=java.LinkedBlockingDeque("abc"),
    priority_blocking=java.PriorityBlockingQueue("abc"),
)
group(
    "set",
    hashset_empty=set(),
    hashset={"a", "b", "c"},
    hashset_20=set(range(20)),
    hashset_mixed=java.Elements("java.util.HashSet", [None, 1, "a", java.Long(2), 1.5, True]),
    hashset_lists=java.Elements("java.util.HashSet", [[1], [2]]),
    hashset_1_and_1L=java.Elements("java.util.HashSet", [1, java.Long(1)]),
    linkedhashset=java.LinkedHashSet("cab"),
    linkedhashset_empty=java.LinkedHashSet(),
    treeset=java.TreeSet("abc"),
    treeset_empty=java.TreeSet(),
    treeset_reverse=java.TreeSet("cba", REVERSE),
    treeset_case_insensitive=java.TreeSet("Ab", CASELESS),
    skiplist=java.ConcurrentSkipListSet("abc"),
    skiplist_reverse=java.ConcurrentSkipListSet("cba", REVERSE),
    copyonwrite=java.CopyOnWriteArraySet("abc"),
    concurrent=java.ConcurrentHashSet("abc"),
)
group(
    "enumset",
    empty=java.EnumSet(acme.Color),
    some=java.EnumSet(acme.Color, [acme.Color.RED, acme.Color.BLUE]),
    all=java.EnumSet(acme.Color, acme.Color),
    with_bodies=java.EnumSet(acme.Planet, [acme.Planet.EARTH, acme.Planet.PLUTO]),
    with_bodies_empty=java.EnumSet(acme.Planet),
    large=java.EnumSet(acme.Letter, [acme.Letter[f"L{n:02d}"] for n in (0, 63, 64, 69)]),
    large_empty=java.EnumSet(acme.Letter),
)
group(
    "enummap",
    empty=java.EnumMap(acme.Color),
    some=java.EnumMap(acme.Color, {acme.Color.RED: None, acme.Color.BLUE: java.Long(1)}),
    with_bodies=java.EnumMap(acme.Planet, {acme.Planet.EARTH: "e"}),
)
group(
    "map",
    linked_empty={},
    linked_mixed={"a": 1, "b": "x", "c": java.Long(2), "d": None, "e": [1], "f": {"g": 1.5}},
    linked_same_class={"b": 1, "a": 2},
    linked_dollar={"$": 1, "@class": "x", "": 2},
    linked_null_key={None: 1},
    access_order=ABC,
    hash=java.HashMap(ABC),
    hash_empty=java.HashMap(),
    hash_null_key=java.HashMap({None: "n", "a": None}),
    hash_20=java.HashMap({f"key-{n}": n for n in range(20)}),
    capacity=java.HashMap(ABC),
    tree=java.TreeMap(SORTED),
    tree_empty=java.TreeMap(),
    tree_reverse=java.TreeMap(REVERSED, REVERSE),
    tree_case_insensitive=java.TreeMap(SORTED, CASELESS),
    hashtable=java.Hashtable(ABC),
    concurrent=java.ConcurrentHashMap(ABC),
    skiplist=java.ConcurrentSkipListMap(SORTED),
    skiplist_reverse=java.ConcurrentSkipListMap(REVERSED, REVERSE),
    weak=java.WeakHashMap(ABC),
    identity=java.IdentityHashMap({"a": 1}),
    properties=java.Properties({"host": "localhost"}),
)
group(
    "keys",
    integer={1: "a", -1: "b"},
    long={java.Long(1): "a", 2**40: "b"},
    integer_and_long=java.Entries("java.util.LinkedHashMap", [(1, "a"), (java.Long(1), "b")]),
    boolean={True: 1, False: 0},
    double={1.5: "a"},
    uuid={UUID(int=1): "a"},
    date={java.JavaDate(EPOCH): "a"},
    enum={acme.Color.RED: "a", acme.Color.BLUE: "b"},
    enum_hash=java.HashMap({acme.Color.RED: "a", acme.Color.BLUE: "b", acme.Color.GREEN: "c"}),
    enum_with_body={acme.Planet.EARTH: "a"},
    record={acme.Point(1, 2): "a"},
    object={ADDRESS: "a"},
    list=java.Entries("java.util.LinkedHashMap", [([1, 2], "a")]),
    byte_array={b"\x01": "a"},
    character={java.Character("c"): "a"},
    bigdecimal={Decimal("1.50"): "a"},
    local_date={date(2024, 2, 29): "a"},
    tree_integer=java.TreeMap({1: "a", 2: "b"}),
    tree_long=java.TreeMap({java.Long(1): "a", java.Long(2): "b"}),
)
SAMPLES["keys/class"] = {java.JavaClass("java.lang.String"): "a"}


def _views(prefix: str) -> None:
    mixed, abc, linked = ["a", 1], java.LinkedList("abc"), java.LinkedHashSet("abc")
    tree, sorted_set = java.TreeMap(SORTED), java.TreeSet("abc")
    kinds = {
        "collection": java.ListView(f"{HELPERS}{prefix}Collection", mixed),
        "list": java.ListView(f"{HELPERS}{prefix}RandomAccessList", mixed),
        "list-linked": java.ListView(f"{HELPERS}{prefix}List", abc),
        "set": java.SetView(f"{HELPERS}{prefix}Set", linked),
        "map": java.MapView(f"{HELPERS}{prefix}Map", {"a": 1}),
        "sorted-set": java.SetView(f"{HELPERS}{prefix}SortedSet", sorted_set),
        "sorted-map": java.MapView(f"{HELPERS}{prefix}SortedMap", tree),
        "navigable-set": java.SetView(f"{HELPERS}{prefix}NavigableSet", sorted_set),
        "navigable-map": java.MapView(f"{HELPERS}{prefix}NavigableMap", tree),
    }
    SAMPLES.update({f"{prefix.lower()}/{name}": value for name, value in kinds.items()})


def _checked() -> None:
    text, number = "java.lang.String", "java.lang.Integer"
    queue, linked = java.ArrayDeque("abc"), java.LinkedHashSet("abc")
    tree, sorted_set = java.TreeMap(SORTED), java.TreeSet("abc")
    kinds = {
        "collection": java.ListView(f"{HELPERS}CheckedCollection", ["a"], (text,)),
        "list": java.ListView(f"{HELPERS}CheckedRandomAccessList", ["a"], (text,)),
        "queue": java.ListView(f"{HELPERS}CheckedQueue", queue, (text,)),
        "set": java.SetView(f"{HELPERS}CheckedSet", linked, (text,)),
        "map": java.MapView(f"{HELPERS}CheckedMap", ABC, (text, number)),
        "sorted-set": java.SetView(f"{HELPERS}CheckedSortedSet", sorted_set, (text,)),
        "sorted-map": java.MapView(f"{HELPERS}CheckedSortedMap", tree, (text, number)),
        "navigable-set": java.SetView(f"{HELPERS}CheckedNavigableSet", sorted_set, (text,)),
        "navigable-map": java.MapView(f"{HELPERS}CheckedNavigableMap", tree, (text, number)),
    }
    SAMPLES.update({f"checked/{name}": value for name, value in kinds.items()})


_checked()
_views("Unmodifiable")
_views("Synchronized")
SAMPLES["unmodifiable/map-hash"] = java.unmodifiable(java.HashMap({"a": 1}))
SAMPLES["unmodifiable/list-twice"] = [java.unmodifiable([1]), java.unmodifiable([2])]

# Objects


def _stock(anything: Any, following: acme.Stock | None) -> acme.Stock:
    counts: dict[str, Any] = {"a": java.Long(1), "b": 2**40}
    return acme.Stock(counts, acme.Color.GREEN, b"\x00\xff", java.IntArray([1, -1]), anything, following)


BOB = acme.VipCustomer("Bob", ADDRESS, 3, "north", 0.25)
group(
    "object",
    order=ORDER,
    order_nulls=acme.Order(),
    order_immutable_tags=acme.Order(java.Long(5), "B", -0.0, java.ListOf("xy"), None),
    order_aslist_tags=acme.Order(java.Long(5), "B", 1e10, java.ArrayAsList(["x", None]), None),  # type: ignore[list-item]
    order_vip=acme.Order(cast(Any, 2**40), "", 0.0, [], BOB),
    address=ADDRESS,
    customer=acme.Customer("Ann", None),
    vip_customer=acme.VipCustomer("Bob", ADDRESS, 3, None, None),
    primitives=acme.Primitives(True, -1, 300, "\u20ac", 1 << 20, 1 << 40, float(java.Float(1.1)), 1.1),
    primitives_zero=acme.Primitives(),
    boxed=acme.Boxed(
        True,
        java.Byte(-1),
        java.Short(300),
        java.Character("c"),
        1 << 20,
        java.Long(5),
        java.Float(1.1),
        1.1,
        1 << 70,
        Decimal("1.50"),
        "text",
    ),
    boxed_nulls=acme.Boxed(),
    circle=acme.Circle(1.5),
    square=acme.Square(2),
    drawing=acme.Drawing(
        acme.Square(9),
        acme.Circle(0.5),
        [acme.Circle(1.0), acme.Square(2), None],
        {"c": acme.Circle(3.0), "n": None},
        java.Array("com.acme.Shape", [acme.Square(4), None, acme.Circle(5.0)]),
    ),
    drawing_nulls=acme.Drawing(),
    box_string=acme.Box("a"),
    box_long=acme.Box(java.Long(5)),
    box_null=acme.Box(),
    box_order=acme.Box(ORDER),
    box_list=acme.Box([1, "a"]),
    box_box=acme.Box(acme.Box(1)),
    string_box=acme.StringBox("a", 2),
    crate=acme.Crate("a", 1, ["b", "c"]),
    dock=acme.Dock(acme.Crate("a", 1, ["b", "c"]), [acme.Crate(2, "k", [3]), acme.Crate()], acme.Box("d")),
    shelf=acme.Shelf(acme.Box("a"), acme.Box(1), [acme.Box("b"), acme.Box()], acme.Box([1, 2])),
    inner=acme.Inner("a", acme.Inner("b", None)),
    modifiers=acme.Modifiers("fixed", 5, "open", "sheltered", "local"),
    loose=acme.Loose(
        ORDER,
        java.Long(5),
        "chars",
        7,
        UUID("123e4567-e89b-42d3-a456-426614174000"),
        [1, "a"],
        acme.Color.BLUE,
        acme.Planet.EARTH,
    ),
    loose_others=acme.Loose(
        [1],
        Decimal("2.5"),
        java.StringBuilder("built"),
        "c",
        java.IntArray([1, 2]),
        java.LinkedHashSet("x"),
        None,
        acme.Planet.PLUTO,
    ),
    loose_nulls=acme.Loose(),
    arrays=acme.Arrays(
        b"\x01\xff",
        java.IntArray([1, -1]),
        java.LongArray([1 << 40]),
        java.DoubleArray([1.5]),
        java.CharArray("a"),
        java.BooleanArray([True]),
        java.StringArray(["a", None]),
        java.Array("java.lang.Integer", [1, None]),  # type: ignore[list-item]
        java.ObjectArray([1, "a", None]),
        java.Array("com.acme.Point", [acme.Point(1, 2), None]),  # type: ignore[list-item]
        java.Array("com.acme.Order", [ORDER]),
        java.Array("[I", [java.IntArray([1]), java.IntArray()]),
        java.Array("com.acme.Color", [acme.Color.RED]),
    ),
    arrays_nulls=acme.Arrays(),
    collected=acme.Collected(
        [1, 2],
        ["a", None],
        java.LinkedList([java.Long(1)]),
        java.LinkedHashSet([UUID(int=1)]),  # type: ignore[arg-type]
        [1, "a", None],
        {"a": java.Long(1)},
        java.TreeMap({"a": 1, "b": 2}),
        {acme.Color.RED: [ORDER]},
        {1: "a"},
        [["a"], []],
        [acme.Customer("Ann", None), acme.VipCustomer("Bob", None, 1, "z", 0.5)],
    ),
    collected_nulls=acme.Collected(),
    dates=acme.Dates(
        java.JavaDate(MILLIS),
        java.Instant(MILLIS + timedelta(microseconds=456), nanosecond=789),
        date(2024, 2, 29),
        datetime(2024, 2, 29, 12, 30, tzinfo=BERLIN),  # type: ignore[arg-type]
        timedelta(milliseconds=1500),
        UUID(int=1),
    ),
    dates_nulls=acme.Dates(),
    invoice=acme.Invoice(
        UUID(int=1),
        Decimal("99.90"),
        java.BigInteger(7),
        java.Currency("EUR"),
        java.Locale("en", "US"),
        java.JavaDate(EPOCH),
        acme.Color.GREEN,
    ),
    maybe=acme.Maybe(java.Optional("a")),
    reseller=acme.Reseller("inherited", None, "own"),
    money=acme.Money(1_999, "EUR"),
    sealed=acme.Sealed("label"),
    ticket=acme.Ticket(7, "Help", "private"),
    stock=_stock("text", _stock(java.Long(5), _stock(1.5, _stock(True, _stock(None, None))))),
    account=acme.Account("ann", 5_000_000_000, True, "https://example.com"),
    empty=acme.Empty(),
)
group(
    "record",
    point=acme.Point(1, -2),
    line=acme.Line(acme.Point(0, 0), acme.Point(3, 4), "diagonal"),
    line_nulls=acme.Line(None, acme.Point(1, 1), None),
    parcel=acme.Parcel(
        1,
        java.Long(2),
        "label",
        2.5,
        True,
        acme.Color.BLUE,
        [acme.Point(1, 2)],
        {"a": 1},
        java.IntArray([1, 2]),
        java.Long(5),
    ),
    parcel_nulls=acme.Parcel(0, None, None, 0.0, False, None, None, None, None, None),
)
ANN = acme.Customer("Ann", ADDRESS)
group(
    "objects",
    array=java.ObjectArray([ORDER, acme.Point(1, 2), acme.Color.RED, None]),
    list=[ORDER, acme.Order(java.Long(2), "A-2", 19.99, ["new", "gift"], ANN)],
    list_points=[acme.Point(1, 2), acme.Point(3, 4)],
    list_mixed=[acme.Circle(1.0), acme.Square(2), acme.Planet.EARTH, None],
    map={"first": ORDER, "second": acme.Line(None, None, "x")},
    map_by_color={acme.Color.RED: [ORDER]},
    shared=[ANN, ANN, acme.Box(ANN)],
    equal_strings=["same", "same", "same"],
    shared_date=[java.JavaDate(EPOCH), java.JavaDate(EPOCH), {"at": java.JavaDate(EPOCH)}],
)

# Exceptions
TRACE = (
    java.StackTraceElement("com.acme.Shop", "buy", "Shop.java", 42),
    java.StackTraceElement("com.acme.Main", "main", None, -2),
)


def _thrown(java_name: str, message: str | None = None, **parts: Any) -> java.Throwable:
    return java.Throwable(java_name, message, **{"stack_trace": TRACE, **parts})


FAILED = java.ThrowableClass("com.acme.OrderFailed", 1, (("attempts", "int"), ("orderId", "java.lang.String")))
group(
    "exception",
    runtime=_thrown("java.lang.RuntimeException", "message"),
    no_message=_thrown("java.lang.IllegalArgumentException"),
    no_trace=_thrown("java.lang.RuntimeException", "bare", stack_trace=()),
    cause_and_suppressed=_thrown(
        "java.lang.RuntimeException",
        "outer",
        cause=_thrown("java.io.IOException", "inner"),
        suppressed=[_thrown("java.lang.IllegalStateException", "aside")],
    ),
    own=_thrown(
        "com.acme.OrderFailed",
        "no stock",
        cause=_thrown("java.io.IOException", "inner"),
        fields={"attempts": 3, "orderId": "A-1"},
        described=FAILED,
    ),
    own_in_list=[
        _thrown("com.acme.OrderFailed", "no stock", fields={"attempts": 3, "orderId": "A-1"}, described=FAILED),
        1,
    ],
    error=_thrown("java.lang.StackOverflowError", "deep"),
    stack_trace_element=TRACE[0],
)
