"""The result of an inspection: all that one call tells about a queue. Plain values, no I/O."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import attrs

__all__ = ["KeyInspection", "Mover", "QueueInspection"]


@attrs.frozen(kw_only=True)
class KeyInspection:
    """One Redis key of a queue that is there.

    ``role`` is its name in ``queue.keys``, or ``dead``, ``dead_info``, ``dead_index``. ``key`` is its name in Redis.
    ``type`` is the Redis type it has, and ``expected`` the one it has to have. ``size`` counts its elements;
    it is 1 for a string, and 0 for a wrong type. ``expires`` is when the key vanishes, or None. ``memory`` is how many
    bytes it takes, as Redis estimates from a few elements; None where the user may not ask.
    """

    role: str
    key: str
    type: str
    expected: str
    size: int
    expires: datetime | None
    memory: int | None

    @property
    def is_wrong(self) -> bool:
        """Whether something else keeps another type there."""
        return self.type != self.expected

    def __str__(self) -> str:
        if self.is_wrong:
            return f"key {self.key!r} holds a {self.type}, but this queue keeps a {self.expected} there"
        return f"key {self.key!r} holds a {self.type} of {self.size}"


@attrs.frozen(kw_only=True)
class Mover:
    """The one of several clients that moves a queue's due items.

    ``client`` is its name, the third part of the names of its connections in ``CLIENT LIST``. ``moved`` is when its
    last transfer ended, and ``until`` is when Redis forgets it, unless it moves again. Another client steps in before
    that when an item is overdue.
    """

    client: str
    moved: datetime
    until: datetime | None


@attrs.frozen(kw_only=True)
class QueueInspection:
    """All about one queue at one moment. Made by ``client.inspect(name)``; ``print()`` shows it.

    A figure is 0, and a time None, when its key holds another type. ``wrong_types`` has such keys then. Of a queue in
    partitions the counts are sums, the times those of the partition that comes first, and ``partitions`` has each.
    """

    name: str
    server_time: datetime
    """The moment, by the server's clock."""

    ready: int = 0
    """How many values can be taken."""
    waiting: int = 0
    """How many values wait for their time: those overdue are among them, those that receivers hold are not."""
    mirrored: int = 0
    """How many entries stand in the list of envelopes. Redisson's ``size()`` gives this number."""
    overdue: int = 0
    """How many values are due and have not been moved. When it lasts, nobody moves the queue, or it is paused."""
    in_flight: int = 0
    """How many values receivers hold."""
    arrivals: int = 0
    """How many values have come for a receiver that has not leased them yet."""
    dead: int = 0
    """How many dead letters there are."""
    undecodable: int = 0
    """How many taken values no codec could read."""
    quarantined: int = 0
    """How many entries were in no known format."""
    newer: int = 0
    """How many due entries were set aside, as only a newer version of this library knows their form."""
    expired: int = 0
    """How many values were too late to be delivered, since the queue was made."""
    recurring: int = 0
    """How many recurring offers there are."""
    remembered: int = 0
    """Of how many items with an id, a payload or a time limit something is remembered."""
    histories: int = 0
    """How many values have a record for their next delivery: with former attempts, a context or an id."""
    turns: int = 0
    """How many values stand in line by their keys, those that are handled among them."""
    waiting_for_slots: int = 0
    """How many values wait for a slot of a worker's limit."""
    slots: int = 0
    """How many slots of limits are taken."""
    handled: int = 0
    """How many handled values are remembered, whose equals are dropped (``unique_for=``)."""

    next_due: datetime | None = None
    """When the first waiting value is due. It has passed when the value is overdue."""
    late_by: timedelta = timedelta(0)
    """How long the first overdue value has been due."""
    next_deadline: datetime | None = None
    """When the first lease ends."""
    next_recurring: datetime | None = None
    """When the next occurrence of a recurring offer is due."""
    ready_since: datetime | None = None
    """Since when the first ready value is ready. Only a value that was received before, or that was offered with a
    context or an id, has a record that tells. None for any other, and for a value above 1 MB.
    """
    expires: datetime | None = None
    """When the first of the keys that hold the queue's values vanishes, if somebody gave it a time to live."""

    is_paused: bool = False
    """Whether delivery is paused, of one partition at least."""
    max_size: int | None = None
    """How many values may wait, if that is limited."""
    remaining_capacity: int | None = None
    """How many more values a bounded queue has room for. None for any other queue."""

    subscribers: int | None = None
    """How many clients have the queue open and would move it, Redisson's among them. Valkey from 9.1 on tells any
    number from two on. Of partitions it is the lowest number. None on a cluster, whose nodes know only their own, and
    where the user may not ask.
    """
    mover: Mover | None = None
    """The mover. None when at most one client has the queue open, when only Redisson has, or for partitions."""

    entry_kinds: tuple[str, ...] = ()
    """The kinds of the first entry that waits or is held, and of the first and the last in the list of envelopes:
    ``current``, ``legacy``, ``lean``, ``lease``, ``newer`` or ``unknown``.
    """
    newer_forms: tuple[tuple[str, int], ...] = ()
    """Forms that only a newer version knows, as far as the call met some: the role of the key, and the form."""
    memory: int | None = None
    """How many bytes of memory all keys take, as Redis estimates. None where the user may not ask."""
    keys: tuple[KeyInspection, ...] = ()
    """The keys that are there."""
    partitions: tuple[QueueInspection, ...] = ()
    """Each partition, of a queue that is in partitions."""

    @property
    def exists(self) -> bool:
        """Whether there is anything of the queue in Redis."""
        return bool(self.keys)

    @property
    def wrong_types(self) -> tuple[KeyInspection, ...]:
        """The keys in which something else keeps another type."""
        return tuple(key for key in self.keys if key.is_wrong)

    @property
    def reserves(self) -> int | None:
        """How many clients would step in for the mover. None where nobody can tell."""
        return None if self.subscribers is None else max(0, self.subscribers - 1)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON has it: times in ISO 8601 and UTC, spans in seconds, tuples as lists."""
        told: dict[str, Any] = attrs.asdict(self, value_serializer=lambda _, __, value: _plain(value))
        return told

    def __str__(self) -> str:
        return "\n  ".join((f"{self.name} at {_shown(self.server_time)}", *self._lines()))

    def _lines(self) -> Iterable[str]:
        if self.partitions:
            yield f"partitions     {len(self.partitions)}"
        yield from map(str, self.wrong_types)
        yield f"ready          {self.ready}" + self._and(" since {}", self.ready_since)
        yield f"waiting        {self.waiting}" + self._and(", the next is due {}", self.next_due)
        if self.overdue:
            yield f"overdue        {self.overdue}, by {self.late_by}"
        yield f"in flight      {self.in_flight}" + self._and(", the first lease ends {}", self.next_deadline)
        if self.recurring:
            yield f"recurring      {self.recurring}" + self._and(", the next is due {}", self.next_recurring)
        for name in _WHERE_ANY:
            count = getattr(self, name)
            if count:
                yield f"{name.replace('_', ' '):14} {count}"
        if self.is_paused:
            yield "paused         delivery waits for resume()"
        if self.max_size is not None:
            yield f"max size       {self.max_size}"
        if self.remaining_capacity is not None:
            yield f"room           {self.remaining_capacity}"
        if self.expires is not None:
            yield f"expires        {_shown(self.expires)}"
        if self.subscribers is not None:
            yield f"subscribers    {self.subscribers}"
        if self.mover is not None:
            yield f"mover          {self.mover.client}, last at {_shown(self.mover.moved)}"
        if self.entry_kinds:
            yield f"entries        {', '.join(self.entry_kinds)}"
        for role, form in self.newer_forms:
            yield f"newer form     {form} in {role}: upgrade this client"
        if self.memory is not None:
            yield f"memory         {self.memory} bytes in {len(self.keys)} keys"

    def _and(self, text: str, moment: datetime | None) -> str:
        return "" if moment is None else text.format(_shown(moment))


# Shown where they are not 0.
_WHERE_ANY = (
    "arrivals",
    "dead",
    "undecodable",
    "quarantined",
    "newer",
    "expired",
    "remembered",
    "histories",
    "turns",
    "waiting_for_slots",
    "slots",
    "handled",
)


def _shown(moment: datetime) -> str:
    return moment.isoformat(" ", "milliseconds")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.total_seconds() if isinstance(value, timedelta) else value
