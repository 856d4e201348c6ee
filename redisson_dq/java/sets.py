"""Java's sets: Python sets that know their class in java.util and the order of their elements in Java."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from enum import Enum
from typing import Any, ClassVar, TypeVar

from redisson_dq.java.hashing import concurrent_hash_map_capacity
from redisson_dq.java.orders import Comparator, sorted_by
from redisson_dq.java.tables import Remembering, hashed, in_order, itself, remembered_order

__all__ = [
    "ConcurrentHashSet",
    "ConcurrentSkipListSet",
    "CopyOnWriteArraySet",
    "EmptySet",
    "EnumSet",
    "HashSet",
    "LinkedHashSet",
    "OrderedSet",
    "SetOf",
    "SingletonSet",
    "TreeSet",
]

T = TypeVar("T")

_UTIL = "java.util."
_CONCURRENT = "java.util.concurrent."
_IMMUTABLE = "java.util.ImmutableCollections$"
_HELPERS = "java.util.Collections$"


class OrderedSet(MutableSet[T]):
    """A set that keeps the order in which its elements were added; equal to any set of the same elements.

    Elements that come from a plain set, which has no order, get the order of a HashSet in Java.
    """

    __slots__ = ("__weakref__", "_items")

    def __init__(self, items: Iterable[T] = ()) -> None:
        if isinstance(items, (set, frozenset)):  # its order differs from process to process
            items = in_order(items)
        self._items: dict[T, None] = dict.fromkeys(items)

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def add(self, value: T) -> None:
        """Add an element at the end, if it is not there."""
        self._items[value] = None

    def discard(self, value: T) -> None:
        """Remove an element, if it is there."""
        self._items.pop(value, None)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self._items)!r})"

    def __copy__(self) -> OrderedSet[T]:
        made = object.__new__(type(self))
        for slot in (slot for kind in type(self).__mro__ for slot in getattr(kind, "__slots__", ())):
            if slot != "__weakref__" and hasattr(self, slot):
                setattr(made, slot, getattr(self, slot))
        made._items = dict(self._items)
        return made

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Any:
        return OrderedSet(it)  # the result of a set operation has no Java class of its own


class HashSet(set[T], Remembering):
    """``java.util.HashSet``. It stands for a set that a plain set would write in another order than it was read."""

    __slots__ = ("table",)
    java_name: ClassVar[str] = _UTIL + "HashSet"

    def __init__(self, items: Iterable[T] = ()) -> None:
        super().__init__(items)
        self.table = None

    def __copy__(self) -> HashSet[T]:
        made = HashSet(self)
        made.table = self.table
        return made

    def java_order(self) -> list[T]:
        """The elements in Java's order."""
        found = remembered_order(self)
        return hashed(self) if found is None else found


class _RememberingSet(OrderedSet[T], Remembering):
    __slots__ = ("table",)

    def __init__(self, items: Iterable[T] = ()) -> None:
        super().__init__(items)
        self.table = None


class LinkedHashSet(_RememberingSet[T]):
    """``java.util.LinkedHashSet``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "LinkedHashSet"


class CopyOnWriteArraySet(OrderedSet[T]):
    """``java.util.concurrent.CopyOnWriteArraySet``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "CopyOnWriteArraySet"


class ConcurrentHashSet(_RememberingSet[T]):
    """``ConcurrentHashMap.newKeySet()``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "ConcurrentHashMap$KeySetView"

    def java_order(self) -> list[T]:
        """The elements in Java's order."""
        found = remembered_order(self)
        return hashed(self, concurrent_hash_map_capacity) if found is None else found


class TreeSet(_RememberingSet[T]):
    """``java.util.TreeSet``. Its elements are written sorted if Java's order of them is known."""

    __slots__ = ("comparator",)
    java_name: ClassVar[str] = _UTIL + "TreeSet"

    def __init__(self, items: Iterable[T] = (), comparator: Comparator | None = None) -> None:
        super().__init__(items)
        self.comparator = comparator

    def java_order(self) -> list[T]:
        """The elements in Java's order, where that is known."""
        found = remembered_order(self)
        return sorted_by(self.comparator, list(self), itself) if found is None else found


class ConcurrentSkipListSet(TreeSet[T]):
    """``java.util.concurrent.ConcurrentSkipListSet``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "ConcurrentSkipListSet"


class SetOf(OrderedSet[T]):
    """``Set.of(...)``"""

    __slots__ = ()

    @property
    def java_name(self) -> str:
        """Java has one class for one or two elements and one for all other sizes."""
        return _IMMUTABLE + ("Set12" if 0 < len(self) < 3 else "SetN")


class EmptySet(OrderedSet[T]):
    """``Collections.emptySet()``"""

    __slots__ = ()
    java_name: ClassVar[str] = _HELPERS + "EmptySet"


class SingletonSet(OrderedSet[T]):
    """``Collections.singleton(x)``"""

    __slots__ = ()
    java_name: ClassVar[str] = _HELPERS + "SingletonSet"


class EnumSet(OrderedSet[T]):
    """``EnumSet.of(...)`` of a declared enum: ``EnumSet(Color, [Color.RED])``."""

    __slots__ = ("element",)
    java_name: ClassVar[str] = _UTIL + "EnumSet"

    def __init__(self, element: type[Enum], items: Iterable[T] = ()) -> None:
        super().__init__(items)
        self.element = element
