"""Takes from one source for the callers of one line, over a connection of its own.

Receivers, other tasks and the unblocker call it. ``waits/engine.py`` decides what is done: it asks for one step after
the other, which are carried out here.

The reply to a blocking command is a value that exists nowhere else any more. So nothing that may be interrupted reads
it. A background task reads it, and hands it to the caller that has waited longest.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from functools import partial
from typing import Any

from redis.exceptions import RedisError, ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.dedicated import Dedicated, HungUpError
from redisson_dq._async.connecting.explaining import end_of_wait
from redisson_dq._async.receiving.beginning import Beginner, Begun
from redisson_dq._async.receiving.put_backs import PutBacks
from redisson_dq._async.receiving.unblocking import Unblocker
from redisson_dq._concurrency import AsyncCancelled, AsyncInbox, AsyncMutex, AsyncSwitch, async_give_way
from redisson_dq._redis import is_out_of_memory, is_passing, pack, refusal_of, translate
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.engine import WaitEngine
from redisson_dq.waits.line import WAKE, Line, Waiter
from redisson_dq.waits.steps import Ask, Behind, Bell, Block, Diagnose, Do, Follow, Pause, StepFailed, StepRefused
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.taken import Taken

__all__ = ["IdleConnections", "Pump"]

logger = logging.getLogger("redisson_dq")

_PING = pack(("PING",))
# The timeout, in seconds, of a command that must not block where Redis allows no transaction.
_AT_MOST = 0.001
# A look, a command that blocks with a look after it, and a look for the cause.
_COMMANDS_OF_A_TRY = 4


class IdleConnections:
    """A limit for pumps whose sources may be new at each call, such as sets of queues. Others close at once."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._mutex = AsyncMutex()

    def enter(self) -> bool:
        """Whether one more may wait idle, until :meth:`leave`."""
        with self._mutex:
            if not self._left:
                return False
            self._left -= 1
            return True

    def leave(self) -> None:
        """One waits no more."""
        with self._mutex:
            self._left += 1


