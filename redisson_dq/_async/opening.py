"""Opens the queues of one client: makes their handles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from redisson_dq._async.pipeline import Pipeline
from redisson_dq._async.queues.blocking import BlockingQueue
from redisson_dq._async.queues.bounded import BoundedBlockingQueue
from redisson_dq._async.queues.delayed import DelayedQueue
from redisson_dq._async.queues.deque import BlockingDeque
from redisson_dq._async.queues.leasing import terms_of
from redisson_dq._async.runtime import Runtime
from redisson_dq._common.signatures import with_options_of
from redisson_dq._common.texts import mixed_up, shown
from redisson_dq.calls.open_queue import BOUNDED, DELAYED, LEAN, LeaseTerms, OpenQueue
from redisson_dq.calls.ready import BoundedRequests, DequeRequests, QueueRequests
from redisson_dq.codecs.base import Codec
from redisson_dq.errors import ArgumentError
from redisson_dq.wire.partitions import partition_names

__all__ = ["Opening"]

if TYPE_CHECKING:
    # Type checkers know this module even when it is not installed. Values of a queue without a codec are Any.
    from typing_extensions import TypeForm, Unpack
    from typing_extensions import TypeVar as TypeVarWithDefault

    from redisson_dq._async.queues.partitioned_blocking import PartitionedBlockingQueue
    from redisson_dq._async.queues.partitioned_delayed import PartitionedDelayedQueue
    from redisson_dq.java.numbers import JavaInt

    V = TypeVarWithDefault("V", default=Any)
else:
    V = TypeVar("V")


class Opening:
    """The calls of a client that open queues, and collect requests of several of them."""

    def __init__(self, runtime: Runtime) -> None:
        # The runtime that the handles share, for the library's own parts. It may change in any release.
        self.runtime = runtime

    @overload
    def blocking_queue(
        self,
        name: str,
        codec: Codec | None = None,
        *,
        type: type[JavaInt],
        transfer: bool = True,
        partitions: None = None,
        **terms: Unpack[LeaseTerms],
    ) -> BlockingQueue[int]: ...

    @overload
    def blocking_queue(
        self,
        name: str,
        codec: Codec[V] | None = None,
        *,
        type: type[V] | None = None,
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
        type: TypeForm[V],
        transfer: bool = True,
        partitions: None = None,
        **terms: Unpack[LeaseTerms],
    ) -> BlockingQueue[V]: ...

    @overload
    def blocking_queue(
        self,
        name: str,
        codec: Codec | None = None,
        *,
        type: type[JavaInt],
        transfer: bool = True,
        partitions: int,
        **terms: Unpack[LeaseTerms],
    ) -> PartitionedBlockingQueue[int]: ...

    @overload
    def blocking_queue(
        self,
        name: str,
        codec: Codec[V] | None = None,
        *,
        type: type[V] | None = None,
        transfer: bool = True,
        partitions: int,
        **terms: Unpack[LeaseTerms],
    ) -> PartitionedBlockingQueue[V]: ...

    @overload
    def blocking_queue(
        self,
        name: str,
        codec: Codec[V] | None = None,
        *,
        type: TypeForm[V],
        transfer: bool = True,
        partitions: int,
        **terms: Unpack[LeaseTerms],
    ) -> PartitionedBlockingQueue[V]: ...

    @with_options_of(OpenQueue)
    def blocking_queue(
        self,
        name: str,
        codec: Codec[V] | None = None,
        *,
        type: Any = None,
        transfer: bool = True,
        partitions: int | None = None,
        **terms: Unpack[LeaseTerms],
    ) -> Any:
        """The queue that consumers take from. No round trip.

        - ``codec``: turns values into bytes; that of the client unless given
        - ``type``: the type of the values, as in ``RBlockingQueue<Long>``: ``java.Long``, a declared class,
          ``list[Order]``; with JsonCodec any class. Other values raise EncodeError or DecodeError
        - ``transfer``: whether this client moves due items, from the first call on that takes, listens or adds
        - ``partitions``: 1 to 1,024: the queue is split, and a cluster spreads the parts over its masters
        - ``delivery_limit``: a value becomes a dead letter after that many deliveries; None: never
        - ``dead_letter``: the queue that gets dead letters, else a list of its own. On a cluster it needs the same hash
          tag

        Opening starts nothing. Raises ArgumentError, ClosedError.

        Answers to ``RedissonClient.getBlockingQueue(name, codec)``; there, nothing moves until somebody calls
        ``getDelayedQueue`` as well.
        """
        if partitions is not None:
            from redisson_dq._async.queues.partitioned_blocking import PartitionedBlockingQueue

            names = partition_names(name, partitions, self.runtime.options.name_mapper)
            sides = [OpenQueue[V](each, self._codec(codec, type), self.runtime.options, **terms) for each in names]
            opened = tuple(self._blocking_queue(side, transfer) for side in sides)
            return PartitionedBlockingQueue(self.runtime, name, opened, sides)
        side = OpenQueue[V](name, self._codec(codec, type), self.runtime.options, **terms)
        return self._blocking_queue(side, transfer)

    @with_options_of(OpenQueue)
    def blocking_deque(
        self,
        name: str,
        codec: Codec[V] | None = None,
        *,
        type: type[V] | None = None,
        transfer: bool = True,
        **terms: Unpack[LeaseTerms],
    ) -> BlockingDeque[V]:
        """A blocking queue that is taken from at both ends. Otherwise like :meth:`blocking_queue`.

        Answers to ``RedissonClient.getBlockingDeque(name, codec)``.
        """
        side = OpenQueue[V](name, self._codec(codec, type), self.runtime.options, **terms)
        return BlockingDeque(self.runtime, side, DequeRequests(side), transfer)

    @with_options_of(OpenQueue)
    def bounded_blocking_queue(
        self,
        name: str,
        codec: Codec[V] | None = None,
        *,
        type: type[V] | None = None,
        transfer: bool = True,
        **terms: Unpack[LeaseTerms],
    ) -> BoundedBlockingQueue[V]:
        """A queue with a capacity, which offers respect. Otherwise like :meth:`blocking_queue`.

        Answers to ``RedissonClient.getBoundedBlockingQueue(name, codec)``.
        """
        side = OpenQueue[V](name, self._codec(codec, type), self.runtime.options, BOUNDED, **terms)
        return BoundedBlockingQueue(self.runtime, side, BoundedRequests(side), transfer)

    @overload
    def delayed_queue(
        self,
        queue: str,
        codec: Codec | None = None,
        *,
        type: type[JavaInt],
        transfer: bool = True,
        lean: bool = False,
        partitions: None = None,
    ) -> DelayedQueue[int]: ...

    @overload
    def delayed_queue(
        self,
        queue: str | BlockingQueue[V],
        codec: Codec[V] | None = None,
        *,
        type: type[V] | None = None,
        transfer: bool = True,
        lean: bool = False,
        partitions: None = None,
    ) -> DelayedQueue[V]: ...

    @overload
    def delayed_queue(
        self,
        queue: str,
        codec: Codec[V] | None = None,
        *,
        type: TypeForm[V],
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
        type: None = None,
        transfer: bool = True,
        lean: bool = False,
    ) -> PartitionedDelayedQueue[V]: ...

    @overload
    def delayed_queue(
        self,
        queue: str,
        codec: Codec | None = None,
        *,
        type: type[JavaInt],
        transfer: bool = True,
        lean: bool = False,
        partitions: int,
    ) -> PartitionedDelayedQueue[int]: ...

    @overload
    def delayed_queue(
        self,
        queue: str,
        codec: Codec[V] | None = None,
        *,
        type: type[V] | None = None,
        transfer: bool = True,
        lean: bool = False,
        partitions: int,
    ) -> PartitionedDelayedQueue[V]: ...

    def delayed_queue(
        self,
        queue: str | BlockingQueue[V] | PartitionedBlockingQueue[V],
        codec: Codec[V] | None = None,
        *,
        type: Any = None,
        transfer: bool = True,
        lean: bool = False,
        partitions: int | None = None,
    ) -> Any:
        """The delayed side of a queue, given by its handle or its name. No round trip.

        - ``codec``, ``type``: those of the handle unless given
        - ``transfer``: False for producers: no subscription, no thread
        - ``lean``: offers are stored in the timeout zset only, without the copy that Redisson keeps in a list. They
          take less memory and time. Redisson (3.21.1 or later) delivers them, but its size, contains, remove,
          readAll, peek and poll do not see them
        - ``partitions``: 1 to 1,024; a handle has its own number

        Raises ArgumentError, also for ``lean=True`` with ``envelope="legacy"``; ClosedError.

        Answers to ``RedissonClient.getDelayedQueue(queue)``.
        """
        if partitions is not None and not isinstance(queue, str):
            raise ArgumentError(f"partitions= is for a queue's name; {shown(queue)} has its own number")
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
        if not isinstance(queue, str) and queue._runtime is not self.runtime:
            raise ArgumentError(
                f"queue {name!r} is open in another client, which may have another server or codec: open both sides "
                "with one client, or give the queue's name"
            )
        codec = self._codec(codec, type)
        if partitions is not None:
            from redisson_dq._async.queues.partitioned_delayed import PartitionedDelayedQueue

            names = partition_names(name, partitions, self.runtime.options.name_mapper)
            kind = LEAN if lean else DELAYED
            sides = tuple(OpenQueue[V](each, codec, self.runtime.options, kind) for each in names)
            for side in sides:
                side.partitions = sides
            opened = tuple(DelayedQueue(self.runtime, side, transfer) for side in sides)
            return PartitionedDelayedQueue(self.runtime, name, opened, sides[0])
        # The leases of take_due have the terms of the queue.
        terms = terms_of(queue) if isinstance(queue, BlockingQueue) else LeaseTerms()
        side = OpenQueue[V](name, codec, self.runtime.options, LEAN if lean else DELAYED, **terms)
        return DelayedQueue(self.runtime, side, transfer)

    def pipeline(self, *, transaction: bool = False) -> Pipeline:
        """Collects requests of any queues of this client, and sends them in one round trip.

        With ``transaction=True`` Redis runs no other commands between them (MULTI and EXEC); on a cluster their
        queues need one hash tag then.

        Answers to ``RedissonClient.createBatch(options)``; a transaction to ``ExecutionMode.IN_MEMORY_ATOMIC``.
        """
        return Pipeline(self.runtime.connections, transaction=transaction)

    def _codec(self, codec: Codec[V] | None, type: Any) -> Codec[V] | None:
        return codec if type is None else (codec or self.runtime.options.codec).typed(type)

    def _blocking_queue(self, side: OpenQueue[V], transfer: bool) -> BlockingQueue[V]:
        return BlockingQueue(self.runtime, side, QueueRequests(side), transfer)
