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
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from redisson_dq.codecs.faults import Malformed, Unencodable, type_name, unwritable
from redisson_dq.codecs.jackson.binary import (
    decimal_of,
    decimal_parts,
    deeper,
    java_bytes,
    read_bytes,
    read_number,
    read_text,
    utf8,
)
from redisson_dq.codecs.jackson.json import digits
from redisson_dq.codecs.jackson.node import Object
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, BigInteger, Byte, Float, Long, Short

__all__ = ["PRIMITIVES", "ArrayType", "DecimalType", "MapType", "RecordType", "Type", "UnionType", "enum", "fixed"]


class Type(ABC):
    """A type of a schema. ``kind`` is Avro's name of it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    @abstractmethod
    def write(self, node: Any, out: list[bytes]) -> None:
        """Write a node. Raises Unencodable when it does not fit. O(size)."""

    @abstractmethod
    def read(self, data: bytes, pos: int, depth: int) -> tuple[Any, int]:
        """A node and the next position. Raises Malformed. O(size)."""

    def takes_bytes(self) -> bool:
        """Whether every value takes at least one byte."""
        return True

    def misfit(self, node: Any) -> Unencodable:
        """The fault of a node that does not fit."""
        return Unencodable(f"a node of type {type_name(node)} does not fit the schema's {self.kind}")


class _ScalarType(Type):
    """A type that holds no others. ``write`` gives None for a node that does not fit."""

    def __init__(
        self,
        kind: str,
        write: Callable[[Any], bytes | None],
        read: Callable[[bytes, int], tuple[Any, int]],
        *,
        takes_bytes: bool = True,
    ) -> None:
        super().__init__(kind)
        self._write = write
        self._read = read
        self._takes_bytes = takes_bytes

    def write(self, node: Any, out: list[bytes]) -> None:
        raw = self._write(node)
        if raw is None:
            raise self.misfit(node)
        out.append(raw)

    def read(self, data: bytes, pos: int, depth: int) -> tuple[Any, int]:
        return self._read(data, pos)

    def takes_bytes(self) -> bool:
        return self._takes_bytes


_INTEGERS = frozenset((int, Byte, Short, Long, BigInteger))
_FLOAT_FORM, _DOUBLE_FORM = struct.Struct("<f"), struct.Struct("<d")
_END = b"\0"


def _varint(number: int) -> bytes:
    number = number << 1 if number >= 0 else ~(number << 1)
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _boolean_bytes(node: Any) -> bytes | None:
    return (b"\1" if node else b"\0") if type(node) is bool else None


def _int_bytes(node: Any) -> bytes | None:
    if isinstance(node, str):
        return _varint(ord(node)) if type(node) is str and len(node) == 1 and node <= "\uffff" else None
    return _varint(node) if type(node) in _INTEGERS and INT_MIN <= node <= INT_MAX else None


def _long_bytes(node: Any) -> bytes | None:
    return _varint(node) if type(node) in _INTEGERS and LONG_MIN <= node <= LONG_MAX else None


def _float_bytes(node: Any) -> bytes | None:
    if type(node) not in (float, Float) and type(node) not in _INTEGERS:
        return None
    try:
        return _FLOAT_FORM.pack(float(node)) if node == node else b"\0\0\xc0\x7f"
    except OverflowError:
        return None


def _double_bytes(node: Any) -> bytes | None:
    if type(node) is Decimal and node.is_finite():
        node = float(node)
    if type(node) not in (float, Float) and type(node) not in _INTEGERS:
        return None
    try:
        return _DOUBLE_FORM.pack(float(node)) if node == node else b"\0\0\0\0\0\0\xf8\x7f"
    except OverflowError:
        return None


def _text_bytes(node: Any) -> bytes | None:
    if type(node) is Decimal and node.is_finite():
        node = str(node if node else node.copy_abs())
    elif type(node) is BigInteger:
        node = digits(node)
    if type(node) is not str:
        return None
    raw = utf8(node)
    return _varint(len(raw)) + raw


def _binary_bytes(node: Any) -> bytes | None:
    return _varint(len(node)) + node if type(node) is bytes else None


def _read_boolean(data: bytes, pos: int) -> tuple[bool, int]:
    if data[pos] > 1:
        raise Malformed(f"0x{data[pos]:02X} is no boolean", pos)
    return data[pos] == 1, pos + 1


def _read_long(data: bytes, pos: int) -> tuple[int, int]:
    number = 0
    for end in range(pos, pos + 10):
        byte = data[end]
        number |= (byte & 0x7F) << 7 * (end - pos)
        if byte < 0x80:
            if number >= 1 << 64:
                break
            return (number >> 1) ^ -(number & 1), end + 1
    raise Malformed("a number of more than 64 bits", pos)


def _read_int(data: bytes, pos: int) -> tuple[int, int]:
    number, end = _read_long(data, pos)
    if not INT_MIN <= number <= INT_MAX:
        raise Malformed("a number of more than 32 bits", pos)
    return number, end


def _read_count(data: bytes, pos: int) -> tuple[int, int]:
    """A length or a number of elements. Each element takes at least a byte."""
    count, start = _read_long(data, pos)
    if not 0 <= count <= len(data) - start:
        raise Malformed(f"{count} are announced, {len(data) - start} bytes are there", pos)
    return count, start


def _read_text(data: bytes, pos: int) -> tuple[str, int]:
    length, start = _read_count(data, pos)
    return read_text(data, start, length)


def _read_binary(data: bytes, pos: int) -> tuple[bytes, int]:
    length, start = _read_count(data, pos)
    return read_bytes(data, start, length)


def _read_float(data: bytes, pos: int) -> tuple[float, int]:
    return Float(_FLOAT_FORM.unpack_from(data, pos)[0]), pos + 4


def _read_double(data: bytes, pos: int) -> tuple[float, int]:
    return _DOUBLE_FORM.unpack_from(data, pos)[0], pos + 8


#: The types that have no more than a name.
PRIMITIVES: dict[str, Type] = {
    found.kind: found
    for found in (
        _ScalarType("null", lambda node: b"" if node is None else None, lambda _, pos: (None, pos), takes_bytes=False),
        _ScalarType("boolean", _boolean_bytes, _read_boolean),
        _ScalarType("int", _int_bytes, _read_int),
        _ScalarType("long", _long_bytes, _read_long),
        _ScalarType("float", _float_bytes, _read_float),
        _ScalarType("double", _double_bytes, _read_double),
        _ScalarType("string", _text_bytes, _read_text),
        _ScalarType("bytes", _binary_bytes, _read_binary),
    )
}


def fixed(size: int) -> Type:
    """Bytes of one length."""
    return _ScalarType(
        "fixed",
        lambda node: node if type(node) is bytes and len(node) == size else None,
        lambda data, pos: read_bytes(data, pos, size),
        takes_bytes=size > 0,
    )


def enum(symbols: list[str]) -> Type:
    """One of some symbols."""
    numbers = {symbol: _varint(number) for number, symbol in enumerate(symbols)}

    def read(data: bytes, pos: int) -> tuple[str, int]:
        number, end = _read_int(data, pos)
        if not 0 <= number < len(symbols):
            raise Malformed(f"symbol {number} of an enum that has {len(symbols)}", pos)
        return symbols[number], end

    return _ScalarType("enum", lambda node: numbers.get(node) if type(node) is str else None, read)


class DecimalType(Type):
    """BigDecimals of one scale in the bytes of another type, ``bytes`` or a ``fixed`` of ``size``."""

    def __init__(self, below: Type, precision: int, scale: int, size: int | None) -> None:
        super().__init__("decimal")
        self._below = below
        self._limit = 10**precision
        self._precision = precision
        self._scale = scale
        self._size = size

    def write(self, node: Any, out: list[bytes]) -> None:
        unscaled = self._unscaled(node) if type(node) is Decimal else None
        if unscaled is None:
            raise self.misfit(node)
        raw = java_bytes(unscaled)
        if self._size is not None and len(raw) < self._size:
            raw = unscaled.to_bytes(self._size, "big", signed=True)
        self._below.write(raw, out)

    def _unscaled(self, node: Decimal) -> int | None:
        """The number with the scale of the schema, if it has no more digits and loses none."""
        unscaled, exponent = decimal_parts(node)
        shift = exponent + self._scale
        if not unscaled:
            return 0
        if abs(shift) > max(self._precision, len(node.as_tuple().digits)):
            return None
        if shift < 0:
            unscaled, rest = divmod(unscaled, 10**-shift)
            if rest:
                return None
        else:
            unscaled *= 10**shift
        return unscaled if abs(unscaled) < self._limit else None

    def read(self, data: bytes, pos: int, depth: int) -> tuple[Decimal, int]:
        raw, end = self._below.read(data, pos, depth)
        return decimal_of(read_number(raw, pos), -self._scale, pos), end


class ArrayType(Type):
    """Elements of one type. The type's values must take bytes. Otherwise nothing would limit their number."""

    def __init__(self, items: Type) -> None:
        super().__init__("array")
        self.items = items

    def write(self, node: Any, out: list[bytes]) -> None:
        if type(node) is str and self.items.kind == "int":  # Jackson makes a text of a char[]
            node = _units(node)
        if type(node) is not list:
            raise self.misfit(node)
        if node:
            out.append(_varint(len(node)))
        index = 0
        try:
            for index in range(len(node)):
                self.items.write(node[index], out)
        except Unencodable as error:
            error.inside(index)
            raise
        except Exception as error:
            raise unwritable(error, index) from error
        out.append(_END)

    def read(self, data: bytes, pos: int, depth: int) -> tuple[list[Any], int]:
        depth = deeper(depth, pos)
        items = []
        count, pos = _read_count(data, pos)
        while count:
            for _ in range(count):
                item, pos = self.items.read(data, pos, depth)
                items.append(item)
            count, pos = _read_count(data, pos)
        return items, pos


