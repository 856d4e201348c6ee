"""Values that Python could make but no Java program can have: refused when they are made, or when they are written."""

from __future__ import annotations

import copy
import datetime as dt
import itertools
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

NO_TIME_ZONES = ["Nowhere/X", "utc", "UT", "UTC+2", "GMT+25:00", "GMT+02:60", "GMT+02:00:15", "Custom", "posix/UTC", ""]
NO_EXTENSIONS = [
    "u",
    "u-co-x",
    "co-phonebk",
    "u-co-phonebk-u-nu-latn",
    "u-co-a-co-b",
    "x-lvariant-foo",
    "\u00fc-ab",
    "u--co",
]
NO_FAR_TIMES: list[tuple[str, tuple[Any, ...]]] = [
    ("java.time.LocalDate", (20_000, 2, 30)),
    ("java.time.LocalDate", (20_001, 2, 29)),
    ("java.time.LocalDate", (20_000, 13, 1)),
    ("java.time.LocalDate", (1_000_000_000, 1, 1)),
    ("java.time.LocalDate", (20_000, 2)),
    ("java.time.LocalDateTime", (20_000, 2, 3, 25, 0, 0, 0)),
    ("java.time.LocalDateTime", (20_000, 2, 3, 5, 0, 0, 10**9)),
    ("java.time.OffsetDateTime", (20_000, 2, 3, 5, 0, 0, 0, 64_801)),
    ("java.time.ZonedDateTime", (20_000, 2, 30, 5, 0, 0, 0, 0, "UTC")),
    ("java.util.Date", (1 << 63,)),
    ("java.sql.Timestamp", (1 << 60, 0)),
    ("java.time.Duration", (1, 10**9)),
    ("java.lang.String", (1,)),
]


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
        *(
            lambda zone=zone: java.ZoneId(zone)
            for zone in ("Nowhere/X", "utc", "UTC+25", "UTC+18:01", "UTC+2:00", "PST", "")
        ),
        *(lambda zone=zone: java.TimeZone(zone) for zone in NO_TIME_ZONES),
        *(lambda zone=zone: java.GregorianCalendar(NOON, zone) for zone in NO_TIME_ZONES),
        lambda: java.ZonedDateTime(NOON, zone="Europe/Berlin"),
        lambda: java.ZonedDateTime(NOON, zone="+05:00"),
        lambda: java.ZonedDateTime(NOON, zone="UTC+05:00"),
        lambda: java.ZonedDateTime(NOON, zone="Nowhere/X"),
        lambda: java.ZonedDateTime(dt.datetime(2024, 3, 31, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))),
        lambda: java.AtomicInteger(1 << 31),
        lambda: java.AtomicInteger(True),
        lambda: setattr(java.AtomicInteger(), "value", 1 << 31),
        lambda: java.AtomicLong("1"),  # type: ignore[arg-type]
        lambda: java.AtomicBoolean("yes"),  # type: ignore[arg-type]
        lambda: java.OptionalInt(1 << 31),
        lambda: java.OptionalLong(1 << 70),
        lambda: java.OptionalDouble("1"),
        lambda: java.OptionalDouble(10**400),
        lambda: java.StackTraceElement("C", "m", "C.java", 1 << 31),
        lambda: java.StackTraceElement(None, "m"),  # type: ignore[arg-type]
        lambda: java.StackTraceElement("C", "m", format=200),
        lambda: java.Locale("de", script="La"),
        *(lambda text=text: java.Locale("de", extensions=text) for text in NO_EXTENSIONS),
        *(lambda name=name, parts=parts: java.FarTime(name, parts) for name, parts in NO_FAR_TIMES),
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
    with pytest.raises(EncodeError, match="'EST' is not a time zone in Java"):
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


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
def test_two_nan_are_one_element_or_key_in_java(codec: Codec) -> None:
    first, second = float("nan"), float("nan")
    for value in (
        java.SetOf([first, second]),
        {first, second},
        frozenset((first, second)),
        java.HashSet((first, second)),
    ):
        with pytest.raises(EncodeError, match="with more than one NaN"):
            codec.encode(value)
    fine: list[Any] = [java.SetOf([first]), {first, 1.5}, [first, second]]
    for one in fine:
        assert len(codec.decode(codec.encode(one))) == len(one)


