"""The waits for values of a queue, of several queues, and for a move: the common part of the calls that take."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar, cast

from redisson_dq._async.queues.leasing import LeasingQueue
from redisson_dq._async.queues.ready import ReadyQueue
from redisson_dq._async.queues.wait_loop import WaitLoop, all_of, first_of
from redisson_dq._async.receiving.receiver import Receiver
from redisson_dq.calls.checks import check_count
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.ready import QueueRequests, popped, popped_from, popped_one
from redisson_dq.errors import DecodeError
from redisson_dq.scheduling.times import Delay, timeout_seconds
from redisson_dq.wire.blocking import Move, Pop, Source
from redisson_dq.wire.commands import End

__all__ = ["TakingQueue"]

T = TypeVar("T")


class TakingQueue(ReadyQueue[T], LeasingQueue[T]):
    """A queue whose values are waited for."""

    requests: QueueRequests[T]
    _side: OpenQueue[T]
    _waits: WaitLoop[T]

    def _source(self, end: End, keys: tuple[str, ...] = ()) -> Source:
        """The source of a call: this queue's list, or the first of several that has a value."""
        return Pop(keys or (self._side.keys.ready,), end)

    def _move_source(self, destination: str, from_end: End, to_end: End) -> Source:
        """The source of a call that moves a value."""
        return Move(self.keys.ready, destination, from_end, to_end)

    def _receiver(self, source: Source) -> Receiver:
        self._begin_taking()
        return self._runtime.receivers.of(source)

    def _receivers(self, end: End, keys: tuple[str, ...] = ()) -> Callable[[], Receiver]:
        """The receiver of a call, again for each wait of it."""
        return partial(self._receiver, self._source(end, keys))

    async def _wait_for_move(self, destination: str, from_end: End, to_end: End, timeout: float | None) -> T | None:
        """Waits for a value and moves it. It stays in Redis whatever happens here."""
        receiver = self._receiver(self._move_source(destination, from_end, to_end))
        with self._runtime.operations.receiving("move", self.name) as receipt:
            deadline = None if timeout is None else self._runtime.clock.monotonic() + timeout
            while True:
                left = None if deadline is None else max(0.0, deadline - self._runtime.clock.monotonic())
                taken = await receiver.receive(left)
                values = self._moved(taken[0].data, destination) if taken else []
                receipt.took(len(values))
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
        name_of = self._name_of if keys else None
        # Without a timeout there is always a value.
        receiver_of = partial(self._receiver, self._source(end, keys))
        return await self._waits.run(receiver_of, None, 1, first_of, cast("T", None), name_of)

    async def _poll(self, end: End, limit: int | None, timeout: Delay | None) -> T | list[T] | None:
        seconds = 0.0 if timeout is None else timeout_seconds(timeout, self.name)
        if limit is None:
            if seconds:
                return await self._waits.run(self._receivers(end), seconds, 1, first_of, None)
            return await self._run_taking(popped_one(self._side, end))
        if seconds:
            count = check_count(limit, self.name)
            none: list[T] = []
            return await self._waits.run(self._receivers(end), seconds, count, all_of, none)
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
                receivers, seconds, 1, lambda key, values: (names[key], values[0]), None, self._name_of
            )
        for key, name in names.items():
            values = await self._run_taking(popped_from(self._side, key, end, 1), queue=name, many=True)
            if values:
                return name, values[0]
        return None
