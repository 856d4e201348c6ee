"""Java's collections: lists, sets and dicts that know which class of java.util they are.

``list``, ``set`` and ``dict`` are ArrayList, HashSet and LinkedHashMap. Every other class here is a list, a set or a
dict as well, and becomes the Java class in its ``java_name``. A value of that Java class comes back as it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableSet
from enum import Enum
from typing import Any, ClassVar, TypeVar

import attrs

from redisson_dq.java.hashing import concurrent_hash_map_capacity, hashtable_capacity, hashtable_order
from redisson_dq.java.orders import sorted_naturally
from redisson_dq.java.tables import Table, hashed, in_order, itself, kept_order, key_of

__all__ = [
    "COLLECTIONS",
    "INTERFACES",
    "ArrayAsList",
    "ArrayDeque",
    "Comparator",
    "ConcurrentHashMap",
    "ConcurrentHashSet",
    "ConcurrentLinkedDeque",
    "ConcurrentLinkedQueue",
    "ConcurrentSkipListMap",
    "ConcurrentSkipListSet",
    "CopiesList",
    "CopyOnWriteArrayList",
    "CopyOnWriteArraySet",
    "Elements",
    "EmptyList",
    "EmptyMap",
    "EmptySet",
    "Entries",
    "EnumMap",
    "EnumSet",
    "HashMap",
    "HashSet",
    "Hashtable",
    "IdentityHashMap",
    "LinkedBlockingDeque",
    "LinkedBlockingQueue",
    "LinkedHashMap",
    "LinkedHashSet",
    "LinkedList",
    "ListOf",
    "MapOf",
    "OrderedSet",
    "PriorityBlockingQueue",
    "PriorityQueue",
    "Properties",
    "SetOf",
    "SingletonList",
    "SingletonMap",
    "SingletonSet",
    "Stack",
    "TreeMap",
    "TreeSet",
    "Vector",
    "WeakHashMap",
    "keep_table",
    "map_of",
    "set_of",
]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")

_UTIL = "java.util."
_CONCURRENT = "java.util.concurrent."
_IMMUTABLE = "java.util.ImmutableCollections$"
_HELPERS = "java.util.Collections$"


class Comparator(Enum):
    """The comparators of java.util that a sorted collection may carry; the value is the Java class."""

    #: ``Comparator.naturalOrder()``; a collection made without a comparator has None.
    NATURAL_ORDER = "java.util.Comparators$NaturalOrderComparator"
    REVERSE_ORDER = "java.util.Collections$ReverseComparator"
    #: ``String.CASE_INSENSITIVE_ORDER``
    CASE_INSENSITIVE_ORDER = "java.lang.String$CaseInsensitiveComparator"


class _Kept:
    """What remembers how it lay in Java. ``table`` is None for what Python makes."""

    __slots__ = ()
    table: Table | None


# Lists and queues


class LinkedList(list[T]):
    """``java.util.LinkedList``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _UTIL + "LinkedList"


class _Vector(list[T]):
    """``capacity`` and ``increment`` are those of the array behind it, which Java's serialization writes."""

    __slots__ = ("__weakref__", "capacity", "increment")

    def __init__(self, items: Iterable[T] = (), capacity: int | None = None, increment: int = 0) -> None:
        super().__init__(items)
        self.capacity = capacity
        self.increment = increment


class Vector(_Vector[T]):
    """``java.util.Vector``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "Vector"


class Stack(_Vector[T]):
    """``java.util.Stack``; the last element is its top."""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "Stack"


class ArrayDeque(list[T]):
    """``java.util.ArrayDeque``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _UTIL + "ArrayDeque"


class CopyOnWriteArrayList(list[T]):
    """``java.util.concurrent.CopyOnWriteArrayList``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _CONCURRENT + "CopyOnWriteArrayList"


class ConcurrentLinkedQueue(list[T]):
    """``java.util.concurrent.ConcurrentLinkedQueue``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _CONCURRENT + "ConcurrentLinkedQueue"


class ConcurrentLinkedDeque(list[T]):
    """``java.util.concurrent.ConcurrentLinkedDeque``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _CONCURRENT + "ConcurrentLinkedDeque"


class LinkedBlockingQueue(list[T]):
    """``java.util.concurrent.LinkedBlockingQueue``; ``capacity`` is None for one without a bound."""

    __slots__ = ("__weakref__", "capacity")
    java_name: ClassVar[str] = _CONCURRENT + "LinkedBlockingQueue"

    def __init__(self, items: Iterable[T] = (), capacity: int | None = None) -> None:
        super().__init__(items)
        self.capacity = capacity


class LinkedBlockingDeque(list[T]):
    """``java.util.concurrent.LinkedBlockingDeque``; ``capacity`` is None for one without a bound."""

    __slots__ = ("__weakref__", "capacity")
    java_name: ClassVar[str] = _CONCURRENT + "LinkedBlockingDeque"

    def __init__(self, items: Iterable[T] = (), capacity: int | None = None) -> None:
        super().__init__(items)
        self.capacity = capacity


class PriorityQueue(list[T]):
    """``java.util.PriorityQueue``, in the order of Java's iterator (its heap), not sorted."""

    __slots__ = ("__weakref__", "comparator")
    java_name: ClassVar[str] = _UTIL + "PriorityQueue"

    def __init__(self, items: Iterable[T] = (), comparator: Comparator | None = None) -> None:
        super().__init__(items)
        self.comparator = comparator


