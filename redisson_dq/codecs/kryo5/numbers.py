"""Lists of ints without a declared type, in their usual form: all of the class Integer, none null."""

from __future__ import annotations

from typing import Any

from redisson_dq.codecs.faults import MAX_DEPTH
from redisson_dq.codecs.kryo5.protocols import ReaderProtocol, WriterProtocol
from redisson_dq.codecs.kryo5.scalars import read_integer
from redisson_dq.codecs.kryo5.wire import varint, varint_flag
from redisson_dq.java.numbers import INT_MAX, INT_MIN

__all__ = ["ordinary_ints", "put_ordinary_ints"]

#: All elements are of the class Integer, and none is null.
_INTEGERS = b"\x02\0"


def ordinary_ints(data: bytes, pos: int, reader: ReaderProtocol) -> tuple[list[Any], int] | None:
    """A list of up to 62 Integers, from bytes that begin with its size and the class Integer.

    None for any other list, of which nothing is read then.
    """
    count = data[pos] - 0x81
    start = pos + 3
    if reader.references or count > len(data) - start or data[pos + 2]:
        return None
    pos = start
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


def put_ordinary_ints(values: list[Any], writer: WriterProtocol) -> bool:
    """Write a list of ints of 32 bits. False for any other list, of which nothing is written then."""
    if writer.references or writer.types.allowed or writer.depth >= MAX_DEPTH:
        return False
    out = writer.out
    start, size = len(out), len(values) + 1
    if size < 0x40:
        out.append(0x80 | size)
    else:
        out += varint_flag(True, size)
    out += _INTEGERS
    for value in values:
        if type(value) is int and INT_MIN <= value <= INT_MAX:
            number = value << 1 ^ value >> 31
            if number < 0x80:
                out.append(number)
            else:
                out += varint(number)
        else:
            del out[start:]
            return False
    return True
