"""Codecs of Java's values for a queue of one element type, as Java's generic queues have one."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Generic, TypeVar, Union

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    Codec,
    CompositeCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    LZ4Codec,
    MarshallingCodec,
    MsgPackJacksonCodec,
    SerializationCodec,
    TypedJsonJacksonCodec,
)
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from redisson_dq.java import JavaType, java_class
from tests.unit.codecs import acme

T = TypeVar("T")

CODECS: tuple[Codec[Any], ...] = (
    Kryo5Codec(),
    Kryo5Codec(references=True),
    SerializationCodec(),
    MarshallingCodec(),
    JsonJacksonCodec(),
    JsonJackson3Codec(),
    MsgPackJacksonCodec(),
    LZ4Codec(JsonJacksonCodec()),
    CompositeCodec(None, None, Kryo5Codec()),
)
each_codec = pytest.mark.parametrize("codec", CODECS, ids=repr)


@java_class("com.acme.typed.Page", serial_version_uid=1)
@attrs.define
class Page(Generic[T]):
    number: Annotated[int, JavaType("int")] = 0
    first: T | None = None
    items: list[T] = attrs.field(factory=list)


ORDER = acme.Order(java.Long(5))
#: The type, a plain value, and the value that a codec without a type writes to the same bytes.
PLACED: list[tuple[Any, Any, Any]] = [
    (java.Long, 100_234, java.Long(100_234)),
    (java.Long, java.Long(5), java.Long(5)),
    (java.Long, None, None),
    (java.Short, 5, java.Short(5)),
    (java.BigInteger, 5, java.BigInteger(5)),
    (java.Float, 1.5, java.Float(1.5)),
    (Decimal, Decimal("1.50"), Decimal("1.50")),
    (str, "text", "text"),
    (list[java.Long], [1, 2], [java.Long(1), java.Long(2)]),
    (dict[str, java.Long], {"a": 1}, {"a": java.Long(1)}),
    (acme.Order, ORDER, ORDER),
    (list[acme.Order], [ORDER], [ORDER]),
    (Union[acme.Order, java.Long], 7, java.Long(7)),
    (Page[java.Long], Page(1, 5, [6, 7]), Page(1, java.Long(5), [java.Long(6), java.Long(7)])),
    (list[Page[java.Long]], [Page(1, 5)], [Page(1, java.Long(5))]),
    (dict[str, Page[java.Long]], {"a": Page(1, 5)}, {"a": Page(1, java.Long(5))}),
    (Page[Page[java.Long]], Page(1, Page(2, 5)), Page(1, Page(2, java.Long(5)))),
]


@each_codec
@pytest.mark.parametrize(("kind", "value", "untyped"), PLACED, ids=[str(kind) for kind, _, _ in PLACED])
def test_a_plain_value_is_written_as_the_type(codec: Codec[Any], kind: Any, value: Any, untyped: Any) -> None:
    typed = codec.typed(kind)
    data = typed.encode(value)
    assert data == codec.encode(untyped)
    assert typed.decode(data) == value
    assert typed.encode(typed.decode(data)) == data


def test_the_value_that_was_offered_stays_as_it_was() -> None:
    page = Page(1, 5, [6])
    Kryo5Codec().typed(Page[java.Long]).encode(page)
    assert (type(page.first), type(page.items[0])) == (int, int)


MISFITS: list[tuple[Any, Any, str]] = [
    (java.Long, "5", "$"),
    (java.Long, 2.5, "$"),
    (java.Long, True, "$"),
    (java.Long, 2**63, "$"),
    (java.Short, 100_000, "$"),
    (str, 5, "$"),
    (acme.Order, acme.Customer("Ann"), "$"),
    (acme.Order, {"id": 5}, "$"),
    (list[java.Long], [1, "2"], "$[1]"),
    (list[acme.Order], ORDER, "$"),
    (Union[acme.Order, str], 5, "$"),
    (Page[java.Long], Page(1, "five"), "$['first']"),
]


@each_codec
@pytest.mark.parametrize(("kind", "value", "path"), MISFITS, ids=[f"{kind}-{path}" for kind, _, path in MISFITS])
def test_another_value_is_refused_in_both_directions(codec: Codec[Any], kind: Any, value: Any, path: str) -> None:
    typed = codec.typed(kind)
    with pytest.raises(EncodeError) as caught:
        typed.encode(value)
    assert caught.value.path == path
    data = codec.encode(value)
    with pytest.raises(DecodeError, match="a queue of another type") as refused:
        typed.decode(data)
    assert refused.value.data == data


@each_codec
def test_a_type_that_java_does_not_have(codec: Codec[Any]) -> None:
    class Plain:
        pass

    for kind in (Plain, 5, list[Plain]):
        with pytest.raises(ArgumentError, match=r"^type=: .* has no Java type;"):
            codec.typed(kind)


def test_the_codec_of_plain_json_takes_another_type() -> None:
    codec = TypedJsonJacksonCodec(object).typed(acme.Customer)
    assert codec.decode(b'{"name":"Ann"}') == acme.Customer("Ann")
    assert repr(codec) == "TypedJsonJacksonCodec(Customer)"
