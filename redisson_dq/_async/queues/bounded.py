"""A ready queue with a capacity, which Java shares as RBoundedBlockingQueue."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeVar

from redis.exceptions import BusyLoadingError, ResponseError

from redisson_dq._async.queues.blocking import BlockingQueue
from redisson_dq._async.receiving.receiver import time_left
from redisson_dq._concurrency import async_finish
from redisson_dq._redis import passes
from redisson_dq.calls.ready import BoundedRequests
from redisson_dq.errors import RedissonDQError, ServerFullError
from redisson_dq.observing.operations import OperationKind
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.scheduling.times import Delay, timeout_seconds
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["BoundedBlockingQueue"]

T = TypeVar("T")

# Pause between the tries while Redis refuses for a reason that passes.
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0


class BoundedBlockingQueue(BlockingQueue[T]):
    """A queue that holds no more values than its capacity. Made by ``client.bounded_blocking_queue(name)``.

    The capacity is set once with :meth:`try_set_capacity`, by Java or here, and counted in one key that both share.
    Whatever is taken makes room. After ``take()`` and ``poll(timeout=)`` that is a second command, as in Redisson: a
    process that dies between the two leaves the queue one smaller. A value that a delayed queue delivers here takes no
    room, and makes some when it is taken.

    >>> bounded = client.bounded_blocking_queue("orders")
    >>> await bounded.try_set_capacity(2)
    True
    >>> await bounded.add_all(["a", "b"]), await bounded.offer("c")
    (True, False)
    >>> await bounded.poll(), await bounded.remaining_capacity()
    ('a', 1)
    """

    requests: BoundedRequests[T]

    async def try_set_capacity(self, capacity: int) -> bool:
        """Sets how many values the queue may hold; False if a capacity was set before, which then stays as it is.

        Call it at the start of a program even where Java sets the capacity, with the same number. Otherwise room that
        was lost with a reply never comes back, as only the room that is left is stored.

        :Redisson: ``RBoundedBlockingQueue.trySetCapacity(int)``
        :Cost: O(1); one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.try_set_capacity(capacity))

    async def remaining_capacity(self) -> int:
        """How many more values there is room for; 0 while no capacity is set.

        :Redisson: ``RBoundedBlockingQueue.remainingCapacity()``
        :Cost: O(1); one round trip
        """
        return await self._run(self.requests.remaining_capacity())

    async def add(self, value: T) -> bool:
        """Puts a value at the end. Raises QueueFullError, RedisReplyError while no capacity is set.

        :Redisson: ``RBoundedBlockingQueue.add(Object)``
        :Cost: O(1); one round trip
        :Guarantee: atomic; never sent twice
        """
        return await self._run_adding(self.requests.add(value), "add")

    async def add_all(self, values: Iterable[T]) -> bool:
        """Puts values at the end in their order; False, and none is added, when there is no room for all.

        :Redisson: ``RBoundedBlockingQueue.addAll(Collection)``
        :Cost: O(k), k values; one round trip
        :Guarantee: atomic; never sent twice
        """
        return await super().add_all(values)

    async def offer(self, value: T, timeout: Delay | None = None) -> bool:
        """Puts a value at the end; False when there was no room, at once or within ``timeout``.

        :Redisson: ``RBoundedBlockingQueue.offer(Object)``, ``RBoundedBlockingQueue.offer(Object, long, TimeUnit)``
        :Cost: O(1); one round trip, one more for each release that is announced meanwhile
        :Guarantee: atomic; never sent twice
        """
        if timeout is None:
            return await self._run_adding(self.requests.offer(value), "offer")
        seconds = timeout_seconds(timeout, self.name)
        with self._runtime.operations.around(OperationKind.SEND, "offer", self.name):
            return await self._offer_within(value, seconds)

    async def put(self, value: T) -> None:
        """Puts a value at the end, as soon as there is room.

        :Redisson: ``RBoundedBlockingQueue.put(Object)``
        :Cost: O(1); one round trip, one more for each release that is announced meanwhile
        :Guarantee: atomic; never sent twice
        """
        with self._runtime.operations.around(OperationKind.SEND, "put", self.name):
            await self._offer_within(value, None)

    async def remove(self, value: T, count: int = 0) -> bool:
        """Removes all values with equal bytes, as Redisson does here, and makes room for them; True if any.

        Raises ArgumentError for another ``count`` than 0. Redisson answers False when the value was there twice.

        :Redisson: ``RBoundedBlockingQueue.remove(Object)``
        :Cost: O(n); one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.remove(value, count)) or await self._none_of([value])

    async def _offer_within(self, value: T, timeout: float | None) -> bool:
        deadline = math.inf if timeout is None else self._runtime.clock.monotonic() + timeout
        pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        if await self._offer_by(deadline, self.requests.offer(value)) is True:
            return True
        while True:
            # Made again each time, as the queue may be renamed meanwhile.
            keys, request = self.keys, self.requests.offer(value)
            # It joins the line first, then tries again. So a release in between is not missed.
            released = await self._runtime.capacity_waiters.enter(keys)
            try:
                done = await self._offer_by(deadline, request)
                if done is True:
                    return True
                left = deadline - self._runtime.clock.monotonic()
                if isinstance(done, RedissonDQError):
                    if left <= 0:
                        raise done
                    await released.wait(min(left, pauses.next()))
                    continue
                if left <= 0:
                    return False
                # A release may go unheard: the right to publish or to subscribe is missing, or a message is lost.
                await released.wait(min(left, self._runtime.options.tuning.probe_interval))
            finally:
                self._runtime.capacity_waiters.leave(keys.capacity_channel, released)

    async def _offer_by(self, deadline: float, request: Request[bool]) -> bool | RedissonDQError:
        """Whether the value is in. Returns the error where Redis refuses it for a reason that passes.

        Raises RedisConnectionError when Redis has not answered by then, a moment of the client's clock.
        """
        try:
            self._check()
            if deadline == math.inf:
                # Before Python 3.12 a send may swallow a cancellation; this wait would go on then.
                return await async_finish(self._run(request))
            name = f"redisson_dq-offer-{self.name}"
            return await self._runtime.receivers.answered(request, time_left(deadline, self._runtime.clock), name)
        except RedissonDQError as error:
            is_refused = isinstance(error.__cause__, (ResponseError, BusyLoadingError)) and passes(error)
            # A full server refuses an offer for good, as it does every other one.
            if not is_refused or isinstance(error, ServerFullError) or getattr(error, "maybe_done", False):
                raise
            return error

    def _left(self, old: QueueKeys) -> None:
        super()._left(old)
        self._runtime.capacity_waiters.wake(old.capacity_channel)
