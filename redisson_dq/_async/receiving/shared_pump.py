"""A pump without a connection of its own: the lookout of its node sends its commands with those of many others.

``waits/watched.py`` says what is done when. Here is what asks Redis: it reads the replies of a round, and does the work
that the clerk has for the source.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Protocol

from redis.exceptions import NoScriptError, ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.explaining import end_of_wait
from redisson_dq._async.receiving.put_backs import PutBacks
from redisson_dq._concurrency import AsyncCancelled, AsyncWork
from redisson_dq._redis import is_denied, is_out_of_memory, is_passing, passes, refusal_of, translate
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import Line
from redisson_dq.waits.rotation import Rotation, Stock, needs_sizes, share_out
from redisson_dq.waits.steps import Bell, Diagnose, Do, Pause, StepFailed, StepRefused, WaitStep
from redisson_dq.waits.watched import LATE, State, WatchedSource
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["Calling", "HangsUp", "SharedPump", "SharedSources"]

logger = logging.getLogger("redisson_dq")

# Three to watch and to take, and a look for the cause.
_COMMANDS_OF_A_TRY = 4


class HangsUp(Protocol):
    """The lookout that a shared pump belongs to."""

    async def hang_up(self) -> None:
        """Cuts its connections."""


class Calling(Protocol):
    """Those that work for the sources of a client."""

    def call(self, pump: SharedPump, /) -> None:
        """Lets the lookout of its node come to it."""

    def later(self, work: AsyncWork, after: float = 0.0) -> None:
        """Does something outside the lookouts: at once, or ``after`` seconds where it asks no node for anything."""


class SharedPump(WatchedSource):
    """Takes from one source while somebody waits; the mutex of the line guards its fields and most methods."""

    def __init__(
        self,
        connections: Connections,
        source: Source,
        debts: Debts,
        sources: SharedSources,
        calling: Calling,
        give_up: Callable[[], None],
    ) -> None:
        """``give_up`` lets pumps of their own take the place of shared ones, as Redis refuses to report changes."""
        self._backs = PutBacks(connections, source, sources.line, self.put_away)
        super().__init__(sources.line, source, debts, self._backs, connections.clock.monotonic)
        self._connections = connections
        self.sources, self.lookouts = sources, calling
        #: The lookout of the node that the key lives on, once that is known.
        self.lookout: HangsUp | None = None
        self._comes = False
        self._give_up = give_up
        # The name under which it reports an outage.
        self._part = f"wait {id(self)}"
        sources.add(self)

    # -- for a receiver ----------------------------------------------------------------------------------------------

    def met(self, trouble: RedisConnectionError) -> None:
        """Nobody but its lookout looks at its source."""

    def end(self) -> None:
        """Nobody waits any more. Redis may go on watching, which costs nothing until the next change."""

    async def end_in_time(self) -> None:
        """No command blocks."""

    async def hang_up(self) -> None:
        """Cuts the connections of its lookout. Values in the replies on them are lost."""
        if self.lookout is not None and self.state is State.ASKED:
            await self.lookout.hang_up()

    @property
    def is_busy(self) -> bool:
        """Whether a look by others may find values that come after its own. A lookout comes at any time."""
        return True

    @property
    def is_attended(self) -> bool:
        """Whether somebody sees callers that enter the inbox of the line."""
        return self.state is not State.RESTING

    @property
    def is_blocked(self) -> bool:
        """Whether Redis watches for it."""
        return self.state is State.WATCHED

    @property
    def is_quiet(self) -> bool:
        """Whether it holds no value, and none is on its way to it."""
        return self.state not in (State.ASKED, State.BUSY) and not self.backs.are_left and not self.debts

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is done for it, and it has no value."""
        return self.state in (State.RESTING, State.WATCHED) and not self.backs.are_left

    # -- for a lookout -----------------------------------------------------------------------------------------------

    def comes_to(self, lookout: HangsUp) -> None:
        """This lookout has its source from here on."""
        self.lookout, self._comes = lookout, True

    def came(self) -> bool:
        """Whether its lookout asks for it for the first time."""
        comes, self._comes = self._comes, False
        return comes

    def changes(self, lookout: HangsUp) -> None:
        """Redis has reported a change of the key to this lookout."""
        if self.lookout is lookout:
            self.has_changed()

    def lose_at(self, lookout: HangsUp) -> None:
        """This lookout has lost its connections.

        Does nothing where another lookout has the source by now. Its commands may be under way there.
        """
        if self.lookout is not lookout:
            return
        self.lose()

    @property
    def may_have_taken(self) -> bool:
        """Whether a command that was sent for somebody who still waits may have taken something."""
        return self.state is State.ASKED or self.line.is_in_doubt

    async def collect(self, reply: Any, length: Any) -> None:
        """Reads the replies to its commands. Not under the mutex, as it may ask Redis again.

        ``length`` is the reply that comes with the watch. A reply may be an error of Redis's.
        """
        commands, request = self.commands, self.commands.request
        commands.length = length
        if isinstance(reply, NoScriptError):
            # It did not run. The lookout sends the script's text in the next round.
            commands.is_again = True
        elif request is not None:
            commands.is_read = True
            try:
                commands.taken = await self._taken(request, reply)
            except (ResponseError, RedissonDQError) as error:
                does_pass = is_passing(error) if isinstance(error, ResponseError) else passes(error)
                commands.refusal = StepRefused(error, passes=does_pass)
        if isinstance(length, ResponseError) and not (commands.taken or commands.refusal):
            commands.refusal = StepRefused(length, passes=is_passing(length))
        if commands.refusal is not None:
            commands.refusal.request = request
        after = self.source.after(commands.taken, self._backs.answered)
        if after is not None:
            await self._backs.follow(after)

    async def _taken(self, request: Request[list[Taken]], reply: Any) -> list[Taken]:
        if isinstance(reply, ResponseError):
            if request.when_full is not None and is_out_of_memory(reply):
                return await self._connections.run(request.when_full)
            raise reply
        return self._connections.parsed(request, reply)

    def tell_answered(self) -> None:
        """Reports that Redis has answered. Not under the mutex: observers hear of it."""
        if self.has_answered:
            self.has_answered = False
            self._connections.outage.ended(self._part)
            self._connections.tries.succeeded(self._part)

    def call(self) -> None:
        self.lookouts.call(self)

    def rests(self) -> None:
        if self.trouble is not None:
            self._connections.outage.gave_up(self._part)
            self._connections.tries.forget(self._part)
        if self.line.inbox.qsize() and not self.is_replaced:
            # Somebody came who still found it called.
            self.sources.wake()

    def _drop(self) -> None:
        super()._drop()
        self.lookout = None

    # -- for the clerk -----------------------------------------------------------------------------------------------

    def carry_out(self, step: WaitStep) -> None:
        if isinstance(step, Bell):
            self.lookouts.later(partial(self._over, step), step.seconds)
        elif isinstance(step, Pause):
            self.lookouts.later(partial(self._pause, step))
        else:
            self.lookouts.later(partial(self._do, step))

    def end_pause(self, step: WaitStep) -> None:
        self.lookouts.later(partial(self._over, step))

    async def _over(self, step: WaitStep, outcome: Any = None) -> None:
        if isinstance(step, Pause):
            self._connections.tries.begins(self._part)
        with self.line.mutex:
            self.go_on(step, outcome)
        self.tell_answered()

    async def _do(self, step: WaitStep) -> None:
        try:
            if isinstance(step, Diagnose):
                outcome: Any = await self._diagnose(step)
            else:
                outcome = await (self._backs.send() if step is Do.PUT_BACK else self._backs.repeat(self.debts))
        except (Exception, AsyncCancelled) as error:
            outcome = StepFailed(error)
        await self._over(step, outcome)

    async def _pause(self, pause: Pause) -> None:
        """Begins a pause. It is longer where others are refused too, for the same reason."""
        over, outage, tries = partial(self._over, pause), self._connections.outage, self._connections.tries
        resume = partial(self.lookouts.later, over)
        seconds = tries.refused(self._part, refusal_of(pause.reason), pause.seconds, resume, _COMMANDS_OF_A_TRY)
        outage.began(self._part, pause.reason, self.chose)
        logger.debug("queue %r: waiting again in %.2f s: %s", self.source.key, seconds, pause.reason)
        await self._connections.refresh()
        self.lookouts.later(over, 0.0 if self.line.closed else seconds)

    async def _diagnose(self, step: Diagnose) -> tuple[RedissonDQError | None, bool]:
        error = step.error
        if await self._may_block(step):
            with self.line.mutex:
                self.give_up()
            return None, False
        try:
            if self.line.count == 0 and isinstance(error, ResponseError):
                reason: RedissonDQError | None = translate(error, f"queue {self.source.key!r}")
            else:
                reason = await end_of_wait(self._connections, self.source, error, step.request)
        except RedissonDQError as failure:
            reason = failure
        return reason, True

    async def _may_block(self, step: Diagnose) -> bool:
        """Whether the user lacks rights that a pump of its own would not need, as it takes by a blocking command."""
        # A script is sent after that command too. Where nobody waits, the refusal of another source is enough.
        if (step.request is not None and step.request.script) or not self.line.count:
            return False
        if not (isinstance(step.error, ResponseError) and is_denied(step.error)):
            return False
        try:
            return await self._connections.may_send(self.source.key, self.source.words(LATE))
        except RedissonDQError:
            return False

    def give_up(self) -> None:
        self._give_up()

    def leave(self) -> None:
        """No lookout comes to it: values go back, and pumps of their own take for callers. Under the mutex."""
        self.line.admit()
        if self.state is State.CALLED and self.wants():
            self._give_up()
            # Another pump takes for its callers now. Left called, this one would hold up the close.
            self.wants()


