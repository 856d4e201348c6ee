"""Classes that extend a collection: allowed declarations, the types of their elements, and refusals."""

from __future__ import annotations

import pickle
from typing import Annotated, Any, Generic, TypeVar

import attrs
import pytest
from pydantic import TypeAdapter, ValidationError

from redisson_dq import java
from redisson_dq.codecs import (
    CborJacksonCodec,
    Codec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    ProtobufCodec,
    SerializationCodec,
    TypedJsonJacksonCodec,
)
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from redisson_dq.java import java_class
from tests.unit.codecs import acme

CODECS: tuple[Codec, ...] = (
    *(Kryo5Codec(), Kryo5Codec(references=True), SerializationCodec()),
    *(JsonJacksonCodec(), JsonJackson3Codec(), CborJacksonCodec()),
)
T = TypeVar("T")


@java_class("com.acme.own.Names", serial_version_uid=1)
class Names(list[str]):
    owner: str | None = None


@java_class("com.acme.own.Counts", serial_version_uid=1)
class Counts(java.HashMap[str, java.long]):
    pass


@java_class("com.acme.own.Words", serial_version_uid=1)
class Words(java.HashSet[str]):
    pass


@java_class("com.acme.own.Tags", serial_version_uid=1)
class Tags(list[T], Generic[T]):
    pass


@java_class("com.acme.own.Ranked", serial_version_uid=1)
class Ranked(java.TreeSet[int]):
    pass


@java_class("com.acme.own.Orders", serial_version_uid=1)
class Orders(java.LinkedHashSet[acme.Order]):
    pass


@java_class("com.acme.own.Ids", serial_version_uid=1)
class Ids(set[int]):
    pass


@java_class("com.acme.own.Holder", serial_version_uid=1)
@attrs.define
class Holder:
    names: Names | None = None
    counts: Counts | None = None
    tags: Tags[java.Long] | None = None
    plain: list[str] | None = None


VALUES: list[Any] = [
    *(Names(["a", "b"]), Names(), Counts({"a": 1}), Words(map(str, range(40))), Tags([1, "x", None])),
    *(
        Ranked([3, 1]),
        Ids([1, 2, 3]),
        [Names(["a"]), {"k": Counts()}],
        Holder(Names(["n"]), Counts({"k": 2})),
    ),
    *(Holder(plain=Names(["x"])), Holder(tags=Tags([java.Long(5)]))),
]


@pytest.mark.parametrize("codec", CODECS, ids=repr)
@pytest.mark.parametrize("value", VALUES, ids=[f"{i}-{type(value).__name__}" for i, value in enumerate(VALUES)])
def test_it_comes_back(codec: Codec, value: Any) -> None:
    data = codec.encode(value)
    back = codec.decode(data)
    assert (type(back), back) == (type(value), value)
    assert codec.encode(back) == data
    assert codec.encode(pickle.loads(pickle.dumps(back))) == data


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_a_plain_value_becomes_what_the_class_says(codec: Codec) -> None:
    longs: dict[str, int] = {"a": java.Long(1)}
    assert codec.encode(Counts({"a": 1})) == codec.encode(Counts(longs))
    assert type(codec.decode(codec.encode(Counts({"a": 1})))["a"]) is java.Long
    made = codec.decode(codec.encode(Holder(["a"], {"k": 1})))  # type: ignore[arg-type]
    assert (type(made.names), type(made.counts)) == (Names, Counts)
    for wrong in (Counts({"a": "1"}), Names([1]), Holder(names={"a"})):  # type: ignore[arg-type, list-item]
        with pytest.raises(EncodeError, match="cannot be a"):
            codec.encode(wrong)


def test_its_fields_are_in_javas_serialization_alone() -> None:
    value = Names(["a"])
    value.owner = "Ann"
    data = SerializationCodec().encode([value, value])
    one, two = SerializationCodec().decode(data)
    assert one is two
    assert (one, one.owner) == (["a"], "Ann")
    assert SerializationCodec().encode([one, two]) == data
    for codec in CODECS:
        if not isinstance(codec, SerializationCodec):
            with pytest.raises(EncodeError, match=r"com.acme.own.Names.owner is not written: of a collection this"):
                codec.encode(value)


def test_one_that_holds_itself_is_refused() -> None:
    value: Any = Tags([1])
    value.append(value)
    data = SerializationCodec().encode(value)
    with pytest.raises(DecodeError, match="a value that holds itself where Python cannot do that"):
        SerializationCodec().decode(data)


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_elements_without_a_hash_are_elements_of_the_class(codec: Codec) -> None:
    value: Any = java.Elements("com.acme.own.Orders", [acme.Order(java.Long(1), "a"), acme.Order(java.Long(2))])
    back = codec.decode(codec.encode([value]))[0]
    assert (type(back), back.java_name, back) == (java.Elements, "com.acme.own.Orders", value)
    assert codec.encode([back]) == codec.encode([value])


