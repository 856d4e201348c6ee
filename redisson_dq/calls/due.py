"""Taking values that wait by their due times, and reporting entries that cannot be delivered."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from redisson_dq._common.texts import shown
from redisson_dq.calls.checks import check_count, check_index
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.errors import ArgumentError
from redisson_dq.observing import Expired, Observers, SetAside
from redisson_dq.scheduling.times import down_to_ms, to_ms
from redisson_dq.wire.calls.moving import Due, DueRange, occurrences
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["due_range", "taken_due", "tell_undelivered"]

T = TypeVar("T")

# The most due values that one call takes.
_MOST_DUE = 1000


def due_range(
    queue: OpenQueue[Any], until: datetime | None, since: datetime | None, offset: int, limit: int
) -> DueRange:
    """Raises ArgumentError."""
    if check_index(offset, queue.name) < 0:
        raise ArgumentError(f"queue {queue.name!r}: offset= must be an int from 0 on, not {shown(offset)}")
    if since is not None and until is not None and since > until:
        raise ArgumentError(f"queue {queue.name!r}: since= is after until=: nothing is due in between")
    return DueRange(
        since_ms=None if since is None else to_ms(since, queue.name, "since="),
        until_ms=None if until is None else down_to_ms(until, queue.name, "until="),
        offset=offset,
        limit=min(check_count(limit, queue.name), _MOST_DUE),
    )


def taken_due(queue: OpenQueue[T], wanted: DueRange, told: Callable[[Due], None]) -> Request[list[T]]:
    """Takes values that are due. ``told`` is called with the reply before the values are decoded."""

    def taken(reply: list[Any]) -> list[T]:
        values, set_aside, expired, now_us, come = reply
        told(Due(set_aside, expired, now_us, occurrences(come)))
        tell_undelivered(queue.options.observers, queue.name, queue.keys, set_aside, expired)
        return queue.popped(values)

    request = queue.call(
        "take_due",
        (*wanted.words, queue.options.remember_ms),
        taken,
        aside=queue.keys.undecodable,
        on_sending=queue.starts,
    )
    return queue.told_if_long(request, "take_due()")


def tell_undelivered(observers: Observers, name: str, keys: QueueKeys, set_aside: int, expired: int = 0) -> None:
    """Says how many entries cannot be delivered, and how many items were too late to be."""
    if set_aside:
        observers.tell(SetAside(queue=name, count=set_aside, kept_in=keys.quarantine))
    if expired:
        observers.tell(Expired(queue=name, count=expired, kept_in=keys.expired))
