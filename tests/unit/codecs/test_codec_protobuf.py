"""ProtobufCodec: what Java's writes for messages, for its list of JSON classes and by protostuff; and its refusals."""

from __future__ import annotations

import importlib
import random
import subprocess
import sys
from abc import ABC
from collections.abc import Callable
from datetime import date, datetime, timezone
from decimal import Decimal
from functools import partial
from itertools import product
from typing import Annotated, Any
from uuid import UUID

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import Codec, JsonJacksonCodec, Kryo5Codec, ProtobufCodec, SerializationCodec, StringCodec
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from redisson_dq.java import JavaType, java_class
from tests.unit.codecs import acme
from tests.unit.codecs.golden_rows import caught_from, same
from tests.unit.codecs.protobuf_rows import LOST, READ, ROWS, UNTAKEN, VALUES, codec_of, shipment_pb2
from tests.unit.codecs.vectors import Vector, of_codec


@pytest.mark.parametrize("vector", READ, ids=str)
def test_a_sample_is_read_and_written_to_the_bytes_of_java(vector: Vector) -> None:
    codec = codec_of(vector)
    assert vector.data is not None
    assert same(codec.decode(vector.data), VALUES[vector.name])
    assert codec.encode(VALUES[vector.name]) == vector.data


def test_no_vector_is_left_out() -> None:
    covered = {vector.name for vector in READ} | UNTAKEN | set(LOST)
    assert {vector.name for vector in of_codec("ProtobufCodec")} - covered == {
        f"record/{name}" for name in ("point", "line", "line-nulls", "parcel", "parcel-nulls")
    }


@pytest.mark.parametrize("vector", [vector for vector in ROWS if vector.name in LOST], ids=str)
def test_what_java_loses_is_refused(vector: Vector) -> None:
    with pytest.raises(EncodeError, match="ProtobufCodec") as caught:
        codec_of(vector).encode(VALUES[vector.name])
    assert LOST[vector.name] in str(caught.value)


@pytest.mark.parametrize("vector", [row for row in of_codec("ProtobufCodec") if row.name in UNTAKEN], ids=str)
def test_a_type_that_java_does_not_read_back_is_refused(vector: Vector) -> None:
    with pytest.raises(ArgumentError, match="ProtobufCodec takes no"):
        codec_of(vector)


@pytest.mark.parametrize("kind", [acme.Point, acme.Line, acme.Parcel])
def test_a_record_is_refused_as_java_refuses_it(kind: type) -> None:
    with pytest.raises(ArgumentError, match="a record"):
        ProtobufCodec(kind)


# What protostuff 1.8.0 wrote, and read back as the same, where no sample has the shape

LEAF_NAME, LEAVES = "com.acme.zoo.Zoo$Leaf", "[Lcom.acme.zoo.Zoo$Leaf;"


@java_class(LEAF_NAME, final=True)
@attrs.frozen
class Leaf:
    n: int = 0


@java_class("com.acme.zoo.Zoo$Animal")
@attrs.frozen
class Animal(ABC):  # noqa: B024
    name: str | None = None


@java_class("com.acme.zoo.Zoo$Dog")
@attrs.frozen
class Dog(Animal):
    age: int = 0


@java_class("com.acme.zoo.Zoo$Herd")
@attrs.define
class Herd:
    pet: Animal | None = None
    all: list[Animal] | None = None
    named: dict[str, Animal] | None = None
    row: java.Array[Animal] | None = None
    ages: dict[Animal, int] | None = None


