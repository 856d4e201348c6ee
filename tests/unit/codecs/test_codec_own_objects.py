"""Java had one object for some equal texts, numbers or dates, or several, unlike Python. Their bytes stay the same."""

from __future__ import annotations

import copy
import pickle
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from redisson_dq import java
from redisson_dq.codecs import JsonJackson3Codec, JsonJacksonCodec, Kryo5Codec, SerializationCodec
from redisson_dq.errors import EncodeError
from redisson_dq.java.own import own

NOON = datetime(2024, 2, 29, 12, tzinfo=timezone.utc)
VALUES: list[Any] = [
    *("text", 1000, 1.5, b"bytes", Decimal("1.50"), UUID(int=7), java.Long(5), java.Byte(5), java.Float(1.5)),
    *(java.BigInteger(10**20), java.Character("a"), java.Uri("a:b"), java.JavaDate(NOON), java.Timestamp(NOON)),
    *(NOON, NOON.replace(tzinfo=None), NOON.date(), time(12, 30), timedelta(days=1, microseconds=5)),
    *(java.Instant(NOON, nanosecond=7), java.Duration(timedelta(1), nanosecond=7), java.Year(2024)),
    *(java.YearMonth(2024, 2), java.Pattern("a+", 2), java.FarTime("java.time.LocalDate", (10**6, 1, 1))),
    *(java.ZonedDateTime(NOON, zone="Europe/London"), date(2024, 2, 29)),
]
codec = SerializationCodec()


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_it_is_the_value(value: Any) -> None:
    made = own(value)
    assert isinstance(made, type(value))
    assert made == value
    assert value == made
    assert hash(made) == hash(value)
    assert repr(made) == repr(value)
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert (again, type(again)) == (made, type(made))
    for other in (Kryo5Codec(), JsonJacksonCodec(java_time="text"), JsonJackson3Codec()):
        try:
            expected = other.encode([value, {"k": value}])
        except EncodeError:
            continue
        assert other.encode([made, {"k": made}]) == expected


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_what_was_read_is_written_as_it_was(value: Any) -> None:
    one, two = own(value), own(value)
    written = [codec.encode(each) for each in ([value, value], [one, one], [one, two, one], [one, two, two])]
    # Python writes one of equal texts and of what Java has one of, and as many as there are of all others.
    one_of_all = value == "text" or codec.encode([value, value]) == codec.encode([one, one])
    assert len(set(written)) == (3 if one_of_all else 4)
    for data in written:
        read = codec.decode(data)
        assert set(read) == {value}
        assert codec.encode(read) == data
        assert codec.encode(pickle.loads(pickle.dumps(read))) == data


def test_the_later_of_two_equal_hours_stays_the_later_one() -> None:
    later = datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin"))
    assert own(later).fold == own(own(later)).fold == copy.copy(own(later)).fold == 1
    assert pickle.loads(pickle.dumps(own(later))).utcoffset() == later.utcoffset()
    shared = codec.encode([own(later)] * 2)
    assert [each.utcoffset() for each in codec.decode(shared)] == [later.utcoffset()] * 2
    assert codec.encode(codec.decode(shared)) == shared


def test_a_part_of_what_was_read_has_the_bytes_of_a_new_value() -> None:
    read = codec.decode(codec.encode([own("a"), own("a"), own(5), own(5)]))
    assert [codec.encode(part) for part in read] == [codec.encode(part) for part in ("a", "a", 5, 5)]


def test_a_currency_and_a_locale_are_one_object_in_java() -> None:
    pair = codec.encode([java.Currency("EUR"), java.Currency("EUR")])
    assert pair.count(b"EUR") == 1
    assert codec.encode(codec.decode(pair)) == pair
    assert codec.encode([java.Locale("de"), java.Locale("de")]).count(b"t\0\x02de") == 1


def test_a_wrapper_stays_around_the_collection_that_was_read() -> None:
    inner = [1, 2]
    one: Any = java.unmodifiable(inner)
    two: Any = java.synchronized(inner)
    one.source = two.source = inner
    shared = codec.encode([inner, one, two])
    read = codec.decode(shared)
    assert codec.encode(read) == shared
    assert codec.encode(copy.deepcopy(read)) == shared
    read[1].append(3)
    assert codec.decode(codec.encode(read)) == [[1, 2], [1, 2, 3], [1, 2]]
    read[0].append(4)
    assert codec.decode(codec.encode(read)) == [[1, 2, 4], [1, 2, 3], [1, 2]]
    assert codec.encode([inner, java.unmodifiable(inner)]) == codec.encode([[1, 2], java.unmodifiable([1, 2])])


def test_copies_are_one_element_many_times() -> None:
    copies: Any = java.CopiesList(["x"] * 3)
    data = codec.encode(copies)
    assert (type(codec.decode(data)), codec.decode(data)) == (java.CopiesList, ["x"] * 3)
    assert codec.encode(codec.decode(data)) == data
    none = codec.encode(java.CopiesList((), "x"))
    assert codec.encode(codec.decode(none)) == none
    with pytest.raises(EncodeError, match="CopiesList of different elements: send a list"):
        codec.encode(java.CopiesList(["x", "y"]))
    for other in (Kryo5Codec(), JsonJacksonCodec()):
        assert other.decode(other.encode(java.CopiesList())) == []
        with pytest.raises(EncodeError, match="CopiesList with 3 elements, which Java does not read: send a list"):
            other.encode(copies)
