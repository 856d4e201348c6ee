"""Java's hash tables: how one lay that was read, and in which order a set or a map is written.

Java's bytes may say more than the elements: their order, the size of the table. That is kept beside the elements, so
what was read is written to the same bytes. A value that Python makes is written in the order of a table that Java fills
with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from redisson_dq.java.hashing import hash_map_capacity, hash_map_order

__all__ = [
    "Kept",
    "Table",
    "hashed",
    "in_order",
    "itself",
    "key_of",
    "kept_order",
    "kept_table",
    "pairs_in_order",
]


@attrs.frozen
class Table:
    """How a hash table lay in Java. It holds for a set or a map as long as that has the same keys.

    ``keys`` are in Java's order. The others are what Java's serialization tells, and None where nothing told it.
    """

    keys: tuple[Any, ...] = attrs.field(eq=False, repr=False)
    capacity: int | None = None
    load_factor: float | None = None
    threshold: int | None = None
    access_order: bool = False


class Kept:
    """What remembers how it lay in Java. ``table`` is None for what Python makes."""

    __slots__ = ()
    table: Table | None


def itself(value: Any) -> Any:
    return value


def key_of(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def in_order(value: Any) -> list[Any]:
    """The elements of a collection as they are written: in the same order in every process. O(n log n)."""
    order = getattr(type(value), "java_order", None)
    if order is not None:
        found: list[Any] = order(value)
        return found
    if not isinstance(value, (set, frozenset)):
        return list(value)
    kept = kept_order(value) if hasattr(value, "table") else None  # a user's subclass of set may have one
    return hashed(value) if kept is None else kept


def pairs_in_order(value: Any) -> Iterable[tuple[Any, Any]]:
    """The entries of a map as they are written. O(n log n)."""
    if type(value) is dict:
        return value.items()
    order = getattr(type(value), "java_order", None)
    if order is not None:
        found: list[tuple[Any, Any]] = order(value)
        return found
    return value.items() if isinstance(value, dict) else value


def hashed(items: Any, capacity: Callable[[int], int] = hash_map_capacity, key: Any = itself) -> list[Any]:
    """The elements, or the entries with ``key_of``, as a table gives them that Java fills."""
    return hash_map_order(items, key, capacity(len(items)))


def kept_table(value: Any) -> Table | None:
    """How a set or a map lay in Java; None if that is not known, or the keys are others by now. O(n)."""
    return None if kept_order(value) is None else value.table


def kept_order(value: Any) -> list[Any] | None:
    """The elements or entries as Java had them; None if that is not known, or the keys are others by now. O(n)."""
    table: Table | None = getattr(value, "table", None)
    if table is None or len(table.keys) != len(value):
        return None
    if isinstance(value, (set, frozenset)):
        own = dict(zip(value, value, strict=True))
        try:
            return [own[key] for key in table.keys]
        except KeyError:
            return None
    # The elements of Elements and the pairs of Entries as well.
    same = all(key is other for key, other in zip(value, table.keys, strict=True))
    if not same:
        return None
    return list(value.items()) if isinstance(value, dict) else list(value)
