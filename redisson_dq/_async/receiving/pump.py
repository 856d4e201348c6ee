"""One connection that takes from one source for all callers that wait: carries out the decisions of the pop engine.

The reply to a blocking command is a value that exists nowhere else any more. So nothing that may be interrupted reads
it. A background task reads it, and hands it to the caller that has waited longest. A worker may do so itself, as a
stand-in. A value for which nobody waits goes back to where it came from.

``waiting/pop_table.py`` says what is done when.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Callable
from typing import Any

from redis.exceptions import RedisError, ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.dedicated import Dedicated
from redisson_dq._async.connecting.explaining import end_of_wait, explained
from redisson_dq._async.receiving.put_backs import PutBacks
from redisson_dq._async.receiving.unblocking import Unblocker
from redisson_dq._concurrency import (
    AsyncBackgroundTask,
    AsyncCancelled,
    AsyncInbox,
    AsyncSwitch,
    async_give_way,
)
from redisson_dq._redis import is_out_of_memory, is_passing, pack, translate
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.waiting.debts import LOOK, Owed, repeat
from redisson_dq.waiting.line import WAKE, Line, Waiter
from redisson_dq.waiting.pop_table import Do, PopEngine, Pumper, State, Trigger
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["Pump"]

logger = logging.getLogger("redisson_dq")

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
# How long the background task and its connection stay when nobody waits, so that a take() in a loop finds them.
_LINGER = 10.0
# Pause between two looks while the server has no memory for a blocking command.
_PAUSE_WHEN_FULL = 0.05
# A pop that took at most this much longer than a round trip did not wait. There was a value, and there may be more.
_AT_ONCE = 0.001
# In a transaction no command blocks. Where Redis allows no transaction, a command blocks for so many seconds.
_AT_MOST = 0.001
_PING = pack(("PING",))


class Pump:
    """Takes from one source while somebody waits; the mutex of the line guards its triggers."""

    def __init__(
        self,
        connections: Connections,
        source: Source,
        line: Line,
        bell: AsyncInbox[Waiter | str],
        *,
        stay: float = 0.0,
        shuts: bool = False,
    ) -> None:
        """``bell`` wakes the background task. ``stay`` and ``shuts`` are the engine's."""
        self._connections = connections
        self._clock = connections.clock
        self.source = source
        self._key = source.key
        # The name under which it reports an outage.
        self._place = f"wait {id(self)}"
        self._line = line
        self._bell = bell
        self._engine = PopEngine(line, stay=stay, shuts=shuts)
        self._backs = PutBacks(connections, source, line, self.put_away)
        self._unblocker = Unblocker(self._key, line.mutex, self._clock, self._unblockable)
        self._closing = AsyncSwitch(self._clock)
        self._task: AsyncBackgroundTask | None = None
        self._dedicated: Dedicated | None = None
        self._retired: list[Dedicated] = []
        #: Why nothing can be taken just now.
        self.trouble: RedisConnectionError | None = None
        # Carried from one action to the next.
        self._taken: list[Taken] = []
        self._span = 0.0
        self._behind: Request[list[Taken]] | None = None
        self._reply: Any = None
        self._refusal: ResponseError | None = None
        self._error: BaseException | None = None
        self._reason: RedissonDQError | None = None
        self._lingered = False
        self._round_began = self._sent_at = 0.0
        self._took = self._round_trip = 0.0
        self._pause_seconds = _FIRST_PAUSE
        self._works: dict[Do, Callable[[], Any]] = {
            Do.WAIT: self._wait,
            Do.PUT_BACK: self._put_back,
            Do.REPEAT: self._repeat,
            Do.CONNECT: self._connect,
            Do.LOOK: self._look,
            Do.PROBE: self._probe,
            Do.BLOCK: self._block,
            Do.SETTLE: self._settle,
            Do.GATHER: self._gather,
            Do.GIVE: self._give,
            Do.DISCONNECT: self._disconnect,
            Do.DIAGNOSE: self._diagnose,
            Do.TELL: self._tell_callers,
            Do.PAUSE: self._pause,
            Do.RETRY: self._retry,
            Do.REST: self._rest,
        }

    # -- triggers, under the mutex -----------------------------------------------------------------------------------

    def wake(self) -> None:
        """Somebody may wait."""
        self._tell(Trigger.WORK)

    def open(self) -> None:
        """Takes for callers from now on."""
        self._engine.open()
        self._tell(Trigger.WORK)

    def shut_if_at_rest(self) -> bool:
        """Takes for callers no more, where it has nothing to do. Gives whether it is shut."""
        return self._engine.shut_if_at_rest()

    def answer_expired(self) -> None:
        """Answers the callers whose time is over, as far as no command has to end before."""
        engine = self._engine
        if self.trouble is not None:
            self._line.answer_expired(self.trouble)
        elif engine.is_idle or (engine.is_blocked and self._line.anyone):
            if engine.found_nothing(self._clock.monotonic()):
                # No command is needed for callers who have come since.
                self._line.asked()
            self._line.answer_expired()

    def put_away(self, values: list[Taken]) -> None:
        """Puts values back where they came from, in the order in which they were taken.

        Until they are back it is open. A look by others would find the values behind them.
        """
        if values:
            self._engine.open()
            self._backs.add(values)
            self._tell(Trigger.OWED)

    def owe(self, request: Request[list[Taken]]) -> None:
        """Notes a request that the next pumper sends again. May be called without the mutex."""
        self._engine.debts.owe(repeat(request))

    def recover(self, request: Request[list[Taken]]) -> None:
        """Sends a repeatable request again. Its sender does not wait for the reply any more."""
        self.owe(request)
        self._tell(Trigger.OWED)

    def end(self) -> None:
        """Nobody waits any more. The reply to a blocking command tells whether it had taken a value."""
        self._tell(Trigger.NOBODY)

    def stand_down(self) -> None:
        """Callers do not pump any more. The connection goes when nobody has waited for a while."""
        if self._engine.callers_pump:
            self._engine.callers_pump = False
            self._tell(Trigger.WORK)

    def close(self) -> None:
        """Ends the background task as soon as its values are back."""
        self._closing.on()
        self._tell(Trigger.NOBODY)
        if self._engine.is_running or self._dedicated is not None:
            self._tell(Trigger.WORK)

    def _tell(self, trigger: Trigger) -> None:
        self._at_once(self._engine.step(trigger))

    def _at_once(self, to_do: tuple[Do, ...]) -> None:
        """Carries out the actions that belong under the mutex."""
        for do in to_do:
            if do is Do.START:
                self._task = AsyncBackgroundTask(self._pump, f"redisson_dq-receiver-{self._key}", shielded=True)
            elif do is Do.RING:
                self._bell.put(WAKE)
            elif do is Do.UNBLOCK:
                self._unblocker.start()
            elif do is Do.DISCONNECT and self._dedicated is not None:
                self._retired.append(self._dedicated)
                self._dedicated = None
            elif do is Do.BLOCK or do is Do.PROBE:
                self._prepare(blocks=do is Do.BLOCK)

    # -- triggers, not under the mutex -------------------------------------------------------------------------------

    async def stand_in(self, waiter: Waiter) -> None:
        """Pumps until this caller has its answer. So nobody has to be woken for it.

        Does nothing where somebody else pumps. When the caller is cancelled, a background task asks again for the
        values of the reply. No signal handler may interrupt the caller.
        """
        with self._line.mutex:
            if not self._engine.stand_in(is_connected=self._dedicated is not None):
                return
        await self._pump(waiter)

    async def end_in_time(self) -> None:
        """Ends a blocking command when the last caller's time is over.

        The server ends it by itself, but looks at its clock when something happens, or at the next of ten times a
        second. So a PING comes behind it, on the same connection. No other command does: Redis 7.0 panics when a client
        that CLIENT PAUSE postpones is unblocked.
        """
        with self._line.mutex:
            dedicated = self._dedicated
            if self._engine.state is not State.BLOCKED or self._line.anyone or dedicated is None:
                return
            if not self._engine.is_over(self._clock.monotonic()) or not dedicated.may_send_aside:
                self._tell(Trigger.NOBODY)
                return
            self._tell(Trigger.TIME_OVER)
        await dedicated.send_aside(_PING)

    async def hang_up(self) -> None:
        """Cuts the connection; the background task ends. Values in the reply on it are lost."""
        dedicated = self._dedicated
        if dedicated is not None:
            await dedicated.hang_up()

    # -- for others, also without the mutex --------------------------------------------------------------------------

    @property
    def is_at_rest(self) -> bool:
        """Whether it has no background task and no value."""
        return not (self._engine.is_running or self._backs.are_left or self._unblocker.is_running)

    @property
    def is_quiet(self) -> bool:
        """Whether it holds no value, and none is on its way to it."""
        engine = self._engine
        rests = engine.is_idle or not engine.is_running or (engine.is_blocked and self._line.anyone)
        return rests and not self._backs.surplus and not self._unblocker.is_running

    @property
    def is_attended(self) -> bool:
        """Whether somebody reads the bell."""
        return self._engine.is_running

    @property
    def is_open(self) -> bool:
        """Whether it takes for callers."""
        return self._engine.is_open

    @property
    def is_blocked(self) -> bool:
        """Whether the blocking command is on its way or stands in Redis."""
        return self._engine.is_blocked

    # -- the pumper --------------------------------------------------------------------------------------------------

    async def _pump(self, caller: Waiter | None = None) -> None:
        """Carries out one row of the table after the other. ``caller`` is a stand-in."""
        to_do: tuple[Do, ...] = ()
        cancelled: AsyncCancelled | None = None
        while Do.LEAVE not in to_do:
            trigger: Trigger | None = None
            try:
                for do in to_do:
                    trigger = await self._works[do]() or trigger
            except (Exception, AsyncCancelled) as error:
                trigger = self._failed(error, caller)
                if caller is not None and isinstance(error, AsyncCancelled):
                    cancelled = error
            with self._line.mutex:
                trigger = trigger or self._classified(caller)
                to_do = self._next(trigger, caller)
            if self._proves_redis_is_back(trigger):
                # Not under the mutex: observers hear of it.
                self._trouble_is_over()
        await self._disconnect()
        if caller is None:
            self._connections.outage.gave_up(self._place)
        elif cancelled is not None:
            raise cancelled

    def _next(self, trigger: Trigger, caller: Waiter | None) -> tuple[Do, ...]:
        to_do = self._engine.step(trigger)
        if Do.LEAVE in to_do and self._bell.count and not self._engine.is_running:
            # Somebody came who still found a pumper here.
            if caller is None:
                self._engine.pump(Pumper.BACKGROUND)
                return ()
            self._tell(Trigger.WORK)
        self._at_once(to_do)
        return to_do

    def _classified(self, caller: Waiter | None) -> Trigger:
        now = self._clock.monotonic()
        if self._engine.state is not State.CHOOSING:
            has_returns = self._backs.are_left
            return self._engine.next_command(now, in_trouble=self.trouble is not None, has_returns=has_returns)
        self._round_began = now
        lingered, self._lingered = self._lingered, False
        self._admit()
        self._line.answer_expired()
        self._backs.surplus = self._line.give(self._backs.surplus)
        return self._engine.choice(
            now,
            is_answered=caller is not None and caller.answer.filled,
            is_connected=self._dedicated is not None,
            has_returns=self._backs.are_left,
            lingered=lingered,
        )

    def _failed(self, error: BaseException, caller: Waiter | None) -> Trigger:
        self._error = error
        logger.debug("queue %r: a wait broke: %r", self._key, error)
        if self._taken:
            return Trigger.SAVED
        # A background task asks for the cause, and outlasts it.
        return Trigger.FAILED if caller is None else Trigger.ABANDONED

    def _admit(self) -> None:
        if self._bell is self._line.inbox:
            self._line.admit()
            return
        # Somebody else reads the inbox, and would miss the callers that this one took from it.
        while self._bell.count:
            self._bell.poll()

    def _served(self) -> None:
        # The reader of the inbox also waits until the waits end.
        if self._bell is not self._line.inbox:
            self._line.inbox.put(WAKE)

    def _unblockable(self) -> tuple[Dedicated, int] | None:
        if self._engine.state is State.ENDING:
            self._admit()
            if self._line.anyone:
                self._tell(Trigger.JOINED)
        if self._dedicated is None or self._engine.state not in (State.ENDING, State.STOPPING):
            return None
        return self._dedicated, self._engine.number

    def _proves_redis_is_back(self, trigger: Trigger) -> bool:
        if trigger is Trigger.NONE:
            return not self._engine.debts
        # A connection that rests was made after the last trouble, as each trouble ends one.
        return trigger in (Trigger.IDLES, Trigger.LEAVES) and self._dedicated is not None

    def _trouble_is_over(self) -> None:
        self.trouble = None
        self._pause_seconds = _FIRST_PAUSE
        self._connections.outage.ended(self._place)

    @property
    def _connection(self) -> Dedicated:
        assert self._dedicated is not None
        return self._dedicated

    # -- actions that send nothing for callers -----------------------------------------------------------------------

    async def _wait(self) -> Trigger:
        rung = await self._bell.next(_LINGER)
        self._lingered = rung is None
        if isinstance(rung, Waiter):
            with self._line.mutex:
                self._line.admit(rung)
        return Trigger.RANG

    async def _put_back(self) -> Trigger:
        if not await self._backs.send():
            return Trigger.STUCK
        self._trouble_is_over()
        return Trigger.DONE

    async def _repeat(self) -> Trigger:
        """Once it is closed: sends a request with a lost reply again. So the values that it took go back."""
        debt = self._engine.debts.first
        assert debt.request is not None
        try:
            self._taken = await self._connections.run(debt.request, when_closed=True)
        except (RedissonDQError, AsyncCancelled) as error:
            lasts = isinstance(error, RedissonDQError) and not isinstance(error, RedisConnectionError)
            if not self._backs.gives_up and not lasts:
                return Trigger.STUCK
            logger.warning("queue %r: values of a lost reply return at their lease deadline: %s", self._key, error)
        self._engine.debts.paid(debt)
        return Trigger.CAME if self._taken else Trigger.NONE

    async def _connect(self) -> Trigger:
        self._dedicated = dedicated = await self._connections.dedicated(self._key, "receiver", self._key)
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
        self._round_trip = self._clock.monotonic() - began
        return Trigger.DONE

    async def _disconnect(self) -> None:
        # The next pumper may already have one of its own to close.
        with self._line.mutex:
            retired, self._retired = self._retired, []
        for dedicated in retired:
            await dedicated.aclose()

    # -- actions that take -------------------------------------------------------------------------------------------

    async def _look(self) -> Trigger | None:
        """Takes the values that are ready, without blocking, for all callers that wait. It also pays a debt."""
        engine = self._engine
        with self._line.mutex:
            now = self._clock.monotonic()
            count = self._line.claim(now)
            debt = engine.debts.first
            request = debt.request
            knows = engine.pumper is Pumper.CALLER and engine.is_empty(now)
            if request is None and not knows and (count or debt is LOOK):
                request = self.source.look(count)
            if request is not None:
                self._line.asked()
        try:
            self._taken = [] if request is None else await self._exchange(request)
        except ResponseError as error:
            if request is None or is_passing(error):
                raise
            # Redis would refuse it again at once. A value that was set aside comes with the next look of any caller.
            engine.debts.paid(LOOK)
            # The error may be about a key that only this request uses. A plain look at the keys tells which one.
            raise await explained(self._connections, request, error) from error
        finally:
            with self._line.mutex:
                self._line.unclaim(count)
        if debt.owed is not Owed.REPEAT:
            engine.debts.paid(LOOK)
        if self._taken:
            return Trigger.CAME
        return Trigger.NONE if engine.state is State.FETCHING else None

    async def _exchange(self, request: Request[list[Taken]]) -> list[Taken]:
        """Sends one request on the connection. A repeatable one is owed until its reply has been read."""
        debts, debt = self._engine.debts, repeat(request)
        if request.repeatable:
            debts.owe(debt)
        try:
            reply = await self._connection.exchange(request)
        except ResponseError:
            debts.paid(debt)
            raise
        debts.paid(debt)
        return self._connections.parsed(request, reply)

    def _prepare(self, *, blocks: bool) -> None:
        """Notes the callers that the blocking command is sent for, and the debt when its reply is lost."""
        now = self._sent_at = self._clock.monotonic()
        self._line.asked()
        self._span = self._engine.span(now) if blocks else _AT_MOST
        self._behind = self.source.behind() if blocks else None
        self._reply = self._refusal = None
        self._engine.began(now, 0 if not blocks else 1 if self._behind is None else 2)
        if self._behind is not None:
            self._engine.debts.owe(repeat(self._behind))
        elif self.source.sets_aside:
            self._engine.debts.owe(LOOK)

    async def _probe(self) -> Trigger:
        try:
            self._reply = await self._connection.transact(self.source.words(_AT_MOST))
        except ResponseError as error:
            self._refusal = error
        self._took = self._clock.monotonic() - self._sent_at
        return Trigger.ANSWERED

    async def _block(self) -> Trigger:
        connection, span = self._connection, self._span
        words = self.source.words(0 if span == math.inf else span)
        try:
            if self._behind is None:
                await connection.send(*words)
            else:
                await connection.send_together(words, self._behind)
            self._engine.sent(span)
            self._reply = await connection.read()
        except ResponseError as error:
            self._refusal = error
        self._took = self._clock.monotonic() - self._sent_at
        return Trigger.ANSWERED

    async def _settle(self) -> Trigger | None:
        """Reads the replies behind the blocking command. The connection may go on, so none is left on it."""
        engine, debts = self._engine, self._engine.debts
        if self._behind is not None:
            self._taken = await self._taken_behind(self._behind)
            engine.was_read()
        elif self._reply is not None:
            self._taken = self.source.taken(self._reply)
        is_aside = self._reply is not None and not self._taken
        if is_aside or (self._refusal is not None and not self._taken and self.source.sets_aside):
            debts.owe(LOOK)
        else:
            debts.paid(LOOK)
        while engine.replies:
            await self._connection.read()
            engine.was_read()
        if self._refusal is not None and not self._taken:
            if self.source.sets_aside and is_out_of_memory(self._refusal):
                return Trigger.FULL
            raise self._refusal
        if self._reply is not None:
            self._round_trip = min(self._round_trip, self._took)
        was_in_trouble = self.trouble is not None
        if was_in_trouble:
            self._trouble_is_over()
        if self._taken:
            return Trigger.CAME if self._taken[-1].left == 0 else Trigger.MORE
        if is_aside:
            return Trigger.ASIDE
        # After trouble, Redis has now shown that it allows the command.
        return None if was_in_trouble else Trigger.NONE

    async def _taken_behind(self, request: Request[list[Taken]]) -> list[Taken]:
        """The reply to the request that was sent together with the blocking command."""
        try:
            taken = self._connections.parsed(request, await self._connection.read())
        except ResponseError as error:
            # A look follows where a value has come. It may be sent with the script's text, and it can tell why not.
            logger.debug("queue %r: refused behind a blocking pop: %s", self._key, error)
            taken = []
        self._engine.debts.paid(repeat(request))
        return taken

    async def _gather(self) -> Trigger:
        """Takes more values for the callers that wait, by one command that does not block."""
        taken = self._taken
        at_once = self._took < self._round_trip + _AT_ONCE
        with self._line.mutex:
            self._admit()
            self._line.took(taken)
            wants = at_once or self._line.wants_many
            count = self._line.claim(self._clock.monotonic(), len(taken)) if wants else 0
        try:
            request = self.source.more(count) if count else None
            if request is not None:
                # Redis will refuse the next blocking pop as well, and that one can tell why.
                with contextlib.suppress(ResponseError):
                    taken += await self._exchange(request)
        finally:
            with self._line.mutex:
                self._line.unclaim(count)
        return Trigger.CAME

    async def _give(self) -> Trigger:
        """Hands out the values that came. Those that nobody waits for go back."""
        taken, self._taken = self._taken, []
        self._engine.was_left(taken[-1].left, self._clock.monotonic())
        try:
            after = self.source.after(taken, self._backs.answered)
            if after is not None:
                await self._backs.follow(after)
        finally:
            with self._line.mutex:
                self._admit()
                self._line.took(taken)
                self.put_away(self._line.give(taken))
                self._served()
        self._trouble_is_over()
        if not self._engine.callers_pump:
            # The caller that was given a value goes on first. It may be back in line already.
            await async_give_way()
        return Trigger.DONE

    # -- failures ----------------------------------------------------------------------------------------------------

    async def _diagnose(self) -> Trigger:
        assert self._error is not None
        self._reason = await end_of_wait(self._connections, self.source, self._error)
        return Trigger.AWAY if isinstance(self._reason, RedisConnectionError) else Trigger.REFUSED

    async def _tell_callers(self) -> None:
        if self._reason is not None:
            with self._line.mutex:
                self._line.fail(self._reason)
                self._served()

    async def _pause(self) -> Trigger:
        """Waits for Redis to come back."""
        trouble = self._reason
        assert isinstance(trouble, RedisConnectionError)
        with self._line.mutex:
            self.trouble = trouble
            if trouble.maybe_done:
                self._line.doubt()
            self._line.answer_expired(trouble)
        self._connections.outage.began(self._place, trouble)
        if self._clock.monotonic() - self._round_began > _LONGEST_PAUSE:
            # Redis could be reached since the last trouble: nothing has come, so nothing has told.
            self._pause_seconds = _FIRST_PAUSE
        logger.debug("queue %r: waiting again in %.2f s: %s", self._key, self._pause_seconds, self._error)
        await self._connections.refresh()
        await self._closing.wait(self._longer_pause())
        return Trigger.DONE

    async def _retry(self) -> Trigger:
        """Waits before values or requests are sent again."""
        await self._backs.pause(self._closing, self._longer_pause())
        return Trigger.DONE

    async def _rest(self) -> Trigger:
        """Waits a moment: a full server refuses a blocking command that would move a value. It refuses no look."""
        logger.debug("queue %r: waiting again in %.2f s: %s", self._key, _PAUSE_WHEN_FULL, self._refusal)
        self._trouble_is_over()
        await self._closing.wait(_PAUSE_WHEN_FULL)
        return Trigger.DONE

    def _longer_pause(self) -> float:
        """How long to pause now. The next pause takes twice as long."""
        seconds = self._pause_seconds
        self._pause_seconds = min(_LONGEST_PAUSE, seconds * 2)
        return seconds
