"""Java's collections: lists, sets and dicts that know which class of java.util they are.

``list``, ``set`` and ``dict`` are ArrayList, HashSet and LinkedHashMap. Every other class here is a list, a set
or a dict as well, and becomes the Java class in its ``java_name``; what Java reads into it comes back as it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, MutableSet
from enum import Enum
from typing import Any, ClassVar, TypeVar, cast

from redisson_dq.errors import ArgumentError

__all__ = [
    "COLLECTIONS",
    "ArrayAsList",
    "ArrayDeque",
    "Comparator",
    "ConcurrentHashMap",
    "ConcurrentHashSet",
    "ConcurrentLinkedDeque",
    "ConcurrentLinkedQueue",
    "ConcurrentSkipListMap",
    "ConcurrentSkipListSet",
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
    "Hashtable",
    "IdentityHashMap",
    "LinkedBlockingDeque",
    "LinkedBlockingQueue",
    "LinkedHashSet",
    "LinkedList",
    "ListOf",
    "ListView",
    "MapOf",
    "MapView",
    "OrderedSet",
    "PriorityBlockingQueue",
    "PriorityQueue",
    "Properties",
    "SetOf",
    "SetView",
    "SingletonList",
    "SingletonMap",
    "SingletonSet",
    "Stack",
    "TreeMap",
    "TreeSet",
    "Vector",
    "WeakHashMap",
    "map_of",
    "set_of",
    "synchronized",
    "unmodifiable",
]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
C = TypeVar("C")

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


# Lists and queues


class LinkedList(list[T]):
    """``java.util.LinkedList``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "LinkedList"


class Vector(list[T]):
    """``java.util.Vector``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "Vector"


class Stack(list[T]):
    """``java.util.Stack``; the last element is its top."""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "Stack"


class ArrayDeque(list[T]):
    """``java.util.ArrayDeque``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "ArrayDeque"


class CopyOnWriteArrayList(list[T]):
    """``java.util.concurrent.CopyOnWriteArrayList``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "CopyOnWriteArrayList"


class ConcurrentLinkedQueue(list[T]):
    """``java.util.concurrent.ConcurrentLinkedQueue``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "ConcurrentLinkedQueue"


class ConcurrentLinkedDeque(list[T]):
    """``java.util.concurrent.ConcurrentLinkedDeque``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "ConcurrentLinkedDeque"


class LinkedBlockingQueue(list[T]):
    """``java.util.concurrent.LinkedBlockingQueue``; its capacity is not kept."""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "LinkedBlockingQueue"


class LinkedBlockingDeque(list[T]):
    """``java.util.concurrent.LinkedBlockingDeque``; its capacity is not kept."""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "LinkedBlockingDeque"


class PriorityQueue(list[T]):
    """``java.util.PriorityQueue``, in the order of Java's iterator (its heap), not sorted."""

    __slots__ = ("comparator",)
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

    __slots__ = ("component",)
    java_name: ClassVar[str] = _UTIL + "Arrays$ArrayList"

    def __init__(self, items: Iterable[T] = (), component: str = "java.lang.Object") -> None:
        super().__init__(items)
        self.component = component


class ListOf(list[T]):
    """``List.of(...)``"""

    __slots__ = ()

    @property
    def java_name(self) -> str:
        """Java has one class for one or two elements and one for all other sizes."""
        return _IMMUTABLE + ("List12" if 0 < len(self) < 3 else "ListN")


class EmptyList(list[T]):
    """``Collections.emptyList()``"""

    __slots__ = ()
    java_name: ClassVar[str] = _HELPERS + "EmptyList"


class SingletonList(list[T]):
    """``Collections.singletonList(x)``"""

    __slots__ = ()
    java_name: ClassVar[str] = _HELPERS + "SingletonList"


# Sets


class OrderedSet(MutableSet[T]):
    """A set that keeps the order in which its elements were added; equal to any set of the same elements."""

    __slots__ = ("_items",)

    def __init__(self, items: Iterable[T] = ()) -> None:
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
            if hasattr(self, slot):
                setattr(made, slot, getattr(self, slot))
        made._items = dict(self._items)
        return made

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Any:
        return OrderedSet(it)  # what set operations give has no Java class of its own


class LinkedHashSet(OrderedSet[T]):
    """``java.util.LinkedHashSet``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "LinkedHashSet"


class CopyOnWriteArraySet(OrderedSet[T]):
    """``java.util.concurrent.CopyOnWriteArraySet``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "CopyOnWriteArraySet"


