"""Plain Python values in fields of the JDK's types: a live JVM reads them, and uses each field as its type allows."""

# mypy: disable-error-code="arg-type, list-item, dict-item"

from __future__ import annotations

import datetime as dt
import itertools
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated as J
from typing import Any, Generic, TypeVar

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    CborJacksonCodec,
    Codec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    MsgPackJacksonCodec,
    ProtobufCodec,
    SerializationCodec,
)
from redisson_dq.errors import EncodeError
from redisson_dq.java import JavaType as T
from redisson_dq.java import hierarchy, java_class
from tests.interop.sides import recoded
from tests.peer import VERSIONS, JavaPeer
from tests.unit.codecs.acme import Color
from tests.versions import NEWEST

N = TypeVar("N")


@java_class("com.acme.Range", serial_version_uid=1)
@attrs.define
class Range(Generic[N]):
    low: N
    high: N


@java_class("com.acme.Shift", record=True)
@attrs.define
class Shift:
    hours: list[java.Long]
    id: java.Long
    pay: dict[Color, Decimal]


@java_class("com.acme.Places", serial_version_uid=1)
@attrs.define(kw_only=True)
class Places:
    amount: Decimal | None = None
    amounts: list[Decimal] | None = None
    prices: java.Array[Decimal] | None = None
    big: java.BigInteger | None = None
    aLong: java.Long | None = None
    anInteger: java.Integer | None = None
    aShort: java.Short | None = None
    aByte: java.Byte | None = None
    aDouble: java.Double | None = None
    aFloat: java.Float | None = None
    aCharacter: java.Character | None = None
    text: str | None = None
    number: J[Any, T("java.lang.Number")] | None = None
    chars: J[Any, T("java.lang.CharSequence")] | None = None
    builder: java.StringBuilder | None = None
    integer: java.AtomicInteger | None = None
    counter: java.AtomicLong | None = None
    flag: java.AtomicBoolean | None = None
    reference: java.AtomicReference[java.Long] | None = None
    colors: java.EnumSet[Color] | None = None
    byColor: java.EnumMap[Color, java.Long] | None = None
    bits: java.BitSet | None = None
    date: java.JavaDate | None = None
    dates: list[java.JavaDate] | None = None
    stamp: java.Timestamp | None = None
    instant: java.Instant | None = None
    local: java.LocalDateTime | None = None
    offset: java.OffsetDateTime | None = None
    zoned: java.ZonedDateTime | None = None
    day: dt.date | None = None
    time: dt.time | None = None
    length: dt.timedelta | None = None
    year: java.Year | None = None
    zone: java.ZoneId | None = None
    charset: java.Charset | None = None
    timeZone: java.TimeZone | None = None
    currency: java.Currency | None = None
    uri: java.Uri | None = None
    url: java.Url | None = None
    pattern: java.Pattern | None = None
    type: java.JavaClass | None = None
    longs: list[java.Long] | None = None
    arrayList: J[list[java.Long], T("java.util.ArrayList")] | None = None
    linked: java.LinkedList[java.Long] | None = None
    vector: java.Vector[java.Long] | None = None
    stack: java.Stack[java.Long] | None = None
    copied: java.CopyOnWriteArrayList[java.Long] | None = None
    queue: J[list[java.Long], T("java.util.Queue")] | None = None
    deque: J[list[java.Long], T("java.util.Deque")] | None = None
    arrayDeque: java.ArrayDeque[java.Long] | None = None
    priority: java.PriorityQueue[java.Long] | None = None
    blocking: J[list[java.Long], T("java.util.concurrent.BlockingQueue")] | None = None
    numbers: set[java.Long] | None = None
    hashSet: J[set[java.Long], T("java.util.HashSet")] | None = None
    linkedSet: java.LinkedHashSet[java.Long] | None = None
    treeSet: java.TreeSet[java.Long] | None = None
    sorted: J[set[str], T("java.util.SortedSet")] | None = None
    skipSet: java.ConcurrentSkipListSet[java.Long] | None = None
    hashMap: java.HashMap[str, java.Long] | None = None
    map: dict[str, list[java.Long]] | None = None
    byLong: dict[java.Long, str] | None = None
    treeMap: java.TreeMap[str, java.Long] | None = None
    sortedMap: J[dict[str, java.Long], T("java.util.SortedMap")] | None = None
    concurrent: J[dict[str, java.Long], T("java.util.concurrent.ConcurrentMap")] | None = None
    skipMap: java.ConcurrentSkipListMap[str, java.Long] | None = None
    hashtable: java.Hashtable[str, java.Long] | None = None
    properties: java.Properties[str, str] | None = None
    range: Range[java.Long] | None = None
    ranges: list[Range[Decimal]] | None = None
    span: Range[java.Long] | None = None
    shift: Shift | None = None
    primitive: java.long = 0
    array: java.LongArray | None = None
    boxes: java.Array[java.Long] | None = None


