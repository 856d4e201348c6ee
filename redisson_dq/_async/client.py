"""The client: one set of connections, one transfer task per queue, any number of queue handles."""

from __future__ import annotations

from typing import TypeVar

import attrs

from redisson_dq._async.connecting.servers import AsyncAnyRedis, servers_of
from redisson_dq._async.opening import Opening
from redisson_dq._async.runtime import Runtime
from redisson_dq._options import OnUndecodable, Options, Wakeups, Written
from redisson_dq._shared_options import names_options
from redisson_dq.codecs.base import Codec
from redisson_dq.durability import Durability
from redisson_dq.inspection import QueueInspection
from redisson_dq.items import Problem, TransferCounts
from redisson_dq.observing import Observer
from redisson_dq.observing.observers import LogValues
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import NameMapper

__all__ = ["Client"]

Self = TypeVar("Self", bound="Client")
O = TypeVar("O", bound=Observer)  # noqa: E741


class Client(Opening):
    """Opens queues that Java services share through Redisson.

    ``redis`` is a client of redis-py: ``Redis`` (a Sentinel's master too) or ``RedisCluster``. Its settings are copied.
    With Sentinel or Cluster, its node discovery is reused. Commands go over connections of our own, and your client is
    never closed. Nothing is sent before the first call.

    - ``codec``: turns values into bytes, for every queue without one of its own; Kryo5Codec unless given
    - ``envelope``: ``"legacy"`` where a Redisson up to 3.21.0 has to deliver the items offered here
    - ``name_mapper``: a prefix or a function, as Redisson's NameMapper
    - ``probe_interval``: how often, in seconds, the client checks subscription and heads
    - ``transfer_batch``: how many due items one script call moves at most
    - ``undecodable``: ``"raise"`` or ``"skip"``, for a taken value that the codec cannot read
    - ``remember``: for how many seconds an item's outcome and id are remembered
    - ``wakeups``: ``"keyspace"`` where other programs add entries without announcing them
    - ``busy_wait``: whether the last 0.3 ms before a transfer are waited for without sleeping
    - ``durable``: the confirmation that each change needs which adds values or ends leases
    - ``observer``: a function that is called with each happening, as with :meth:`observe`
    - ``log_values``: True, or a function that masks a value, for lines of the log at DEBUG that show values

    More: docs/options.md.

    Answers to ``Redisson.create(config)``.
    """

    @names_options
    def __init__(
        self,
        redis: AsyncAnyRedis,
        *,
        codec: Codec | None = None,
        envelope: Written = Envelope.CURRENT,
        name_mapper: NameMapper | None = None,
        probe_interval: float = 30.0,
        transfer_batch: int = 5000,
        undecodable: OnUndecodable = "raise",
        remember: float = 600.0,
        wakeups: Wakeups = "channel",
        busy_wait: bool = True,
        durable: Durability | None = None,
        observer: Observer | None = None,
        log_values: LogValues = False,
    ) -> None:
        options = Options(
            codec=codec,
            envelope=envelope,
            name_mapper=name_mapper,
            probe_interval=probe_interval,
            transfer_batch=transfer_batch,
            undecodable=undecodable,
            remember=remember,
            wakeups=wakeups,
            busy_wait=busy_wait,
            durable=durable,
            observer=observer,
            log_values=log_values,
        )
        super().__init__(Runtime(servers_of(redis), options))

    # -- observation -------------------------------------------------------------------------------------------------

    @names_options
    async def inspect(
        self, name: str, *, partitions: int | None = None, dead_letter: str | None = None
    ) -> QueueInspection:
        """All about a queue: how much is where, what comes next, who moves it, which key is wrong.

        ``partitions`` is the number of its partitions, if it has some. ``dead_letter`` is the queue that gets its dead
        letters, if it has no list of its own. Nothing is changed, and nothing is started. A key that holds another type
        is told of, and fails nothing. Example::

            found = await client.inspect("orders")
            print(found)
            if found.overdue and not found.subscribers:
                print("nobody moves the queue")

        One round trip, or one for each node with ``partitions``; O(log n), and the size of at most four entries. One
        queue is seen at one moment, and each partition at a moment of its own. A user needs rights to look alone:
        ``+@read +eval +evalsha +time``, and ``+pubsub`` to know the ``subscribers``. Raises ArgumentError,
        RedisConnectionError, RedisReplyError, ClosedError, and on a cluster CrossSlotError for a ``dead_letter``
        without the queue's hash tag.
        """
        # A handle that is open for a moment, and moves nothing.
        if partitions is None:
            async with self.blocking_queue(name, transfer=False, dead_letter=dead_letter) as queue:
                return await queue.inspect()
        async with self.blocking_queue(name, transfer=False, partitions=partitions, dead_letter=dead_letter) as whole:
            return await whole.inspect()

    def observe(self, observer: O) -> O:
        """Calls ``observer`` with each happening from now on, and gives it back, so this is a decorator too.

        Happenings are the frozen classes of :mod:`redisson_dq.observing`: requests, moves, takes, leases, outages. The
        observer is called where they happen, in any thread of the client or in the event loop. The client goes on when
        it has returned. So it has to be quick, and is a plain function with asyncio too. The log has the first error
        that it raises, and nothing else is changed by one. No observer hears of calls that an observer makes itself.
        Example::

            @client.observe
            def watch(happening):
                if isinstance(happening, Moved):
                    moved[happening.queue] += happening.count

        Raises ArgumentError. No round trip.
        """
        self.runtime.options.observers.add(observer)
        return observer

    def stop_observing(self, observer: Observer) -> None:
        """Calls ``observer`` no more. Does nothing when it does not watch. No round trip."""
        self.runtime.options.observers.discard(observer)

    @property
    def transfers(self) -> TransferCounts:
        """How many transfers this client has made, and how many of them ran too early. No round trip."""
        return attrs.evolve(self.runtime.transfer_counts)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The tasks that this client cannot do at present, though Redis can be reached.

        Empty when all is well. A client moves due items, renews leases, and receives for listeners and workers. A
        problem is there from the second failure of a transfer, or the first failure of the others, until the same is
        done again. No round trip. Example::

            for problem in client.problems:
                print(problem)
        """
        return self.runtime.connections.refusals.problems

    # -- life cycle --------------------------------------------------------------------------------------------------

    async def open(self: Self) -> Self:
        """Checks that Redis can be reached. One round trip, the first time. Closes the client when it cannot.

        Raises RedisConnectionError, RedisReplyError; with ``wakeups="keyspace"`` or ``durable=`` ServerSettingError.
        """
        await self.runtime.open()
        return self

    async def close(self, *, grace: float = 5.0) -> None:
        """Ends every wait, timer, background task and connection of this client; the data stays. May be called twice.

        A ``take()`` that still waits raises ClosedError. Subscriptions take no more values, and their consumers have
        ``grace`` seconds to return. A consumer that has not returned by then is logged with the values it holds. No
        other item is lost. In a forked process this call does nothing.

        Answers to ``RedissonClient.shutdown()``.
        """
        await self.runtime.aclose(grace=grace)

    async def __aenter__(self: Self) -> Self:
        return await self.open()

    async def __aexit__(self, *error: object) -> None:
        await self.close()