def test_two_nan_are_one_key_in_java() -> None:
    for codec in (Kryo5Codec(), SerializationCodec()):
        for kind in (dict, java.MapOf, java.HashMap):
            with pytest.raises(EncodeError, match="with more than one NaN"):
                codec.encode(kind({float("nan"): 1, float("nan"): 2}))
        assert len(codec.decode(codec.encode({float("nan"): 1, java.Float(float("nan")): 2}))) == 2


def test_kryo_refuses_the_second_of_two_hours_and_what_else_it_would_shift() -> None:
    first = dt.datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    far = java.FarTime("java.time.ZonedDateTime", (20_000, 2, 3, 5, 0, 0, 1, 7200, "Europe/Berlin"))
    for value in (first.replace(fold=1), java.ZonedDateTime(first.replace(fold=1), nanosecond=5), far):
        with pytest.raises(EncodeError, match="Java reads another one in Europe/Berlin: send it in UTC"):
            Kryo5Codec().encode(value)
    back = SerializationCodec().decode(SerializationCodec().encode(first.replace(fold=1)))
    assert back.utcoffset() == dt.timedelta(hours=1)
    assert Kryo5Codec().decode(Kryo5Codec().encode(first)) == first


def test_ids_and_parts_get_the_form_that_java_gives_them() -> None:
    assert [java.ZoneId(text) for text in ("UTC+2", "GMT+0200", "UT-02:00:15", "UTC+00:00")] == [
        *("UTC+02:00", "GMT+02:00", "UT-02:00:15", "UTC")
    ]
    assert [java.TimeZone(text) for text in ("GMT+2", "GMT-0230", "PST", "EST")] == [
        "GMT+02:00",
        "GMT-02:30",
        "PST",
        "EST",
    ]
    assert java.GregorianCalendar(NOON, "GMT+2").zone == "GMT+02:00"
    assert java.ZoneId("America/Coyhaique") == "America/Coyhaique"
    assert java.Locale("DE", "Germany", "x") == java.Locale("de", "GERMANY", "x")
    assert (
        java.Locale("de", script="latn", extensions="U-nu-latn-co-phonebk-a-b1").extensions
        == "a-b1-u-co-phonebk-nu-latn"
    )
    assert java.Locale("ja", "JP", "JP").extensions == "u-ca-japanese"
    assert java.OptionalDouble(5) == java.OptionalDouble(5.0)
    assert list(java.CharArray("a\U0001f600")) == ["a", "\ud83d", "\ude00"]


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
def test_locales_that_a_codec_writes_are_read_again(codec: Codec) -> None:
    written = 0
    for parts in itertools.product(
        ("", "de", "!!"), ("", "DE", "D_E"), ("", "POSIX", "a b"), ("", "Latn"), ("", "x-a", "u-co-b1c")
    ):
        value = java.Locale(*parts)
        try:
            data = codec.encode([value])
        except EncodeError:
            continue
        written += 1
        assert codec.decode(data) == [value]
    assert written > 15
    assert codec.decode(codec.encode([java.Locale("!!"), java.CharArray("\U0001f600")])) == [
        *(java.Locale("!!"), ["\ud83d", "\ude00"])
    ]


def test_zones_that_a_java_program_made_are_read_and_written() -> None:
    data = Kryo5Codec().encode(java.TimeZone.read("Custom"))
    zone = Kryo5Codec().decode(data)
    assert zone == "Custom"
    assert [Kryo5Codec().encode(one) for one in (zone, copy.copy(zone), pickle.loads(pickle.dumps(zone)))] == [data] * 3
    data = Kryo5Codec().encode(java.GregorianCalendar(NOON, "UTC")).replace(b"UT\xc3", b"XY\xda")
    assert Kryo5Codec().encode(Kryo5Codec().decode(data)) == data
    assert Kryo5Codec().decode(data).zone == "XYZ"
