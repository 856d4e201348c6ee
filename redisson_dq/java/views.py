"""The wrappers that Collections.unmodifiable..., synchronized... and checked... put around a collection."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from itertools import chain
from typing import Any, TypeVar, cast

from redisson_dq.errors import ArgumentError
from redisson_dq.java.collections import COLLECTIONS, Elements, Entries
from redisson_dq.java.lists import LinkedList
from redisson_dq.java.maps import TreeMap
from redisson_dq.java.sets import OrderedSet, TreeSet
from redisson_dq.java.tables import in_order, pairs_in_order

__all__ = [
    "ElementsView",
    "EntriesView",
    "ListView",
    "MapView",
    "SetView",
    "synchronized",
    "unmodifiable",
    "view_of",
]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
C = TypeVar("C")

_HELPERS = "java.util.Collections$"


class _View:
    """The class of a wrapper of java.util.Collections, and the collection that it wraps."""

    __slots__ = ()
    java_name: str
    like: Any
    types: tuple[str, ...]
    source: Any

    @property
    def inner(self) -> Any:
        """The wrapped collection as a new object: of the class of ``like``, with the elements. O(size)."""
        made = copy.copy(self.like)
        if isinstance(self, dict):
            made.update(self)
        elif isinstance(made, list):
            made.extend(cast("Iterable[Any]", self))
        else:
            for item in cast("Iterable[Any]", self):
                made.add(item)
        return made

    @property
    def wrapped(self) -> Any:
        """The wrapped collection. It is the one that was read if its elements are still the same, else a new one.
        O(size).
        """
        source = getattr(self, "source", None)
        if source is None or len(source) != len(cast("Any", self)):
            return self.inner
        both = zip(_parts(source), _parts(self), strict=True)
        return source if all(one is other for one, other in both) else self.inner


def _parts(value: Any) -> Iterable[Any]:
    return chain.from_iterable(pairs_in_order(value)) if isinstance(value, (dict, Entries)) else in_order(value)


class ListView(_View, list[T]):
    """``Collections.unmodifiableList(x)`` and the like around a list. ``synchronizedCollection(x)`` and the like may
    wrap any collection.

    ``java_name`` is the wrapper's class. ``like`` is an empty collection of the class that it wraps. ``types`` are the
    Java names of the classes that a checked wrapper lets in. :func:`unmodifiable` and :func:`synchronized` make one.
    """

    __slots__ = ("__weakref__", "java_name", "like", "source", "types")

    def __init__(self, java_name: str, inner: Iterable[T], types: tuple[str, ...] = ()) -> None:
        super().__init__(in_order(inner))
        self.java_name = _view_name(java_name, type(self))
        self.like = _empty(inner)
        self.types = types
        self.source = None


class SetView(_View, OrderedSet[T]):
    """A wrapper like ListView around a set."""

    __slots__ = ("java_name", "like", "source", "types")

    def __init__(self, java_name: str, inner: Iterable[T], types: tuple[str, ...] = ()) -> None:
        super().__init__(inner)
        self.java_name = _view_name(java_name, type(self))
        self.like = _empty(inner)
        self.types = types
        self.source = None


class MapView(_View, dict[K, V]):
    """A wrapper like ListView around a dict."""

    __slots__ = ("__weakref__", "java_name", "like", "source", "types")

    def __init__(self, java_name: str, inner: dict[K, V], types: tuple[str, ...] = ()) -> None:
        super().__init__(inner)
        self.java_name = _view_name(java_name, type(self))
        self.like = _empty(inner)
        self.types = types
        self.source = None


class ElementsView(_View, Elements[T]):
    """A wrapper like SetView around Elements: a Java set that no Python set can hold."""

    __slots__ = ("like", "source", "types")

    def __init__(self, java_name: str, inner: Iterable[T], types: tuple[str, ...] = ()) -> None:
        super().__init__(java_name, inner)
        self.java_name = _view_name(java_name, type(self))
        self.like = _empty(inner)
        self.types = types
        self.source = None


class EntriesView(_View, Entries[K, V]):
    """A wrapper like MapView around Entries: a Java map that no Python dict can hold."""

    __slots__ = ("like", "source", "types")

    def __init__(self, java_name: str, inner: Iterable[tuple[K, V]], types: tuple[str, ...] = ()) -> None:
        super().__init__(java_name, inner)
        self.java_name = _view_name(java_name, type(self))
        self.like = _empty(inner)
        self.types = types
        self.source = None


def _view_name(java_name: str, kind: type) -> str:
    """The name of a wrapper's class, if a view of that kind can be one."""
    name = java_name[len(_HELPERS) :] if isinstance(java_name, str) and java_name.startswith(_HELPERS) else ""
    if not name.startswith(("Unmodifiable", "Synchronized", "Checked", "Empty")) or kind not in _kinds_of(name):
        raise ArgumentError(
            f"{kind.__name__} takes the name of a wrapper's class, as {_HELPERS}Unmodifiable{_EXAMPLES[kind]}, "
            f"not {str(java_name)[:80]!r}"
        )
    return java_name


