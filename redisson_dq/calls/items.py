"""Single items that wait: named by an id, found, listed, given another due time."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeVar

from redisson_dq._common.texts import shown
from redisson_dq.calls.long_calls import told_if_long
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.waiting_item import WaitingItem
from redisson_dq.errors import ArgumentError
from redisson_dq.items import ItemState, Outcome, entry_id, item_id
from redisson_dq.scheduling.times import Delay, due_word
from redisson_dq.wire import calls
from redisson_dq.wire.calls import Found, Page, Target
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.request import Request

__all__ = ["checked_id", "page_of_items", "rescheduled", "target", "waiting_items"]

T = TypeVar("T")

_LONGEST_ID = 512


def target(queue: OpenQueue[T], id: str | WaitingItem[T]) -> Target:
    """The item that an id names: the caller's, or one that an offer made."""
    if isinstance(id, WaitingItem):
        return id.target
    made = entry_id(checked_id(queue, id))
    return Target(given_id=id) if made is None else Target(due_ms=made[0], entry=made[1])


def checked_id(queue: OpenQueue[Any], id: object) -> str:
    """Raises ArgumentError for an object that cannot be an id."""
    try:
        if isinstance(id, str) and 0 < len(id.encode()) <= _LONGEST_ID:
            return id
    except UnicodeEncodeError:
        pass
    raise ArgumentError(f"queue {queue.name!r}: an id is a str of 1 to {_LONGEST_ID} bytes in UTF-8, not {shown(id)}")


def rescheduled(
    queue: OpenQueue[T], id: str | WaitingItem[T], delay: Delay | None = None, at: datetime | None = None
) -> Request[tuple[Outcome, int, int]]:
    """The outcome, the due time in ms, the server's time in us."""
    due = due_word(queue.name, delay, at)
    form = "legacy" if queue.options.envelope is Envelope.LEGACY else "lean"
    args = *target(queue, id).words(), due, queue.options.remember_ms, form
    return queue.call("reschedule", args, lambda reply: (Outcome(reply[0].decode()), int(reply[1]), reply[2]))


def page_of_items(
    queue: OpenQueue[T], start: int, stop: int, by: str, *, part: bool
) -> Request[tuple[list[WaitingItem[T]], int | None]]:
    """A page of items. With ``part`` some 1 MB of it, and the index of the next item, or None at its end."""
    request = told_if_long(calls.items(queue.keys, by, start, stop, part=part), queue, "items()")
    return request.then(lambda page: (waiting_items(queue, page), start + len(page.found) if page.is_cut else None))


def waiting_items(queue: OpenQueue[T], page: Page) -> list[WaitingItem[T]]:
    """The items of a page."""
    read_us = queue.options.clock.now_us()
    return [_waiting_item(queue, found, page.now_us, read_us) for found in page.found]


def _waiting_item(queue: OpenQueue[T], found: Found, now_us: int, read_us: int) -> WaitingItem[T]:
    offered_ms = found.due_ms if found.offered_ms is None else found.offered_ms
    return WaitingItem(
        id=found.given_id or item_id(offered_ms or 0, found.entry),
        due_ms=found.due_ms,
        data=found.data,
        target=Target(entry=found.entry, due_ms=offered_ms),
        now_us=now_us,
        clock=queue.options.clock,
        read_us=read_us,
        state=ItemState(found.state),
        attempts=found.attempts,
        decode=queue.waiting_value,
    )