class PriorityBlockingQueue(PriorityQueue[T]):
    """``java.util.concurrent.PriorityBlockingQueue``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "PriorityBlockingQueue"


class ArrayAsList(list[T]):
    """``Arrays.asList(...)``; ``component`` is the type of the array behind it."""

    __slots__ = ("__weakref__", "component")
    java_name: ClassVar[str] = _UTIL + "Arrays$ArrayList"

    def __init__(self, items: Iterable[T] = (), component: str = "java.lang.Object") -> None:
        super().__init__(items)
        self.component = component


class ListOf(list[T]):
    """``List.of(...)``; with ``nulls=True`` the list of ``Stream.toList()``, which may hold None."""

    __slots__ = ("__weakref__", "_class", "nulls")

    def __init__(self, items: Iterable[T] = (), *, nulls: bool = False) -> None:
        super().__init__(items)
        self.nulls = nulls
        self._class = ""

    @property
    def java_name(self) -> str:
        """Java has one class for one or two elements and one for all other sizes, and one for a part of a list."""
        few = 0 < len(self) < 3 and not self.nulls and not any(item is None for item in self)
        return _IMMUTABLE + (self._class or ("List12" if few else "ListN"))

    def of_class(self, java_name: str) -> None:
        """Note the class that was read, where another list of this size has another one."""
        if java_name != self.java_name:
            self._class = java_name[len(_IMMUTABLE) :]


class CopiesList(list[T]):
    """``Collections.nCopies(n, x)``: one object n times; ``element`` is that of an empty one."""

    __slots__ = ("__weakref__", "element")
    java_name: ClassVar[str] = _HELPERS + "CopiesList"

    def __init__(self, items: Iterable[T] = (), element: T | None = None) -> None:
        super().__init__(items)
        self.element = element


class EmptyList(list[T]):
    """``Collections.emptyList()``"""

    __slots__ = ()
    java_name: ClassVar[str] = _HELPERS + "EmptyList"


class SingletonList(list[T]):
    """``Collections.singletonList(x)``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _HELPERS + "SingletonList"


# Sets


def _by_comparator(items: list[Any], comparator: Comparator | None, key: Callable[[Any], Any]) -> list[Any]:
    if comparator is Comparator.CASE_INSENSITIVE_ORDER:
        return items
    return sorted_naturally(items, key, reverse=comparator is Comparator.REVERSE_ORDER)


class OrderedSet(MutableSet[T]):
    """A set that keeps the order in which its elements were added; equal to any set of the same elements.

    The elements of a plain set, which has no order, stand in that of a HashSet in Java.
    """

    __slots__ = ("__weakref__", "_items")

    def __init__(self, items: Iterable[T] = ()) -> None:
        if isinstance(items, (set, frozenset)):  # whose order is another in each process
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
        return OrderedSet(it)  # what set operations give has no Java class of its own


class HashSet(set[T], _Kept):
    """``java.util.HashSet``, where a plain set would be written in another order than that in which it was read."""

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
        found = kept_order(self)
        return hashed(self) if found is None else found


class _KeptSet(OrderedSet[T], _Kept):
    __slots__ = ("table",)

    def __init__(self, items: Iterable[T] = ()) -> None:
        super().__init__(items)
        self.table = None


class LinkedHashSet(_KeptSet[T]):
    """``java.util.LinkedHashSet``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "LinkedHashSet"


class CopyOnWriteArraySet(OrderedSet[T]):
    """``java.util.concurrent.CopyOnWriteArraySet``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "CopyOnWriteArraySet"


class ConcurrentHashSet(_KeptSet[T]):
    """``ConcurrentHashMap.newKeySet()``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "ConcurrentHashMap$KeySetView"

    def java_order(self) -> list[T]:
        """The elements in Java's order."""
        found = kept_order(self)
        return hashed(self, concurrent_hash_map_capacity) if found is None else found


