"""Whether a value that was read may stand in a place of a declared Java type."""

from __future__ import annotations

from typing import Any

from redisson_dq.java.collections import Elements, Entries
from redisson_dq.java.hierarchy import is_assignable
from redisson_dq.java.registry import declaration_for, declaration_of
from redisson_dq.java.sets import OrderedSet
from redisson_dq.java.values import JavaObject

__all__ = ["may_be_assignable", "type_fits", "value_is_assignable"]

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


def value_is_assignable(value: Any, name: str) -> bool:
    """Whether a place of the type ``name`` may hold a value that was read and is not None. O(1)

    This checks arrays, interfaces of collections, and declared classes with their supertypes. A value
    that was read may have lost its class, so it is True of every other type.
    """
    own = declaration_for(type(value))
    if own is not None and own.says_all:
        return is_assignable(own.name, name)
    holds: Any = _HOLDS.get(name)
    if holds is None:
        if name[0] == "[":
            return isinstance(value, _ARRAYS)
        declaration = declaration_of(name)
        if declaration is None:
            return True
        if declaration.extends and isinstance(value, (Elements, Entries)):
            return is_assignable(value.java_name, name)
        # An object of a class that is not declared may be of a subclass.
        holds = (declaration.python, JavaObject)
    return isinstance(value, holds)


def may_be_assignable(value: Any, name: str) -> bool:
    """Whether the value may be assignable in Java, where a declared class without supertypes may be a subclass."""
    if value_is_assignable(value, name):
        return True
    own = declaration_for(type(value))
    return own is not None and not own.says_all


def type_fits(kind: type, name: str) -> bool:
    """Whether one check of a place of the type ``name`` is enough for all values of this Python type."""
    is_checked = name in _HOLDS or declaration_of(name) is not None or declaration_for(kind) is not None
    return is_checked and not issubclass(kind, (Elements, Entries))
