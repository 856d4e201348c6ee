"""Names in JSON and what else Jackson's annotations say, of classes that are declared by hand."""

from __future__ import annotations

from decimal import Decimal
from enum import Enum
from functools import partial
from typing import Any

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    AvroJacksonCodec,
    CborJacksonCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    TypedJsonJackson3Codec,
    TypedJsonJacksonCodec,
)
from redisson_dq.codecs.marks import other_bytes
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from redisson_dq.java import Json, java_class


@java_class("json.Paid", json={"amount": "amt", "from": "payer"})
@attrs.define
class Paid:
    amount: int
    from_: str | None = None


@java_class("json.Refund", json=Json(names={"why": "reason"}, ignored=["amount"], nulls=["why"], order=["why"]))
@attrs.define
class Refund(Paid):
    why: str | None = "x"


@java_class("json.Late", json3={"amount": "amount3"})
@attrs.define
class Late(Paid):
    days: int = 0


@java_class("json.Opaque", json=Json(refused="@JsonUnwrapped on field inner"))
@attrs.define
class Opaque:
    inner: str | None = None


@java_class("json.Names", json=Json(refused="@JsonFormat(shape = OBJECT)"))
class Names(list[str]):
    pass


@java_class("json.Level", json=Json({"LOW": "low", "HIGH": 7}, aliases={"LOW": ["small"]}))
class Level(Enum):
    LOW = 1
    HIGH = 2
    TOP = 3


@java_class("json.Typed", final=True, json=Json(typed=True))
@attrs.define
class Typed:
    level: Level | None = None


codec, typed = JsonJacksonCodec(), TypedJsonJacksonCodec(Paid)


def test_names_in_json_are_written_and_read() -> None:
    value = Paid(5, "Ann")
    assert typed.encode(value) == b'{"amt":5,"payer":"Ann"}'
    assert typed.decode(b'{"payer":"Ann","amt":5,"amount":9,"from":"x"}') == value
    for each in codec, CborJacksonCodec(), JsonJackson3Codec(), Kryo5Codec():
        assert each.decode(each.encode([value])) == [value]
    assert b"amount" not in codec.encode(value)


def test_avro_has_the_names_of_the_schema() -> None:
    schema = (
        '{"type": "record", "name": "Paid", "fields": [{"name": "amt", "type": "int"}, '
        '{"name": "payer", "type": ["null", "string"]}]}'
    )
    avro = AvroJacksonCodec(Paid, schema)
    assert avro.encode(Paid(5, "Ann")) == b"\x0a\x02\x06Ann"
    assert avro.decode(b"\x0a\x02\x06Ann") == Paid(5, "Ann")


def test_a_class_with_names_of_its_own_says_all_of_them() -> None:
    value = Refund(amount=5, from_="Ann", why=None)
    assert codec.encode(value) == b'{"@class":"json.Refund","reason":null,"from":"Ann"}'
    assert codec.decode(codec.encode(value)) == Refund(amount=0, from_="Ann", why=None)
    assert codec.decode(b'{"@class":"json.Refund","amt":1,"amount":2}') == Refund(amount=0)
    assert Kryo5Codec().decode(Kryo5Codec().encode(value)) == value


def test_a_class_without_names_has_its_superclasss() -> None:
    assert codec.encode(Late(1, None, 2)) == b'{"@class":"json.Late","amt":1,"days":2}'
    assert TypedJsonJackson3Codec(Late).encode(Late(1, None, 2)) == b'{"amount3":1,"days":2,"from":null}'


def test_constants_have_names_numbers_and_aliases() -> None:
    each = TypedJsonJacksonCodec(list[Level])
    assert each.encode([*Level]) == b'["low",7,"TOP"]'
    assert each.decode(b'["small","low",7,"TOP"]') == [Level.LOW, Level.LOW, Level.HIGH, Level.TOP]
    for wrong in b'["LOW"]', b"[8]", b'["HIGH"]', b"[7.0]":
        with pytest.raises(DecodeError, match=r"json\.Level"):
            each.decode(wrong)
    maps = TypedJsonJacksonCodec(dict[Level, int])
    assert maps.encode({Level.LOW: 1}) == b'{"low":1}'
    assert maps.decode(b'{"low":1,"TOP":2}') == {Level.LOW: 1, Level.TOP: 2}
    assert maps.encode({Level.HIGH: 1}) == b'{"7":1}'
    assert maps.decode(b'{"7":1}') == {Level.HIGH: 1}
    for wrong in b'{"8":1}', b'{"HIGH":1}':
        with pytest.raises(DecodeError, match=r"json\.Level has no constant"):
            maps.decode(wrong)


def test_a_typed_class_is_named_where_others_are_not() -> None:
    assert TypedJsonJacksonCodec(Typed).encode(Typed(Level.LOW)) == b'{"@class":"json.Typed","level":"low"}'
    assert TypedJsonJacksonCodec(Typed).decode(b'{"@class":"json.Typed","level":"low"}') == Typed(Level.LOW)


