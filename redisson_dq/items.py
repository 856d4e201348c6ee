"""What the calls on single items and on what waits give back: plain values, no I/O."""

from __future__ import annotations

import enum
import re
from datetime import datetime, timedelta

import attrs

from redisson_dq._times import from_ms

__all__ = [
    "ExpiredItem",
    "OfferOutcome",
    "Outcome",
    "Overdue",
    "RecurringOffer",
    "Redriven",
    "SettleOutcome",
    "TransferCounts",
    "entry_id",
    "item_id",
]

# A lean entry's id has nine bytes, that of a lease ten.
_MADE = re.compile("([0-9]{1,16})-([0-9a-f]{16}(?:[0-9a-f]{2}){0,2})")


class Outcome(enum.Enum):
    """What came of a call on one item. True when the call did what it was asked for."""

    CANCELLED = "cancelled"
    """It waited, and it will never be delivered. Of any number of callers exactly one is told so."""
    RESCHEDULED = "rescheduled"
    """It waits, due at the new time."""
    DELIVERED = "delivered"
    """It does not wait any more: its time came and it was moved to the ready list, or it was polled before. Without an
    id of yours this is told by its due time, also of one that ``clear()`` or Java took out."""
    EXPIRED = "expired"
    """It was too late to be delivered (``expires=``)."""
    UNKNOWN = "unknown"
    """It does not wait, and nobody can tell that it was delivered.

    It was cancelled or removed, never offered here, or its outcome is no longer remembered.
    """

    def __bool__(self) -> bool:
        return self in (Outcome.CANCELLED, Outcome.RESCHEDULED)


class SettleOutcome(enum.Enum):
    """What came of a call on a delivery. True when the call did what it was asked for."""

    ACKED = "acked"
    """The value is done and gone."""
    RETURNED = "returned"
    """The value is ready again."""
    DELAYED = "delayed"
    """The value waits, and will be ready again after the delay."""
    EXTENDED = "extended"
    """The lease has a new deadline."""
    DEAD_LETTERED = "dead"
    """The value is in the dead-letter list."""
    LOST = "lost"
    """The lease had ended before, and nothing was changed. The value may have been received by somebody else."""

    def __bool__(self) -> bool:
        return self is not SettleOutcome.LOST


class OfferOutcome(enum.Enum):
    """What an offer did."""

    OFFERED = "offered"
    """The value is in."""
    REPLACED = "replaced"
    """The value is in, and the one that waited under the same id is out."""
    KEPT = "kept"
    """Nothing was added: the item that has the id (or the payload) already stands."""


@attrs.frozen(kw_only=True)
class Overdue:
    """What is due and has not been moved: a sign that no process moves the queue, or that one is behind.

    ``count`` is the number of items, ``late_by`` how long the first of them has been due.
    """

    count: int
    late_by: timedelta


@attrs.define(kw_only=True)
class TransferCounts:
    """What the transfers of one client came to, since it was made.

    ``sent`` is how many Redis has answered. ``early`` is how many of them ran before the due time that they were sent
    for. Such a transfer moves nothing, and costs one more.
    """

    sent: int = 0
    early: int = 0


@attrs.frozen(kw_only=True)
class Redriven:
    """What a redrive did: how many values were moved, and how many dead letters are left.

    ``clients`` is how many clients, this one among them, move the due items of the queue that the values are in now.
    With 0 nobody of ours or Redisson's may be listening. None: Redis does not tell.
    """

    count: int
    left: int
    clients: int | None


@attrs.frozen(kw_only=True)
class ExpiredItem:
    """One value that was too late to be delivered. ``data`` are its bytes.

    Of an element that something else put into the list ``due`` is None and ``data`` all of it.
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
    """One recurring offer: its id, and when the occurrence that waits now is due.

    ``every`` or ``cron`` and ``timezone`` are as it was declared; ``data`` are the bytes of its value.
    """

    id: str
    next_due: datetime
    every: timedelta | None
    cron: str | None
    timezone: str
    data: bytes


def item_id(due_ms: int, entry: bytes) -> str:
    """The id of an item that the caller gave none: due time and entry id, enough to find it without a table."""
    return f"{due_ms}-{entry.hex()}"


def entry_id(given: str) -> tuple[int, bytes] | None:
    """The due time in ms and the entry id inside such an id, or None when it is none."""
    made = _MADE.fullmatch(given)
    return None if made is None else (int(made[1]), bytes.fromhex(made[2]))
