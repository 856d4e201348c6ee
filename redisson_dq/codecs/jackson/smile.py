"""Smile as jackson-dataformat-smile writes it: names are shared, texts are not, binary data has 7 bits a byte.

After the four bytes of the header, every value begins with a byte that says what it is. The bytes 0xFC to 0xFF occur in
no value, so they can end texts; for this reason binary data is split into groups of 7 bits. A name that occurred before
is written as its number. Names are counted from 0, and forgotten after 1,024. Names whose number would end in 0xFE or
0xFF are written again each time.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, ClassVar

from redisson_dq.codecs.faults import Malformed, Unencodable
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
from redisson_dq.codecs.jackson.node import Object
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, BigInteger, Byte, Float, Long, Short

__all__ = ["dumps", "loads", "parse"]

_HEADER = b":)\n\x01"
_EMPTY_TEXT, _NULL, _FALSE, _TRUE, _INT, _LONG, _BIG_INTEGER = range(0x20, 0x27)
_FLOAT, _DOUBLE, _DECIMAL = range(0x28, 0x2B)
_ASCII, _UNICODE, _SMALL_INT = 0x40, 0x80, 0xC0
_LONG_ASCII, _LONG_UNICODE, _BINARY = 0xE0, 0xE4, 0xE8
_ARRAY, _ARRAY_END, _OBJECT, _OBJECT_END, _TEXT_END = range(0xF8, 0xFD)
# Where a name is expected, these bytes have another meaning.
_EMPTY_NAME, _FAR_NAME, _LONG_NAME, _NEAR_NAME, _ASCII_NAME, _UNICODE_NAME = 0x20, 0x30, 0x34, 0x40, 0x80, 0xC0
_NAMES = 1024


def dumps(node: Any) -> bytes:
    """The bytes of a node. Raises Unencodable. O(size)."""
    writer = _Writer()
    writer.write(node)
    return writer.whole()


def loads(data: bytes) -> Any:
    """The node of the bytes. Raises Malformed. O(size)."""
    return parse(data)[0]


def parse(data: bytes) -> tuple[Any, bool]:
    """The node of the bytes, and whether Jackson would write the node to these bytes, as far as the bytes show."""
    if not data.startswith(_HEADER):
        raise Malformed("the bytes do not begin with the header that Jackson writes", 0)
    reader = _Reader()
    return binary.read_whole(reader.read, data, len(_HEADER)), reader.is_usual


_ONE = tuple(bytes((n,)) for n in range(256))
_FLOAT_FORM, _DOUBLE_FORM = struct.Struct(">f"), struct.Struct(">d")
#: Of a longer text, Jackson does not know whether it is ASCII when it writes the first byte.
_LONGEST_ASCII = 2666


def _groups(number: int, count: int) -> bytes:
    """A number in ``count`` groups of 7 bits."""
    return bytes([number >> shift & 0x7F for shift in range(7 * (count - 1), -1, -7)])


def _vint(number: int) -> bytes:
    """A number in as few bytes as possible. The last byte is marked and has 6 bits. Each byte before it has 7."""
    rest = number >> 6
    return _groups(rest, (rest.bit_length() + 6) // 7) + _ONE[0x80 | number & 0x3F]


def _zigzag(number: int) -> int:
    return number << 1 if number >= 0 else ~(number << 1)


def _safe(data: bytes) -> bytes:
    """The length, then the bytes in groups of 7 bits. The last group holds the bits that are left."""
    whole = len(data) - len(data) % 7
    out = bytearray(_vint(len(data)))  # no list of the groups, which would take many times the memory
    for i in range(0, whole, 7):
        out += _groups(int.from_bytes(data[i : i + 7], "big"), 8)
    if whole < len(data):
        rest = int.from_bytes(data[whole:], "big")
        bits = len(data) - whole
        out += _groups(rest >> bits, bits) + _ONE[rest & (1 << bits) - 1]
    return bytes(out)


def _integer(value: int) -> bytes:
    if -16 <= value < 16:
        return _ONE[_SMALL_INT | _zigzag(value)]
    if INT_MIN <= value <= INT_MAX:
        return _ONE[_INT] + _vint(_zigzag(value))
    if LONG_MIN <= value <= LONG_MAX:
        return _ONE[_LONG] + _vint(_zigzag(value))
    return _big_integer(value)


def _big_integer(value: int) -> bytes:
    return _ONE[_BIG_INTEGER] + _safe(java_bytes(value))


def _decimal(value: Decimal) -> bytes:
    unscaled, exponent = decimal_parts(value)
    if not -1 << 30 <= -exponent < 1 << 30:
        raise Unencodable("a BigDecimal whose scale takes more than 31 bits, which Jackson does not write in Smile")
    return _ONE[_DECIMAL] + _vint(_zigzag(-exponent)) + _safe(java_bytes(unscaled))


def _double(value: float) -> bytes:
    raw = _DOUBLE_FORM.pack(value) if value == value else b"\x7f\xf8\0\0\0\0\0\0"
    return _ONE[_DOUBLE] + _groups(int.from_bytes(raw, "big"), 10)


def _float(value: float) -> bytes:
    raw = _FLOAT_FORM.pack(value) if value == value else b"\x7f\xc0\0\0"
    return _ONE[_FLOAT] + _groups(int.from_bytes(raw, "big"), 5)


def _text(value: str) -> bytes:
    raw = utf8(value)
    length = len(raw)
    if not length:
        return _ONE[_EMPTY_TEXT]
    is_ascii = value.isascii()
    if length <= 64:
        return _ONE[(_ASCII - 1 if is_ascii else _UNICODE - 2) + length] + raw
    first = _LONG_ASCII if is_ascii and length <= _LONGEST_ASCII else _LONG_UNICODE
    return _ONE[first] + raw + _ONE[_TEXT_END]


class _Writer(binary.Writer):
    scalars: ClassVar[Mapping[type, Callable[[Any], bytes]]] = {
        type(None): lambda _value: _ONE[_NULL],
        bool: lambda value: _ONE[_TRUE if value else _FALSE],
        str: _text,
        bytes: lambda value: _ONE[_BINARY] + _safe(value),
        Decimal: _decimal,
        float: _double,
        Float: _float,
        BigInteger: _big_integer,
        **dict.fromkeys((int, Byte, Short, Long), _integer),
    }

    def __init__(self) -> None:
        super().__init__()
        self.out.append(_HEADER)
        self._numbers: dict[str, int] = {}
        self._count = 0

    def name(self, name: str) -> bytes:
        number = self._numbers.get(name)
        if number is not None:
            if number < 64:
                return _ONE[_NEAR_NAME + number]
            return _ONE[_FAR_NAME + (number >> 8)] + _ONE[number & 0xFF]
        raw = utf8(name)
        length = len(raw)
        if not length:
            return _ONE[_EMPTY_NAME]
        if self._count == _NAMES:
            self._numbers.clear()
            self._count = 0
        if self._count & 0xFF < 0xFE:
            self._numbers[name] = self._count
        self._count += 1
        is_ascii = name.isascii()
        if length <= (64 if is_ascii else 56):
            return _ONE[(_ASCII_NAME - 1 if is_ascii else _UNICODE_NAME - 2) + length] + raw
        return _ONE[_LONG_NAME] + raw + _ONE[_TEXT_END]

    def array(self, count: int, *, typed: bool) -> tuple[bytes, bytes]:
        return _ONE[_ARRAY], _ONE[_ARRAY_END]

    def object(self, count: int) -> tuple[bytes, bytes]:
        return _ONE[_OBJECT], _ONE[_OBJECT_END]


_VALUES = {_EMPTY_TEXT: "", _NULL: None, _FALSE: False, _TRUE: True}


class _Reader:
    """Reads one value, and remembers its names.

    ``is_usual``: Jackson would write the node to the same bytes, as far as the bytes show.
    """

    __slots__ = ("_names", "_seen", "is_usual")

    def __init__(self) -> None:
        self._names: list[str] = []
        self._seen: set[str] = set()
        self.is_usual = True

    def read(self, data: bytes, pos: int, depth: int) -> tuple[Any, int]:
        start = pos
        first = data[pos]
        pos += 1
        if _ASCII <= first < _UNICODE:
            text, pos = read_text(data, pos, first - _ASCII + 1)
            if not text.isascii():
                self.is_usual = False
            return text, pos
        if _UNICODE <= first < _SMALL_INT:
            text, pos = read_text(data, pos, first - _UNICODE + 2)
            if text.isascii() or first == _SMALL_INT - 1:
                self.is_usual = False
            return text, pos
        if _SMALL_INT <= first < _LONG_ASCII:
            return _unzigzag(first - _SMALL_INT), pos
        if first in _VALUES:
            return _VALUES[first], pos
        if first == _OBJECT:
            depth = deeper(depth, start)
            pairs = []
            while data[pos] != _OBJECT_END:
                name, pos = self._read_name(data, pos)
                item, pos = self.read(data, pos, depth)
                pairs.append((name, item))
            return Object(pairs), pos + 1
        if first == _ARRAY:
            depth = deeper(depth, start)
            items = []
            while data[pos] != _ARRAY_END:
                item, pos = self.read(data, pos, depth)
                items.append(item)
            return items, pos + 1
        if first in (_LONG_ASCII, _LONG_UNICODE):
            text, pos = _read_long_text(data, pos)
            if _text(text)[0] != first:
                self.is_usual = False
            return text, pos
        if first in _READ:
            value, pos = _READ[first](data, pos)
            to_bytes = _USUAL.get(first)
            if to_bytes is None or value - value != 0 or to_bytes(value) != data[start:pos]:
                self.is_usual = False
            return value, pos
        raise Malformed(f"0x{first:02X} begins nothing that Jackson writes here", start)

    def _read_name(self, data: bytes, pos: int) -> tuple[str, int]:
        start = pos
        first = data[pos]
        pos += 1
        if _NEAR_NAME <= first < _ASCII_NAME:
            return self._known(first - _NEAR_NAME, start), pos
        if _FAR_NAME <= first < _LONG_NAME:
            number = (first - _FAR_NAME) << 8 | data[pos]
            if number < 64 or number & 0xFF >= 0xFE:
                self.is_usual = False
            return self._known(number, start), pos + 1
        if _ASCII_NAME <= first < _UNICODE_NAME:
            name, pos = read_text(data, pos, first - _ASCII_NAME + 1)
        elif _UNICODE_NAME <= first < _ARRAY:
            name, pos = read_text(data, pos, first - _UNICODE_NAME + 2)
        elif first == _LONG_NAME:
            name, pos = _read_long_text(data, pos)
        elif first == _EMPTY_NAME:
            return "", pos
        else:
            raise Malformed(f"0x{first:02X} begins no name", start)
        # Jackson may write a long name, a repeated one, or one in the other form differently.
        if first == _LONG_NAME or name in self._seen or name.isascii() != (first < _UNICODE_NAME) or not name:
            self.is_usual = False
        if len(self._names) == _NAMES:
            self._names.clear()
            self.is_usual = False
        self._seen.add(name)
        self._names.append(name)
        return name, pos

    def _known(self, number: int, pos: int) -> str:
        if number >= len(self._names):
            raise Malformed(f"name {number} was not there before", pos)
        return self._names[number]


def _unzigzag(number: int) -> int:
    return (number >> 1) ^ -(number & 1)


def _read_vint(data: bytes, pos: int) -> tuple[int, int]:
    number = 0
    for end in range(pos, pos + 10):
        byte = data[end]
        if byte >= 0x80:
            return number << 6 | byte & 0x3F, end + 1
        number = number << 7 | byte
    raise Malformed("a number of more than 10 bytes", pos)


def _read_signed(data: bytes, pos: int) -> tuple[int, int]:
    number, end = _read_vint(data, pos)
    return _unzigzag(number), end


def _joined(groups: bytes) -> int:
    number = 0
    for group in groups:
        number = number << 7 | group
    return number


def _read_safe(data: bytes, pos: int) -> tuple[bytes, int]:
    length, start = _read_vint(data, pos)
    groups, end = read_bytes(data, start, (8 * length + 6) // 7)
    if not groups.isascii():
        raise Malformed("a byte of more than 7 bits", start)
    whole = length - length % 7
    out = bytearray()
    for i in range(0, whole // 7 * 8, 8):
        out += _joined(groups[i : i + 8]).to_bytes(7, "big")
    if whole < length:
        bits = length - whole
        rest = groups[whole // 7 * 8 :]
        out += (_joined(rest[:-1]) << bits | rest[-1] & (1 << bits) - 1).to_bytes(bits, "big")
    return bytes(out), end


def _read_big_integer(data: bytes, pos: int) -> tuple[int, int]:
    raw, end = _read_safe(data, pos)
    return read_number(raw, pos), end


def _read_decimal(data: bytes, pos: int) -> tuple[Decimal, int]:
    scale, end = _read_signed(data, pos)
    unscaled, end = _read_big_integer(data, end)
    return decimal_of(unscaled, -scale, pos), end


def _read_float(data: bytes, pos: int) -> tuple[float, int]:
    groups, end = read_bytes(data, pos, 5)
    # Jackson before 2.19 repeats the sign in the three bits before it.
    raw = (_joined(groups) & 0xFFFFFFFF).to_bytes(4, "big")
    return Float(_FLOAT_FORM.unpack(raw)[0]), end


def _read_double(data: bytes, pos: int) -> tuple[float, int]:
    groups, end = read_bytes(data, pos, 10)
    raw = (_joined(groups) & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "big")
    return _DOUBLE_FORM.unpack(raw)[0], end


def _read_long_text(data: bytes, pos: int) -> tuple[str, int]:
    end = data.find(_TEXT_END, pos)
    if end < 0:
        raise IndexError
    text, _ = read_text(data, pos, end - pos)
    return text, end + 1


_READ: dict[int, Callable[[bytes, int], tuple[Any, int]]] = {
    _INT: _read_signed,
    _LONG: _read_signed,
    _BIG_INTEGER: _read_big_integer,
    _FLOAT: _read_float,
    _DOUBLE: _read_double,
    _DECIMAL: _read_decimal,
    _BINARY: _read_safe,
}
#: The numbers by the first byte of their form, to compare the bytes with those that Jackson writes.
_USUAL: dict[int, Callable[[Any], bytes]] = {_INT: _integer, _LONG: _integer, _DOUBLE: _double}