@java_class("com.acme.zoo.Zoo$Shapes")
@attrs.define
class Shapes:
    ints: Annotated[Any, JavaType("java.util.Map<java.lang.String,int[]>")] = None
    boxes: Annotated[Any, JavaType("java.util.Map<java.lang.String,java.lang.Integer[]>")] = None
    leaves: Annotated[Any, JavaType("java.util.Map<java.lang.String,com.acme.zoo.Zoo$Leaf[]>")] = None
    by_leaf: Annotated[Any, JavaType("java.util.Map<com.acme.zoo.Zoo$Leaf,java.lang.String>")] = None
    by_id: Annotated[Any, JavaType("java.util.Map<java.util.UUID,com.acme.zoo.Zoo$Leaf>")] = None
    rows: Annotated[Any, JavaType("java.util.List<int[]>")] = None
    things: Annotated[Any, JavaType("java.util.Map<java.lang.String,java.lang.Object>")] = None
    raw: Annotated[Any, JavaType("java.util.Map")] = None
    raw_list: Annotated[Any, JavaType("java.util.List")] = None
    by_any: Annotated[Any, JavaType("java.util.Map<java.lang.Object,com.acme.zoo.Zoo$Leaf>")] = None
    by_list: Annotated[Any, JavaType("java.util.Map<java.util.List<java.lang.String>,com.acme.zoo.Zoo$Leaf>")] = None
    by_number: Annotated[Any, JavaType("java.util.Map<java.lang.Number,com.acme.zoo.Zoo$Leaf>")] = None
    leaf_set: Annotated[Any, JavaType("java.util.Set<com.acme.zoo.Zoo$Leaf>")] = None
    queue: Annotated[Any, JavaType("java.util.Queue<java.lang.String>")] = None
    sorted: Annotated[Any, JavaType("java.util.SortedMap<java.lang.String,java.lang.Integer>")] = None
    blobs: Annotated[Any, JavaType("java.util.Map<java.lang.String,byte[]>")] = None
    texts: Annotated[Any, JavaType("java.util.Map<java.lang.Integer,java.lang.String[]>")] = None
    walk: Annotated[Any, JavaType("java.lang.Iterable<java.lang.String>")] = None
    by_c: Annotated[Any, JavaType("java.util.Map<java.lang.Comparable<?>,java.lang.String>")] = None
    grid: Annotated[Any, JavaType("com.acme.zoo.Zoo$Leaf[][]")] = None
    parts: Annotated[Any, JavaType("byte[][]")] = None
    ids: Annotated[Any, JavaType("java.util.UUID[]")] = None
    numbers: Annotated[Any, JavaType("java.lang.Number[]")] = None
    days: Annotated[Any, JavaType("java.time.LocalDate[]")] = None
    lists: Annotated[Any, JavaType("java.util.List[]")] = None
    dates: Annotated[Any, JavaType("java.util.Date[]")] = None
    sums: Annotated[Any, JavaType("java.math.BigDecimal[]")] = None
    letters: Annotated[Any, JavaType("java.lang.Character[]")] = None
    zone: Annotated[Any, JavaType("java.time.ZoneId")] = None
    zones: Annotated[Any, JavaType("java.util.List<java.time.ZoneId>")] = None
    nulls: Annotated[Any, JavaType("java.util.Map<java.lang.String,java.lang.String>")] = None


