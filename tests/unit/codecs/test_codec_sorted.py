"""Sorted collections: written in Java's order or refused, and written as they were if nothing changed."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
import uuid
from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import Codec, JsonJacksonCodec, Kryo5Codec, SerializationCodec
from redisson_dq.codecs.marks import other_bytes
from redisson_dq.errors import EncodeError
from redisson_dq.java import Comparator, java_class
from redisson_dq.java.tables import Table

SERIALIZATION, KRYO, JSON = SerializationCodec(), Kryo5Codec(), JsonJacksonCodec()
CASELESS, REVERSED = Comparator.CASE_INSENSITIVE_ORDER, Comparator.REVERSE_ORDER


@java_class("com.acme.sorted.Rank", serial_version_uid=1)
@attrs.frozen
class Rank:
    number: int


@java_class("com.acme.sorted.Plain", serial_version_uid=1, implements=["java.io.Serializable"])
@attrs.frozen
class Plain:
    number: int


@java_class("com.acme.sorted.Ranked", serial_version_uid=1)
@attrs.define
class Ranked:
    ranks: java.TreeSet[Rank]
    months: java.TreeMap[java.YearMonth, str]


UTC = dt.timezone.utc
NOON = dt.datetime(2024, 2, 29, 12, tzinfo=UTC)
PLUS_ONE = dt.timezone(dt.timedelta(hours=1))

#: Values in Java's order.
ORDERED: dict[str, list[Any]] = {
    "YearMonth": [java.YearMonth(-1, 12), java.YearMonth(2023, 11), java.YearMonth(2024, 2)],
    "MonthDay": [java.MonthDay(1, 31), java.MonthDay(2, 29)],
    "ZoneOffset": [java.ZoneOffset(3600), java.ZoneOffset(0), java.ZoneOffset(-60)],
    "Uri": [java.Uri("p"), java.Uri("http://a.example/"), java.Uri("http://B.example/"), java.Uri("mailto:a@b")],
    "StringBuilder": [java.StringBuilder("Z"), java.StringBuilder("a")],
    "texts by units": ["\U0001f600", "\uffff"],
    "far": [dt.date(9999, 1, 1), java.FarTime("java.time.LocalDate", (10_000, 1, 1))],
    "offsets": [dt.datetime(2024, 2, 29, 12, 30, tzinfo=PLUS_ONE), java.OffsetDateTime(NOON)],
    "equal moments": [java.OffsetDateTime(NOON), NOON.astimezone(PLUS_ONE)],
    "zones": [NOON.astimezone(ZoneInfo(zone)) for zone in ("America/New_York", "Europe/Berlin")],
    "dates": [java.SqlDate(NOON), java.JavaDate(NOON + dt.timedelta(1))],
    "nanoseconds": [NOON, java.Instant(NOON, nanosecond=1)],
    "constants": [java.DayOfWeek.MONDAY, java.DayOfWeek.FRIDAY],
}


@pytest.mark.parametrize("name", ORDERED)
def test_values_are_sorted_as_java_sorts_them(name: str) -> None:
    items = ORDERED[name]
    for kind in ("java.util.TreeSet", "java.util.concurrent.ConcurrentSkipListSet"):
        for comparator, expected in ((None, items), (REVERSED, items[::-1])):
            made: Any = java.Elements(kind, items[1:] + items[:1], comparator)
            back = SERIALIZATION.decode(SERIALIZATION.encode(made))
            assert list(map(repr, back)) == list(map(repr, expected))
            assert back.comparator is comparator


def test_caseless_texts_are_sorted_as_java_sorts_them() -> None:
    made = java.TreeSet(["b", "_", "A", "\u0416"], CASELESS)
    assert [*SERIALIZATION.decode(SERIALIZATION.encode(made))] == ["_", "A", "b", "\u0416"]
    with pytest.raises(EncodeError, match=r"the place of '\u0130' in String.CASE_INSENSITIVE_ORDER is not known"):
        SERIALIZATION.encode(java.TreeSet(["\u0130", "a"], CASELESS))


RANKS = [Rank(2), Rank(1)]
#: An order that Python does not know.
UNKNOWN: dict[str, Any] = {
    "a set": java.TreeSet(RANKS),
    "a map": java.TreeMap(dict.fromkeys(RANKS, 1)),
    "entries": java.Entries("java.util.TreeMap", [(rank, 1) for rank in RANKS]),
    "a skip list": java.ConcurrentSkipListMap(dict.fromkeys(RANKS, 1)),
    "a set of a skip list": java.ConcurrentSkipListSet(RANKS),
    "wrapped": java.unmodifiable(java.TreeMap(dict.fromkeys(RANKS, 1))),
    "a field": Ranked(java.TreeSet(RANKS), java.TreeMap()),
    "charsets": java.TreeSet([java.Charset("UTF-8"), java.Charset("US-ASCII")]),
    "a date and a timestamp": java.TreeSet([java.JavaDate(NOON), java.Timestamp(NOON + dt.timedelta(1))]),
    "escapes in small letters": java.TreeSet([java.Uri("http://a/?x=%aa"), java.Uri("http://a/?x=%AB")]),
    "hosts of registries": java.TreeSet([java.Uri("http://a_b/"), java.Uri("http://a/")]),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_order_that_is_not_known_is_refused_where_java_trusts_it(name: str) -> None:
    with pytest.raises(EncodeError, match=r"that Java would read in a wrong order: .* is not known|compares no"):
        SERIALIZATION.encode(UNKNOWN[name])
    if name == "wrapped":  # Kryo has it as Java's serialization
        with pytest.raises(EncodeError, match="wrong order: Java's order of Rank is not known"):
            KRYO.encode(UNKNOWN[name])
    else:  # Java sorts
        data = KRYO.encode(UNKNOWN[name])
        assert KRYO.encode(KRYO.decode(data)) == data


@pytest.mark.parametrize("codec", [SERIALIZATION, KRYO, JSON], ids=lambda codec: codec.name)
@pytest.mark.parametrize(
    "items",
    [
        [1, "a"],
        [1, 1 << 40],
        [1, java.Long(2)],
        [java.Locale("de"), java.Locale("fr")],
        [java.Optional(1)],
        [(1, 2), (3, 4)],
        [Plain(1)],
        [java.ZoneId("UTC"), java.ZoneId("Europe/Berlin")],
        [dt.datetime(2024, 1, 1), NOON],
        [dt.date(2024, 1, 1), dt.time(1)],
        [java.DayOfWeek.MONDAY, java.Month.MAY],
        [Rank(1), "a"],
        [uuid.UUID(int=1), Rank(1)],
        [java.DayOfWeek.MONDAY, Rank(1)],
        [Rank(1), java.Timestamp(NOON)],
    ],
    ids=repr,
)
def test_what_java_cannot_sort_is_refused_by_each_codec(codec: Codec, items: list[Any]) -> None:
    for made in (java.TreeSet(items), java.PriorityQueue(items)):
        with pytest.raises(EncodeError, match=r"no java.util.(TreeSet|PriorityQueue) holds"):
            codec.encode(made)


def test_two_keys_that_java_takes_for_one_are_refused() -> None:
    for codec in (SERIALIZATION, KRYO):
        with pytest.raises(EncodeError, match="Java takes 'A' and 'a' for one"):
            codec.encode(java.TreeMap({"A": 1, "a": 2}, CASELESS))
    queue = java.PriorityQueue(["A", "a"], CASELESS)
    assert SERIALIZATION.decode(SERIALIZATION.encode(queue)) == queue


# What was read


def from_java(made: Any) -> bytes:
    """The bytes of a collection that Java has sorted, in the order in which Python has it."""
    made.table = Table(tuple(made), order=made.comparator or Comparator.NATURAL_ORDER)
    return SERIALIZATION.encode(made)


SORTED_BY_JAVA: dict[str, Callable[[], Any]] = {
    "a set": lambda: java.TreeSet(RANKS),
    "a reversed set": lambda: java.TreeSet(RANKS, REVERSED),
    "a map": lambda: java.TreeMap(dict.fromkeys(RANKS, "a")),
    "a skip list": lambda: java.ConcurrentSkipListMap(dict.fromkeys(RANKS, "a")),
    "a set of a skip list": lambda: java.ConcurrentSkipListSet(RANKS),
    "elements": lambda: java.Elements("java.util.TreeSet", [[2], [1]]),
    "entries": lambda: java.Entries("java.util.TreeMap", [([2], 1), ([1], 2)]),
}


@pytest.mark.parametrize("name", SORTED_BY_JAVA)
def test_what_was_read_and_not_changed_is_written_as_it_was(name: str) -> None:
    data = from_java(SORTED_BY_JAVA[name]())
    read = SERIALIZATION.decode(data)
    for value in (read, copy.deepcopy(read), pickle.loads(pickle.dumps(read))):
        assert SERIALIZATION.encode(value) == data
        assert other_bytes(value) == ""
    for view in (java.unmodifiable, java.synchronized):
        wrapped = SERIALIZATION.encode(view(read))
        assert SERIALIZATION.encode(SERIALIZATION.decode(wrapped)) == wrapped
        assert KRYO.encode(KRYO.decode(KRYO.encode(view(read)))) == KRYO.encode(view(read))


def test_a_field_that_was_read_is_written_as_it_was() -> None:
    held = Ranked(SERIALIZATION.decode(from_java(java.TreeSet(RANKS))), java.TreeMap())
    data = SERIALIZATION.encode(held)
    assert SERIALIZATION.encode(SERIALIZATION.decode(data)) == data


def test_values_may_change_and_keys_may_go() -> None:
    made = SERIALIZATION.decode(from_java(java.TreeMap(dict.fromkeys([*RANKS, Rank(5), Rank(4)], "a"))))
    made[RANKS[1]] = "b"
    del made[Rank(2)]
    assert [*SERIALIZATION.decode(SERIALIZATION.encode(made)).items()] == [
        (Rank(1), "b"),
        (Rank(5), "a"),
        (Rank(4), "a"),
    ]
    elements = SERIALIZATION.decode(from_java(java.TreeSet(RANKS)))
    elements.discard(Rank(2))
    assert SERIALIZATION.decode(SERIALIZATION.encode(elements)) == {Rank(1)}


def test_a_new_key_or_comparator_is_refused() -> None:
    for name, make in SORTED_BY_JAVA.items():
        changed = SERIALIZATION.decode(from_java(make()))
        if isinstance(changed, dict):
            changed[Rank(9)] = "a"
        elif isinstance(changed, java.Entries):
            changed.append(([9], 9))
        elif isinstance(changed, list):
            changed.append([9])
        else:
            changed.add(Rank(9))
        with pytest.raises(EncodeError, match=r"wrong order|not Comparable"):
            SERIALIZATION.encode(changed)
        turned = SERIALIZATION.decode(from_java(make()))
        turned.comparator = REVERSED if turned.comparator is None else None
        with pytest.raises(EncodeError, match=r"wrong order|not Comparable"):
            SERIALIZATION.encode(turned)
        assert name


def test_the_order_of_other_codecs_is_not_trusted() -> None:
    """Values that Python wrote by Kryo may be in any order, as Java sorts them."""
    read = KRYO.decode(KRYO.encode(java.TreeSet(RANKS)))
    assert KRYO.encode(read) == KRYO.encode(java.TreeSet(RANKS))
    with pytest.raises(EncodeError, match="wrong order"):
        SERIALIZATION.encode(read)


def test_a_comparator_that_java_would_lose_is_refused() -> None:
    cases: tuple[tuple[Codec, Any], ...] = (
        (KRYO, java.ConcurrentSkipListSet([1], REVERSED)),
        (KRYO, java.PriorityBlockingQueue([1], REVERSED)),
        (JSON, java.TreeSet([1], REVERSED)),
        (JSON, java.TreeMap({"a": 1}, REVERSED)),
    )
    for codec, made in cases:
        with pytest.raises(EncodeError, match="a collection with a comparator, which this codec does not write"):
            codec.encode(made)
    odd: Any = java.TreeSet([1])
    odd.comparator = "odd"
    for codec in (SERIALIZATION, KRYO):
        with pytest.raises(EncodeError, match=r"the comparator of a sorted collection is a java.Comparator"):
            codec.encode(odd)
