"""The figures of a queue: how much is in it, how late it is, who moves it. Plain values, no I/O."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar

import attrs

__all__ = ["KeyInspection", "Mover", "QueueStats", "at", "plain", "shown"]


@attrs.frozen(kw_only=True)
class KeyInspection:
    """One Redis key of a queue that is there.

    ``role`` is its name in ``queue.keys``, or ``dead``, ``dead_info``, ``dead_index``. ``key`` is its name in Redis.
    ``type`` is its Redis type, and ``expected`` the type that it should have. ``size`` counts its elements; it is 1 for
    a string, and 0 for a wrong type. ``expires`` is when the key expires, or None. ``memory`` is how many bytes it
    takes, estimated by Redis from a few elements; None if the user may not ask. Only ``inspect()`` fills the last two.
    """

    role: str
    key: str
    type: str
    expected: str
    size: int
    expires: datetime | None = None
    memory: int | None = None

    @property
    def is_wrong(self) -> bool:
        """Whether the key has the wrong type."""
        return self.type != self.expected

    def __str__(self) -> str:
        if self.is_wrong:
            return f"key {self.key!r} holds a {self.type}, but this queue keeps a {self.expected} there"
        return f"key {self.key!r} holds a {self.type} of {self.size}"


@attrs.frozen(kw_only=True)
class Mover:
    """The one of several clients that moves a queue's due items.

    ``client`` is its name, the third part of the names of its connections in ``CLIENT LIST``. ``moved`` is when its
    last transfer ended, and ``until`` is when Redis forgets it, unless it moves again. If an item is overdue, another
    client takes over earlier.
    """

    client: str
    moved: datetime
    until: datetime | None


@attrs.frozen(kw_only=True)
class QueueStats:
    """The figures of a queue at one moment. Made by ``queue.stats()`` and ``client.stats()``; ``print()`` shows them.

    They are the figures of :class:`QueueInspection` that are read fast, whatever is in the queue. If a key has the
    wrong type, its figure is 0 or its time is None, and ``wrong_types`` lists the key. For a queue in partitions,
    counts are sums, and times are the earliest of all partitions.
    """

    name: str
    server_time: datetime
    """The moment, by the server's clock."""

    ready: int = 0
    """How many values can be taken."""
    waiting: int = 0
    """How many values wait for their due time. This includes overdue values, but not values that receivers hold."""
    lean: int = 0
    """How many waiting values are only in the timeout zset. Redisson's ``size()`` does not count these."""
    parked: int = 0
    """How many waiting values are parked by limits by key."""
    overdue: int = 0
    """How many values are due and have not been moved. If this lasts, nobody moves the queue, or it is paused."""
    in_flight: int = 0
    """How many values receivers hold."""
    last_received: datetime | None = None
    """When a held value was last received. Reported only while values are ready: if it is long ago, consumers hang or
    are gone. Of many leases, 50 are examined at either end.
    """
    dead: int = 0
    """How many dead letters there are."""
    undecodable: int = 0
    """How many taken values could not be decoded."""
    quarantined: int = 0
    """How many entries were in no known format."""
    expired: int = 0
    """How many values were too late to be delivered since the queue was created."""
    recurring: int = 0
    """How many recurring offers there are."""
    missed: int = 0
    """How many occurrences were missed since the queue was created, because nobody moved it at their due times."""

    next_due: datetime | None = None
    """When the first waiting value is due. It has passed when the value is overdue."""
    late_by: timedelta = timedelta(0)
    """How long the first overdue value has been due."""

    is_paused: bool = False
    """Whether delivery is paused, in at least one partition."""

    subscribers: int | None = None
    """How many clients have the queue open and would move it, including Redisson's. If there are two or more, Valkey
    9.1 and later may report any number from two on. For partitions, the lowest number. None on a cluster, where a node
    knows only its own clients, and if the user may not ask.
    """
    mover: Mover | None = None
    """The mover. None if at most one client has the queue open, if only Redisson has it open, or for partitions."""

    keys: tuple[KeyInspection, ...] = ()
    """The existing keys among those that the call reads."""

    @property
    def oldest_overdue(self) -> datetime | None:
        """When the first overdue value became due. None if no value is overdue."""
        return self.next_due if self.overdue else None

    @property
    def exists(self) -> bool:
        """Whether any key of the queue exists in Redis."""
        return bool(self.keys)

    @property
    def wrong_types(self) -> tuple[KeyInspection, ...]:
        """The keys that have the wrong type."""
        return tuple(key for key in self.keys if key.is_wrong)

    @property
    def error(self) -> str | None:
        """Why the queue cannot be used: keys that hold another type. None when all is well."""
        return "; ".join(map(str, self.wrong_types)) or None

    @property
    def reserves(self) -> int | None:
        """How many clients would take over from the mover. None if unknown."""
        return None if self.subscribers is None else max(0, self.subscribers - 1)

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON values: times in ISO 8601 and UTC, durations in seconds, tuples as lists."""
        told: dict[str, Any] = attrs.asdict(self, value_serializer=lambda _, __, value: plain(value))
        return told

    def __str__(self) -> str:
        return "\n  ".join((f"{self.name} at {shown(self.server_time)}", *self._lines()))

    # -- its text ----------------------------------------------------------------------------------------------------

    # The counts that have their own line if they are not 0.
    _seldom: ClassVar[tuple[str, ...]] = ("lean", "dead", "undecodable", "quarantined", "expired", "missed")

    def _lines(self) -> Iterable[str]:
        yield from map(str, self.wrong_types)
        beside = self._beside()
        for name in ("ready", "waiting", "parked", "overdue", "in_flight", "recurring", *self._seldom):
            count = getattr(self, name)
            if count or name in _ALWAYS:
                yield f"{name.replace('_', ' '):14} {count}{beside.get(name, '')}"
        if self.is_paused:
            yield "paused         delivery waits for resume()"
        yield from self._limits()
        if self.subscribers is not None:
            yield f"subscribers    {self.subscribers}"
        if self.mover is not None:
            yield f"mover          {self.mover.client}, last at {shown(self.mover.moved)}"

    def _beside(self) -> dict[str, str]:
        """Texts that follow counts, by the names of the counts."""
        late = f", by {self.late_by}"
        return {"waiting": at(", the next is due {}", self.next_due), "overdue": late}

    def _limits(self) -> Iterable[str]:
        return ()


# Shown even if they are 0.
_ALWAYS = ("ready", "waiting", "in_flight")


def shown(moment: datetime) -> str:
    """A moment in a readable form."""
    return moment.isoformat(" ", "milliseconds")


def at(text: str, moment: datetime | None) -> str:
    """A text around a moment; empty if there is none."""
    return "" if moment is None else text.format(shown(moment))


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    return value.total_seconds() if isinstance(value, timedelta) else value
