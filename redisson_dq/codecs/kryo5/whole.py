"""Lists of texts that are the whole value, as many are: written and read without the state that other values need."""

from __future__ import annotations

from typing import Any

from redisson_dq.codecs.kryo5.wire import TOP_BITS, WITHOUT_TOP_BIT, ascii_name, string_bytes, varint_flag

__all__ = ["STRINGS", "list_of_strings", "strings_bytes"]

#: How an ArrayList begins that is the whole value.
STRINGS = b"\x01\0" + ascii_name("java.util.ArrayList")

_STR = {str}
#: All of the class String, and none is null.
_ALL = b"\x03\0"


def strings_bytes(values: list[Any]) -> bytes | None:
    """The bytes of a list of texts; None for any other. O(size)."""
    if set(map(type, values)) != _STR:
        return None
    parts = [STRINGS, varint_flag(True, len(values) + 1), _ALL]
    parts += map(string_bytes, values)
    return b"".join(parts)


def list_of_strings(data: bytes) -> list[str] | None:
    """A list of up to 62 texts that are ASCII, of bytes that begin with ``STRINGS``; None for any other. O(size)."""
    pos = len(STRINGS)
    try:
        count = (data[pos] & 0x7F) - 1
        if not data[pos] & 0x80 or not 0 < count < 0x3F or not data.startswith(_ALL, pos + 1):
            return None
        find = data.translate(TOP_BITS).find
        text = data.translate(WITHOUT_TOP_BIT).decode("ascii")
        pos += 3
        values = []
        for _ in range(count):
            first = data[pos]
            if first < 0x80:
                end = find(1, pos) + 1
                if not end:
                    return None
                values.append(text[pos:end])
            elif 0x81 <= first < 0xC0:
                end = pos + (first & 0x3F)
                if find(1, pos + 1, end) >= 0:
                    return None
                values.append(text[pos + 1 : end])
            else:
                return None
            pos = end
    except IndexError:
        return None
    return values if pos == len(data) else None
