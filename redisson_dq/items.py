"""The results of calls on single items and on waiting items: plain values, no I/O."""

from __future__ import annotations

import enum
import re
from datetime import datetime, timedelta

import attrs

from redisson_dq.errors import RedissonDQError
from redisson_dq.scheduling.times import from_ms

__all__ = [
    "ExpiredItem",
    "ItemEvent",
    "ItemState",
    "OfferOutcome",
    "Outcome",
    "Overdue",
    "Problem",
    "RecurringOffer",
    "Redriven",
    "SettleOutcome",
    "Stall",
    "TransferCounts",
    "entry_id",
    "item_id",
]

# A lean entry's id has nine bytes. A lease's id has ten.
_MADE = re.compile("([0-9]{1,16})-([0-9a-f]{16}(?:[0-9a-f]{2}){0,2})")


class ItemState(enum.Enum):
    """Where an item is that is not settled."""

    WAITING = "waiting"
    """It waits for its due time."""
    PARKED = "parked"
    """It was due, and a worker lets it wait for its turn, a slot or a token, or until a handler is free."""
    RETRYING = "retrying"
    """It was delivered and failed, and waits for the next attempt."""
    READY = "ready"
    """It is in the ready list."""
    LEASED = "leased"
    """A receiver or a worker holds it."""
    DEAD = "dead"
    """It is in the dead-letter list."""


class Outcome(enum.Enum):
    """The outcome of a call on one item. It is true if the call was carried out."""

    CANCELLED = "cancelled"
    """The item will never be delivered, or never again if a receiver holds it. If several callers cancel it, exactly
    one gets this outcome.
    """
    RESCHEDULED = "rescheduled"
    """The item has the new due time. If a receiver holds it, that is the time of the next attempt, should this one
    fail.
    """
    DELIVERED = "delivered"
    """The item is settled: it was delivered and acked, or taken. For an item without an id of yours, this outcome
    follows only from its due time. Such an item may also have been removed by ``clear()`` or by Java.
    """
    EXPIRED = "expired"
    """The item was too late to be delivered (``expires=``)."""
    UNKNOWN = "unknown"
    """The item is nowhere, and nothing shows that it was delivered. It was cancelled or removed, or never offered
    here, or its outcome is no longer remembered.
    """

    def __bool__(self) -> bool:
        return self in (Outcome.CANCELLED, Outcome.RESCHEDULED)


class SettleOutcome(enum.Enum):
    """The outcome of a call on a delivery. It is true if the call was carried out."""

    ACKED = "acked"
    """The value is done and gone."""
    RETURNED = "returned"
    """The value is ready again."""
    DELAYED = "delayed"
    """The value waits. It will be ready again after the delay."""
    EXTENDED = "extended"
    """The lease has a new deadline."""
    DEAD_LETTERED = "dead"
    """The value is in the dead-letter list."""
    CANCELLED = "cancelled"
    """The value's item was cancelled while it was held. The value is gone, and comes again no more."""
    LOST = "lost"
    """The lease had ended before. Nothing was changed. Another consumer may have received the value."""

    def __bool__(self) -> bool:
        return self is not SettleOutcome.LOST


class OfferOutcome(enum.Enum):
    """The outcome of an offer."""

    OFFERED = "offered"
    """The value was added."""
    REPLACED = "replaced"
    """The value was added. The value that waited under the same id was removed."""
    KEPT = "kept"
    """Nothing was added. The item that already had the id (or the payload) was kept."""


@attrs.frozen(kw_only=True)
class Overdue:
    """The items that are due and have not been moved. They are a sign that no process moves the queue, or that the
    mover is behind.

    ``count`` is the number of items. ``late_by`` is how long the first of them has been due.
    """

    count: int
    late_by: timedelta


@attrs.define(kw_only=True)
class TransferCounts:
    """Counts of one client's transfers, since the client was made.

    ``sent`` is how many transfers Redis has answered. ``early`` is how many of them ran before the due time that they
    were sent for. An early transfer moves nothing, and another one has to follow.
    """

    sent: int = 0
    early: int = 0


@attrs.frozen(kw_only=True)
class Problem:
    """A task that a client cannot do for one queue at present. The client tries again, and the problem ends by itself.

    ``queue`` is the key of the queue's list. ``what`` names the task, and ``error`` is the reason. The text
    tells all three. With ``only_late`` everything is done all the same, and some of it later than it could be.
    """

    queue: str
    what: str
    error: BaseException
    only_late: bool = False

    def __str__(self) -> str:
        kind = "" if isinstance(self.error, RedissonDQError) else f"{type(self.error).__name__}: "
        return (
            f"queue {self.queue!r}: {self.what}: {kind}{self.error}; this is tried again, "
            "and docs/troubleshooting.md says what to do where health is red"
        )


