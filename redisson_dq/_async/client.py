"""The client: one set of connections, one transfer task per queue, any number of queue handles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, overload

import attrs
from redis.asyncio import Redis

from redisson_dq._async.connecting.servers import AsyncAnyRedis, servers_of
from redisson_dq._async.pipeline import Pipeline
from redisson_dq._async.queues.blocking import BlockingQueue
from redisson_dq._async.queues.bounded import BoundedBlockingQueue
from redisson_dq._async.queues.delayed import DelayedQueue
from redisson_dq._async.queues.deque import BlockingDeque
from redisson_dq._async.queues.leasing import terms_of
from redisson_dq._async.runtime import Runtime
from redisson_dq._options import OnUndecodable, Options, Wakeups, Written
from redisson_dq._redis import connection_factory, unexpected_option, without_password
from redisson_dq._shared_options import names_options, options_of, unknown_option, with_options_of
from redisson_dq._texts import mixed_up, shown
from redisson_dq.codecs.base import Codec
from redisson_dq.durability import Durability
from redisson_dq.errors import ArgumentError
from redisson_dq.inspection import QueueInspection
from redisson_dq.items import Problem, TransferCounts
from redisson_dq.observing import Observer
from redisson_dq.requests.inner.delayed_side import DelayedSide
from redisson_dq.requests.inner.leased_side import LeasedSide, LeaseTerms
from redisson_dq.requests.inner.ready_side import BoundedSide, ReadySide
from redisson_dq.requests.ready import BoundedRequests, DequeRequests, QueueRequests
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import NameMapper
from redisson_dq.wire.partitions import partition_names

__all__ = ["Client", "connect", "unopened"]

Self = TypeVar("Self", bound="Client")
O = TypeVar("O", bound=Observer)  # noqa: E741
if TYPE_CHECKING:
    # Type checkers know this module even when it is not installed. Values of a queue without a codec are Any.
    from typing_extensions import TypeVar as TypeVarWithDefault
    from typing_extensions import Unpack

    from redisson_dq._async.queues.partitioned_blocking import PartitionedBlockingQueue
    from redisson_dq._async.queues.partitioned_delayed import PartitionedDelayedQueue

    V = TypeVarWithDefault("V", default=Any)
else:
    V = TypeVar("V")

_A_URL = "redis://localhost:6379/0"


class Client:
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
        )
        # The runtime that the handles share, for the library's own parts. It may change in any release.
        self.runtime = Runtime(servers_of(redis), options)

    # -- queues ------------------------------------------------------------------------------------------------------

    @overload
    def blocking_queue(
        self,
        name: str,
        codec: Codec[V] | None = None,
        *,
        transfer: bool = True,
        partitions: None = None,
        **terms: Unpack[LeaseTerms],
    ) -> BlockingQueue[V]: ...

    @overload
    def blocking_queue(
        self,
        name: str,
        codec: Codec[V] | None = None,
        *,
        transfer: bool = True,
        partitions: int,
        **terms: Unpack[LeaseTerms],
    ) -> PartitionedBlockingQueue[V]: ...

    @names_options
    @with_options_of(LeasedSide)
    def blocking_queue(
        self,
        name: str,
        codec: Codec[V] | None = None,
        *,
        transfer: bool = True,
        partitions: int | None = None,
        **terms: Unpack[LeaseTerms],
    ) -> BlockingQueue[V] | PartitionedBlockingQueue[V]:
        """The queue that consumers take from. No round trip.

        Opening starts nothing. With ``transfer=True`` this client moves the queue's due items from the handle's first
        call on that takes, listens or adds. So consuming is all a consumer has to do. With ``partitions`` (1 to 1,024)
        the queue is split into so many, which a cluster spreads over its masters.

        ``delivery_limit`` and ``dead_letter`` are for :meth:`BlockingQueue.receive`. After so many deliveries (None:
        never) a value goes to the queue with that name, else to a list of its own. On a cluster that queue needs the
        same hash tag. Raises ArgumentError, ClosedError.

        Answers to ``RedissonClient.getBlockingQueue(name, codec)``; there, nothing moves until somebody calls
        ``getDelayedQueue`` as well.
        """
        if partitions is not None:
            from redisson_dq._async.queues.partitioned_blocking import PartitionedBlockingQueue

            names = partition_names(name, partitions, self.runtime.options.name_mapper)
            sides = [ReadySide[V](each, codec, self.runtime.options, **terms) for each in names]
            opened = tuple(self._blocking_queue(side, transfer) for side in sides)
            return PartitionedBlockingQueue(self.runtime, name, opened, sides)
        side = ReadySide[V](name, codec, self.runtime.options, **terms)
        return self._blocking_queue(side, transfer)

    @names_options
    @with_options_of(LeasedSide)
    def blocking_deque(
        self,
        name: str,
        codec: Codec[V] | None = None,
        *,
        transfer: bool = True,
        **terms: Unpack[LeaseTerms],
    ) -> BlockingDeque[V]:
        """A blocking queue that is taken from at both ends. Otherwise like :meth:`blocking_queue`.

        Answers to ``RedissonClient.getBlockingDeque(name, codec)``.
        """
        side = ReadySide[V](name, codec, self.runtime.options, **terms)
        return BlockingDeque(self.runtime, side, DequeRequests(side), transfer)

    @names_options
    @with_options_of(LeasedSide)
    def bounded_blocking_queue(
        self,
        name: str,
        codec: Codec[V] | None = None,
        *,
        transfer: bool = True,
        **terms: Unpack[LeaseTerms],
    ) -> BoundedBlockingQueue[V]:
        """A queue with a capacity, which offers respect. Otherwise like :meth:`blocking_queue`.

        Answers to ``RedissonClient.getBoundedBlockingQueue(name, codec)``.
        """
        side = BoundedSide[V](name, codec, self.runtime.options, **terms)
        return BoundedBlockingQueue(self.runtime, side, BoundedRequests(side), transfer)

    @overload
    def delayed_queue(
        self,
        queue: str | BlockingQueue[V],
        codec: Codec[V] | None = None,
        *,
        transfer: bool = True,
        lean: bool = False,
        partitions: None = None,
    ) -> DelayedQueue[V]: ...

    @overload
    def delayed_queue(
        self,
        queue: PartitionedBlockingQueue[V],
        codec: Codec[V] | None = None,
        *,
        transfer: bool = True,
        lean: bool = False,
    ) -> PartitionedDelayedQueue[V]: ...

    @overload
    def delayed_queue(
        self,
        queue: str,
        codec: Codec[V] | None = None,
        *,
        transfer: bool = True,
        lean: bool = False,
        partitions: int,
    ) -> PartitionedDelayedQueue[V]: ...

    @names_options
    def delayed_queue(
        self,
        queue: str | BlockingQueue[V] | PartitionedBlockingQueue[V],
        codec: Codec[V] | None = None,
        *,
        transfer: bool = True,
        lean: bool = False,
        partitions: int | None = None,
    ) -> DelayedQueue[V] | PartitionedDelayedQueue[V]:
        """The delayed side of a queue, given by its handle or its name. No round trip.

        The codec is the handle's unless given. ``transfer=False`` is for producers: no subscription, no thread. Calls
        that only look start none either way.

        With ``lean=True`` each offer of this handle stands in the timeout zset alone, without the copy that Redisson
        keeps in a list. An item takes less memory, and delivering, cancelling or replacing it never looks through that
        list. Every handle of this library sees such items, lean or not. Redisson (3.21.1 or later) delivers them, but
        its size, isEmpty, contains, remove, readAll, iterator, peek and poll do not see them.

        With ``partitions`` (1 to 1,024; a handle brings its own number) the queue is split into so many, which a
        cluster spreads over its masters.

        Raises ArgumentError, also for ``lean=True`` with ``envelope="legacy"``; ClosedError.

        Answers to ``RedissonClient.getDelayedQueue(queue)``.
        """
        if partitions is not None and not isinstance(queue, str):
            raise ArgumentError(f"partitions= goes with a queue's name; {shown(queue)} brings its own number")
        if isinstance(queue, str):
            name = queue
        elif isinstance(queue, BlockingQueue):
            codec, name = codec or queue.codec, queue.name
        else:
            from redisson_dq._async.queues.partitioned_blocking import PartitionedBlockingQueue

            if not isinstance(queue, PartitionedBlockingQueue):
                raise ArgumentError(
                    f"a delayed queue is opened for a queue or its name: {mixed_up(queue, BlockingQueue)}"
                )
            codec, name, partitions = codec or queue.codec, queue.name, len(queue.partitions)
        if partitions is not None:
            from redisson_dq._async.queues.partitioned_delayed import PartitionedDelayedQueue

            names = partition_names(name, partitions, self.runtime.options.name_mapper)
            sides = [DelayedSide[V](each, codec, self.runtime.options, lean=lean) for each in names]
            opened = tuple(DelayedQueue(self.runtime, side, transfer) for side in sides)
            return PartitionedDelayedQueue(self.runtime, name, opened, sides[0])
        # The leases of take_due have the terms of the queue.
        terms = terms_of(queue) if isinstance(queue, BlockingQueue) else LeaseTerms()
        side = DelayedSide[V](name, codec, self.runtime.options, lean=lean, **terms)
        return DelayedQueue(self.runtime, side, transfer)

    @names_options
    def pipeline(self, *, transaction: bool = False) -> Pipeline:
        """Collects requests of any queues of this client, and sends them in one round trip.

        With ``transaction=True`` Redis runs nothing of anybody else between them (MULTI and EXEC); on a cluster their
        queues need one hash tag then.

        Answers to ``RedissonClient.createBatch(options)``; a transaction to ``ExecutionMode.IN_MEMORY_ATOMIC``.
        """
        return Pipeline(self.runtime.connections, transaction=transaction)

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

    # -- inside ------------------------------------------------------------------------------------------------------

    def _blocking_queue(self, side: ReadySide[V], transfer: bool) -> BlockingQueue[V]:
        return BlockingQueue(self.runtime, side, QueueRequests(side), transfer)


# The options stand here and in Client, as ``redis_options`` may have any name: a TypedDict has no room for these.
# Editors also show the defaults then.
def connect(
    url: str,
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
    **redis_options: Any,
) -> Client:
    """A client for the server at ``url``: ``redis://``, ``rediss://`` (TLS) or ``unix://``, as in redis-py.

    ``redis_options`` go to redis-py's ``Redis.from_url`` (``username=``, ``password=``, ``ssl_ca_certs=`` ...); the
    others are those of :class:`Client`. For a Sentinel or a cluster make a redis-py client and give it to Client.

    Raises ArgumentError for a URL or an option that cannot be used. Whether Redis can be reached is checked by one
    round trip, which raises RedisConnectionError or RedisReplyError: at once here, and in :mod:`redisson_dq.aio`
    by ``async with`` or ``await client.open()``.

    Answers to ``Redisson.create(config)``.
    """
    client = unopened(
        url,
        {
            **redis_options,
            "codec": codec,
            "envelope": envelope,
            "name_mapper": name_mapper,
            "probe_interval": probe_interval,
            "transfer_batch": transfer_batch,
            "undecodable": undecodable,
            "remember": remember,
            "wakeups": wakeups,
            "busy_wait": busy_wait,
            "durable": durable,
            "observer": observer,
        },
    )
    # sync: client.open()
    return client


def unopened(url: str, options: Mapping[str, Any], call: str = "connect", more: Iterable[str] = ()) -> Client:
    """A client by the arguments of :func:`connect`. Nothing is sent.

    ``call`` is the user's call, for errors, and ``more`` the options that it takes itself.
    """
    if not isinstance(url, str):
        kind = type(url).__name__
        raise ArgumentError(
            f"connect() takes a URL such as {_A_URL}, not a {kind}; around a client of redis-py write Client(...)"
        )
    own = options_of(Client)
    of_redis = {name: value for name, value in options.items() if name not in own}
    try:
        redis = Redis.from_url(url, **of_redis)
        # redis-py looks at an option when it makes its first connection, and not before.
        connection_factory(redis.connection_pool)
    except (ValueError, TypeError, AttributeError) as error:
        unknown = unexpected_option(error, of_redis)
        if unknown is not None:
            known = {*options_of(connect), *options_of(Redis), *more} - {"url"}
            raise unknown_option(call, [unknown], known) from error
        and_options = f" with {', '.join(f'{name}=' for name in of_redis)}" if of_redis else ""
        message = f"{shown(without_password(url))}{and_options} cannot be used: {error}; a URL looks like {_A_URL}"
        raise ArgumentError(message) from error
    return Client(redis, **{name: value for name, value in options.items() if name in own})
