"""The ready side of a queue in partitions."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast, overload

from redisson_dq._async.queues.blocking import BlockingQueue
from redisson_dq._async.queues.partitioned_leasing import PartitionedLeasingQueue
from redisson_dq._async.queues.wait_loop import TakenValues, TakingForEver, WaitLoop, all_of, first_of
from redisson_dq._async.receiving.listeners import Listeners
from redisson_dq._async.receiving.receiver import Receiver
from redisson_dq._async.runtime import Runtime
from redisson_dq._concurrency import AsyncCallback, AsyncCancelled, async_check_callback, async_finish_or_undo
from redisson_dq.calls.checks import check_count, check_function, limit_of
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.partitioned import PartitionedQueueRequests, shares_of
from redisson_dq.calls.routing import Routing
from redisson_dq.errors import DecodeError, RedissonDQError
from redisson_dq.scheduling.times import Delay, timeout_seconds
from redisson_dq.waits.line import Lifeline
from redisson_dq.wire import commands
from redisson_dq.wire.blocking import Pop, RoundRobin, Taken, put_back

__all__ = ["PartitionedBlockingQueue"]

logger = logging.getLogger("redisson_dq")

# Pause between two tries to put back values whose caller is gone.
_PUT_BACK_PAUSES = (0.01, 0.05, 0.2, 0.5)

T = TypeVar("T")
U = TypeVar("U")


class PartitionedBlockingQueue(TakingForEver[T], PartitionedLeasingQueue[T]):
    """A queue over many partitions that consumers take from. Made by ``client.blocking_queue(name, partitions=16)``.

    Values are taken from all partitions, of each in its order, and none has to wait for another to be empty. However
    many callers wait, a client has one blocking connection for each partition. Taking has the guarantees and the errors
    of :class:`BlockingQueue`. A call that only looks sees each partition at a moment of its own.
    """

    #: Calls as requests that are not sent, each to one partition, for a :class:`Pipeline`.
    requests: PartitionedQueueRequests[T]

    def __init__(
        self, runtime: Runtime, name: str, partitions: tuple[BlockingQueue[T], ...], sides: Sequence[OpenQueue[T]]
    ) -> None:
        """``sides`` are those of the partitions."""
        routing = Routing(len(partitions))
        super().__init__(runtime, name, partitions, sides, routing)
        self.requests = PartitionedQueueRequests([each.requests for each in partitions], routing)
        # By the key of the partition's list.
        self._values = {side.keys.ready: TakenValues(runtime.connections, side) for side in sides}
        self._all = RoundRobin(tuple(Pop((key,), "first") for key in self._values))
        self._waits = WaitLoop(runtime, self, self._decoded)
        self._listeners = Listeners(self, runtime.receivers, self._decoded, runtime.listeners)

    # -- adding ------------------------------------------------------------------------------------------------------

    async def add(self, value: T, key: str | None = None) -> bool:
        """Puts a value at the end of the key's partition, or of the next one, ready at once. Always True.

        :Cost: O(1); one round trip
        :Guarantee: never sent twice; may be in when no reply came
        """
        return await self.partitions[self._routing.of_key_or_next(key)].add(value)

    async def offer(self, value: T, key: str | None = None) -> bool:
        """Adds a value, as :meth:`add` does.

        :Cost: O(1); one round trip
        :Guarantee: never sent twice; may be in when no reply came
        """
        return await self.add(value, key)

    # -- taking ------------------------------------------------------------------------------------------------------

    async def take(self) -> T:
        """Waits for the next value of any partition and takes it.

        Goes on waiting when a connection breaks, and takes from the other partitions meanwhile. Raises ClosedError when
        the client or the last handle of a partition is closed.

        :Cost: O(p), p partitions, for a look at all of them, which callers share and which serves until its values
            are taken; then O(1). One or two commands to each node, or while all are empty one blocking pop of each
        :Guarantee: at most once; nothing is lost by cancelling or closing
        """
        # Without a timeout there is always a value.
        return await self._waits.run(self._receiver, None, 1, first_of, cast("T", None))

    @overload
    async def poll(self, *, timeout: Delay | None = None) -> T | None: ...

    @overload
    async def poll(self, *, limit: int, timeout: Delay | None = None) -> list[T]: ...

    @overload
    async def poll(self, limit: int, /, *, timeout: Delay) -> list[T]: ...

    async def poll(self, *number: int, limit: int | None = None, timeout: Delay | None = None) -> T | list[T] | None:
        """Takes a value, or up to ``limit`` values, of any partitions: at once, or within ``timeout``.

        ``timeout`` is seconds or a timedelta. Returns None, or an empty list, when there is nothing. The values of
        several partitions are taken in even shares.
        When Redis fails for one of them, the values of the others are returned, and the failure is logged. It is raised
        when they have none. A timeout of a few milliseconds may be over before all have been asked.

        :Cost: O(p + limit), p partitions; at once: one round trip for each node, one more when there is something;
            waiting: like :meth:`take`
        :Guarantee: at most once; nothing is lost by cancelling or closing
        """
        limit = limit_of(number, limit, timeout, self.name)
        wanted = 1 if limit is None else check_count(limit, self.name)
        seconds = 0.0 if timeout is None else timeout_seconds(timeout, self.name)
        if not seconds:
            found = await self._take_at_once(wanted)
            return found if limit is not None else found[0] if found else None
        # The call makes no look of its own while the receiver's pops are still blocked. A pop may have taken a value
        # that it puts back. A look would return later values before that one.
        if limit is None:
            return await self._waits.run(self._receiver, seconds, 1, first_of, None)
        none: list[T] = []
        return await self._waits.run(self._receiver, seconds, wanted, all_of, none)

    # -- listening ---------------------------------------------------------------------------------------------------

    async def subscribe_on_elements(self, consumer: AsyncCallback[T]) -> int:
        """Takes values as they come and calls ``consumer(value)`` with each, one after the other.

        Otherwise like :meth:`BlockingQueue.subscribe_on_elements`. Returns an id for :meth:`unsubscribe`.

        :Cost: one command for each value
        :Guarantee: at most once
        """
        checked = check_function(consumer, self.name)
        async_check_callback(consumer, f"queue {self.name!r}")
        self._begin_taking()
        return self._listeners.add(lambda: self._all, checked)

    # -- removing ----------------------------------------------------------------------------------------------------

    async def clear(self) -> None:
        """Removes every ready value, in all partitions.

        :Cost: O(n); one round trip for each node
        :Guarantee: atomic in each partition; may safely be repeated
        """
        await self._ask(lambda partition: partition.requests.clear())

    async def destroy(self) -> None:
        """Ends this handle's subscriptions and closes the handles of all partitions; the data stays.

        May be called twice. With the last open handle of a partition a ``take()`` that still waits raises ClosedError.

        :Cost: none; one round trip for each blocked pop that has to end
        :Guarantee: no data changes
        """
        await self._listeners.end_all()
        await super().destroy()

    # -- inside ------------------------------------------------------------------------------------------------------

    async def _sizes(self) -> list[int]:
        return await self._ask(lambda partition: partition.requests.size())

    def _receiver(self) -> Receiver:
        self._begin_taking()
        return self._runtime.receivers.of(self._all)

    async def _decoded(
        self, taken: list[Taken], receiver: Receiver, lifeline: Lifeline, deadline: float | None = None
    ) -> list[T]:
        """The values, without those that the client skips. Raises one error for all others."""
        return await self._sorted_out(taken, lambda values, some: values.received(some, receiver, lifeline, deadline))

    async def _popped(self, taken: list[Taken]) -> list[T]:
        """Like :meth:`_decoded`, of values that nobody else holds."""
        return await self._sorted_out(taken, lambda values, some: values.popped(some))

    async def _sorted_out(self, taken: Sequence[Taken], read: Callable[[TakenValues[T], list[Taken]], Any]) -> list[T]:
        """Decodes the values of each partition. Raises one error for all unreadable values, with the readable ones."""
        values: list[T] = []
        failed: DecodeError | None = None
        for key, group in itertools.groupby(taken, key=lambda each: each.key):
            try:
                values += await read(self._values[key], list(group))
            except DecodeError as error:
                values += error.decoded
                if failed is None:
                    failed = error
                else:
                    failed.undecodable += error.undecodable
        if failed is not None:
            failed.decoded = values
            raise failed
        return values

    async def _take_at_once(self, limit: int) -> list[T]:
        """Takes ready values at once, in even shares. A caller that is cancelled leaves them there."""
        self._begin_taking()
        with self._runtime.operations.receiving("poll", self.name, count=None if limit == 1 else 0) as receipt:
            while taken := await async_finish_or_undo(self._takeshares(limit), self._put_back):
                values = await self._popped(taken)
                # Otherwise no value that was taken could be read.
                if values:
                    receipt.took(len(values))
                    return values
            return []

    async def _takeshares(self, limit: int) -> list[Taken]:
        while True:
            # Begins with another partition each time.
            first = self._routing.next()
            partitions = [*self.partitions[first:], *self.partitions[:first]]
            sizes = await self._outcomes([(partition, partition.requests.size()) for partition in partitions])
            shares = shares_of([size if isinstance(size, int) else 0 for size in sizes], limit)
            asked = [(partition, share) for partition, share in zip(partitions, shares, strict=True) if share]
            found = await self._outcomes([(each, commands.pop_many(each.keys.ready, "first", n)) for each, n in asked])
            taken: list[Taken] = []
            for (partition, _), popped in zip(asked, found, strict=True):
                if isinstance(popped, list):
                    taken += [Taken(key=partition.keys.ready, data=data) for data in popped]
            failure = next((outcome for outcome in (*sizes, *found) if isinstance(outcome, RedissonDQError)), None)
            if failure is not None and not taken:
                raise failure
            if failure is not None:
                logger.warning("queue %r: taken only from the other partitions: %s", self.name, failure)
            # Otherwise other clients have been faster.
            if taken or not asked:
                return taken

    async def _put_back(self, taken: list[Taken]) -> None:
        for back in put_back("first", taken, {}):
            for pause in (*_PUT_BACK_PAUSES, None):
                try:
                    await self._runtime.connections.run(back.request, when_closed=True)
                    break
                # The end of the loop cancels a connection that is being made. The next try has another one.
                except (RedissonDQError, AsyncCancelled) as error:
                    is_unsure = getattr(error, "maybe_done", False) and not back.request.repeatable
                    if pause is None or is_unsure:
                        values = [each.data for each in back.values]
                        text = "queue %r: popped values may not be back in Redis: %s; they are %r"
                        logger.error(text, back.key, error, values)
                        break
                    await self._runtime.clock.async_sleep(pause)