@pytest.mark.parametrize("value", [Opaque("x"), Names(["a"])], ids=repr)
@pytest.mark.parametrize("codec", [codec, CborJacksonCodec(), JsonJackson3Codec()], ids=repr)
def test_what_cannot_be_said_is_refused(value: Any, codec: Any) -> None:
    name = type(value).__name__
    with pytest.raises(EncodeError, match=rf"json\.{name} has @Json.*, which decides what Java writes as JSON"):
        codec.encode([value])
    assert Kryo5Codec().decode(Kryo5Codec().encode([value])) == [value]


def test_what_cannot_be_said_is_not_read() -> None:
    for data in b'{"@class":"json.Opaque","inner":"x"}', b'["json.Names",["a"]]':
        with pytest.raises(DecodeError, match=r"json\.(Opaque|Names) has @Json.*: send it with Kryo5Codec"):
            codec.decode(data)


@pytest.mark.parametrize(
    ("json", "words"),
    [
        ({"amount_": "amt"}, "json.Wrong has no amount_, which json= names: it takes Java's names"),
        (Json(ignored=["a"]), "json.Wrong has no a, which json= names"),
        (Json(order=["amount", "b"]), "json.Wrong has no b, which json= names"),
        ("amt", "json must be a java.Json, or a dict from Java's names to names in JSON, not 'amt'"),
        ({"amount": None}, "is not a dict from Java's names to names in JSON"),
    ],
)
def test_wrong_arguments(json: Any, words: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        java_class("json.Wrong", json=json)(attrs.make_class("Wrong", {"amount": attrs.field(type=int)}))
    assert words in str(caught.value)


@java_class("json.Texts", json=Json(as_text=["id", "price", "ids"]))
@attrs.define
class Texts:
    id: java.Long | None = None
    price: Decimal | None = None
    ids: list[java.Long] | None = None
    other: java.Long | None = None


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (
            JsonJacksonCodec(),
            b'{"@class":"json.Texts","id":["java.lang.Long","-5"],"ids":["java.util.ArrayList",[["java.lang.Long","7"]]],'
            b'"other":["java.lang.Long",6],"price":["java.math.BigDecimal","1E+3"]}',
        ),
        (TypedJsonJacksonCodec(Texts), b'{"id":"-5","ids":["7"],"other":6,"price":"1E+3"}'),
    ],
    ids=["by class", "typed"],
)
def test_numbers_as_texts(kind: Any, data: bytes) -> None:
    value = Texts(java.Long(-5), Decimal("1E+3"), [java.Long(7)], java.Long(6))
    assert kind.encode(value) == data
    read = kind.decode(data)
    assert read == value
    assert (type(read.id), other_bytes(read)) == (java.Long, "")
    # Java reads a number there too, and other spellings of one.
    for written in (b"-5", b'" -5 "', b'"-05"'):
        read = kind.decode(data.replace(b'"-5"', written))
        assert read == value
        assert other_bytes(read)
    for written in (b'"x"', b'"5.5"', b'""', b'"9223372036854775808"'):
        with pytest.raises(DecodeError, match=r"a value that is not a java\.lang\.Long"):
            kind.decode(data.replace(b'"-5"', written))
    with pytest.raises(EncodeError, match=r"java\.lang\.Long"):
        kind.encode(Texts(id=1 << 63))  # type: ignore[arg-type]


def test_a_number_in_a_text_names_the_way_to_read_it() -> None:
    with pytest.raises(
        DecodeError, match=r"a text, '6', that is not a java\.lang\.Long; .* json=java\.Json\(as_text="
    ) as caught:
        TypedJsonJacksonCodec(Texts).decode(b'{"other":"6"}')
    assert "out of date" not in str(caught.value)


@pytest.mark.parametrize("names", [5, None, ["int"], ["java.lang.Integer"], [["long"]]])
def test_texts_of_a_mapper_are_of_larger_numbers(names: Any) -> None:
    for make in (JsonJacksonCodec, partial(TypedJsonJacksonCodec, object)):
        with pytest.raises(ArgumentError, match=r"as_text is a list of names, of .long., .java.lang.Long., "):
            make(as_text=names)


def test_texts_are_of_numbers() -> None:
    kind = java_class("json.NoNumber", json=Json(as_text=["rate"]))(
        attrs.make_class("NoNumber", {"rate": attrs.field(type=float)})
    )
    with pytest.raises(
        (ArgumentError, EncodeError), match=r"field rate: as_text= is for whole numbers and BigDecimals"
    ):
        JsonJacksonCodec().encode(kind(1.5))


def test_texts_where_lists_stand() -> None:
    with pytest.raises(ArgumentError, match="not the text 'secret'"):
        Json(ignored="secret")
    with pytest.raises(ArgumentError, match="has a text in place of a list of names"):
        Json(aliases={"amount": "amt"})
