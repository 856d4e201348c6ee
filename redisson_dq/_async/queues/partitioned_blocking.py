"""The ready side of a queue in partitions."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from redisson_dq._async.queues.blocking import BlockingQueue
from redisson_dq._async.queues.leaser import Leaser
from redisson_dq._async.queues.leasing import Leasing
from redisson_dq._async.queues.partitioned import Partitioned
from redisson_dq._async.queues.wait_loop import TakenValues, TakingQueue, WaitLoop
from redisson_dq._async.receiving.listeners import Listeners
from redisson_dq._async.receiving.receiver import Receiver
from redisson_dq._async.runtime import Runtime
from redisson_dq._concurrency import AsyncCancelled, async_finish_or_undo
from redisson_dq.calls.checks import check_count
from redisson_dq.calls.leases import DeadLetter
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.partitioned import PartitionedQueueRequests, shares_of
from redisson_dq.calls.parts import Routing
from redisson_dq.errors import DecodeError, RedissonDQError
from redisson_dq.items import Redriven
from redisson_dq.waits.line import Lifeline
from redisson_dq.wire import commands
from redisson_dq.wire.blocking import Pop, RoundRobin, Taken, Waitable, put_back
from redisson_dq.wire.commands import End

__all__ = ["PartitionedBlockingQueue"]

logger = logging.getLogger("redisson_dq")

# Pause between two tries to put back values whose caller is gone.
_PUT_BACK_PAUSES = (0.01, 0.05, 0.2, 0.5)
# How many dead letters are moved or removed at most where a limit is given.
_MOST = 1000

T = TypeVar("T")
U = TypeVar("U")


class PartitionedBlockingQueue(TakingQueue[T], Partitioned[BlockingQueue[T]], Leasing[T]):
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
        super().__init__(runtime, name, partitions, routing)
        self._sides = sides
        self._leaser = Leaser(runtime, sides, self._check, name)
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

    # -- inside ------------------------------------------------------------------------------------------------------

    def _source(self, end: End, keys: tuple[str, ...] = ()) -> Waitable:
        return self._all

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

    async def _poll_at_once(self, end: End, limit: int | None) -> T | list[T] | None:
        found = await self._take_at_once(1 if limit is None else check_count(limit, self.name))
        return found if limit is not None else found[0] if found else None

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

    # -- dead letters ------------------------------------------------------------------------------------------------

    @property
    def _with_dead_letters(self) -> list[BlockingQueue[T]]:
        return list(
            {
                side.dead_keys.dead: partition for side, partition in zip(self._sides, self.partitions, strict=True)
            }.values()
        )

    async def _homes(
        self, ids: Iterable[str | DeadLetter[T]] | None, limit: int | None
    ) -> dict[str, list[DeadLetter[T]]]:
        """Which dead letters of the one list go to which partition, by its key."""
        chosen = None if ids is None else self._sides[0].collected(ids, "ids")
        named = chosen and {each.id if isinstance(each, DeadLetter) else each for each in chosen}
        homes: dict[str, list[DeadLetter[T]]] = {partition.keys.ready: [] for partition in self.partitions}
        found = [each for each in await self.dead_letters(0, _MOST - 1) if each.source in homes]
        wanted = found if named is None else [each for each in found if each.id in named]
        for letter in wanted[: _MOST if limit is None else check_count(limit, self.name)]:
            homes[letter.source].append(letter)
        return homes

    async def _chosen(
        self, ids: Iterable[str | DeadLetter[T]] | None, limit: int | None
    ) -> tuple[Iterable[str | DeadLetter[T]] | None, int | None]:
        chosen = None if ids is None else self._sides[0].collected(ids, "ids")
        if limit is None:
            return chosen, None
        most = min(check_count(limit, self.name), _MOST)
        return (await self.dead_letters(0, most - 1) if chosen is None else chosen[:most]), None

    async def _redriven(self, ids: Iterable[str | DeadLetter[T]] | None, limit: int | None, to: str | None) -> Redriven:
        lists = self._with_dead_letters
        if to is None and len(lists) < len(self.partitions):
            homes = await self._homes(ids, limit)
            done = await self._ask(lambda partition: partition.requests.redrive(homes[partition.keys.ready]))
            left = min(each.left for each in done)
        else:
            chosen, _ = await self._chosen(ids, limit)
            done = await self._ask(lambda partition: partition.requests.redrive(chosen, to=to), lists)
            left = sum(each.left for each in done)
        clients = [each.clients for each in done if each.clients is not None]
        return Redriven(
            count=sum(each.count for each in done),
            left=left,
            clients=min(clients) if len(clients) == len(done) and not self._runtime.connections.is_cluster else None,
        )
