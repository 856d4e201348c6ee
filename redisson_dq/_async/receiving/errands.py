"""The work that the clerk does for one shared pump: put-backs, the cause of a refusal, the end of a pause."""

from __future__ import annotations

import logging
from typing import Protocol

from redis.exceptions import ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.explaining import end_of_wait, explained
from redisson_dq._async.receiving.asking import Refusal
from redisson_dq._async.receiving.put_backs import PutBacks
from redisson_dq._redis import is_denied, is_passing
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.waits.watch_engine import WatchEngine
from redisson_dq.waits.watch_table import State, Trigger
from redisson_dq.wire.blocking import Source

__all__ = ["Errands"]

logger = logging.getLogger("redisson_dq")


class _Feeds(Protocol):
    """Feeds the engine, under the mutex. ``reason`` belongs to ``REFUSED``: why the callers fail."""

    def __call__(self, trigger: Trigger, /, *, reason: RedissonDQError | None = None) -> None: ...


class Errands:
    """Each of them ends with a trigger for the engine, under the mutex of the line."""

    def __init__(
        self,
        connections: Connections,
        source: Source,
        engine: WatchEngine,
        backs: PutBacks,
        part: str,
        feed: _Feeds,
    ) -> None:
        """``part`` is the name of the pump in an outage."""
        self._connections = connections
        self._source = source
        self._engine = engine
        self._line = engine.line
        self._backs = backs
        self._part = part
        self._feed = feed

    async def put_back(self) -> None:
        """Puts values back. Once it is closed, also sends a request with a lost reply again, so that they go back."""
        is_done = True
        if self._backs.are_left:
            is_done = await self._backs.send()
        elif self._line.closed and self._engine.debts.has_request and not self._engine.is_replaced:
            is_done = await self._repeat()
        if is_done:
            self._connections.outage.ended(self._part)
        with self._line.mutex:
            self._feed(Trigger.DONE if is_done else Trigger.STUCK)

    async def _repeat(self) -> bool:
        taken = await self._backs.repeat(self._engine.debts)
        if taken is None:
            return False
        with self._line.mutex:
            self._backs.add(self._line.give(taken))
        return True

    async def diagnose(self, refusal: Refusal) -> None:
        """Finds out why Redis has refused."""
        if isinstance(refusal.error, ResponseError) and is_denied(refusal.error):
            # The user may have the rights of a blocking command all the same.
            with self._line.mutex:
                self._feed(Trigger.DENIED)
            return
        tried = self._connections.clock.monotonic()
        reason = await self._cause(refusal)
        if isinstance(reason, RedisConnectionError):
            logger.debug("queue %r: waiting again: %s", self._source.key, reason)
            self._connections.outage.began(self._part, reason, tried)
            await self._connections.refresh()
            with self._line.mutex:
                self._engine.suffer(reason)
                self._feed(Trigger.AWAY)
            return
        with self._line.mutex:
            if reason is None:
                self._feed(Trigger.SOUND)
            else:
                self._feed(Trigger.REFUSED, reason=reason)

    async def _cause(self, refusal: Refusal) -> RedissonDQError | None:
        error = refusal.error
        try:
            if isinstance(error, ResponseError) and not is_passing(error) and refusal.request is not None:
                return await explained(self._connections, refusal.request, error)
            return await end_of_wait(self._connections, self._source, error)
        except RedissonDQError as failure:
            return failure

    async def go_on(self) -> None:
        """A pause is over."""
        with self._line.mutex:
            # The close ends a pause before its time.
            if self._engine.state is State.PAUSING:
                self._feed(Trigger.DONE)
