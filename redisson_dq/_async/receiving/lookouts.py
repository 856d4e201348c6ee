"""The lookouts of one client, one for each node, and the choice between pumps of their own and shared ones."""

from __future__ import annotations

import logging
from functools import partial

from redis.asyncio import ConnectionPool

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.receiving.beginning import Beginner
from redisson_dq._async.receiving.clerk import Clerk
from redisson_dq._async.receiving.lookout import Lookout
from redisson_dq._concurrency import AsyncMutex
from redisson_dq.errors import RedissonDQError
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.waits.watched import WatchedSource
from redisson_dq.wire.blocking import Source

__all__ = ["Lookouts"]

logger = logging.getLogger("redisson_dq")

# This many sources of a client have a pump of their own, which is one round trip faster.
_SEATS = 8
# Before the node of a key is asked for again.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 2.0


class Lookouts(Clerk):
    """Finds the lookout of a source."""

    def __init__(self, connections: Connections, beginner: Beginner) -> None:
        super().__init__(connections, beginner)
        self._beginner = beginner
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

    def call(self, pump: WatchedSource, /) -> None:
        """Lets the lookout of its node come to it."""
        lookout = pump.lookout
        if not (isinstance(lookout, Lookout) and not self._is_refused and lookout.call(pump)):
            self.later(partial(self._find, pump))

    async def aclose(self) -> None:
        """Ends them all. Their sources are closed already."""
        for _, lookout in list(self._by_pool.values()):
            await lookout.aclose()
        await self.end_works()

    async def _find(self, pump: WatchedSource) -> None:
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
            self._works.add(partial(self._find, pump), self._searching.next())
            return
        self._searching.reset()
        _, lookout = self._by_pool.get(id(pool), (pool, None))
        if lookout is None:
            lookout = Lookout(self._connections, pool, self._beginner, self._refused)
            self._by_pool[id(pool)] = (pool, lookout)
        with pump.line.mutex:
            pump.lookout, pump.is_new = lookout, True
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
