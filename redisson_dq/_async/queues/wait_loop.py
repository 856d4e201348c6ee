"""The calls that wait for values, of one queue or of a queue in partitions, until these came and were decoded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar, overload

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.queues.any_queue import AnyQueue
from redisson_dq._async.receiving.listeners import Listeners, Named
from redisson_dq._async.receiving.receiver import Receiver
from redisson_dq._async.runtime import Runtime
from redisson_dq._concurrency import AsyncCallback, async_check_callback
from redisson_dq.calls.checks import check_count, check_function, limit_of
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.errors import ClosedError, DecodeError, RedissonDQError
from redisson_dq.scheduling.times import Delay, timeout_seconds
from redisson_dq.waits.line import Lifeline
from redisson_dq.wire.blocking import Waitable
from redisson_dq.wire.commands import End
from redisson_dq.wire.taken import Taken

__all__ = ["TakenValues", "TakingQueue", "WaitLoop", "all_of", "first_of"]

T = TypeVar("T")
U = TypeVar("U")

_data_of = attrgetter("data")


class _Reads(Protocol[T]):
    """Decodes the taken values, without those that cannot be read where the client skips them."""

    async def __call__(
        self, taken: list[Taken], receiver: Receiver, lifeline: Lifeline, deadline: float | None
    ) -> list[T]: ...


class WaitLoop(Generic[T]):
    """Waits for values of one handle until some can be read, and keeps them."""

    def __init__(self, runtime: Runtime, queue: Named, decode: _Reads[T]) -> None:
        self._runtime = runtime
        self._queue = queue
        self._decode = decode

    async def run(
        self,
        receiver_of: Callable[[], Receiver],
        timeout: float | None,
        limit: int,
        result: Callable[[str, list[T]], U],
        nothing: Any = None,
        name_of: Callable[[str], str] | None = None,
    ) -> U:
        """``result(key, values)`` for values of the list ``key``, or ``nothing`` after ``timeout`` seconds, if any.

        ``receiver_of`` gives the receiver, again for each wait. ``name_of(key)`` names the queue of a list, where the
        wait is for several queues.
        """
        clock, lifeline = self._runtime.clock, Lifeline()
        deadline = None if timeout is None else clock.monotonic() + timeout
        call, count = "take" if timeout is None else "poll", None if limit == 1 else 0
        operations = self._runtime.operations
        receipt = operations.receiving(call, self._queue.name, count=count) if operations else None
        try:
            while True:
                left = None if deadline is None else max(0.0, deadline - clock.monotonic())
                receiver, lifeline = receiver_of(), Lifeline()
                taken = await receiver.receive(left, limit, lifeline)
                if not taken:
                    # The answer is not kept. Values that come later go back.
                    return nothing  # type: ignore[no-any-return]
                values = await self._decode(taken, receiver, lifeline, deadline)
                if values:
                    key = taken[0].key
                    made = result(key, values)
                    if receipt is not None:
                        receipt.took(len(values), queue=None if name_of is None else name_of(key))
                    # Keeping is the last step. After an interruption before it, the values go back.
                    lifeline.keep()
                    return made
        except BaseException as error:
            if not isinstance(error, DecodeError):
                # Also an interruption after the last step: the caller has no values then. Those of a DecodeError are
                # the caller's, read or not.
                lifeline.let_go()
            if receipt is not None:
                receipt.failed(error)
            raise


def first_of(key: str, values: list[T]) -> T:
    """The result of a call for one value."""
    return values[0]


def all_of(key: str, values: list[T]) -> list[T]:
    """The result of a call for many values."""
    return values


class TakingQueue(AnyQueue[Any], Generic[T]):
    """A handle, of one queue or of its partitions, that takes values: for callers, a loop, or consumers."""

    _waits: WaitLoop[T]
    _listeners: Listeners

    async def take(self) -> T:
        """Waits for the next value and takes it. All waiting callers of a client share one connection per queue.

        With partitions that is the next value of any of them, and one connection for each. Goes on waiting when a
        connection breaks. Raises ClosedError when the client or the last handle of the queue is closed meanwhile.

        >>> await delayed.offer("order-42", delay=0.05)  # doctest: +ELLIPSIS
        <DelayedItem ...>
        >>> await queue.take()
        'order-42'

        :Redisson: ``RBlockingQueue.take()``
        :Cost: O(1); one command, two for many callers together while there is a backlog. With partitions O(p) for a
            look at all p of them, which callers share and which serves until its values are taken
        :Guarantee: at most once; nothing is lost by cancelling or closing
        """
        return await self._wait_for_one("first")

    @overload
    async def poll(self, *, timeout: Delay | None = None) -> T | None: ...

    @overload
    async def poll(self, *, limit: int, timeout: Delay | None = None) -> list[T]: ...

    @overload
    async def poll(self, limit: int, /, *, timeout: Delay) -> list[T]: ...

    async def poll(self, *number: int, limit: int | None = None, timeout: Delay | None = None) -> T | list[T] | None:
        """Takes the head, or up to ``limit`` values: at once, or within ``timeout`` (seconds or a timedelta).

        With both it waits for the first value and takes other ready values with it, in order. Returns None, or an empty
        list, when there is nothing. A DecodeError of several values carries those that could be read in ``decoded``.
        ``poll(5)`` is an ArgumentError, as it may mean either; ``poll(5, timeout=1)`` is a limit. Redisson sends
        timeouts in whole seconds, and takes a limit below 1 for 0; here milliseconds count, and such a limit is an
        ArgumentError.

        With partitions the values are taken in even shares. When Redis fails for one partition, the call returns values
        of the others and logs the failure, or raises it when they have none.

        >>> await queue.add_all(["a", "b", "c"])
        True
        >>> await queue.poll()
        'a'
        >>> await queue.poll(10, timeout=5)
        ['b', 'c']
        >>> await queue.poll(timeout=0.01)

        :Redisson: ``RQueue.poll()``, ``RQueue.poll(int)``, ``RBlockingQueue.poll(long, TimeUnit)``
        :Cost: O(1) or O(limit); one round trip, two with both; a timeout that passes one more. With p
            partitions O(p + limit), and at once one or two round trips for each node
        :Guarantee: at most once; a wait loses nothing by being cancelled or closed
        """
        if number:
            limit = limit_of(number, limit, timeout, self.name)
        return await self._poll("first", limit, timeout)

    async def unsubscribe(self, listener_id: int) -> None:
        """Ends a subscription and waits until its consumer has returned. Nothing is lost by it.

        An id that is not there changes nothing. A consumer may end its own subscription, but not by a task or thread
        that it waits for.

        :Redisson: ``RBlockingQueue.unsubscribe(int)``
        :Cost: one round trip for each blocked pop that has to end
        :Guarantee: nothing is lost
        """
        await self._listeners.end(listener_id)

    async def elements(self) -> AsyncIterator[T]:
        """Takes values as they come, for ever: ``async for order in queue.elements()``. Ends when the queue is closed.

        :Cost: one command for each value
        :Guarantee: at most once; leaving the loop loses nothing
        """
        while True:
            try:
                value = await self.take()
            except ClosedError:
                return
            yield value

    async def subscribe_on_elements(self, consumer: AsyncCallback[T]) -> int:
        """Takes values as they come and calls ``consumer(value)`` with each, one after the other.

        Returns an id for :meth:`unsubscribe`. An error of the consumer is logged, and the next value is taken. Every
        subscription has a background task of its own; it ends with :meth:`unsubscribe`, :meth:`destroy` or the client.

        :Redisson: ``RBlockingQueue.subscribeOnElements(Consumer)``, ``RBlockingQueue.subscribeOnElements(Function)``
        :Cost: one command for each value
        :Guarantee: at most once
        """
        return self._subscribe("first", consumer)

    async def destroy(self) -> None:
        """Ends this handle's subscriptions and closes it; the data stays. May be called twice.

        With the last open handle that moves the queue's due items this client stops moving them. Other processes go on.
        With the last handle of any kind, a ``take()`` that still waits raises ClosedError.

        :Cost: none; one round trip when a blocked pop has to end
        :Guarantee: no data changes
        """
        await self._listeners.end_all()
        await super().destroy()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _source(self, end: End, keys: tuple[str, ...] = ()) -> Waitable:
        """The source of a call: this queue's list, or the first of several that has a value."""
        raise NotImplementedError

    def _receiver(self, source: Waitable) -> Receiver:
        self._begin_taking()
        return self._runtime.receivers.of(source)

    def _receivers(self, end: End, keys: tuple[str, ...] = ()) -> Callable[[], Receiver]:
        """The receiver of a call, again for each wait of it."""
        return partial(self._receiver, self._source(end, keys))

    async def _wait_for_one(self, end: End) -> T:
        """A value of this queue, as long as it takes."""
        receiver_of = partial(self._receiver, self._source(end))
        # In one step: an interruption between the end of the call and the return would lose the value.
        return await self._waits.run(receiver_of, None, 1, first_of)

    async def _poll(self, end: End, limit: int | None, timeout: Delay | None) -> T | list[T] | None:
        seconds = 0.0 if timeout is None else timeout_seconds(timeout, self.name)
        if not seconds:
            return await self._poll_at_once(end, limit)
        # No look of the call's own comes first. It could return later values before one that a pop is putting back.
        if limit is None:
            return await self._waits.run(self._receivers(end), seconds, 1, first_of)
        none: list[T] = []
        return await self._waits.run(self._receivers(end), seconds, check_count(limit, self.name), all_of, none)

    async def _poll_at_once(self, end: End, limit: int | None) -> T | list[T] | None:
        """A value or None, or a list of up to ``limit`` values."""
        raise NotImplementedError

    def _subscribe(self, end: End, consumer: AsyncCallback[T]) -> int:
        self._check()
        checked = check_function(consumer, self.name)
        async_check_callback(consumer, f"queue {self.name!r}")
        self._begin_taking()
        return self._listeners.add(lambda: self._source(end), checked)


