"""JsonJackson3Codec and its kin where they differ from the codecs on Jackson 2; the bytes are Redisson 4's."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID
from zoneinfo import ZoneInfo

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    CborJackson3Codec,
    Codec,
    JsonJackson3Codec,
    SmileJackson3Codec,
    TypedJsonJackson3Codec,
)
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from redisson_dq.java import JavaType, java_class, time_numbers
from tests.unit.codecs.acme import Box, Circle, Color, Dates, Invoice, Line, Maybe, Order, Parcel, Point
from tests.unit.codecs.golden_rows import UNORDERED, nested, same
from tests.unit.codecs.samples import SAMPLES
from tests.unit.codecs.vectors import Vector, vectors

codec = JsonJackson3Codec()
UTC = timezone.utc
ID = UUID("00000000-0000-0001-0000-000000000002")
MOMENT = datetime(2024, 2, 29, 12, 30, 15, 120_000, UTC)
EPOCH = time_numbers.java_date(0)


def inside(text: str) -> str:
    """In a list, where every value carries its type."""
    return f'["java.util.ArrayList",[{text}]]'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2**40, "1099511627776"),
        (2**63, '["java.math.BigInteger",9223372036854775808]'),
        (float("nan"), '["java.lang.Double","NaN"]'),
        (b"\x01", '["[B","AQ=="]'),
        (MOMENT, '["java.time.Instant","2024-02-29T12:30:15.120Z"]'),
        ([java.Long(5), 2**40], inside('["java.lang.Long",5],["java.lang.Long",1099511627776]')),
        ([java.Array("java.lang.Long", [java.Long(5), None])], inside('["[Ljava.lang.Long;",[5,null]]')),
        (
            [Decimal("1E+3"), Decimal("1.23E-8")],
            inside('["java.math.BigDecimal",1E+3],["java.math.BigDecimal",1.23E-8]'),
        ),
        (
            [Decimal("0E+3"), Decimal("1E+1000")],
            inside('["java.math.BigDecimal",0E+3],["java.math.BigDecimal",1E+1000]'),
        ),
        (["\U0001f600\u2028\x7f\x01\x1f/"], inside('"\U0001f600\u2028\x7f\\u0001\\u001F/"')),
        (["\ud800", "a\udc00b"], inside('"\\uD800","a\\uDC00b"')),
        ({'\U0001f600\u00e9"': 1}, '{"@class":"java.util.LinkedHashMap","\U0001f600\u00e9\\"":1}'),
        ([java.Locale(), java.Locale("", "US")], inside('["java.util.Locale",""],["java.util.Locale","und-US"]')),
        (
            [java.Locale("zh", "TW", script="Hant"), java.Locale("de", "", "POSIX")],
            inside('["java.util.Locale","zh-Hant-TW"],["java.util.Locale","de-POSIX"]'),
        ),
        ([java.Locale("th", "TH", extensions="u-nu-thai")], inside('["java.util.Locale","th-TH-u-nu-thai"]')),
        (
            [java.OptionalInt(5), java.OptionalInt()],
            inside('["java.util.OptionalInt",5],["java.util.OptionalInt",null]'),
        ),
        ([java.OptionalLong(2**40)], inside('["java.util.OptionalLong",1099511627776]')),
        ([java.OptionalDouble(1.5)], inside('["java.util.OptionalDouble",1.5]')),
        (
            [java.Month.FEBRUARY, java.DayOfWeek.SUNDAY],
            inside('["java.time.Month",2],["java.time.DayOfWeek","SUNDAY"]'),
        ),
        ([java.Array("java.time.Month", [java.Month.MAY])], inside('["[Ljava.time.Month;",[5]]')),
        (java.EnumSet(java.Month, [java.Month.MAY]), '["java.util.EnumSet<java.time.Month>",[5]]'),
        ([java.ZoneId("Europe/Berlin")], inside('["java.time.ZoneId","Europe/Berlin"]')),
        ([java.ZoneOffset(7200)], inside('["java.time.ZoneOffset","+02:00"]')),
        (
            [java.Year(-44), java.YearMonth(12345, 2)],
            inside('["java.time.Year",-44],["java.time.YearMonth","12345-02"]'),
        ),
        (
            [java.YearMonth(-5, 2), java.MonthDay(2, 29)],
            inside('["java.time.YearMonth","-0005-02"],["java.time.MonthDay","--02-29"]'),
        ),
        ([java.Array("java.time.LocalDate", [date(2024, 2, 29)])], inside('["[Ljava.time.LocalDate;",["2024-02-29"]]')),
        (
            [timedelta(days=2), timedelta(seconds=-1.5)],
            inside('["java.time.Duration","PT48H"],["java.time.Duration","PT-1.5S"]'),
        ),
        ([time(1, 2, tzinfo=timezone(timedelta(hours=2)))], inside('["java.time.OffsetTime","01:02+02:00"]')),
        ([java.SqlDate(1970, 1, 1, tzinfo=UTC)], inside('["java.sql.Date","1970-01-01T00:00:00.000Z"]')),
        ([java.SqlTime(1970, 1, 1, 1, tzinfo=UTC)], inside('["java.sql.Time","01:00:00"]')),
        # The Julian calendar before 1582-10-15, and years before 1.
        ([time_numbers.java_date(-12219292800000)], inside('["java.util.Date","1582-10-15T00:00:00.000Z"]')),
        ([time_numbers.java_date(-12219292800001)], inside('["java.util.Date","1582-10-04T23:59:59.999Z"]')),
        ([time_numbers.java_date(-62167392000000)], inside('["java.util.Date","+0000-01-01T00:00:00.000Z"]')),
        ([time_numbers.java_date(-(10**15))], inside('["java.util.Date","-29719-11-16T22:13:20.000Z"]')),
        (
            [Point(1, 2), Line(None, None, "x")],
            inside('{"@class":"com.acme.Point","x":1,"y":2},{"@class":"com.acme.Line","label":"x"}'),
        ),
        ([Circle(1.5), Color.RED], inside('{"@class":"com.acme.Circle","radius":1.5},["com.acme.Color","RED"]')),
    ],
)
def test_bytes_are_javas(value: Any, text: str) -> None:
    assert codec.encode(value).decode() == text
    assert same(codec.decode(text.encode()), value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (java.Long(5), "5"),  # read as an int, in Java as an Integer
        (java.Short(5), "5"),
        (Decimal("-0E+3"), '["java.math.BigDecimal",0E+3]'),
        (["\ud83d\ude00"], inside('"\U0001f600"')),
        ([java.Timestamp(1970, 1, 1, 0, 0, 0, 1999, UTC)], inside('["java.sql.Timestamp","1970-01-01T00:00:00.001Z"]')),
    ],
)
def test_what_comes_back_as_another_value_is_written_as_java_does(value: Any, text: str) -> None:
    assert codec.encode(value).decode() == text
    assert codec.encode(codec.decode(text.encode())).decode() == text


def dates_and_times() -> list[Vector]:
    groups = frozenset(
        (
            *(
                "instant",
                "localdate",
                "localtime",
                "localdatetime",
                "offsetdatetime",
                "offsettime",
                "duration",
                "period",
            ),
            *("zone", "calendarpart", "zoneddatetime"),
        )
    )
    return [vector for vector in vectors("JsonJackson3Codec") if vector.name.split("/")[0] in groups]


@pytest.mark.parametrize("vector", dates_and_times(), ids=str)
def test_java_time_has_the_texts_of_java(vector: Vector) -> None:
    # As the whole value Java leaves out the class and cannot read it; this codec writes it.
    assert vector.data is not None
    value = SAMPLES[vector.name]
    name = vector.java_type.replace("ZoneRegion", "ZoneId")
    data = b'["%s",%s]' % (name.encode(), vector.data)
    assert codec.encode(value) == data
    decoded = codec.decode(data)
    assert codec.encode(decoded) == data
    if "zoned" not in vector.name:  # its zone is not written
        assert same(decoded, value)


def test_the_zone_of_a_zoned_date_time_is_lost_as_in_java() -> None:
    berlin = datetime(2024, 2, 29, 12, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    decoded = codec.decode(codec.encode([berlin]))[0]
    assert (decoded, decoded.zone) == (berlin, "+01:00")
    named = codec.decode(b'["java.time.ZonedDateTime","2024-02-29T12:30:00+01:00[Europe/Berlin]"]')
    assert same(named, berlin)


@java_class("com.acme.test.Times")
@attrs.define
class Times:
    any: object = None
    day: date | None = None
    at: time | None = None
    instants: list[java.Instant] | None = None
    due: java.JavaDate | None = None
    month: java.Month | None = None
    zone: java.ZoneId | None = None
    number: java.Long | None = None
    numbers: list[java.Long] | None = None
    id: UUID | None = None
    by_day: Annotated[Any, JavaType("java.util.Map<java.time.LocalDate, java.time.Instant>")] = None
    by_month: dict[java.Month, int] | None = None
    by_date: Annotated[Any, JavaType("java.util.Map<java.util.Date, java.lang.String>")] = None
    reference: Annotated[Any, JavaType("java.util.concurrent.atomic.AtomicReference<java.lang.Long>")] = None


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("any", MOMENT, '["java.time.Instant","2024-02-29T12:30:15.120Z"]'),
        ("day", date(2024, 2, 29), '"2024-02-29"'),
        ("at", time(12, 30), '"12:30:00"'),
        ("instants", [MOMENT, None], '["java.util.ArrayList",["2024-02-29T12:30:15.120Z",null]]'),
        ("due", EPOCH, '["java.util.Date","1970-01-01T00:00:00.000Z"]'),
        ("month", java.Month.FEBRUARY, "2"),
        ("zone", java.ZoneId("Europe/Berlin"), '["java.time.ZoneId","Europe/Berlin"]'),
        ("number", java.Long(5), "5"),
        ("numbers", [java.Long(5), 2**40], '["java.util.ArrayList",[5,1099511627776]]'),
        ("id", ID, f'["java.util.UUID","{ID}"]'),
        (
            "by_day",
            {date(2024, 2, 29): MOMENT},
            '{"@class":"java.util.LinkedHashMap","2024-02-29":"2024-02-29T12:30:15.120Z"}',
        ),
        ("by_month", {java.Month.MAY: 1}, '{"@class":"java.util.LinkedHashMap","MAY":1}'),
        ("by_date", {EPOCH: "a"}, '{"@class":"java.util.LinkedHashMap","1970-01-01T00:00:00.000Z":"a"}'),
        ("reference", java.AtomicReference(java.Long(5)), "5"),
        ("reference", java.AtomicReference(), "null"),
    ],
)
def test_a_declared_field(name: str, value: Any, text: str) -> None:
    whole = f'{{"@class":"com.acme.test.Times","{name}":{text}}}'
    assert codec.encode(Times(**{name: value})).decode() == whole
    assert same(codec.decode(whole.encode()), Times(**{name: value}))


@java_class("com.acme.test.Choices")
@attrs.define
class Choices:
    text: Annotated[Any, JavaType("java.util.Optional<java.lang.String>")] = attrs.field(factory=java.Optional)
    number: Annotated[Any, JavaType("java.util.Optional<java.lang.Long>")] = attrs.field(factory=java.Optional)
    at: Annotated[Any, JavaType("java.util.Optional<java.time.Instant>")] = attrs.field(factory=java.Optional)
    any: java.Optional[Any] = attrs.field(factory=java.Optional)
    int: java.OptionalInt = attrs.field(factory=java.OptionalInt)
    long: java.OptionalLong = attrs.field(factory=java.OptionalLong)
    double: java.OptionalDouble = attrs.field(factory=java.OptionalDouble)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Choices(), '"any":null,"at":null,"double":null,"int":null,"long":null,"number":null,"text":null'),
        (
            Choices(
                java.Optional("a"),
                java.Optional(java.Long(5)),
                java.Optional(MOMENT),
                java.Optional(java.Long(6)),
                java.OptionalInt(1),
                java.OptionalLong(2),
                java.OptionalDouble(1.5),
            ),
            '"any":["java.lang.Long",6],"at":"2024-02-29T12:30:15.120Z","double":1.5,"int":1,"long":2,"number":5,"text":"a"',
        ),
    ],
)
def test_an_optional_is_unwrapped_where_a_field_is_declared_so(value: Choices, text: str) -> None:
    whole = f'{{"@class":"com.acme.test.Choices",{text}}}'
    assert codec.encode(value).decode() == whole
    assert same(codec.decode(whole.encode()), value)


def test_a_record_has_its_fields_in_the_order_of_its_declaration() -> None:
    parcel = Parcel(
        1, java.Long(2), "l", 2.5, True, Color.BLUE, [Point(1, 2)], {"a": 1}, java.IntArray([1]), java.Long(5)
    )
    text = (
        '{"@class":"com.acme.Parcel","number":1,"reference":2,"label":"l","weight":2.5,"fragile":true,"color":"BLUE",'
        '"route":["java.util.ArrayList",[{"x":1,"y":2}]],"stock":{"@class":"java.util.LinkedHashMap","a":1},'
        '"sizes":[1],"note":["java.lang.Long",5]}'
    )
    assert codec.encode(parcel).decode() == text
    assert same(codec.decode(text.encode()), parcel)


def test_a_class_has_its_fields_by_name_and_of_java_whatever_there_is() -> None:
    order = Order(java.Long(1), "A", 1.5, ["x"])
    text = '{"@class":"com.acme.Order","id":1,"price":1.5,"sku":"A","tags":["java.util.ArrayList",["x"]]}'
    assert codec.encode(order).decode() == text
    assert same(codec.decode(text.encode()), order)
    assert codec.decode(b'{"@class":"com.acme.Order"}') == Order()  # of a Java class without getters


def test_an_exception_has_no_number() -> None:
    text = (
        '{"@class":"java.lang.RuntimeException","cause":{"@class":"java.io.IOException","stackTrace":[],'
        '"suppressed":["[Ljava.lang.Throwable;",[]]},"localizedMessage":"bare","message":"bare","stackTrace":[],'
        '"suppressed":["[Ljava.lang.Throwable;",[]]}'
    )
    failure = codec.decode(text.encode())
    assert (failure.java_name, failure.message, failure.cause.java_name) == (
        "java.lang.RuntimeException",
        "bare",
        "java.io.IOException",
    )
    assert codec.encode(failure).decode() == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('["java.util.Date",5]', time_numbers.java_date(5)),
        ('["java.util.Date","2024-02-29"]', java.JavaDate(2024, 2, 29, tzinfo=UTC)),
        ('["java.util.Date","2024-02-29T01:00:00.000+01:00"]', java.JavaDate(2024, 2, 29, tzinfo=UTC)),
        ('["java.util.Locale","en_US"]', java.Locale("en", "US")),
        ('["java.util.Locale","sl-IT-nedis-rozaj"]', java.Locale("sl", "IT", "nedis_rozaj")),
        ('["java.time.Instant",5.5]', datetime(1970, 1, 1, 0, 0, 5, 500_000, UTC)),
        ('["java.time.Instant","2024-02-29T13:30:15.12+01:00"]', MOMENT),
        ('["java.time.LocalDate",[2024,2,29]]', date(2024, 2, 29)),
        ('["java.time.Month","FEBRUARY"]', java.Month.FEBRUARY),
        ('["java.time.Year","2024"]', java.Year(2024)),
        ('["java.time.Duration","P1DT-1.5S"]', timedelta(days=1, seconds=-1.5)),
        ('["java.time.Duration","-PT1M"]', timedelta(minutes=-1)),
        ('["java.time.Period","P2W"]', java.Period(0, 0, 14)),
        ('["java.time.Period","-P1Y"]', java.Period(-1, 0, 0)),
    ],
)
def test_what_java_reads_is_read(text: str, value: Any) -> None:
    assert same(codec.decode(text.encode()), value)


@pytest.mark.parametrize(
    "text",
    [
        '["java.time.Instant","2024-02-30T00:00:00Z"]',
        '["java.time.Instant","2024-02-29T24:00:00Z"]',
        '["java.time.Instant","2024-02-29T00:00:00"]',
        '["java.time.Instant","9999999999-01-01T00:00:00"]',
        '["java.time.Instant",1e999999999]',
        '["java.time.Instant",1e-999999999]',
        '["java.time.Instant",1e99999999999999999999]',
        '["java.time.Instant",99999999999999999999]',
        '["java.time.Instant",true]',
        '["java.time.LocalDate","2024-13-01"]',
        '["java.time.LocalDate","2024-\u0661\u0661-01"]',
        '["java.time.LocalDate",[2024,2]]',
        '["java.time.LocalDate",[2024,2,true]]',
        '["java.time.LocalTime",[25,0]]',
        '["java.time.LocalTime",[1,2,3,1000000000]]',
        '["java.time.LocalDateTime",[2024,2,29]]',
        '["java.time.OffsetTime",[1,2]]',
        '["java.time.OffsetTime",[]]',
        '["java.time.OffsetDateTime","2024-02-29T00:00:00+19:00"]',
        '["java.time.OffsetDateTime","2024-02-29T00:00:00+01:60"]',
        '["java.time.Duration","P"]',
        '["java.time.Duration","PT"]',
        '["java.time.Duration","PT9999999999999999999H"]',
        '["java.time.Period","P"]',
        '["java.time.Period","P9999999999Y"]',
        '["java.time.Year",1000000000]',
        '["java.time.YearMonth",[2024,13]]',
        '["java.time.YearMonth","2024-00"]',
        '["java.time.MonthDay","--02-30"]',
        '["java.time.Month",13]',
        '["java.time.Month","MAI"]',
        '["java.time.ZoneOffset","Berlin"]',
        '["java.util.Date","999999999-01-01"]',
        '["java.util.Date",9223372036854775808]',
        '["java.util.Locale","en-"]',
        '["java.util.Optional","5"]',
    ],
)
def test_texts_that_are_no_such_value(text: str) -> None:
    with pytest.raises(DecodeError, match=r"JsonJackson3Codec: (a value that is not a|Java class) java\.") as caught:
        codec.decode(text.encode())
    assert caught.value.offset == 2


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([java.Optional("a")], r"Optional in its place, unless a field is declared so: write that itself \(at \$\[0\]"),
        (java.AtomicReference("a"), "AtomicReference in its place"),
        (java.Locale("es", "ES", "Traditional_WIN"), "cannot hold the variant Traditional"),
        (time(1, 2, tzinfo=ZoneInfo("Europe/Berlin")), "OffsetTime: a time with a zone but without a date"),
        (Decimal("9" * 1001), "1000 digits"),
        (Decimal("sNaN"), "sNaN"),
        ({date(2024, 2, 29): 1}, "a key of type"),
        (nested(201, kind="list"), "nested deeper"),
    ],
)
def test_a_value_that_jackson_3_has_no_form_for(value: Any, message: str) -> None:
    with pytest.raises(EncodeError, match=message):
        codec.encode(value)


# TypedJsonJackson3Codec


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (str, "\U0001f600", '"\U0001f600"'),
        (java.Long, java.Long(5), "5"),
        (java.Instant, MOMENT, '"2024-02-29T12:30:15.120Z"'),
        (java.JavaDate, EPOCH, '"1970-01-01T00:00:00.000Z"'),
        (UUID, ID, f'"{ID}"'),
        (Decimal, Decimal("1E+3"), "1E+3"),
        (list[UUID], [ID, None], f'["{ID}",null]'),
        (Line, Line(None, Point(1, 2), None), '{"from":null,"to":{"x":1,"y":2},"label":null}'),
        (
            Dates,
            Dates(day=date(2024, 2, 29), id=ID),
            f'{{"created":null,"day":"2024-02-29","id":"{ID}","instant":null,"lasts":null,"meeting":null}}',
        ),
        (
            Invoice,
            Invoice(id=ID),
            f'{{"currency":null,"due":null,"id":"{ID}","locale":null,"serial":null,"stamp":null,"total":null}}',
        ),
        (Maybe, Maybe(java.Optional("a")), '{"order":null,"text":"a"}'),
        (dict[java.Month, java.Long], {java.Month.MAY: java.Long(5)}, '{"MAY":5}'),
        (object, {"a": [1, None]}, '{"a":[1,null]}'),
    ],
)
def test_plain_json_of_a_declared_type(kind: Any, value: Any, text: str) -> None:
    typed = TypedJsonJackson3Codec(kind)
    assert typed.encode(value).decode() == text
    assert same(typed.decode(text.encode()), value)


def test_the_type_of_a_typed_codec() -> None:
    assert repr(TypedJsonJackson3Codec(Order)) == "TypedJsonJackson3Codec(Order)"
    with pytest.raises(ArgumentError, match="has no Java type"):
        TypedJsonJackson3Codec(complex)


# The binary formats, which have no types there

PLAIN: dict[str, Codec] = {"CborJackson3Codec": CborJackson3Codec(), "SmileJackson3Codec": SmileJackson3Codec()}
#: Declared with fields, which that Java class has no getters for.
HIDDEN = "object/order"


@pytest.mark.parametrize(
    "vector",
    [vector for name in PLAIN for vector in vectors(name) if vector.name != HIDDEN],
    ids=lambda row: row.codec + str(row),
)
def test_a_binary_format_is_that_of_java(vector: Vector) -> None:
    assert vector.data is not None
    plain, value = PLAIN[vector.codec], SAMPLES[vector.name]
    assert plain.encode(value) == vector.data
    decoded = plain.decode(vector.data)
    assert same(decoded, value) or not vector.same_back
    assert isinstance(value, UNORDERED) or plain.encode(decoded) == vector.data


@pytest.mark.parametrize(
    ("value", "text", "back"),
    [
        ([ID], "815000000000000000010000000000000002", [ID.bytes]),
        ([MOMENT], "817818323032342d30322d32395431323a33303a31352e3132305a", ["2024-02-29T12:30:15.120Z"]),
        ([java.Month.FEBRUARY, java.OptionalInt(5)], "820205", [2, 5]),
        ([Decimal("1E+3"), java.Float(1.5)], "82c4820301fa3fc00000", [Decimal("1E+3"), java.Float(1.5)]),
        ([Point(1, 2)], "81bf617801617902ff", [{"x": 1, "y": 2}]),
        (
            [Line(None, None, "x")],
            "81bf6466726f6df662746ff6656c6162656c6178ff",
            [{"from": None, "to": None, "label": "x"}],
        ),
        ([Box(java.IntArray([1]))], "81bf67636f6e74656e748101ff", [{"content": [1]}]),
        ({"a": None}, "bf6161f6ff", {"a": None}),
    ],
)
def test_cbor_keeps_the_form_alone(value: Any, text: str, back: Any) -> None:
    plain = CborJackson3Codec()
    assert plain.encode(value).hex() == text
    assert same(plain.decode(bytes.fromhex(text)), back)
