"""JsonJacksonCodec and TypedJsonJacksonCodec beside a Java whose mapper has JavaTimeModule and Jdk8Module."""

from __future__ import annotations

import json
from datetime import date, datetime, time, timedelta, timezone
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import JsonJacksonCodec, TypedJsonJacksonCodec
from redisson_dq.errors import ArgumentError, EncodeError
from redisson_dq.java import JavaType, java_class, time_numbers
from tests.unit.codecs.acme import Dates, Maybe
from tests.unit.codecs.golden_rows import same
from tests.unit.codecs.samples import SAMPLES
from tests.unit.codecs.vectors import Vector, of_codec

UTC = timezone.utc
MOMENT = datetime(2024, 2, 29, 12, 30, 15, 120_000, UTC)
NANOS = java.LocalDateTime(2024, 2, 29, 12, 30, 15, 123_456, nanosecond=789)
PLUS_2 = timezone(timedelta(hours=2))
NUMBERS, TEXT = JsonJacksonCodec(java_time="numbers"), JsonJacksonCodec(java_time="text")

#: Redisson 3's Jackson writes an Instant before 1970 as a number that is less by two fractions of its second.
BEFORE_1970 = "instant/before-1970"


def of_modules(codec: str) -> list[Vector]:
    return [vector for vector in of_codec(codec) if '"modules": true' in vector.spec and vector.data is not None]


def is_wrong(vector: Vector) -> bool:
    return vector.redisson.startswith("3.") and vector.name == BEFORE_1970


@pytest.mark.parametrize(
    "vector", [vector for vector in of_modules("TypedJsonJacksonCodec") if not is_wrong(vector)], ids=str
)
def test_a_declared_type_has_the_bytes_of_java(vector: Vector) -> None:
    declared = Annotated[Any, JavaType(json.loads(vector.spec)["class"])]
    typed = TypedJsonJacksonCodec(declared, java_time="numbers", redisson=vector.redisson)
    value = SAMPLES[vector.name]
    assert vector.data is not None
    assert typed.encode(value) == vector.data
    if vector.name != "object/dates":  # its ZonedDateTime is read in UTC, as by Java
        assert same(typed.decode(vector.data), value)


@pytest.mark.parametrize("vector", [row for row in of_modules("JsonJacksonCodec") if not is_wrong(row)], ids=str)
def test_java_time_has_the_numbers_of_java(vector: Vector) -> None:
    # As the whole value Java leaves out the class and cannot read it; this codec writes it.
    value, data = SAMPLES[vector.name], vector.data
    codec = JsonJacksonCodec(java_time="numbers", redisson=vector.redisson)
    assert data is not None
    if isinstance(value, (Dates, Maybe)):
        assert codec.encode(value) == data
    elif vector.name.startswith("optional/"):
        with pytest.raises(EncodeError, match="in its place, unless a field is declared so"):
            codec.encode(value)
    elif vector.name != "keys/local-date":
        written = codec.encode(value)
        assert written == b'["%s",%s]' % (vector.java_type.replace("ZoneRegion", "ZoneId").encode(), data)
        if not vector.name.startswith(("offsetdatetime/", "zoneddatetime/")):  # only their instant is written
            assert same(codec.decode(written), value)


