"""Models of pydantic as Java classes, and the schemas of the classes of redisson_dq.java."""

from __future__ import annotations

from datetime import datetime, timezone
from enum import Enum
from typing import Any, Generic, TypeVar

import attrs
import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from redisson_dq import java
from redisson_dq.codecs import Codec, JsonJacksonCodec, Kryo5Codec, ProtobufCodec, SerializationCodec
from redisson_dq.errors import DecodeError
from redisson_dq.java import java_class
from redisson_dq.java.registry import declaration_for

T = TypeVar("T")


@java_class("com.acme.model.Box", serial_version_uid=1)
class Box(BaseModel, Generic[T]):
    content: T | None = None


@java_class("com.acme.model.Texts", serial_version_uid=2)
class Texts(Box[str]):
    more: list[str] = Field(default_factory=list)


@java_class("com.acme.model.Same", serial_version_uid=3)
class Same(Box[T], Generic[T]):
    again: T | None = None


@java_class("com.acme.model.Node", serial_version_uid=4)
class Node(BaseModel):
    id: java.long | None = None
    label: str = Field(default="", alias="title")
    next: Node | None = None
    size: java.int = Field(default=0, ge=0)
    box: Box[java.long] | None = None


@java_class("com.acme.model.Tree")
@attrs.define
class Tree(Generic[T]):
    value: T
    trees: list[Tree[T]] = attrs.field(factory=list)
    _hidden: int = 0
    depth: int = attrs.field(default=0, init=False)


CODECS = [Kryo5Codec(), JsonJacksonCodec(), SerializationCodec()]
VALUES = [
    Box[str](content="a"),
    Texts(content="a", more=["b"]),
    Same[int](content=1, again=2),
    Node(id=5, title="t", next=Node(title="u", size=3), box=Same[int](content=java.Long(1), again=java.Long(2))),
]


@pytest.mark.parametrize("codec", CODECS, ids=repr)
@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_model_is_written_and_read(codec: Codec, value: BaseModel) -> None:
    found = codec.decode(codec.encode(value))
    assert found == value
    assert isinstance(found, BaseModel)


def test_protostuff_knows_what_a_model_begins_as() -> None:
    codec = ProtobufCodec(Texts)
    assert codec.decode(codec.encode(Texts(content="a"))) == Texts(content="a")


def test_the_superclass_with_its_arguments() -> None:
    texts, same = declaration_for(Texts), declaration_for(Same)
    assert texts is not None
    assert same is not None
    assert texts.superclass_type is not None
    assert texts.superclass_type.source == "com.acme.model.Box<java.lang.String>"
    assert same.superclass_type is not None
    assert [argument.variable for argument in same.superclass_type.arguments] == ["T"]
    assert declaration_for(Box[int]) is declaration_for(Box)


def test_what_a_model_refuses_is_a_decode_error() -> None:
    data = b'{"@class":"com.acme.model.Node","label":"t","size":-1}'
    with pytest.raises(DecodeError, match="Node cannot be made: ValidationError"):
        JsonJacksonCodec().decode(data)


def test_a_subclass_stays_what_it_is_in_a_field_of_a_generic_model() -> None:
    kept = Same[int](content=1, again=2)
    assert Node(box=kept).box is kept


@pytest.mark.parametrize(
    ("annotation", "json", "value"),
    [
        (java.Long, b"5", java.Long(5)),
        (java.Float, b"1.5", java.Float(1.5)),
        (java.Character, b'"a"', java.Character("a")),
        (java.LinkedList[int], b"[1,2]", java.LinkedList([1, 2])),
        (java.LinkedHashSet[str], b'["b","a"]', java.LinkedHashSet(["b", "a"])),
        (java.TreeMap[str, int], b'{"a":1}', java.TreeMap({"a": 1})),
        (java.BitSet, b"[1,3]", java.BitSet([1, 3])),
        (java.IntArray, b"[1]", java.IntArray([1])),
        (java.StringArray, b'["a",null]', java.StringArray(["a", None])),
        (java.Array[str], b'["a"]', ["a"]),
        (java.Optional[int], b"3", java.Optional(3)),
        (java.Optional[int], b"null", java.Optional()),
        (java.AtomicInteger, b"3", java.AtomicInteger(3)),
        (java.Uri, b'"http://a"', java.Uri("http://a")),
        (java.JavaDate, b'"2024-02-29T00:00:00Z"', java.JavaDate(datetime(2024, 2, 29, tzinfo=timezone.utc))),
        (java.Period, b'{"years":1,"months":2,"days":3}', java.Period(1, 2, 3)),
        (java.kotlin.Pair[int, str], b'{"first":1,"second":"a"}', java.kotlin.Pair(1, "a")),
        (Tree[int], b'{"value":1,"trees":[],"_hidden":2,"depth":3}', None),
    ],
)
def test_the_json_of_a_class(annotation: Any, json: bytes, value: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)
    found = adapter.validate_json(json)
    if value is not None:
        assert found == value
        assert type(found) is type(value)
    assert adapter.dump_json(found) == json
    assert adapter.validate_python(found) is found or type(found) is list
    assert adapter.json_schema(mode="validation")
    assert adapter.json_schema(mode="serialization")


@pytest.mark.parametrize("name", [name for name in java.__all__ if isinstance(getattr(java, name), type)])
def test_every_class_has_a_schema(name: str) -> None:
    if name != "JavaType":  # which is used in annotations
        assert TypeAdapter(getattr(java, name)).json_schema(mode="serialization") is not None


@pytest.mark.parametrize(
    ("annotation", "json"),
    [
        (java.Long, b"9223372036854775808"),
        (java.Long, b'"x"'),
        (java.Character, b'"ab"'),
        (java.LinkedList[int], b'["a"]'),
        (Tree[int], b'{"value":1,"trees":[{"value":"x"}]}'),
        (Tree[int], b"{}"),
    ],
)
def test_json_that_is_none_of_the_class(annotation: Any, json: bytes) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)
    with pytest.raises(ValidationError):
        adapter.validate_json(json)


@java_class("com.acme.model.Hue")
class Hue(Enum):
    RED = "RED"
    BLUE = "BLUE"


@pytest.mark.parametrize(
    ("kind", "plain", "value"),
    [
        (java.EnumSet[Hue], ["BLUE", "RED"], java.EnumSet(Hue, [Hue.BLUE, Hue.RED])),
        (java.EnumMap[Hue, int], {"BLUE": 1}, java.EnumMap(Hue, {Hue.BLUE: 1})),
    ],
    ids=["EnumSet", "EnumMap"],
)
def test_json_becomes_a_collection_of_an_enum(kind: Any, plain: Any, value: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    made = adapter.validate_python(plain)
    assert (made, type(made), made.element) == (value, type(value), Hue)
    assert adapter.validate_python(value) is value
    assert adapter.dump_python(made, mode="json") == plain
    for codec in (Kryo5Codec(), SerializationCodec()):
        assert codec.decode(codec.encode([made])) == [value]
    with pytest.raises(ValidationError, match=r"the enum of this Enum(Set|Map) is not known"):
        TypeAdapter(type(value)).validate_python(plain)
