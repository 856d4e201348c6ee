"""A ready queue with a capacity, which Java shares as RBoundedBlockingQueue."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from .._pairs import AsyncMutex, AsyncSlot, async_finish
from .._times import Delay, timeout_seconds
from ..codecs.base import Codec
from ..errors import ClosedError, RedissonDQError
from ..requests.ready import BoundedRequests
from ..wire.blocking import Move, Source, Taken
from ..wire.keys import QueueKeys
from .connections import Connections
from .ready import BlockingQueue
from .subscription import Subscription

if TYPE_CHECKING:
    from .client import Client

__all__ = ["BoundedBlockingQueue", "Room"]

logger = logging.getLogger("redisson_dq")

T = TypeVar("T")


class Room:
    """Callers that wait for room in bounded queues. Every release is announced on the queue's channel."""

    def __init__(self, connections: Connections) -> None:
        self._mutex = AsyncMutex()
        self._waiting: dict[str, list[AsyncSlot[None]]] = {}
        self._closed = False
        self._subscription = Subscription(connections, self.wake, lambda channel, body: self.wake(channel))

    async def enter(self, channel: str) -> AsyncSlot[None]:
        """Joins those who wait. The slot is filled at the next release, and when the subscription is confirmed.

        Raises ClosedError when the client is closed.
        """
        slot: AsyncSlot[None] = AsyncSlot()
        with self._mutex:
            if self._closed:
                raise ClosedError("the client was closed while a value waited for room")
            is_new = channel not in self._waiting
            self._waiting.setdefault(channel, []).append(slot)
        if is_new:
            await self._subscription.add(channel)
        return slot

    def leave(self, channel: str, slot: AsyncSlot[None]) -> None:
        """The channel stays subscribed: who waited once waits again."""
        with self._mutex:
            if slot in self._waiting[channel]:
                self._waiting[channel].remove(slot)

    async def aclose(self) -> None:
        """Ends every wait with ClosedError."""
        with self._mutex:
            self._closed = True
            channels = list(self._waiting)
        for channel in channels:
            self.wake(channel)
        await self._subscription.aclose()

    def wake(self, channel: str) -> None:
        """Lets everybody who waits there look again."""
        with self._mutex:
            waiting = self._waiting.get(channel, [])
            while waiting:
                waiting.pop().fill(None)


class BoundedBlockingQueue(BlockingQueue[T]):
    """A queue that holds no more values than its capacity. Made by ``client.bounded_blocking_queue(name)``.

    The capacity is set once with :meth:`try_set_capacity`, by Java or here, and counted in one key that both share.
    Whatever is taken makes room. After ``take()`` and ``poll(timeout=)`` that is a second command, as in Redisson: a
    process that dies between the two leaves the queue one smaller. What a delayed queue delivers here takes no room,
    and makes some when it is taken.

    >>> bounded = client.bounded_blocking_queue("orders")
    >>> await bounded.try_set_capacity(2)
    True
    >>> await bounded.add_all(["a", "b"]), await bounded.offer("c")
    (True, False)
    >>> await bounded.poll(), await bounded.remaining_capacity()
    ('a', 1)
    """

    requests: BoundedRequests[T]

    def __init__(self, client: Client, keys: QueueKeys, name: str, codec: Codec, transfer: bool) -> None:
        super().__init__(client, keys, name, codec, transfer, BoundedRequests)

    async def try_set_capacity(self, capacity: int) -> bool:
        """Says how many values the queue may hold; False when that was said before. Nothing changes then.

        :Redisson: ``RBoundedBlockingQueue.trySetCapacity(int)``
        :Cost: O(1); one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.try_set_capacity(capacity))

    async def remaining_capacity(self) -> int:
        """How many more values there is room for; 0 while no capacity is set.

        :Redisson: ``RBoundedBlockingQueue.remainingCapacity()``
        :Cost: O(1); one round trip
        :Guarantee: reads only
        """
        return await self._run(self.requests.remaining_capacity())

    async def add(self, value: T) -> bool:
        """Puts a value at the end. Raises QueueFullError, RedisReplyError while no capacity is set.

        :Redisson: ``RBoundedBlockingQueue.add(Object)``
        :Cost: O(1); one round trip
        :Guarantee: atomic; never sent twice
        """
        return await self._run(self.requests.add(value))

    async def add_all(self, values: Iterable[T]) -> bool:
        """Puts values at the end in their order; False, and none is in, when there is no room for all.

        :Redisson: ``RBoundedBlockingQueue.addAll(Collection)``
        :Cost: O(k), k values; one round trip
        :Guarantee: atomic; never sent twice
        """
        return await super().add_all(values)

    async def offer(self, value: T, timeout: Delay | None = None) -> bool:
        """Puts a value at the end; False when there was no room, at once or within ``timeout``.

        :Redisson: ``RBoundedBlockingQueue.offer(Object)``, ``RBoundedBlockingQueue.offer(Object, long, TimeUnit)``
        :Cost: O(1); one round trip, one more for each release it hears of
        :Guarantee: atomic; never sent twice
        """
        if timeout is None:
            return await self._run(self.requests.offer(value))
        return await self._offer_within(value, timeout_seconds(timeout, self.name))

    async def put(self, value: T) -> None:
        """Puts a value at the end, as soon as there is room.

        :Redisson: ``RBoundedBlockingQueue.put(Object)``
        :Cost: O(1); one round trip, one more for each release it hears of
        :Guarantee: atomic; never sent twice
        """
        await self._offer_within(value, None)

    async def remove(self, value: T, count: int = 0) -> bool:
        """Removes all values with equal bytes, as Redisson does here, and makes room for them; True if any.

        Raises ArgumentError for another ``count`` than 0. Redisson answers False when the value was there twice.

        :Redisson: ``RBoundedBlockingQueue.remove(Object)``
        :Cost: O(n); one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.remove(value, count))

    async def _offer_within(self, value: T, timeout: float | None) -> bool:
        # Before Python 3.12 a send may swallow a cancellation; this wait would go on then.
        if await async_finish(self._run(self.requests.offer(value))):
            return True
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            # Anew each time, as the queue may be renamed meanwhile.
            channel, request = self.keys.capacity_channel, self.requests.offer(value)
            # First in line, then another look: a release in between is not missed.
            slot = await self._client._room.enter(channel)
            try:
                if await async_finish(self._run(request)):
                    return True
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return False
                await slot.wait(left)
            finally:
                self._client._room.leave(channel, slot)

    def _left(self, old: QueueKeys) -> None:
        super()._left(old)
        self._client._room.wake(old.capacity_channel)

    async def _took(self, source: Source, taken: list[Taken]) -> None:
        stays = isinstance(source, Move) and source.destination == self.keys.ready
        if stays or taken[0].key != self.keys.ready:
            return
        try:
            await async_finish(self._connections.run(self.requests.release(len(taken))))
        except RedissonDQError as error:
            # As in Redisson: who waited for the value gets it.
            logger.warning("queue %r: %d values were taken, and no room was made: %s", self.name, len(taken), error)
        except BaseException:
            # Cancelled or interrupted: nobody gets the values, so they go back into their room.
            await async_finish(self._give_back(source, taken))
            raise

    async def _give_back(self, source: Source, taken: list[Taken]) -> None:
        for _, values, request in source.put_back(taken):
            await self._connections.run(self.requests.release(-len(values)))
            await self._connections.run(request)
