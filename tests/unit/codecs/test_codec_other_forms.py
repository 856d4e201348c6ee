"""Jackson's formats have several bytes for a value. What was read from other bytes than are written says so.

A value is compared with its bytes only where these or the nodes in them leave a doubt. So each form is tried that is
none of Jackson's own.
"""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pytest

from redisson_dq.codecs import (
    CborJackson3Codec,
    CborJacksonCodec,
    IonJacksonCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    MsgPackJacksonCodec,
    SmileJackson3Codec,
    SmileJacksonCodec,
)
from redisson_dq.codecs.faults import Unencodable
from redisson_dq.codecs.jackson import cbor, ion, json, msgpack, smile
from redisson_dq.codecs.jackson.node import Number, Object, Typed
from redisson_dq.codecs.marks import has_no_room, other_bytes
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java import Float
from tests.unit.codecs.vectors import vectors
from tests.versions import NEWEST

#: The codecs with the modules of their formats.
FORMATS: list[Any] = [
    *((JsonJacksonCodec(), json), (JsonJackson3Codec(), json), (CborJacksonCodec(), cbor), (IonJacksonCodec(), ion)),
    *((MsgPackJacksonCodec(), msgpack), (SmileJacksonCodec(), smile)),
    *((CborJackson3Codec(), cbor), (SmileJackson3Codec(), smile)),
]
#: Nodes of which some stand where Jackson writes others.
NODES: list[Any] = [
    *(5, -1, 5_000_000_000, 1 << 70, 0.5, 13486231.0, 1e-5, float("inf"), "a", "", None, True, [], Object()),
    *([["java.lang." + name, value] for name, value in (("Integer", 5), ("String", "x"), ("Long", 5), ("Double", 5))]),
    *(["java.util.HashMap", Object((("a", 1),))], Object((("a", 1), ("@class", "java.util.HashMap")))),
    *(Object((("@class", "java.util.HashMap"), ("a", 1), ("a", 2))), ["[B", "Aa=="], ["[B", ""], ["a", "b"]),
    *(["java.math.BigDecimal", 5], ["java.math.BigInteger", 5], ["java.util.HashSet", ["b", "a"]]),
]
BINARY: list[Any] = [
    *(b"ab", Float(1.5), Decimal("1.5"), ["[B", b"ab"], ["java.lang.Float", 1.5], Typed("java.lang.Integer", 5)),
    *(Typed("java.util.ArrayList", [1]), Typed("java.lang.Long", 7), ["java.util.ArrayList", [Float(2.5)]]),
]


def changed(node: Any, chance: random.Random, nodes: list[Any]) -> Any:
    if chance.random() < 0.12:
        return chance.choice(nodes)
    if type(node) is list:
        return [changed(item, chance, nodes) for item in node]
    if type(node) is Object:
        return Object((name, changed(item, chance, nodes)) for name, item in node)
    return Typed(node.name, changed(node.content, chance, nodes)) if type(node) is Typed else node


def text_of(node: Any) -> str:
    """JSON as others write it: a class may be in an array before an object."""
    if type(node) is list:
        return f"[{','.join(map(text_of, node))}]"
    if type(node) is Object:
        return "{" + ",".join(f"{json.quoted(name)}:{text_of(item)}" for name, item in node) + "}"
    return str(node) if type(node) is Number else json.dumps(node).decode()


def check(codec: Any, data: bytes) -> bool:
    """Whether it was written to other bytes."""
    try:
        value = codec.decode(data)
        written = codec.encode(value)
    except (DecodeError, EncodeError):
        return False
    assert written == data or other_bytes(value) or value is None or has_no_room(value), (data, written)
    return bool(written != data)


@pytest.mark.parametrize(("codec", "form"), FORMATS, ids=lambda each: getattr(each, "name", ""))
def test_a_value_of_other_nodes_knows_it(codec: Any, form: Any) -> None:
    rows = [each for each in vectors(codec.name) if each.data is not None and each.redisson == NEWEST]
    seeds = [form.loads(each.data) for each in rows if each.data is not None and len(each.data) < 300]
    chance = random.Random(20261123)
    others = 0
    for _ in range(1500):
        node = changed(chance.choice(seeds), chance, NODES if form is json else NODES + BINARY)
        parts = [node, chance.choice(NODES)]
        # Codecs without types refuse the name of a class before a list.
        whole = parts if "Jackson3" in codec.name and form is not json else ["java.util.ArrayList", parts]
        try:
            data = text_of(whole).encode() if form is json else form.dumps(whole)
        except Unencodable:
            continue
        others += check(codec, data)
    assert others > 20 or codec.name == "SmileJackson3Codec"


@pytest.mark.parametrize("codec", [codec for codec, _ in FORMATS], ids=lambda codec: codec.name)
def test_a_value_of_changed_bytes_knows_it(codec: Any) -> None:
    rows = [each for each in vectors(codec.name) if each.data is not None and each.redisson == NEWEST]
    seeds = [bytearray(each.data) for each in rows if each.data is not None and 0 < len(each.data) < 300]
    chance = random.Random(20261123)
    for _ in range(3000):
        data = bytearray(chance.choice(seeds))
        for _change in range(chance.randint(1, 2)):
            place, byte = chance.randrange(len(data)), chance.choice((chance.randrange(256), *b'0189.eE+-" []{},:'))
            data[place : place + chance.choice((0, 1, 1))] = bytes((byte,))
        check(codec, bytes(data))


@pytest.mark.parametrize(
    "text",
    [
        '["java.util.ArrayList",[5000000000]]',
        '["java.util.ArrayList",[["java.lang.Integer",5]]]',
        '["java.util.ArrayList",[["[B","Aa=="]]]',
        '{"a":1,"@class":"java.util.LinkedHashMap"}',
        '["java.util.ArrayList",[-0]]',
        "13486231.0",
        "-0",
    ],
)
def test_json_of_another_program(text: str) -> None:
    assert check(JsonJacksonCodec(), text.encode())
