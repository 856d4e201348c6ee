"""CBOR as jackson-dataformat-cbor writes it.

Whole numbers take the smallest form up to 64 bits, floats 32 or 64 bits. An array's length precedes it. Objects, and
arrays after the name of a class, have an end mark instead of a length. A text of more than 3,996 UTF-16 units is cut
into chunks of that length. A BigDecimal is tag 4, a BigInteger tag 2 or 3.

Jackson's negative BigIntegers differ from the standard: Jackson writes and reads the bytes of ``-n`` where the standard
has those of ``-1 - n``. This is one reason why no library fits. Libraries also turn a Float into a Double, and lose
names that occur twice. Everything that Jackson does not write is refused, other tags included. So no dates, sets or
references are made.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, ClassVar

from redisson_dq.codecs.faults import Malformed
from redisson_dq.codecs.jackson import binary
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
from redisson_dq.codecs.jackson.node import IntegerName, Object
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, BigInteger, Byte, Float, Long, Short

__all__ = ["dumps", "loads", "parse"]


def dumps(node: Any) -> bytes:
    """The bytes of a node. Raises Unencodable. O(size)."""
    writer = _Writer()
    writer.write(node)
    return writer.whole()


def loads(data: bytes) -> Any:
    """The node of the bytes. Raises Malformed. O(size)."""
    return parse(data)[0]


def parse(data: bytes, *, typed: bool = True) -> tuple[Any, bool]:
    """The node of the bytes, and whether Jackson would write the node to these bytes, as far as the bytes show.

    ``typed``: whether names of classes are written; arrays after such a name have another form.
    """
    reader = _Reader(typed=typed)
    return binary.read_whole(reader.read, data), reader.is_usual


# The top three bits of a first byte. The other five are a number, or say how many bytes the number takes.
_INTEGER, _NEGATIVE, _BYTES, _TEXT, _ARRAY, _OBJECT, _TAG, _OTHER = range(0, 0x100, 0x20)
_NO_LENGTH = 0x1F
_END = 0xFF
_BIG_POSITIVE, _BIG_NEGATIVE, _DECIMAL = _TAG | 2, _TAG | 3, _TAG | 4
_LONGEST_TEXT = 3996

_ONE = tuple(bytes((n,)) for n in range(256))
_FLOAT_FORM, _DOUBLE_FORM = struct.Struct(">Bf"), struct.Struct(">Bd")


def _header(kind: int, number: int) -> bytes:
    if number < 24:
        return _ONE[kind | number]
    if number < 1 << 8:
        return _ONE[kind | 24] + _ONE[number]
    if number < 1 << 16:
        return _ONE[kind | 25] + number.to_bytes(2, "big")
    if number < 1 << 32:
        return _ONE[kind | 26] + number.to_bytes(4, "big")
    return _ONE[kind | 27] + number.to_bytes(8, "big")


def _integer(value: int) -> bytes:
    if not LONG_MIN <= value <= LONG_MAX:
        return _big_integer(value)
    return _header(_INTEGER, value) if value >= 0 else _header(_NEGATIVE, ~value)


def _big_integer(value: int) -> bytes:
    raw = java_bytes(abs(value))
    return _ONE[_BIG_NEGATIVE if value < 0 else _BIG_POSITIVE] + _header(_BYTES, len(raw)) + raw


def _decimal(value: Decimal) -> bytes:
    unscaled, exponent = decimal_parts(value)
    number = _integer(unscaled)
    if len(number) < 9 and not INT_MIN <= unscaled <= INT_MAX:  # in a BigDecimal, Jackson writes a long in eight bytes
        number = _ONE[number[0] & 0xE0 | 27] + number[1:].rjust(8, b"\0")
    return _ONE[_DECIMAL] + _header(_ARRAY, 2) + _integer(exponent) + number


def _double(value: float) -> bytes:
    return _DOUBLE_FORM.pack(0xFB, value) if value == value else b"\xfb\x7f\xf8\0\0\0\0\0\0"


def _float(value: float) -> bytes:
    return _FLOAT_FORM.pack(0xFA, value) if value == value else b"\xfa\x7f\xc0\0\0"


def _text(value: str) -> bytes:
    raw = utf8(value)
    if len(raw) <= _LONGEST_TEXT:
        return _header(_TEXT, len(raw)) + raw
    chunks = list(_chunks(raw.decode()))
    if len(chunks) == 1:
        return _header(_TEXT, len(raw)) + raw
    return _ONE[_TEXT | _NO_LENGTH] + b"".join(_header(_TEXT, len(chunk)) + chunk for chunk in chunks) + _ONE[_END]


def _chunks(text: str) -> Iterator[bytes]:
    units = text.encode("utf-16-le")
    start = 0
    while start < len(units):
        end = start + 2 * _LONGEST_TEXT
        if end < len(units) and units[end - 1] & 0xFC == 0xD8:  # the first half of a pair is kept for the next chunk
            end -= 2
        yield units[start:end].decode("utf-16-le").encode()
        start = end


class _Writer(binary.Writer):
    scalars: ClassVar[Mapping[type, Callable[[Any], bytes]]] = {
        type(None): lambda _value: b"\xf6",
        bool: lambda value: b"\xf5" if value else b"\xf4",
        str: _text,
        bytes: lambda value: _header(_BYTES, len(value)) + value,
        Decimal: _decimal,
        float: _double,
        Float: _float,
        BigInteger: _big_integer,
        **dict.fromkeys((int, Byte, Short, Long), _integer),
    }

    def name(self, name: str) -> bytes:
        return _integer(int(name)) if type(name) is IntegerName else _text(name)

    def array(self, count: int, *, typed: bool) -> tuple[bytes, bytes]:
        return (_ONE[_ARRAY | _NO_LENGTH], _ONE[_END]) if typed else (_header(_ARRAY, count), b"")

    def object(self, count: int) -> tuple[bytes, bytes]:
        return _ONE[_OBJECT | _NO_LENGTH], _ONE[_END]


_VALUES = {0xF4: False, 0xF5: True, 0xF6: None}
#: The smallest number that needs each of the longer forms.
_LEAST = {24: 24, 25: 1 << 8, 26: 1 << 16, 27: 1 << 32}


class _Reader:
    """Reads one value. ``is_usual``: Jackson would write the node to the same bytes, as far as the bytes show.

    ``typed``: whether Jackson writes the names of classes.
    """

    __slots__ = ("_typed", "is_usual")

    def __init__(self, *, typed: bool) -> None:
        self._typed = typed
        self.is_usual = True

    def read(self, data: bytes, pos: int, depth: int, *, after_class: bool = False) -> tuple[Any, int]:
        """``after_class``: the name of the class precedes the value."""
        start = pos
        first = data[pos]
        kind = first & 0xE0
        if kind == _OTHER:
            return self._read_other(data, pos)
        if kind in (_INTEGER, _NEGATIVE, _TAG):
            return self._read_number(data, pos)
        if kind == _TEXT:
            return self._read_text(data, pos)
        if kind == _BYTES:
            self.is_usual = self.is_usual and after_class
            return self._read_bytes(data, pos)
        length, pos = self._read_header(data, pos)
        if length > len(data) - pos:
            raise Malformed(f"{length} elements are announced, {len(data) - pos} bytes are there", start)
        depth = deeper(depth, start)
        has_end = length < 0
        if kind == _ARRAY:
            is_named = has_end and not after_class
            items: list[Any] = []
            while data[pos] != _END if has_end else length:
                item, pos = self.read(data, pos, depth, after_class=self._typed and is_named and len(items) == 1)
                items.append(item)
                length -= 1
            # Two kinds of arrays have an end mark: the pair of a class name and a value, and an array after such a
            # name.
            looks_named = self._typed and len(items) == 2 and type(items[0]) is str
            if is_named != looks_named and not (after_class and has_end):
                self.is_usual = False
            return items, pos + has_end
        self.is_usual = self.is_usual and has_end
        pairs = []
        while data[pos] != _END if has_end else length:
            name, pos = self._read_name(data, pos)
            item, pos = self.read(data, pos, depth)
            pairs.append((name, item))
            length -= 1
        return Object(pairs), pos + has_end

    def _read_header(self, data: bytes, pos: int) -> tuple[int, int]:
        """The number in a first byte and the bytes that belong to it. -1 means no length."""
        number = data[pos] & 0x1F
        if number < 24:
            return number, pos + 1
        if number == _NO_LENGTH:
            return -1, pos + 1
        if number > 27:
            raise _unknown(data, pos)
        raw, end = read_bytes(data, pos + 1, 1 << number - 24)
        found = int.from_bytes(raw, "big")
        if found < _LEAST[number]:
            self.is_usual = False
        return found, end

    def _read_other(self, data: bytes, pos: int) -> tuple[Any, int]:
        first = data[pos]
        if first in _VALUES:
            return _VALUES[first], pos + 1
        if first == 0xFB:
            value = _DOUBLE_FORM.unpack_from(data, pos)[1]
            if value - value != 0:
                self.is_usual = False
            return value, pos + 9
        if first == 0xFA:
            self.is_usual = False
            return Float(_FLOAT_FORM.unpack_from(data, pos)[1]), pos + 5
        raise _unknown(data, pos)

    def _read_number(self, data: bytes, pos: int) -> tuple[Any, int]:
        if data[pos] != _DECIMAL:
            return self._read_integer(data, pos)
        self.is_usual = False
        if data[pos + 1] != _ARRAY | 2:
            raise _unknown(data, pos)
        exponent, end = self._read_integer(data, pos + 2)
        unscaled, end = self._read_integer(data, end)
        return decimal_of(unscaled, exponent, pos), end

    def _read_integer(self, data: bytes, pos: int) -> tuple[int, int]:
        first = data[pos]
        if first in (_BIG_POSITIVE, _BIG_NEGATIVE):
            self.is_usual = False
            raw, end = self._read_bytes(data, pos + 1)
            number = read_number(raw, pos)
            return (number if first == _BIG_POSITIVE else -number), end
        number, end = self._read_header(data, pos)
        if first & 0xE0 > _NEGATIVE or number < 0:
            raise _unknown(data, pos)
        return (~number if first & 0xE0 else number), end

    def _read_bytes(self, data: bytes, pos: int) -> tuple[bytes, int]:
        length, start = self._read_header(data, pos)
        if data[pos] & 0xE0 != _BYTES or length < 0:
            raise _unknown(data, pos)
        return read_bytes(data, start, length)

    def _read_text(self, data: bytes, pos: int) -> tuple[str, int]:
        length, start = self._read_header(data, pos)
        if length >= 0:
            if length > _LONGEST_TEXT:
                self.is_usual = False
            return read_text(data, start, length)
        self.is_usual = False
        pos = start
        chunks = []
        while data[pos] != _END:
            length, start = self._read_header(data, pos)
            if data[pos] & 0xE0 != _TEXT or length < 0:
                raise _unknown(data, pos)
            chunk, pos = read_text(data, start, length)
            chunks.append(chunk)
        return "".join(chunks), pos + 1

    def _read_name(self, data: bytes, pos: int) -> tuple[str, int]:
        kind = data[pos] & 0xE0
        if kind == _TEXT:
            return self._read_text(data, pos)
        if kind > _NEGATIVE:
            raise _unknown(data, pos)
        self.is_usual = False
        number, end = self._read_integer(data, pos)
        return str(number), end


def _unknown(data: bytes, pos: int) -> Malformed:
    return Malformed(f"0x{data[pos]:02X} begins nothing that Jackson writes here", pos)