@java_class("com.acme.Possibles", serial_version_uid=1)
@attrs.define(kw_only=True)
class Possibles:
    maybe: java.Optional[java.Long] | None = None
    maybeInt: java.OptionalInt | None = None
    maybeLong: java.OptionalLong | None = None
    maybeDouble: java.OptionalDouble | None = None


UTC = dt.timezone.utc
MOMENT = dt.datetime(2024, 2, 29, 12, 30, 15, 123000, tzinfo=UTC)
SECONDS = str(int(MOMENT.timestamp()))
MILLIS = SECONDS + "123"

#: By field: a plain value, and what Java makes of the field.
USES: dict[str, tuple[Any, str]] = {
    "amount": (5, "6"),
    "amounts": ([5, Decimal("1.5")], "7.5"),
    "prices": ([5, 6], "11"),
    "big": (5, "6"),
    "aLong": (5, "6"),
    "anInteger": (5, "6"),
    "aShort": (5, "6"),
    "aByte": (5, "6"),
    "aDouble": (5, "6.0"),
    "aFloat": (5, "6.0"),
    "aCharacter": ("a", "b"),
    "text": ("a", "a!"),
    "number": (5, "6"),
    "chars": ("abc", "3"),
    "builder": ("a", "a!"),
    "integer": (5, "6"),
    "counter": (5, "6"),
    "flag": (True, "yes"),
    "reference": (5, "6"),
    "colors": ({Color.BLUE, Color.RED}, "02"),
    "byColor": ({Color.BLUE: 2, Color.RED: 1}, "023"),
    "bits": ({1, 5, 70}, "8"),
    "date": (MOMENT, MILLIS),
    "dates": ([MOMENT], MILLIS),
    "stamp": (MOMENT, "123000000"),
    "instant": (MOMENT, SECONDS),
    "local": (MOMENT.replace(tzinfo=None), "30"),
    "offset": (MOMENT, SECONDS),
    "zoned": (MOMENT, SECONDS),
    "day": (dt.date(2024, 2, 29), "29"),
    "time": (dt.time(12, 30), "30"),
    "length": (dt.timedelta(seconds=90), "90"),
    "year": (2024, "true"),
    "zone": ("Europe/Berlin", "Europe/Berlin"),
    "charset": ("utf-8", "UTF-8"),
    "timeZone": ("Europe/Berlin", "Europe/Berlin"),
    "currency": ("EUR", "2"),
    "uri": ("https://example.org/a", "https"),
    "url": ("https://example.org/a", "https"),
    "pattern": (java.Pattern("a+"), "true"),
    "type": ("java.lang.String", "String"),
    "longs": ((1, 2, 3), "6"),
    "arrayList": ([1, 2, 3], "9"),
    "linked": ([1, 2, 3], "7"),
    "vector": ([1, 2, 3], "7"),
    "stack": ([1, 2, 3], "9"),
    "copied": ([1, 2, 3], "15"),
    "queue": ([1, 2, 3], "7"),
    "deque": ([1, 2, 3], "9"),
    "arrayDeque": ([1, 2, 3], "9"),
    "priority": ([3, 1, 2], "7"),
    "blocking": ([1, 2, 3], str(2**31 - 1 - 3 + 6)),
    "numbers": ({1, 2, 3}, "6"),
    "hashSet": (frozenset((1, 2, 3)), "6"),
    "linkedSet": ({1, 2, 3}, "6"),
    "treeSet": ({3, 2, 1}, "121"),
    "sorted": ({"c", "b", "a"}, "actrue"),
    "skipSet": ({3, 2, 1}, "21"),
    "hashMap": ({"b": 2, "a": 1}, "5"),
    "map": ({"b": [1, 2]}, "3"),
    "byLong": ({2: "two"}, "two"),
    "treeMap": ({"b": 2, "a": 1}, "a21"),
    "sortedMap": ({"b": 2, "a": 1}, "a21"),
    "concurrent": ({"b": 2}, "3"),
    "skipMap": ({"b": 2, "a": 1}, "a21"),
    "hashtable": ({"b": 2, "a": 1}, "5"),
    "properties": ({"b": "text"}, "text"),
    "range": (Range(5, 6), "1"),
    "ranges": ([Range(5, 6)], "1"),
    "span": (Range(5, 2**40), str(2**40 - 5)),
    "shift": (Shift([1, 2], 3, {Color.RED: 4}), "10"),
    "primitive": (5, "6"),
    "array": ([5, 6], "11"),
    "boxes": ([5, 6], "11"),
}
POSSIBLE: dict[str, tuple[Any, str]] = {
    "maybe": (5, "6"),
    "maybeInt": (5, "6"),
    "maybeLong": (5, "6"),
    "maybeDouble": (5, "6.0"),
}
JAVA_TIME = {"instant", "local", "offset", "zoned", "day", "time", "length", "year", "zone"}
UNREAD_BY_PROTOSTUFF = {
    *("builder", "integer", "counter", "flag", "reference", "colors", "byColor", "bits", "stamp", "shift"),
    *("charset", "timeZone", "currency", "uri", "url", "pattern", "type"),
}

