"""MessagePack as jackson-dataformat-msgpack writes it.

A whole number takes the smallest form that holds it, up to 64 bits. A BigDecimal becomes a whole number if it is one,
else a Double of the same digits. Other BigDecimals and BigIntegers cannot be written, here and in Java. Jackson reads a
Float as a Double. Here it stays a Float. Extension types, timestamps included, and names that are not texts are
refused. Redisson's codec writes neither.

The ``msgpack`` library would lose Floats, make objects of timestamps, and not say where the bytes are wrong.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, ClassVar

from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.floats import double_text
from redisson_dq.codecs.jackson import binary
from redisson_dq.codecs.jackson.binary import deeper, read_bytes, read_text, utf8
from redisson_dq.codecs.jackson.node import Object
from redisson_dq.java.numbers import BigInteger, Byte, Float, Long, Short

__all__ = ["dumps", "loads", "parse"]


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
    reader = _Reader()
    return binary.read_whole(reader.read, data), reader.is_usual


_ONE = tuple(bytes((n,)) for n in range(256))
_DOUBLE = struct.Struct(">Bd")
_FLOAT = struct.Struct(">Bf")
_UINT8, _UINT16, _UINT32, _UINT64 = (struct.Struct(">B" + form) for form in "BHIQ")
_INT8, _INT16, _INT32, _INT64 = (struct.Struct(">B" + form) for form in "bhiq")


def _integer(value: int) -> bytes:
    if value >= 0:
        if value < 0x80:
            return _ONE[value]
        if value < 1 << 8:
            return _UINT8.pack(0xCC, value)
        if value < 1 << 16:
            return _UINT16.pack(0xCD, value)
        if value < 1 << 32:
            return _UINT32.pack(0xCE, value)
        if value < 1 << 64:
            return _UINT64.pack(0xCF, value)
    elif value >= -32:
        return _ONE[value & 0xFF]
    elif value >= -1 << 7:
        return _INT8.pack(0xD0, value)
    elif value >= -1 << 15:
        return _INT16.pack(0xD1, value)
    elif value >= -1 << 31:
        return _INT32.pack(0xD2, value)
    elif value >= -1 << 63:
        return _INT64.pack(0xD3, value)
    raise Unencodable("a number of more than 64 bits, which MessagePack does not have")


def _double(value: float) -> bytes:
    return _DOUBLE.pack(0xCB, value) if value == value else b"\xcb\x7f\xf8\0\0\0\0\0\0"


def _float(value: float) -> bytes:
    return _FLOAT.pack(0xCA, value) if value == value else b"\xca\x7f\xc0\0\0"


def _decimal(value: Decimal) -> bytes:
    if value.is_finite() and value.adjusted() <= 308:
        number = int(value)
        if number == value and -1 << 63 <= number < 1 << 64:
            return _integer(number)
        double = float(value)
        if Decimal(double_text(double)) == value:
            return _double(double)
    raise Unencodable("a BigDecimal that is neither a whole number of 64 bits nor a Double, all MessagePack has")


def _header(length: int, fixed: int, limit: int, forms: tuple[tuple[int, int], ...]) -> bytes:
    if length < limit:
        return _ONE[fixed | length]
    for first, bits in forms:
        if length < 1 << bits:
            return _ONE[first] + length.to_bytes(bits // 8, "big")
    raise Unencodable("more than MessagePack can count")


def _text(value: str) -> bytes:
    raw = utf8(value)
    return _header(len(raw), 0xA0, 32, ((0xD9, 8), (0xDA, 16), (0xDB, 32))) + raw


def _binary(value: bytes) -> bytes:
    return _header(len(value), 0, 0, ((0xC4, 8), (0xC5, 16), (0xC6, 32))) + value


class _Writer(binary.Writer):
    scalars: ClassVar[Mapping[type, Callable[[Any], bytes]]] = {
        type(None): lambda _value: b"\xc0",
        bool: lambda value: b"\xc3" if value else b"\xc2",
        str: _text,
        bytes: _binary,
        Decimal: _decimal,
        float: _double,
        Float: _float,
        **dict.fromkeys((int, Byte, Short, Long, BigInteger), _integer),
    }

    def name(self, name: str) -> bytes:
        return _text(name)

    def array(self, count: int, *, typed: bool) -> tuple[bytes, bytes]:
        return _header(count, 0x90, 16, ((0xDC, 16), (0xDD, 32))), b""

    def object(self, count: int) -> tuple[bytes, bytes]:
        return _header(count, 0x80, 16, ((0xDE, 16), (0xDF, 32))), b""


_TEXT, _BYTES, _ARRAY, _OBJECT = range(4)
#: By the first byte: the kind of value that follows a length, and the number of bytes that the length takes.
_SIZED = {
    0xC4: (_BYTES, 1),
    0xC5: (_BYTES, 2),
    0xC6: (_BYTES, 4),
    0xD9: (_TEXT, 1),
    0xDA: (_TEXT, 2),
    0xDB: (_TEXT, 4),
    0xDC: (_ARRAY, 2),
    0xDD: (_ARRAY, 4),
    0xDE: (_OBJECT, 2),
    0xDF: (_OBJECT, 4),
}
_VALUES = {0xC0: None, 0xC2: False, 0xC3: True}
_NUMBERS = {0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
_NUMBER_FORMS = {first: struct.Struct(form) for first, form in _NUMBERS.items()}
_FLOAT_FORM = struct.Struct(">f")


#: The smallest number of characters, elements or properties that needs each of these forms.
_LEAST = {0xD9: 32, 0xDA: 1 << 8, 0xDB: 1 << 16, 0xDC: 16, 0xDD: 1 << 16, 0xDE: 16, 0xDF: 1 << 16}


class _Reader:
    """Reads one value. ``is_usual``: Jackson would write the node to the same bytes, as far as the bytes show."""

    __slots__ = ("is_usual",)

    def __init__(self) -> None:
        self.is_usual = True

    def read(self, data: bytes, pos: int, depth: int) -> tuple[Any, int]:
        start = pos
        first = data[pos]
        pos += 1
        if first < 0x80:
            return first, pos
        if first >= 0xE0:
            return first - 0x100, pos
        if first < 0xC0:
            if first >= 0xA0:
                return read_text(data, pos, first & 0x1F)
            kind = _ARRAY if first >= 0x90 else _OBJECT
            count = first & 0x0F
        elif first in _SIZED:
            kind, size = _SIZED[first]
            length, pos = read_bytes(data, pos, size)
            count = int.from_bytes(length, "big")
            if kind == _BYTES or count < _LEAST[first]:
                self.is_usual = False
            if kind == _TEXT:
                return read_text(data, pos, count)
            if kind == _BYTES:
                return read_bytes(data, pos, count)
        elif first in _NUMBER_FORMS:
            form = _NUMBER_FORMS[first]
            number = form.unpack_from(data, pos)[0]
            if number - number != 0 or (first != 0xCB and _integer(number)[0] != first):
                self.is_usual = False
            return number, pos + form.size
        elif first == 0xCA:
            self.is_usual = False
            return Float(_FLOAT_FORM.unpack_from(data, pos)[0]), pos + 4
        elif first in _VALUES:
            return _VALUES[first], pos
        else:
            raise Malformed(f"0x{first:02X} begins no value (extension types are not read)", start)
        if count > len(data) - pos:
            raise Malformed(f"{count} elements are announced, {len(data) - pos} bytes are there", start)
        depth = deeper(depth, start)
        if kind == _ARRAY:
            items = []
            for _ in range(count):
                item, pos = self.read(data, pos, depth)
                items.append(item)
            return items, pos
        pairs = []
        for _ in range(count):
            at = pos
            name, pos = self.read(data, pos, depth)
            if type(name) is not str:
                raise Malformed("a property's name is not text", at)
            item, pos = self.read(data, pos, depth)
            pairs.append((name, item))
        return Object(pairs), pos
