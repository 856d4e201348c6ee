"""Takes from one source for the callers of one line, over a connection of its own.

``waits/engine.py`` decides what is done: it asks for one step after the other, which are carried out here. Receivers,
other tasks and the unblocker call its methods.

The reply to a blocking command is a value that exists nowhere else any more. So nothing that may be interrupted reads
it. A background task reads it, and hands it to the caller that has waited longest.
"""

from __future__ import annotations

import logging
import math
from functools import partial
from typing import Any

from redis.exceptions import RedisError, ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.dedicated import HungUpError
from redisson_dq._async.connecting.explaining import end_of_wait
from redisson_dq._async.receiving.beginning import Beginner, Begun
from redisson_dq._async.receiving.put_backs import PutBacks
from redisson_dq._async.receiving.unblocking import Unblocker
from redisson_dq._concurrency import AsyncCancelled, AsyncInbox, AsyncSwitch, async_give_way
from redisson_dq._redis import is_out_of_memory, is_passing, pack, refusal_of, translate
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.engine import WaitEngine
from redisson_dq.waits.line import WAKE, Line, Waiter
from redisson_dq.waits.steps import (
    Ask,
    Behind,
    Bell,
    Block,
    Diagnose,
    Do,
    Follow,
    Pause,
    StepFailed,
    StepRefused,
    WaitStep,
)
from redisson_dq.wire.blocking import Source

__all__ = ["Pump"]

logger = logging.getLogger("redisson_dq")

_PING = pack(("PING",))
# The timeout, in seconds, of a command that must not block where Redis allows no transaction.
_AT_MOST = 0.001
# A look, a command that blocks with a look after it, and a look for the cause.
_COMMANDS_OF_A_TRY = 4


