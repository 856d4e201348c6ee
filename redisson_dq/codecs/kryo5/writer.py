"""Writing Kryo's bytes: classes, flat values at once, and what has to be counted while values nest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Unencodable
from redisson_dq.codecs.kryo5.scalars import double_bytes
from redisson_dq.codecs.kryo5.types import JavaType, type_of
from redisson_dq.codecs.kryo5.wire import string_bytes, varint
from redisson_dq.java import numbers

__all__ = ["FLAT", "Writer"]


def _string(value: str) -> bytes:
    return b"\x03" + string_bytes(value)


def _int(value: int) -> bytes | None:
    if -0x80000000 <= value <= 0x7FFFFFFF:
        return b"\x02" + varint((value << 1) ^ (value >> 31))
    if numbers.LONG_MIN <= value <= numbers.LONG_MAX:
        return b"\x09" + varint((value << 1) ^ (value >> 63))
    return None


def _long(value: int) -> bytes:
    return b"\x09" + varint((value << 1) ^ (value >> 63))


#: By exact Python type: a value's class and bytes at once, where the class has an id; None where it has not.
FLAT: dict[type, Callable[[Any], bytes | None]] = {
    str: _string,
    int: _int,
    float: lambda value: b"\x0a" + double_bytes(value),
    bool: lambda value: b"\x05\x01" if value else b"\x05\x00",
    type(None): lambda _value: b"\0",
    java.Long: _long,
}


class Writer:
    """The state of writing one value: its bytes so far, the classes named so far, the depth."""

    __slots__ = ("_names", "depth", "out")

    type_of = staticmethod(type_of)

    def __init__(self) -> None:
        self.out: list[bytes] = []
        self.depth = 0
        self._names: dict[str, int] = {}

    def write_any(self, value: Any) -> None:
        """The value's class and its bytes."""
        flat = FLAT.get(type(value))
        data = flat(value) if flat is not None else None
        if data is not None:
            self.out.append(data)
            return
        java_type = type_of(value)
        self.write_class(java_type)
        if java_type is not None:
            java_type.write(value, self)

    def write_class(self, java_type: JavaType | None) -> None:
        """A class, or null."""
        if java_type is None:
            self.out.append(b"\0")
        elif not java_type.named:
            self.out.append(java_type.tag)
        else:
            names = self._names
            number = names.get(java_type.name)
            if number is None:
                names[java_type.name] = number = len(names)
                self.out.append(b"\x01" + varint(number) + java_type.tag)
            else:
                self.out.append(b"\x01" + varint(number))

    def enter(self) -> None:
        """Go one collection deeper; the caller lowers ``depth`` when it is written."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unencodable(f"{TOO_DEEP} (does it contain itself?)")
