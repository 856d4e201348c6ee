"""Kryo's variable-length numbers and its strings, both directions.

Every reader takes the whole value's bytes and a position, and returns the value and the next position. Reading past the
end raises IndexError, which the codec reports as bytes that end too early. Anything else that is wrong raises
:class:`Malformed`.

================  ===========================================================================================
varint            7 bits a byte, lowest first, top bit set on all but the last; at most 5 bytes, for a long
                  at most 9, the ninth with 8 bits. Signed numbers are zigzagged: 0, -1, 1, -2 are 0, 1, 2, 3
flagged varint    the first byte holds a flag (0x80), the more-follows bit (0x40), 6 bits; the rest as above
string, null      0x80: flagged varint 0
string, empty     0x81: flagged varint 1
string, ASCII     2 to 32 characters (a class name: any number from 2): its bytes, 0x80 set on the last one
any other string  flagged varint of the number of UTF-16 units + 1, then each unit in 1 to 3 bytes of UTF-8
                  (so a character beyond U+FFFF takes 3 + 3 bytes, U+0000 one)
================  ===========================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from redisson_dq.codecs.faults import Malformed
from redisson_dq.codecs.serialization.utf import join_surrogates

__all__ = [
    "MAX_SIZELESS",
    "TOO_MANY_SIZELESS",
    "TOP_BITS",
    "WITHOUT_TOP_BIT",
    "AsciiStrings",
    "ascii_name",
    "read_length",
    "read_string",
    "read_varint",
    "read_varint_flag",
    "read_varlong",
    "string_bytes",
    "varint",
    "varint_flag",
]

#: The limit for elements that take no bytes (the nulls of a list that contains nothing else) in a whole value. For
#: every other element there must be at least one byte.
MAX_SIZELESS = 100_000
TOO_MANY_SIZELESS = f"more than {MAX_SIZELESS} elements without bytes"
_ONE = tuple(bytes((n,)) for n in range(256))
_ENDED = tuple(bytes((n | 0x80,)) for n in range(128))
#: The byte before a single ASCII character, and the characters.
_ONE_CHARACTER = 0x82
_CHARACTERS = {bytes((n,)): chr(n) for n in range(128)}
_find_top_bit = re.compile(rb"[\x80-\xff]").search
#: Tables for bytes.translate. The first maps a byte to 1 if its top bit is set, else to 0, which shows where ASCII
#: strings end. The second removes the top bit.
TOP_BITS = bytes(n >> 7 for n in range(256))
WITHOUT_TOP_BIT = bytes(n & 0x7F for n in range(256))
_FOUR_BYTES = re.compile(rb"[\xf0-\xff]")
_CONTINUATION = bytes(range(0x80, 0xC0))
#: A high and a low surrogate, three bytes each.
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class AsciiStrings(Protocol):
    """A reader that knows where each ASCII string in its bytes ends, and has the characters."""

    find: Callable[..., int]
    text: str


def varint(number: int) -> bytes:
    """A varint of 0 <= number < 2**64. A varint of more than 32 bits is Kryo's varlong. O(1)."""
    if number < 0x80:
        return _ONE[number]
    if number < 0x4000:
        return bytes((number & 0x7F | 0x80, number >> 7))
    if number < 0x200000:
        return bytes((number & 0x7F | 0x80, number >> 7 & 0x7F | 0x80, number >> 14))
    out = bytearray()
    while number > 0x7F and len(out) < 8:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def varint_flag(flag: bool, number: int) -> bytes:
    """A flagged varint of 0 <= number < 2**32. O(1)."""
    first = number & 0x3F | (0x80 if flag else 0)
    return _ONE[first] if number < 0x40 else _ONE[first | 0x40] + varint(number >> 6)


#: By number of characters: the bytes before them.
_LENGTHS = tuple(varint_flag(True, count + 1) for count in range(63))


def read_varint(data: bytes, pos: int) -> tuple[int, int]:
    """A varint as a number of 32 bits without sign. O(1)."""
    byte = data[pos]
    if byte < 0x80:
        return byte, pos + 1
    number = byte & 0x7F
    byte = data[pos + 1]
    if byte < 0x80:
        return number | byte << 7, pos + 2
    for shift in (7, 14, 21, 28):
        pos += 1
        byte = data[pos]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    return number & 0xFFFFFFFF, pos + 1


def read_varlong(data: bytes, pos: int) -> tuple[int, int]:
    """A varlong as a number of 64 bits without sign. O(1)."""
    byte = data[pos]
    if byte < 0x80:
        return byte, pos + 1
    number = byte & 0x7F
    for shift in (7, 14, 21, 28, 35, 42, 49):
        pos += 1
        byte = data[pos]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, pos + 1
    pos += 1
    return number | data[pos] << 56, pos + 1


