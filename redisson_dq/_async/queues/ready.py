"""The ready list of a queue: calls that add, look at and remove values, and none that waits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable
from typing import TypeVar

from redisson_dq._async.queues.collected import CollectedQueue
from redisson_dq._async.queues.handle import PAGE
from redisson_dq.calls.checks import check_condition
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.ready import QueueRequests, removed
from redisson_dq.scheduling.times import Delay, timeout_seconds
from redisson_dq.wire import commands

__all__ = ["ReadyQueue"]

T = TypeVar("T")

# How many values are read at a time where each is compared.
_PART = 1000


class ReadyQueue(CollectedQueue[T]):
    """The calls of a :class:`BlockingQueue` that are answered at once and take nothing."""

    requests: QueueRequests[T]
    _side: OpenQueue[T]

    # -- adding ------------------------------------------------------------------------------------------------------

    async def add(self, value: T) -> bool:
        """Puts a value at the end, ready at once. Always True.

        :Redisson: ``RQueue.add(Object)``
        :Cost: O(1); one round trip
        :Guarantee: never sent twice; may be in when no reply came
        """
        return await self._run_adding(self.requests.add(value), "add")

    async def add_all(self, values: Iterable[T]) -> bool:
        """Puts values at the end in their order; False, and nothing is sent, when there are none.

        :Redisson: ``RQueue.addAll(Collection)``
        :Cost: O(k), k values; one round trip
        :Guarantee: atomic; never sent twice
        """
        self._check()
        values = self._side.collected(values)
        return bool(values) and await self._run_adding(self.requests.add_all(values), "add_all", len(values))

    async def offer(self, value: T, timeout: Delay | None = None) -> bool:
        """Puts a value at the end. There is always room, so ``timeout`` (seconds or a timedelta) never passes.

        >>> await queue.offer("order-42")
        True

        :Redisson: ``RQueue.offer(Object)``, ``RBlockingQueue.offer(Object, long, TimeUnit)``
        :Cost: O(1); one round trip
        :Guarantee: never sent twice; may be in when no reply came
        """
        if timeout is not None:
            timeout_seconds(timeout, self.name)
        return await self._run_adding(self.requests.offer(value), "offer")

    async def put(self, value: T) -> None:
        """Puts a value at the end.

        :Redisson: ``RBlockingQueue.put(Object)``
        :Cost: O(1); one round trip
        :Guarantee: never sent twice; may be in when no reply came
        """
        await self._run_adding(self.requests.put(value), "put")

    # -- looking -----------------------------------------------------------------------------------------------------

    async def get(self, index: int) -> T | None:
        """The value at an index, from the end below zero; None where there is none.

        :Cost: O(index); one round trip
        """
        return await self._run(self.requests.get(index))

    async def index_of(self, value: T) -> int:
        """The index of the first value whose bytes are equal, or -1.

        :Redisson: ``RQueue.indexOf(Object)``
        :Cost: O(n); one round trip
        """
        place = await self._run(self.requests.index_of(value))
        if place < 0:
            await self._none_of([value])
        return place

    async def last_index_of(self, value: T) -> int:
        """The index of the last value whose bytes are equal, or -1.

        :Cost: O(n); one round trip
        """
        place = await self._run(self.requests.last_index_of(value))
        if place < 0:
            await self._none_of([value])
        return place

    async def contains(self, value: T) -> bool:
        """Whether a value with equal bytes is ready.

        Raises EncodeError for a value that was read from other bytes than it is written to.

        :Redisson: ``RQueue.contains(Object)``
        :Cost: O(n); one round trip
        """
        return await self._run(self.requests.contains(value)) or await self._none_of([value])

    async def contains_all(self, values: Iterable[T]) -> bool:
        """Whether each of the values is ready; True for none.

        :Redisson: ``RQueue.containsAll(Collection)``
        :Cost: O(n k), k values; one round trip
        :Guarantee: reads only, at one moment
        """
        values = self._side.collected(values)
        return await self._run(self.requests.contains_all(values)) or await self._none_of(values)

    async def range(self, start: int, stop: int) -> list[T]:
        """The ready values from index ``start`` to ``stop``, both included, from the end below zero.

        :Cost: O(start + k), k values; one round trip
        """
        return await self._run(self.requests.range(start, stop))

    async def __aiter__(self) -> AsyncIterator[T]:
        """Every ready value, none taken, read page by page: a value that comes or goes meanwhile may be missed or met
        twice.

        :Redisson: ``RQueue.iterator()``
        :Cost: O(n); one round trip for 100 values
        """
        start = 0
        while page := await self.range(start, start + PAGE - 1):
            for value in page:
                yield value
            start += len(page)

    async def read_undecodable(self, start: int = 0, stop: int = 99) -> list[bytes]:
        """Bytes that were taken and could not be decoded, oldest first, from index ``start`` to ``stop``.

        They stay in the list ``keys.undecodable`` until you remove them.

        :Cost: O(k), k elements; one round trip
        """
        return await self._run(self.requests.read_undecodable(start, stop))

    # -- removing ----------------------------------------------------------------------------------------------------

    async def remove(self, value: T, count: int = 1) -> bool:
        """Removes the first ``count`` values with equal bytes (the last ones below zero, all for 0); True if any.

        Raises EncodeError for a value that was read from other bytes than it is written to.

        :Redisson: ``RQueue.remove(Object)``
        :Cost: O(n); one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.remove(value, count)) or await self._none_of([value])

    async def remove_all(self, values: Iterable[T]) -> bool:
        """Removes every value that equals one of these; True if any was removed.

        Redisson answers False when some value was there more than once.

        :Redisson: ``RQueue.removeAll(Collection)``
        :Cost: O(n k), k values; one round trip
        :Guarantee: atomic
        """
        values = self._side.collected(values)
        removed = await self._run(self.requests.remove_all(values))
        return await (self._removed_some(values) if removed else self._none_of(values))

    async def remove_if(self, condition: Callable[[T], bool]) -> int:
        """Removes every value for which ``condition(value)`` is true; returns how many.

        The condition is evaluated here, for the values that were ready when the call came. Then all copies of the
        matching values are removed in one step, by their bytes. One that comes meanwhile stays unless it equals one of
        them.

        :Redisson: ``Collection.removeIf(Predicate)``
        :Cost: O(n), and O(n k) for k distinct values to remove; two round trips
        :Guarantee: the removal is atomic
        """
        check_condition(condition, self.name)
        found = await self._run(
            self._side.told_if_long(commands.slice_of(self.keys.ready), "remove_all() or remove_if()")
        )
        chosen = self._side.chosen(found, self.keys.ready, condition)
        return await self._run(removed(self._side, chosen)) if chosen else 0

    async def retain_all(self, values: Iterable[T]) -> bool:
        """Removes every value that equals none of these; True if any was removed.

        :Redisson: ``RQueue.retainAll(Collection)``
        :Cost: O(n); one round trip
        :Guarantee: atomic
        """
        values = self._side.collected(values)
        request = self.requests.retain_all(values)
        await self._none_of(values, before=True)
        return await self._run(request)

    async def trim(self, start: int, stop: int) -> None:
        """Keeps the values from index ``start`` to ``stop``, both included, and removes all others.

        :Cost: O(k), k removed; one round trip
        :Guarantee: atomic
        """
        await self._run(self.requests.trim(start, stop))

    async def _missing(self, data: Collection[bytes]) -> list[bytes]:
        looked = list(data)
        met = await self._run(self._side.found(looked))
        return [each for index, each in enumerate(looked) if index not in met]

    async def _bytes(self) -> AsyncIterator[list[bytes]]:
        start = 0
        while part := await self._run(commands.slice_of(self.keys.ready, start, start + _PART - 1)):
            yield part
            start += len(part)

    # sync: def __getitem__(self, index: int) -> T:
    # sync:     """Like :meth:`get`; raises IndexError where there is no value."""
    # sync:     found = self.range(index, index)
    # sync:     if not found:
    # sync:         raise IndexError(f"queue {self.name!r}: there is no value at index {index}")
    # sync:     return found[0]