LEAF, REX, ID = Leaf(5), Dog("Rex", 7), UUID("00000000-0000-0001-ffff-fffffffffffe")
MOMENT = java.JavaDate(datetime(1970, 1, 1, 0, 0, 0, 5000, timezone.utc))
SHAPES: list[tuple[Any, str]] = [
    (
        Herd(REX, [REX], {"a": REX}, java.Array("com.acme.zoo.Zoo$Animal", [REX]), {REX: 1}),
        "0bfa0714636f6d2e61636d652e7a6f6f2e5a6f6f24446f670a0352657810070c13fa0714636f6d2e61636d652e7a6f6f2e5a"
        "6f6f24446f670a035265781007141b0b0a016113fa0714636f6d2e61636d652e7a6f6f2e5a6f6f24446f670a035265781007"
        "140c1c237a17636f6d2e61636d652e7a6f6f2e5a6f6f24416e696d616c180110010bfa0714636f6d2e61636d652e7a6f6f2e"
        "5a6f6f24446f670a0352657810070c242b0b0bfa0714636f6d2e61636d652e7a6f6f2e5a6f6f24446f670a0352657810070c"
        "132801140c2c",
    ),
    (Shapes(ints={"a": java.IntArray([1, -1])}), "0b0b0a0161130802100110ffffffffffffffffff01140c0c"),
    (
        Shapes(boxes={"a": java.Array("java.lang.Integer", [1, -1])}),
        "130b0a01611308fdffffffffffffffff01100110ffffffffffffffffff01140c14",
    ),
    (Shapes(leaves={"a": java.Array("com.acme.zoo.Zoo$Leaf", [LEAF])}), "1b0b0a016113080113080514140c1c"),
    (Shapes(by_leaf={LEAF: "x"}), "230b0b08050c1201780c24"),
    (Shapes(by_id={ID: LEAF}), "2b0b0b080110feffffffffffffffff010c130805140c2c"),
    (Shapes(rows=[java.IntArray([1]), java.IntArray()]), "33080110013433080034"),
    (
        Shapes(things={"a": java.Array("[I", [java.IntArray([1]), java.IntArray([2, 3])])}),
        "3b0b0a0161137a03696e74180210020b880204080110010c0b8802040802100210030c140c3c",
    ),
    (Shapes(raw={"a": LEAF}), "430b0b4a01610c13fa0715636f6d2e61636d652e7a6f6f2e5a6f6f244c6561660805140c44"),
    (Shapes(raw_list=["a", LEAF]), "4b4a01614c4bfa0715636f6d2e61636d652e7a6f6f2e5a6f6f244c65616608054c"),
    (Shapes(by_any={"a": LEAF}), "530b0b4a01610c13fa0715636f6d2e61636d652e7a6f6f2e5a6f6f244c6561660805140c54"),
    (
        Shapes(by_list=java.Entries("java.util.LinkedHashMap", [(["q"], LEAF)])),
        "5b0b0bca010941727261794c6973740b4a01710c0c13fa0715636f6d2e61636d652e7a6f6f2e5a6f6f244c6561660805140c5c",
    ),
    (
        Shapes(by_number={java.Long(5): LEAF}),
        "630b0b30050c13fa0715636f6d2e61636d652e7a6f6f2e5a6f6f244c6561660805140c64",
    ),
    (Shapes(leaf_set={LEAF}), "6b08056c"),
    (Shapes(queue=java.LinkedList(["a"])), "720161"),
    (Shapes(sorted=java.TreeMap({"a": 1})), "7b0b0a016110010c7c"),
    (Shapes(blobs={"a": b"\x01\x02"}), "83010b0a0161120201020c8401"),
    (Shapes(texts={1: java.StringArray(["x", "y"])}), "8b010b0801130802120178120179140c8c01"),
    (Shapes(walk=["w"]), "9301ca010941727261794c6973740b4a01770c9401"),
    (Shapes(by_c={"c": "d"}), "9b010b0b4a01630c134a0164140c9c01"),
    (
        Shapes(grid=java.Array(LEAVES, [java.Array(LEAF_NAME, [LEAF]), java.Array(LEAF_NAME)])),
        "a3017a15636f6d2e61636d652e7a6f6f2e5a6f6f244c656166180210020b9a0215636f6d2e61636d652e7a6f6f2e5a6f6f244c6561660801130805140c0b9a0215636f6d2e61636d652e7a6f6f2e5a6f6f244c65616608000ca401",
    ),
    (Shapes(parts=java.Array("[B", [b"\x01", b""])), "ab0108021201011200ac01"),
    (Shapes(ids=java.Array("java.util.UUID", [ID])), "b301080113080110feffffffffffffffff0114b401"),
    (
        Shapes(numbers=java.Array("java.lang.Number", [1, java.Long(2), 1.5])),
        "bb017a106a6176612e6c616e672e4e756d626572180310010b28010c0b30020c0b41000000000000f83f0cbc01",
    ),
    (Shapes(days=java.Array("java.time.LocalDate", [date(2024, 2, 29)])), "c30108011308e80f1002181d14c401"),
    (
        Shapes(lists=java.Array("java.util.List", [["a"]])),
        "cb017a0e6a6176612e7574696c2e4c697374180110010bca010941727261794c6973740b4a01610c0ccc01",
    ),
    (Shapes(dates=java.Array("java.util.Date", [MOMENT])), "d3010801110500000000000000d401"),
    (Shapes(sums=java.Array("java.math.BigDecimal", [Decimal("1.50")])), "db0108011204312e3530dc01"),
    (Shapes(letters=java.Array("java.lang.Character", [java.Character("c")])), "e30108011063e401"),
    (
        Shapes(zone=java.ZoneId("Europe/Berlin"), zones=[java.ZoneOffset(7200)]),
        "eb01fa07146a6176612e74696d652e5a6f6e65526567696f6e0a0d4575726f70652f4265726c696eec01f301fa07146a6176612e74696d652e5a6f6e654f666673657408a038f401",
    ),
    (Shapes(nulls={None: "v", "k": None}), "fb010b1201760c0b0a016b0cfc01"),
    (
        Shapes(
            things={"d": java.Array("java.time.LocalDate", [date(2024, 2, 29)]), "k": java.Array(LEAF_NAME, [LEAF])}
        ),
        "3b0b0a0164139a02136a6176612e74696d652e4c6f63616c4461746508011308e80f1002181d14140c0b0a016b139a0215636f6d2e61636d652e7a6f6f2e5a6f6f244c656166080113080514140c3c",
    ),
    (
        Shapes(things={"m": java.TreeMap({"x": java.Long(1)}), "o": java.ObjectArray([1, "a"])}),
        "3b0b0a016d13d20107547265654d61700b0b4a01780c133001140c140c0b0a016f137a106a6176612e6c616e672e4f626a656374180210010b28010c0b4a01610c140c3c",
    ),
]


