"""The serializer of a Java class: its names, its form of null, and the functions that read and write its values."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Final

from redisson_dq.codecs.faults import Unencodable
from redisson_dq.codecs.kryo5 import wire

__all__ = ["NO_SERIALIZER", "NULL_STRING", "NULL_ZERO", "ClassSerializer", "byte_writer", "check_serializer"]

_Read = Callable[..., "tuple[Any, int]"]
_Write = Callable[..., None]

#: The form of null if the class is already known, as in a list of elements of one class. Some serializers read a
#: certain byte as null. Classes without such a byte have a mark before every element: 00 for null, 01 for a value.
NULL_ZERO: Final = b"\0"
NULL_STRING: Final = b"\x80"
_NULL_MARK: Final = None


class ClassSerializer:
    """A Java class. ``read`` and ``write`` handle a value's bytes without its class.

    ``tag`` is the byte of the class's id, for ids that Kryo itself assigns. ``spelled`` is the encoded name of any
    other class. ``sizeless`` means that a value has no bytes at all, ``final`` that the class is final in Java,
    ``generic`` that ``read`` and ``write`` also take type arguments, and ``shared`` that Kryo may refer back to a
    value. ``enum`` is a declared enum's class.
    """

    __slots__ = (
        "enum",
        "final",
        "generic",
        "name",
        "null",
        "null_mark",
        "python",
        "read",
        "shared",
        "sizeless",
        "spelled",
        "tag",
        "write",
    )

    def __init__(
        self,
        name: str,
        read: _Read,
        write: _Write,
        *,
        class_id: int | None = None,
        null: bytes | None = _NULL_MARK,
        sizeless: bool = False,
        final: bool = False,
        generic: bool = False,
        shared: bool = True,
        python: type | None = None,
    ) -> None:
        self.name = name
        self.spelled = wire.ascii_name(name)
        self.tag = None if class_id is None else bytes((class_id + 2,))
        self.null = null or b"\0"
        self.null_mark = null is _NULL_MARK
        self.read = read
        self.write = write
        self.sizeless = sizeless
        self.final = final
        self.generic = generic
        self.shared = shared
        self.python = python
        self.enum: Any = python if python is not None and issubclass(python, Enum) else None


#: Final classes for which Kryo cannot make a serializer, because Java lets no library access their fields.
NO_SERIALIZER = frozenset(("java.lang.StackTraceElement",))


def check_serializer(name: str) -> None:
    """Raises Unencodable if the type of a field or the component of an array is one of these classes.

    Kryo makes the serializer before it looks at the value, so null fails in Java too.
    """
    if name in NO_SERIALIZER:
        raise Unencodable(f"{name} as the type of a field or an array, for which Java's Kryo makes no serializer")


def byte_writer(to_bytes: Callable[[Any], bytes]) -> _Write:
    """A function that writes the bytes that ``to_bytes`` makes of a value."""

    def write(value: Any, writer: Any) -> None:
        writer.out.extend(to_bytes(value))

    return write
