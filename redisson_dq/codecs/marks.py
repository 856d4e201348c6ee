"""Marks values that would be written to other bytes than they were read from. A lookup by value cannot find them.

A reader reports what Python cannot keep, and the codec then marks the whole value. A queue checks for the mark before
it looks for the value by its bytes. A copy of the value has no mark.
"""

from __future__ import annotations

import weakref
from enum import Enum
from typing import Any

__all__ = ["marked", "other_bytes"]


class _MarkedList(list[Any]):
    def __reduce_ex__(self, _protocol: object) -> tuple[Any, ...]:
        return list, (list(self),)


class _MarkedDict(dict[Any, Any]):
    def __reduce_ex__(self, _protocol: object) -> tuple[Any, ...]:
        return dict, (dict(self),)


#: Plain collections allow no weak reference. So a subclass with the same content takes the mark.
_WITH_ROOM: dict[type, Any] = {list: _MarkedList, dict: _MarkedDict}
#: By id, because an object may have no hash. The weak reference removes the entry when its object goes.
_marks: dict[int, tuple[weakref.ref[Any], str]] = {}


def marked(value: Any, why: str) -> Any:
    """The value, with a mark that says why it has other bytes. A value that cannot be marked is returned unmarked.
    O(n).
    """
    if isinstance(value, Enum):  # all code shares the constant
        return value
    made = _WITH_ROOM.get(type(value), lambda value: value)(value)
    key = id(made)
    try:
        reference = weakref.ref(made, lambda _: _marks.pop(key, None))
    except TypeError:
        return value
    _marks[key] = reference, why
    return made


def other_bytes(value: Any) -> str:
    """Why a value was read from other bytes than it is written to. Empty if the value has no mark. O(1)"""
    found = _marks.get(id(value))
    return "" if found is None or found[0]() is not value else found[1]
