"""Equal values have equal bytes, in every process: lookups and deduplicate_for= compare bytes."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
import tracemalloc
import uuid
from pathlib import Path
from typing import Annotated, Any

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    ByteArrayCodec,
    CborJacksonCodec,
    Codec,
    CompositeCodec,
    DoubleCodec,
    IonJacksonCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    LongCodec,
    LZ4Codec,
    MsgPackJacksonCodec,
    ProtobufCodec,
    SerializationCodec,
    StringCodec,
    TypedJsonJackson3Codec,
    TypedJsonJacksonCodec,
    ZStdCodec,
)
from redisson_dq.codecs.marks import has_no_room, other_bytes
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from redisson_dq.java import java_class
from redisson_dq.java.collections import set_of
from redisson_dq.java.hashing import hash_map_order, java_hash
from tests.conftest import as_many
from tests.proto.shipment_pb2 import Shipment
from tests.unit.codecs import acme, orders
from tests.unit.codecs.vectors import vectors

ROOT = Path(__file__).resolve().parents[3]
CODECS: tuple[Codec, ...] = (Kryo5Codec(), JsonJacksonCodec(), SerializationCodec())
WORDS = orders.WORDS


def lines_of_a_process(seed: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.codecs.orders"],
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    return done.stdout.splitlines()


def test_the_bytes_do_not_depend_on_the_process() -> None:
    here = orders.lines()
    assert len(here) > 100
    assert {line.split()[1] for line in here} == orders.VALUES.keys()
    for seed in ("0", "1", "2", "3")[: as_many(2, 4)]:
        assert lines_of_a_process(seed) == here


@pytest.mark.parametrize("kind", [java.HashMap, java.Hashtable, java.ConcurrentHashMap, java.Properties, java.TreeMap])
@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
def test_equal_tables_have_equal_bytes(codec: Codec, kind: Any) -> None:
    forwards, backwards = dict.fromkeys(WORDS, "v"), dict.fromkeys(reversed(WORDS), "v")
    assert codec.encode(kind(forwards)) == codec.encode(kind(backwards))


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
def test_what_keeps_an_order_is_written_in_it(codec: Codec) -> None:
    for kind in (dict.fromkeys, java.LinkedHashSet, list):
        make: Any = kind
        assert codec.encode(make(WORDS)) != codec.encode(make(WORDS[::-1]))


def test_the_order_is_that_of_a_table_in_java() -> None:
    for vector in vectors("Kryo5Codec"):
        if vector.name in ("set/hashset-20", "set/hashset", "map/hash-20") and vector.data is not None:
            value = Kryo5Codec().decode(vector.data)
            made: Any = set(value) if isinstance(value, set) else java.HashMap(dict(sorted(value.items())))
            assert Kryo5Codec().encode(made) == vector.data


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
def test_a_set_that_was_read_and_changed_is_written_as_one_made_in_python(codec: Codec) -> None:
    read = java_set()
    assert type(read) is java.HashSet
    assert codec.encode(codec.decode(codec.encode(read))) == codec.encode(read)
    assert codec.encode(read) != codec.encode(set(read))
    read.add("more")
    assert codec.encode(read) == codec.encode(set(read))
    read.remove("more")
    read.remove("BB")
    assert codec.encode(read) == codec.encode(set(read))


def java_set() -> Any:
    """A set as it is read whose elements Java had in another order: of two in one bucket the later one first."""
    return set_of("java.util.HashSet", set, ["BB", "Aa"])


def test_elements_that_fit_a_field_are_written_as_they_fit() -> None:
    codec = SerializationCodec()
    read = set_of("java.util.HashSet", set, [17, 1])
    back = codec.decode(codec.encode(Longs(read)))
    assert [*map(repr, back.numbers.table.keys)] == ["Long(17)", "Long(1)"]


@java_class("com.acme.order.Longs", serial_version_uid=1)
@attrs.define
class Longs:
    numbers: set[java.Long]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies_are_equal_and_written(again: Any) -> None:
    read = java_set()
    assert again(read) == read
    assert Kryo5Codec().decode(Kryo5Codec().encode(again(read))) == read
    table = Kryo5Codec().decode(Kryo5Codec().encode(java.HashMap(dict.fromkeys(WORDS, 1))))
    assert Kryo5Codec().encode(again(table)) == Kryo5Codec().encode(table)


def test_hashes_are_those_of_java() -> None:
    assert java_hash("hello") == 99162322
    assert java_hash("x" * 5000) == long_hash("x" * 5000)
    assert java_hash("\U0001f600" * 1500) == long_hash("\U0001f600" * 1500)
    assert java_hash(("a", 1)) == (31 * (31 + 97) + 1) & 0xFFFFFFFF
    assert java_hash(frozenset({"a", 1})) == 98
    assert java_hash(acme.Color.RED) is None
    assert hash_map_order(["b", "a"], lambda item: item, 16) == ["a", "b"]


def long_hash(text: str) -> int:
    result = 0
    for unit in memoryview(text.encode("utf-16-le")).cast("H"):
        result = (31 * result + unit) & 0xFFFFFFFF
    return result


# Wrappers around what Python cannot hold in a set or a dict


def wrapped() -> list[Any]:
    order = acme.Order(java.Long(1), "A")
    elements = java.Elements("java.util.LinkedHashSet", [order, acme.Order(java.Long(2), "B")])
    ones = java.Elements("java.util.HashSet", [1, java.Long(1), True])
    entries = java.Entries("java.util.LinkedHashMap", [(order, "v"), (acme.Order(), None)])
    ranked = java.Elements("java.util.TreeSet", [order], java.Comparator.REVERSE_ORDER)
    plain = [elements, ones, entries, ranked]
    views = [view(value) for value in plain for view in (java.unmodifiable, java.synchronized)]
    collections = [
        java.ListView("java.util.Collections$UnmodifiableCollection", value) for value in (elements, ones, {1, 2, 3})
    ]
    return [*plain, *views, *collections, *(java.unmodifiable(view) for view in views), {"k": views}]


@pytest.mark.parametrize("codec", [Kryo5Codec(), SerializationCodec()], ids=lambda codec: codec.name)
def test_wrappers_around_what_has_no_hash_come_back(codec: Codec) -> None:
    for value in wrapped():
        back = codec.decode(codec.encode(value))
        assert type(back) is type(value)
        assert back == value
        assert repr(back) == repr(value)
        assert getattr(back, "inner", None) == getattr(value, "inner", None)
        assert getattr(back, "comparator", None) is getattr(value, "comparator", None)
        assert codec.encode(back) == codec.encode(value)


def test_the_kind_of_a_view_is_that_of_its_class() -> None:
    elements: Any = java.Elements("java.util.HashSet", [[]])
    assert type(java.unmodifiable(elements)) is java.ElementsView
    assert java.unmodifiable(elements).java_name == "java.util.Collections$UnmodifiableSet"
    tree: Any = java.Entries("java.util.TreeMap", [([], 1)])
    assert java.synchronized(tree).java_name == "java.util.Collections$SynchronizedSortedMap"
    with pytest.raises(ArgumentError, match="ElementsView takes the name of a wrapper's class"):
        java.ElementsView("java.util.Collections$UnmodifiableMap", elements)


# Enums whose constants have bodies


def test_a_body_that_the_declaration_names_is_written_in_kryo() -> None:
    codec = Kryo5Codec()
    assert b"Planet$\xb2" in codec.encode(acme.Planet.EARTH)
    assert codec.decode(codec.encode([*acme.Planet])) == [*acme.Planet]
    with pytest.raises(ArgumentError, match=r"com.acme.Planet has no constant SATURN"):
        java_class("com.acme.Planet", constant_bodies={"SATURN": "com.acme.Planet$3"})(acme.Planet)


# Errors of declarations that are out of date


def test_what_is_no_name_of_a_class_tells_of_bytes_out_of_step() -> None:
    with pytest.raises(DecodeError) as caught:
        Kryo5Codec().decode(Kryo5Codec().encode(acme.Box([]))[:-1].replace(b"java.util.ArrayLis\xf4", b"j\x01\xe3"))
    assert "where the name of a Java class should be, in the field content of com.acme.Box: the declar" in str(
        caught.value
    )


@pytest.mark.parametrize(
    ("codec", "known", "other"),
    [
        (Kryo5Codec(), b"Colo\xf2\0\x01", b"Colo\xf2\0\x09"),
        (SerializationCodec(), b"RED", b"RAD"),
        (JsonJacksonCodec(), b'"RED"', b'"RAD"'),
        (JsonJackson3Codec(), b'"RED"', b'"RAD"'),
    ],
)
def test_a_constant_that_is_not_declared_names_its_enum(codec: Codec, known: bytes, other: bytes) -> None:
    data = codec.encode([acme.Color.RED])
    assert known in data
    with pytest.raises(DecodeError, match=r"com.acme.Color has no constant .*generate-classes your.jar com.acme.Color"):
        codec.decode(data.replace(known, other))


def test_an_undeclared_class_in_a_field_blames_no_declaration() -> None:
    data = Kryo5Codec().encode(acme.Box(acme.Square(1))).replace(b"com.acme.Squar\xe5", b"com.acme.Absen\xf4")
    with pytest.raises(DecodeError) as caught:
        Kryo5Codec().decode(data)
    text = str(caught.value)
    assert "`redisson-dq generate-classes your.jar com.acme.Absent`, in the field content of com.acme.Box (off" in text
    assert "out of date" not in text


def test_bytes_that_end_inside_an_object_name_its_field() -> None:
    data = Kryo5Codec().encode(acme.Order(java.Long(1), "A", 1.5, ["t"]))
    with pytest.raises(
        DecodeError, match=r"in the middle of the value, in the field price of com.acme.Order: the decl"
    ):
        Kryo5Codec().decode(data[: data.index(b"\xf8\x3f")])


# Values that are written to other bytes than they were read from


STREAM = b"\xac\xed\x00\x05"
BOOLEAN = b"sr\0\x11java.lang.Boolean" + bytes.fromhex("cd207280d59cfaee 0200 01 5a 0005 76616c7565 7870 01")
ANOTHER_BOOLEAN = bytes.fromhex("73 71007e0002 01")
LIST_OF_2 = b"sr\0\x13java.util.ArrayList" + bytes.fromhex(
    "7881d21d99c7619d 0300 01 49 0004 73697a65 7870 00000002 7704 00000002"
)


def objects(*extra: str) -> bytes:
    return (
        b'["java.util.ArrayList",[{"@class":"com.acme.Customer","address":null,"name":"Ann"%s}]]'
        % "".join(f',"{name}":1' for name in extra).encode()
    )


OTHERS: list[tuple[Codec, bytes, str]] = [
    (
        Kryo5Codec(),
        Kryo5Codec().encode([acme.Planet.EARTH]).replace(b"Planet$\xb2", b"Planet$\xb7"),
        "constant_bodies=",
    ),
    (SerializationCodec(), STREAM + LIST_OF_2 + BOOLEAN + ANOTHER_BOOLEAN + b"x", "two Booleans"),
    (JsonJacksonCodec(), objects("since"), "com.acme.Customer has no field since, which is left out; b'"),
    (JsonJacksonCodec(), b'["java.util.ArrayList",[9.999999999999999E22]]', "is written as 1.0E23"),
    (JsonJacksonCodec(), b'["java.util.ArrayList",[["java.lang.Float",1.09951163E12]]]', "written as 1.0995116E12"),
    (TypedJsonJacksonCodec(list[float]), b"[9.999999999999999E22]", "is written as 1.0E23"),
    (
        JsonJacksonCodec(),
        b'["java.util.ArrayList",[{"@class":"com.acme.Shorts","of":'
        b'{"@class":"java.util.EnumMap<com.acme.Color,java.lang.Object>","RED":5}}]]',
        "in an EnumMap Java leaves out",
    ),
    (
        JsonJacksonCodec(),
        b'["java.util.ArrayList",[{"@class":"com.acme.Shorts","all":{"@class":'
        b'"java.util.EnumMap<com.acme.Color,java.lang.Object>","RED":["java.util.ArrayList",[5]]}}]]',
        "in an EnumMap Java leaves out",
    ),
    (
        JsonJacksonCodec(),  # the properties of a constructor come first
        b'["java.util.ArrayList",[{"@class":"com.acme.Customer","name":"Ann","address":{"@class":"com.acme.Address",'
        b'"street":"a","city":"b"}}]]',
        "fields of com.acme.Customer are written in another order",
    ),
    (JsonJacksonCodec(), b'["java.util.ArrayList",[{"@class":"com.acme.Customer","address":null}]]', "is null, and is"),
    (JsonJacksonCodec(), b'["java.util.ArrayList",[1,1E5]]', "the float 1E5 is written as 100000.0"),
    (JsonJacksonCodec(), b'["java.util.ArrayList",[1.50]]', "the float 1.50 is written as 1.5"),
    (JsonJacksonCodec(), b'["java.util.ArrayList", [1]]', "it has spaces"),
    (JsonJacksonCodec(), b'["java.util.ArrayList",["\\u00e9"]]', "some character is in another form"),
    (TypedJsonJacksonCodec(list[float]), b"[5]", "5 is written in another form as a java.lang.Double"),
    (TypedJsonJackson3Codec(list[acme.Customer]), b'[{"name":"Ann"}]', "a field of com.acme.Customer"),
    (CborJacksonCodec(), b"\x82\x73java.util.ArrayList\x81\x01", "its numbers or texts are in another form"),
    (
        Kryo5Codec(references=True),
        Kryo5Codec(references=True).encode([bytearray(b""), b""]),
        "Python has one object",
    ),
    (
        JsonJacksonCodec(),
        b'["java.util.ArrayList",[{"@class":"com.acme.Order","sku":"A"}]]',
        "a field of com.acme.Order",
    ),
    (
        JsonJacksonCodec(redisson="3.50"),
        b'["java.util.ArrayList",[{"@class":"com.acme.Tagged","id":'
        b'["java.util.UUID","00000000-0000-0000-0000-000000000005"]}]]',
        "the class java.util.UUID is written where it is declared, and is left out; b'",
    ),
]


@java_class("com.acme.Shorts", serial_version_uid=1)
@attrs.define
class Shorts:
    of: java.EnumMap[acme.Color, java.short] | None = None
    all: java.EnumMap[acme.Color, list[java.short]] | None = None


@java_class("com.acme.Tagged", serial_version_uid=1)
@attrs.define
class Tagged:
    id: uuid.UUID | None = None
    text: Annotated[Any, java.JavaType("java.lang.CharSequence")] = None
    number: Annotated[Any, java.JavaType("java.lang.Number")] = None


@java_class("com.acme.Cents", serial_version_uid=1, implements=["java.lang.Number"])
@attrs.define
class Cents:
    of: java.long = 0


@java_class("com.acme.Words", serial_version_uid=1, implements=["java.lang.CharSequence", "java.io.Serializable"])
@attrs.define
class Words:
    of: str = ""


def test_the_class_of_a_charset_is_not_kept() -> None:
    value = JsonJacksonCodec().decode(b'["java.util.ArrayList",[["sun.nio.cs.UTF_8","UTF-8"]]]')
    assert "is written as java.nio.charset.Charset" in other_bytes(value)


def test_what_java_could_not_put_into_a_field() -> None:
    with pytest.raises(EncodeError, match=r"a java\.lang\.StringBuilder where Jackson reads a String"):
        JsonJacksonCodec().encode(Tagged(text=java.StringBuilder("a")))
    for codec in CODECS:
        with pytest.raises(EncodeError, match=r"Tagged.number: .*SimpleEntry cannot be a java.lang.Number"):
            codec.encode([Tagged(number=java.SimpleEntry("a", 1))])


@pytest.mark.parametrize("value", [Tagged(number=Cents(5)), Tagged(text=Words("a"))])
def test_jackson_reads_no_object_where_a_number_or_a_text_is_declared(value: Tagged) -> None:
    """Jackson 2 and 3 read none there, and write what no Jackson reads: a live Java was asked."""
    for codec in (JsonJacksonCodec(), JsonJackson3Codec(), CborJacksonCodec(), TypedJsonJacksonCodec(Tagged)):
        with pytest.raises(EncodeError, match=r"Number, which|reads no object, as java\.lang\.CharSequence is decl"):
            codec.encode(value)
    for other in (Kryo5Codec(), SerializationCodec()):
        assert other.decode(other.encode(value)) == value


def test_what_python_writes_of_an_enum_map_has_no_mark() -> None:
    value = [Shorts(all=java.EnumMap(acme.Color, {acme.Color.RED: [5]}))]
    for codec in CODECS:
        assert other_bytes(codec.decode(codec.encode(value))) == ""


@pytest.mark.parametrize(("codec", "data", "words"), OTHERS)
def test_what_is_written_to_other_bytes_says_so(codec: Codec, data: bytes, words: str) -> None:
    value = codec.decode(data)
    assert codec.encode(value) != data
    assert words in other_bytes(value)
    assert isinstance(value, list)
    for each in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value)), [*value]):
        assert (each, type(each), other_bytes(each)) == (value, list, "")
        for other in CODECS:
            assert other.encode(value) == other.encode(each)
    again = codec.encode(value)
    assert other_bytes(codec.decode(again)) == ""
    assert codec.encode(codec.decode(again)) == again


def test_objects_and_dicts_say_so_themselves() -> None:
    codec = JsonJacksonCodec()
    for data in (
        b'{"@class":"com.acme.Customer","name":"Ann","since":1}',
        b'{"@class":"java.util.LinkedHashMap","a":9.999999999999999E22}',
        b'["java.util.HashSet",[9.999999999999999E22]]',
        b'["java.util.LinkedList",[9.999999999999999E22]]',
        b'["java.util.ArrayList",[["java.lang.Float",1.50]]]',
        b'["sun.nio.cs.UTF_8","UTF-8"]',
        b'["java.util.Date","2024-02-29T12:30:15.000+00:00"]',
        b'"\\u00e9"',
        b"1.50",
    ):
        value = codec.decode(data)
        assert other_bytes(value)
        assert other_bytes(pickle.loads(pickle.dumps(value))) == ""
    for simple, data in (
        (JsonJacksonCodec(), b"5000000000"),
        (JsonJackson3Codec(), b'["java.lang.Long",5]'),
        (JsonJacksonCodec(), b'{"@class":"java.lang.Object"}'),
        (LongCodec(), b"+5"),
        (DoubleCodec(), b"2.0E-3"),
        (StringCodec("utf-16"), "a".encode("utf-16-le")),
    ):
        read: Any = simple.decode(data)
        again: Any = copy.copy(read)
        assert other_bytes(read)
        assert (other_bytes(again), again) == ("", read)
        assert simple.decode(simple.encode(read)) == read
    typed: Codec = TypedJsonJacksonCodec(dict[java.Double, str])
    assert other_bytes(typed.decode(b'{"5":"a"}'))
    uris: Codec = ProtobufCodec(java.Uri)
    for uri in (b'"http://acme.com/"', b'["java.net.URI","http://acme.com/"]'):
        is_java = uri.startswith(b"[")
        assert bool(other_bytes(uris.decode(uri))) is not is_java


@java_class("com.acme.order.Slotted", serial_version_uid=1)
@attrs.define(weakref_slot=False)
class Slotted:
    """It has no room for a mark."""

    name: str | None = None
    count: int = 0


EARTH = Kryo5Codec().encode(acme.Planet.EARTH).replace(b"Planet$\xb2", b"Planet$\xb7")
LATER, SOONER = ProtobufCodec(Shipment).encode(Shipment(stock={"b": 2})), b"\x3a\x05\x0a\x01a\x10\x01"
ROOMLESS: list[tuple[Codec, bytes]] = [
    (Kryo5Codec(), EARTH),
    (CompositeCodec(None, None, Kryo5Codec()), EARTH),
    (LZ4Codec(), LZ4Codec(ByteArrayCodec()).encode(EARTH)),
    (JsonJacksonCodec(), b'["com.acme.Color", "RED"]'),
    (JsonJackson3Codec(), b' ["com.acme.Color","GREEN"]'),
    (TypedJsonJacksonCodec(acme.Color), b'"R\\u0045D"'),
    (JsonJacksonCodec(), b"true\n"),
    (JsonJackson3Codec(), b"\tfalse"),
    (ProtobufCodec(bool), b" true"),
    (IonJacksonCodec(), b"'com.acme.Color'::\"\\x52ED\""),
    (CborJacksonCodec(), b"\x82\x78\x0ecom.acme.Color\x63RED"),
    (MsgPackJacksonCodec(), b"\x92\xd9\x0ecom.acme.Color\xa3RED"),
    (ProtobufCodec(Shipment), LATER + SOONER),
    (ZStdCodec(ProtobufCodec(Shipment)), ZStdCodec(ByteArrayCodec()).encode(LATER + SOONER)),
    (
        JsonJacksonCodec(),
        b'{"@class":"com.acme.order.Slotted","name":"a","count":5}',
    ),
]


@pytest.mark.parametrize(("codec", "data"), ROOMLESS)
def test_a_value_without_room_for_a_mark_has_none(codec: Codec, data: bytes) -> None:
    """Whether a call finds it depends on the queue, and never on the values that the process has read."""
    value = codec.decode(data)
    assert codec.encode(value) != data
    assert has_no_room(value)
    assert (other_bytes(value), other_bytes(copy.deepcopy(value))) == ("", "")


def test_a_mark_goes_with_its_value() -> None:
    codec = JsonJacksonCodec()

    def decoded(times: int) -> int:
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(times):
            assert other_bytes(codec.decode(data))
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before

    data = objects("since")
    tracemalloc.start()
    try:
        decoded(100)
        # Each mark that stayed would take more than a hundred bytes.
        assert decoded(2_000) < 50_000
    finally:
        tracemalloc.stop()
