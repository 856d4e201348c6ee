"""Lists of ints without a declared type, as they mostly are: all of the class Integer, and none is null."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redisson_dq.codecs.faults import MAX_DEPTH
from redisson_dq.codecs.kryo5.scalars import read_integer
from redisson_dq.codecs.kryo5.wire import varint, varint_flag
from redisson_dq.java.numbers import INT_MAX, INT_MIN

if TYPE_CHECKING:
    from redisson_dq.codecs.kryo5.reader import Reader
    from redisson_dq.codecs.kryo5.writer import Writer

__all__ = ["ordinary_ints", "put_ordinary_ints"]

_INT = {int}
#: All of the class Integer, and none is null.
_INTEGERS = b"\x02\0"


def ordinary_ints(data: bytes, pos: int, reader: Reader) -> tuple[list[Any], int] | None:
    """A list of up to 62 Integers; None for any other, of which nothing was read then."""
    count = (data[pos] & 0x7F) - 1
    if data[pos + 1 : pos + 3] != _INTEGERS or not data[pos] & 0x80:
        return None
    pos += 3
    if not 0 < count < 0x3F or count > len(data) - pos or reader.references or reader.depth >= MAX_DEPTH:
        return None
    values: list[Any] = []
    for _ in range(count):
        byte = data[pos]
        if byte < 0x80:
            values.append(byte >> 1 ^ -(byte & 1))
            pos += 1
        else:
            value, pos = read_integer(data, pos)
            values.append(value)
    return values, pos


def put_ordinary_ints(values: list[Any], writer: Writer) -> bool:
    """Write a list of ints of 32 bits. False for any other, of which nothing is written then."""
    if set(map(type, values)) != _INT or writer.references or writer.types.allowed or writer.depth >= MAX_DEPTH:
        return False
    if min(values) < INT_MIN or max(values) > INT_MAX:
        return False
    out = writer.out
    out += varint_flag(True, len(values) + 1)
    out += _INTEGERS
    for value in values:
        number = value << 1 ^ value >> 31
        if number < 0x80:
            out.append(number)
        else:
            out += varint(number)
    return True
