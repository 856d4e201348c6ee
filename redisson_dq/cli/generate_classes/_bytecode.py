"""Reads which values a method's code makes and where it puts them (chapter 6 of the JVM's specification). Runs none."""

from __future__ import annotations

import struct
from collections.abc import Iterator

__all__ = ["INVOCATIONS", "NEW", "OPERANDS", "PUT_STATIC", "instructions"]

NEW, PUT_STATIC = 0xBB, 0xB3
#: Those that name the method.
INVOCATIONS = frozenset((0xB6, 0xB7, 0xB8, 0xB9))
_TABLE_SWITCH, _LOOKUP_SWITCH, _WIDE, _IINC = 0xAA, 0xAB, 0xC4, 0x84

#: The bytes after the operation, of those that have any; of the three that are missing here it varies.
OPERANDS = {
    **dict.fromkeys((0x10, 0x12, *range(0x15, 0x1A), *range(0x36, 0x3B), 0xA9, 0xBC), 1),
    **dict.fromkeys((0x11, 0x13, 0x14, _IINC, *range(0x99, 0xA9), *range(0xB2, 0xB9)), 2),
    **dict.fromkeys((NEW, 0xBD, 0xC0, 0xC1, 0xC6, 0xC7), 2),
    0xC5: 3,
    **dict.fromkeys((0xB9, 0xBA, 0xC8, 0xC9), 4),
}


def instructions(data: bytes, start: int, size: int) -> Iterator[tuple[int, int]]:
    """The operations of the code at ``start``, each with where its operands begin. Raises struct.error and IndexError
    where the code is cut off. O(size)."""
    at, end = start, start + size
    while at < end:
        operation = data[at]
        yield operation, at + 1
        at += 1
        if operation in (_TABLE_SWITCH, _LOOKUP_SWITCH):
            at += (start - at) % 4 + 4
            if operation == _TABLE_SWITCH:
                low, high = struct.unpack_from(">ii", data, at)
                at += 8 + 4 * max(0, high - low + 1)
            else:
                at += 4 + 8 * max(0, struct.unpack_from(">i", data, at)[0])
        elif operation == _WIDE:
            at += 5 if data[at] == _IINC else 3
        else:
            at += OPERANDS.get(operation, 0)
