"""The queue as a small machine: each item is in one place, and a step moves it.

The table :data:`ROWS` is all of it. The checker of histories, the walk through all interleavings, the tests with random
steps and the page ``docs/model.md`` use this one table. Times are those of the server's clock, in epoch us.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["ABSENT", "OVER", "ROWS", "Guard", "Item", "Place", "Row", "Step", "after", "as_table", "rested"]


class Place(str, enum.Enum):
    """Where an item is."""

    ABSENT = "absent"
    WAITING = "waiting"
    READY = "ready"
    LEASED = "leased"
    VOID = "cancelled lease"
    DEAD = "dead"
    SETTLED = "settled"


class Item(NamedTuple):
    """One item. ``until``: its due time, or its lease's deadline. ``how``: the step that settled it.

    ``again``: when it comes again if the receiver that holds it fails, 0 for at once. ``named``: offered with an id,
    by which it can be cancelled wherever it is.
    """

    place: Place = Place.ABSENT
    until: int = 0
    lease: str = ""
    how: str = ""
    again: int = 0
    named: bool = False


ABSENT = Item()


class Step(NamedTuple):
    """One step and its outcome. ``until``: the new due time or deadline; 0 where it is ``delay`` from the step on."""

    f: str
    outcome: str
    lease: str = ""
    until: int = 0
    delay: int = 0
    named: bool = False


class Guard(enum.Enum):
    """A condition in addition to the place. A lease is held by its own receipt, until its deadline."""

    ALWAYS = ""
    OVER = "its time has come"
    HELD = "the lease is held"
    LOST = "the lease is not held"
    NAMED = "it was offered with `id=`"
    UNNAMED = "it was offered without `id=`"
    DONE = "it was taken or acked"
    WITHDRAWN = "it was cancelled"
    AT_ONCE = "the lease is held, and the item was not rescheduled meanwhile"


OVER = Guard.OVER


class Row(NamedTuple):
    """From these places, the step has this outcome and leads to ``to`` (None: nothing changes)."""

    f: str
    outcome: str
    places: tuple[Place, ...]
    to: Place | None
    guard: Guard = Guard.ALWAYS


_P = Place
_HELD = (_P.LEASED, _P.VOID)
_ANYWHERE = tuple(Place)

ROWS = [
    Row("offer", "offered", (_P.ABSENT,), _P.WAITING),
    Row("offer", "offered", (_P.SETTLED,), _P.WAITING, Guard.WITHDRAWN),
    Row("offer", "kept", (_P.WAITING, _P.READY, _P.LEASED, _P.DEAD), None),
    Row("offer", "kept", (_P.SETTLED,), None, Guard.DONE),
    # Steps without a call: any client that moves due items makes them, including Redisson.
    Row("move", "moved", (_P.WAITING,), _P.READY, OVER),
    Row("move", "moved", (_P.LEASED,), _P.READY, OVER),
    Row("move", "moved", (_P.VOID,), _P.SETTLED, OVER),
    Row("take", "taken", (_P.READY,), _P.SETTLED),
    # Its receiver has died. Only a receive drops it: docs/offers.md.
    Row("take", "taken", (_P.VOID,), _P.SETTLED, OVER),
    Row("receive", "leased", (_P.READY,), _P.LEASED),
    # It was delivered too often.
    Row("receive", "dead", (_P.READY,), _P.DEAD),
    Row("extend", "extended", (_P.LEASED,), _P.LEASED, Guard.HELD),
    Row("extend", "cancelled", (_P.VOID,), _P.VOID, Guard.HELD),
    Row("extend", "lost", _ANYWHERE, None, Guard.LOST),
    Row("ack", "acked", _HELD, _P.SETTLED, Guard.HELD),
    Row("ack", "lost", _ANYWHERE, None, Guard.LOST),
    Row("nack", "returned", (_P.LEASED,), _P.READY, Guard.AT_ONCE),
    Row("nack", "delayed", (_P.LEASED,), _P.WAITING, Guard.HELD),
    Row("nack", "dead", (_P.LEASED,), _P.DEAD, Guard.HELD),
    Row("nack", "cancelled", (_P.VOID,), _P.SETTLED, Guard.HELD),
    Row("nack", "lost", _ANYWHERE, None, Guard.LOST),
    Row("reject", "dead", (_P.LEASED,), _P.DEAD, Guard.HELD),
    Row("reject", "cancelled", (_P.VOID,), _P.SETTLED, Guard.HELD),
    Row("reject", "lost", _ANYWHERE, None, Guard.LOST),
    Row("redrive", "redriven", (_P.DEAD,), _P.READY),
    Row("cancel", "cancelled", (_P.WAITING,), _P.SETTLED),
    Row("cancel", "cancelled", (_P.READY, _P.DEAD), _P.SETTLED, Guard.NAMED),
    Row("cancel", "cancelled", (_P.LEASED,), _P.VOID, Guard.NAMED),
    Row("cancel", "delivered", (_P.SETTLED,), None, Guard.DONE),
    Row("cancel", "delivered", (_P.READY, _P.LEASED, _P.DEAD), None, Guard.UNNAMED),
    Row("cancel", "unknown", (_P.ABSENT, _P.SETTLED, _P.VOID), None),
    Row("reschedule", "rescheduled", (_P.WAITING,), _P.WAITING),
    Row("reschedule", "rescheduled", (_P.READY, _P.DEAD), _P.WAITING, Guard.NAMED),
    Row("reschedule", "rescheduled", (_P.LEASED,), _P.LEASED, Guard.NAMED),
    Row("reschedule", "delivered", (_P.SETTLED,), None, Guard.DONE),
    Row("reschedule", "delivered", (_P.READY, _P.LEASED, _P.DEAD), None, Guard.UNNAMED),
    Row("reschedule", "unknown", (_P.ABSENT, _P.SETTLED, _P.VOID), None),
    # A fault that takes data with it.
    Row("vanish", "gone", _ANYWHERE, _P.SETTLED),
    # The place in which a look at the whole queue finds it.
    Row("look", "waiting", (_P.WAITING,), None),
    Row("look", "ready", (_P.READY,), None),
    Row("look", "leased", _HELD, None),
    Row("look", "dead", (_P.DEAD,), None),
    Row("look", "gone", (_P.ABSENT, _P.SETTLED, _P.VOID), None),
]


def as_table() -> str:
    """The rows in Markdown, those alike in one."""
    told: dict[tuple[str, str, str], list[str]] = {}
    for row in ROWS:
        if row.f not in ("vanish", "look"):
            places = "any" if row.places == _ANYWHERE else ", ".join(place.value for place in row.places)
            to = "stays" if row.to is None else row.to.value
            told.setdefault((places, to, row.guard.value), []).append(f"`{row.f}` {row.outcome}")
    lines = ["| step and outcome | from | to | if |", "|---|---|---|---|"]
    lines += [f"| {'; '.join(steps)} | {places} | {to} | {guard} |" for (places, to, guard), steps in told.items()]
    return "\n".join(lines)


_BY: dict[tuple[str, str], list[Row]] = {}
for _row in ROWS:
    _BY.setdefault((_row.f, _row.outcome), []).append(_row)

_SETTLES = {"take": "taken", "ack": "acked", "vanish": "vanished"}


def after(item: Item, step: Step, low: int, high: int) -> Iterator[tuple[Item, int]]:
    """Each state to which the step may lead at a time from ``low`` to ``high``, and the time from which it does.

    None where the step cannot have this outcome. Due items and ended leases may have moved before it.
    """
    rows = _BY[step.f, step.outcome]
    for state, since in rested(item, low, high):
        for row in rows:
            if state.place in row.places:
                at = _when(row.guard, state, step, since, high)
                if at is not None:
                    yield (state if row.to is None else _moved(state, row, step, at)), at


def rested(item: Item, low: int, high: int) -> Iterator[tuple[Item, int]]:
    """The item as it is, and as somebody may have moved it by then."""
    yield item, low
    if item.until <= high:
        for row in _BY["move", "moved"]:
            if item.place in row.places:
                since = max(low, item.until)
                yield _moved(item, row, Step("move", "moved"), since), since


def _when(guard: Guard, item: Item, step: Step, low: int, high: int) -> int | None:
    """The time from which the guard allows the step. None if it does not."""
    if guard is Guard.ALWAYS:
        return low
    if guard is Guard.HELD or guard is Guard.AT_ONCE:
        held = item.lease == step.lease and low < item.until
        return low if held and not (item.again and guard is Guard.AT_ONCE) else None
    if guard is Guard.LOST:
        if item.place not in _HELD or item.lease != step.lease:
            return low
        return max(low, item.until) if item.until <= high else None
    if guard is Guard.OVER:
        return max(low, item.until) if item.until <= high else None
    if guard is Guard.DONE:
        return low if item.how in ("taken", "acked") else None
    if guard is Guard.WITHDRAWN:
        return low if item.how == "cancelled" else None
    return low if item.named is (guard is Guard.NAMED) else None


def _moved(item: Item, row: Row, step: Step, at: int) -> Item:
    """The item after a step to another place, or to another time in its place."""
    to, until = row.to, step.until or at + step.delay
    assert to is not None
    if step.f == "offer":
        return Item(to, until, named=step.named)
    if step.f == "reschedule":
        if to is Place.LEASED:
            return item._replace(again=until)
        if until <= at and item.place is not Place.WAITING:
            return Item(Place.READY, named=item.named)
        return item if max(until, item.until) <= at else Item(to, until, named=item.named)
    if to is Place.WAITING:
        return Item(to, max(item.again, at) if item.again else until, named=item.named)
    if to in _HELD:
        if step.f == "cancel":
            return item._replace(place=to)
        return item._replace(place=to, until=until, lease=step.lease)
    how = _SETTLES.get(step.f, "cancelled") if to is Place.SETTLED else ""
    return Item(to, how="cancelled" if item.place is Place.VOID else how, named=item.named)
