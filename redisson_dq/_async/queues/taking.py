"""The waits for values of a queue, of several queues, and for a move: the common part of the calls that take."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from redisson_dq._async.queues.leasing import LeasingQueue
from redisson_dq._async.queues.ready import ReadyQueue
from redisson_dq._async.receiving.receiver import Receiver
from redisson_dq._times import Delay, timeout_seconds
from redisson_dq.errors import DecodeError, RedissonDQError
from redisson_dq.requests.checks import check_count
from redisson_dq.requests.inner.ready_side import ReadySide
from redisson_dq.requests.ready import QueueRequests
from redisson_dq.waiting.line import Lifeline
from redisson_dq.wire.blocking import Move, Pop, Source
from redisson_dq.wire.commands import End

__all__ = ["TakingQueue"]

T = TypeVar("T")
U = TypeVar("U")


class TakingQueue(ReadyQueue[T], LeasingQueue[T]):
    """A queue whose values are waited for."""

    requests: QueueRequests[T]
    _side: ReadySide[T]

    def _source(self, end: End, keys: tuple[str, ...] = ()) -> Source:
        """The source of a call: this queue's list, or the first of several that has a value."""
        return Pop(keys or (self.keys.ready,), end)

    def _move_source(self, destination: str, from_end: End, to_end: End) -> Source:
        """The source of a call that moves a value."""
        return Move(self.keys.ready, destination, from_end, to_end)

    def _receiver(self, source: Source) -> Receiver:
        self._begin_taking()
        return self._runtime.receivers.of(source)

    async def _wait(
        self,
        end: End,
        keys: tuple[str, ...],
        timeout: float | None,
        limit: int,
        result: Callable[[str, list[T]], U],
        nothing: U,
    ) -> U:
        """Waits for values of the first of the lists that has some: ``result(key, values)``, or ``nothing``."""
        source = self._source(end, keys)
        deadline = None if timeout is None else self._runtime.clock.monotonic() + timeout
        call = "take" if timeout is None else "poll"
        receiving = self._runtime.operations.receiving(call, self.name, count=None if limit == 1 else 0)
        try:
            while True:
                left = None if deadline is None else max(0.0, deadline - self._runtime.clock.monotonic())
                receiver, lifeline = self._receiver(source), Lifeline()
                taken = await receiver.receive(left, limit, lifeline)
                if not taken:
                    return nothing
                try:
                    values = await self._values.received(taken, receiver, lifeline, deadline)
                    if values:
                        made = result(taken[0].key, values)
                        if receiving is not None:
                            receiving.operation.queue = self._name_of(taken[0].key)
                            receiving.end_taking(len(values))
                        # Keeping is the last step. After an interruption before it, the values go back.
                        lifeline.keep()
                        return made
                except DecodeError:
                    raise
                except BaseException:
                    lifeline.let_go()
                    raise
        except RedissonDQError as error:
            if receiving is not None:
                receiving.end_failing(error)
            raise

    async def _wait_for_move(self, destination: str, from_end: End, to_end: End, timeout: float | None) -> T | None:
        """Waits for a value and moves it. It stays in Redis whatever happens here."""
        receiver = self._receiver(self._move_source(destination, from_end, to_end))
        receiving = self._runtime.operations.receiving("move", self.name)
        deadline = None if timeout is None else self._runtime.clock.monotonic() + timeout
        while True:
            left = None if deadline is None else max(0.0, deadline - self._runtime.clock.monotonic())
            taken = await receiver.receive(left)
            values = self._moved(taken[0].data, destination) if taken else []
            if receiving is not None:
                receiving.end_taking(len(values))
            if values or not taken:
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

    async def _wait_for_one(self, end: End, keys: tuple[str, ...] = ()) -> T:
        """A value of this queue's list, or of others, as long as it takes."""
        keys = keys or (self.keys.ready,)
        # Without a timeout there is always a value.
        nothing = cast("T", None)
        return await self._wait(end, keys, None, 1, lambda _, values: values[0], nothing)

    async def _poll(self, end: End, limit: int | None, timeout: Delay | None) -> T | list[T] | None:
        seconds = 0.0 if timeout is None else timeout_seconds(timeout, self.name)
        keys = (self.keys.ready,)
        if limit is None:
            if seconds:
                return await self._wait(end, keys, seconds, 1, lambda _, values: values[0], None)
            return await self._run_taking(self._side.pop_one(end))
        if seconds:
            count = check_count(limit, self.name)
            none: list[T] = []
            return await self._wait(end, keys, seconds, count, lambda _, values: values, none)
        return await self._run_taking(self._side.pop_many(end, limit), many=True)

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
            return await self._wait(end, tuple(names), seconds, 1, lambda key, values: (names[key], values[0]), None)
        for key, name in names.items():
            values = await self._run_taking(self._side.pop_from(key, end, 1), queue=name, many=True)
            if values:
                return name, values[0]
        return None