@attrs.frozen(kw_only=True)
class Stall(Problem):
    """A handler of a worker that makes no progress: its slots are taken, others wait, and nothing was settled for long.

    ``name`` is that of the queue. ``since`` is for how long no handling began or ended. ``running`` is how many go on,
    and ``waiting`` how many values are ready. ``stack`` is that of the oldest handling, the innermost frame last. The
    worker does not end it. The text tells all of it.
    """

    name: str
    handler: str
    since: timedelta
    running: int
    waiting: int
    stack: str
    host: str
    pid: int

    def __str__(self) -> str:
        stack = f", its oldest one at\n{self.stack}" if self.stack else ""
        return f"queue {self.queue!r}: {self.what}: {self.error} (process {self.pid} of {self.host}){stack}"


@attrs.frozen(kw_only=True)
class Redriven:
    """The result of a redrive: how many values were moved, and how many dead letters are left.

    ``clients`` is how many clients, including this one, move due items of the queue that now has the values. With 0,
    possibly no client of this library or Redisson is listening. None means that Redis does not tell, as on a cluster.
    There a pipeline tells of the clients that listen at one node.
    """

    count: int
    left: int
    clients: int | None


@attrs.frozen(kw_only=True)
class ExpiredItem:
    """One value that was too late to be delivered. ``data`` are its bytes. If other software put the element into the
    list, ``due`` is None and ``data`` is the whole element.
    """

    due: datetime | None
    data: bytes

    @classmethod
    def parse(cls, element: bytes) -> ExpiredItem:
        """Reads one element of the list of expired values: the due time in epoch ms, a space, the bytes."""
        due, space, data = element.partition(b" ")
        if not (space and due.isdigit() and len(due) <= 16):
            return cls(due=None, data=element)
        return cls(due=from_ms(int(due)), data=data)


@attrs.frozen(kw_only=True)
class RecurringOffer:
    """One recurring offer: its id, and the due time of the occurrence that waits now.

    ``every``, or ``cron`` and ``timezone``, and ``missed`` and ``missed_limit`` are as they were declared. ``data`` are
    the bytes of its value.
    """

    id: str
    next_due: datetime
    every: timedelta | None
    cron: str | None
    timezone: str
    data: bytes
    missed: str = "one"
    missed_limit: int | None = None


@attrs.frozen(kw_only=True)
class ItemEvent:
    """One thing that happened to an item, as the history of its queue tells it.

    ``what`` is ``"offered"``, ``"rescheduled"``, ``"moved"`` (to the ready list), ``"delivered"``, ``"failed"``,
    ``"returned"`` (not counted as an attempt), ``"lost"`` (its lease ended by its deadline), ``"parked"``, ``"done"``,
    ``"dead"``, ``"redriven"``, ``"expired"``, ``"replaced"``, ``"cancelled"``, ``"dropped"`` (it had been cancelled, or
    was a duplicate, when it came), ``"taken"`` (before its time, by ``take_due()``), ``"removed"``, ``"purged"``,
    ``"restored"`` (an action was undone), or ``"gone"``. The last is found by the call that looks: the item is nowhere,
    and no event tells why.

    ``id`` is the ``id=`` of its offer, or None. ``host`` and ``pid`` are those of the process that did it. ``lease``
    is the id of the delivery, and ``attempt`` its number. ``due`` is when it is due from then on. ``reason`` is why it
    failed, its first 200 bytes. ``certain`` is false for an event of a value that equals the item's, where only the
    value could be compared.
    """

    time: datetime
    what: str
    id: str | None
    host: str
    pid: int | None
    lease: str
    attempt: int
    due: datetime | None
    reason: str
    certain: bool = True


def item_id(due_ms: int, entry: bytes) -> str:
    """The id of an item for which the caller gave no id. It consists of the due time and the entry id. These find the
    item without a table.
    """
    return f"{due_ms}-{entry.hex()}"


def entry_id(given: str) -> tuple[int, bytes] | None:
    """The due time in ms and the entry id of an id that ``item_id`` made. None for any other text."""
    made = _MADE.fullmatch(given)
    return None if made is None else (int(made[1]), bytes.fromhex(made[2]))