def test_typed_json() -> None:
    codec = TypedJsonJacksonCodec(Holder)
    value = Holder(Names(["a"]), Counts({"k": 1}), Tags([java.Long(2)]))
    assert codec.decode(codec.encode(value)) == value
    assert TypedJsonJacksonCodec(Names).encode(Names(["a"])) == b'["a"]'


def test_protostuff_has_no_such_class() -> None:
    with pytest.raises((ArgumentError, EncodeError)):
        ProtobufCodec(Names).encode(Names(["a"]))


def test_what_may_be_declared() -> None:
    with pytest.raises(ArgumentError, match=r"a subclass of a collection is a plain class, without attrs.define"):
        java_class("com.acme.own.Wrong")(attrs.define(type("Wrong", (list,), {"__annotations__": {"a": int}})))
    for base in (java.EnumMap, java.ListOf, java.SingletonList, frozenset, tuple):
        why = "takes an attrs class, a dataclass, a pydantic model, an Enum or a|no declared class extends java"
        with pytest.raises(ArgumentError, match=why):
            java_class("com.acme.own.Wrong")(type("Wrong", (base,), {}))


class LongTags(Tags[java.Long]):
    pass


@pytest.mark.parametrize(
    ("annotation", "json", "value", "wrong"),
    [
        (Names, b'["a"]', Names(["a"]), b"[1]"),
        (Tags[java.Long], b"[5]", Tags([java.Long(5)]), b'["x"]'),
        (LongTags, b"[5]", LongTags([java.Long(5)]), b'["x"]'),
        (Tags[list[str]], b'[["a"]]', Tags([["a"]]), b'["a"]'),
        (Counts, b'{"a":5}', Counts({"a": 5}), b'{"a":"x"}'),
        (Words, b'["a"]', Words(["a"]), b"[[]]"),
        (Orders, b"[]", Orders([]), b"[5]"),
        (Ids, b"[5]", Ids({5}), b'["x"]'),
    ],
)
def test_pydantic_knows_what_a_subclass_holds(annotation: Any, json: bytes, value: Any, wrong: bytes) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)
    found = adapter.validate_json(json)
    assert (found, type(found)) == (value, type(value))
    assert adapter.dump_json(found) == json
    assert adapter.validate_python(value) is value
    assert adapter.json_schema()
    with pytest.raises(ValidationError):
        adapter.validate_json(wrong)


@java_class("com.acme.own.Tables", serial_version_uid=1)
@attrs.define
class Tables:
    numbers: java.HashMap[str, java.long] | None = None
    texts: Annotated[java.LinkedHashSet[str], java.JavaType("java.util.Set<java.lang.String>")] | None = None
    lists: list[list[java.short]] | None = None
    anything: Annotated[set[Any], java.JavaType("java.util.Set<? super com.acme.Order>")] | None = None
    objects: list[Any] | None = None


@java_class("com.acme.own.Texts", serial_version_uid=1)
class Texts(java.HashMap[str, str]):
    pass


@java_class("com.acme.own.Rows", serial_version_uid=1)
class Rows(list[list[str]]):
    pass


@pytest.mark.parametrize("codec", CODECS, ids=repr)
@pytest.mark.parametrize(
    "value",
    [
        Tables(numbers=Texts({"a": "b"})),  # type: ignore[arg-type]
        Tables(numbers=java.Entries("com.acme.own.Texts", [("a", "b")])),  # type: ignore[arg-type]
        Tables(texts=Ids({5})),  # type: ignore[arg-type]
        Tables(lists=Rows([["a"]])),  # type: ignore[arg-type]
    ],
)
def test_elements_of_another_type_than_a_field_declares_are_an_error(codec: Codec, value: Tables) -> None:
    with pytest.raises(EncodeError, match=r"com.acme.own.Tables.\w+: .* cannot be a java.util.\w+<"):
        codec.encode([value])


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_elements_of_a_type_that_a_field_declares_are_written(codec: Codec) -> None:
    for value in (
        Tables(numbers=Counts({"a": 5})),
        Tables(texts=Words(["a"])),  # type: ignore[arg-type]
        Tables(anything=Words(["a"]), objects=Names(["a"])),
        Tables(lists=Tags([[5]])),
    ):
        assert codec.decode(codec.encode([value])) == [value]