@pytest.mark.parametrize(("value", "written"), SHAPES)
def test_a_shape_is_read_and_written_to_the_bytes_of_protostuff(value: Any, written: str) -> None:
    codec = ProtobufCodec(type(value))
    assert codec.encode(value).hex() == written
    assert same(codec.decode(bytes.fromhex(written)), value)


# Messages


def test_a_message_of_another_class_is_refused_by_both_names() -> None:
    with pytest.raises(EncodeError, match=r"Recipient cannot be a Shipment"):
        ProtobufCodec(shipment_pb2.Shipment).encode(shipment_pb2.Recipient())


def test_bytes_that_are_no_message_are_a_decode_error() -> None:
    with pytest.raises(DecodeError, match="no Shipment") as caught:
        ProtobufCodec(shipment_pb2.Shipment).decode(b"\x12\x05A")
    assert (caught.value.codec, caught.value.data, caught.value.offset) == ("ProtobufCodec", b"\x12\x05A", 0)


def test_equal_messages_have_equal_bytes() -> None:
    codec = ProtobufCodec(shipment_pb2.Shipment)
    keys = [f"k{n}" for n in range(50)]
    ways = [dict.fromkeys(order, 1) for order in (keys, keys[::-1])]
    assert codec.encode(shipment_pb2.Shipment(stock=ways[0])) == codec.encode(shipment_pb2.Shipment(stock=ways[1]))


def test_fields_that_a_newer_message_has_are_kept() -> None:
    codec = ProtobufCodec(shipment_pb2.Recipient)
    newer = bytes.fromhex("0a03426f62f80105")
    assert codec.encode(codec.decode(newer)) == newer


def test_a_message_nests_as_deep_as_protobuf_reads() -> None:
    value_class: Any = importlib.import_module("google.protobuf.struct_pb2").Value
    value = inner = value_class()
    for _ in range(50):  # a list is a Value and a ListValue
        inner = inner.list_value.values.add()
    inner.bool_value = True
    codec = ProtobufCodec(value_class)
    assert codec.decode(codec.encode(value)) == value
    inner.list_value.values.add().bool_value = True
    with pytest.raises(EncodeError, match="no side reads it back"):
        codec.encode(value)
    with pytest.raises(DecodeError):
        codec.decode(value.SerializeToString())


