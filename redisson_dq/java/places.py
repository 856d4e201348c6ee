"""Which values a place of a declared Java type can hold.

Java's decoders put whatever they read into a field, or fail there; what does not fit is refused where it is written.
"""

from __future__ import annotations

from typing import Any

from redisson_dq.java.collections import Elements, Entries, OrderedSet
from redisson_dq.java.declare import declaration_of
from redisson_dq.java.values import JavaObject

__all__ = ["fits"]

_LISTS = (list, tuple)
_SETS = (set, frozenset, OrderedSet, Elements)
_MAPS = (dict, Entries)
_ARRAYS = (*_LISTS, bytes, bytearray, memoryview)
_HOLDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("java.lang.Iterable", "java.util.Collection"), (*_LISTS, *_SETS)),
    **dict.fromkeys(("java.util.List", "java.util.Queue", "java.util.Deque"), _LISTS),
    **dict.fromkeys((f"java.util.concurrent.Blocking{kind}" for kind in ("Queue", "Deque")), _LISTS),
    **dict.fromkeys(("java.util.Set", "java.util.SortedSet", "java.util.NavigableSet"), _SETS),
    **dict.fromkeys(("java.util.Map", "java.util.SortedMap", "java.util.NavigableMap"), _MAPS),
    "java.util.concurrent.ConcurrentMap": _MAPS,
}


def fits(value: Any, name: str) -> bool:
    """Whether a place of the type ``name`` can hold a value that is not None: an array, an interface of collections, a
    declared class or a superclass of it. Of every other type nothing is known, and True. O(1)."""
    holds: Any = _HOLDS.get(name)
    if holds is None:
        if name[0] == "[":
            return isinstance(value, _ARRAYS)
        declaration = declaration_of(name)
        if declaration is None:
            return True
        # An object of a class that is not declared may be of a subclass.
        holds = (declaration.python, JavaObject)
    return isinstance(value, holds)
