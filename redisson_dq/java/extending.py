"""The collections of java.util that a declared class may extend."""

from __future__ import annotations

from typing import Any

from redisson_dq.java.declared import declared_for

__all__ = ["collection_above", "extended_by", "may_extend"]

#: The collections of java.util that a class may extend, as far as Python has a class that holds the same.
_EXTENSIBLE = frozenset(
    (
        *("ArrayList", "LinkedList", "Vector", "Stack", "ArrayDeque", "PriorityQueue", "HashSet", "LinkedHashSet"),
        *("TreeSet", "HashMap", "LinkedHashMap", "TreeMap", "Hashtable", "Properties", "concurrent.ConcurrentHashMap"),
        *("concurrent.CopyOnWriteArrayList", "concurrent.ConcurrentSkipListMap", "concurrent.LinkedBlockingQueue"),
    )
)
_PLAIN_COLLECTIONS: dict[Any, str] = {
    list: "java.util.ArrayList",
    set: "java.util.HashSet",
    dict: "java.util.LinkedHashMap",
}


def extended_by(python: Any) -> str:
    """The collection of java.util that a Python class extends; empty if it extends none that Java's classes may."""
    for base in getattr(python, "__mro__", ()):
        known = declared_for(base)
        if known is not None and known.extends:
            return known.extends
        name = _PLAIN_COLLECTIONS.get(base) or str(vars(base).get("java_name", ""))
        if name.startswith("java.") or isinstance(vars(base).get("java_name"), property):
            return name if may_extend(name) else ""
    return ""


def collection_above(python: Any) -> str:
    """The class of java.util that a Python class extends and that no declared class may extend; else empty."""
    for base in getattr(python, "__mro__", ())[1:]:
        name = vars(base).get("java_name")
        if isinstance(name, str) and name.startswith("java.util.") and not may_extend(name):
            return name
    return ""


def may_extend(java_name: str) -> bool:
    """Whether a declared class may extend this collection of the JDK."""
    return java_name.removeprefix("java.util.") in _EXTENSIBLE
