"""Marks values that would be written to other bytes than they were read from, so a search by value cannot find them.

A reader reports each form that Python does not keep, or may not keep, and the codec marks the whole value. If Python
only may not keep it, the value is written again and the bytes are compared when the mark is needed. A plain value has
no room for a mark, so it is compared at once. A queue checks the mark before it searches for the value by its bytes. A
copy of the value has no mark.

A mark belongs to one object. Some values cannot have one (:func:`has_no_room`): a constant of an enum, a bool, and
objects without room, such as a message of protobuf. If a queue does not find such a value by its bytes, it compares the
value with those it holds.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from datetime import date, time, timedelta
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from redisson_dq.codecs.base import Codec
from redisson_dq.errors import EncodeError

__all__ = ["compared", "has_no_room", "marked", "needs_copy", "other_bytes"]

T = TypeVar("T")

#: The attribute in which a plain value keeps its mark.
_WHY = " other bytes"
_NONE: dict[str, str] = {}
_MADE_OF_PARTS = (date, time, timedelta)
#: The number of bytes of each form that a mark shows.
_SHOWN = 40


class _Mark(weakref.ref[Any]):
    """Why an object has other bytes. Until that is known: the bytes that it was read from, and the codec."""

    __slots__ = ("codec", "data", "key", "why")

    key: int
    why: object
    data: bytes | None
    codec: Codec[Any] | None


#: By id, because an object may be unhashable. A mark is removed together with its object.
_marks: dict[int, _Mark] = {}


def _forget(mark: _Mark) -> None:
    """Remove the mark of an object that is gone, because its id may be reused."""
    _marks.pop(mark.key, None)


def marked(value: T, why: str) -> T:
    """The value, with a mark that says why it is written to other bytes. A value without room stays unchanged. O(n)."""
    if value is None:  # a queue holds no None
        return value
    if _has_room(value):
        return _with_mark(value, why)
    kind: Any = type(value)
    with_room = _with_room(kind)
    return value if with_room is None else with_room(value, why)


def _with_mark(value: T, why: object, data: bytes | None = None, codec: Codec[T] | None = None) -> T:
    mark = _Mark(value, _forget)
    mark.key, mark.why, mark.data, mark.codec = id(value), why, data, codec
    _marks[mark.key] = mark
    return value


@cache
def _with_room(kind: Any) -> Callable[[Any, str], Any] | None:
    """A copy of a plain value, of a subclass that has room for the mark."""
    if issubclass(kind, (Enum, bool)):  # these are shared
        return None
    from decimal import Decimal

    of_themselves = (list, dict, float, str, int, bytes, Decimal)
    base: Any = next((base for base in (*of_themselves, *_MADE_OF_PARTS) if issubclass(kind, base)), None)
    if base is None:
        return None

    def parts(value: Any) -> Any:
        return (base(value),) if base in of_themselves else base.__reduce_ex__(value, 2)[1]

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


def _has_room(value: Any) -> bool:
    """Whether the value itself can be marked, without a copy of it."""
    kind: Any = type(value)
    return bool(kind.__weakrefoffset__) and not issubclass(kind, Enum)


def has_no_room(value: Any) -> bool:
    """Whether neither the value nor a copy of it can be marked."""
    return value is not None and not _has_room(value) and not needs_copy(value)


def needs_copy(value: Any) -> bool:
    """Whether only a copy of the value, of a subclass, can be marked."""
    kind: Any = type(value)
    return not _has_room(value) and _with_room(kind) is not None


def compared(value: T, data: bytes, codec: Codec[T], why: object) -> T:
    """The value that was read from ``data``, with a mark if it would be written to other bytes. O(size) for a plain
    value.

    ``why`` is converted to a text only when the bytes differ. Otherwise O(1): :func:`other_bytes` compares later,
    unless the value is known to have other bytes, or has no room. A value that cannot be written has no mark, as any
    search for it raises EncodeError.
    """
    if _has_room(value):
        mark = _marks.get(id(value))
        is_known = mark is not None and mark() is value and mark.data is None
        return value if is_known else _with_mark(value, why, data, codec)
    if not needs_copy(value):
        return value
    found = _difference(value, data, codec, why)
    return marked(value, found) if found else value


def _bytes_by(value: Any, codec: Codec[Any]) -> bytes | None:
    try:
        return codec.encode(value)
    except EncodeError:
        return None


def _difference(value: Any, data: bytes, codec: Codec[Any], why: object) -> str:
    written = _bytes_by(value, codec)
    if written is None or written == data:
        return ""
    same = next((place for place, both in enumerate(zip(data, written, strict=False)) if both[0] != both[1]), len(data))
    start = max(same - _SHOWN // 2, 0)
    end = start + _SHOWN
    return f"{why}; {data[start:end]!r} was read at byte {start}, {written[start:end]!r} is written"


def other_bytes(value: Any) -> str:
    """Why a value would be written to other bytes than it was read from. Empty if the value has no mark.

    O(1), or O(size) if the bytes have to be compared.
    """
    mark = _marks.get(id(value))
    if mark is not None and mark() is value:
        if mark.data is None or mark.codec is None:
            return str(mark.why)
        # The value itself may have been changed since it was read.
        return _difference(mark.codec.decode(mark.data), mark.data, mark.codec, mark.why)
    why: str = getattr(value, "__dict__", _NONE).get(_WHY, "")
    return why
