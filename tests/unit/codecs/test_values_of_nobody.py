"""Values that Python could make and no Java program holds: refused when they are made, or when they are written."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from redisson_dq import java
from redisson_dq.codecs import Codec, JsonJackson3Codec, JsonJacksonCodec, Kryo5Codec, SerializationCodec
from redisson_dq.errors import ArgumentError, EncodeError
from redisson_dq.java import time_numbers

CODECS: list[Codec] = [Kryo5Codec(), SerializationCodec(), JsonJacksonCodec(), JsonJackson3Codec()]
NOON = dt.datetime(2024, 2, 29, 12, tzinfo=dt.timezone.utc)
NO_ZONES = ["EST", "HST", "MST", "ROC", "Factory", "localtime", "posixrules", "posix/UTC", "right/UTC", "GMT+0"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: java.MonthDay(2, 30),
        lambda: java.MonthDay(4, 31),
        lambda: java.MonthDay(13, 1),
        lambda: java.MonthDay(1, 0),
        lambda: java.YearMonth(2024, 13),
        lambda: java.YearMonth(1_000_000_000, 1),
        lambda: java.Year(-1_000_000_000),
        lambda: java.Period(1 << 31),
        lambda: java.ZoneId("+02:00"),
        lambda: java.ZoneId("Z"),
        lambda: java.ZonedDateTime(NOON.astimezone(ZoneInfo("EST"))),
        *(lambda zone=zone: java.ZoneId(zone) for zone in NO_ZONES),
    ],
)
def test_values_that_java_rejects_cannot_be_made(make: Callable[[], Any]) -> None:
    with pytest.raises(ArgumentError):
        make()


def test_the_first_and_last_values_can_be_made() -> None:
    values = [java.MonthDay(2, 29), java.MonthDay(12, 31), java.YearMonth(-999_999_999, 12), java.Year(999_999_999)]
    values += [java.Period(-(1 << 31)), java.ZoneId("Etc/GMT+5"), java.ZoneId("UTC+02:00"), java.ZoneId("GMT0")]
    for codec in (Kryo5Codec(), SerializationCodec()):
        assert codec.decode(codec.encode(values)) == values


@pytest.mark.parametrize("codec", [Kryo5Codec(), SerializationCodec()], ids=lambda codec: codec.name)
def test_times_of_no_zone_of_java_and_times_that_no_clock_shows_are_refused(codec: Codec) -> None:
    with pytest.raises(EncodeError, match="'EST' is no time zone in Java"):
        codec.encode(NOON.astimezone(ZoneInfo("EST")))
    for fold in (0, 1):
        gap = dt.datetime(2024, 3, 31, 2, 30, fold=fold, tzinfo=ZoneInfo("Europe/Berlin"))
        with pytest.raises(EncodeError, match="left out by the clocks of Europe/Berlin: send it in UTC"):
            codec.encode(gap)
    twice = dt.datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    assert codec.decode(codec.encode(twice)) == twice


def test_what_java_wrote_of_such_zones_is_written_again() -> None:
    """A later JVM may know more zones, or other rules."""
    gap = time_numbers.zoned_date_time(dt.datetime(2024, 3, 31, 2, 30), 3600, "Europe/Berlin")
    values = [java.ZoneId.read("EST"), time_numbers.zoned_date_time(dt.datetime(2024, 1, 1), -18_000, "EST"), gap]
    for value in values:
        for one in (value, copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
            data = SerializationCodec().encode(one)
            assert SerializationCodec().encode(SerializationCodec().decode(data)) == data


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
def test_enum_collections_of_other_constants_are_refused(codec: Codec) -> None:
    elements: Any = [java.Month.MAY]
    with pytest.raises(EncodeError):
        codec.encode(java.EnumSet(java.DayOfWeek, elements))
    with pytest.raises(EncodeError):
        codec.encode(java.EnumMap(java.DayOfWeek, dict.fromkeys(elements, 1)))
