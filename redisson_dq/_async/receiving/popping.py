"""Carries out the steps of the engine of one wait (``waits/engine.py``): on the connection, and beside it.

The reply to a blocking command is a value that exists nowhere else any more. So nothing that may be interrupted reads
it. A background task reads it, and hands it to the caller that has waited longest. A worker may do so itself, as a
stand-in.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import Any

from redis.exceptions import RedisError, ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.explaining import end_of_wait, explained
from redisson_dq._async.receiving.idle import IdleConnections
from redisson_dq._async.receiving.put_backs import PutBacks
from redisson_dq._concurrency import AsyncInbox, AsyncSwitch, async_give_way
from redisson_dq._redis import translate
from redisson_dq.errors import RedissonDQError
from redisson_dq.waits.engine import WaitEngine
from redisson_dq.waits.line import Waiter
from redisson_dq.waits.steps import Ask, Behind, Bell, Block, Diagnose, Do, Explain, Follow, Pause
from redisson_dq.wire.taken import Taken

__all__ = ["Popping"]

logger = logging.getLogger("redisson_dq")

# The timeout, in seconds, of a command that must not block where Redis allows no transaction.
_AT_MOST = 0.001


class Popping:
    """The steps of one engine. Only its pumper calls them."""

    def __init__(
        self,
        connections: Connections,
        engine: WaitEngine,
        backs: PutBacks,
        bell: AsyncInbox[Waiter | str],
        part: str,
        idle: IdleConnections | None,
    ) -> None:
        """``part`` names the pump in an outage. ``idle`` limits how many connections wait for nobody."""
        self._connections = connections
        self._clock = connections.clock
        self._engine = engine
        self._line = engine.line
        self._source = engine.source
        self._key = engine.source.key
        self._backs = backs
        self._bell = bell
        self._part = part
        self._idle = idle
        #: On once the pump is closed.
        self.closing = AsyncSwitch(self._clock)
        self._longest = connections.longest_block
        self._longest_words = self._source.words(0 if self._longest == math.inf else self._longest)
        #: The function that carries a step out and gives its outcome, by the step's type.
        self.of: dict[type[Any], Callable[[Any], Any]] = {
            Ask: self._ask,
            Behind: self._read_behind,
            Bell: self._wait,
            Block: self._block,
            Diagnose: self._diagnose,
            Do: self._do,
            Explain: self._explain,
            Follow: self._follow,
            Pause: self._pause,
        }

    # -- on the connection -------------------------------------------------------------------------------------------

    async def _block(self, block: Block) -> Any:
        connection, source = self._engine.connection, self._source
        if not block.span:
            return await connection.try_without_blocking(source.words(_AT_MOST), source.keys)
        seconds = min(block.span, self._longest)
        words = self._longest_words if seconds == self._longest else source.words(seconds)
        return await connection.block(words, source.keys, block.behind, block.is_sent, seconds)

    async def _ask(self, step: Ask) -> list[Taken]:
        return self._connections.parsed(step.request, await self._engine.connection.exchange(step.request))

    async def _read_behind(self, step: Behind) -> list[Taken]:
        return self._connections.parsed(step.request, await self._engine.connection.read_behind(step.request))

    async def _do(self, do: Do) -> Any:
        if do is Do.GIVE_WAY:
            return await async_give_way()
        if do is Do.READ:
            return await self._engine.connection.read()
        if do is Do.CONNECT:
            return await self._connect()
        if do is Do.PUT_BACK:
            return await self._backs.send()
        if do is Do.REPEAT:
            return await self._backs.repeat(self._engine.debts)
        return await self.disconnect()

    async def _connect(self) -> float:
        await self.disconnect()
        self._engine.connection = dedicated = await self._connections.dedicated(self._key, "receiver", self._key)
        try:
            await dedicated.connect()
            began = self._clock.monotonic()
            await dedicated.learn_id()
        except ResponseError:
            raise
        except (RedisError, OSError) as error:
            # No pop was sent. One that was sent before may have taken something for somebody who still waits.
            with self._line.mutex:
                in_doubt = self._line.is_in_doubt
            raise translate(error, f"queue {self._key!r}", sent=in_doubt) from error
        return self._clock.monotonic() - began

    async def disconnect(self) -> None:
        """Closes the connections that were given up."""
        # The next pumper may already have one of its own to close.
        with self._line.mutex:
            retired, self._engine.retired = self._engine.retired, []
        for dedicated in retired:
            await dedicated.aclose()

    # -- beside it ---------------------------------------------------------------------------------------------------

    async def _wait(self, bell: Bell) -> Waiter | str | None:
        if not bell.lingers:
            if self._line.closed:
                await self._clock.async_sleep(bell.seconds)
                return None
            return await self._bell.next(bell.seconds)
        if self._idle is None:
            return await self._bell.next(bell.seconds)
        stays = self._idle.enter()
        try:
            return await self._bell.next(bell.seconds if stays else 0)
        finally:
            if stays:
                self._idle.leave()

    async def _follow(self, step: Follow) -> None:
        await self._backs.follow(step.after)

    async def _explain(self, step: Explain) -> RedissonDQError:
        assert isinstance(step.error, ResponseError)
        return await explained(self._connections, step.request, step.error)

    async def _diagnose(self, step: Diagnose) -> tuple[RedissonDQError | None, bool]:
        reason = await end_of_wait(self._connections, self._source, step.error)
        return reason, reason is not None and isinstance(reason.__cause__, ResponseError)

    async def _pause(self, pause: Pause) -> None:
        if pause.trouble is not None:
            self._connections.outage.began(self._part, pause.trouble, self._engine.chose)
            logger.debug("queue %r: waiting again in %.2f s: %s", self._key, pause.seconds, pause.trouble)
            await self._connections.refresh()
        await self.closing.wait(pause.seconds)
