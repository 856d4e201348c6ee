"""Why a value was read from other bytes than Jackson writes: each reason, and which of several is reported."""

from __future__ import annotations

import sys
from uuid import UUID

import attrs
import pytest

import tests.unit.codecs.acme  # noqa: F401 - it declares the classes of com.acme
from redisson_dq import java
from redisson_dq.codecs import CborJacksonCodec, Codec, JsonJacksonCodec, TypedJsonJacksonCodec
from redisson_dq.codecs.jackson.reading.doubts import Doubt, Doubts
from redisson_dq.codecs.marks import other_bytes
from redisson_dq.java import Json, java_class

JSON = JsonJacksonCodec()
GENERIC = JsonJacksonCodec(unknown="generic")


@java_class("com.acme.Doubtful", serial_version_uid=1, json=Json(aliases={"id": ["key"]}))
@attrs.define
class Doubtful:
    count: java.int = 0
    counted: java.AtomicReference[int] | None = None
    id: UUID | None = None


@java_class("com.acme.Doubtfuls", serial_version_uid=1)
class Doubtfuls(list[Doubtful]):
    pass


def listed(*nodes: bytes) -> bytes:
    return b'["java.util.ArrayList",[%b]]' % b",".join(nodes)


def doubtful(fields: bytes) -> bytes:
    return listed(b'{"@class":"com.acme.Doubtful",%b}' % fields)


def exception(number: int, *suppressed: bytes) -> bytes:
    """Jackson writes an exception with its ``@id``, and refers to it by that id later."""
    fields = b'"@id":%d,"stackTrace":[],"suppressed":["[Ljava.lang.Throwable;",[%b]]' % (number, b",".join(suppressed))
    return b'{"@class":"java.lang.Exception",%b}' % fields


#: A space makes the bytes others where the doubt alone does not.
ROWS: list[tuple[Doubt, Codec, bytes]] = [
    (Doubt.ANY_FORM, JSON, b'{"@class":"com.acme.Doubtful","id":null,"count":1}'),
    (Doubt.NUMBERS_AND_TEXTS, CborJacksonCodec(), b"\x82\x73java.util.ArrayList\x81\x01"),
    (Doubt.SPACES, JSON, listed(b"1", b" 2")),
    (Doubt.MINUS_ZERO, JSON, listed(b"-0")),
    (Doubt.CHARACTER, JSON, listed(b'"\\u00e9"')),
    (Doubt.OUTERMOST, CborJacksonCodec(), b"\x82\x6fjava.lang.Float\xfa\x3f\xc0\0\0"),
    (Doubt.NULL_REFERENCE, JSON, doubtful(b'"count":1,"counted": null')),
    (Doubt.NULL_PRIMITIVE, JSON, listed(b'["[S",[null]]')),
    (Doubt.NULL_FIELD, JSON, doubtful(b'"count":1,"id":null')),
    (Doubt.NAMED_OTHERWISE, JSON, listed(b'["java.lang.Integer",5]')),
    (Doubt.NAMED_IN_REFERENCE, JSON, doubtful(b'"count":1,"counted": 5')),
    (Doubt.NAMED_IN_COLLECTION, JSON, listed(b'["com.acme.Doubtfuls",[ ]]')),
    (
        Doubt.NAMED_IN_ENUM_MAP,
        JSON,
        listed(b'{"@class":"java.util.EnumMap<com.acme.Color,java.lang.Object>", "RED":5}'),
    ),
    (
        Doubt.NAMED_NEEDLESSLY,
        JsonJacksonCodec(redisson="3.50"),
        doubtful(b'"count":1,"id":["java.util.UUID","00000000-0000-0000-0000-000000000005"]'),
    ),
    (Doubt.NAMED_CONSTANT, JSON, listed(b'["com.acme.Color",["com.acme.Color","RED"]]')),
    (Doubt.NOT_NAMED, JSON, listed(b'["[Ljava.lang.Long;",[5]]')),
    (Doubt.OBJECT, JSON, listed(b'["java.lang.Object",5]')),
    (Doubt.CHARSET, JSON, listed(b'["sun.nio.cs.UTF_8","UTF-8"]')),
    (Doubt.BIG_NUMBER, JSON, listed(b"5000000000")),
    (Doubt.FLOAT, JSON, listed(b"1.50")),
    (Doubt.BYTES, JSON, listed(b'["[B","AB=="]')),
    (Doubt.SCALAR, TypedJsonJacksonCodec(list[float]), b"[5]"),
    (Doubt.OTHER_CLASS, JSON, listed(b'["java.util.Collections$UnmodifiableList",[ ]]')),
    (Doubt.KEY, TypedJsonJacksonCodec(list[dict[java.Integer, int]]), b'[{"05":1}]'),
    (Doubt.KEY_TWICE, JSON, listed(b'{"@class":"java.util.HashMap","a":1,"a":2}')),
    (Doubt.PROPERTIES, JSON, listed(b'{"@class":"java.util.Properties","a":1}')),
    (Doubt.UNDECLARED, GENERIC, listed(b'{"@class":"com.acme.Nobody", "a":1}')),
    (Doubt.UNKNOWN_FIELD, JSON, doubtful(b'"count":1,"extra":2')),
    (Doubt.ALIAS, JSON, doubtful(b'"count":1,"key":["java.util.UUID","00000000-0000-0000-0000-000000000005"]')),
    (Doubt.FIELD_ORDER, JSON, doubtful(b'"id":["java.util.UUID","00000000-0000-0000-0000-000000000005"],"count":1')),
    (Doubt.LATE_CLASS, JSON, listed(b'{"count":1,"@class":"com.acme.Doubtful"}')),
    (Doubt.MISSING_FIELD, JSON, listed(b'{"@class":"com.acme.Doubtful"}')),
    (
        Doubt.SHARED_EXCEPTION,
        JSON,
        listed(exception(1, exception(2), b"2")),
    ),
]


