"""The wait of a call for values, of one queue or of a queue in partitions: until they came and were decoded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from operator import attrgetter
from typing import Generic, Protocol, TypeVar

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.receiving.listeners import Listeners, Named
from redisson_dq._async.receiving.receiver import Receiver
from redisson_dq._async.runtime import Runtime
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.errors import ClosedError, DecodeError, RedissonDQError
from redisson_dq.observing.operations import UNASKED
from redisson_dq.waits.line import Lifeline
from redisson_dq.wire.taken import Taken

__all__ = ["TakenValues", "TakingForEver", "WaitLoop", "all_of", "first_of"]

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
        nothing: U,
        name_of: Callable[[str], str] | None = None,
    ) -> U:
        """``result(key, values)`` for values of the list ``key``, or ``nothing`` after ``timeout`` seconds.

        ``receiver_of`` gives the receiver, again for each wait. ``name_of(key)`` names the queue of a list, where the
        wait is for several queues.
        """
        clock, lifeline = self._runtime.clock, Lifeline()
        deadline = None if timeout is None else clock.monotonic() + timeout
        call, count = "take" if timeout is None else "poll", None if limit == 1 else 0
        try:
            operations = self._runtime.operations
            with operations.receiving(call, self._queue.name, count=count) if operations else UNASKED as receipt:
                while True:
                    left = None if deadline is None else max(0.0, deadline - clock.monotonic())
                    receiver, lifeline = receiver_of(), Lifeline()
                    taken = await receiver.receive(left, limit, lifeline)
                    if not taken:
                        # The answer is not kept. Values that come later go back.
                        return nothing
                    values = await self._decode(taken, receiver, lifeline, deadline)
                    if values:
                        key = taken[0].key
                        made = result(key, values)
                        receipt.took(len(values), queue=None if name_of is None else name_of(key))
                        # Keeping is the last step. After an interruption before it, the values go back.
                        lifeline.keep()
                        return made
        except DecodeError:
            # Its values are the caller's, read or not.
            raise
        except BaseException:
            # Also an interruption after the last step: the caller has no values then.
            lifeline.let_go()
            raise


def first_of(key: str, values: list[T]) -> T:
    """The result of a call for one value."""
    return values[0]


def all_of(key: str, values: list[T]) -> list[T]:
    """The result of a call for many values."""
    return values


class TakingForEver(Generic[T]):
    """A handle that takes values as they come: for a loop, or for consumers that were given to it."""

    _listeners: Listeners

    async def take(self) -> T:
        raise NotImplementedError

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
