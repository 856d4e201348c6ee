"""The delayed side of a queue as a collection: what waits, in the order in which it was offered."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from typing import TypeVar, overload

from redisson_dq._async.queues.handle import PAGE
from redisson_dq._async.queues.leasing_handle import Leasing
from redisson_dq.requests.checks import check_function
from redisson_dq.requests.delayed import DelayedRequests
from redisson_dq.requests.inner.delayed_side import DelayedSide

__all__ = ["WaitingQueue"]

T = TypeVar("T")


class WaitingQueue(Leasing[T]):
    """The calls of a :class:`DelayedQueue` that Redisson's queue has too, but for the offers."""

    requests: DelayedRequests[T]
    _side: DelayedSide[T]

    # -- taking, in the order of offers ------------------------------------------------------------------------------

    @overload
    async def poll(self) -> T | None: ...

    @overload
    async def poll(self, limit: int) -> list[T]: ...

    async def poll(self, limit: int | None = None) -> T | list[T] | None:
        """Takes the value that was offered first, or up to ``limit`` of them, before they are due.

        Gives None, or an empty list, when nothing waits. What the codec cannot read is kept in
        ``keys.undecodable``.

        :Redisson: ``RDelayedQueue.poll()``, ``RDelayedQueue.poll(int)``
        :Cost: O(k log n), k taken; one round trip
        :Guarantee: atomic, at most once
        """
        if limit is None:
            return await self._take(self.requests.poll())
        return await self._take(self.requests.poll(limit))

    async def element(self) -> T:
        """The value that was offered first; it stays. Raises QueueEmptyError when nothing waits.

        :Redisson: ``RDelayedQueue.element()``
        :Cost: O(1), or O(log n) of lean items; one round trip
        """
        return self._side.there(await self._run(self.requests.peek()))

    async def remove_head(self) -> T:
        """Takes the value that was offered first. Raises QueueEmptyError when nothing waits.

        :Redisson: ``RDelayedQueue.remove()``
        :Cost: O(log n); one round trip
        :Guarantee: atomic, at most once
        """
        return self._side.there(await self._take(self.requests.poll()))

    async def poll_last_and_offer_first_to(self, queue_name: str) -> T | None:
        """Takes the lean value that is due last, or else the value that was offered last. Puts it at the front of a
        ready queue and returns it, or None.

        On a cluster both need one hash tag; raises CrossSlotError. The name goes through the name mapper, which
        Redisson leaves out here.

        :Redisson: ``RDelayedQueue.pollLastAndOfferFirstTo(String)``
        :Cost: O(log n); one round trip
        :Guarantee: atomic: it is in one of the two queues at any time
        """
        return await self._run(self.requests.poll_last_and_offer_first_to(queue_name))

    # -- looking -----------------------------------------------------------------------------------------------------

    async def size(self) -> int:
        """How many values wait.

        :Redisson: ``RDelayedQueue.size()``
        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.size())

    async def is_empty(self) -> bool:
        """Whether nothing waits.

        :Redisson: ``RDelayedQueue.isEmpty()``
        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.is_empty())

    async def peek(self) -> T | None:
        """The value that was offered first, or None; it stays. Raises EnvelopeError for an entry of no known format.

        :Redisson: ``RDelayedQueue.peek()``
        :Cost: O(1), or O(log n) of lean items; one round trip
        """
        return await self._run(self.requests.peek())

    async def contains(self, value: T) -> bool:
        """Whether a value with equal bytes waits.

        :Redisson: ``RDelayedQueue.contains(Object)``
        :Cost: O(n); one round trip
        """
        return await self._run(self.requests.contains(value))

    async def contains_all(self, values: Iterable[T]) -> bool:
        """Whether each of the values waits; True for none.

        :Redisson: ``RDelayedQueue.containsAll(Collection)``
        :Cost: O(n + k), k values; one round trip
        :Guarantee: reads only, at one moment
        """
        return await self._run(self.requests.contains_all(values))

    async def read_all(self) -> list[T]:
        """Every waiting value in the order of the offers; they stay. Raises EnvelopeError like :meth:`peek`.

        :Redisson: ``RDelayedQueue.readAll()``
        :Cost: O(n), in one reply; one round trip
        """
        return await self._run(self.requests.read_all())

    async def __aiter__(self) -> AsyncIterator[T]:
        """Every waiting value in the order of the offers, read page by page: what comes or goes meanwhile may be
        missed or met twice.

        :Redisson: ``RDelayedQueue.iterator()``
        :Cost: O(n); one round trip for 100 values
        """
        start = 0
        while page := await self._run(self.requests.range(start, start + PAGE - 1)):
            for value in page:
                yield value
            start += len(page)

    # -- removing ----------------------------------------------------------------------------------------------------

    async def remove(self, value: T) -> bool:
        """Takes the first waiting value with equal bytes out for good; False when there is none.

        :meth:`cancel` does the same for one item by its id, without a scan.

        :Redisson: ``RDelayedQueue.remove(Object)``
        :Cost: O(n); one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.remove(value))

    async def remove_all(self, values: Iterable[T]) -> bool:
        """Takes every waiting value that equals one of these out for good; True if there was any.

        :Redisson: ``RDelayedQueue.removeAll(Collection)``
        :Cost: O(n + k log n), k taken out; one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.remove_all(values))

    async def remove_if(self, condition: Callable[[T], bool]) -> int:
        """Takes every waiting value out for which ``condition(value)`` is true; gives how many.

        The condition is asked here, of what waited when the call came. Then all copies of the values it was true for
        are taken out in one step, by their bytes. One that comes meanwhile stays unless it equals one of them.

        :Redisson: ``Collection.removeIf(Predicate)``
        :Cost: O(n + k log n), k taken out; two round trips
        :Guarantee: atomic in what it takes out
        """
        check_function(condition, self.name)
        found = await self._run(self._side.bytes_of(0, -1))
        chosen = self._side.chosen(found, self.keys.timeout, condition)
        return await self._run(self._side.remove_bytes(chosen)) if chosen else 0

    async def retain_all(self, values: Iterable[T]) -> bool:
        """Takes every waiting value that equals none of these out for good; True if there was any.

        Redisson takes them out of one of its two keys only, so they are delivered all the same; here they are gone.

        :Redisson: ``RDelayedQueue.retainAll(Collection)``
        :Cost: O(n + k log n), k taken out; one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.retain_all(values))

    async def clear(self) -> None:
        """Takes everything that waits out for good. A pause, the largest size and recurring offers stay.

        :Redisson: ``RDelayedQueue.clear()``
        :Cost: O(n); one round trip
        :Guarantee: atomic
        """
        await self._run(self.requests.clear())

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
    # sync:     return self.contains(value)  # type: ignore[arg-type]
