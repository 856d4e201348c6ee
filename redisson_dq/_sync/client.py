# Generated from redisson_dq/_async/client.py by .ci/unasync.py. Do not edit: edit that file and run it.

"""The client: one set of connections, one transfer task per queue, any number of queue handles."""

from __future__ import annotations

from types import TracebackType
from typing import Any, TypeVar, overload

from redis import Redis

from .._options import Options
from .._pairs import Mutex, finish
from .._redis import connection_factory, without_password
from ..codecs.base import Codec
from ..errors import ArgumentError, ClosedError
from ..wire import commands
from ..wire.blocking import Source, Turns
from ..wire.envelope import Envelope
from ..wire.keys import NameMapper, QueueKeys, map_name
from ..wire.partitions import partition_names
from .bounded import BoundedBlockingQueue, Room
from .connections import Connections
from .delayed import DelayedQueue
from .deque import BlockingDeque
from .fair import FairReceiver
from .handles import Handle
from .mover import Mover
from .partitioned_delayed import PartitionedDelayedQueue
from .partitioned_ready import PartitionedBlockingQueue
from .pipeline import Pipeline
from .ready import BlockingQueue
from .receiver import Receiver
from .servers import AnyRedis, servers_of

__all__ = ["Client", "connect"]

Self = TypeVar("Self", bound="Client")
AnyHandle = TypeVar("AnyHandle", bound=Handle[Any])