class MapType(Type):
    """Pairs of a text and a value of one type."""

    def __init__(self, values: Type) -> None:
        super().__init__("map")
        self._values = values

    def write(self, node: Any, out: list[bytes]) -> None:
        if type(node) is not Object:
            raise self.misfit(node)
        values = dict(node)
        if values:
            out.append(_varint(len(values)))
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
        out.append(_END)

    def read(self, data: bytes, pos: int, depth: int) -> tuple[Object, int]:
        depth = deeper(depth, pos)
        pairs = []
        count, pos = _read_count(data, pos)
        while count:
            for _ in range(count):
                name, pos = _read_text(data, pos)
                value, pos = self._values.read(data, pos, depth)
                pairs.append((name, value))
            count, pos = _read_count(data, pos)
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

    def write(self, node: Any, out: list[bytes]) -> None:
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


#: By type of node: the types that may take it. The first of them that the union has is used.
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

    def write(self, node: Any, out: list[bytes]) -> None:
        number = self._choice(node)
        out.append(_varint(number))
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
        number, end = _read_int(data, pos)
        if not 0 <= number < len(self.types):
            raise Malformed(f"type {number} of a union that has {len(self.types)}", pos)
        return self.types[number].read(data, end, depth)


def _may_be_null(found: Type) -> bool:
    """Whether null is a value of the type."""
    return found.kind == "null" or (isinstance(found, UnionType) and any(map(_may_be_null, found.types)))


def _units(text: str) -> list[int]:
    """The UTF-16 units."""
    return [unit for (unit,) in struct.iter_unpack("<H", text.encode("utf-16-le", "surrogatepass"))]


def _hash_order(names: Iterable[str]) -> list[str]:
    """The texts in the order of a java.util.HashMap into which they were put in the given order. O(length of all)."""
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