def _kinds_of(name: str) -> tuple[type, ...]:
    """The view classes for the wrapper of that name."""
    if name.endswith("Map"):
        return MapView, EntriesView
    return (SetView, ElementsView) if name.endswith("Set") else (ListView,)


_EXAMPLES: dict[type, str] = {ListView: "List", SetView: "Set", MapView: "Map", ElementsView: "Set", EntriesView: "Map"}


def view_of(java_name: str, inner: Any, types: tuple[str, ...] = ()) -> Any:
    """The wrapper of that class around a collection. Raises ArgumentError if the class cannot wrap that collection."""
    kinds: tuple[tuple[Any, Any], ...] = ((object, ListView),)
    if java_name.endswith("Map"):
        kinds = (Entries, EntriesView), (dict, MapView)
    elif java_name.endswith("Set"):
        kinds = (Elements, ElementsView), ((set, frozenset, OrderedSet), SetView)
    for base, view in kinds:
        if isinstance(inner, base) and (view is not ListView or not isinstance(inner, (dict, Entries))):
            return cast("Any", view)(java_name, inner, types)
    raise ArgumentError(f"{java_name} is not around a {type(inner).__name__}")


def _empty(collection: Any) -> Any:
    if isinstance(collection, frozenset):
        return set()
    made = copy.copy(collection)
    made.clear()
    return made


def unmodifiable(collection: C) -> C:
    """The result of ``Collections.unmodifiableList``, ``...Set`` or ``...Map`` for a list, set or dict. O(size)."""
    return cast(C, _view("Unmodifiable", collection))


def synchronized(collection: C) -> C:
    """The result of ``Collections.synchronizedList``, ``...Set`` or ``...Map`` for a list, set or dict. O(size)."""
    return cast(C, _view("Synchronized", collection))


def _view(prefix: str, collection: Any) -> Any:
    if isinstance(collection, (dict, Entries)):
        kind = "SortedMap" if _is_sorted(collection, TreeMap) else "Map"
    elif isinstance(collection, (set, frozenset, OrderedSet, Elements)):
        kind = "SortedSet" if _is_sorted(collection, TreeSet) else "Set"
    elif isinstance(collection, list):
        kind = "List" if isinstance(collection, LinkedList) else "RandomAccessList"
    else:
        raise ArgumentError(f"a list, a set or a dict is needed, not {type(collection).__name__}")
    return view_of(f"{_HELPERS}{prefix}{kind}", collection)


def _is_sorted(collection: Any, kind: type) -> bool:
    named = COLLECTIONS.get(collection.java_name, object) if isinstance(collection, (Elements, Entries)) else object
    return issubclass(type(collection), kind) or issubclass(named, kind)
