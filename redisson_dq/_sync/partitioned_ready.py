# Generated from redisson_dq/_async/partitioned_ready.py by .ci/unasync.py. Do not edit: edit that file and run it.

"""The ready side of a queue in partitions."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar, overload

from .._pairs import Callback, finish_or_undo
from .._times import Delay, timeout_seconds
from ..errors import ClosedError, DecodeError, RedissonDQError
from ..requests.base import check_count, check_function
from ..wire import commands
from ..wire.blocking import Pop, Taken, Turns
from ..wire.commands import End
from .listeners import Listener
from .partitioned import Partitioned
from .ready import BlockingQueue

if TYPE_CHECKING:
    from .client import Client

__all__ = ["PartitionedBlockingQueue"]

logger = logging.getLogger("redisson_dq")

T = TypeVar("T")


class PartitionedBlockingQueue(Partitioned[BlockingQueue[T]]):
    """A queue over many partitions that consumers take from. Made by ``client.blocking_queue(name, partitions=16)``.

    Values are taken from all partitions, of each in its order, and none has to wait for another to be empty. However
    many callers wait, a client has one blocking connection for each partition. What is said of taking with
    :class:`BlockingQueue` holds here too, and calls raise what its calls raise.
    """

    def __init__(self, client: Client, name: str, partitions: tuple[BlockingQueue[T], ...]) -> None:
        super().__init__(client, name, partitions)
        self._of_key = {partition.keys.ready: partition for partition in partitions}
        self._all = Turns(tuple(Pop((key,), "first") for key in self._of_key))
        self._listeners: dict[int, Listener] = {}
        self._listener_ids = itertools.count(1)

    # -- adding ------------------------------------------------------------------------------------------------------

    def add(self, value: T, key: str | None = None) -> bool:
        """Puts a value at the end of the key's partition, or of the next one, ready at once. Always True.

        :Redisson: none
        :Cost: O(1); one round trip
        :Guarantee: never sent twice; may be in when no reply came
        """
        return (self._next_partition() if key is None else self.partition_for(key)).add(value)

    def offer(self, value: T, key: str | None = None) -> bool:
        """The same as :meth:`add`.

        :Redisson: none
        :Cost: O(1); one round trip
        :Guarantee: never sent twice; may be in when no reply came
        """
        return self.add(value, key)

    # -- taking ------------------------------------------------------------------------------------------------------

    def take(self) -> T:
        """Waits for the next value of any partition and takes it.

        Goes on waiting when a connection breaks, and takes from the other partitions meanwhile. Raises ClosedError when
        the client or the last handle of a partition is closed.

        :Redisson: none
        :Cost: O(p), p partitions, for a look at all of them, which callers share and which serves until what it found
            is taken; then O(1). One or two commands to each node, or while all are empty one blocking pop of each
        :Guarantee: at most once; nothing is lost by cancelling or closing
        """
        while True:
            values = self._decoded(self._receive(None, 1))
            if values:
                return values[0]

    @overload
    def poll(self, *, timeout: Delay | None = None) -> T | None: ...

    @overload
    def poll(self, limit: int, *, timeout: Delay | None = None) -> list[T]: ...

    def poll(self, limit: int | None = None, *, timeout: Delay | None = None) -> T | list[T] | None:
        """Takes a value, or up to ``limit`` values, of any partitions: at once, or as soon as there are any within
        ``timeout`` (seconds or a timedelta).

        Gives None, or an empty list, when there is nothing. What several partitions have is taken in even shares. When
        Redis fails for one of them, what the others have is returned, and the failure is logged; it is raised when they
        have nothing. A timeout of a few milliseconds may be over before all have been asked.

        :Redisson: none
        :Cost: O(p + limit), p partitions; at once: one round trip for each node, one more when there is something;
            waiting: like :meth:`take`
        :Guarantee: at most once; nothing is lost by cancelling or closing
        """
        wanted = 1 if limit is None else check_count(limit, self.name)
        seconds = 0.0 if timeout is None else timeout_seconds(timeout, self.name)
        deadline = time.monotonic() + seconds
        # With a timeout no look beside the receiver, whose pops stay for a moment: what one of them took and puts back
        # would come after what was behind it.
        values = [] if seconds else self._look(wanted)
        while not values and (left := deadline - time.monotonic()) > 0:
            values = self._decoded(self._receive(left, wanted))
        if limit is not None:
            return values
        return values[0] if values else None

    def elements(self) -> Iterator[T]:
        """Takes values as they come, for ever: ``for order in queue.elements()``. Ends when the queue is closed.

        :Redisson: none
        :Cost: one command for each value
        :Guarantee: at most once; leaving the loop loses nothing
        """
        while True:
            try:
                value = self.take()
            except ClosedError:
                return
            yield value

    # -- listening ---------------------------------------------------------------------------------------------------

    def subscribe_on_elements(self, consumer: Callback[T]) -> int:
        """Takes values as they come and calls ``consumer(value)`` with each, one after the other.

        Otherwise like :meth:`BlockingQueue.subscribe_on_elements`. Gives an id for :meth:`unsubscribe`.

        :Redisson: none
        :Cost: one command for each value
        :Guarantee: at most once
        """
        self._check()
        # The one its worker will ask for; a client that is closed refuses it here.
        self._client._receiver(self._all)
        listener = Listener(self, "first", check_function(consumer, self.name))
        listener_id = next(self._listener_ids)
        self._listeners[listener_id] = listener
        return listener_id

    def unsubscribe(self, listener_id: int) -> None:
        """Ends a subscription and waits until its consumer has returned. Nothing is lost by it.

        :Redisson: none
        :Cost: one round trip for each blocked pop that has to end
        :Guarantee: nothing is lost
        """
        listener = self._listeners.pop(listener_id, None)
        if listener is not None:
            listener.stop()

    # -- removing ----------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Removes every ready value, in all partitions.

        :Redisson: none
        :Cost: O(n); one round trip for each node
        :Guarantee: atomic in each partition; may safely be repeated
        """
        self._ask(lambda partition: partition.requests.clear())

    def destroy(self) -> None:
        """Ends this handle's subscriptions and closes the handles of all partitions; the data stays.

        May be called twice. With the last open handle of a partition a ``take()`` that still waits raises ClosedError.

        :Redisson: none
        :Cost: none; one round trip for each blocked pop that has to end
        :Guarantee: no data changes
        """
        for listener_id in list(self._listeners):
            self.unsubscribe(listener_id)
        super().destroy()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _sizes(self) -> list[int]:
        return self._ask(lambda partition: partition.requests.size())

    def _source(self, end: End) -> Turns:
        """What a listener takes from: the one end there is here."""
        return self._all

    def _receive(self, timeout: float | None, limit: int) -> list[Taken]:
        self._check()
        return self._client._receiver(self._all).receive(timeout, limit)

    def _received(self, end: End, taken: list[Taken]) -> list[T]:
        """The values of what a listener has taken."""
        return self._decoded(taken)

    def _decoded(self, taken: list[Taken]) -> list[T]:
        """The values, of which those that the client is told to skip are missing. One error for all others."""
        values: list[T] = []
        failed: DecodeError | None = None
        for key, group in itertools.groupby(taken, key=lambda each: each.key):
            try:
                values += self._of_key[key]._decoded(list(group))
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

    def _look(self, limit: int) -> list[T]:
        """What is there at once, in even shares. Cancelled, it leaves what was there."""
        while taken := finish_or_undo(self._take_now(limit), self._put_back):
            values = self._decoded(taken)
            # Else nothing that was taken could be read.
            if values:
                return values
        return []

    def _take_now(self, limit: int) -> list[Taken]:
        while True:
            # Begins with another partition each time.
            turn = next(self._turns) % len(self.partitions)
            partitions = [*self.partitions[turn:], *self.partitions[:turn]]
            sizes = self._outcomes([(partition, partition.requests.size()) for partition in partitions])
            shares = _shares([size if isinstance(size, int) else 0 for size in sizes], limit)
            asked = [(partition, share) for partition, share in zip(partitions, shares, strict=True) if share]
            found = self._outcomes([(each, commands.pop_many(each.keys.ready, "first", n)) for each, n in asked])
            taken: list[Taken] = []
            for (partition, _), popped in zip(asked, found, strict=True):
                if isinstance(popped, list):
                    taken += [Taken(key=partition.keys.ready, data=data) for data in popped]
            failure = next((outcome for outcome in (*sizes, *found) if isinstance(outcome, RedissonDQError)), None)
            if failure is not None and not taken:
                raise failure
            if failure is not None:
                logger.warning("queue %r: taken from the other partitions alone: %s", self.name, failure)
            # Else others have been faster.
            if taken or not asked:
                return taken

    def _put_back(self, taken: list[Taken]) -> None:
        for key, group in itertools.groupby(taken, key=lambda each: each.key):
            self._of_key[key]._put_back(key, "first", [each.data for each in group])


def _shares(sizes: Sequence[int], limit: int) -> list[int]:
    """How many to take of each, so that they come to the limit, if there is as much, and are as even as they can be."""
    shares = [0] * len(sizes)
    while limit and (more := [i for i, size in enumerate(sizes) if shares[i] < size]):
        level = max(1, limit // len(more))
        for i in more:
            share = min(sizes[i] - shares[i], level, limit)
            shares[i] += share
            limit -= share
    return shares