def test_without_protobuf_the_error_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['google.protobuf.message'] = None\n"
        "from redisson_dq.codecs import ProtobufCodec\n"
        "print(ProtobufCodec(str).decode(b'\"a\"'))\n"
        "ProtobufCodec(type('Message', (), {'DESCRIPTOR': None}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert done.stdout == "a\n"
    assert "ProtobufCodec needs protobuf: pip install 'protobuf>=5.29.6'" in done.stderr


# JSON

COMPARATOR = b'["java.util.Collections$ReverseComparator",{}]'


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (str, None, "null"),
        (java.Long, java.Long(5), '["java.lang.Long",5]'),
        (float, 5.0, "5.0"),
        (java.Short, java.Short(5), "5"),
        (java.Byte, java.Byte(5), "5"),
        (bool, False, "false"),
        (java.Float, java.Float(float("nan")), '["java.lang.Float","NaN"]'),
        (list, [1, [java.Long(2)]], '["java.util.ArrayList",[1,["java.util.ArrayList",[["java.lang.Long",2]]]]]'),
        (set, {1}, '["java.util.HashSet",[1]]'),
        (dict, {"a": 1}, '{"@class":"java.util.LinkedHashMap","a":1}'),
        (dict[str, int], java.HashMap({"a": 1}), '{"@class":"java.util.HashMap","a":1}'),
        (java.Uri, java.Uri("http://a/b"), '["java.net.URI","http://a/b"]'),
        (java.AtomicBoolean, java.AtomicBoolean(True), '["java.util.concurrent.atomic.AtomicBoolean",true]'),
    ],
)
def test_what_java_has_on_its_list_is_json(kind: Any, value: Any, text: str) -> None:
    codec = ProtobufCodec(kind)
    assert codec.encode(value).decode() == text
    assert same(codec.decode(text.encode()), value)


def test_a_plain_number_becomes_one_of_the_type_of_the_codec() -> None:
    assert ProtobufCodec(java.Long).encode(5) == b'["java.lang.Long",5]'  # type: ignore[arg-type]
    assert ProtobufCodec(float).encode(5) == b"5.0"
    assert ProtobufCodec(Decimal).encode(5) == b'["java.math.BigDecimal",5]'  # type: ignore[arg-type]


def test_what_stands_without_its_class_is_read_by_the_type_of_the_codec() -> None:
    assert same(ProtobufCodec(java.Short).decode(b"5"), java.Short(5))
    assert same(ProtobufCodec(java.Uri).decode(b'"http://a/b"'), java.Uri("http://a/b"))