class TreeSet(_KeptSet[T]):
    """``java.util.TreeSet``: it is written sorted, where Java's order of the elements is known."""

    __slots__ = ("comparator",)
    java_name: ClassVar[str] = _UTIL + "TreeSet"

    def __init__(self, items: Iterable[T] = (), comparator: Comparator | None = None) -> None:
        super().__init__(items)
        self.comparator = comparator

    def java_order(self) -> list[T]:
        """The elements in Java's order, where that is known."""
        found = kept_order(self)
        return _by_comparator(list(self), self.comparator, itself) if found is None else found


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


# Maps


class _KeptMap(dict[K, V], _Kept):
    __slots__ = ("__weakref__", "table")

    def __init__(self, items: dict[K, V] | Iterable[tuple[K, V]] = (), **named: Any) -> None:
        super().__init__(items, **named)
        self.table = None

    def java_order(self) -> list[tuple[K, V]]:
        """The entries in Java's order."""
        found = kept_order(self)
        return self._filled() if found is None else found

    def _filled(self) -> list[tuple[K, V]]:
        """The entries as a table gives them that Java fills."""
        return hashed(self.items(), key=key_of)


class LinkedHashMap(_KeptMap[K, V]):
    """``java.util.LinkedHashMap``, where a plain dict would be written to other bytes than those it was read from."""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "LinkedHashMap"

    def _filled(self) -> list[tuple[K, V]]:
        return list(self.items())


class HashMap(_KeptMap[K, V]):
    """``java.util.HashMap``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "HashMap"


class Hashtable(_KeptMap[K, V]):
    """``java.util.Hashtable``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "Hashtable"

    def _filled(self) -> list[tuple[K, V]]:
        return hashtable_order(self.items(), key_of, hashtable_capacity(len(self)))


class IdentityHashMap(dict[K, V]):
    """``java.util.IdentityHashMap``"""

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = _UTIL + "IdentityHashMap"


class WeakHashMap(_KeptMap[K, V]):
    """``java.util.WeakHashMap``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "WeakHashMap"


class Properties(_KeptMap[K, V]):
    """``java.util.Properties``; its defaults are not kept."""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "Properties"

    def _filled(self) -> list[tuple[K, V]]:
        return hashed(self.items(), concurrent_hash_map_capacity, key_of)


class ConcurrentHashMap(_KeptMap[K, V]):
    """``java.util.concurrent.ConcurrentHashMap``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "ConcurrentHashMap"

    def _filled(self) -> list[tuple[K, V]]:
        return hashed(self.items(), concurrent_hash_map_capacity, key_of)


class TreeMap(_KeptMap[K, V]):
    """``java.util.TreeMap``: it is written sorted, where Java's order of the keys is known."""

    __slots__ = ("comparator",)
    java_name: ClassVar[str] = _UTIL + "TreeMap"

    def __init__(self, items: dict[K, V] | Iterable[tuple[K, V]] = (), comparator: Comparator | None = None) -> None:
        super().__init__(items)
        self.comparator = comparator

    def _filled(self) -> list[tuple[K, V]]:
        return _by_comparator(list(self.items()), self.comparator, key_of)


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

    __slots__ = ()
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


# What no Python set or dict can hold


class Elements(list[T], _Kept):
    """A Java set with elements that a Python set cannot hold: lists, or 1 and 1L, which are equal in Python."""

    __slots__ = ("__weakref__", "comparator", "java_name", "table")

    def __init__(self, java_name: str, items: Iterable[T] = (), comparator: Comparator | None = None) -> None:
        super().__init__(items)
        self.java_name = java_name
        self.comparator = comparator
        self.table = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.java_name!r}, {list.__repr__(self)})"


class Entries(list["tuple[K, V]"], _Kept):
    """A Java map with keys that a Python dict cannot hold, as its pairs."""

    __slots__ = ("__weakref__", "comparator", "java_name", "table")

    def __init__(self, java_name: str, items: Iterable[tuple[K, V]] = (), comparator: Comparator | None = None) -> None:
        super().__init__(items)
        self.java_name = java_name
        self.comparator = comparator
        self.table = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.java_name!r}, {list.__repr__(self)})"


# By Java name

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

#: By Java name: the class of every collection that is made from its elements alone (or its pairs, for a dict).
COLLECTIONS: dict[str, type] = {**_PLAIN, **{kind.java_name: kind for kind in _NAMED}}

#: Where these interfaces are declared a plain list, set or dict becomes such a class. Elsewhere it is an ArrayList,
#: HashSet or LinkedHashMap, which implement none of them.
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

    A HashSet is a plain set if that is written in the same order. ``table`` is how the set lay in Java, if more of it
    is known than the elements.
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
    keep_table(made, table)
    return made


def keep_table(made: Any, table: Table | None = None) -> None:
    """Note that a map's entries, which have just been read, stand in Java's order, and how its table lay there."""
    if hasattr(type(made), "table"):
        made.table = attrs.evolve(table or _NO_TABLE, keys=tuple(made))