class Pump:
    """Takes from one source while somebody waits; the mutex of the line guards its triggers."""

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
        idle: IdleConnections | None = None,
    ) -> None:
        """``bell`` wakes the background task. ``stay`` is the engine's. ``idle`` limits how many wait for nobody."""
        self._line = line
        self._bell = bell
        self._beginner = beginner
        self._outage, self._tries = connections.outage, connections.tries
        self._clock = connections.clock
        # The name under which it reports an outage.
        self._part = f"wait {id(self)}"
        self.unblocker = Unblocker(source.key, line, self._clock, beginner, self.unblockable, may_cut=source.sets_aside)
        self.backs = PutBacks(connections, source, line)
        self.engine = engine = WaitEngine(
            line,
            source,
            debts,
            self.backs,
            bell,
            self._clock.monotonic,
            start=self._start,
            unblock=self.unblocker.start,
            stay=stay,
        )
        self._connections = connections
        self._idle = idle
        # Ends a pause before its time.
        self._going_on = AsyncSwitch(self._clock)
        self._longest = connections.longest_block
        self._longest_words = source.words(0 if self._longest == math.inf else self._longest)
        # The function that carries a step out and gives its outcome, by the step's type.
        self._steps: dict[type[Any], Callable[[Any], Any]] = {
            Ask: self._ask,
            Behind: self._read_behind,
            Bell: self._wait,
            Block: self._block,
            Diagnose: self._diagnose,
            Do: self._do,
            Follow: self._follow,
            Pause: self._pause,
        }
        self._task: Begun | None = None
        #: The source that it takes from.
        self.source = source
        #: Somebody may wait, or has noted a request that has to be sent again. Under the mutex, as those below.
        self.wake = engine.wake
        self.put_away, self.recover = engine.put_away, engine.recover
        self.answer_expired = engine.answer_expired
        self.met = engine.met
        self.end = engine.end

    # -- triggers, under the mutex -----------------------------------------------------------------------------------

    def close(self) -> None:
        """Ends the background task as soon as its values are back."""
        self._going_on.on()
        if self.engine.is_running:
            self._bell.put(WAKE)
        if self.engine.is_running or self.engine.connection is not None:
            self.engine.stir(ends=True)

    # -- triggers, not under the mutex -------------------------------------------------------------------------------

    async def end_in_time(self) -> None:
        """Ends a blocking command when the last caller's time is over.

        The server ends it by itself, but reads its clock when something happens, or at the next of ten times a second.
        So a PING follows it, on the same connection. No other command does: Redis 7.0 panics when a client that CLIENT
        PAUSE postpones is unblocked.
        """
        with self._line.mutex:
            block, dedicated = self.engine.blocked, self.engine.connection
            if block is None or dedicated is None or block.is_pinged or self.unblocker.is_running or self._line.anyone:
                return
            if block.until > self._clock.monotonic() or not dedicated.may_send_aside:
                self.unblocker.start()
                return
            block.is_pinged = True
        await dedicated.send_aside(_PING)

    async def hang_up(self) -> None:
        """Cuts the connection; the background task ends. Values in the reply on it are lost."""
        dedicated = self.engine.connection
        if dedicated is not None:
            await dedicated.hang_up()

    # -- for others, also without the mutex --------------------------------------------------------------------------

    @property
    def trouble(self) -> RedisConnectionError | None:
        """Why nothing can be taken just now."""
        return self.engine.trouble

    @property
    def is_at_rest(self) -> bool:
        """Whether it has no background task and no value."""
        return not (self.engine.is_running or self.backs.are_left or self.unblocker.is_running)

    @property
    def is_quiet(self) -> bool:
        """Whether it holds no value, and none is on its way to it."""
        engine = self.engine
        rests = engine.is_idle or not engine.is_running or (engine.blocked is not None and self._line.anyone)
        return rests and not self.backs.surplus and not self.unblocker.is_running

    @property
    def is_attended(self) -> bool:
        """Whether somebody reads the bell."""
        return self.engine.is_running

    @property
    def is_busy(self) -> bool:
        """Whether it takes for callers, or puts back. A look by others would find later values."""
        return self.engine.is_busy

    @property
    def is_blocked(self) -> bool:
        """Whether the blocking command is on its way or blocked in Redis."""
        return self.engine.blocked is not None

    # -- the pumper --------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._task = self._beginner.begin(self._pump, f"redisson_dq-receiver-{self.source.key}")

    async def _pump(self) -> None:
        """Carries out one step after the other."""
        engine, carry_out, outage = self.engine, self._steps, self._outage
        steps = engine.run()
        go_on, outcome = steps.send, None
        while True:
            with self._line.mutex:
                try:
                    step = go_on(outcome)
                except StopIteration:
                    # The next pumper, which may begin from here on, reports its troubles under the same name.
                    outage.gave_up(self._part)
                    self._tries.forget(self._part)
                    break
            if engine.has_answered:
                # Not under the mutex: it is reported to observers.
                engine.has_answered = False
                if outage.is_going_on:
                    outage.ended(self._part)
                if self._tries.parts and not engine.is_full:
                    self._tries.succeeded(self._part)
            try:
                go_on, outcome = steps.send, await carry_out[type(step)](step)
            except ResponseError as error:
                go_on = steps.throw
                outcome = StepRefused(error, passes=is_passing(error), is_full=is_out_of_memory(error))
            except (Exception, AsyncCancelled) as error:
                go_on, outcome = steps.throw, StepFailed(error)
        await self._disconnect()

    def unblockable(self) -> tuple[Dedicated, int, float] | None:
        """The command that the unblocker still has to end."""
        block = self.engine.to_end()
        return None if block is None else (self.engine.connection, self.engine.number, block.until)

    # -- the steps, on the connection --------------------------------------------------------------------------------

    async def _block(self, block: Block) -> Any:
        connection, source = self.engine.connection, self.source
        if not block.span:
            return await connection.try_without_blocking(source.words(_AT_MOST), source.keys)
        seconds = min(block.span, self._longest)
        sent = partial(setattr, block, "until", block.began + block.span)
        words = self._longest_words if seconds == self._longest else source.words(seconds)
        return await connection.block(words, source.keys, block.behind, sent, seconds)

    async def _ask(self, step: Ask) -> list[Taken]:
        return self._connections.parsed(step.request, await self.engine.connection.exchange(step.request))

    async def _read_behind(self, step: Behind) -> list[Taken]:
        return self._connections.parsed(step.request, await self.engine.connection.read_behind(step.request))

    async def _do(self, do: Do) -> Any:
        if do is Do.GIVE_WAY:
            return await async_give_way()
        if do is Do.READ:
            return await self.engine.connection.read()
        if do is Do.CONNECT:
            return await self._connect()
        if do is Do.PUT_BACK:
            return await self.backs.send()
        if do is Do.REPEAT:
            return await self.backs.repeat(self.engine.debts)
        return await self._disconnect()

    async def _connect(self) -> float:
        await self._disconnect()
        self.engine.connection = dedicated = await self._connections.dedicated(
            self.source.key, "receiver", self.source.key
        )
        try:
            await dedicated.connect()
            began = self._clock.monotonic()
            await dedicated.learn_id()
        except (ResponseError, HungUpError):
            raise
        except (RedisError, OSError) as error:
            # No pop was sent. One that was sent before may have taken something for somebody who still waits.
            with self._line.mutex:
                in_doubt = self._line.is_in_doubt
            raise translate(error, f"queue {self.source.key!r}", sent=in_doubt) from error
        return self._clock.monotonic() - began

    async def _disconnect(self) -> None:
        """Closes the connections that were given up."""
        # The next pumper may already have one of its own to close.
        with self._line.mutex:
            retired, self.engine.retired = self.engine.retired, []
        for dedicated in retired:
            await dedicated.aclose()

    # -- the steps, beside it ----------------------------------------------------------------------------------------

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
        await self.backs.follow(step.after)

    async def _diagnose(self, step: Diagnose) -> tuple[RedissonDQError | None, bool]:
        reason = await end_of_wait(self._connections, self.source, step.error, step.request)
        return reason, reason is not None and isinstance(reason.__cause__, ResponseError)

    async def _pause(self, pause: Pause) -> None:
        cause = refusal_of(pause.reason)
        seconds = self._tries.refused(self._part, cause, pause.seconds, self._going_on.on, _COMMANDS_OF_A_TRY)
        if pause.is_trouble:
            self._connections.outage.began(self._part, pause.reason, self.engine.chose)
            logger.debug("queue %r: waiting again in %.2f s: %s", self.source.key, seconds, pause.reason)
            await self._connections.refresh()
        await self._going_on.wait(seconds)
        self._tries.begins(self._part)
        if not self._line.closed:
            self._going_on.off()
