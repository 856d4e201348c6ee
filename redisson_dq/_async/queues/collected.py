"""A side of a queue as a collection of values: the calls that the ready side and the waiting side have in common."""

from __future__ import annotations

from typing import TypeVar

from redisson_dq._async.queues.handle import Handle
from redisson_dq.calls.delayed import DelayedRequests
from redisson_dq.calls.ready import QueueRequests

__all__ = ["CollectedQueue"]

T = TypeVar("T")


class CollectedQueue(Handle[T]):
    """The ready values of a :class:`BlockingQueue`, or the waiting ones of a :class:`DelayedQueue`.

    The head is the value that is ready for the longest time, or that was offered first.
    """

    requests: QueueRequests[T] | DelayedRequests[T]

    async def size(self) -> int:
        """How many values there are.

        :Redisson: ``RQueue.size()``, ``RDelayedQueue.size()``
        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.size())

    async def is_empty(self) -> bool:
        """Whether there is no value.

        :Redisson: ``RQueue.isEmpty()``, ``RDelayedQueue.isEmpty()``
        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.is_empty())

    async def peek(self) -> T | None:
        """The head, not taken, or None. Raises EnvelopeError for an entry of no known format.

        :Redisson: ``RQueue.peek()``, ``RDelayedQueue.peek()``
        :Cost: O(1), or O(log n) of lean items; one round trip
        """
        return await self._run(self.requests.peek())

    async def element(self) -> T:
        """The head, not taken. Raises QueueEmptyError when there is none.

        :Redisson: ``RQueue.element()``, ``RDelayedQueue.element()``
        :Cost: O(1), or O(log n) of lean items; one round trip
        """
        return self._side.there(await self._run(self.requests.peek()))

    async def remove_head(self) -> T:
        """Takes the head. Raises QueueEmptyError when there is none.

        :Redisson: ``RQueue.remove()``, ``RDelayedQueue.remove()``
        :Cost: O(1), or O(log n) of a waiting value; one round trip
        :Guarantee: atomic, at most once
        """
        return self._side.there(await self._run_taking(self.requests.poll()))

    async def read_all(self) -> list[T]:
        """Every value in its order, none taken. Raises EnvelopeError like :meth:`peek`.

        :Redisson: ``RQueue.readAll()``, ``RDelayedQueue.readAll()``
        :Cost: O(n), in one reply; one round trip
        """
        return await self._run(self.requests.read_all())

    # sync: def __len__(self) -> int:
    # sync:     """Same as :meth:`size`."""
    # sync:     return self.size()
    # sync:
    # sync: def __bool__(self) -> bool:
    # sync:     """A handle is true, also when its queue is empty."""
    # sync:     return True
    # sync:
    # sync: def __contains__(self, value: object) -> bool:
    # sync:     """Same as :meth:`contains`."""
    # sync:     return self.contains(value)  # type: ignore[attr-defined,no-any-return]
