"""The calls of a client that look: at queues, at itself. They change nothing."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any, Literal, TypeVar, Union, overload

import attrs
from redis.asyncio import ConnectionPool

from redisson_dq._async.checkup import Checkup
from redisson_dq._async.connecting.asking import outcomes, timed, without_subscribers
from redisson_dq._async.opening import Opening
from redisson_dq._async.queues.handle import Handle
from redisson_dq._async.queues.partitioned import Partitioned
from redisson_dq._async.runtime import Runtime
from redisson_dq._common.texts import shown
from redisson_dq.calls.inspecting import figures, figures_together
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.errors import ArgumentError, RedisReplyError, RedissonDQError
from redisson_dq.health import ClientHealth
from redisson_dq.inspection import QueueInspection
from redisson_dq.items import Problem, TransferCounts
from redisson_dq.observing import Observer, Role
from redisson_dq.scheduling.engine import State
from redisson_dq.scheduling.times import Delay, seconds_of
from redisson_dq.stats import QueueStats
from redisson_dq.wire import commands
from redisson_dq.wire.names import CHANNELS, KEYS, named, names_of, unmapping
from redisson_dq.wire.partitions import partition_names
from redisson_dq.wire.request import Request

__all__ = ["Watching"]

logger = logging.getLogger("redisson_dq")

O = TypeVar("O", bound=Observer)  # noqa: E741
#: A queue by its name, or by a handle.
_AnyQueue = Union[str, Handle[Any], Partitioned[Any]]


# How many keys are looked at in one call of SCAN. It takes Redis some 0.3 ms.
_SCANNED = 1000


class Watching(Opening):
    """A client's looks at queues and at itself."""

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._checkup = Checkup(runtime)

    def __repr__(self) -> str:
        options, where = self.runtime.options, self.runtime.connections.where
        return f"{type(self).__name__}({where!r}, {options.codec!r}, envelope={options.envelope.value!r})"

    # -- queues ------------------------------------------------------------------------------------------------------

    @overload
    async def stats(
        self,
        *queues: _AnyQueue,
        partitions: int | None = None,
        dead_letter: str | None = None,
        return_exceptions: Literal[False] = False,
    ) -> dict[str, QueueStats]: ...

    @overload
    async def stats(
        self,
        *queues: _AnyQueue,
        partitions: int | None = None,
        dead_letter: str | None = None,
        return_exceptions: bool,
    ) -> dict[str, QueueStats | RedissonDQError]: ...

    async def stats(
        self,
        *queues: _AnyQueue,
        partitions: int | None = None,
        dead_letter: str | None = None,
        return_exceptions: bool = False,
    ) -> Any:
        """The figures of many queues, by their names: how much is where, how late it is, who moves it.

        Each of ``queues`` is a name, or a handle, which brings its partitions and dead letters. ``partitions`` is how
        many each name has, and ``dead_letter`` the queue that gets their dead letters. With ``return_exceptions`` an
        error replaces the figures. A key that holds another type is reported, and nothing fails. Example::

            for name, figures in (await client.stats("orders", "bills")).items():
                print(name, figures.ready, figures.overdue, figures.late_by)

        One round trip for each node; O(log n) for each queue, and the size of two entries at most. A user needs only
        rights to look, as for :meth:`inspect`. Raises ArgumentError, RedisConnectionError, RedisReplyError,
        ClosedError, and on a cluster CrossSlotError for keys without a common slot.
        """
        asked = {_name_of(queue): self._figures_of(queue, partitions, dead_letter) for queue in queues}
        connections = self.runtime.connections
        connections.check()
        self.runtime.check_home("stats()")
        found = iter(await outcomes(connections, [each for of_queue in asked.values() for each in of_queue]))
        told: dict[str, QueueStats | RedissonDQError] = {}
        for name, of_queue in asked.items():
            parts = [next(found) for _ in of_queue]
            error = next((each for each in parts if isinstance(each, RedissonDQError)), None)
            if error is not None and not return_exceptions:
                raise error
            told[name] = error or without_subscribers(figures_together(name, parts), connections)
        return told

    def _figures_of(
        self, queue: _AnyQueue, partitions: int | None, dead_letter: str | None
    ) -> list[Request[QueueStats]]:
        if isinstance(queue, Handle):
            return [queue.requests.stats()]
        if isinstance(queue, Partitioned):
            return [partition.requests.stats() for partition in queue.partitions]
        options = self.runtime.options
        names = [queue] if partitions is None else partition_names(queue, partitions, options.name_mapper)
        sides = [OpenQueue[Any](name, None, options, dead_letter=dead_letter) for name in names]
        return [figures(side.name, side.lease_keys) for side in sides]

    async def inspect(
        self, name: str, *, partitions: int | None = None, dead_letter: str | None = None
    ) -> QueueInspection:
        """All about a queue: how much is where, what comes next, who moves it, which key is wrong.

        ``partitions`` is the number of its partitions, if it has some. ``dead_letter`` is the queue that gets its dead
        letters, if it has no list of its own. Nothing is changed, and nothing is started. A key that holds another type
        is reported, and nothing fails. Example::

            found = await client.inspect("orders")
            print(found)
            if found.overdue and not found.subscribers:
                print("nobody moves the queue")

        One round trip, or one for each node with ``partitions``; O(log n), and the size of at most four entries. One
        queue is seen at one moment, and each partition at a moment of its own. A user needs only rights to look:
        ``+@read +eval +evalsha +time``, and ``+pubsub`` to know the ``subscribers``. Raises ArgumentError,
        RedisConnectionError, RedisReplyError, ClosedError, and on a cluster CrossSlotError for a ``dead_letter``
        without the queue's hash tag.
        """
        # A handle that is open for a moment, and moves nothing.
        async with self.blocking_queue(name, transfer=False, partitions=partitions, dead_letter=dead_letter) as queue:
            return await queue.inspect()

    def queue_names(self, match: str | None = None) -> AsyncIterator[str]:
        """The names of the queues that Redis has, one by one, in no order: those of this library and of Redisson's.

        ``match`` is a pattern as Redis's KEYS takes it. A queue is found by its keys and by its subscribers. A queue
        that has only ready values and that no client has open is not found. Each partition has a name of its own. The
        names are those before the name mapper. Queues that come or go meanwhile may be missed. Example::

            async for name in client.queue_names("orders*"):
                print(await client.stats(name))

        Of each master one round trip for 1,000 keys in the database, each of some 0.3 ms. A user needs ``+scan``, and
        ``+pubsub`` to find queues by their subscribers. Raises ArgumentError, RedisConnectionError, RedisReplyError,
        ClosedError.
        """
        self.runtime.connections.check()
        return self._queue_names(named(match), unmapping(self.runtime.options.name_mapper))

    async def _queue_names(
        self, is_wanted: Callable[[str], bool], unmap: Callable[[str], str | None]
    ) -> AsyncIterator[str]:
        self.runtime.check_home("queue_names()")
        told: set[str] = set()
        for node in await self.runtime.connections.masters():
            async for found in self._keys_and_channels(node):
                for raw in names_of(found):
                    name = unmap(raw)
                    if name is not None and name not in told and is_wanted(name):
                        told.add(name)
                        yield name

    async def _keys_and_channels(self, node: ConnectionPool) -> AsyncIterator[list[bytes]]:
        run = self.runtime.connections.run
        try:
            yield await run(commands.channels(CHANNELS), node=node)
        except RedisReplyError as error:
            # Not every user may ask for them.
            logger.debug("queue_names(): %s", error)
        cursor, found = await run(commands.scan(0, KEYS, _SCANNED), node=node)
        yield found
        while cursor:
            cursor, found = await run(commands.scan(cursor, KEYS, _SCANNED), node=node)
            yield found

    # -- the client --------------------------------------------------------------------------------------------------

    async def ping(self) -> timedelta:
        """How long Redis takes to answer, over a connection of this client. For a cluster it is the time of the slowest
        master.

        One round trip, on a cluster one for each master. Raises RedisConnectionError, RedisReplyError, ClosedError.
        Example::

            assert await client.ping() < timedelta(seconds=1)
        """
        connections = self.runtime.connections
        connections.check()
        self.runtime.check_home("ping()")
        times = [(await timed(connections, commands.ping(), node))[1] for node in await connections.masters()]
        return timedelta(microseconds=max(times))

    async def health(self, timeout: Delay = 2.0) -> ClientHealth:
        """The health of this client: whether Redis answers, which queues it moves, how late they are, what fails.

        It returns within ``timeout`` seconds, also when Redis is away: ``connected`` is false then. Nothing is
        changed or started. Example::

            health = await client.health()
            print(health)
            if not health.is_well:
                print(health.last_error, health.problems)

        Two round trips, the second one to each node of the queues that this client has open; O(log n) for each of
        these. While Redis does not answer, further calls wait for the first one's answer and send nothing. Raises
        ArgumentError, ClosedError.
        """
        self.runtime.connections.check()
        self.runtime.check_home("health()")
        return await self._checkup.health(seconds_of(timeout, "health(): timeout="))

    def observe(self, observer: O) -> O:
        """Calls ``observer`` with each happening from now on, and gives it back, so this is a decorator too.

        Happenings are the frozen classes of :mod:`redisson_dq.observing`: requests, moves, takes, leases, outages. The
        observer is called where they happen, in any thread of the client or in the event loop. The client waits for it,
        so it must be quick. It is a plain function with asyncio too. The log has the first error
        that it raises, and nothing else is changed by one. Calls that an observer makes are not reported.
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
        """Stops calling ``observer``. Does nothing if it is not registered. No round trip."""
        self.runtime.options.observers.discard(observer)

    @property
    def transfers(self) -> TransferCounts:
        """How many transfers this client has made, and how many of them ran too early. No round trip."""
        return attrs.evolve(self.runtime.transfer_counts)

    @property
    def roles(self) -> dict[str, Role]:
        """How this client moves its queues: as the only client, as the mover, or in reserve. By the queues' names.

        A queue is missing if nothing has used it yet, or its subscription is not confirmed. No round trip.
        """
        driver = self.runtime.transfer_driver
        tasks = [] if driver is None else list(driver.tasks.values())
        return {task.name: task.engine.role for task in tasks if task.engine.state is not State.DETACHED}

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


def _name_of(queue: _AnyQueue) -> str:
    if isinstance(queue, str):
        return queue
    if isinstance(queue, (Handle, Partitioned)):
        return queue.name
    raise ArgumentError(f"stats() takes names of queues, or their handles, not {shown(queue)}")
