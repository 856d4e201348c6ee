"""How the codecs say internally that something is wrong, and how it becomes the one public error.

The readers and writers raise :class:`Malformed` and :class:`Unencodable`, which carry no codec name and no
data; a codec's ``decode`` and ``encode`` turn them into DecodeError and EncodeError, once, at the edge.
"""

from __future__ import annotations

from typing import Any

from redisson_dq.codecs.unsupported import hint
from redisson_dq.errors import DecodeError, EncodeError

__all__ = ["MAX_DEPTH", "TOO_DEEP", "Malformed", "Unencodable", "no_java_type", "shorten", "type_name"]

#: Collections may nest this deep, in both directions.
MAX_DEPTH = 200

TOO_DEEP = f"nested deeper than {MAX_DEPTH} collections"

_LONGEST_PATH = 240


class _Fault(Exception):
    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self._steps: list[str] = []

    def inside(self, key: Any) -> None:
        """Note, on the way out, that the value stands under ``key`` (an index or a dict key)."""
        try:
            text = repr(key)
        except Exception:  # a key of the caller's own class, or an int of more digits than Python writes
            text = f"<{type_name(key)}>"
        self._steps.append(f"[{shorten(text, 40)}]")

    @property
    def path(self) -> str:
        return shorten("$" + "".join(reversed(self._steps)), _LONGEST_PATH)


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
