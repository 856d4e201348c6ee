"""Shared by the tests of Jackson's formats: nodes, and the value that a written node is read as."""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.floats import double_text, float_text
from redisson_dq.codecs.jackson import cbor, ion, json, msgpack, smile
from redisson_dq.codecs.jackson.node import CLASS, Number, Object, Typed

#: Redisson's codecs and the formats they write.
FORMATS: dict[str, Any] = {
    "JsonJacksonCodec": json,
    "CborJacksonCodec": cbor,
    "MsgPackJacksonCodec": msgpack,
    "SmileJacksonCodec": smile,
    "IonJacksonCodec": ion,
}
MODULES = {name.removesuffix("JacksonCodec").lower(): module for name, module in FORMATS.items()}


def same_node(left: Any, right: Any) -> bool:
    """Equal, with the same types all the way down, signs of zero and scales."""
    if type(left) is not type(right):
        return False
    if isinstance(left, Typed):
        return left.name == right.name and same_node(left.content, right.content)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same_node, left, right))
    if isinstance(left, float):
        return bool(float.hex(left) == float.hex(right))
    if isinstance(left, Decimal):
        return bool(left.as_tuple() == right.as_tuple())
    return bool(left == right)


def node_or_fault(loads: Callable[[bytes], Any], data: bytes) -> Any:
    """The node of any bytes, or the one fault that readers may raise, at an offset within the bytes."""
    found: Any = None
    try:
        found = loads(data)
    except Malformed as error:
        found = error
    if isinstance(found, Malformed):
        assert found.message
        assert 0 <= (found.offset or 0) <= len(data), data
    return found


def mutations(data: bytes, count: int, chance: random.Random) -> Iterator[bytes]:
    """Other bytes, made of these by a few changes at random."""
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 1, 2, 5))):
            position = chance.randrange(len(changed) + 1)
            kind = chance.randrange(4)
            if kind == 0:
                changed.insert(position, chance.randrange(256))
            elif kind == 1:
                del changed[position : position + chance.randrange(1, 4)]
            elif position < len(changed):
                changed[position] = chance.choice((changed[position] ^ 1 << chance.randrange(8), 0xFF, 0x00, 0x80))
        yield bytes(changed)


# -- what a node is read as ------------------------------------------------------------------------------------------

_JAVA_NAME = re.compile(r"\[*L?(java|javax|com|sun|jdk)\.[\w.$<>,]+;?|\[+[A-Z]")


def named(node: Any) -> Any:
    """What Java wrote and a format without type ids has read, as it must be given to be written again."""
    if type(node) is Object:
        pairs = Object((name, named(item)) for name, item in node)
        return Typed(pairs[0][1], Object(pairs[1:])) if pairs and pairs[0][0] == CLASS else pairs
    if type(node) is Number:
        return float(node) if double_text(float(node)) == node else Decimal(node)
    if type(node) is not list:
        return node
    if len(node) != 2 or type(node[0]) is not str or not _JAVA_NAME.fullmatch(node[0]):
        return [named(item) for item in node]
    name, content = node
    if name == "java.math.BigInteger":
        return Typed(name, java.BigInteger(content))
    if name == "java.math.BigDecimal":
        return Typed(name, Decimal(str(content)))
    if name == "java.lang.Float" and type(content) is Number:
        return Typed(name, java.Float(float(content)))
    return Typed(name, named(content))


def as_read(node: Any, module: Any) -> Any:
    """What a format reads of what it wrote for a node."""
    if isinstance(node, Typed):
        content = as_read(node.content, module)
        if module is ion:
            return Typed(node.name, content)
        return Object(((CLASS, node.name), *content)) if type(content) is Object else [node.name, content]
    if type(node) is Object:
        return Object((str(name), as_read(item, module)) for name, item in node)
    if type(node) is list:
        return [as_read(item, module) for item in node]
    if isinstance(node, bool) or node is None:
        return node
    if isinstance(node, int):
        return int(node)
    if module is json:
        return _as_read_in_json(node)
    if isinstance(node, Decimal):
        if module is msgpack:
            return int(node) if node == int(node) and -(2**63) <= node < 2**64 else float(node)
        return node if node else node.copy_abs()
    if type(node) is java.Float and module is ion:
        return float(node)
    return _paired(node) if type(node) is str else node


def _as_read_in_json(node: Any) -> Any:
    if isinstance(node, float):
        text = float_text(node) if type(node) is java.Float else double_text(node)
        return Number(text) if node - node == 0 else text
    if isinstance(node, Decimal):
        text = format(node, "f")
        if not node:
            text = text.removeprefix("-") if "." in text else "0"
        return Number(text) if "." in text else int(text)
    return base64.b64encode(node).decode() if type(node) is bytes else _paired(node)


def _paired(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


# -- nodes -----------------------------------------------------------------------------------------------------------

texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=80),
    st.text(st.sampled_from("a\"'\\\x00\n\x7f\x80\u00e9\u20ac\U0001f600"), max_size=100),
    st.sampled_from(["", "null", "$1", "a b"]),
    st.builds(str.__mul__, st.sampled_from("x\u00e9\u20ac\U0001f600"), st.sampled_from((22, 28, 32, 64, 65, 4000))),
)
class_names = st.sampled_from(["java.util.ArrayList", "[B", "com.acme.Order", "a$b", "null"])
doubles = st.floats().map(lambda number: number if number == number else float("nan"))
floats = st.floats(width=32).map(lambda number: java.Float(number if number == number else float("nan")))
decimals = st.builds(
    lambda sign, digits, exponent: Decimal((sign, tuple(map(int, str(digits))), exponent)),
    st.integers(0, 1),
    st.integers(0, 10**25),
    st.integers(-40, 20),
)
#: The Decimals that MessagePack has.
few_decimals = st.one_of(
    st.integers(-(2**63), 2**64 - 1).map(Decimal),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda number: Decimal(repr(number))),
)
wholes = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.builds(
        lambda sign, bits, step: sign << bits | step, st.sampled_from((1, -1)), st.integers(0, 62), st.booleans()
    ),
    st.integers(-(2**63), 2**63 - 1).map(java.Long),
    st.integers(-(2**15), 2**15 - 1).map(java.Short),
    st.integers(-128, 127).map(java.Byte),
)
big_wholes = st.one_of(st.integers(-(10**40), 10**40).map(java.BigInteger), st.integers(-(10**40), 10**40))
any_bytes = st.binary(max_size=80)


def _typed(name: str, content: Any) -> Any:
    return content if type(content) is Typed else Typed(name, content)


def nodes(module: Any) -> st.SearchStrategy[Any]:
    """Nodes that a format can write."""
    scalars = st.none() | st.booleans() | texts | wholes | doubles | floats | any_bytes
    scalars = scalars | few_decimals if module is msgpack else scalars | decimals | big_wholes
    return st.recursive(
        scalars,
        lambda inner: st.one_of(
            st.lists(inner, max_size=6),
            st.lists(st.tuples(texts, inner), max_size=6).map(Object),
            st.builds(_typed, class_names, inner),
        ),
        max_leaves=20,
    )


def nested(depth: int, *, kind: str) -> Any:
    """The number 1 inside ``depth`` arrays, objects or arrays with a class."""
    node: Any = 1
    for _ in range(depth):
        node = Object((("k", node),)) if kind == "object" else [node]
        node = Typed("java.util.ArrayList", node) if kind == "typed" else node
    return node


def refusal(module: Any, node: Any) -> Unencodable:
    """The fault of a node that has no bytes."""
    try:
        module.dumps(node)
    except Unencodable as error:
        return error
    raise AssertionError(f"{node!r} has been written")