class ConcurrentHashSet(OrderedSet[T]):
    """``ConcurrentHashMap.newKeySet()``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "ConcurrentHashMap$KeySetView"


class TreeSet(OrderedSet[T]):
    """``java.util.TreeSet``: the elements in the order given, which Java sorts when it reads them."""

    __slots__ = ("comparator",)
    java_name: ClassVar[str] = _UTIL + "TreeSet"

    def __init__(self, items: Iterable[T] = (), comparator: Comparator | None = None) -> None:
        super().__init__(items)
        self.comparator = comparator


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


class HashMap(dict[K, V]):
    """``java.util.HashMap``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "HashMap"


class Hashtable(dict[K, V]):
    """``java.util.Hashtable``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "Hashtable"


class IdentityHashMap(dict[K, V]):
    """``java.util.IdentityHashMap``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "IdentityHashMap"


class WeakHashMap(dict[K, V]):
    """``java.util.WeakHashMap``"""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "WeakHashMap"


class Properties(dict[K, V]):
    """``java.util.Properties``; its defaults are not kept."""

    __slots__ = ()
    java_name: ClassVar[str] = _UTIL + "Properties"


class ConcurrentHashMap(dict[K, V]):
    """``java.util.concurrent.ConcurrentHashMap``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "ConcurrentHashMap"


class TreeMap(dict[K, V]):
    """``java.util.TreeMap``: the entries in the order given, which Java sorts when it reads them."""

    __slots__ = ("comparator",)
    java_name: ClassVar[str] = _UTIL + "TreeMap"

    def __init__(self, items: dict[K, V] | Iterable[tuple[K, V]] = (), comparator: Comparator | None = None) -> None:
        super().__init__(items)
        self.comparator = comparator


class ConcurrentSkipListMap(TreeMap[K, V]):
    """``java.util.concurrent.ConcurrentSkipListMap``"""

    __slots__ = ()
    java_name: ClassVar[str] = _CONCURRENT + "ConcurrentSkipListMap"


class MapOf(dict[K, V]):
    """``Map.of(...)``"""

    __slots__ = ()

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

    __slots__ = ()
    java_name: ClassVar[str] = _HELPERS + "SingletonMap"


class EnumMap(dict[K, V]):
    """``new EnumMap(Color.class)`` of a declared enum: ``EnumMap(Color, {Color.RED: 1})``."""

    __slots__ = ("element",)
    java_name: ClassVar[str] = _UTIL + "EnumMap"

    def __init__(self, element: type[Enum], items: dict[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        super().__init__(items)
        self.element = element


# What no Python set or dict can hold


class Elements(list[T]):
    """A Java set with elements that a Python set cannot hold: lists, or 1 and 1L, which are equal in Python."""

    __slots__ = ("java_name",)

    def __init__(self, java_name: str, items: Iterable[T] = ()) -> None:
        super().__init__(items)
        self.java_name = java_name

    def __repr__(self) -> str:
        return f"Elements({self.java_name!r}, {list.__repr__(self)})"


class Entries(list["tuple[K, V]"]):
    """A Java map with keys that a Python dict cannot hold, as its pairs."""

    __slots__ = ("java_name",)

    def __init__(self, java_name: str, items: Iterable[tuple[K, V]] = ()) -> None:
        super().__init__(items)
        self.java_name = java_name

    def __repr__(self) -> str:
        return f"Entries({self.java_name!r}, {list.__repr__(self)})"


# Collections.unmodifiable..., synchronized... and checked...


class _View:
    """What a wrapper of java.util.Collections adds to the elements: its class, and what it wraps."""

    __slots__ = ()
    java_name: str
    like: Any
    types: tuple[str, ...]

    @property
    def inner(self) -> Any:
        """The wrapped collection, as a new object: ``like`` with the elements. O(size)."""
        made = copy.copy(self.like)
        if isinstance(self, dict):
            made.update(self)
        elif isinstance(made, list):
            made.extend(cast("Iterable[Any]", self))
        else:
            for item in cast("Iterable[Any]", self):
                made.add(item)
        return made


class ListView(_View, list[T]):
    """``Collections.unmodifiableList(x)``, ``synchronizedCollection(x)`` ... over a list.

    ``java_name`` is the wrapper's class; ``like`` is an empty collection of the class that it wraps; ``types``
    are the Java names of what a checked wrapper lets in. :func:`unmodifiable` and :func:`synchronized` make one.
    """

    __slots__ = ("java_name", "like", "types")

    def __init__(self, java_name: str, inner: list[T], types: tuple[str, ...] = ()) -> None:
        super().__init__(inner)
        self.java_name = _view_name(java_name, ListView)
        self.like = _empty(inner)
        self.types = types


class SetView(_View, OrderedSet[T]):
    """The same over a set."""

    __slots__ = ("java_name", "like", "types")

    def __init__(self, java_name: str, inner: Iterable[T], types: tuple[str, ...] = ()) -> None:
        super().__init__(inner)
        self.java_name = _view_name(java_name, SetView)
        self.like = _empty(inner)
        self.types = types


class MapView(_View, dict[K, V]):
    """The same over a dict."""

    __slots__ = ("java_name", "like", "types")

    def __init__(self, java_name: str, inner: dict[K, V], types: tuple[str, ...] = ()) -> None:
        super().__init__(inner)
        self.java_name = _view_name(java_name, MapView)
        self.like = _empty(inner)
        self.types = types


def _view_name(java_name: str, kind: type) -> str:
    """The name of a wrapper's class, if a view of that kind can be one."""
    name = java_name[len(_HELPERS) :] if isinstance(java_name, str) and java_name.startswith(_HELPERS) else ""
    of = MapView if name.endswith("Map") else SetView if name.endswith("Set") else ListView
    if not name.startswith(("Unmodifiable", "Synchronized", "Checked", "Empty")) or of is not kind:
        raise ArgumentError(
            f"{kind.__name__} takes the name of a wrapper's class, as {_HELPERS}Unmodifiable{kind.__name__[:-4]}, "
            f"not {str(java_name)[:80]!r}"
        )
    return java_name