def test_each_reason_has_a_row() -> None:
    assert [doubt for doubt, *_ in ROWS] == list(Doubt)


@pytest.mark.parametrize(("doubt", "codec", "data"), ROWS, ids=lambda part: getattr(part, "name", ""))
def test_each_reason_is_told(doubt: Doubt, codec: Codec, data: bytes) -> None:
    value = codec.decode(data)
    assert codec.encode(value) != data
    pieces = [piece for piece in doubt.words.split("{}") if piece]
    told = other_bytes(value)
    places = [told.find(piece) for piece in pieces]
    assert -1 not in places, told
    assert places == sorted(places)
    assert "{}" not in told


@pytest.mark.parametrize(
    ("nodes", "told"),
    [
        pytest.param((b"1.50", b"2.50"), "the float 1.50 is", id="the first of two certain ones"),
        pytest.param((b"5000000000", b"1.50"), "a number of more than 32 bits", id="the first of two certain reasons"),
        pytest.param((b'["java.util.Date",5]', b'["java.util.Locale","de"]'), "5 is", id="the first of possible ones"),
        pytest.param((b'["java.util.Date",5]', b"1.50"), "the float 1.50 is", id="a certain one behind a possible one"),
        pytest.param((b"1.50", b'["java.util.Date",5]'), "the float 1.50 is", id="a certain one before a possible one"),
        pytest.param((b"1.50", exception(1, exception(2), b"2")), "an exception at two", id="one without comparison"),
    ],
)
def test_of_several_reasons_one_is_told(nodes: tuple[bytes, ...], told: str) -> None:
    value = JSON.decode(listed(*nodes, b" null"))
    assert other_bytes(value).startswith(told)


def test_a_class_that_stands_before_another_in_the_bytes_is_told() -> None:
    """The fields of an object are looked at before the objects in them."""
    inner = b'{"@class":"com.acme.Address","city":"b","street":"a"}'
    value = JSON.decode(listed(b'{"@class":"com.acme.Customer","name":"Ann","address":%b}' % inner))
    assert other_bytes(value).startswith("the fields of com.acme.Customer are written in another order")


def test_a_reason_shows_no_long_text_from_the_bytes() -> None:
    doubts = Doubts()
    assert (doubts.told, str(doubts)) == (None, "")
    doubts.note(Doubt.KEY, "k" * 1000)
    assert len(str(doubts)) < 200
    doubts.note(Doubt.NULL_REFERENCE, "java.util.Optional")
    assert doubts.told is Doubt.KEY


def test_a_doubt_gets_its_words_when_the_bytes_differ() -> None:
    """Most doubts are about bytes that prove to be the same. Their words would cost a tenth of reading a short list."""

    def words_for(data: bytes) -> int:
        called = []
        sys.setprofile(lambda frame, event, _: called.append(frame.f_code) if event == "call" else None)
        try:
            JSON.decode(data)
        finally:
            sys.setprofile(None)
        return called.count(Doubts.__str__.__code__)

    assert words_for(b'["java.util.ArrayList",[["java.math.BigDecimal",1.25]]]') == 0
    assert words_for(b'["java.util.ArrayList",[["java.math.BigDecimal",1.25e0]]]') == 1