def test_another_codec_can_stand_for_json() -> None:
    codec = ProtobufCodec(str, StringCodec())
    assert codec.encode("a") == b"a"
    assert codec.decode(b"a") == "a"
    with pytest.raises(EncodeError, match=r"^ProtobufCodec: ") as caught:
        codec.encode(5)  # type: ignore[arg-type]
    assert caught.value.codec == "ProtobufCodec"
    assert ProtobufCodec(acme.Square, StringCodec()).encode(acme.Square(2)) == b"\x08\x02"
    for wrong in (codec, "StringCodec"):
        with pytest.raises(ArgumentError, match="blacklist_codec"):
            ProtobufCodec(str, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("other", [None, Kryo5Codec(), SerializationCodec()], ids=repr)
def test_a_collection_is_of_the_type_of_the_codec(other: Codec | None) -> None:
    values: dict[Any, Any] = {list: [1, "a"], set: {1, 2}, dict: {"a": 1}}
    for kind, (written, value) in product(values, values.items()):
        codec = ProtobufCodec(kind) if other is None else ProtobufCodec(kind, other)
        data = (other or JsonJacksonCodec()).encode(value)
        if written is kind:
            assert codec.decode(data) == value
            assert codec.encode(value) == data
            continue
        with pytest.raises(DecodeError, match=r"where a java\.util"):
            codec.decode(data)
        with pytest.raises(EncodeError, match=r"cannot be a java\.util"):
            codec.encode(value)


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (int, "5", "str cannot be a java.lang.Integer"),
        (int, 2**31, "cannot be a java.lang.Integer"),
        (int, True, "bool cannot be a java.lang.Integer"),
        (str, 5, "int cannot be a java.lang.String"),
        (list, (1, 2j), "complex has no Java type"),
        (list, {"a": 1}, "dict cannot be a java.util.ArrayList"),
        (dict, [1], "list cannot be a java.util.HashMap"),
        (set, java.TreeSet("a"), "TreeSet cannot be a java.util.HashSet"),
        (UUID, "x", "str cannot be a java.util.UUID"),
        (UUID, 2j, "complex has no Java type"),
    ],
)
def test_a_value_of_another_type_is_refused(kind: Any, value: Any, message: str) -> None:
    with pytest.raises(EncodeError, match="ProtobufCodec") as caught:
        ProtobufCodec(kind).encode(value)
    assert message in str(caught.value)
    assert caught.value.codec == "ProtobufCodec"


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (int, b'"5"'),
        (str, b"5"),
        (list, b'{"@class":"java.util.HashMap"}'),
        (list, b"["),
        (UUID, b"1"),
        (int, COMPARATOR),
    ],
)
def test_json_of_another_type_is_a_decode_error(kind: Any, data: bytes) -> None:
    with pytest.raises(DecodeError, match="ProtobufCodec") as caught:
        ProtobufCodec(kind).decode(data)
    assert (caught.value.codec, caught.value.data) == ("ProtobufCodec", data)


# What protostuff would lose


@java_class("com.acme.zoo.Defaults")
@attrs.define
class Defaults:
    tags: list[str] = attrs.field(factory=lambda: ["x"])
    empty: list[str] = attrs.field(factory=list)
    text: str | None = "default"
    none: set[str] | None = None


@java_class("com.acme.zoo.Required")
@attrs.define
class Required:
    number: int
    tags: list[str]
    ids: java.TreeSet[str]
    text: str | None


loose: Any = acme  # for values that the annotations do not let in


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (loose.Customer(address=loose.Customer()), "Customer cannot be a com.acme.Address (at $['address'])"),
        (loose.Order(customer=acme.VipCustomer()), "keeps the fields of com.acme.Customer only (at $['customer'])"),
        (loose.Order(tags=["a", None]), "no nulls here: the element would be gone (at $['tags'][1])"),
        (loose.Order(tags=[]), "an empty collection, which protostuff does not write"),
        (loose.Order(tags=5), "int cannot be a java.util.ArrayList (at $['tags'])"),
        (loose.Order(tags=java.LinkedList("a")), "a java.util.LinkedList, where Java reads a java.util.ArrayList"),
        (loose.Order(price=None), "None, which protostuff does not write"),
        (loose.Order(price="x"), "str cannot be a double"),
        (loose.Order(id=2**63), "cannot be a java.lang.Long"),
        (loose.Order(sku="\ud800"), "half of a surrogate pair"),
        (loose.Loose(number="5"), "str cannot be a java.lang.Number"),
        (loose.Loose(chars=5), "int cannot be a java.lang.CharSequence"),
        (loose.Loose(any=acme.Point(1, 2)), "a com.acme.Point, which protostuff does not read back"),
        (loose.Loose(any=java.Optional()), "a java.util.Optional"),
        (loose.Loose(any=java.TreeMap({}, java.Comparator.REVERSE_ORDER)), "with a comparator"),
        (loose.Loose(any=[None]), "no nulls here"),
        (loose.Loose(any=java.Array("[x")), "no array class has the name"),
        (loose.Loose(any=java.Comparator.REVERSE_ORDER), "has no Java type here"),
        (loose.Loose(any=2j), "complex has no Java type here"),
        (loose.Loose(any=java.Timestamp(MOMENT)), "java.sql.Timestamp"),
        (loose.Loose(any=java.SqlDate(MOMENT)), "Java reads a Date where a java.sql.Date was"),
        (loose.Loose(color=acme.Planet.EARTH), "Planet cannot be a com.acme.Color"),
        (acme.Drawing(background=5), "int cannot be a com.acme.Shape"),
        (acme.Dates(day=MOMENT), "JavaDate cannot be a java.time.LocalDate"),
        (loose.Arrays(points=java.Array("com.acme.Point", [])), "an array of com.acme.Point"),
        (loose.Arrays(ints=java.LongArray()), "LongArray cannot be a [I"),
        (loose.Arrays(grid=[java.LongArray()]), "LongArray cannot be a [I (at $['grid'][0])"),
        (acme.Boxed(amount=Decimal("NaN")), "a BigDecimal cannot hold NaN"),
        (Defaults(text=None), "None, which protostuff does not write"),
        (Defaults(tags=[]), "an empty collection"),
        (Defaults(none=set()), "an empty collection"),
    ],
)
def test_what_would_be_lost_is_refused(value: Any, message: str) -> None:
    with pytest.raises(EncodeError, match="ProtobufCodec") as caught:
        ProtobufCodec(type(value)).encode(value)
    assert message in str(caught.value)


