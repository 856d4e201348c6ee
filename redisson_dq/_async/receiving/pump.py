"""One connection that takes from one source for all callers that wait: the triggers of its pop engine, and its pumper.

Receivers, other tasks and the unblocker tell what happened. ``waits/pop_table.py`` says what is done then.
``actions.py`` and ``popping.py`` carry it out.
"""

from __future__ import annotations

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.dedicated import Dedicated
from redisson_dq._async.receiving.actions import Actions
from redisson_dq._async.receiving.beginning import Beginner, Begun
from redisson_dq._async.receiving.idle import IdleConnections
from redisson_dq._async.receiving.popping import ActionResult
from redisson_dq._async.receiving.put_backs import PutBacks
from redisson_dq._async.receiving.unblocking import Unblocker
from redisson_dq._concurrency import AsyncCancelled, AsyncInbox
from redisson_dq._redis import pack
from redisson_dq.errors import RedisConnectionError
from redisson_dq.waits.debts import Debts, repeat
from redisson_dq.waits.in_hand import EMPTY, InHand
from redisson_dq.waits.line import WAKE, Line, Waiter
from redisson_dq.waits.pop_engine import PopEngine
from redisson_dq.waits.pop_table import CHOICES, Do, State, Trigger
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["Pump"]

_PING = pack(("PING",))


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
        """``bell`` wakes the background task. ``stay`` is the engine's, and ``idle`` is the actions'."""
        self._clock = connections.clock
        self._line = line
        self._bell = bell
        self._beginner = beginner
        self._engine = PopEngine(line, source, debts, stay=stay)
        self._backs = PutBacks(connections, source, line, self.put_away)
        self._pumping = Actions(connections, self._engine, self._backs, bell, idle)
        self._popping = self._pumping.popping
        self._unblocker = Unblocker(
            source.key, line.mutex, self._clock, beginner, self._unblockable, may_cut=source.sets_aside
        )
        self._task: Begun | None = None

    # -- triggers, under the mutex -----------------------------------------------------------------------------------

    def wake(self) -> None:
        """Somebody may wait, or has noted a request that has to be sent again."""
        self._feed(Trigger.OWED if self._engine.owes_another() else Trigger.WORK)

    def answer_expired(self) -> None:
        """Answers the callers whose time is over, as far as no command has to end before."""
        self._engine.answer_expired(self._clock.monotonic())

    def put_away(self, values: list[Taken]) -> None:
        """Puts values back where they came from, in the order in which they were taken."""
        if values:
            self._backs.add(values)
            self._feed(Trigger.OWED)

    def recover(self, request: Request[list[Taken]]) -> None:
        """Sends a repeatable request again. Its sender does not wait for the reply any more."""
        self._engine.debts.owe(repeat(request))
        self._feed(Trigger.OWED)

    def met(self, trouble: RedisConnectionError) -> None:
        """Others could not reach its source. Does nothing where it is busy, and finds out by itself."""
        if not self._engine.is_busy:
            self._engine.met(trouble, is_connected=self._popping.dedicated is not None)

    def end(self) -> None:
        """Nobody waits any more. The reply to a blocking command tells whether it had taken a value."""
        self._feed(Trigger.NOBODY)

    def stand_down(self) -> None:
        """Callers do not pump any more. The connection goes when nobody has waited for a while."""
        if self._engine.stand_down():
            self._feed(Trigger.WORK)

    def close(self) -> None:
        """Ends the background task as soon as its values are back."""
        self._pumping.closing.on()
        if self._engine.state is State.PAUSING:
            self._bell.put(WAKE)
        if self._engine.is_running or self._popping.dedicated is not None:
            self._feed(Trigger.CLOSED)

    def _feed(self, trigger: Trigger) -> None:
        self._at_once(self._engine.step(trigger))

    def _at_once(self, to_do: tuple[Do, ...]) -> None:
        """Carries out the actions that belong under the mutex."""
        for do in to_do:
            if do is Do.START:
                self._task = self._beginner.begin(self._pump, f"redisson_dq-receiver-{self.source.key}")
            elif do is Do.RING:
                self._bell.put(WAKE)
            elif do is Do.UNBLOCK:
                self._unblocker.start()
            elif do is Do.DISCONNECT:
                self._popping.retire()

    # -- triggers, not under the mutex -------------------------------------------------------------------------------

    async def stand_in(self, waiter: Waiter) -> None:
        """Pumps until this caller has its answer. So nobody has to be woken for it.

        Does nothing where somebody else pumps. When the caller is cancelled, a background task asks again for the
        values of the reply. No signal handler may interrupt the caller.
        """
        with self._line.mutex:
            if not self._engine.stand_in(is_connected=self._popping.dedicated is not None):
                return
        await self._pump(waiter)

    async def end_in_time(self) -> None:
        """Ends a blocking command when the last caller's time is over.

        The server ends it by itself, but reads its clock when something happens, or at the next of ten times a
        second. So a PING comes behind it, on the same connection. No other command does: Redis 7.0 panics when a client
        that CLIENT PAUSE postpones is unblocked.
        """
        with self._line.mutex:
            dedicated = self._popping.dedicated
            if self._engine.state is not State.BLOCKED or self._line.anyone or dedicated is None:
                return
            if not self._engine.is_over(self._clock.monotonic()) or not dedicated.may_send_aside:
                self._feed(Trigger.NOBODY)
                return
            self._feed(Trigger.LAST_OVER)
        await dedicated.send_aside(_PING)

    async def hang_up(self) -> None:
        """Cuts the connection; the background task ends. Values in the reply on it are lost."""
        dedicated = self._popping.dedicated
        if dedicated is not None:
            await dedicated.hang_up()

    # -- for others, also without the mutex --------------------------------------------------------------------------

    @property
    def source(self) -> Source:
        """The source that it takes from."""
        return self._engine.source

    @property
    def trouble(self) -> RedisConnectionError | None:
        """Why nothing can be taken just now."""
        return self._engine.trouble

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
    def is_busy(self) -> bool:
        """Whether it takes for callers, or puts back. A look by others would find values behind those."""
        return self._engine.is_busy

    @property
    def is_blocked(self) -> bool:
        """Whether the blocking command is on its way or stands in Redis."""
        return self._engine.is_blocked

    # -- the pumper --------------------------------------------------------------------------------------------------

    async def _pump(self, caller: Waiter | None = None) -> None:
        """Carries out one row of the table after the other. ``caller`` is a stand-in."""
        actions = self._pumping
        to_do: tuple[Do, ...] = ()
        held = EMPTY
        cancelled: BaseException | None = None
        while Do.LEAVE not in to_do:
            trigger: Trigger | None = None
            try:
                for do in to_do:
                    outcome: ActionResult = await actions.of[do](held)
                    came, held = outcome
                    trigger = came or trigger
            except (Exception, AsyncCancelled) as error:
                trigger, held = self._popping.failed(held, error)
            if caller is not None and isinstance(held.error, AsyncCancelled):
                cancelled = held.error
            with self._line.mutex:
                to_do, held, is_back = self._next(trigger, held, caller)
            if is_back:
                # Not under the mutex: observers hear of it.
                actions.is_back()
        await self._popping.disconnect(held)
        if cancelled is not None:
            raise cancelled

    def _next(self, came: Trigger | None, held: InHand, caller: Waiter | None) -> tuple[tuple[Do, ...], InHand, bool]:
        """The actions for the trigger that came of an action or that the engine chooses, and all in hand for them.

        Also whether the trigger ends an outage.
        """
        engine, trigger = self._engine, came
        if trigger is None and engine.state in CHOICES:
            held = EMPTY
            trigger = self._pumping.choose(is_answered=caller is not None and caller.answer.filled)
        elif trigger is None:
            trigger = engine.next_command(self._clock.monotonic(), has_returns=self._backs.are_left)
        # Where the bell rang, somebody came who still found a pumper here.
        stays = Trigger.HEARS_BELL if caller is None else Trigger.HANDS_OVER
        to_do = engine.step(trigger, lambda: stays if self._bell.count else None)
        is_back = self._pumping.is_away and engine.has_answered
        if Do.LEAVE in to_do and caller is None:
            # The next pumper, which may begin from here on, reports its troubles under the same name.
            self._pumping.gave_up()
        self._at_once(to_do)
        if Do.BLOCK in to_do or Do.PROBE in to_do:
            held = engine.begin(self._clock.monotonic(), blocks=Do.BLOCK in to_do)
        return to_do, held, is_back

    def _unblockable(self) -> tuple[Dedicated, int, float] | None:
        """The command that the unblocker still has to end. First it is noted when somebody waits for it again."""
        if self._engine.state is State.ENDING:
            self._popping.admit()
            if self._line.anyone:
                self._feed(Trigger.JOINED)
        if self._popping.dedicated is None or self._engine.state not in (State.ENDING, State.STOPPING):
            return None
        return self._popping.dedicated, self._engine.number, self._engine.until
