"""The types of an Avro schema that hold no others; :mod:`~redisson_dq.codecs.jackson.avro_types` lists all types."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from redisson_dq.codecs.faults import Malformed, Unencodable, type_name
from redisson_dq.codecs.jackson.binary import (
    decimal_of,
    decimal_parts,
    java_bytes,
    read_bytes,
    read_number,
    read_text,
    utf8,
)
from redisson_dq.codecs.jackson.json import digits
from redisson_dq.codecs.jackson.node import Typed
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, BigInteger, Byte, Float, Long, Short

__all__ = [
    "END",
    "PRIMITIVES",
    "DecimalType",
    "Type",
    "enum",
    "fixed",
    "long_bytes_of",
    "read_avro_int",
    "read_avro_text",
    "read_block_count",
]


class Type(ABC):
    """A type of a schema. ``kind`` is Avro's name for it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    @abstractmethod
    def write(self, node: Any, out: bytearray) -> None:
        """Write a node. Raises Unencodable when it does not fit. O(size)."""

    @abstractmethod
    def read(self, data: bytes, pos: int, depth: int) -> tuple[Any, int]:
        """A node and the next position. Raises Malformed. O(size)."""

    def takes_bytes(self) -> bool:
        """Whether every value takes at least one byte."""
        return True

    def misfit(self, node: Any) -> Unencodable:
        """The fault of a node that does not fit."""
        kind = f"{node.name} with its class" if type(node) is Typed else f"node of type {type_name(node)}"
        return Unencodable(f"a {kind} does not fit the schema's {self.kind}")


class _ScalarType(Type):
    """A type that holds no others. ``write`` returns None for a node that does not fit."""

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

    def write(self, node: Any, out: bytearray) -> None:
        raw = self._write(node)
        if raw is None:
            raise self.misfit(node)
        out += raw

    def read(self, data: bytes, pos: int, depth: int) -> tuple[Any, int]:
        return self._read(data, pos)

    def takes_bytes(self) -> bool:
        return self._takes_bytes


_INTEGERS = frozenset((int, Byte, Short, Long, BigInteger))
_FLOAT_FORM, _DOUBLE_FORM = struct.Struct("<f"), struct.Struct("<d")
END = b"\0"


def long_bytes_of(number: int) -> bytes:
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
        return long_bytes_of(ord(node)) if type(node) is str and len(node) == 1 and node <= "\uffff" else None
    return long_bytes_of(node) if type(node) in _INTEGERS and INT_MIN <= node <= INT_MAX else None


def _long_bytes(node: Any) -> bytes | None:
    return long_bytes_of(node) if type(node) in _INTEGERS and LONG_MIN <= node <= LONG_MAX else None


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
    return long_bytes_of(len(raw)) + raw


def _binary_bytes(node: Any) -> bytes | None:
    return long_bytes_of(len(node)) + node if type(node) is bytes else None


def _read_boolean(data: bytes, pos: int) -> tuple[bool, int]:
    if data[pos] > 1:
        raise Malformed(f"0x{data[pos]:02X} is not a boolean", pos)
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


def read_avro_int(data: bytes, pos: int) -> tuple[int, int]:
    number, end = _read_long(data, pos)
    if not INT_MIN <= number <= INT_MAX:
        raise Malformed("a number of more than 32 bits", pos)
    return number, end


def read_block_count(data: bytes, pos: int) -> tuple[int, int]:
    """A length or a number of elements. Each element takes at least a byte."""
    count, start = _read_long(data, pos)
    if not 0 <= count <= len(data) - start:
        raise Malformed(f"{count} are announced, {len(data) - start} bytes are there", pos)
    return count, start


def read_avro_text(data: bytes, pos: int) -> tuple[str, int]:
    length, start = read_block_count(data, pos)
    return read_text(data, start, length)


def _read_binary(data: bytes, pos: int) -> tuple[bytes, int]:
    length, start = read_block_count(data, pos)
    return read_bytes(data, start, length)


def _read_float(data: bytes, pos: int) -> tuple[float, int]:
    return Float(_FLOAT_FORM.unpack_from(data, pos)[0]), pos + 4


def _read_double(data: bytes, pos: int) -> tuple[float, int]:
    return _DOUBLE_FORM.unpack_from(data, pos)[0], pos + 8


#: The types that are only a name.
PRIMITIVES: dict[str, Type] = {
    found.kind: found
    for found in (
        _ScalarType("null", lambda node: b"" if node is None else None, lambda _, pos: (None, pos), takes_bytes=False),
        _ScalarType("boolean", _boolean_bytes, _read_boolean),
        _ScalarType("int", _int_bytes, read_avro_int),
        _ScalarType("long", _long_bytes, _read_long),
        _ScalarType("float", _float_bytes, _read_float),
        _ScalarType("double", _double_bytes, _read_double),
        _ScalarType("string", _text_bytes, read_avro_text),
        _ScalarType("bytes", _binary_bytes, _read_binary),
    )
}


def fixed(size: int) -> Type:
    """Bytes of a fixed length."""
    return _ScalarType(
        "fixed",
        lambda node: node if type(node) is bytes and len(node) == size else None,
        lambda data, pos: read_bytes(data, pos, size),
        takes_bytes=size > 0,
    )


def enum(symbols: list[str]) -> Type:
    """One of a list of symbols."""
    numbers = {symbol: long_bytes_of(number) for number, symbol in enumerate(symbols)}

    def read(data: bytes, pos: int) -> tuple[str, int]:
        number, end = read_avro_int(data, pos)
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

    def write(self, node: Any, out: bytearray) -> None:
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
