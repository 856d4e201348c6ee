"""The lookouts of one client, one for each node, and the choice between pumps of their own and shared ones."""

from __future__ import annotations

import heapq
import itertools
import logging
from functools import partial

from redis.asyncio import ConnectionPool

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.receiving.beginning import Beginner, Begun
from redisson_dq._async.receiving.lookout import Lookout
from redisson_dq._async.receiving.shared_pump import SharedPump
from redisson_dq._concurrency import AsyncCancelled, AsyncInbox, AsyncMutex, AsyncWork
from redisson_dq.errors import RedissonDQError
from redisson_dq.scheduling.clock import Clock
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.wire.blocking import Source

__all__ = ["Lookouts"]

logger = logging.getLogger("redisson_dq")

# This many sources of a client have a pump of their own, which is one round trip faster.
_SEATS = 8
# Before the node of a key is asked for again.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 2.0


class Lookouts:
    """Finds the lookout of a source, and takes work off the lookouts that needs time."""

    def __init__(self, connections: Connections, beginner: Beginner) -> None:
        self._connections = connections
        self._beginner = beginner
        self._clerk = _Clerk(connections.clock, "lookout-clerk", beginner)
        # The clerk may wait for a node that hangs. The end of a pause may free callers from that node.
        self._pauses = _Clerk(connections.clock, "lookout-pauses", beginner)
        self._searching = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        self._mutex = AsyncMutex()
        # The sources of each receiver that has pumps of its own.
        self._seats: set[tuple[Source, ...]] = set()
        self._by_pool: dict[int, tuple[ConnectionPool, Lookout]] = {}
        self._is_refused = False

    def take_seats(self, sources: tuple[Source, ...]) -> bool:
        """Takes a seat for each of these sources, until :meth:`leave_seats`. False where fewer are free.

        Callers that come at once may make a receiver each, of which one is used. They share its seats.
        """
        with self._mutex:
            # Where Redis reports no changes, every source has a pump of its own, and there may be more pumps than
            # seats.
            taken = sum(map(len, self._seats - {sources}))
            if taken + len(sources) > _SEATS and not self._is_refused:
                return False
            self._seats.add(sources)
            return True

    def leave_seats(self, sources: tuple[Source, ...]) -> None:
        """These sources have no pumps any more."""
        with self._mutex:
            self._seats.discard(sources)

    def call(self, pump: SharedPump, /) -> None:
        """Lets the lookout of its node come to it."""
        lookout = pump.lookout
        if not (isinstance(lookout, Lookout) and not self._is_refused and lookout.call(pump)):
            self._clerk.add(partial(self._find, pump))

    def later(self, work: AsyncWork, after: float = 0.0) -> None:
        """Does something outside the lookouts: at once, or after some seconds where it sends nothing to a node."""
        (self._pauses if after else self._clerk).add(work, after)

    async def aclose(self) -> None:
        """Ends them all. Their sources are closed already."""
        for _, lookout in list(self._by_pool.values()):
            await lookout.aclose()
        await self._pauses.aclose()
        await self._clerk.aclose()

    async def _find(self, pump: SharedPump) -> None:
        if self._is_refused or pump.line.closed:
            # Once it is closed nothing is taken any more, and only the clerk puts values back.
            with pump.line.mutex:
                pump.leave()
            return
        try:
            pool = await self._connections.pool_of(pump.source.key)
            if id(pool) not in self._by_pool:
                await self._leave_nodes()
        except RedissonDQError as error:
            with pump.line.mutex:
                pump.suffer(error)
            self._clerk.add(partial(self._find, pump), self._searching.next())
            return
        self._searching.reset()
        _, lookout = self._by_pool.get(id(pool), (pool, None))
        if lookout is None:
            lookout = Lookout(self._connections, pool, self._beginner, self._refused)
            self._by_pool[id(pool)] = (pool, lookout)
        with pump.line.mutex:
            pump.comes_to(lookout)
        lookout.call(pump)

    async def _leave_nodes(self) -> None:
        """Drops the lookouts of nodes that have left the cluster. Raises RedisConnectionError."""
        nodes = {id(pool) for pool in await self._connections.masters()}
        self._by_pool = {
            key: (pool, lookout)
            for key, (pool, lookout) in self._by_pool.items()
            if key in nodes or not lookout.leave()
        }

    def _refused(self, error: Exception) -> None:
        if not self._is_refused:
            logger.info(
                "Redis does not report changes to this client (%s), so each queue that is waited for has its own "
                "connection and background task; docs/deploy.md names the rights that let many queues share one",
                error,
            )
        self._is_refused = True


class _Clerk:
    """Does what takes time, one thing after the other, so that no lookout waits for it.

    Its background task lives as long as there is something to do.
    """

    def __init__(self, clock: Clock, name: str, beginner: Beginner) -> None:
        self._clock = clock
        self._name = name
        self._beginner = beginner
        self._mutex = AsyncMutex()
        self._inbox: AsyncInbox[tuple[float, int, AsyncWork]] = AsyncInbox(clock)
        self._numbers = itertools.count()
        self._is_running = False
        self._is_closing = False
        self._task: Begun | None = None

    def add(self, work: AsyncWork, after: float = 0.0) -> None:
        """Runs ``work`` after ``after`` seconds, or at once when it is closed."""
        self._inbox.put((self._clock.monotonic() + after, next(self._numbers), work))
        with self._mutex:
            if not self._is_running:
                self._is_running = True
                self._task = self._beginner.begin(self._run, f"redisson_dq-{self._name}")

    async def aclose(self) -> None:
        """Waits for nothing any more. It ends when all is done."""
        self._is_closing = True
        with self._mutex:
            if self._is_running:
                self._inbox.put((self._clock.monotonic(), next(self._numbers), _nothing))

    async def _run(self) -> None:
        works: list[tuple[float, int, AsyncWork]] = []
        while True:
            with self._mutex:
                if not works and not self._inbox.count:
                    self._is_running = False
                    return
            now = self._clock.monotonic()
            waits = max(0.0, works[0][0] - now) if works and not self._is_closing else 0.0
            came = await self._inbox.next(waits)
            if came is not None:
                heapq.heappush(works, came)
                continue
            if works and (self._is_closing or works[0][0] <= self._clock.monotonic()):
                await self._do(heapq.heappop(works)[2])

    async def _do(self, work: AsyncWork) -> None:
        try:
            await work()
        except (Exception, AsyncCancelled):
            # A defect must not end the waits of all others.
            logger.exception("unexpected error beside a lookout")


async def _nothing() -> None:
    """Wakes the background task."""