def read_varint_flag(data: bytes, pos: int) -> tuple[int, int]:
    """A flagged varint's number; the flag is ``data[pos] & 0x80``. O(1)."""
    byte = data[pos]
    if not byte & 0x40:
        return byte & 0x3F, pos + 1
    rest, end = read_varint(data, pos + 1)
    if end - pos == 6:
        raise Malformed("a number of more than 5 bytes", pos)
    return (byte & 0x3F | rest << 6) & 0xFFFFFFFF, end


def read_length(data: bytes, pos: int) -> tuple[int, int]:
    """The length before bytes, which is stored plus 1 and checked against the remaining bytes. -1 for null."""
    length, start = read_varint(data, pos)
    if length - 1 > len(data) - start:
        raise Malformed(f"{length - 1} bytes are announced, {len(data) - start} are there", pos)
    return length - 1, start


def string_bytes(text: str) -> bytes:
    """A string as Kryo writes it. O(length)."""
    count = len(text)
    if text.isascii():
        raw = text.encode()
        if 1 < count <= 32:
            return raw[:-1] + _ENDED[raw[-1]]
        return (_LENGTHS[count] if count < 63 else varint_flag(True, count + 1)) + raw
    units = _ASTRAL.sub(_surrogates, text)
    return varint_flag(True, len(units) + 1) + units.encode("utf-8", "surrogatepass")


def ascii_name(text: str) -> bytes:
    """A class name: in the ASCII form whatever its length, if it is ASCII and longer than 1. O(length)."""
    if len(text) < 2 or not text.isascii():
        return string_bytes(text)
    raw = text.encode()
    return raw[:-1] + _ENDED[raw[-1]]


def _surrogates(match: re.Match[str]) -> str:
    offset = ord(match[0]) - 0x10000
    return chr(0xD800 | offset >> 10) + chr(0xDC00 | offset & 0x3FF)


def read_string(data: bytes, pos: int, reader: AsciiStrings | None = None) -> tuple[str | None, int]:
    """A string in any of its forms. It is faster with a reader, which knows where ASCII strings end. O(length)."""
    first = data[pos]
    if first < 0x80:
        if reader is not None:
            end = reader.find(1, pos) + 1
            if end:
                return reader.text[pos:end], end
            raise IndexError
        match = _find_top_bit(data, pos)
        if match is None:
            raise IndexError
        end = match.end()
        return data[pos:end].translate(WITHOUT_TOP_BIT).decode("ascii"), end
    if first == _ONE_CHARACTER and (character := _CHARACTERS.get(data[pos + 1 : pos + 2])) is not None:
        return character, pos + 2
    if first < 0xC0:
        end = pos + (first & 0x3F)
        raw = data[pos + 1 : end]
        if raw.isascii() and len(raw) == end - pos - 1:
            return raw.decode("ascii"), end
    count, start = read_varint_flag(data, pos)
    if count < 2:
        return (None, start) if count == 0 else ("", start)
    count -= 1
    if count > len(data) - start:
        raise Malformed(f"{count} characters are announced, {len(data) - start} bytes are there", pos)
    end = start + count
    raw = data[start:end]
    if raw.isascii():
        return raw.decode("ascii"), end
    return _read_units(data, start, count)


def _read_units(data: bytes, start: int, count: int) -> tuple[str, int]:
    """``count`` UTF-16 units of 1 to 3 bytes each. O(length)."""
    # To find the end, count the bytes that begin a unit, in steps of as many bytes as units are missing. The last step
    # contains only such bytes, so its last byte begins the last unit and says how many more bytes belong to it.
    end, missing = start, count
    while missing:
        chunk = data[end : end + missing]
        if not chunk:
            raise IndexError
        end += len(chunk)
        missing -= len(chunk.translate(None, _CONTINUATION))
    last = data[end - 1]
    end += 0 if last < 0x80 else 1 if last < 0xE0 else 2
    if end > len(data):
        raise IndexError
    raw = data[start:end]
    four = _FOUR_BYTES.search(raw)
    if four is not None:
        raise Malformed("a byte that begins no UTF-16 unit", start + four.start())
    try:
        return raw.decode(), end
    except UnicodeDecodeError:
        pass  # surrogates, paired or lone
    try:
        return join_surrogates(raw.decode("utf-8", "surrogatepass")), end
    except UnicodeDecodeError as error:
        raise Malformed(f"a string's bytes are not UTF-8: {error.reason}", start) from error