class SharedSources:
    """The shared pumps of one line. Often there is only one."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self._rotation: Rotation[SharedPump] = Rotation()

    @property
    def are_many(self) -> bool:
        """Whether there are several."""
        return len(self._rotation.order) > 1

    def add(self, pump: SharedPump) -> None:
        """Adds a source."""
        self._rotation.add(pump)

    def wake(self) -> None:
        """Somebody may wait. All sources take part, as only some of them would give out of turn."""
        for pump in self._rotation.order:
            if not pump.is_replaced:
                pump.wake()

    def ask(self, called: Collection[SharedPump], now: float) -> Sequence[SharedPump]:
        """Chooses the commands for those of the called ones that take their next step. Returns those that are asked."""
        self.line.admit()
        # One that was called twice may have been asked since.
        here = [pump for pump in self._rotation.order if pump in called and pump.state is State.CALLED]
        wanting = [pump for pump in here if pump.wants()]
        if not wanting:
            return ()
        stocks = [Stock(pump.left, bool(pump.debts)) for pump in wanting]
        wanted = 0 if needs_sizes(stocks) else self.line.claim(now)
        shares = share_out(wanted, stocks)
        self.line.unclaim(wanted - sum(share or 0 for share in shares))
        self.line.asked()
        asked = []
        for pump, share in zip(wanting, shares, strict=True):
            if share is None:
                pump.yields()
            else:
                pump.ask(share, now)
                asked.append(pump)
        if not asked:
            # The lookout of another node takes for all that wait. Its node may hang.
            wanting[0].lookouts.later(partial(self._stop_waiting, now + LATE), LATE)
        return asked

    async def _stop_waiting(self, now: float) -> None:
        """Others may take for callers whose values have been asked for a while ago. A value too many goes back."""
        with self.line.mutex:
            for pump in self._rotation.order:
                pump.forgo_late_claim(now)
            self._free()

    def settle(self, asked: Sequence[SharedPump]) -> int:
        """All replies have come that were asked for in a round: hands out the values. Returns how many came."""
        with self.line.mutex:
            self.line.admit()
            answers = any(pump.is_fresh for pump in asked)
            gave: list[SharedPump] = []
            values: list[Taken] = []
            for pump in asked:
                if taken := pump.settle():
                    self._rotation.gave(pump)
                    values += taken
                    gave.append(pump)
            count = len(values)
            values = self.line.give(values)
            for pump in gave if values else ():
                pump.put_away([each for each in values if each.key in pump.source.keys])
            # Values that are left anywhere are taken by the next round.
            if answers and not any(pump.left for pump in self._rotation.order):
                self.line.answer_expired()
        for pump in asked:
            pump.tell_answered()
        return count

    def free(self) -> None:
        """A round is over that had claimed for the line: sources that have yielded may be asked."""
        if self.are_many:
            with self.line.mutex:
                self._free()

    def _free(self) -> None:
        for pump in self._rotation.order:
            pump.is_freed()
