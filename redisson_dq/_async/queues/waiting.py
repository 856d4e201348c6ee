"""The waiting side of a queue as a collection: items in the order in which they were offered."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable
from typing import TypeVar, overload

from redisson_dq._async.queues.collected import CollectedQueue
from redisson_dq._async.queues.handle import PAGE
from redisson_dq.calls import walks
from redisson_dq.calls.checks import check_condition
from redisson_dq.calls.delayed import DelayedRequests, waiting_values
from redisson_dq.calls.walks import Walk
from redisson_dq.wire.envelope import unwrap

__all__ = ["WaitingQueue"]

T = TypeVar("T")
U = TypeVar("U")
V = TypeVar("V")


class WaitingQueue(CollectedQueue[T]):
    """The calls of a :class:`DelayedQueue` that Redisson's queue has too, but for the offers."""

    requests: DelayedRequests[T]

    # -- taking, in the order of offers ------------------------------------------------------------------------------

    @overload
    async def poll(self) -> T | None: ...

    @overload
    async def poll(self, limit: int) -> list[T]: ...

    async def poll(self, limit: int | None = None) -> T | list[T] | None:
        """Takes the value that was offered first, or up to ``limit`` of them, before they are due.

        Returns None, or an empty list, when nothing waits. Bytes that the codec cannot read are put into
        ``keys.undecodable``.

        :Redisson: ``RDelayedQueue.poll()``, ``RDelayedQueue.poll(int)``
        :Cost: O(k log n), k taken; one round trip
        :Guarantee: atomic, at most once
        """
        if limit is None:
            return await self._run_taking(self.requests.poll())
        return await self._run_taking(self.requests.poll(limit), many=True)

    async def poll_last_and_offer_first_to(self, queue_name: str) -> T | None:
        """Moves the value that was offered last to the front of a ready queue and returns it; None if nothing waits.

        If lean values wait, it moves the one of them that is due last. On a cluster both queues need one hash tag;
        raises CrossSlotError. The name goes through the name mapper, which Redisson leaves out here.

        :Redisson: ``RDelayedQueue.pollLastAndOfferFirstTo(String)``
        :Cost: O(log n); one round trip
        :Guarantee: atomic: it is in one of the two queues at any time
        """
        return await self._run(self.requests.poll_last_and_offer_first_to(queue_name))

    # -- looking -----------------------------------------------------------------------------------------------------

    async def contains(self, value: T) -> bool:
        """Whether a value with equal bytes waits.

        :Redisson: ``RDelayedQueue.contains(Object)``
        :Cost: O(n); one round trip for some 10,000 waiting values
        :Guarantee: reads only; a value is missed if it is rescheduled, or was offered, after the first round trip
        """
        found = await self._walk(walks.contained(self.keys, [self._side.encode_sought(value)]))
        return found or await self._none_of([value])

    async def contains_all(self, values: Iterable[T]) -> bool:
        """Whether each of the values waits; True for none.

        :Redisson: ``RDelayedQueue.containsAll(Collection)``
        :Cost: O(n + k), k values; one round trip for some 10,000 waiting values
        :Guarantee: reads only, at one moment if one round trip is enough, else like :meth:`contains`
        """
        values = self._side.collected(values)
        found = await self._walk(walks.contained(self.keys, self._side.encode_all_sought(values)))
        return found or await self._none_of(values)

    async def __aiter__(self) -> AsyncIterator[T]:
        """Every waiting value in the order of the offers, read page by page. An item that comes or goes
        meanwhile may be missed or met twice.

        :Redisson: ``RDelayedQueue.iterator()``
        :Cost: O(n); one round trip for 100 values or 1 MB
        """
        start = 0
        while page := await self._run(waiting_values(self._side, start, start + PAGE - 1, part=True)):
            for value in page:
                yield value
            start += len(page)

    # -- removing ----------------------------------------------------------------------------------------------------

    async def remove(self, value: T) -> bool:
        """Removes the first waiting value with equal bytes for good; False if there is none.

        :meth:`cancel` does the same for one item by its id, without a scan.

        :Redisson: ``RDelayedQueue.remove(Object)``
        :Cost: O(n); one round trip for some 10,000 waiting values
        :Guarantee: atomic; it may miss items that are offered or rescheduled after the first round trip
        """
        count = await self._removal("first", [self._side.encode_sought(value)])
        return count > 0 or await self._none_of([value])

    async def remove_all(self, values: Iterable[T]) -> bool:
        """Removes every waiting value that equals one of these for good; True if there was any.

        :Redisson: ``RDelayedQueue.removeAll(Collection)``
        :Cost: O(n + k log n), k taken out; one round trip for some 10,000 waiting values, or 400 taken out
        :Guarantee: each round trip is atomic. An item that is offered after the first one stays. After an error,
            removed items stay out
        """
        values = self._side.collected(values)
        count = await self._removal("all", self._side.encode_all_sought(values))
        return await (self._removed_some(values) if count else self._none_of(values))

    async def remove_if(self, condition: Callable[[T], bool]) -> int:
        """Removes every waiting value for which ``condition(value)`` is true; returns how many.

        The condition is evaluated here, for the items that waited when the call came. Then all copies of the matching
        values are removed by their bytes. One that comes meanwhile stays unless it equals one of them.

        :Redisson: ``Collection.removeIf(Predicate)``
        :Cost: O(n + k log n), k taken out; two round trips for some 10,000 waiting values
        :Guarantee: like :meth:`remove_all`
        """
        check_condition(condition, self.name)
        members = await self._walk(walks.waiting(self.keys))
        chosen = self._side.chosen([unwrap(member)[1] for member in members], self.keys.timeout, condition)
        return await self._removal("all", chosen) if chosen else 0

    async def retain_all(self, values: Iterable[T]) -> bool:
        """Removes every waiting value that equals none of these for good; True if there was any.

        Redisson takes them out of one of its two keys only, so they are delivered all the same; here they are gone.

        :Redisson: ``RDelayedQueue.retainAll(Collection)``
        :Cost: O(n + k log n), k taken out; one round trip for some 10,000 waiting values, or 400 taken out
        :Guarantee: like :meth:`remove_all`
        """
        values = self._side.collected(values)
        kept = self._side.encode_all_sought(values)
        await self._none_of(values, before=True)
        return await self._removal("others", kept) > 0

    async def _missing(self, data: Collection[bytes]) -> list[bytes]:
        return await self._walk(walks.missing(self.keys, data))

    async def _bytes(self) -> AsyncIterator[list[bytes]]:
        yield [unwrap(member)[1] for member in await self._walk(walks.waiting(self.keys))]

    async def _removal(self, which: str, values: list[bytes]) -> int:
        """Removes the entries in a walk of short calls. Returns how many it removed."""
        return await self._walk(walks.removed(self.keys, which, values, self._side.options.remember_ms))

    async def _walk(self, walk: Walk[U, V]) -> V:
        return await self._walk_on(self, walk)
