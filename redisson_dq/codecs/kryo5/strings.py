"""Lists of texts, the most common lists, read and written directly.

A list that is the whole value needs neither a reader nor a writer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from redisson_dq.codecs.faults import (
    MAX_DEPTH,
    Malformed,
)
from redisson_dq.codecs.kryo5.generics import STRING, Arguments
from redisson_dq.codecs.kryo5.protocols import ReaderProtocol, WriterProtocol
from redisson_dq.codecs.kryo5.wire import (
    TOP_BITS,
    WITHOUT_TOP_BIT,
    ascii_name,
    read_string,
    string_bytes,
    varint_flag,
)

__all__ = ["STRINGS", "list_of_strings", "ordinary_strings", "put_ordinary_strings", "strings_bytes"]

#: The first bytes of an ArrayList that is the whole value.
STRINGS = b"\x01\0" + ascii_name("java.util.ArrayList")

_STR = {str}
#: All elements are of the class String, and none is null.
_ALL = b"\x03\0"


def strings_bytes(values: list[Any]) -> bytes | None:
    """The bytes of a list of texts. None for any other list. O(size)."""
    if set(map(type, values)) != _STR:
        return None
    parts = [STRINGS, varint_flag(True, len(values) + 1), _ALL]
    parts += map(string_bytes, values)
    return b"".join(parts)


def list_of_strings(data: bytes) -> list[str] | None:
    """A list of up to 62 ASCII texts, from bytes that begin with ``STRINGS``. None for any other list. O(size)."""
    pos = len(STRINGS)
    try:
        count = (data[pos] & 0x7F) - 1
        if not data[pos] & 0x80 or not 0 < count < 0x3F or not data.startswith(_ALL, pos + 1):
            return None
        text = data.translate(WITHOUT_TOP_BIT).decode("ascii")
        values, pos = _read(data, pos + 3, count, data.translate(TOP_BITS).find, text, None)
    except IndexError:
        return None
    return values if len(values) == count and pos == len(data) else None


def ordinary_strings(
    data: bytes, pos: int, reader: ReaderProtocol, arguments: Arguments
) -> tuple[list[Any], int] | None:
    """A list of up to 62 texts. None for any other list, of which nothing is read then."""
    count = (data[pos] & 0x7F) - 1
    pos += 1
    if arguments:
        if arguments[0] is not STRING:
            return None
    elif data.startswith(_ALL, pos) and data[pos - 1] & 0x80:
        pos += 2
    else:
        return None
    if not 0 < count < 0x3F or count > len(data) - pos or reader.references or reader.depth >= MAX_DEPTH:
        return None
    try:
        return _read(data, pos, count, reader.find, reader.text, reader)
    except Malformed:  # which does not have its index yet
        return None


def _read(
    data: bytes, pos: int, count: int, find: Callable[..., int], text: str, reader: ReaderProtocol | None
) -> tuple[list[Any], int]:
    """Read ``count`` texts. Without a reader, stop at the first one that is not ASCII, is long, or is null."""
    values: list[Any] = []
    for _ in range(count):
        first = data[pos]
        if first < 0x80 and (end := find(1, pos) + 1):
            values.append(text[pos:end])
        elif reader is not None:
            value, end = read_string(data, pos, reader)
            values.append(value)
        elif 0x80 < first < 0xC0 and find(1, pos + 1, end := pos + (first & 0x3F)) < 0:
            values.append(text[pos + 1 : end])
        else:
            break
        pos = end
    return values, pos


def put_ordinary_strings(values: list[Any], writer: WriterProtocol, arguments: Arguments) -> bool:
    """Write a list of texts. False for any other list, of which nothing is written then."""
    if (arguments and arguments[0] is not STRING) or writer.references or writer.depth >= MAX_DEPTH:
        return False
    out = writer.out
    start, size = len(out), len(values) + 1
    if size < 0x40 and not arguments:
        out.append(0x80 | size)
    else:
        out += varint_flag(not arguments, size)
    if not arguments:
        out += _ALL
    for text in values:
        if type(text) is not str:
            del out[start:]
            return False
        if 1 < len(text) < 33 and text.isascii():
            out += text.encode()
            out[-1] |= 0x80
        else:
            out += string_bytes(text)
    return True
