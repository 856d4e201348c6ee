"""Values that were read from bytes to which they are not written again: no lookup by value finds them.

A reader that meets what Python cannot keep says so, and the codec marks the whole value. A queue asks for the mark
before it looks for the value by its bytes. A copy of the value has no mark.
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


#: Of the plain collections, which have no room for a weak reference: what holds the same.
_WITH_ROOM: dict[type, Any] = {list: _MarkedList, dict: _MarkedDict}
#: By id, as objects need have no hash; the reference takes the entry away with its object.
_marks: dict[int, tuple[weakref.ref[Any], str]] = {}


def marked(value: Any, why: str) -> Any:
    """The value, with a mark that says why it has other bytes. What cannot be marked comes back without: O(n)."""
    if isinstance(value, Enum):  # the constant is everyone's
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
    """Why a value was read from other bytes than it is written to; empty if nothing is known of that. O(1)"""
    found = _marks.get(id(value))
    return "" if found is None or found[0]() is not value else found[1]
