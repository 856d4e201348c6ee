"""Walks the watch table: all sequences of events up to a depth. Worlds that are alike are walked on once."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import Any, TypeVar

import attrs

from redisson_dq.waits import watch_table

__all__ = ["Broken", "Event", "Row", "Walk", "copied", "walk"]

Event = tuple[str, Any]
_T = TypeVar("_T")

#: A state and a trigger, or a pair of a smaller table.
Row = tuple[Any, Any]


class Broken(AssertionError):
    """A promise of the table does not hold."""


def copied(each: _T) -> _T:
    """A shallow copy. The standard library's takes three times as long."""
    made = object.__new__(type(each))
    made.__dict__.update(each.__dict__)
    return made


@attrs.define
class Walk:
    """What a walk saw."""

    worlds: int = 0
    #: The first world in which each row was looked up, and the event that did so.
    reached: dict[Row, tuple[Any, Event]] = attrs.field(factory=dict)
    #: What went wrong, and the events that led there.
    problem: str = ""
    path: tuple[Event, ...] = ()


def walk(first: Any, depth: int, table: Mapping[Row, Any] | None = None, of: Any = watch_table) -> Walk:
    """Walks from a world until something is wrong, at most so many events deep.

    ``table`` stands in for the real one, which is that of the module ``of``.
    """
    seen = Walk()
    noted: set[Row] = set()
    tables = {name: getattr(of, name) for name in ("TRANSITIONS", "WATCHES") if hasattr(of, name)}
    try:
        for name, whole in tables.items():
            setattr(of, name, _Noted(table if table is not None and name == "TRANSITIONS" else whole, noted))
        # All worlds stay until the end, and looking through them again and again takes half of the time.
        gc.disable()
        _walk(first, depth, seen, noted)
    finally:
        gc.enable()
        for name, whole in tables.items():
            setattr(of, name, whole)
    return seen


class _Noted(dict[Row, Any]):
    """The table, which notes the rows that were looked up."""

    def __init__(self, rows: Mapping[Row, Any], noted: set[Row]) -> None:
        super().__init__(rows)
        self._noted = noted

    def __getitem__(self, row: Row) -> Any:
        self._noted.add(row)
        return super().__getitem__(row)

    def get(self, row: Row, default: Any = None) -> Any:
        if row in self:
            self._noted.add(row)
        return super().get(row, default)


# An event, and what happened before it.
_Path = tuple[Any, ...]


def _walk(first: Any, depth: int, seen: Walk, noted: set[Row]) -> None:
    known = {first.key()}
    edge: list[tuple[Any, _Path]] = [(first, ())]
    for _ in range(depth):
        further: list[tuple[Any, _Path]] = []
        for world, path in edge:
            for event in world.events():
                after = world.clone()
                try:
                    after.happen(event)
                except (Broken, KeyError, AssertionError) as error:
                    seen.problem, seen.path = repr(error), _listed((path, event))
                    return
                for row in noted:
                    seen.reached.setdefault(row, (world, event))
                noted.clear()
                key = after.key()
                if key not in known:
                    known.add(key)
                    further.append((after, (path, event)))
        edge = further
    seen.worlds = len(known)


def _listed(path: _Path) -> tuple[Event, ...]:
    found: list[Event] = []
    while path:
        path, event = path
        found.append(event)
    return tuple(reversed(found))