class TakenValues(Generic[T]):
    """Decodes the values of one queue. The client decides whether a value that it cannot read raises or is skipped."""

    def __init__(self, connections: Connections, side: OpenQueue[T]) -> None:
        self._connections = connections
        self._side = side

    async def received(
        self, taken: list[Taken], receiver: Receiver, lifeline: Lifeline, deadline: float | None = None
    ) -> list[T]:
        """The values that a receiver gave; without those that cannot be read when the client skips them.

        Raises DecodeError, at the caller's deadline even if Redis has not answered. The values in the error, read or
        not, are the caller's then.
        """
        try:
            return self._side.popped(list(map(_data_of, taken)), taken[0].key)
        except DecodeError as error:
            unread = set(map(id, error.undecodable))
            key = self._side.keys.undecodable
            aside = [each for each in taken if id(each.data) in unread]
            failure = await receiver.set_aside(lifeline, aside, key, deadline)
            lifeline.keep()
            self.skip(error, key, failure)
            return list(error.decoded)

    async def popped(self, taken: list[Taken]) -> list[T]:
        """Like :meth:`received`, of values that no receiver holds."""
        try:
            return self._side.popped(list(map(_data_of, taken)))
        except DecodeError as error:
            await self.set_aside(error, self._side.keys.undecodable)
            return list(error.decoded)

    async def set_aside(self, error: DecodeError, key: str) -> None:
        """Puts undecodable values into the list ``key``. Raises the error where the client does not skip them."""
        await self._connections.undecodable.set_aside(error, key)
        self.skip(error, key, None)

    def skip(self, error: DecodeError, key: str, failure: RedissonDQError | None) -> None:
        """Raises the error, unless the client skips undecodable values and Redis has kept them."""
        if failure is not None:
            raise error from failure
        error.kept_in = key
        if not self._side.skip(error):
            raise error