class Pump(WaitEngine):
    """Takes from one source while somebody waits, and carries out the steps of its own decisions."""

    def __init__(
        self,
        connections: Connections,
        source: Source,
        line: Line,
        debts: Debts,
        bell: AsyncInbox[Waiter | str],
        beginner: Beginner,
        *,
        stay: float = 0.0,
        idle: list[None] | None = None,
    ) -> None:
        """``bell`` wakes the background task. ``stay`` is the engine's.

        ``idle`` has permits to wait for nobody. It is for sources that may be new at each call, such as sets of queues.
        """
        backs = PutBacks(connections, source, line)
        super().__init__(line, source, debts, backs, bell, connections.clock.monotonic, stay=stay)
        self._put_backs, self._inbox = backs, bell
        self._connections, self._beginner, self._permits = connections, beginner, idle
        self._outage, self._tries = connections.outage, connections.tries
        self.unblocker = Unblocker(self, connections.clock, beginner)
        # Ends a pause before its time.
        self._going_on = AsyncSwitch(connections.clock)
        self._longest = connections.longest_block
        self._longest_words = source.words(0 if self._longest == math.inf else self._longest)
        self._task: Begun | None = None

    def start(self) -> None:
        self._task = self._beginner.begin(self._pump, f"redisson_dq-receiver-{self.source.key}")

    def unblock(self) -> None:
        self.unblocker.start()

    # -- triggers, under the mutex -----------------------------------------------------------------------------------

    def close(self) -> None:
        """Ends the background task as soon as its values are back."""
        self._going_on.on()
        if self.is_running:
            self._inbox.put(WAKE)
        if self.is_running or self.connection is not None:
            self.stir(ends=True)

    # -- triggers, not under the mutex -------------------------------------------------------------------------------

    async def end_in_time(self) -> None:
        """Ends a blocking command when the last caller's time is over.

        The server ends it by itself, but reads its clock when something happens, or at the next of ten times a second.
        So a PING follows it, on the same connection. No other command does: Redis 7.0 panics when a client that CLIENT
        PAUSE postpones is unblocked.
        """
        with self.line.mutex:
            block, dedicated = self.blocked, self.connection
            if block is None or dedicated is None or block.is_pinged or self.unblocker.is_running or self.line.anyone:
                return
            if block.until > self._clock() or not dedicated.may_send_aside:
                self.unblock()
                return
            block.is_pinged = True
        dedicated.send_aside(_PING)

    async def hang_up(self) -> None:
        """Cuts the connection; the background task ends. Values in the reply on it are lost."""
        if (dedicated := self.connection) is not None:
            await dedicated.hang_up()

    # -- for others, also without the mutex --------------------------------------------------------------------------

    @property
    def is_at_rest(self) -> bool:
        """Whether it has no background task and no value."""
        return not (self.is_running or self.backs.are_left or self.unblocker.is_running)

    @property
    def is_quiet(self) -> bool:
        """Whether it holds no value, and none is on its way to it."""
        rests = self.is_idle or not self.is_running or (self.blocked is not None and self.line.anyone)
        return rests and not self.backs.surplus and not self.unblocker.is_running

    @property
    def is_blocked(self) -> bool:
        """Whether the blocking command is on its way or blocked in Redis."""
        return self.blocked is not None

    # -- the pumper --------------------------------------------------------------------------------------------------

    async def _pump(self) -> None:
        """Carries out one step after the other."""
        steps, outage = self.run(), self._outage
        go_on: Any = steps.send
        outcome: Any = None
        while True:
            with self.line.mutex:
                try:
                    step = go_on(outcome)
                except StopIteration:
                    # The next pumper, which may begin from here on, reports its troubles under the same name.
                    outage.gave_up(self.part)
                    self._tries.forget(self.part)
                    break
            if self.has_answered:
                # Not under the mutex: it is reported to observers.
                self.has_answered = False
                if outage.is_going_on:
                    outage.ended(self.part)
                if self._tries.parts and not self.is_full:
                    self._tries.succeeded(self.part)
            try:
                go_on, outcome = steps.send, await self._carry_out(step)
            except ResponseError as error:
                go_on = steps.throw
                outcome = StepRefused(error, passes=is_passing(error), is_full=is_out_of_memory(error))
            except (Exception, AsyncCancelled) as error:
                go_on, outcome = steps.throw, StepFailed(error)
        await self._disconnect()

    async def _carry_out(self, step: WaitStep) -> Any:
        """The outcome of a step."""
        connection, source = self.connection, self.source
        if isinstance(step, Block):
            if not step.span:
                return await connection.try_without_blocking(source.words(_AT_MOST), source.keys)
            seconds = min(step.span, self._longest)
            sent = partial(setattr, step, "until", step.began + step.span)
            words = self._longest_words if seconds == self._longest else source.words(seconds)
            return await connection.block(words, source.keys, step.behind, sent, seconds)
        if isinstance(step, Bell):
            if step.lingers and self._permits is None:
                return await self._inbox.next(step.seconds)
            return await self._wait(step)
        if step is Do.GIVE_WAY:
            return await async_give_way()
        if isinstance(step, Ask):
            return self._connections.parsed(step.request, await connection.exchange(step.request))
        if isinstance(step, Behind):
            return self._connections.parsed(step.request, await connection.read_behind(step.request))
        if isinstance(step, Follow):
            return await self._put_backs.follow(step.after)
        if isinstance(step, Diagnose):
            reason = await end_of_wait(self._connections, source, step.error, step.request)
            return reason, reason is not None and isinstance(reason.__cause__, ResponseError)
        if isinstance(step, Pause):
            return await self._pause(step)
        if step is Do.READ:
            return await connection.read()
        if step is Do.CONNECT:
            return await self._connect()
        if step is Do.PUT_BACK:
            return await self._put_backs.send()
        if step is Do.REPEAT:
            return await self._put_backs.repeat(self.debts)
        return await self._disconnect()

    async def _connect(self) -> float:
        await self._disconnect()
        key = self.source.key
        self.connection = dedicated = await self._connections.dedicated(key, "receiver", key)
        try:
            await dedicated.connect()
            began = self._clock()
            await dedicated.learn_id()
        except (ResponseError, HungUpError):
            raise
        except (RedisError, OSError) as error:
            # No pop was sent. One that was sent before may have taken something for somebody who still waits.
            with self.line.mutex:
                in_doubt = self.line.is_in_doubt
            raise translate(error, f"queue {key!r}", sent=in_doubt) from error
        return self._clock() - began

    async def _disconnect(self) -> None:
        """Closes the connections that were given up."""
        # The next pumper may already have one of its own to close.
        with self.line.mutex:
            retired, self.retired = self.retired, []
        for dedicated in retired:
            await dedicated.aclose()

    async def _wait(self, bell: Bell) -> Waiter | str | None:
        if self.line.closed and not bell.lingers:
            await self._connections.clock.async_sleep(bell.seconds)
            return None
        if self._permits is None or not bell.lingers:
            return await self._inbox.next(bell.seconds)
        try:
            self._permits.pop()
        except IndexError:
            return await self._inbox.next(0)
        try:
            return await self._inbox.next(bell.seconds)
        finally:
            self._permits.append(None)

    async def _pause(self, pause: Pause) -> None:
        cause = refusal_of(pause.reason)
        seconds = self._tries.refused(self.part, cause, pause.seconds, self._going_on.on, _COMMANDS_OF_A_TRY)
        if pause.is_trouble:
            self._outage.began(self.part, pause.reason, self.chose)
            logger.debug("queue %r: waiting again in %.2f s: %s", self.source.key, seconds, pause.reason)
            await self._connections.refresh()
        await self._going_on.wait(seconds)
        self._tries.begins(self.part)
        if not self.line.closed:
            self._going_on.off()
