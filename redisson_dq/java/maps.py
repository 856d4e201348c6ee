"""Java's maps: dicts that know their class in java.util and the order of their entries in Java."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, ClassVar, TypeVar

from redisson_dq.java.hashing import concurrent_hash_map_capacity, hashtable_capacity, hashtable_order
from redisson_dq.java.orders import Comparator, sorted_by
from redisson_dq.java.tables import Remembering, hashed, key_of, remembered_order

__all__ = [
    "ConcurrentHashMap",
    "ConcurrentSkipListMap",
    "EmptyMap",
    "EnumMap",
    "HashMap",
    "Hashtable",
    "IdentityHashMap",
    "LinkedHashMap",
    "MapOf",
    "Properties",
    "SingletonMap",
    "TreeMap",
    "WeakHashMap",
]

K = TypeVar("K")
V = TypeVar("V")

_UTIL = "java.util."
_CONCURRENT = "java.util.concurrent."
_IMMUTABLE = "java.util.ImmutableCollections$"
_HELPERS = "java.util.Collections$"


class _RememberingMap(dict[K, V], Remembering):
    __slots__ = ("__weakref__", "table")

    def __init__(self, items: dict[K, V] | Iterable[tuple[K, V]] = (), **named: Any) -> None:
        super().__init__(items, **named)
        self.table = None

    def java_order(self) -> list[tuple[K, V]]:
        """The entries in Java's order."""
        found = remembered_order(self)
        return self._filled() if found is None else found

    def _filled(self) -> list[tuple[K, V]]:
        """The entries in the order of a table that Java filled."""
        return hashed(self.items(), key=key_of)


class LinkedHashMap(_RememberingMap[K, V]):
    """``java.util.LinkedHashMap``. It stands for a map whose bytes a plain dict would not reproduce."""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "LinkedHashMap"

    def _filled(self) -> list[tuple[K, V]]:
        return list(self.items())


class HashMap(_RememberingMap[K, V]):
    """``java.util.HashMap``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "HashMap"


class Hashtable(_RememberingMap[K, V]):
    """``java.util.Hashtable``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "Hashtable"

    def _filled(self) -> list[tuple[K, V]]:
        return hashtable_order(self.items(), key_of, hashtable_capacity(len(self)))


class IdentityHashMap(dict[K, V]):
    """``java.util.IdentityHashMap``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _UTIL + "IdentityHashMap"


class WeakHashMap(_RememberingMap[K, V]):
    """``java.util.WeakHashMap``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "WeakHashMap"


class Properties(_RememberingMap[K, V]):
    """``java.util.Properties``; its defaults are not kept."""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "Properties"

    def _filled(self) -> list[tuple[K, V]]:
        return hashed(self.items(), concurrent_hash_map_capacity, key_of)


class ConcurrentHashMap(_RememberingMap[K, V]):
    """``java.util.concurrent.ConcurrentHashMap``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "ConcurrentHashMap"

    def _filled(self) -> list[tuple[K, V]]:
        return hashed(self.items(), concurrent_hash_map_capacity, key_of)


class TreeMap(_RememberingMap[K, V]):
    """``java.util.TreeMap``. Its entries are written sorted if Java's order of the keys is known."""

    __slots__ = ("comparator",)
    java_name: ClassVar[str] = _UTIL + "TreeMap"

    def __init__(self, items: dict[K, V] | Iterable[tuple[K, V]] = (), comparator: Comparator | None = None) -> None:
        super().__init__(items)
        self.comparator = comparator

    def _filled(self) -> list[tuple[K, V]]:
        return sorted_by(self.comparator, list(self.items()), key_of)


class ConcurrentSkipListMap(TreeMap[K, V]):
    """``java.util.concurrent.ConcurrentSkipListMap``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "ConcurrentSkipListMap"


class MapOf(dict[K, V]):
    """``Map.of(...)``"""

    __slots__ = ("__weakref__",)

    @property
    def java_name(self) -> str:
        """Java has one class for one entry and one for all other sizes."""
        return _IMMUTABLE + ("Map1" if len(self) == 1 else "MapN")


class EmptyMap(dict[K, V]):
    """``Collections.emptyMap()``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _HELPERS + "EmptyMap"


class SingletonMap(dict[K, V]):
    """``Collections.singletonMap(k, v)``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _HELPERS + "SingletonMap"


class EnumMap(dict[K, V]):
    """``new EnumMap(Color.class)`` of a declared enum: ``EnumMap(Color, {Color.RED: 1})``."""

    __slots__ = ("__weakref__", "element")
    java_name: ClassVar[str] = _UTIL + "EnumMap"

    def __init__(self, element: type[Enum], items: dict[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        super().__init__(items)
        self.element = element