#: Codec, its spec in Java, the class, and the fields that the codec refuses to write.
CASES: list[tuple[Codec, Any, Any, set[str]]] = [
    (Kryo5Codec(), "Kryo5Codec", Places, set()),
    (Kryo5Codec(), "Kryo5Codec", Possibles, set()),
    (SerializationCodec(), "SerializationCodec", Places, {"charset", "timeZone"}),
    (JsonJacksonCodec(java_time="numbers"), {"name": "JsonJacksonCodec", "modules": True}, Places, {"bits"}),
    (JsonJacksonCodec(java_time="numbers"), {"name": "JsonJacksonCodec", "modules": True}, Possibles, set()),
    (JsonJackson3Codec(), "JsonJackson3Codec", Places, {"bits"}),
    (JsonJackson3Codec(), "JsonJackson3Codec", Possibles, set()),
    (MsgPackJacksonCodec(), "MsgPackJacksonCodec", Places, {"bits", *JAVA_TIME}),
    (CborJacksonCodec(), "CborJacksonCodec", Places, {"bits", *JAVA_TIME}),
    (ProtobufCodec(Places), {"name": "ProtobufCodec", "class": "com.acme.Places"}, Places, UNREAD_BY_PROTOSTUFF),
]


@pytest.mark.parametrize(("codec", "spec", "kind", "refused"), CASES, ids=lambda case: getattr(case, "__name__", None))
def test_java_uses_what_a_plain_value_became(
    peers: Callable[[str], JavaPeer], codec: Codec, spec: Any, kind: Any, refused: set[str]
) -> None:
    uses = USES if kind is Places else POSSIBLE
    assert {field.name for field in attrs.fields(kind)} == uses.keys()
    written, found = {}, set()
    for name, (value, _used) in uses.items():
        try:
            written[name] = codec.encode(kind(**{name: value})).hex()
        except EncodeError:
            found.add(name)
    assert found == refused
    answers = peers(NEWEST).call("use_many", codec=spec, items=list(written.values()))
    used = {name: answer.get(name, answer) for name, answer in zip(written, answers, strict=True)}
    assert used == {name: uses[name][1] for name in written}


#: The fields that hold one number, and the least and the most that Java can add one to.
NUMBERS = {
    **dict.fromkeys(("amount", "big"), (-(2**62), 2**62)),
    **dict.fromkeys(("aLong", "counter", "reference", "primitive"), (-(2**63), 2**63 - 2)),
    **dict.fromkeys(("anInteger", "integer"), (-(2**31), 2**31 - 2)),
    "aShort": (-(2**15), 2**15 - 2),
    "aByte": (-(2**7), 2**7 - 2),
}


def drawn(chance: random.Random, names: list[str]) -> tuple[Places, dict[str, str]]:
    """An object with some of these fields, and what Java makes of each."""
    fields, uses = {}, {}
    for name in chance.sample(names, chance.randint(1, len(names))):
        fields[name], uses[name] = USES[name]
        if name in NUMBERS:
            fields[name] = chance.randint(*NUMBERS[name])
            uses[name] = str(fields[name] + 1)
    return Places(**fields), uses


