"""The queue that consumers take from: the calls that wait for values, and those that take at once."""

from __future__ import annotations

from typing import TypeVar

from redisson_dq._async.queues.leasing import LeasingQueue
from redisson_dq._async.queues.ready import ReadyQueue
from redisson_dq._async.queues.wait_loop import TakingQueue, WaitLoop, first_of
from redisson_dq._async.receiving.listeners import Listeners
from redisson_dq._async.runtime import Runtime
from redisson_dq.calls.checks import check_end
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.ready import QueueRequests, moved, popped, popped_from, popped_one
from redisson_dq.errors import DecodeError
from redisson_dq.scheduling.times import Delay, timeout_seconds
from redisson_dq.wire.blocking import Move, Pop, Source
from redisson_dq.wire.commands import End
from redisson_dq.wire.keys import QueueKeys

__all__ = ["BlockingQueue"]

T = TypeVar("T")
U = TypeVar("U")


class BlockingQueue(TakingQueue[T], ReadyQueue[T], LeasingQueue[T]):
    """The queue that due items arrive in. Made by ``client.blocking_queue(name)``.

    Taking is at most once: an item that was taken is gone from Redis, as with Redisson. ``take()`` and
    ``poll(timeout=)`` never lose one by being cancelled, interrupted or closed. A crash of the process loses the
    items it had taken. A connection that breaks while a reply is on its way loses all of that reply. That is one item,
    or of a backlog up to 1,000 (a larger ``limit``) that callers of this client wait for. One command takes them.

    Every call raises ArgumentError for an invalid argument, and ClosedError after :meth:`destroy`. It
    raises RedisConnectionError when Redis cannot be reached, WrongTypeError when the name holds something else, and
    RedisReplyError for any other refusal. A value that the codec has no bytes for is an EncodeError. Bytes that are no
    value are a DecodeError, which says where they are kept.

    Calls that look for a value (``contains``, ``remove`` ...) compare bytes, and so does ``deduplicate_for=``. Equal
    values that Python made have equal bytes. A few kinds of values that were read from Java do not have the bytes that
    they are written to: for these such a call raises EncodeError. ``docs/equal-bytes.md`` lists them.
    """

    requests: QueueRequests[T]
    _side: OpenQueue[T]

    def __init__(self, runtime: Runtime, side: OpenQueue[T], requests: QueueRequests[T], transfer: bool) -> None:
        super().__init__(runtime, side, requests, transfer)
        self._waits = WaitLoop(runtime, self, self._values.received)
        self._listeners = Listeners(self, runtime.receivers, self._values.received, runtime.listeners)

    # -- taking ------------------------------------------------------------------------------------------------------

    async def drain_to(self, limit: int | None = None) -> list[T]:
        """Takes everything, or the first ``limit`` values, as a list.

        :Redisson: ``RBlockingQueue.drainTo(Collection)``, ``RBlockingQueue.drainTo(Collection, int)``
        :Cost: O(k), k taken, in one reply; one round trip
        :Guarantee: atomic, at most once
        """
        return await self._run_taking(self.requests.drain_to(limit), "drain_to", many=True)

    async def poll_from_any(self, *queue_names: str, timeout: Delay | None = None) -> T | None:
        """Takes the head of this queue, else of the first of the others that has one, within ``timeout``.

        The others are read with this queue's codec, and this client moves their due items only where they are open too.
        On a cluster all need one hash tag. Returns None when nothing came. Raises CrossSlotError.

        >>> await client.blocking_queue("normal").add("order-42")
        True
        >>> await queue.poll_from_any("normal", "low", timeout=5)
        'order-42'

        :Redisson: ``RBlockingQueue.pollFromAny(long, TimeUnit, String...)``
        :Cost: O(q), q queues; one round trip; q without a timeout
        :Guarantee: at most once; a wait loses nothing by being cancelled or closed
        """
        found = await self._poll_any("first", queue_names, timeout)
        return None if found is None else found[1]

    async def poll_from_any_with_name(self, *queue_names: str, timeout: Delay | None = None) -> tuple[str, T] | None:
        """Like :meth:`poll_from_any`, and returns the name of the queue too: ``(name, value)``.

        :Redisson: ``RBlockingQueue.pollFromAnyWithName(Duration, String...)``
        :Cost: O(q), q queues; one round trip; q without a timeout
        :Guarantee: at most once; a wait loses nothing by being cancelled or closed
        """
        return await self._poll_any("first", queue_names, timeout)

    async def poll_last_from_any_with_name(
        self, *queue_names: str, timeout: Delay | None = None
    ) -> tuple[str, T] | None:
        """Like :meth:`poll_from_any_with_name`, at the last end.

        :Redisson: ``RBlockingQueue.pollLastFromAnyWithName(Duration, String...)``
        :Cost: O(q), q queues; one round trip; q without a timeout
        :Guarantee: at most once; a wait loses nothing by being cancelled or closed
        """
        return await self._poll_any("last", queue_names, timeout)

    async def take_from_any(self, *queue_names: str) -> T:
        """Like :meth:`poll_from_any`, and waits as long as it takes.

        :Cost: O(q), q queues; one command
        :Guarantee: at most once; nothing is lost by cancelling or closing
        """
        keys = tuple(self._any_of(queue_names))
        self._check()
        self._runtime.start_moving_queues(keys)
        receivers = self._receivers("first", keys)
        # In one step, as in :meth:`take`.
        return await self._waits.run(receivers, None, 1, first_of, name_of=self._name_of)

    async def poll_last_and_offer_first_to(self, queue_name: str, *, timeout: Delay | None = None) -> T | None:
        """Moves the last value to the front of another queue and returns it; None when nothing came in time.

        On a cluster both need one hash tag. The name goes through the name mapper. Raises CrossSlotError.

        :Redisson: ``RQueue.pollLastAndOfferFirstTo(String)``,
            ``RBlockingQueue.pollLastAndOfferFirstTo(String, long, TimeUnit)``
        :Cost: O(1); one round trip; a timeout that passes one more
        :Guarantee: atomic: it is in one of the two queues at any time
        """
        return await self.move(queue_name, from_end="last", to_end="first", timeout=timeout)

    async def take_last_and_offer_first_to(self, queue_name: str) -> T:
        """Like :meth:`poll_last_and_offer_first_to`, and waits as long as it takes.

        :Redisson: ``RBlockingQueue.takeLastAndOfferFirstTo(String)``
        :Cost: O(1); one command
        :Guarantee: atomic: it is in one of the two queues at any time
        """
        value = await self._move(self._side.keys_of(queue_name).ready, "last", "first", None)
        assert value is not None
        return value

    async def move(
        self, queue_name: str, *, from_end: End = "first", to_end: End = "last", timeout: Delay | None = None
    ) -> T | None:
        """Moves one value from an end of this queue to an end of another (or of this) and returns it.

        None when nothing came, at once or within ``timeout`` (seconds or a timedelta). Otherwise like
        :meth:`poll_last_and_offer_first_to`. A value that cannot be read stays in the other list; a client with
        ``undecodable="skip"`` then moves the next one. Within one queue it raises DecodeError, as nothing is set aside.
        For work that must survive a crash use :meth:`receive`. It ends exactly the value that was taken. ``remove``
        would need a value with the same bytes when it is encoded again.

        >>> await queue.add("order-42")
        True
        >>> await queue.move("archive")
        'order-42'

        :Redisson: ``RDeque.move(DequeMoveArgs)``, ``RBlockingDeque.move(Duration, DequeMoveArgs)``
        :Cost: O(1); one round trip; a timeout that passes one more
        :Guarantee: atomic: it is in one of the two queues at any time
        """
        seconds = 0.0 if timeout is None else timeout_seconds(timeout, self.name)
        destination = self._side.keys_of(queue_name).ready
        ends = check_end(from_end, self.name), check_end(to_end, self.name)
        return await self._move(destination, *ends, seconds)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _source(self, end: End, keys: tuple[str, ...] = ()) -> Source:
        return Pop(keys, end, self._side.room) if keys else self._side.pops[end]

    async def _move(self, destination: str, from_end: End, to_end: End, timeout: float | None) -> T | None:
        """Moves a value: at once with 0, else waits for it. It stays in Redis whatever happens here."""
        clock, side = self._runtime.clock, self._side
        source = Move(side.keys.ready, destination, from_end, to_end, side.room)
        receiver = None if timeout == 0 else self._receiver(source)
        with self._runtime.operations.receiving("move", self.name) as receipt:
            deadline = None if timeout is None else clock.monotonic() + timeout
            while True:
                if receiver is None:
                    data = await self._run(moved(side, destination, from_end, to_end))
                else:
                    left = None if deadline is None else max(0.0, deadline - clock.monotonic())
                    taken = await receiver.receive(left)
                    data = taken[0].data if taken else None
                values = [] if data is None else self._moved(data, destination)
                receipt.took(len(values))
                if values or data is None:
                    return values[0] if values else None

    def _moved(self, data: bytes, destination: str) -> list[T]:
        """The value that was moved.

        Empty where the client skips a value that cannot be read. That value stays in the other list.
        """
        try:
            return self._side.in_place([data], destination)
        except DecodeError as error:
            if destination == self.keys.ready:  # skipped, it would come again, for ever
                error.kept_in = destination
                raise
            self._values.skip(error, destination, None)
            return []

    async def _poll_at_once(self, end: End, limit: int | None) -> T | list[T] | None:
        if limit is None:
            return await self._run_taking(popped_one(self._side, end))
        return await self._run_taking(popped(self._side, end, limit), many=True)

    def _name_of(self, key: str) -> str:
        """The queue's name, or the key of another one that a call has waited on."""
        return self.name if key == self.keys.ready else key

    def _any_of(self, queue_names: tuple[str, ...]) -> dict[str, str]:
        """Raw name -> name, this queue's first."""
        return {self.keys.ready: self.name, **{self._side.keys_of(name).ready: name for name in queue_names}}

    async def _poll_any(self, end: End, queue_names: tuple[str, ...], timeout: Delay | None) -> tuple[str, T] | None:
        names = self._any_of(queue_names)
        seconds = timeout_seconds(timeout or 0, self.name)
        self._check()
        self._runtime.start_moving_queues(names)
        if seconds:
            receivers = self._receivers(end, tuple(names))
            return await self._waits.run(
                receivers, seconds, 1, lambda key, values: (names[key], values[0]), name_of=self._name_of
            )
        for key, name in names.items():
            values = await self._run_taking(popped_from(self._side, key, end, 1), queue=name, many=True)
            if values:
                return name, values[0]
        return None

    def _left(self, old: QueueKeys) -> None:
        self._listeners.move()