@pytest.mark.parametrize(
    ("codec", "value", "text"),
    [
        (NUMBERS, MOMENT, '["java.time.Instant",1709209815.120000000]'),
        (NUMBERS, date(2024, 2, 29), '["java.time.LocalDate",[2024,2,29]]'),
        (NUMBERS, time(12, 30), '["java.time.LocalTime",[12,30]]'),
        (NUMBERS, NANOS, '["java.time.LocalDateTime",[2024,2,29,12,30,15,123456789]]'),
        (NUMBERS, time(1, 2, tzinfo=PLUS_2), '["java.time.OffsetTime",[1,2,"+02:00"]]'),
        (NUMBERS, java.OffsetDateTime(MOMENT), '["java.time.OffsetDateTime",1709209815.120000000]'),
        (NUMBERS, java.ZonedDateTime(MOMENT, zone="Z"), '["java.time.ZonedDateTime",1709209815.120000000]'),
        (NUMBERS, timedelta(seconds=-1.5), '["java.time.Duration",-1.500000000]'),
        (NUMBERS, java.YearMonth(2024, 2), '["java.time.YearMonth",[2024,2]]'),
        (NUMBERS, java.Month.FEBRUARY, '["java.time.Month","FEBRUARY"]'),
        (NUMBERS, time_numbers.java_date(5), '["java.util.Date",5]'),
        (NUMBERS, java.Locale("de", "DE"), '["java.util.Locale","de_DE"]'),
        (TEXT, MOMENT, '["java.time.Instant","2024-02-29T12:30:15.120Z"]'),
        (TEXT, date(2024, 2, 29), '["java.time.LocalDate","2024-02-29"]'),
        (TEXT, time(12, 30), '["java.time.LocalTime","12:30:00"]'),
        (TEXT, NANOS, '["java.time.LocalDateTime","2024-02-29T12:30:15.123456789"]'),
        (TEXT, time(1, 2, tzinfo=PLUS_2), '["java.time.OffsetTime","01:02+02:00"]'),
        (TEXT, MOMENT.astimezone(PLUS_2), '["java.time.OffsetDateTime","2024-02-29T14:30:15.12+02:00"]'),
        (TEXT, timedelta(seconds=-1.5), '["java.time.Duration",-1.500000000]'),
        (TEXT, java.Year(2024), '["java.time.Year","2024"]'),
        (TEXT, java.YearMonth(12345, 2), '["java.time.YearMonth","12345-02"]'),
        (TEXT, time_numbers.java_date(0), '["java.util.Date","1970-01-01T00:00:00.000+00:00"]'),
        (TEXT, java.SqlDate(1970, 1, 1, tzinfo=UTC), '["java.sql.Date","1970-01-01"]'),
        (TEXT, java.SqlTime(1970, 1, 1, tzinfo=UTC), '["java.sql.Time","00:00:00"]'),
    ],
)
def test_bytes_are_javas(codec: JsonJacksonCodec, value: Any, text: str) -> None:
    whole = f'["java.util.ArrayList",[{text}]]'
    assert codec.encode([value]).decode() == whole
    for any_codec in (NUMBERS, TEXT, JsonJacksonCodec()):  # all are read without being asked for
        assert same(any_codec.decode(whole.encode()), [value])


def test_of_a_zoned_date_time_the_instant_is_written() -> None:
    berlin = datetime(2024, 2, 29, 12, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    assert NUMBERS.encode(berlin) == b'["java.time.ZonedDateTime",1709206200.000000000]'
    decoded = NUMBERS.decode(NUMBERS.encode(berlin))
    assert (decoded, decoded.zone) == (berlin, "Z")


@java_class("com.acme.test.Calendar")
@attrs.define
class Calendar:
    maybe: Annotated[Any, JavaType("java.util.Optional<java.lang.Long>")] = attrs.field(factory=java.Optional)
    count: java.OptionalInt = attrs.field(factory=java.OptionalInt)
    days: Annotated[Any, JavaType("java.util.Map<java.time.LocalDate, java.time.Instant>")] = None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Calendar(), '"count":null,"maybe":null'),
        (Calendar(java.Optional(java.Long(5)), java.OptionalInt(1)), '"count":1,"maybe":["java.lang.Long",5]'),
        (
            Calendar(days={date(2024, 2, 29): MOMENT}),
            '"count":null,"days":{"@class":"java.util.LinkedHashMap","2024-02-29":1709209815.120000000},"maybe":null',
        ),
    ],
)
def test_a_declared_class(value: Calendar, text: str) -> None:
    whole = f'{{"@class":"com.acme.test.Calendar",{text}}}'
    assert NUMBERS.encode(value).decode() == whole
    assert same(NUMBERS.decode(whole.encode()), value)
    with pytest.raises(EncodeError, match=r"has no java\.util\.Optional"):
        JsonJacksonCodec().encode(value)


def test_the_least_duration_is_refused_as_by_java() -> None:
    with pytest.raises(EncodeError, match="the least Duration"):
        NUMBERS.encode(SAMPLES["duration/min"])


@pytest.mark.parametrize("make", [JsonJacksonCodec, lambda **options: TypedJsonJacksonCodec(date, **options)])
def test_java_time_is_one_of_three_words(make: Any) -> None:
    with pytest.raises(ArgumentError, match="'refuse', 'numbers' or 'text'"):
        make(java_time="iso")
