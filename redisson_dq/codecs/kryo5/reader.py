"""Reading Kryo's bytes: classes, and what has to be counted while values nest."""

from __future__ import annotations

from typing import Any

from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Malformed, shorten
from redisson_dq.codecs.kryo5.types import BY_ID, BY_NAME, JavaType
from redisson_dq.codecs.kryo5.wire import read_string, read_varint

__all__ = ["FLAT", "MAX_SIZELESS", "Reader"]

#: Elements that take no bytes (the nulls of a list that holds nothing else) are counted over a whole value
#: and may be this many; for every other element there must be at least one byte.
MAX_SIZELESS = 100_000


def _read_null(_data: bytes, pos: int, _: object = None) -> tuple[None, int]:
    return None, pos


#: By the byte that stands for the class: how to read null and the classes that have an id.
FLAT = {0: _read_null, **{java_type.tag[0]: java_type.read for java_type in BY_ID}}


class Reader:
    """The state of reading one value: the classes named so far, the depth, the elements without bytes."""

    __slots__ = ("_names", "_sizeless", "depth")

    def __init__(self) -> None:
        self.depth = 0
        self._names: list[JavaType] = []
        self._sizeless = 0

    def read_any(self, data: bytes, pos: int) -> tuple[Any, int]:
        """A class and a value of it, or null."""
        read = FLAT.get(data[pos])
        if read is not None:
            return read(data, pos + 1, self)
        java_type, pos = self.read_class(data, pos)
        return (None, pos) if java_type is None else java_type.read(data, pos, self)

    def read_class(self, data: bytes, pos: int) -> tuple[JavaType | None, int]:
        """A class, or None for null.

        A named class is 01 and a number; numbers count from 0 within a value. The first time the name follows
        as a string, later the number stands alone.
        """
        start = pos
        number, pos = read_varint(data, pos)
        if number == 0:
            return None, pos
        if number > 1:
            if number - 2 >= len(BY_ID):
                raise Malformed(f"class id {number - 2} is not registered", start)
            return BY_ID[number - 2], pos
        number, pos = read_varint(data, pos)
        names = self._names
        if number < len(names):
            return names[number], pos
        if number > len(names):
            raise Malformed(f"class number {number} has no name yet", start)
        name, pos = read_string(data, pos)
        java_type = BY_NAME.get(name or "")
        if java_type is None:
            raise Malformed(f"Java class {shorten(name or 'null', 200)} cannot be read", start)
        names.append(java_type)
        return java_type, pos

    def enter(self, pos: int) -> None:
        """Go one collection deeper; the caller lowers ``depth`` when it is read."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Malformed(TOO_DEEP, pos)

    def check_count(self, count: int, data: bytes, pos: int) -> None:
        """Refuse a number of elements for which there are not enough bytes."""
        if count > len(data) - pos:
            raise Malformed(f"{count} elements are announced, {len(data) - pos} bytes are there", pos)

    def spend(self, count: int, pos: int) -> None:
        """Account for elements that take no bytes."""
        self._sizeless += count
        if self._sizeless > MAX_SIZELESS:
            raise Malformed(f"more than {MAX_SIZELESS} elements without bytes", pos)
