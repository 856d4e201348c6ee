"""Looks soon after the first call whether the servers of a client are fit for queues. Each finding is reported once."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from functools import partial

from redis.asyncio import ConnectionPool

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.moving.task import Task
from redisson_dq._concurrency import AsyncBackgroundTask
from redisson_dq._redis.where import name_of_server
from redisson_dq.errors import RedissonDQError
from redisson_dq.observing import Noticed
from redisson_dq.observing.server_advice import advice_of, advice_of_clock, advice_of_info, info, questions

__all__ = ["ServerChecks"]

logger = logging.getLogger("redisson_dq")

# Rights are checked in this many queues. The names of the others are similar.
_MOST_QUEUES = 20
# How long the end of the client waits for an answer that is under way.
_LAST_ANSWER = 0.5
# How long a look from a call waits for its answer.
_AT_MOST = 0.5


class ServerChecks:
    """One pipeline for each node of the queues that the client moves. The findings are reported to observers and the
    log.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._look: AsyncBackgroundTask | None = None
        self._told: set[tuple[str, ...]] = set()

    async def start(self, tasks: Mapping[str, Task]) -> None:
        """Begins to look at the servers of the queues that the client moves. Transfers go on meanwhile."""
        self._look = AsyncBackgroundTask(partial(self._run, tasks), "redisson_dq-server-checks")

    async def look_from_call(self, key: str) -> None:
        """Looks at the server of this key, for a client that moves nothing and has no background task.

        One command, after a call. Rights are not checked: the call itself has needed them.
        """
        clock = self._connections.clock
        began_us = clock.calendar_us()
        fields = await self._connections.run_quietly(info(key), _AT_MOST)
        if fields is None:
            return
        middle_us = (began_us + clock.calendar_us()) // 2
        try:
            server = name_of_server(await self._connections.pool_of(key))
        except RedissonDQError as error:
            # The offer is done, and must not fail because of the look.
            logger.debug("the server of %r is not known: %s", key, error)
            return
        self._tell(advice_of_info(server, fields))
        if (time_us := fields.get("server_time_usec", "")).isdecimal():
            self._tell(advice_of_clock(server, int(time_us) - middle_us))

    async def aclose(self) -> None:
        """Waits for the end of a look, for a short time. The connections are closed next, and nobody begins one now."""
        if self._look is not None:
            await self._look.stop(_LAST_ANSWER)

    async def _run(self, tasks: Mapping[str, Task]) -> None:
        """Looks at all nodes at once. A node that does not answer, or forbids an answer, is left out."""
        try:
            await self._look_at_all(list(tasks.values())[:_MOST_QUEUES])
        except RedissonDQError as error:
            logger.debug("cannot read the settings of Redis: %s", error)
        except Exception:
            logger.exception("unexpected error while reading the settings of Redis")

    async def _look_at_all(self, tasks: list[Task]) -> None:
        nodes: dict[int, tuple[ConnectionPool, list[Task]]] = {}
        for task in tasks:
            pool = await self._connections.pool_of(task.keys.ready)
            nodes.setdefault(id(pool), (pool, []))[1].append(task)
        requests = [questions(of_node) for _, of_node in nodes.values()]
        sent_us = self._connections.clock.calendar_us()
        replies = await self._connections.run_many([each for some in requests for each in some])
        middle_us = (sent_us + self._connections.clock.calendar_us()) // 2
        for (pool, of_node), asked in zip(nodes.values(), requests, strict=True):
            self._tell(advice_of(name_of_server(pool), of_node, replies[: len(asked)], middle_us))
            del replies[: len(asked)]

    def _tell(self, noticed: Iterable[Noticed]) -> None:
        for each in noticed:
            # A client that begins to move after it has offered looks twice.
            told = (each.check, each.server, each.found if each.check == "rights" else "")
            if told not in self._told:
                self._told.add(told)
                self._connections.observers.tell(each)
