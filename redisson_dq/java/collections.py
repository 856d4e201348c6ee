"""Java's collections by their Java names, and classes for those that no Python set or dict can hold.

``list``, ``set`` and ``dict`` are ArrayList, HashSet and LinkedHashMap. Every class of ``lists``, ``sets`` and ``maps``
is a list, a set or a dict as well. It is written as the Java class in its ``java_name``. A value of that Java class is
read as the same Python class.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import attrs

from redisson_dq.java.lists import (
    ArrayAsList,
    ArrayDeque,
    ConcurrentLinkedDeque,
    ConcurrentLinkedQueue,
    CopiesList,
    CopyOnWriteArrayList,
    EmptyList,
    LinkedBlockingDeque,
    LinkedBlockingQueue,
    LinkedList,
    LinkedTransferQueue,
    ListOf,
    PriorityBlockingQueue,
    PriorityQueue,
    SingletonList,
    Stack,
    Vector,
)
from redisson_dq.java.maps import (
    ConcurrentHashMap,
    ConcurrentSkipListMap,
    EmptyMap,
    HashMap,
    Hashtable,
    IdentityHashMap,
    MapOf,
    Properties,
    SingletonMap,
    TreeMap,
    WeakHashMap,
)
from redisson_dq.java.orders import Comparator
from redisson_dq.java.sets import (
    ConcurrentHashSet,
    ConcurrentSkipListSet,
    CopyOnWriteArraySet,
    EmptySet,
    HashSet,
    LinkedHashSet,
    SetOf,
    SingletonSet,
    TreeSet,
)
from redisson_dq.java.tables import Remembering, Table, in_order

__all__ = [
    "COLLECTIONS",
    "INTERFACES",
    "Elements",
    "Entries",
    "remember_table",
    "map_of",
    "set_of",
]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")

_UTIL = "java.util."
_IMMUTABLE = "java.util.ImmutableCollections$"


class Elements(list[T], Remembering):
    """A Java set with elements that a Python set cannot hold: lists, or 1 and 1L, which are equal in Python."""

    __slots__ = ("__weakref__", "comparator", "java_name", "table")

    def __init__(self, java_name: str, items: Iterable[T] = (), comparator: Comparator | None = None) -> None:
        super().__init__(items)
        self.java_name = java_name
        self.comparator = comparator
        self.table = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.java_name!r}, {list.__repr__(self)})"


class Entries(list["tuple[K, V]"], Remembering):
    """A Java map with keys that a Python dict cannot hold, as its pairs."""

    __slots__ = ("__weakref__", "comparator", "java_name", "table")

    def __init__(self, java_name: str, items: Iterable[tuple[K, V]] = (), comparator: Comparator | None = None) -> None:
        super().__init__(items)
        self.java_name = java_name
        self.comparator = comparator
        self.table = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.java_name!r}, {list.__repr__(self)})"


_PLAIN: dict[str, type] = {
    _UTIL + "ArrayList": list,
    _UTIL + "HashSet": set,
    _UTIL + "LinkedHashMap": dict,
    **{_IMMUTABLE + name: ListOf for name in ("List12", "ListN", "SubList")},
    **{_IMMUTABLE + name: SetOf for name in ("Set12", "SetN")},
    **{_IMMUTABLE + name: MapOf for name in ("Map1", "MapN")},
}
_NAMED: tuple[Any, ...] = (
    LinkedList,
    Vector,
    Stack,
    ArrayDeque,
    CopyOnWriteArrayList,
    ConcurrentLinkedQueue,
    ConcurrentLinkedDeque,
    LinkedBlockingQueue,
    LinkedBlockingDeque,
    LinkedTransferQueue,
    PriorityQueue,
    PriorityBlockingQueue,
    ArrayAsList,
    CopiesList,
    EmptyList,
    SingletonList,
    LinkedHashSet,
    CopyOnWriteArraySet,
    ConcurrentHashSet,
    TreeSet,
    ConcurrentSkipListSet,
    EmptySet,
    SingletonSet,
    HashMap,
    Hashtable,
    IdentityHashMap,
    WeakHashMap,
    Properties,
    ConcurrentHashMap,
    TreeMap,
    ConcurrentSkipListMap,
    EmptyMap,
    SingletonMap,
)

#: By Java name: every collection class whose objects are made only from their elements (a dict from its pairs).
COLLECTIONS: dict[str, type] = {**_PLAIN, **{kind.java_name: kind for kind in _NAMED}}

#: By declared interface: the class that a plain list, set or dict becomes. ArrayList, HashSet and LinkedHashMap
#: implement none of these interfaces.
INTERFACES = {
    **dict.fromkeys(("java.util.SortedSet", "java.util.NavigableSet"), "java.util.TreeSet"),
    **dict.fromkeys(("java.util.SortedMap", "java.util.NavigableMap"), "java.util.TreeMap"),
    **dict.fromkeys(("java.util.Queue", "java.util.Deque"), "java.util.LinkedList"),
    "java.util.concurrent.BlockingQueue": "java.util.concurrent.LinkedBlockingQueue",
    "java.util.concurrent.BlockingDeque": "java.util.concurrent.LinkedBlockingDeque",
    "java.util.concurrent.ConcurrentMap": "java.util.concurrent.ConcurrentHashMap",
}


def set_of(java_name: str, kind: type, items: list[Any], table: Table | None = None) -> Any:
    """The elements as the set class ``kind``, or as Elements if Python cannot hold them in a set. O(n log n).

    A HashSet becomes a plain set if a plain set is written in the same order. ``table`` is the set's layout in Java, if
    it is known.
    """
    try:
        made = kind(items)
    except TypeError:
        made = None
    if made is None or len(made) != len(items):
        made = Elements(java_name, items)
    elif kind is set and (table is not None or (len(items) > 1 and not _same(in_order(made), items))):
        made = HashSet(items)
    if hasattr(type(made), "table") or (kind is not set and isinstance(made, set)):
        setattr(made, "table", attrs.evolve(table or _NO_TABLE, keys=tuple(items)))  # noqa: B010 - not each kind has it
    return made


_NO_TABLE = Table(())


def _same(items: list[Any], others: list[Any]) -> bool:
    return all(item is other for item, other in zip(items, others, strict=True))


def map_of(java_name: str, kind: type, items: list[tuple[Any, Any]], table: Table | None = None) -> Any:
    """The pairs as the dict class ``kind``, or as Entries if Python cannot hold them in a dict. O(size)."""
    try:
        made = kind(items)
    except TypeError:
        made = None
    if made is None or len(made) != len(items):
        made = Entries(java_name, items)
    remember_table(made, table)
    return made


def remember_table(made: Any, table: Table | None = None) -> None:
    """Note that the entries of a map that was just read are in Java's order. ``table`` is its layout in Java."""
    if hasattr(type(made), "table"):
        made.table = attrs.evolve(table or _NO_TABLE, keys=tuple(made))