def _empty(collection: Any) -> Any:
    made = copy.copy(collection)
    made.clear()
    return made


def unmodifiable(collection: C) -> C:
    """What ``Collections.unmodifiableList``, ``...Set`` or ``...Map`` makes of a list, set or dict. O(size)."""
    return cast(C, _view("Unmodifiable", collection))


def synchronized(collection: C) -> C:
    """What ``Collections.synchronizedList``, ``...Set`` or ``...Map`` makes of a list, set or dict. O(size)."""
    return cast(C, _view("Synchronized", collection))


def _view(prefix: str, collection: Any) -> Any:
    if isinstance(collection, dict):
        kind = "SortedMap" if isinstance(collection, TreeMap) else "Map"
        return MapView(f"{_HELPERS}{prefix}{kind}", collection)
    if isinstance(collection, (set, OrderedSet)):
        kind = "SortedSet" if isinstance(collection, TreeSet) else "Set"
        return SetView(f"{_HELPERS}{prefix}{kind}", collection)
    if isinstance(collection, list):
        kind = "List" if isinstance(collection, LinkedList) else "RandomAccessList"
        return ListView(f"{_HELPERS}{prefix}{kind}", collection)
    raise ArgumentError(f"a list, a set or a dict is needed, not {type(collection).__name__}")


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

#: Where these interfaces are declared a plain list, set or dict becomes such a class: what it is elsewhere in Java
#: (ArrayList, HashSet, LinkedHashMap) is none of them.
INTERFACES = {
    **dict.fromkeys(("java.util.SortedSet", "java.util.NavigableSet"), "java.util.TreeSet"),
    **dict.fromkeys(("java.util.SortedMap", "java.util.NavigableMap"), "java.util.TreeMap"),
    **dict.fromkeys(("java.util.Queue", "java.util.Deque"), "java.util.LinkedList"),
    "java.util.concurrent.BlockingQueue": "java.util.concurrent.LinkedBlockingQueue",
    "java.util.concurrent.BlockingDeque": "java.util.concurrent.LinkedBlockingDeque",
    "java.util.concurrent.ConcurrentMap": "java.util.concurrent.ConcurrentHashMap",
}


def collection_for(value: Any, name: str) -> Any:
    """A plain list, set or dict as the class that a place of the Java type ``name`` takes; else as it is. O(size)."""
    plain = type(value)
    if plain not in (list, tuple, set, frozenset, dict):
        return value
    kind = COLLECTIONS.get(INTERFACES.get(name, name))
    if kind is None or kind is plain or kind is HashMap:  # a LinkedHashMap is a HashMap
        return value
    base = list if plain in (list, tuple) else OrderedSet if plain in (set, frozenset) else dict
    return kind(value) if issubclass(kind, base) else value


def set_of(java_name: str, kind: type, items: list[Any]) -> Any:
    """The elements as the set class ``kind``, or as Elements if Python cannot hold them in a set. O(size)."""
    try:
        made = kind(items)
    except TypeError:
        return Elements(java_name, items)
    return made if len(made) == len(items) else Elements(java_name, items)


def map_of(java_name: str, kind: type, items: list[tuple[Any, Any]]) -> Any:
    """The pairs as the dict class ``kind``, or as Entries if Python cannot hold them in a dict. O(size)."""
    try:
        made = kind(items)
    except TypeError:
        return Entries(java_name, items)
    return made if len(made) == len(items) else Entries(java_name, items)
