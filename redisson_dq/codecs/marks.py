"""Marks values that would be written to other bytes than they were read from. A lookup by value cannot find them.

A reader reports what Python cannot keep, or may not keep. The codec then marks the whole value. In the second case the
bytes are read and written once more, and compared, when the mark is asked for. A plain value has no room for a mark, so
it is compared at once. A queue checks for the mark before it looks for the value by its bytes. A copy of the value has
no mark.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from redisson_dq.codecs.base import Codec
from redisson_dq.errors import EncodeError

__all__ = ["compared", "has_room", "marked", "other_bytes"]

T = TypeVar("T")

#: Where a plain value keeps its mark.
_WHY = " other bytes"
_NONE: dict[str, str] = {}
_MADE_OF_THEMSELVES = (list, dict, float, str, int, bytes, Decimal)
_MADE_OF_PARTS = (date, time, timedelta)
#: How many bytes of both forms a mark shows.
_SHOWN = 40


class _Mark(weakref.ref[Any]):
    """Why an object has other bytes. Where that is not known yet: what it was read from, and by which codec."""

    __slots__ = ("codec", "data", "key", "why")

    key: int
    why: str
    data: bytes | None
    codec: Codec[Any] | None


#: By id, because an object may have no hash.
_marks: dict[int, _Mark] = {}


def _forget(mark: _Mark) -> None:
    """The object is gone, and its id may belong to another one soon."""
    _marks.pop(mark.key, None)


def marked(value: T, why: str) -> T:
    """The value, with a mark that says why it has other bytes. A constant of an enum, a bool, None and a message of
    protobuf cannot be marked. O(n).
    """
    kind: Any = type(value)
    if value is None or issubclass(kind, (Enum, bool)):  # all code shares these
        return value
    if not kind.__weakrefoffset__:
        with_room = _with_room(kind)
        return value if with_room is None else with_room(value, why)
    return _with_mark(value, why)


def _with_mark(value: T, why: str, data: bytes | None = None, codec: Codec[T] | None = None) -> T:
    mark = _Mark(value, _forget)
    mark.key, mark.why, mark.data, mark.codec = id(value), why, data, codec
    _marks[mark.key] = mark
    return value


@cache
def _with_room(kind: Any) -> Callable[[Any, str], Any] | None:
    """Makes a value of a subclass with the same content, which has room for the mark. It is for plain types."""
    base: Any = next((base for base in (*_MADE_OF_THEMSELVES, *_MADE_OF_PARTS) if issubclass(kind, base)), None)
    if base is None:
        return None

    def parts(value: Any) -> Any:
        return (base(value),) if base in _MADE_OF_THEMSELVES else base.__reduce_ex__(value, 2)[1]

    def plain(value: Any, _protocol_or_memo: object = None) -> Any:
        return kind(*parts(value))

    members: dict[str, Any] = {"__reduce_ex__": lambda value, _protocol: (kind, parts(value))}
    if hasattr(kind, "__copy__"):
        members.update(__copy__=plain, __deepcopy__=plain)
    subclass = type(kind.__name__, (kind,), members)

    def make(value: Any, why: str) -> Any:
        made = subclass(*parts(value))
        made.__dict__[_WHY] = why
        return made

    return make


def has_room(value: Any) -> bool:
    """Whether the value itself can be marked, without a copy of it."""
    kind: Any = type(value)
    return bool(kind.__weakrefoffset__) and not issubclass(kind, Enum)


def compared(value: T, data: bytes, codec: Codec[T], why: str) -> T:
    """The value that was read from ``data``, with a mark if other bytes are written of it. O(size) for a plain value.

    Otherwise O(1): :func:`other_bytes` compares, unless the value is known to have other bytes. A value that cannot be
    written has no mark, as whatever looks for it raises EncodeError.
    """
    if has_room(value):
        mark = _marks.get(id(value))
        is_known = mark is not None and mark() is value and mark.data is None
        return value if is_known else _with_mark(value, why, data, codec)
    found = _difference(value, data, codec, why)
    return marked(value, found) if found else value


def _difference(value: Any, data: bytes, codec: Codec[Any], why: str) -> str:
    try:
        written = codec.encode(value)
    except EncodeError:
        return ""
    if written == data:
        return ""
    same = next((place for place, both in enumerate(zip(data, written, strict=False)) if both[0] != both[1]), len(data))
    start = max(same - _SHOWN // 2, 0)
    end = start + _SHOWN
    return f"{why}; {data[start:end]!r} was read at byte {start}, {written[start:end]!r} is written"


def other_bytes(value: Any) -> str:
    """Why a value was read from other bytes than it is written to. Empty if the value has no mark.

    O(1), and O(size) where that has to be found out.
    """
    mark = _marks.get(id(value))
    if mark is not None and mark() is value:
        if mark.data is None or mark.codec is None:
            return mark.why
        # The value itself may have been changed since it was read.
        return _difference(mark.codec.decode(mark.data), mark.data, mark.codec, mark.why)
    why: str = getattr(value, "__dict__", _NONE).get(_WHY, "")
    return why
