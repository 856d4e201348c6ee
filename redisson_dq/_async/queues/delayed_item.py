"""The handle of a single item that waits."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeVar

from redisson_dq._async.queues.waiting import WaitingQueue
from redisson_dq.calls.delayed import By
from redisson_dq.calls.items import ItemFacts, WaitingItem, rescheduled
from redisson_dq.items import Outcome
from redisson_dq.scheduling.times import Delay
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["DelayedItem", "due_of", "items_of"]

T = TypeVar("T")


class DelayedItem(ItemFacts[T]):
    """One item that waits, or that waited when the call that gave it was answered.

    Equal to another handle of the same item.
    """

    def __init__(self, queue: WaitingQueue[T], state: WaitingItem[T]) -> None:
        self._queue = queue
        self._state = state

    def __repr__(self) -> str:
        return f"<DelayedItem {self.id!r} of {self._queue.name!r}, due {self.due}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DelayedItem):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[QueueKeys, bytes]:
        return self._queue.keys, self._state.target.entry

    async def cancel(self) -> Outcome:
        """Like :meth:`DelayedQueue.cancel`, but never cancels a later item with the same id."""
        return await self._queue._run(self._queue.requests.cancel(self._state))

    async def reschedule(self, delay: Delay | None = None, at: datetime | None = None) -> Outcome:
        """Like :meth:`DelayedQueue.reschedule`; ``due`` and ``remaining`` follow."""
        outcome, due_ms, now_us = await self._queue._run(rescheduled(self._queue._side, self._state, delay, at))
        if outcome:
            self._state = self._state.moved(due_ms, now_us)
        return outcome

    async def run_now(self) -> Outcome:
        """Like :meth:`DelayedQueue.run_now`."""
        return await self.reschedule(0)


def items_of(
    queue: WaitingQueue[T], start: int, stop: int, by: By = "due"
) -> Request[tuple[list[DelayedItem[T]], int | None]]:
    """The beginning of a page of a queue's items, some 1 MB of it, and the index of the rest."""
    request = queue.requests.items_part(start, stop, by)
    return request.then(lambda reply: ([DelayedItem(queue, state) for state in reply[0]], reply[1]))


def due_of(item: DelayedItem[Any]) -> int:
    """The order of items of several queues."""
    return item._state.due_ms or 0
