"""Classes of a module without ``from __future__ import annotations``: Python evaluates what they are annotated with."""

import dataclasses
import typing
import uuid

import attrs
import pydantic
import pytest

from redisson_dq import java
from redisson_dq.codecs import Codec, JsonJacksonCodec, Kryo5Codec, SerializationCodec
from redisson_dq.errors import EncodeError
from redisson_dq.java import java_class

CODECS: tuple[Codec, ...] = (Kryo5Codec(), SerializationCodec(), JsonJacksonCodec())


@java_class("com.acme.evaluated.Names", serial_version_uid=1)
class Names(list[str]):
    kinds: typing.ClassVar[int] = 3
    owner: str | None = None
    # Declared further down.
    first: "Line | None" = None


@java_class("com.acme.evaluated.Line", serial_version_uid=1)
@attrs.define
class Line:
    sku: str
    count: java.long
    next: "Line | None" = None
    tags: list[str] = attrs.field(factory=list)


@java_class("com.acme.evaluated.Order", serial_version_uid=1)
@dataclasses.dataclass
class Order:
    id: uuid.UUID
    lines: list[Line]
    prices: dict[str, float] = dataclasses.field(default_factory=dict)


@java_class("com.acme.evaluated.Model", serial_version_uid=1)
class Model(pydantic.BaseModel):
    id: int
    notes: list[str | None] = []


LINE = Line("a-1", java.long(3), Line("b-2", java.long(4)), ["x"])
VALUES = [LINE, Order(uuid.UUID(int=7), [LINE], {"a-1": 2.5}), Model(id=5, notes=["n", None])]


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_comes_back_equal(codec: Codec, value: typing.Any) -> None:
    assert codec.decode(codec.encode(value)) == value


def test_the_annotated_attributes_of_a_collection_are_its_fields() -> None:
    names = Names(["a", "b"])
    names.owner, names.first = "Ada", LINE
    codec = SerializationCodec()
    found = codec.decode(codec.encode(names))
    assert (list(found), vars(found)) == (["a", "b"], {"owner": "Ada", "first": LINE})
    with pytest.raises(EncodeError, match=r"Names\.owner is not written"):
        Kryo5Codec().encode(names)
