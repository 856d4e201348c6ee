"""TypedJsonJacksonCodec: JSON as Redisson 4 writes it for a declared type, and the refusals of other types."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from functools import partial
from typing import Annotated, Any
from uuid import UUID

import pytest

from redisson_dq import java
from redisson_dq.codecs import AvroJacksonCodec, JsonJacksonCodec, Kryo5Codec, TypedJsonJacksonCodec
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from redisson_dq.java import JavaType
from tests.unit.codecs.acme import (
    Address,
    Arrays,
    Box,
    Boxed,
    Circle,
    Color,
    Customer,
    Dates,
    Inner,
    Invoice,
    Line,
    Order,
    Parcel,
    Planet,
    Point,
    Primitives,
    Shelf,
    StringBox,
    VipCustomer,
)
from tests.unit.codecs.golden_rows import same

ORDER = Order(java.Long(7), "A-1", 9.99, ["x", "y"], Customer("Ann", Address("Main St", "Berlin", 10115)))
ORDER_TEXT = (
    '{"customer":{"address":{"city":"Berlin","street":"Main St","zip":10115},"name":"Ann"},"id":7,"price":9.99,'
    '"sku":"A-1","tags":["x","y"]}'
)
MOMENT = java.JavaDate(datetime(2023, 11, 14, 22, 13, 20, 123000, tzinfo=timezone.utc))
ID = UUID("12345678-1234-5678-1234-567812345678")

# Written by Redisson 4, and by this library.
WRITTEN: list[tuple[Any, Any, str]] = [
    (str, "x", '"x"'),
    (java.Long, java.Long(5), "5"),
    (bytes, b"\x01", '"AQ=="'),
    (Decimal, Decimal("1.50"), "1.50"),
    (list[Any], [1, "a", 5, None], '[1,"a",5,null]'),
    (java.IntArray, java.IntArray([1, -2]), "[1,-2]"),
    (
        java.EnumMap[Color, dict[Color, java.Character]],
        java.EnumMap(Color, {Color.RED: {Color.BLUE: java.Character("a")}}),
        '{"RED":{"BLUE":"a"}}',
    ),
    (java.EnumMap[Color, UUID], java.EnumMap(Color, {Color.RED: ID}), f'{{"RED":"{ID}"}}'),
    (Annotated[list[java.Short], JavaType("java.lang.Iterable<java.lang.Short>")], [java.Short(5)], "[5]"),
    (java.CharArray, java.CharArray(["a", '"']), '"a\\""'),
    (java.DoubleArray, java.DoubleArray([1.5, float("nan")]), '[1.5,"NaN"]'),
    (java.Array[java.IntArray], java.Array("[I", [java.IntArray([1]), java.IntArray([2, 3])]), "[[1],[2,3]]"),
    (java.JavaDate, MOMENT, "1700000000123"),
    (java.Locale, java.Locale("de", "DE"), '"de_DE"'),
    (java.Locale, java.Locale("zh", "CN", script="Hans"), '"zh_CN_#Hans"'),
    (java.Locale, java.Locale("th", "TH", extensions="u-nu-thai"), '"th_TH_#u-nu-thai"'),
    (java.Uri, java.Uri("http://a/b?c"), '"http://a/b?c"'),
    (java.AtomicInteger, java.AtomicInteger(5), "5"),
    (UUID, ID, f'"{ID}"'),
    (Color, Color.RED, '"RED"'),
    (Planet, Planet.PLUTO, '"PLUTO"'),
    (Order, ORDER, ORDER_TEXT),
    (Order, Order(), '{"price":0.0}'),
    (VipCustomer, VipCustomer("Bob", None, 3, "z", 0.5), '{"discount":0.5,"level":3,"name":"Bob","zone":"z"}'),
    (Point, Point(1, 2), '{"x":1,"y":2}'),
    (Line, Line(None, Point(3, 4), None), '{"to":{"x":3,"y":4}}'),
    (Inner, Inner("a", Inner("b")), '{"next":{"text":"b"},"text":"a"}'),
    (Circle, Circle(1.5), '{"radius":1.5}'),
    (
        Parcel,
        Parcel(5, java.Long(6), "l", 1.5, True, Color.RED, [Point(1, 2)], {"a": 1}, java.IntArray([1, 2]), 5),
        '{"color":"RED","fragile":true,"label":"l","note":5,"number":5,"reference":6,"route":[{"x":1,"y":2}],'
        '"sizes":[1,2],"stock":{"a":1},"weight":1.5}',
    ),
    (
        Primitives,
        Primitives(True, 1, 2, "c", 3, 4, 1.5, 2.5),
        '{"big":4,"exact":2.5,"flag":true,"letter":"c","number":3,"ratio":1.5,"small":2,"tiny":1}',
    ),
    (
        Boxed,
        Boxed(amount=Decimal("1.50"), big=java.Long(4), huge=java.BigInteger(10), letter=java.Character("c")),
        '{"amount":1.50,"big":4,"huge":10,"letter":"c"}',
    ),
    (Boxed, Boxed(), "{}"),
    (Dates, Dates(created=MOMENT, id=ID), f'{{"created":1700000000123,"id":"{ID}"}}'),
    (
        Invoice,
        Invoice(
            total=Decimal("1.50"), currency=java.Currency("EUR"), locale=java.Locale("de", "DE"), stamp=Color.GREEN
        ),
        '{"currency":"EUR","locale":"de_DE","stamp":"GREEN","total":1.50}',
    ),
    (
        Arrays,
        Arrays(bytes=b"\x01", points=java.Array("com.acme.Point", [Point(1, 2)]), objects=java.ObjectArray([1, "a"])),
        '{"bytes":"AQ==","objects":[1,"a"],"points":[{"x":1,"y":2}]}',
    ),
    (
        Shelf,
        Shelf(Box("l"), Box(1), [Box("b")], Box([1])),
        '{"boxes":[{"content":"b"}],"count":{"content":1},"label":{"content":"l"},"numbers":{"content":[1]}}',
    ),
    (StringBox, StringBox("x", 2), '{"content":"x","seals":2}'),
    (Box[Order], Box(ORDER), f'{{"content":{ORDER_TEXT}}}'),
    (list[Order], [ORDER, None], f"[{ORDER_TEXT},null]"),
    (dict[str, Order], {"a": ORDER}, f'{{"a":{ORDER_TEXT}}}'),
    (dict[Color, int], {Color.RED: 1}, '{"RED":1}'),
    (dict[java.Long, str], {java.Long(5): "a"}, '{"5":"a"}'),
    (object, {"a": [1, {"b": None}]}, '{"a":[1,{"b":null}]}'),
]


@pytest.mark.parametrize(("kind", "value", "text"), WRITTEN)
def test_the_declared_type_decides_both_ways(kind: Any, value: Any, text: str) -> None:
    codec = TypedJsonJacksonCodec(kind)
    assert codec.encode(value).decode() == text
    assert same(codec.decode(text.encode()), value)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Order, '{"sku":"A","unknown":{"x":[1]}}', Order(sku="A")),
        (Point, '{"y":2}', Point(0, 2)),
        (Order, "null", None),
        (UUID, f'"{ID}"', ID),
        (java.JavaDate, '"2023-11-14T22:13:20.123+00:00"', MOMENT),
        (set[int], "[1,2,1]", java.Elements("java.util.HashSet", [1, 2, 1])),
    ],
)
def test_what_java_reads_is_read(kind: Any, text: str, value: Any) -> None:
    assert same(TypedJsonJacksonCodec(kind).decode(text.encode()), value)


TEXT, WITH_CLASS = f'"{ID}"', f'["java.util.UUID","{ID}"]'


@pytest.mark.parametrize(
    ("redisson", "typed", "untyped"),
    [
        *((version, TEXT, TEXT) for version in ("3.20", "3.50.0", "4.0", "4.1.9")),
        *((version, WITH_CLASS, WITH_CLASS) for version in ("4.2", "4.3.1", "4.4.0")),
        *((version, TEXT, WITH_CLASS) for version in ("4.5", "4.7.0", "5.0", None)),
    ],
)
def test_a_uuid_has_the_form_of_each_redisson(redisson: str | None, typed: str, untyped: str) -> None:
    codec = TypedJsonJacksonCodec(Dates, redisson=redisson)
    assert codec.encode(Dates(id=ID)).decode() == f'{{"id":{typed}}}'
    naming = JsonJacksonCodec(redisson=redisson)
    assert naming.encode(Dates(id=ID)).decode() == f'{{"@class":"com.acme.Dates","id":{untyped}}}'
    for form in (TEXT, WITH_CLASS):
        assert codec.decode(f'{{"id":{form}}}'.encode()) == Dates(id=ID)
        assert naming.decode(f'{{"@class":"com.acme.Dates","id":{form}}}'.encode()) == Dates(id=ID)
        assert TypedJsonJacksonCodec(UUID, redisson=redisson).decode(form.encode()) == ID


@pytest.mark.parametrize(
    "redisson", ["", "4", "4.", "v4.3", "4.3.1.1", "4.3-SNAPSHOT", "newest", "4.\u0663", 4.3, 4, b"4.3"]
)
def test_what_is_no_version_of_redisson_is_refused(redisson: Any) -> None:
    makers: list[Any] = [JsonJacksonCodec, Kryo5Codec]
    makers += [partial(TypedJsonJacksonCodec, UUID), partial(AvroJacksonCodec, int, '"int"')]
    for make in makers:
        with pytest.raises(
            ArgumentError, match=r"redisson must be a version of Redisson such as '4\.3' or '3\.50\.0', not "
        ):
            make(redisson=redisson)


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (Order, "5", "not a com.acme.Order"),
        (Order, '{"price":"x"}', "not a double"),
        (Order, '{"customer":{"address":{"zip":2147483648}}}', "at $['customer']['address']['zip']"),
        (Color, '"PINK"', "com.acme.Color has no constant PINK in its declaration"),
        (list[int], "[1,2.5]", "at $[1]"),
        (dict[Color, int], '{"PINK":1}', "at $['PINK']"),
        (dict[int, int], '{"x":1}', "not a java.lang.Integer"),
        (java.Locale, '"en-US-\u00e9"', "not a java.util.Locale"),
        (list[Any], "[" * 500 + "]" * 500, "nested deeper"),
        (list[Any], "[[", "not JSON"),
    ],
)
def test_bytes_that_are_no_value(kind: Any, text: str, message: str) -> None:
    with pytest.raises(DecodeError, match="TypedJsonJacksonCodec") as caught:
        TypedJsonJacksonCodec(kind).decode(text.encode())
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (Order, Order(price="x"), "str cannot be a double"),  # type: ignore[arg-type]
        (Order, Order(id=2**63), "cannot be a java.lang.Long"),  # type: ignore[arg-type]
        (int, "5", "str cannot be a java.lang.Integer"),
        (str, 5, "int cannot be a java.lang.String"),
        (Dates, Dates(instant=datetime.now(timezone.utc)), "has no java.time.Instant"),  # type: ignore[arg-type]
    ],
)
def test_a_value_of_another_type_is_refused(kind: Any, value: Any, message: str) -> None:
    with pytest.raises(EncodeError, match="TypedJsonJacksonCodec") as caught:
        TypedJsonJacksonCodec(kind).encode(value)
    assert message in str(caught.value)


def test_a_type_without_a_java_type_is_refused() -> None:
    with pytest.raises(ArgumentError, match="has no Java type"):
        TypedJsonJacksonCodec(complex)
