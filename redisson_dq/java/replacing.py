"""Collections whose elements are put into places of a declared type: the originals if all fit, otherwise copies."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable
from typing import Any, Protocol

from redisson_dq.java.arrays import Array, array_of
from redisson_dq.java.collections import Entries
from redisson_dq.java.conversions import Misfit
from redisson_dq.java.hierarchy import class_name
from redisson_dq.java.maps import LinkedHashMap
from redisson_dq.java.sets import HashSet
from redisson_dq.java.signatures import Signature

__all__ = ["Notes", "inside", "with_items", "with_pairs"]

#: By id: an object of a generic class, and the type arguments of the place that holds it.
Notes = dict[int, "tuple[Any, tuple[Signature, ...]]"]


class _Part(Protocol):
    """The place of a part: :class:`~redisson_dq.java.places.Place` describes it."""

    @property
    def exact(self) -> frozenset[type]: ...

    def holds_all(self, values: Collection[Any]) -> bool: ...

    def __call__(self, value: Any, notes: Notes) -> Any: ...


def inside(place: _Part | None, value: Any, notes: Notes, *steps: Any) -> Any:
    """The value as one of the place's type. An error has the ``steps`` to it."""
    if place is None or type(value) in place.exact:
        return value
    try:
        return place(value, notes)
    except Misfit as error:
        error.steps += steps
        raise


def with_items(value: Any, place: _Part, notes: Notes) -> Any:
    """The collection itself if its elements are right, as an object that is shared stays one; else a copy."""
    if place.holds_all(value):
        return value
    items = []
    is_same = True
    for index, item in enumerate(value):
        placed = inside(place, item, notes, index)
        is_same = is_same and placed is item
        items.append(placed)
    return value if is_same else _refilled(value, items)


def _refilled(value: Any, items: list[Any]) -> Any:
    """A collection of the same Java class with other elements."""
    if isinstance(value, Array):
        return array_of(value.component, items)
    plain = {"java.util.ArrayList": list, "java.util.HashSet": set}.get(class_name(value) or "")
    if plain is not None and not isinstance(value, HashSet):
        return plain(items)
    made: Any = copy.copy(value)
    made.clear()
    add = made.append if isinstance(made, list) else made.add
    for item in items:
        add(item)
    return made


def with_pairs(value: Any, pairs: Iterable[tuple[Any, Any]], places: tuple[_Part | None, ...], notes: Notes) -> Any:
    """The map itself if its keys and values are right, else a copy."""
    key_place, item_place = places
    found = []
    is_same = True
    for key, item in pairs:
        placed = inside(key_place, key, notes, key), inside(item_place, item, notes, key)
        is_same = is_same and placed[0] is key and placed[1] is item
        found.append(placed)
    if is_same:
        return value
    if class_name(value) == "java.util.LinkedHashMap" and not isinstance(value, (Entries, LinkedHashMap)):
        return dict(found)
    made: Any = copy.copy(value)
    made.clear()
    (made.update if isinstance(made, dict) else made.extend)(found)
    return made
