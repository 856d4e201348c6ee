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

# The id of a lean entry has nine bytes, that of a lease ten.
_MADE = re.compile("([0-9]{1,16})-([0-9a-f]{16}(?:[0-9a-f]{2}){0,2})")


class ItemState(enum.Enum):
    """The place of an item that is not settled."""

    WAITING = "waiting"
    """It waits for its due time."""
    PARKED = "parked"
    """It was due, and waits in a worker for its turn, a slot, a token or a free handler."""
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
    """The item has the new due time. If a receiver holds it, this is the time of the next attempt if the current one
    fails.
    """
    DELIVERED = "delivered"
    """The item is settled: it was delivered and acked, or taken. Without an id of yours, this outcome is only inferred:
    the item is gone and its due time is over. Such an item may also have been removed by ``clear()`` or by Java.
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
    """The item was cancelled while its value was held. The value is gone, and will not be delivered again."""
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
    """Counts of one client's transfers since the client was created.

    ``sent`` is how many transfers Redis has answered. ``early`` is how many of them ran before the due time for which
    they were sent. An early transfer moves nothing, and another one has to follow.
    """

    sent: int = 0
    early: int = 0


@attrs.frozen(kw_only=True)
class Problem:
    """A task that a client cannot do for one queue at the moment. The client retries it until the problem ends.

    ``queue`` is the key of the queue's list. ``what`` names the task, and ``error`` is the reason. The text contains
    all three. With ``only_late`` everything is still done, but some of it late.
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
    """A handler of a worker that makes no progress: its slots are taken, others wait, and nothing has been settled for
    a long time.

    ``name`` is the queue's name. ``since`` is how long no handling has begun or ended. ``running`` is how many
    handlings go on, and ``waiting`` is how many values are ready. ``stack`` is the stack of the oldest handling, the
    innermost frame last. The worker does not end that handling. The text contains all of these.
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

    ``clients`` is how many clients, including this one, move due items of the queue that now has the values. 0 may mean
    that no client of this library or Redisson is listening. None means that Redis does not report it, as on a cluster.
    A pipeline on a cluster counts the clients that listen at one node.
    """

    count: int
    left: int
    clients: int | None


@attrs.frozen(kw_only=True)
class ExpiredItem:
    """One value that was too late to be delivered. ``data`` has its bytes. If other software put the element into the
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
    """One recurring offer: its id, and the due time of the next occurrence.

    ``every``, or ``cron`` and ``timezone``, and ``missed`` and ``missed_limit`` are as they were declared. ``data`` has
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
    """One event in the history of an item.

    ``what`` is ``"offered"``, ``"rescheduled"``, ``"moved"`` (to the ready list), ``"delivered"``, ``"failed"``,
    ``"returned"`` (not counted as an attempt), ``"lost"`` (its lease ended by its deadline), ``"parked"``, ``"done"``,
    ``"dead"``, ``"redriven"``, ``"expired"``, ``"replaced"``, ``"cancelled"``, ``"dropped"`` (it had been cancelled, or
    was a duplicate, when it came), ``"taken"`` (before its time, by ``take_due()``), ``"removed"``, ``"purged"``,
    ``"restored"`` (an action was undone), or ``"gone"``. The reading call adds ``"gone"`` if the item is nowhere and no
    event explains it.

    ``id`` is the ``id=`` of its offer, or None. ``host`` and ``pid`` identify the process that caused the event.
    ``lease`` is the id of the delivery, and ``attempt`` its number. ``due`` is the item's due time after the event.
    ``reason`` has the first 200 bytes of the reason for a failure. ``certain`` is false if the event was matched only
    by an equal value.
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
    """The id of an item for which the caller gave no id. It contains the due time and the entry id, which locate the
    item without a table.
    """
    return f"{due_ms}-{entry.hex()}"


def entry_id(given: str) -> tuple[int, bytes] | None:
    """The due time in ms and the entry id in an id made by ``item_id``. None for any other text."""
    made = _MADE.fullmatch(given)
    return None if made is None else (int(made[1]), bytes.fromhex(made[2]))
