"""The handle of a single item that waits."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Generic, TypeVar

from redisson_dq._async.queues.waiting import WaitingQueue
from redisson_dq._concurrency.blocks import Bound
from redisson_dq.calls.items import rescheduled
from redisson_dq.calls.waiting_item import WaitingItem
from redisson_dq.items import ItemState, OfferOutcome, Outcome
from redisson_dq.scheduling.times import Delay
from redisson_dq.wire.keys import QueueKeys

__all__ = ["DelayedItem"]

T = TypeVar("T")


class DelayedItem(Bound, Generic[T]):
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

    @property
    def id(self) -> str:
        """The caller's id, or a generated one. ``cancel(id)`` and the like take it, in any process."""
        return self._state.id

    @property
    def state(self) -> ItemState:
        """Where it was when the call that gave it was answered. An item that has just been offered waits."""
        return self._state.state

    @property
    def attempts(self) -> int:
        """How often it had been delivered by then."""
        return self._state.attempts

    @property
    def due(self) -> datetime | None:
        """When it is due, in UTC, on the server's clock. None for an entry that has lost its due time."""
        return self._state.due

    @property
    def remaining(self) -> timedelta | None:
        """How long from now until it is due; below zero when that has passed. No round trip."""
        return self._state.remaining

    @property
    def value(self) -> T:
        """The value. Raises DecodeError (with the bytes, which stay in Redis) when the codec cannot read it."""
        return self._state.value

    @property
    def outcome(self) -> OfferOutcome | None:
        """The outcome of the offer; None for an item that was looked up."""
        return self._state.outcome

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
