"""Marks values that would be written to other bytes than they were read from. A lookup by value cannot find them.

A reader reports what Python cannot keep, or may not keep. In the second case the codec writes the value, and compares.
It then marks the whole value. A queue checks for the mark before it looks for the value by its bytes. A copy of the
value has no mark.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from redisson_dq.errors import EncodeError

__all__ = ["compared", "marked", "other_bytes"]

T = TypeVar("T")

#: Where a plain value keeps its mark.
_WHY = " other bytes"
_NONE: dict[str, str] = {}
_MADE_OF_THEMSELVES = (list, dict, float, str, int, bytes, Decimal)
_MADE_OF_PARTS = (date, time, timedelta)
#: How many bytes of both forms a mark shows.
_SHOWN = 40
#: By id, because an object may have no hash. The weak reference removes the entry when its object goes.
_marks: dict[int, tuple[weakref.ref[Any], str]] = {}


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
    key = id(value)
    _marks[key] = weakref.ref(value, lambda _: _marks.pop(key, None)), why
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


def compared(value: T, data: bytes, encode: Callable[[T], bytes], why: str) -> T:
    """The value that was read from ``data``, with a mark if other bytes are written of it. O(size).

    A value that cannot be written has no mark: whatever looks for it raises EncodeError.
    """
    try:
        written = encode(value)
    except EncodeError:
        return value
    if written == data:
        return value
    same = next((place for place, both in enumerate(zip(data, written, strict=False)) if both[0] != both[1]), len(data))
    start = max(same - _SHOWN // 2, 0)
    end = start + _SHOWN
    return marked(value, f"{why}; {data[start:end]!r} was read at byte {start}, {written[start:end]!r} is written")


def other_bytes(value: Any) -> str:
    """Why a value was read from other bytes than it is written to. Empty if the value has no mark. O(1)"""
    found = _marks.get(id(value))
    if found is not None and found[0]() is value:
        return found[1]
    why: str = getattr(value, "__dict__", _NONE).get(_WHY, "")
    return why
