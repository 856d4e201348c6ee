"""Java's hash tables: the layout of a table that was read, and the order in which a set or a map is written.

Java's bytes contain more than the elements: their order, and the size of the table. Both are kept beside the elements,
so a value that was read is written to the same bytes. A value made in Python is written in the order in which Java's
own table would have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from redisson_dq.java.hashing import hash_map_capacity, hash_map_order
from redisson_dq.java.orders import Comparator

__all__ = [
    "Remembering",
    "Table",
    "hashed",
    "in_order",
    "itself",
    "key_of",
    "remembered_order",
    "remembered_sorted",
    "remembered_table",
    "pairs_in_order",
]


@attrs.frozen
class Table:
    """The layout of a hash table in Java. It is valid as long as the set or map has the same keys.

    ``keys`` are in Java's order. The other attributes come from Java's serialization. They are None where the codec
    gave nothing.
    """

    keys: tuple[Any, ...] = attrs.field(eq=False, repr=False)
    capacity: int | None = None
    load_factor: float | None = None
    threshold: int | None = None
    access_order: bool = False
    #: The comparator by which Java has sorted the keys. None where that is not known.
    order: Comparator | None = attrs.field(default=None, eq=False)


class Remembering:
    """A set or map that remembers its layout in Java. ``table`` is None for one that was made in Python."""

    __slots__ = ()
    table: Table | None


def itself(value: Any) -> Any:
    return value


def key_of(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def in_order(value: Any) -> list[Any]:
    """The elements in the order in which they are written. It is the same in every process. O(n log n)."""
    order = getattr(type(value), "java_order", None)
    if order is not None:
        found: list[Any] = order(value)
        return found
    if not isinstance(value, (set, frozenset)):
        return list(value)
    # A user's subclass of set may have such an attribute.
    remembered = remembered_order(value) if hasattr(value, "table") else None
    return hashed(value) if remembered is None else remembered


def pairs_in_order(value: Any) -> Iterable[tuple[Any, Any]]:
    """The entries of a map in the order in which they are written. O(n log n)."""
    if type(value) is dict:
        return value.items()
    order = getattr(type(value), "java_order", None)
    if order is not None:
        found: list[tuple[Any, Any]] = order(value)
        return found
    return value.items() if isinstance(value, dict) else value


def hashed(items: Any, capacity: Callable[[int], int] = hash_map_capacity, key: Any = itself) -> list[Any]:
    """The elements in the order of a table that Java filled. With ``key_of``, the items are entries."""
    return hash_map_order(items, key, capacity(len(items)))


def remembered_table(value: Any) -> Table | None:
    """The layout of a set or map in Java. None if it is not known, or if the keys have changed. O(n)."""
    return None if remembered_order(value) is None else value.table


def remembered_order(value: Any) -> list[Any] | None:
    """The elements or entries in Java's order. None if it is not known, or if the keys have changed. O(n)."""
    table: Table | None = getattr(value, "table", None)
    if table is None or len(table.keys) != len(value):
        return None
    if isinstance(value, (set, frozenset)):
        if {*map(id, value)}.issuperset(map(id, table.keys)):
            return list(table.keys)
        own = dict(zip(value, value, strict=True))
        try:
            return [own[key] for key in table.keys]
        except KeyError:
            return None
    # This holds for the elements of Elements and the pairs of Entries as well.
    same = all(key is other for key, other in zip(value, table.keys, strict=True))
    if not same:
        return None
    return list(value.items()) if isinstance(value, dict) else list(value)


def remembered_sorted(value: Any, comparator: Comparator | None) -> list[Any] | None:
    """The elements or entries of a sorted collection in Java's order. None if it is not known. O(n log n).

    It stays known when keys are removed, and is lost with a new key or another comparator.
    """
    table: Table | None = getattr(value, "table", None)
    if table is None or table.order is not (comparator or Comparator.NATURAL_ORDER):
        return None
    places = {id(key): place for place, key in enumerate(table.keys)}
    is_dict = isinstance(value, dict)
    try:
        by_place = {places[id(one)]: one for one in value}
    except KeyError:
        return None
    ordered = [by_place[place] for place in sorted(by_place)]
    return [(key, value[key]) for key in ordered] if is_dict else ordered
