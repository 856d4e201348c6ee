"""The codecs' internal exceptions, and how they become the public errors.

The readers and writers raise :class:`Malformed` and :class:`Unencodable`, which carry no codec name and no data. A
codec's ``decode`` and ``encode`` turn them into DecodeError and EncodeError, once, at the edge.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from redisson_dq.codecs.unsupported import hint
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError

__all__ = [
    "MAX_DEPTH",
    "TOO_DEEP",
    "Malformed",
    "Unencodable",
    "command",
    "decode_error",
    "encode_error",
    "malformed",
    "no_java_type",
    "shorten",
    "type_name",
    "undeclared",
    "unwritable",
]

#: Collections may nest this deep, in both directions.
MAX_DEPTH = 200

TOO_DEEP = f"nested deeper than {MAX_DEPTH} collections"

_LONGEST_PATH = 240
_MOST_NAMED = 3
_LONGEST_MESSAGE = 2000


class _Fault(Exception):
    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = shorten(message, _LONGEST_MESSAGE)
        self._steps: list[str] = []

    def inside(self, key: Any) -> None:
        """Note, while the error propagates, that the value is under ``key`` (an index or a dict key)."""
        self._steps.append(f"[{_step(key)}]")

    @property
    def path(self) -> str:
        return shorten("$" + "".join(reversed(self._steps)), _LONGEST_PATH)


#: The types whose repr a step shows. The repr of another type would run the caller's code, and may take long.
_SHOWN = (str, bytes, int, float, complex, Enum, Decimal, UUID, date, time, timedelta)


def _step(key: Any) -> str:
    parts = key if type(key) is tuple else (key,)
    try:
        if len(parts) < 9 and all(part is None or isinstance(part, _SHOWN) for part in parts):
            return shorten(repr(key[:40] if type(key) in (str, bytes) else key), 40)
    except Exception:  # a subclass of one of these, or an int with more digits than Python converts to text
        pass
    return f"<{shorten(type_name(key), 38)}>"


class Malformed(_Fault):
    """The bytes are not a valid value.

    ``offset`` is where reading stopped. A reader that does not know the offset gives ``near``, a text at that place.
    ``stale`` is false if no outdated declaration of a class can be the cause.
    """

    def __init__(self, message: str, offset: int | None = None, *, near: str | None = None, stale: bool = True) -> None:
        super().__init__(message)
        self.offset = offset
        self.near = near
        self._stale = stale and message != TOO_DEEP
        self._place = ""
        self._classes: tuple[str, ...] = ()

    def in_field(self, java_class: str, name: str, others: Iterable[str] = ()) -> Malformed:
        """Note, while the error propagates, the field and the declared class that it is in. The innermost field counts.

        ``others`` are the declared classes that were read before, the last one first. If one of them is declared
        wrongly, its remaining bytes may have been read as this field.
        """
        if not self._place:
            self._place = f", in the field {shorten(name, 120)} of {shorten(java_class, 120)}"
            self._classes += (java_class, *others)
        return self

    def of_classes(self, java_classes: Iterable[str]) -> Malformed:
        """Note the declared classes that were read in these bytes, the last one first."""
        self._classes = tuple(java_classes)
        return self

    @property
    def _advice(self) -> str:
        """The advice for a declaration that may no longer match the Java class."""
        if not self._stale or not self._classes:
            return self._place
        classes = [*dict.fromkeys(self._classes)][:_MOST_NAMED]
        named = " or ".join(shorten(name, 120) for name in classes)
        return f"{self._place}: the declaration of {named} may be out of date, make it again with {command(*classes)}"

    def as_error(self, codec: str, data: bytes) -> DecodeError:
        """The public error, to be raised ``from`` this one or its cause."""
        offset = self.offset or 0
        if self.offset is None and self.near is not None:
            offset = max(data.find(self.near.encode("utf-8", "replace")), 0)
        where = f"offset {offset}, at {self.path}" if self._steps else f"offset {offset}"
        message = f"{codec}: {self.message}{self._advice} ({where}){hint(codec, data)}"
        return DecodeError(message, codec=codec, data=data, offset=offset)


class Unencodable(_Fault):
    """The codec cannot encode a value. ``in_field`` means that the error concerns a field that its text does not name
    yet."""

    in_field = False

    def of_field(self, java_name: str) -> Unencodable:
        """Name the field, ``com.acme.Order.id``, while the error propagates. The innermost field counts."""
        if self.in_field:
            self.message = shorten(f"{java_name}: {self.message}", _LONGEST_MESSAGE)
            self.in_field = False
        return self

    def as_error(self, codec: str) -> EncodeError:
        """The public error, to be raised ``from`` this one or its cause."""
        path = self.path
        return EncodeError(f"{codec}: {self.message} (at {path})", codec=codec, path=path)


def command(*java_classes: str) -> str:
    """The command that makes the declarations of Java classes from their jar."""
    # A nested class is written with a dot: a shell would read ``$Name`` as a variable.
    return f"`redisson-dq generate-classes your.jar {' '.join(shorten(name, 120) for name in java_classes)}`".replace(
        "$", "."
    )


def undeclared(java_class: str, offset: int | None = None, *, near: str | None = None, line: str = "") -> Malformed:
    """The fault of an undeclared class. ``line`` is the decorator with which its declaration begins."""
    name = shorten(java_class, 120)
    line = line or f'@java_class("{name}")'
    return Malformed(
        f"Java class {name} is not declared: write a Python class for it under {line}, or have it written by "
        f"{command(java_class)}",
        offset,
        near=near,
        stale=False,
    )


def unwritable(error: Exception, *keys: Any) -> Unencodable:
    """The fault for an exception that a value raises while it is written.

    The exception may come from a property, an ``__iter__`` or a tzinfo of the caller, or from an object that lacks
    attributes. ``keys`` lead to the value, the innermost first. A RecursionError is raised again, because the stack has
    no room for further calls.
    """
    if keys and isinstance(error, RecursionError):
        raise error
    # Codecs of plain texts and numbers do not load ``redisson_dq.java``.
    from redisson_dq.java.conversions import Misfit

    fault = Unencodable(_message(error, "the value cannot be written"))
    if isinstance(error, Misfit):
        fault.in_field = True
        keys = (*error.steps, *keys)
    for key in keys:
        fault.inside(key)
    return fault


def encode_error(error: Exception, codec: str) -> EncodeError:
    """The public error for any exception that was raised while a value was written. It is raised ``from`` that
    exception.
    """
    return (error if isinstance(error, Unencodable) else unwritable(error)).as_error(codec)


def decode_error(error: Exception | SystemExit, codec: str, data: bytes) -> DecodeError:
    """The public error for any exception that was raised while bytes were read. It is raised ``from`` that one.

    A class's own code may raise SystemExit: a value must not end the process that reads it.
    """
    fault = error if isinstance(error, Malformed) else malformed(error, data)
    return fault.as_error(codec, data)


def malformed(error: Exception | SystemExit, data: bytes) -> Malformed:
    """The exception as a fault."""
    if isinstance(error, (IndexError, struct.error)):  # raised by Python in readers of binary formats
        return Malformed("the bytes end in the middle of the value", len(data))
    # For example, raised by the __hash__ of a declared class.
    return Malformed(_message(error, "the value cannot be made"), stale=not isinstance(error, ArgumentError))


def _message(error: Exception | SystemExit, what: str) -> str:
    if isinstance(error, RecursionError):
        return TOO_DEEP
    try:
        text = shorten(str(error), 300)
    except Exception:
        text = ""
    # An ArgumentError is about a declaration with an annotation that is no Java type. Its message says so.
    return text if isinstance(error, ArgumentError) else f"{what}: {type(error).__name__}: {text}"


def no_java_type(value: Any) -> Unencodable:
    """The fault of a value whose Python type has no Java counterpart."""
    return Unencodable(f"{type_name(value)} has no Java type here: declare its class with redisson_dq.java.java_class")


def type_name(value: Any) -> str:
    """The value's type, for messages."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def shorten(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` characters, for messages."""
    return text if len(text) <= limit else text[: limit - 3] + "..."
