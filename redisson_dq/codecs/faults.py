"""How the codecs say internally that something is wrong, and how it becomes the one public error.

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
from redisson_dq.java.collections import Entries
from redisson_dq.java.conversions import Misfit
from redisson_dq.java.declare import Declaration
from redisson_dq.java.facts import NO_NULL_VALUES, NO_NULLS
from redisson_dq.java.fields import attributes_of

__all__ = [
    "MAX_DEPTH",
    "TOO_DEEP",
    "Malformed",
    "Unencodable",
    "check_fields",
    "check_nulls",
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
        """Note, on the way out, that the value stands under ``key`` (an index or a dict key)."""
        self._steps.append(f"[{_step(key)}]")

    @property
    def path(self) -> str:
        return shorten("$" + "".join(reversed(self._steps)), _LONGEST_PATH)


#: What a step shows of its key. The repr of any other runs the caller's code, and takes as long as it is large.
_SHOWN = (str, bytes, int, float, complex, Enum, Decimal, UUID, date, time, timedelta)


def _step(key: Any) -> str:
    parts = key if type(key) is tuple else (key,)
    try:
        if len(parts) < 9 and all(part is None or isinstance(part, _SHOWN) for part in parts):
            return shorten(repr(key[:40] if type(key) in (str, bytes) else key), 40)
    except Exception:  # a class derived from one of these, or an int of more digits than Python writes
        pass
    return f"<{shorten(type_name(key), 38)}>"


class Malformed(_Fault):
    """The bytes are no value.

    ``offset`` is where reading stopped; a reader that does not know it gives ``near``, a text that stands
    there. ``stale`` is false for what no declaration of a class can be the cause of.
    """

    def __init__(self, message: str, offset: int | None = None, *, near: str | None = None, stale: bool = True) -> None:
        super().__init__(message)
        self.offset = offset
        self.near = near
        self._stale = stale and message != TOO_DEEP
        self._place = ""
        self._classes: tuple[str, ...] = ()

    def in_field(self, java_class: str, name: str, others: Iterable[str] = ()) -> Malformed:
        """Note, on the way out, in which field of which declared class it is. The innermost one stands.

        ``others`` are declared classes that were read before, the last one first: what they left over may be what was
        read here.
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
        """What to do if a declaration does not say what the Java class is by now."""
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
    """The codec has no bytes for a value. ``in_field``: it is about a field, whose name it does not tell yet."""

    in_field = False

    def of_field(self, java_name: str) -> Unencodable:
        """Name the field, ``com.acme.Order.id``, on the way out; the innermost counts."""
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
    # A nested class without its dollar sign, which a shell would take for a variable.
    return f"`redisson-dq generate-classes your.jar {' '.join(shorten(name, 120) for name in java_classes)}`".replace(
        "$", "."
    )


def undeclared(java_class: str, offset: int | None = None, *, near: str | None = None, line: str = "") -> Malformed:
    """The fault of a class that nobody declared. ``line`` is the decorator that its declaration begins with."""
    name = shorten(java_class, 120)
    line = line or f'@java_class("{name}")'
    return Malformed(
        f"Java class {name} is not declared: write a Python class for it under {line}, or have it written by "
        f"{command(java_class)}",
        offset,
        near=near,
        stale=False,
    )


def check_fields(value: Any, declaration: Declaration) -> None:
    """Refuse an object of a subclass of a collection with fields that a codec does not write, as Java's does not."""
    if not declaration.fields and declaration.superclass is None:
        return
    defaults = {one.name: one.default for one in attributes_of(declaration.python)}
    for field in declaration.all_fields:
        default = defaults[field.attribute]
        if getattr(value, field.attribute, None) != (None if default is None else default()):
            raise Unencodable(
                f"{declaration.name}.{field.name} is not written: of a collection this codec has nothing but the "
                "elements, in Java as well. Send a class that has the collection in a field"
            )


def check_nulls(value: Any, java_name: str) -> None:
    """Refuse a null in a collection that holds none in Java: reading one fails there, or drops what stands behind."""
    if java_name not in NO_NULLS:
        return
    pairs = value.items() if isinstance(value, dict) else value if isinstance(value, Entries) else None
    with_values = java_name in NO_NULL_VALUES
    found = (
        any(item is None for item in value)
        if pairs is None
        else any(key is None or (item is None and with_values) for key, item in pairs)
    )
    if found:
        raise Unencodable(f"a {java_name} holds no null")


def unwritable(error: Exception, *keys: Any) -> Unencodable:
    """The fault of an exception that a value raises while it is written.

    A property, an ``__iter__`` or a tzinfo of the caller may raise it, or an object that lacks its attributes. The
    value stands under ``keys``, the innermost first. A RecursionError is raised again, as the stack has no room to say
    more.
    """
    if keys and isinstance(error, RecursionError):
        raise error
    fault = Unencodable(_message(error, "the value cannot be written"))
    if isinstance(error, Misfit):
        fault.in_field = True
        keys = (*error.steps, *keys)
    for key in keys:
        fault.inside(key)
    return fault


def encode_error(error: Exception, codec: str) -> EncodeError:
    """The public error of whatever was raised while a value was written, to be raised ``from`` it."""
    return (error if isinstance(error, Unencodable) else unwritable(error)).as_error(codec)


def decode_error(error: Exception, codec: str, data: bytes) -> DecodeError:
    """The public error of whatever was raised while bytes were read, to be raised ``from`` it."""
    fault = error if isinstance(error, Malformed) else malformed(error, data)
    return fault.as_error(codec, data)


def malformed(error: Exception, data: bytes) -> Malformed:
    """The fault of an exception that is none yet."""
    if isinstance(error, (IndexError, struct.error)):  # what the readers of binary formats leave to Python
        return Malformed("the bytes end in the middle of the value", len(data))
    # Raised by the __hash__ of a declared class, say.
    return Malformed(_message(error, "the value cannot be made"), stale=not isinstance(error, ArgumentError))


def _message(error: Exception, what: str) -> str:
    if isinstance(error, RecursionError):
        return TOO_DEEP
    try:
        text = shorten(str(error), 300)
    except Exception:
        text = ""
    # An ArgumentError is about a declaration whose annotations stand for no Java type, and says so.
    return text if isinstance(error, ArgumentError) else f"{what}: {type(error).__name__}: {text}"


def no_java_type(value: Any) -> Unencodable:
    """The fault of a value whose Python type has no Java type in a codec that carries types."""
    return Unencodable(f"{type_name(value)} has no Java type here: declare its class with redisson_dq.java.java_class")


def type_name(value: Any) -> str:
    """The value's type, for messages."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def shorten(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` characters, for messages."""
    return text if len(text) <= limit else text[: limit - 3] + "..."
