"""Bytes crafted to take long: families with a member of every size.

A family is a codec and a function of the size. Its bytes may be valid or not: only the work to find out counts. Twice
the bytes may take at most twice the work.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import attrs

from redisson_dq import java
from redisson_dq.codecs import (
    CborJacksonCodec,
    Codec,
    DoubleCodec,
    IonJacksonCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    LongCodec,
    LZ4Codec,
    MsgPackJacksonCodec,
    SerializationCodec,
    SmileJacksonCodec,
    SnappyCodecV2,
    StringCodec,
    ZStdCodec,
)
from redisson_dq.codecs.kryo5.wire import ascii_name, varint, varint_flag
from redisson_dq.codecs.serialization import stream
from redisson_dq.codecs.serialization.descriptors import array_descriptor, jdk_descriptor
from redisson_dq.codecs.serialization.handler import put
from redisson_dq.codecs.serialization.stream import ArrayInstance, ClassDesc, Content, FieldDesc, Instance
from redisson_dq.codecs.serialization.writer import StreamWriter
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java import java_class

__all__ = ["FAMILIES", "Family", "work_on"]

#: Python's ints have the hash of what is left when they are divided by it.
MODULUS = 2**61 - 1


class Family(NamedTuple):
    """``make(size)`` gives bytes whose length grows with ``size``."""

    name: str
    codec: Codec
    make: Callable[[int], bytes]


@java_class("com.acme.hostile.Slot", serial_version_uid=1)
@attrs.frozen
class Slot:
    number: object
    next: object = None


@java_class("com.acme.hostile.Keyed", serial_version_uid=1)
@attrs.define
class Keyed:
    ids: dict[UUID, int] | None = None
    numbers: dict[java.Long, int] | None = None
    amounts: dict[Decimal, int] | None = None
    all: set[UUID] | None = None
    days: java.LinkedHashSet[java.Long] | None = None


def work_on(family: Family, data: bytes) -> None:
    """Decode, whatever comes of it."""
    try:
        value = family.codec.decode(data)
    except DecodeError:
        return
    del value


# Keys and elements of one hash


def uuids(size: int) -> list[Any]:
    return [UUID(int=number * MODULUS) for number in range(1, size)]


def big_integers(size: int) -> list[Any]:
    return [java.BigInteger(number * MODULUS) for number in range(10, size + 10)]


def decimals(size: int) -> list[Any]:
    return [Decimal(number * MODULUS) for number in range(1, size)]


def fractions(size: int) -> list[Any]:
    """Of different scales."""
    return [Decimal(number * MODULUS * 10**9) / 10**9 for number in range(1, size)]


def floats(size: int) -> list[Any]:
    """Powers of two have 61 hashes."""
    return [2.0**power for power in range(-1000, min(size, 2000) - 1000)]


def slots(size: int) -> list[Any]:
    return [Slot(java.BigInteger(number * MODULUS)) for number in range(10, size)]


def deep_slots(size: int) -> list[Any]:
    """Keys that differ where they are deepest."""
    found = []
    for number in range(10, 10 + max(2, size // 60)):
        key = Slot(java.BigInteger(number * MODULUS))
        for _ in range(60):
            key = Slot(1, key)
        found.append(key)
    return found


def optionals(size: int) -> list[Any]:
    return [java.Optional(java.BigInteger(number * MODULUS)) for number in range(10, size)]


KEYS = (uuids, big_integers, decimals, fractions, floats, slots, deep_slots, optionals)


def small_sets(keys: list[Any]) -> list[Any]:
    """Many sets, each small enough to be harmless."""
    return [java.Elements("java.util.HashSet", keys[at : at + 900]) for at in range(0, len(keys), 900)]


#: What the keys are put into.
CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "HashSet": lambda keys: java.Elements("java.util.HashSet", keys),
    "LinkedHashSet": lambda keys: java.Elements("java.util.LinkedHashSet", keys),
    "HashMap": lambda keys: java.Entries("java.util.HashMap", [(key, 1) for key in keys]),
    "small sets": small_sets,
}


def encoded(codec: Codec, container: Callable[[list[Any]], Any], keys: Callable[[int], list[Any]], size: int) -> bytes:
    return codec.encode(container(keys(size)))


def colliding(codec: Codec) -> list[Family]:
    found = []
    for name, container in CONTAINERS.items():
        for keys in KEYS:
            try:
                encoded(codec, container, keys, 50)
            except EncodeError:
                continue  # no such key, or no key but a text, in this format
            make = functools.partial(encoded, codec, container, keys)
            found.append(Family(f"{name} of {keys.__name__}", codec, make))
    return found


def json_map(field: str, keys: Callable[[int], list[Any]], size: int) -> bytes:
    pairs = ",".join(f'"{key}":1' for key in keys(size))
    return f'{{"@class":"com.acme.hostile.Keyed","{field}":{{"@class":"java.util.HashMap",{pairs}}}}}'.encode()


def longs(size: int) -> list[Any]:
    """A few for each hash: there are no more among 64 bits."""
    return [number + MODULUS * times for number in range(max(2, size // 4)) for times in (-2, -1, 1, 2)]


# Names of arrays


def nested_arrays(depth: int, size: int) -> bytes:
    """An array in an array ..., each with the name of its class, so often as the size has room."""
    brackets = "".join(f'["{"[" * left}I",[' for left in range(depth, 0, -1)) + "]]" * depth
    one = brackets.encode()
    return b'["java.util.ArrayList",[' + b",".join([one] * max(1, size // 20)) + b"]]"


def bare_arrays(size: int) -> bytes:
    """The same, where only the outermost has a name."""
    name = "[" * 190 + "I"
    one = f'["{name}",{"[" * 190}{"]" * 190}]'.encode()
    return b'["java.util.ArrayList",[' + b",".join([one] * max(1, size // 20)) + b"]]"


def array_names(size: int) -> bytes:
    """A new class of arrays every time, of as many dimensions as there can be."""
    count = max(1, size // 20)
    items = [b"\x01" + varint(n + 1) + ascii_name("[" * 250 + f"Lx{n};") + b"\x01" for n in range(count)]
    return b"\x01\0" + ascii_name("java.util.ArrayList") + varint_flag(False, count + 1) + b"".join(items)


def primitive_names(size: int) -> bytes:
    count = max(1, size // 20)
    items = [b"\x01" + varint(n + 1) + ascii_name("[" * (n % 255 + 1) + "I") + b"\x01" for n in range(count)]
    return b"\x01\0" + ascii_name("java.util.ArrayList") + varint_flag(False, count + 1) + b"".join(items)


# Java's serialization


def written(content: Content) -> bytes:
    writer = StreamWriter()
    writer.write(content)
    return b"".join(writer.out)


def instance(name: str, values: dict[str, Content] | None = None, annotation: list[Content] | None = None) -> Instance:
    desc = jdk_descriptor(name)
    assert desc is not None
    node = Instance(desc)
    put(node, values or {}, annotation or [])
    return node


def array_list(items: list[Content]) -> Instance:
    return instance("java.util.ArrayList", {"size": len(items)}, [struct.pack(">i", len(items)), *items])


def shared_array_class(size: int) -> bytes:
    """Arrays without elements, of one class whose name is as long as a name can be."""
    desc = array_descriptor("[L" + "x" * min(65_000, size * 10) + ";")
    return written(array_list([ArrayInstance(desc, []) for _ in range(size)]))


def shared_array_of_arrays(size: int) -> bytes:
    desc = array_descriptor("[" * 255 + "I")
    return written(array_list([ArrayInstance(desc, []) for _ in range(size)]))


def shared_array_lists(size: int) -> bytes:
    desc = array_descriptor("[L" + "x" * min(65_000, size * 10) + ";")
    nodes = [instance("java.util.Arrays$ArrayList", {"a": ArrayInstance(desc, [])}) for _ in range(size)]
    return written(array_list(list(nodes)))


def wide_class(size: int) -> bytes:
    """Objects of an undeclared class of many fields, all null."""
    fields = tuple(FieldDesc(f"f{number}", "Ljava/lang/Object;") for number in range(min(size, 60_000)))
    desc = ClassDesc("com.acme.hostile.Wide", 1, stream.SC_SERIALIZABLE, fields)
    values = dict.fromkeys((field.name for field in fields), None)
    nodes = [Instance(desc, {desc.name: stream.Section(dict(values))}) for _ in range(3)]
    return written(array_list(list(nodes)))


def tall_class(size: int) -> bytes:
    """Objects without fields of a class with as many superclasses as there may be."""
    desc = ClassDesc("com.acme.C0", 1, stream.SC_SERIALIZABLE)
    for number in range(190):
        desc = ClassDesc(f"com.acme.C{number + 1}", 1, stream.SC_SERIALIZABLE, (), desc)
    return written(array_list([Instance(desc) for _ in range(size)]))


def tall_written_class(size: int) -> bytes:
    """The same, each with a writeObject that wrote nothing."""
    flags = stream.SC_SERIALIZABLE | stream.SC_WRITE_METHOD
    desc = ClassDesc("com.acme.C0", 1, flags)
    for number in range(190):
        desc = ClassDesc(f"com.acme.C{number + 1}", 1, flags, (), desc)
    nodes = []
    for _ in range(max(1, size // 20)):
        node = Instance(desc)
        put(node, {})
        nodes.append(node)
    return written(array_list(list(nodes)))


def class_chain(size: int) -> bytes:
    """Class objects, each of a class below the one before."""
    out = [b"\xac\xed\x00\x05\x75", written(array_descriptor("[Ljava.lang.Object;"))[4:], struct.pack(">i", size)]
    out.append(b"\x76\x72\x00\x01C" + bytes(8) + b"\x02\x00\x00\x78\x70")
    out += [
        b"\x76\x72\x00\x01C" + bytes(8) + b"\x02\x00\x00\x78\x71" + struct.pack(">i", 0x7E0001 + 2 * (n % 190))
        for n in range(size - 1)
    ]
    return b"".join(out)


def shared_text(size: int) -> bytes:
    """A long text at many places, each of which makes a Charset, a URI or a Locale of it."""
    text = "x" * min(60_000, size * 10)
    nodes = [instance("java.net.URI", {"string": text}) for _ in range(size)]
    return written(array_list(list(nodes)))


def small_blocks(size: int) -> bytes:
    """Data of a writeObject, a byte a block."""
    desc = ClassDesc("com.acme.hostile.Own", 1, stream.SC_SERIALIZABLE | stream.SC_WRITE_METHOD)
    node = Instance(desc, {desc.name: stream.Section({}, [b"x"] * size)})
    return written(node)


def doubled_lists(size: int) -> bytes:
    """A list that has the list before twice, which has ..., and all of it in wrappers."""
    node: Content = array_list(["x"] * size)
    for _ in range(60):
        node = array_list([node, node])
    views = [instance("java.util.Collections$UnmodifiableCollection", {"c": node}) for _ in range(size)]
    return written(array_list(list(views)))


# Numbers and texts


def json_item(head: str, one: str, tail: str, size: int) -> bytes:
    return (head + one * size + tail).encode()


def json_list(head: str, one: str, tail: str, size: int) -> bytes:
    """One long text a hundred and more times, so that what is quadratic in its length shows."""
    return b'["java.util.ArrayList",[' + json_item(head, one, tail, size * 10) + b"]]"


TEXTS = {
    "digits": ("", "1", ""),
    "digits of a fraction": ("0.", "1", ""),
    "digits of an exponent": ("1e", "9", ""),
    "BigDecimal": ('["java.math.BigDecimal",', "7", ".5]"),
    "BigInteger": ('["java.math.BigInteger",', "7", "]"),
    "exponent of a BigDecimal": ('["java.math.BigDecimal",1E', "9", "]"),
    "Duration as a number": ('["java.time.Duration",', "1", ".5]"),
    "Duration": ('["java.time.Duration","PT', "1", 'S"]'),
    "Instant": ('["java.time.Instant","', "1", '-01-01T00:00:00Z"]'),
    "fraction of an Instant": ('["java.time.Instant","2024-01-01T00:00:00.', "1", 'Z"]'),
    "ZonedDateTime": ('["java.time.ZonedDateTime","2024-01-01T00:00:00Z[', "A/", ']"]'),
    "ZoneId": ('["java.time.ZoneId","', "Europe/", '"]'),
    "Period": ('["java.time.Period","P', "1Y", '"]'),
    "Year": ('["java.time.Year","', "9", '"]'),
    "Date": ('["java.util.Date","', "2", '-01-01T00:00:00Z"]'),
    "Locale": ('["java.util.Locale","a_b_', "c_", '"]'),
    "tag of a Locale": ('["java.util.Locale","en-', "abcde-", '"]'),
    "extensions of a Locale": ('["java.util.Locale","_#', "a-b", '_#"]'),
    "UUID": ('["java.util.UUID","', "a-", '"]'),
    "URI": ('["java.net.URI","', ":/?#", '"]'),
    "Pattern": ('["java.util.regex.Pattern","', "(a*)*", '"]'),
    "Base64": ('["[B","', "A", '!"]'),
    "name of a class": ('["com', ".a", '",1]'),
    "name of a collection of enums": ('["java.util.EnumSet<', "a.", '>",[]]'),
    "name of a wrapper": ('["java.util.Collections$Unmodifiable', "Sorted", 'Set",[]]'),
    "brackets in a name": ('["', "[", 'I",[]]'),
    "escapes": ('"', "\\ud800", '"'),
    "keys": ('{"@class":"java.util.HashMap"', ',"a":1', "}"),
    "classes of an object": ("{", '"@class":1,', '"a":1}'),
    "arrays": ("", "[", ""),
    "objects": ("", '{"a":', ""),
    "nulls": ('["java.util.ArrayList",[1', ",null", "]]"),
}


def class_last(size: int) -> bytes:
    """Objects whose class is after all of their properties."""
    many = ",".join(f'"f{number}":null' for number in range(50))
    one = f'{{{many},"@class":"com.acme.hostile.Slot"}}'
    return f'["java.util.ArrayList",[{",".join([one] * max(1, size // 20))}]]'.encode()


def same_throwables(size: int) -> bytes:
    """One exception with a long trace as the cause of many others."""
    frames = ",".join(['{"className":"a"}'] * size)
    first = f'{{"@class":"java.lang.Exception","@id":1,"stackTrace":[{frames}]}}'
    one = '{"@class":"java.lang.Exception","stackTrace":[],"cause":1,"suppressed":["[Ljava.lang.Throwable;",[1,1]]}'
    return f'["java.util.ArrayList",[{",".join([first, *[one] * size])}]]'.encode()


# Kryo


def kryo_list(items: list[bytes]) -> bytes:
    return b"\x01\0" + ascii_name("java.util.ArrayList") + varint_flag(False, len(items) + 1) + b"".join(items)


def kryo_text(size: int) -> bytes:
    return kryo_list([b"\x03" + ascii_name("x" * 10)] * size)


def kryo_unknown_names(size: int) -> bytes:
    return kryo_list([b"\x01" + varint(n + 1) + ascii_name(f"com.acme.C{n}") for n in range(size)])


def kryo_false_headers(size: int) -> bytes:
    """What may begin a stream of Java's, everywhere."""
    return kryo_list([b"\x01\x01" + ascii_name("com.acme.Nobody"), *[bytes.fromhex("aced0005")] * size])