@pytest.mark.parametrize(
    ("codec", "spec", "refused"), [(each[0], each[1], each[3]) for each in CASES if each[2] is Places]
)
def test_java_uses_fields_that_were_drawn_at_random(
    peers: Callable[[str], JavaPeer], codec: Codec, spec: Any, refused: set[str]
) -> None:
    """Fields of one object share what is written once: names of classes, equal values, type arguments."""
    chance = random.Random(20261122)
    found = [drawn(chance, [name for name in USES if name not in refused]) for _ in range(40)]
    items = [codec.encode(places) for places, _uses in found]
    # What was read is written to the same bytes.
    assert [codec.encode(codec.decode(data)) for data in items] == items
    answers = peers(NEWEST).call("use_many", codec=spec, items=[data.hex() for data in items])
    unused = {"primitive": "1"}  # which every object has
    assert [{**unused, **answer} for answer in answers] == [{**unused, **uses} for _places, uses in found]


@pytest.mark.parametrize("codec", [Kryo5Codec(), SerializationCodec()], ids=repr)
def test_java_finds_what_is_in_sorted_collections_of_any_order(peers: Callable[[str], JavaPeer], codec: Codec) -> None:
    places = [
        Places(treeMap=java.TreeMap({"b": 2, "a": 1})),
        Places(treeSet=java.TreeSet([3, 1, 2])),
        Places(sorted=java.TreeSet(["c", "a", "b"])),
        Places(skipMap=java.ConcurrentSkipListMap({"b": 2, "a": 1})),
        Places(skipSet=java.ConcurrentSkipListSet([3, 1, 2])),
    ]
    answers = peers(NEWEST).call("use_many", codec=codec.name, items=[codec.encode(each).hex() for each in places])
    assert answers == [
        {"treeMap": "a21"},
        {"treeSet": "121"},
        {"sorted": "actrue"},
        {"skipMap": "a21"},
        {"skipSet": "21"},
    ]


def test_java_reads_the_names_and_addresses_that_are_taken_as_texts(peers: Callable[[str], JavaPeer]) -> None:
    chance = random.Random(20261123)
    codec = Kryo5Codec()
    texts = {"".join(chance.choices(ADDRESSES, k=chance.randint(1, 6))) for _ in range(1500)}
    codes = set(map("".join, itertools.product("ABDEMNRSU", repeat=3)))
    names = {*hierarchy.jdk_types(), "int", "[I", "[Ljava.lang.String;", "java.lang.string", "x", "[x"} - NOT_IN_KRYO
    for field, wrapper, candidates in (
        ("type", java.JavaClass, names),
        ("currency", java.Currency, codes),
        ("uri", java.Uri, texts),
        ("url", java.Url, texts),
    ):
        # What a wrapper says goes to Java as it is.
        said = {text: codec.encode(wrapper(text)) for text in candidates}
        answers = recoded(peers(VERSIONS[0]), codec.name, [*said.values()])
        read = {text for text, answer in zip(said, answers, strict=True) if "hex" in answer}
        taken = {text for text in candidates if _is_written(codec, Places(**{field: text}))}
        assert taken - read == set()
        assert len(taken) > len(read) // 2 > 10
        assert field != "uri" or taken == read


#: What texts are made of at random.
ADDRESSES = (
    "a",
    "1",
    ":",
    "/",
    "//",
    "?",
    "#",
    "[",
    "]",
    "[::1]",
    "@",
    "%41",
    "%",
    "\u00e9",
    " ",
    "|",
    "http:",
    "file:",
)
#: The classes for which Kryo has no serializer.
NOT_IN_KRYO = {
    *("java.lang.Record", "java.lang.StackTraceElement"),
    *("java.util.AbstractMap$SimpleEntry", "java.util.AbstractMap$SimpleImmutableEntry"),
}


def _is_written(codec: Codec, value: Any) -> bool:
    try:
        codec.encode(value)
    except EncodeError:
        return False
    return True


def test_the_hierarchy_is_that_of_the_jdk(peers: Callable[[str], JavaPeer]) -> None:
    table = hierarchy.jdk_types()
    answers = peers(NEWEST).call("supertypes", names=sorted(table))
    assert len(answers) > 300
    # Interfaces that later JDKs have put between.
    newer = {f"java.util.Sequenced{kind}" for kind in ("Collection", "Set", "Map")}
    for name, (kind, *supertypes) in answers.items():
        assert kind == table[name][0], name
        found = hierarchy.supertypes(name) - newer
        assert {*supertypes, name, "java.lang.Object"} - newer == found, name
