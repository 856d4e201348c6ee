"""A ready queue that is used at both ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TypeVar, overload

from redisson_dq._async.queues.blocking import BlockingQueue
from redisson_dq._async.queues.handle import PAGE
from redisson_dq._concurrency import AsyncCallback
from redisson_dq.calls.checks import limit_of
from redisson_dq.calls.ready import DequeRequests
from redisson_dq.scheduling.times import Delay

__all__ = ["BlockingDeque"]

T = TypeVar("T")


class BlockingDeque(BlockingQueue[T]):
    """A queue that is used at both ends. Made by ``client.blocking_deque(name)``.

    ``take()``, ``poll()``, ``peek()`` are those of the first end, ``add()``, ``offer()``, ``put()`` of the last.
    """

    requests: DequeRequests[T]

    # -- adding ------------------------------------------------------------------------------------------------------

    async def add_first(self, *values: T) -> int:
        """Puts values in front, one after the other, so that the last argument is the head; returns the new size.

        :Redisson: ``RDeque.addFirst(Object)``, ``RDeque.addFirst(Object...)``
        :Cost: O(k), k values; one round trip
        :Guarantee: atomic; never sent twice
        """
        return await self._run_adding(self.requests.add_first(*values), "add_first", len(values))

    async def add_last(self, *values: T) -> int:
        """Puts values at the end in their order; returns the new size.

        :Redisson: ``RDeque.addLast(Object)``, ``RDeque.addLast(Object...)``
        :Cost: O(k), k values; one round trip
        :Guarantee: atomic; never sent twice
        """
        return await self._run_adding(self.requests.add_last(*values), "add_last", len(values))

    async def add_first_if_exists(self, *values: T) -> int:
        """Like :meth:`add_first`; an empty deque stays empty, and 0 is returned.

        :Redisson: ``RDeque.addFirstIfExists(Object...)``
        :Cost: O(k), k values; one round trip
        :Guarantee: atomic; never sent twice
        """
        return await self._run_adding(self.requests.add_first_if_exists(*values), "add_first_if_exists", len(values))

    async def add_last_if_exists(self, *values: T) -> int:
        """Like :meth:`add_last`; an empty deque stays empty, and 0 is returned.

        :Redisson: ``RDeque.addLastIfExists(Object...)``
        :Cost: O(k), k values; one round trip
        :Guarantee: atomic; never sent twice
        """
        return await self._run_adding(self.requests.add_last_if_exists(*values), "add_last_if_exists", len(values))

    async def offer_first(self, value: T) -> bool:
        """Puts a value in front. Always True.

        :Redisson: ``RDeque.offerFirst(Object)``, ``RBlockingDeque.offerFirst(Object, long, TimeUnit)``
        :Cost: O(1); one round trip
        :Guarantee: never sent twice; may be in when no reply came
        """
        return await self._run_adding(self.requests.offer_first(value), "offer_first")

    async def offer_last(self, value: T) -> bool:
        """Puts a value at the end. Always True.

        :Redisson: ``RDeque.offerLast(Object)``, ``RBlockingDeque.offerLast(Object, long, TimeUnit)``
        :Cost: O(1); one round trip
        :Guarantee: never sent twice; may be in when no reply came
        """
        return await self._run_adding(self.requests.offer_last(value), "offer_last")

    async def put_first(self, value: T) -> None:
        """Puts a value in front.

        :Redisson: ``RBlockingDeque.putFirst(Object)``
        :Cost: O(1); one round trip
        :Guarantee: never sent twice; may be in when no reply came
        """
        await self._run_adding(self.requests.add_first(value), "put_first")

    async def put_last(self, value: T) -> None:
        """Puts a value at the end.

        :Redisson: ``RBlockingDeque.putLast(Object)``
        :Cost: O(1); one round trip
        :Guarantee: never sent twice; may be in when no reply came
        """
        await self._run_adding(self.requests.add_last(value), "put_last")

    async def push(self, value: T) -> None:
        """Puts a value in front.

        :Redisson: ``RDeque.push(Object)``
        :Cost: O(1); one round trip
        :Guarantee: never sent twice; may be in when no reply came
        """
        await self._run_adding(self.requests.add_first(value), "push")

    # -- taking ------------------------------------------------------------------------------------------------------

    async def take_first(self) -> T:
        """Takes the first value, as :meth:`take` does.

        :Redisson: ``RBlockingDeque.takeFirst()``
        :Cost: O(1); one command
        :Guarantee: at most once; nothing is lost by cancelling or closing
        """
        return await self._wait_for_one("first")

    async def take_last(self) -> T:
        """Waits for a value and takes the last one. Like :meth:`take`.

        :Redisson: ``RBlockingDeque.takeLast()``
        :Cost: O(1); one command
        :Guarantee: at most once; nothing is lost by cancelling or closing
        """
        return await self._wait_for_one("last")

    @overload
    async def poll_first(self, *, timeout: Delay | None = None) -> T | None: ...

    @overload
    async def poll_first(self, *, limit: int, timeout: Delay | None = None) -> list[T]: ...

    @overload
    async def poll_first(self, limit: int, /, *, timeout: Delay) -> list[T]: ...

    async def poll_first(
        self, *number: int, limit: int | None = None, timeout: Delay | None = None
    ) -> T | list[T] | None:
        """Takes the first value, as :meth:`poll` does.

        :Redisson: ``RDeque.pollFirst()``, ``RDeque.pollFirst(int)``, ``RBlockingDeque.pollFirst(long, TimeUnit)``
        :Cost: O(1) or O(limit); one round trip, two with both; a timeout that passes one more
        :Guarantee: at most once; a wait loses nothing by being cancelled or closed
        """
        return await self._poll("first", limit_of(number, limit, timeout, self.name), timeout)

    @overload
    async def poll_last(self, *, timeout: Delay | None = None) -> T | None: ...

    @overload
    async def poll_last(self, *, limit: int, timeout: Delay | None = None) -> list[T]: ...

    @overload
    async def poll_last(self, limit: int, /, *, timeout: Delay) -> list[T]: ...

    async def poll_last(
        self, *number: int, limit: int | None = None, timeout: Delay | None = None
    ) -> T | list[T] | None:
        """Like :meth:`poll`, at the last end: the last value comes first.

        :Redisson: ``RDeque.pollLast()``, ``RDeque.pollLast(int)``, ``RBlockingDeque.pollLast(long, TimeUnit)``
        :Cost: O(1) or O(limit); one round trip, two with both; a timeout that passes one more
        :Guarantee: at most once; a wait loses nothing by being cancelled or closed
        """
        return await self._poll("last", limit_of(number, limit, timeout, self.name), timeout)

    async def poll_first_from_any(self, *queue_names: str, timeout: Delay | None = None) -> T | None:
        """Takes from the first end, as :meth:`poll_from_any` does.

        :Redisson: ``RBlockingDeque.pollFirstFromAny(long, TimeUnit, String...)``
        :Cost: O(q), q queues; one round trip; q without a timeout
        :Guarantee: at most once; a wait loses nothing by being cancelled or closed
        """
        found = await self._poll_any("first", queue_names, timeout)
        return None if found is None else found[1]

    async def poll_last_from_any(self, *queue_names: str, timeout: Delay | None = None) -> T | None:
        """Like :meth:`poll_from_any`, at the last end.

        :Redisson: ``RBlockingDeque.pollLastFromAny(long, TimeUnit, String...)``
        :Cost: O(q), q queues; one round trip; q without a timeout
        :Guarantee: at most once; a wait loses nothing by being cancelled or closed
        """
        found = await self._poll_any("last", queue_names, timeout)
        return None if found is None else found[1]

    async def pop(self) -> T:
        """Takes the first value. Raises QueueEmptyError when there is none.

        :Redisson: ``RDeque.pop()``
        :Cost: O(1); one round trip
        :Guarantee: at most once
        """
        return await self.remove_head()

    async def remove_first(self) -> T:
        """Takes the first value. Raises QueueEmptyError when there is none.

        :Redisson: ``RDeque.removeFirst()``
        :Cost: O(1); one round trip
        :Guarantee: at most once
        """
        return await self.remove_head()

    async def remove_last(self) -> T:
        """Takes the last value. Raises QueueEmptyError when there is none.

        :Redisson: ``RDeque.removeLast()``
        :Cost: O(1); one round trip
        :Guarantee: at most once
        """
        return self._side.there(await self._run_taking(self.requests.poll_last()))

    # -- looking -----------------------------------------------------------------------------------------------------

    async def peek_first(self) -> T | None:
        """The first value, not taken, or None.

        :Redisson: ``RDeque.peekFirst()``
        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.peek_first())

    async def peek_last(self) -> T | None:
        """The last value, not taken, or None.

        :Redisson: ``RDeque.peekLast()``
        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.peek_last())

    async def get_first(self) -> T:
        """The first value, not taken. Raises QueueEmptyError when there is none.

        :Redisson: ``RDeque.getFirst()``
        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.get_first())

    async def get_last(self) -> T:
        """The last value, not taken. Raises QueueEmptyError when there is none.

        :Redisson: ``RDeque.getLast()``
        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.get_last())

    async def descending(self) -> AsyncIterator[T]:
        """Every value from the last to the first, none taken, read page by page like an iteration.

        :Redisson: ``RDeque.descendingIterator()``
        :Cost: O(n); one round trip for 100 values
        """
        stop = -1
        while page := await self.range(stop - PAGE + 1, stop):
            for value in reversed(page):
                yield value
            stop -= len(page)

    # sync: def __reversed__(self) -> Iterator[T]:
    # sync:     """Same as :meth:`descending`."""
    # sync:     return self.descending()

    # -- removing ----------------------------------------------------------------------------------------------------

    async def remove_first_occurrence(self, value: T) -> bool:
        """Removes the first value with equal bytes; False when there is none.

        :Redisson: ``RDeque.removeFirstOccurrence(Object)``
        :Cost: O(n); one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.remove_first_occurrence(value)) or await self._none_of([value])

    async def remove_last_occurrence(self, value: T) -> bool:
        """Removes the last value with equal bytes; False when there is none.

        :Redisson: ``RDeque.removeLastOccurrence(Object)``
        :Cost: O(n); one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.remove_last_occurrence(value)) or await self._none_of([value])

    # -- listening ---------------------------------------------------------------------------------------------------

    async def subscribe_on_first_elements(self, consumer: AsyncCallback[T]) -> int:
        """Calls ``consumer`` with each first value, as :meth:`subscribe_on_elements` does.

        :Redisson: ``RBlockingDeque.subscribeOnFirstElements(Consumer)``,
            ``RBlockingDeque.subscribeOnFirstElements(Function)``
        :Cost: one command for each value
        :Guarantee: at most once
        """
        return self._subscribe("first", consumer)

    async def subscribe_on_last_elements(self, consumer: AsyncCallback[T]) -> int:
        """Like :meth:`subscribe_on_elements`, at the last end.

        :Redisson: ``RBlockingDeque.subscribeOnLastElements(Consumer)``,
            ``RBlockingDeque.subscribeOnLastElements(Function)``
        :Cost: one command for each value
        :Guarantee: at most once
        """
        return self._subscribe("last", consumer)