class Client:
    """Opens queues that Java services share through Redisson.

    ``redis`` is a client of redis-py: ``Redis`` (a Sentinel's master too) or ``RedisCluster``. Its settings are
    copied, and of a Sentinel or a cluster its knowledge of who is where is used; commands go over connections of our
    own, and it is never closed. Nothing is sent before the first call.

    ``codec`` (default Kryo5Codec, as in Redisson), ``envelope`` (``"current"``, or ``"legacy"`` when a Redisson up
    to 3.21.0 has to deliver what is offered here) and ``name_mapper`` (a prefix or a function, as Redisson's
    NameMapper) hold for every queue; a queue may have another codec. ``probe_interval`` is how often, in seconds,
    the client checks that its subscription lives and no head is overdue; ``transfer_batch`` how many due items one
    script call moves at most; it moves fewer where that would keep Redis busy for long. ``undecodable`` says what a
    call does that takes a value which the codec cannot read: its bytes are kept in Redis in any case, then
    ``"raise"`` raises DecodeError and ``"skip"`` logs a warning and goes on with the next value. ``remember`` is
    for how many seconds after its due time (or its delivery) an item's outcome is remembered: what ``cancel`` can
    tell of it, and that its id was used; 0 for not at all. ``wakeups="keyspace"`` listens to the server's keyspace
    events beside the channel, for writers that add entries without announcing them; :meth:`open` raises
    ServerSettingError when the server does not send them.

    Answers to ``Redisson.create(config)``.
    """

    def __init__(
        self,
        redis: AnyRedis,
        *,
        codec: Codec | None = None,
        envelope: Envelope | str = Envelope.CURRENT,
        name_mapper: NameMapper | None = None,
        probe_interval: float = 30.0,
        transfer_batch: int = 5000,
        undecodable: str = "raise",
        remember: float = 600.0,
        wakeups: str = "channel",
    ) -> None:
        self._options = Options.checked(
            codec, envelope, name_mapper, probe_interval, transfer_batch, undecodable, remember, wakeups
        )
        self._connections = Connections(servers_of(redis))
        self._mutex = Mutex()
        self._mover: Mover | None = None
        self._room = Room(self._connections)
        self._receivers: dict[Source | Turns, Receiver | FairReceiver] = {}
        self._handles: dict[str, int] = {}
        self._opened = False
        self._closed = False

    # -- queues --------------------------------------------------------------------------------------------------

    @overload
    def blocking_queue(self, name: str, codec: Codec | None = None, *, transfer: bool = True) -> BlockingQueue[Any]: ...

    @overload
    def blocking_queue(
        self, name: str, codec: Codec | None = None, *, transfer: bool = True, partitions: int
    ) -> PartitionedBlockingQueue[Any]: ...

    def blocking_queue(
        self, name: str, codec: Codec | None = None, *, transfer: bool = True, partitions: int | None = None
    ) -> BlockingQueue[Any] | PartitionedBlockingQueue[Any]:
        """The queue that consumers take from. No round trip.

        With ``transfer=True`` this client moves the queue's due items as long as the handle is open, so consuming
        is all a consumer has to do. With ``partitions`` (1 to 1,024) the queue is split into so many, which a cluster
        spreads over its masters. Raises ArgumentError, ClosedError.

        Answers to ``RedissonClient.getBlockingQueue(name, codec)``; there, nothing moves until somebody calls
        ``getDelayedQueue`` as well.
        """
        if partitions is not None:
            names = partition_names(name, partitions, self._options.name_mapper)
            opened = tuple(self.blocking_queue(each, codec, transfer=transfer) for each in names)
            return PartitionedBlockingQueue(self, name, opened)
        return self._open_handle(BlockingQueue(self, self._keys(name), name, self._codec(codec), transfer))

    def blocking_deque(self, name: str, codec: Codec | None = None, *, transfer: bool = True) -> BlockingDeque[Any]:
        """The same queue, taken from at both ends. Otherwise like :meth:`blocking_queue`.

        Answers to ``RedissonClient.getBlockingDeque(name, codec)``.
        """
        return self._open_handle(BlockingDeque(self, self._keys(name), name, self._codec(codec), transfer))

    def bounded_blocking_queue(
        self, name: str, codec: Codec | None = None, *, transfer: bool = True
    ) -> BoundedBlockingQueue[Any]:
        """A queue with a capacity, which offers respect. Otherwise like :meth:`blocking_queue`.

        Answers to ``RedissonClient.getBoundedBlockingQueue(name, codec)``.
        """
        return self._open_handle(BoundedBlockingQueue(self, self._keys(name), name, self._codec(codec), transfer))

    @overload
    def delayed_queue(
        self, queue: str | BlockingQueue[Any], codec: Codec | None = None, *, transfer: bool = True, lean: bool = False
    ) -> DelayedQueue[Any]: ...

    @overload
    def delayed_queue(
        self,
        queue: PartitionedBlockingQueue[Any],
        codec: Codec | None = None,
        *,
        transfer: bool = True,
        lean: bool = False,
    ) -> PartitionedDelayedQueue[Any]: ...

    @overload
    def delayed_queue(
        self, queue: str, codec: Codec | None = None, *, transfer: bool = True, lean: bool = False, partitions: int
    ) -> PartitionedDelayedQueue[Any]: ...

    def delayed_queue(
        self,
        queue: str | BlockingQueue[Any] | PartitionedBlockingQueue[Any],
        codec: Codec | None = None,
        *,
        transfer: bool = True,
        lean: bool = False,
        partitions: int | None = None,
    ) -> DelayedQueue[Any] | PartitionedDelayedQueue[Any]:
        """The delayed side of a queue, given by its handle or its name. No round trip.

        The codec is the handle's unless given. ``transfer=False`` is for producers: no subscription, no thread.

        With ``lean=True`` each offer of this handle stands in the timeout zset alone, without the copy that Redisson
        keeps in a list: an item takes less memory, and delivering, cancelling or replacing it never looks through that
        list. Every handle of this library sees such items, lean or not. Redisson (3.21.1 or later) delivers them, but
        its size, isEmpty, contains, remove, readAll, iterator, peek and poll do not see them.

        With ``partitions`` (1 to 1,024; a handle brings its own number) the queue is split into so many, which a
        cluster spreads over its masters.

        Raises ArgumentError, also for ``lean=True`` with ``envelope="legacy"``; ClosedError.

        Answers to ``RedissonClient.getDelayedQueue(queue)``.
        """
        if partitions is not None and not isinstance(queue, str):
            raise ArgumentError(f"partitions= goes with a queue's name; {queue!r} brings its own number")
        if isinstance(queue, PartitionedBlockingQueue):
            codec, name, partitions = codec or queue.codec, queue.name, len(queue.partitions)
        elif isinstance(queue, BlockingQueue):
            codec, name = codec or queue.codec, queue.name
        elif isinstance(queue, str):
            name = queue
        else:
            raise ArgumentError(f"a delayed queue is opened for a queue or its name, not {queue!r}")
        if partitions is not None:
            names = partition_names(name, partitions, self._options.name_mapper)
            opened = tuple(self.delayed_queue(each, codec, transfer=transfer, lean=lean) for each in names)
            return PartitionedDelayedQueue(self, name, opened)
        return self._open_handle(DelayedQueue(self, self._keys(name), name, self._codec(codec), transfer, lean))

    def pipeline(self, *, transaction: bool = False) -> Pipeline:
        """Collects requests of any queues of this client, and sends them in one round trip.

        With ``transaction=True`` Redis runs nothing of anybody else between them (MULTI and EXEC); on a cluster their
        queues need one hash tag then.

        Answers to ``RedissonClient.createBatch(options)``; a transaction to ``ExecutionMode.IN_MEMORY_ATOMIC``.
        """
        return Pipeline(self._connections, transaction=transaction)

    # -- life cycle ----------------------------------------------------------------------------------------------

    def open(self: Self) -> Self:
        """Checks that Redis can be reached. One round trip, the first time. Closes the client when it cannot.

        Raises RedisConnectionError, RedisReplyError; with ``wakeups="keyspace"`` ServerSettingError.
        """
        if not self._opened:
            try:
                self._connections.run(commands.ping())
                if self._options.wakeups == "keyspace":
                    self._connections.check_keyspace_events()
            except BaseException:
                self.close()
                raise
            self._opened = True
        return self

    def close(self) -> None:
        """Ends every wait, timer, worker and connection of this client; the data stays. May be called twice.

        A ``take()`` that still waits raises ClosedError. No item is lost. Answers to ``RedissonClient.shutdown()``.
        """
        with self._mutex:
            if self._closed:
                return
            self._closed = True
        # A cancelled caller leaves nothing half closed.
        finish(self._shut_down())

    def __enter__(self: Self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _shut_down(self) -> None:
        with self._mutex:
            mover, self._mover = self._mover, None
            receivers = list(self._receivers.values())
        for receiver in receivers:
            receiver.close()
        self._room.close()
        if mover is not None:
            mover.close()
        self._connections.close()

    # -- for the queues ------------------------------------------------------------------------------------------

    def _keys(self, name: str) -> QueueKeys:
        return QueueKeys.of(map_name(name, self._options.name_mapper))

    def _codec(self, codec: Codec | None) -> Codec:
        return self._options.codec if codec is None else codec

    def _open_handle(self, handle: AnyHandle) -> AnyHandle:
        with self._mutex:
            if self._closed:
                raise ClosedError("the client is closed; make a new one with connect()")
            key = handle.keys.ready
            self._handles[key] = self._handles.get(key, 0) + 1
            if handle.transfer:
                if self._mover is None:
                    self._mover = Mover(self._connections, self._options)
                self._mover.attach(handle.keys)
        return handle

    def _let_go(self, keys: QueueKeys, transfer: bool) -> None:
        """Counts one handle of these keys less; with the last one every wait on them ends."""
        unused: list[Receiver | FairReceiver] = []
        with self._mutex:
            if self._closed:
                return
            if transfer and self._mover is not None:
                self._mover.detach(keys)
            key = keys.ready
            self._handles[key] -= 1
            if not self._handles[key]:
                del self._handles[key]
                unused = [self._receivers.pop(source) for source in list(self._receivers) if _ends_with(source, key)]
        for receiver in unused:
            receiver.close()

    def _renamed(self, handle: Handle[Any], new_name: str) -> None:
        """Takes the new name, as if the handle had been opened with it, and lets go of the old one."""
        if not handle._open:
            return
        old = handle.keys
        handle.requests.keys, handle.requests.name = self._keys(new_name), new_name
        self._open_handle(handle)
        handle._left(old)
        # To its end, or a cancelled caller would leave waits under a name that nothing is under any more.
        finish(self._let_go(old, handle.transfer))

    def _receiver(self, source: Source | Turns) -> Receiver | FairReceiver:
        with self._mutex:
            if self._closed:
                raise ClosedError("the client is closed; make a new one with connect()")
            receiver = self._receivers.get(source)
            if receiver is None:
                if isinstance(source, Turns):
                    receiver = FairReceiver(self._connections, source.pops)
                else:
                    receiver = Receiver(self._connections, source)
                self._receivers[source] = receiver
            return receiver


def _ends_with(source: Source | Turns, key: str) -> bool:
    """Whether nobody may wait for it any more when the last handle of this key is closed."""
    return key == source.key if not isinstance(source, Turns) else any(key == pop.key for pop in source.pops)


def connect(
    url: str,
    *,
    codec: Codec | None = None,
    envelope: Envelope | str = Envelope.CURRENT,
    name_mapper: NameMapper | None = None,
    probe_interval: float = 30.0,
    transfer_batch: int = 5000,
    undecodable: str = "raise",
    remember: float = 600.0,
    wakeups: str = "channel",
    **redis_options: Any,
) -> Client:
    """A client for the server at ``url``: ``redis://``, ``rediss://`` (TLS) or ``unix://``, as in redis-py.

    ``redis_options`` go to redis-py's ``Redis.from_url`` (``username=``, ``password=``, ``ssl_ca_certs=`` ...); the
    others are those of :class:`Client`. For a Sentinel or a cluster make a redis-py client and give it to Client.

    Raises ArgumentError for a URL or an option that cannot be used. Whether Redis can be reached is checked by one
    round trip, which raises RedisConnectionError or RedisReplyError: at once here, and in :mod:`redisson_dq.aio`
    by ``with`` or ``client.open()``.

    Answers to ``Redisson.create(config)``.
    """
    try:
        redis = Redis.from_url(url, **redis_options)
        # redis-py looks at an option when it makes its first connection, and not before.
        connection_factory(redis.connection_pool)
    except (ValueError, TypeError, AttributeError) as error:
        message = f"{without_password(url)!r} cannot be used: {error}; a URL looks like redis://localhost:6379/0"
        raise ArgumentError(message) from error
    client = Client(
        redis,
        codec=codec,
        envelope=envelope,
        name_mapper=name_mapper,
        probe_interval=probe_interval,
        transfer_batch=transfer_batch,
        undecodable=undecodable,
        remember=remember,
        wakeups=wakeups,
    )
    client.open()
    return client