def test_what_is_not_written_comes_back_as_the_default() -> None:
    defaults = Defaults(["y"], [], "default", None)
    assert ProtobufCodec(Defaults).decode(ProtobufCodec(Defaults).encode(defaults)) == defaults
    assert same(ProtobufCodec(Required).decode(b""), Required(0, [], java.TreeSet(), None))


def test_a_whole_value_of_another_class_is_refused() -> None:
    with pytest.raises(EncodeError, match=r"VipCustomer where com\.acme\.Customer is declared"):
        ProtobufCodec(acme.Customer).encode(acme.VipCustomer())
    with pytest.raises(EncodeError, match=r"NoneType cannot be a com\.acme\.Customer"):
        ProtobufCodec(acme.Customer).encode(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Annotated[Any, JavaType("com.acme.Nobody")], '@java_class("com.acme.Nobody")'),
        (Animal, "an abstract class"),
        (acme.Color, "an enum"),
        (java.IntArray, "takes no [I"),
        (java.LinkedList, "takes no java.util.LinkedList"),
        (complex, "has no Java type"),
        (datetime, "several Java types"),
    ],
)
def test_a_type_that_cannot_be_used_is_refused(kind: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        ProtobufCodec(kind)
    assert message in str(caught.value)


# Bytes that are wrong


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        (acme.Order, "1205", "5 bytes announced, 0 left, in the field sku of com.acme.Order: the declaration of"),
        (acme.Order, "12ffffffff0f", "bytes announced"),
        (acme.Order, "08050806", "the field id twice (offset 2)"),
        (acme.Order, "0a05", "bytes where a varint should be"),
        (acme.Order, "08ffffffffffffffffffff01", "more than 64 bits"),
        (acme.Order, "1201ff", "not UTF-8"),
        (acme.Order, "2b", "end in the middle"),
        (acme.Order, "2b34", "the end of a group 6 that is not open"),
        (acme.Order, "2c", "the end of a group 5 that is not open"),
        (acme.Order, "06", "no tag of a field"),
        (acme.Order, "0005", "no tag of a field"),
        (acme.Order, "2bfa0701612c", "derive the Python class from abc.ABC"),
        (acme.Loose, "0b0c", "type 0"),
        (acme.Loose, "0bfa070461622e632c", "Java class ab.c is not declared"),
        (acme.Loose, "0bfa070e636f6d2e61636d652e506f696e740c", "com.acme.Point, which protostuff does not read back"),
        (acme.Loose, "0bfa07176a6176612e6c616e672e537472696e674275696c6465720a000c", "java.lang.StringBuilder, which"),
        (acme.Loose, "0b7a03696e74180010010c", "an array of int whose elements have types of their own"),
        (acme.Loose, "0b7a00180010020c", "an array of  whose"),
        (acme.Loose, "0b7a025b49180010010c", "an array of [I whose"),
        (acme.Loose, "0b9a02037878780800", "an array of xxx, which is not declared"),
        (acme.Arrays, "4b7a0161180010014c", "an array of a where one of java.lang.Object should be"),
        (acme.Loose, "0bca010358797a0c", "a collection of class Xyz"),
        (acme.Loose, "0bca010941727261794c69737410030c", "a field 2 where 1 should be"),
        (acme.Loose, "0b88020408ffffffff0710010c", "2147483647 elements announced, 1 there"),
        (acme.Loose, "0b880201080110010c", "an array of a type that protostuff does not have"),
        (acme.Loose, "38034003", "com.acme.Color has no constant 3"),
        (acme.Boxed, "520178", "not a BigDecimal"),
        (acme.Boxed, "4a00", "a BigInteger without bytes"),
        (acme.Primitives, "108001", "a number that is not -128 to 127"),
        (acme.Primitives, "0802", "a number that is not 0 to 1"),
        (acme.Dates, "1b08e80f101e181d1c", "not a java.time.LocalDate"),
        (acme.Dates, "1b08e80f1c", "a field 0 where 2 should be"),
    ],
)
def test_bytes_that_are_no_value_are_a_decode_error(kind: Any, data: str, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        ProtobufCodec(kind).decode(bytes.fromhex(data))
    assert message in str(caught.value)
    assert (caught.value.codec, caught.value.data.hex()) == ("ProtobufCodec", data)


def test_fields_that_a_newer_class_has_are_passed_over() -> None:
    data = bytes.fromhex("0a0161" + "1805" + "220178" + "290000000000000000" + "350000000038053b08054b4c3c")
    assert ProtobufCodec(acme.Customer).decode(data) == acme.Customer("a")


def nested(depth: int, wrap: Callable[[Any], Any]) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = wrap(value)
    return value


@pytest.mark.parametrize("wrap", [acme.Box, lambda value: [value], lambda value: java.ObjectArray([value])])
def test_values_nest_as_deep_both_ways(wrap: Callable[[Any], Any]) -> None:
    codec = ProtobufCodec(acme.Box)
    deep = acme.Box(nested(150, wrap))
    assert codec.encode(codec.decode(codec.encode(deep))) == codec.encode(deep)
    with pytest.raises(EncodeError, match="nested deeper"):
        codec.encode(acme.Box(nested(201, wrap)))


@pytest.mark.parametrize("data", [b"\x0b", b"\x1b", b"\x0b\xfa\x07\x0ccom.acme.Box", b"\x0b\xca\x01\x09ArrayList"])
def test_deep_bytes_are_a_decode_error(data: bytes) -> None:
    with pytest.raises(DecodeError):
        ProtobufCodec(acme.Box).decode(data * 100_000)


def damaged(data: bytes, rng: random.Random) -> list[bytes]:
    made = [data[:end] for end in range(len(data))]
    for _ in range(20):
        changed = bytearray(data)
        for _ in range(rng.randint(1, 3) if data else 0):
            changed[rng.randrange(len(data))] = rng.randrange(256)
        made.append(bytes(changed))
    return made


def recode(codec: ProtobufCodec, data: bytes) -> bytes:
    return codec.encode(codec.decode(data))


def test_damaged_bytes_give_a_value_or_a_decode_error() -> None:
    rng = random.Random(7)
    whole = [(codec_of(row), row.data) for row in ROWS if row.data is not None]
    whole += [(ProtobufCodec(type(value)), bytes.fromhex(written)) for value, written in SHAPES]
    tried = 0
    for codec, data in whole:
        for bytes_ in damaged(data, rng):
            tried += 1
            error = caught_from(partial(recode, codec, bytes_))
            assert error is None or isinstance(error, (DecodeError, EncodeError)), repr(error)
            if isinstance(error, DecodeError):
                assert error.data == bytes_
                assert 0 <= error.offset <= len(bytes_)
    assert tried > 5_000
