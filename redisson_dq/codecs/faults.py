"""How the codecs say internally that something is wrong, and how it becomes the one public error.

The readers and writers raise :class:`Malformed` and :class:`Unencodable`, which carry no codec name and no
data; a codec's ``decode`` and ``encode`` turn them into DecodeError and EncodeError, once, at the edge.
"""

from __future__ import annotations

import struct
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
    "decode_error",
    "encode_error",
    "no_java_type",
    "shorten",
    "type_name",
    "unwritable",
]

#: Collections may nest this deep, in both directions.
MAX_DEPTH = 200

TOO_DEEP = f"nested deeper than {MAX_DEPTH} collections"

_LONGEST_PATH = 240
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
    there.
    """

    def __init__(self, message: str, offset: int | None = None, *, near: str | None = None) -> None:
        super().__init__(message)
        self.offset = offset
        self.near = near

    def error(self, codec: str, data: bytes) -> DecodeError:
        """The public error, to be raised ``from`` this one or its cause."""
        offset = self.offset or 0
        if self.offset is None and self.near is not None:
            offset = max(data.find(self.near.encode("utf-8", "replace")), 0)
        where = f"offset {offset}, at {self.path}" if self._steps else f"offset {offset}"
        message = f"{codec}: {self.message} ({where}){hint(codec, data)}"
        return DecodeError(message, codec=codec, data=data, offset=offset)


class Unencodable(_Fault):
    """The codec has no bytes for a value."""

    def error(self, codec: str) -> EncodeError:
        """The public error, to be raised ``from`` this one or its cause."""
        path = self.path
        return EncodeError(f"{codec}: {self.message} (at {path})", codec=codec, path=path)


def unwritable(exc: Exception, *keys: Any) -> Unencodable:
    """The fault of an exception that a value raises while it is written: a property, an ``__iter__`` or a tzinfo of
    the caller's own, an object that lacks its attributes. The value stands under ``keys``, the innermost first. A
    RecursionError is raised again there, where the stack has no room to say more."""
    if keys and isinstance(exc, RecursionError):
        raise exc
    fault = Unencodable(_message(exc, "the value cannot be written"))
    for key in keys:
        fault.inside(key)
    return fault


def encode_error(exc: Exception, codec: str) -> EncodeError:
    """The public error of whatever was raised while a value was written, to be raised ``from`` it."""
    return (exc if isinstance(exc, Unencodable) else unwritable(exc)).error(codec)


def decode_error(exc: Exception, codec: str, data: bytes) -> DecodeError:
    """The public error of whatever was raised while bytes were read, to be raised ``from`` it."""
    if isinstance(exc, Malformed):
        fault = exc
    elif isinstance(exc, (IndexError, struct.error)):  # what the readers of binary formats leave to Python
        fault = Malformed("the bytes end in the middle of the value", len(data))
    else:  # raised by the __hash__ of a declared class, say
        fault = Malformed(_message(exc, "the value cannot be made"))
    return fault.error(codec, data)


def _message(exc: Exception, what: str) -> str:
    if isinstance(exc, RecursionError):
        return TOO_DEEP
    try:
        text = shorten(str(exc), 300)
    except Exception:
        text = ""
    # An ArgumentError is about a declaration whose annotations stand for no Java type, and says so.
    return text if isinstance(exc, ArgumentError) else f"{what}: {type(exc).__name__}: {text}"


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
