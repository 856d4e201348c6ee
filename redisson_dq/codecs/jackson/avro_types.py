"""The types of an Avro schema: each writes nodes as jackson-dataformat-avro does, and reads them.

================  ==========================================================================================
null              no bytes
boolean           a byte, 0 or 1
int, long         zigzag, 7 bits a byte, lowest first. A text of one character is an int, as a char is in Java
float, double     4 or 8 bytes, little endian
string, bytes     a long, the length, and the bytes. A string takes a BigDecimal's and a BigInteger's digits
fixed             its bytes
enum              an int: which symbol
decimal           the unscaled BigDecimal as BigInteger.toByteArray gives it, in bytes or fixed
array, map        a block: a long, how many, then the elements or pairs; other blocks; a 0
record            its fields
union             an int: which type; then a value of it
================  ==========================================================================================
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from redisson_dq.codecs.faults import Malformed, Unencodable, unwritable
from redisson_dq.codecs.jackson.avro_scalars import (
    END,
    PRIMITIVES,
    Type,
    long_bytes_of,
    read_avro_int,
    read_avro_text,
    read_block_count,
)
from redisson_dq.codecs.jackson.binary import (
    deeper,
)
from redisson_dq.codecs.jackson.node import Object, Typed
from redisson_dq.java.numbers import INT_MAX, INT_MIN, BigInteger, Byte, Float, Long, Short

__all__ = ["ArrayType", "MapType", "RecordType", "UnionType"]


class ArrayType(Type):
    """Elements of one type, whose values must take bytes: otherwise nothing would limit their number."""

    def __init__(self, items: Type) -> None:
        super().__init__("array")
        self.items = items

    def write(self, node: Any, out: bytearray) -> None:
        if type(node) is str and self.items.kind == "int":  # Jackson turns a char[] into a text
            node = _units(node)
        elif type(node) is Typed:  # a UUID of Redisson 4.2 to 4.4
            node = [node.name, node.content]
        if type(node) is not list:
            raise self.misfit(node)
        if node:
            out += long_bytes_of(len(node))
        index = 0
        try:
            for index in range(len(node)):
                self.items.write(node[index], out)
        except Unencodable as error:
            error.inside(index)
            raise
        except Exception as error:
            raise unwritable(error, index) from error
        out += END

    def read(self, data: bytes, pos: int, depth: int) -> tuple[list[Any], int]:
        depth = deeper(depth, pos)
        items = []
        count, pos = read_block_count(data, pos)
        while count:
            for _ in range(count):
                item, pos = self.items.read(data, pos, depth)
                items.append(item)
            count, pos = read_block_count(data, pos)
        return items, pos


class MapType(Type):
    """Pairs of a text and a value of one type."""

    def __init__(self, values: Type) -> None:
        super().__init__("map")
        self._values = values

    def write(self, node: Any, out: bytearray) -> None:
        if type(node) is not Object:
            raise self.misfit(node)
        values = dict(node)
        if values:
            out += long_bytes_of(len(values))
        name = ""
        try:
            for name in _hash_order(values):
                PRIMITIVES["string"].write(name, out)
                self._values.write(values[name], out)
        except Unencodable as error:
            error.inside(name)
            raise
        except Exception as error:
            raise unwritable(error, name) from error
        out += END

    def read(self, data: bytes, pos: int, depth: int) -> tuple[Object, int]:
        depth = deeper(depth, pos)
        pairs = []
        count, pos = read_block_count(data, pos)
        while count:
            for _ in range(count):
                name, pos = read_avro_text(data, pos)
                value, pos = self._values.read(data, pos, depth)
                pairs.append((name, value))
            count, pos = read_block_count(data, pos)
        return Object(pairs), pos


class RecordType(Type):
    """Values of named fields. The fields are set later, because a record may contain its own type."""

    def __init__(self) -> None:
        super().__init__("record")
        self.fields: dict[str, Type] = {}

    def fits(self, node: Object) -> bool:
        """Whether the node has no other properties, and lacks none that cannot be null."""
        names = {name for name, _ in node}
        return names <= self.fields.keys() and all(
            name in names or _may_be_null(of_field) for name, of_field in self.fields.items()
        )

    def write(self, node: Any, out: bytearray) -> None:
        if type(node) is not Object:
            raise self.misfit(node)
        values = dict(node)
        name = ""
        try:
            for name in values:
                if name not in self.fields:
                    raise Unencodable("the schema has no such field")
            for name, of_field in self.fields.items():
                of_field.write(values.get(name), out)
        except Unencodable as error:
            error.inside(name)
            raise
        except Exception as error:
            raise unwritable(error, name) from error

    def read(self, data: bytes, pos: int, depth: int) -> tuple[Object, int]:
        depth = deeper(depth, pos)
        pairs = []
        for name, of_field in self.fields.items():
            value, pos = of_field.read(data, pos, depth)
            pairs.append((name, value))
        return Object(pairs), pos

    def takes_bytes(self) -> bool:
        return any(of_field.takes_bytes() for of_field in self.fields.values())


#: By type of node: the types that may hold it. The first one in the union is used.
_TAKEN_BY: dict[type, tuple[str, ...]] = {
    type(None): ("null",),
    bool: ("boolean",),
    **dict.fromkeys((int, Byte, Short), ("int", "long")),
    Long: ("long",),
    BigInteger: ("string", "long"),
    Float: ("float", "double"),
    float: ("double", "float"),
    Decimal: ("double", "string", "decimal"),
    bytes: ("bytes", "fixed"),
    list: ("array",),
}


class UnionType(Type):
    """A value of one of several types."""

    def __init__(self, types: list[Type]) -> None:
        super().__init__("union")
        self.types = types

    def write(self, node: Any, out: bytearray) -> None:
        number = self._choice(node)
        out += long_bytes_of(number)
        self.types[number].write(node, out)

    def _choice(self, node: Any) -> int:
        kinds = [of_one.kind for of_one in self.types]
        if node is not None and len(kinds) == 2 and "null" in kinds:
            return 1 - kinds.index("null")
        if type(node) is str:
            found = [number for number, kind in enumerate(kinds) if kind in ("string", "enum")][:1]
        elif type(node) is Object:
            found = [
                number
                for number, of_one in enumerate(self.types)
                if of_one.kind == "map" or (isinstance(of_one, RecordType) and of_one.fits(node))
            ]
        else:
            kind = next((kind for kind in _TAKEN_BY.get(type(node), ()) if kind in kinds), None)
            if type(node) is int and kind == "int" and "long" in kinds and not INT_MIN <= node <= INT_MAX:
                kind = "long"
            found = [kinds.index(kind)] if kind is not None else []
        if len(found) != 1:
            raise Unencodable(f"{len(found)} types of the schema's union ({', '.join(kinds)}) take this value")
        return found[0]

    def read(self, data: bytes, pos: int, depth: int) -> tuple[Any, int]:
        number, end = read_avro_int(data, pos)
        if not 0 <= number < len(self.types):
            raise Malformed(f"type {number} of a union that has {len(self.types)}", pos)
        return self.types[number].read(data, end, depth)


def _may_be_null(found: Type) -> bool:
    """Whether null is a value of the type."""
    return found.kind == "null" or (isinstance(found, UnionType) and any(map(_may_be_null, found.types)))


def _units(text: str) -> list[int]:
    """The UTF-16 units of a text."""
    return [unit for (unit,) in struct.iter_unpack("<H", text.encode("utf-16-le", "surrogatepass"))]


def _hash_order(names: Iterable[str]) -> list[str]:
    """The texts in the iteration order of a java.util.HashMap to which they were added in the given order. O(total
    length)."""
    found = list(names)
    places = 16
    while len(found) > places * 3 // 4:
        places *= 2

    def place(name: str) -> int:
        code = 0
        for unit in _units(name):
            code = code * 31 + unit & 0xFFFFFFFF
        return (code ^ code >> 16) & places - 1

    return sorted(found, key=place)
