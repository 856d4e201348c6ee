"""Looks soon after the first call whether the servers of a client are fit for queues. Each finding is reported once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from redis.asyncio import ConnectionPool

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.moving.task import Task
from redisson_dq._concurrency import AsyncBackgroundTask
from redisson_dq.errors import RedissonDQError
from redisson_dq.observing import Noticed, Observers
from redisson_dq.observing.server_advice import advice_of_clock, advice_of_info, advice_of_rights, version_of
from redisson_dq.wire import calls, commands
from redisson_dq.wire.request import Request
from redisson_dq.wire.rights import needed_to_move

__all__ = ["ServerChecks"]

logger = logging.getLogger("redisson_dq")

# Rights are checked in this many queues. The names of the others are similar.
_MOST_QUEUES = 20
# How long the end of the client waits for an answer that is under way.
_LAST_ANSWER = 0.5
# How long a look from a call waits for its answer.
_AT_MOST = 0.5
_SECTIONS = ("server", "memory", "persistence")
# From this version on a script can ask for rights.
_KNOWS_RIGHTS = (7, 0)


class ServerChecks:
    """One pipeline for each node of the queues that the client moves. The findings are reported to observers and the
    log.
    """

    def __init__(self, connections: Connections, observers: Observers) -> None:
        self._connections = connections
        self._observers = observers
        self._tasks: Callable[[], list[Task]] = list
        self._look: AsyncBackgroundTask | None = None
        self._told: set[tuple[str, ...]] = set()

    async def start(self, tasks: Callable[[], list[Task]]) -> None:
        """Begins to look at the servers of the queues that the client moves. Transfers go on meanwhile."""
        self._tasks = tasks
        self._look = AsyncBackgroundTask(self._run, "redisson_dq-server-checks")

    async def look_from_call(self, key: str) -> None:
        """Looks at the server of this key, for a client that moves nothing and has no background task.

        One command, after a call. Rights are not checked: the call itself has needed them.
        """
        clock = self._connections.clock
        began_us = clock.calendar_us()
        info = await self._connections.run_quietly(Request(words=("INFO",), types={key: ""}, parse=_fields), _AT_MOST)
        if info is None:
            return
        middle_us = (began_us + clock.calendar_us()) // 2
        try:
            server = _name_of(await self._connections.pool_of(key))
        except RedissonDQError as error:
            # The offer is done, and must not fail because of the look.
            logger.debug("the server of %r is not known: %s", key, error)
            return
        noticed = list(advice_of_info(server, info))
        if (time_us := info.get("server_time_usec", "")).isdecimal():
            noticed += advice_of_clock(server, int(time_us) - middle_us)
        self._tell(noticed)

    async def aclose(self) -> None:
        """Waits for the end of a look, for a short time. The connections are closed next, and nobody begins one now."""
        if self._look is not None:
            await self._look.stop(_LAST_ANSWER)

    async def _run(self) -> None:
        """Looks at all nodes at once. A node that does not answer, or forbids an answer, is left out."""
        try:
            await self._look_at_all()
        except RedissonDQError as error:
            logger.debug("cannot read the settings of Redis: %s", error)
        except Exception:
            logger.exception("unexpected error while reading the settings of Redis")

    async def _look_at_all(self) -> None:
        nodes: dict[int, tuple[ConnectionPool, list[Task]]] = {}
        for task in self._tasks()[:_MOST_QUEUES]:
            pool = await self._connections.pool_of(task.keys.ready)
            nodes.setdefault(id(pool), (pool, []))[1].append(task)
        requests = [self._requests(tasks) for _, tasks in nodes.values()]
        sent_us = self._connections.clock.calendar_us()
        replies = await self._connections.run_many([each for some in requests for each in some], transaction=False)
        middle_us = (sent_us + self._connections.clock.calendar_us()) // 2
        for (pool, tasks), asked in zip(nodes.values(), requests, strict=True):
            self._judge(_name_of(pool), tasks, replies[: len(asked)], middle_us)
            del replies[: len(asked)]

    def _requests(self, tasks: list[Task]) -> list[Request[Any]]:
        key = tasks[0].keys.ready
        infos = [Request(words=("INFO", section), types={key: ""}, parse=_fields) for section in _SECTIONS]
        return [*infos, commands.server_time_us(key), *map(_rights, tasks)]

    def _judge(self, server: str, tasks: list[Task], replies: list[Any], at_us: int) -> None:
        *infos, time_us = replies[: len(_SECTIONS) + 1]
        info = {name: value for each in infos if isinstance(each, dict) for name, value in each.items()}
        noticed = list(advice_of_info(server, info))
        if isinstance(time_us, int):
            noticed += advice_of_clock(server, time_us - at_us)
        if version_of(info) >= _KNOWS_RIGHTS:
            for task, missing in zip(tasks, replies[len(_SECTIONS) + 1 :], strict=True):
                if isinstance(missing, list):
                    noticed += advice_of_rights(server, task.name, missing)
        self._tell(noticed)

    def _tell(self, noticed: list[Noticed]) -> None:
        for each in noticed:
            # A client that begins to move after it has offered looks twice.
            told = (each.check, each.server, each.found if each.check == "rights" else "")
            if told not in self._told:
                self._told.add(told)
                self._observers.tell(each)


def _rights(task: Task) -> Request[list[str]]:
    return calls.missing_rights([task.keys.ready], needed_to_move(task.keys.channel))


def _fields(reply: bytes) -> dict[str, str]:
    pairs = (line.partition(":") for line in reply.decode(errors="replace").splitlines())
    return {name: value for name, colon, value in pairs if colon}


def _name_of(pool: Any) -> str:
    settings = pool.connection_kwargs
    host = settings.get("host")
    if host is None:
        return str(getattr(pool, "service_name", None) or settings.get("path") or "localhost")
    return f"{host}:{settings.get('port', 6379)}"
