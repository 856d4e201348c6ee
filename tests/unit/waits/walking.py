"""Walks the pop table: all sequences of events up to a depth. Worlds that are alike are walked on once."""

from __future__ import annotations

import gc
import math
from collections.abc import Mapping
from typing import Any

import attrs

from redisson_dq.waits import pop_table
from redisson_dq.waits.pop_table import Contact, Do
from tests.unit.waits.pumped import AWAY, Broken, Event, Kind, World

__all__ = ["STARTS", "Row", "Walk", "walk"]

#: A state and a trigger, or a pair of a smaller table.
Row = tuple[Any, Any]


@attrs.define
class Walk:
    """What a walk saw."""

    worlds: int = 0
    #: The first world in which each row was looked up, and the event that did so.
    reached: dict[Row, tuple[Any, Event]] = attrs.field(factory=dict)
    #: What went wrong, and the events that led there.
    problem: str = ""
    path: tuple[Event, ...] = ()


def _nothing(kind: Kind) -> World:
    return World(kind)


def _connected(kind: Kind) -> World:
    """A stand-in was here, and the connection stays for the next one."""
    world = World(kind)
    world.happen(("push", None))
    world.happen(("stands in", math.inf))
    while world.to_do is not None:
        do = world.to_do[0] if world.to_do else None
        outcome = "sends" if do is Do.BLOCK and not world.is_sent else "reads" if do is Do.BLOCK else "goes well"
        world.happen(("pumps", outcome))
    world.forget()
    return world


def _in_trouble(kind: Kind) -> World:
    """Redis was away, and nothing has been answered since."""
    world = _connected(kind)
    world.engine.contact = Contact.BACK
    world.engine.diagnosed(AWAY, is_refusal=False)
    return world


def _refused(kind: Kind) -> World:
    """Redis has refused for a while, and a caller waits. A look is about to be sent over a new connection."""
    world = World(kind)
    world.engine.contact = Contact.REFUSING
    world.engine.diagnosed(AWAY, is_refusal=True)
    world.happen(("comes", 10.0))
    while world.to_do != (Do.LOOK,):
        world.happen(("pumps", "goes well"))
    return world


def _answered(kind: Kind) -> World:
    """A caller waits in Redis, and two values come."""
    world = _connected(kind)
    world.happen(("comes", math.inf))
    while not world.in_redis:
        world.happen(("pumps", "sends" if world.to_do == (Do.BLOCK,) else "goes well"))
    world.happen(("push", None))
    world.happen(("push", None))
    return world


def _probing(kind: Kind) -> World:
    """Redis was away, and a caller waits. The command that tells whether blocking is allowed is under way."""
    world = _in_trouble(kind)
    world.happen(("comes", 10.0))
    while world.to_do != (Do.PROBE,):
        world.happen(("pumps", "goes well"))
    return world


def _standing_in(kind: Kind) -> World:
    """A stand-in looks, and another caller waits with it."""
    world = _connected(kind)
    world.happen(("stands in", math.inf))
    world.happen(("comes", 10.0))
    while world.to_do != (Do.LOOK,):
        world.happen(("pumps", "goes well"))
    return world


#: The worlds that walks begin with.
STARTS = {
    "nothing": _nothing,
    "connected": _connected,
    "in trouble": _in_trouble,
    "refused": _refused,
    "probing": _probing,
    "answered": _answered,
    "standing in": _standing_in,
}


def walk(first: Any, depth: int, table: Mapping[Row, Any] | None = None, of: Any = pop_table) -> Walk:
    """Walks from a world until something is wrong, at most so many events deep.

    ``table`` stands in for the real one, which is that of the module ``of``.
    """
    seen = Walk()
    noted: set[Row] = set()
    tables = {
        name: getattr(of, name) for name in ("TRANSITIONS", "PUMPERS", "CONTACTS", "WATCHES") if hasattr(of, name)
    }
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