def kryo_shared(size: int) -> bytes:
    """One list in many wrappers."""
    inner = list(range(size))
    return Kryo5Codec(references=True).encode([[inner], *[inner] * size])


def kryo_classes(size: int) -> bytes:
    return kryo_list(
        [
            b"\x01\x01" + ascii_name("java.lang.Class") + b"\x01\x02" + ascii_name("x" * size),
            *[b"\x01\x01\x01\x02"] * size,
        ]
    )


def exceptions(size: int) -> bytes:
    return Kryo5Codec().encode([java.Throwable("java.lang.IllegalStateException", "x") for _ in range(size // 10 + 1)])


# Compressed


def bomb(codec: Any, size: int) -> bytes:
    """What becomes much when it is decompressed, by as much as the format can."""
    return bytes(codec.encode(b"\0" * (size * 1000)))


# All


def families() -> list[Family]:
    json, json3 = JsonJacksonCodec(), JsonJackson3Codec()
    generic, java_stream = JsonJacksonCodec(unknown="generic"), SerializationCodec()
    any_stream = SerializationCodec(unknown="generic")
    kryo, sharing = Kryo5Codec(), Kryo5Codec(references=True)
    jackson: list[Codec] = [
        json,
        json3,
        CborJacksonCodec(),
        SmileJacksonCodec(),
        MsgPackJacksonCodec(),
        IonJacksonCodec(),
    ]
    found = [family for codec in (kryo, sharing, java_stream, *jackson) for family in colliding(codec)]
    for field, keys in (("ids", uuids), ("amounts", decimals), ("numbers", longs)):
        found += [
            Family(f"Map of {keys.__name__}", codec, functools.partial(json_map, field, keys))
            for codec in (json, json3)
        ]
    texts: list[Codec] = [json, generic, json3]
    for codec in texts:
        found += [Family(f"text: {name}", codec, functools.partial(json_list, *parts)) for name, parts in TEXTS.items()]
        found += [Family(f"arrays {depth} deep", codec, functools.partial(nested_arrays, depth)) for depth in (60, 190)]
        found += [Family("bare arrays", codec, bare_arrays), Family("@class last", codec, class_last)]
        found += [Family("exceptions that share a cause", codec, same_throwables)]
    streams: list[Codec] = [java_stream, any_stream]
    for codec in streams:
        found += [Family(make.__name__, codec, make) for make in STREAMS]
    kryos: list[Codec] = [kryo, sharing]
    for codec in kryos:
        found += [Family(make.__name__, codec, make) for make in KRYO]
    found += [Family("digits", codec, lambda size: b"1" * (size * 10)) for codec in (LongCodec(), DoubleCodec())]
    found += [Family("text", StringCodec(), lambda size: b"\xc3" * (size * 10))]
    java_bytes = SerializationCodec()
    packed = [LZ4Codec(java_bytes), SnappyCodecV2(java_bytes), ZStdCodec(java_bytes, max_ratio=None)]
    found += [Family("a bomb", codec, functools.partial(bomb, codec)) for codec in packed]
    return found


STREAMS = (
    *(shared_array_class, shared_array_of_arrays, shared_array_lists, wide_class, tall_class, tall_written_class),
    *(class_chain, shared_text, small_blocks, doubled_lists),
)
KRYO = (
    *(array_names, primitive_names, kryo_text, kryo_unknown_names, kryo_false_headers, kryo_shared, kryo_classes),
    exceptions,
)
FAMILIES = tuple(families())
