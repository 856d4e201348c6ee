"""A pump without a connection of its own: the lookout of its node sends its commands with those of many others.

``waiting/watch_table.py`` says what is done when.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

import attrs
from redis.exceptions import NoScriptError, ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.explaining import end_of_wait, explained
from redisson_dq._async.receiving.put_backs import PutBacks
from redisson_dq._concurrency import AsyncWork
from redisson_dq._log import Log
from redisson_dq._pauses import Pauses
from redisson_dq._redis import is_denied, is_out_of_memory, is_passing
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.waiting.debts import Debts, Owed, repeat
from redisson_dq.waiting.line import Line, Waiter
from redisson_dq.waiting.watch_table import Do, State, Trigger, WatchEngine
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["LATE", "Calling", "HangsUp", "InTurns", "SharedPump"]

logger = Log()

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
#: After so many seconds without a reply, others may take for the same callers.
LATE = 0.5


class HangsUp(Protocol):
    """The lookout that a shared pump belongs to."""

    async def hang_up(self) -> None:
        """Cuts its connections."""


class InTurns(Protocol):
    """The sources of one line."""

    line: Line
    #: Whether callers whose time is over have had a command sent for them.
    answers: bool

    @property
    def are_many(self) -> bool:
        """Whether there are several."""
        ...

    def add(self, pump: SharedPump, /) -> None:
        """One source more."""

    def pass_on(self, pump: SharedPump, /) -> None:
        """This source gave values. All others come before it now."""

    def ask(self, called: Collection[SharedPump], now: float) -> Sequence[SharedPump]:
        """Shares out how many values each of them is asked for. Gives those that are asked."""
        ...

    def settle(self, asked: Sequence[SharedPump]) -> int:
        """All replies have come that were asked for in a round: hands out the values. Gives how many came."""
        ...

    def free(self) -> None:
        """A round is over that had claimed for the line: sources that waited for their turn may have it."""


class Calling(Protocol):
    """Those that work for the shared pumps of a client."""

    def call(self, pump: SharedPump, /) -> None:
        """Lets the lookout come to it in its next round."""

    def later(self, work: AsyncWork, after: float = 0.0) -> None:
        """Does something beside the lookouts, in so many seconds at the earliest."""


@attrs.define
class _Asked:
    """The commands of one round for one source."""

    request: Request[list[Taken]] | None = None
    #: How many values are claimed for those who wait.
    share: int = 0
    #: When they were sent.
    at: float = 0.0
    #: Whether Redis is asked to watch the key.
    watches: bool = False
    taken: list[Taken] = attrs.field(factory=list)
    #: The reply that comes with the watch: how many values are left.
    length: Any = None
    refusal: ResponseError | RedissonDQError | None = None
    #: Whether the server did not know the script of the request.
    is_again: bool = False


class SharedPump:
    """Takes from one source while somebody waits; the mutex of the line guards its fields and most methods."""

    def __init__(
        self,
        connections: Connections,
        source: Source,
        debts: Debts,
        turns: InTurns,
        calling: Calling,
        give_up: Callable[[], None],
    ) -> None:
        """``give_up`` lets pumps of their own take the place of shared ones, as Redis refuses to tell of changes."""
        self._connections = connections
        self.source = source
        self.turns = turns
        self.line: Line = turns.line
        self.engine = WatchEngine(turns.line, debts)
        self.backs = PutBacks(connections, source, turns.line, self.put_away)
        self.asked = _Asked()
        #: The lookout of the node that the key lives on, once that is known.
        self.lookout: HangsUp | None = None
        #: Why nothing can be taken just now.
        self.trouble: RedisConnectionError | None = None
        self._calling = calling
        self._give_up = give_up
        self._place = f"wait {id(self)}"
        # The request that Redis has refused, and the error.
        self._refusal: tuple[Request[list[Taken]] | None, Exception] = (None, Exception())
        # Why Redis refuses for good, until the callers are told.
        self._reason: RedissonDQError | None = None
        self._pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        turns.add(self)

    # -- for a receiver (Taker) --------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Somebody may wait."""
        self.tell(Trigger.OWED if self.engine.debts or self.backs.are_left else Trigger.WORK)

    def put_away(self, values: list[Taken]) -> None:
        """Puts values back where they came from, in the order in which they were taken."""
        if values:
            self.backs.add(values)
            self.tell(Trigger.OWED)

    def recover(self, request: Request[list[Taken]]) -> None:
        """Sends a repeatable request again. Its sender does not wait for the reply any more."""
        self.engine.debts.owe(repeat(request))
        self.tell(Trigger.OWED)

    def end(self) -> None:
        """Nobody waits any more. Redis may go on watching, which costs nothing until the next change."""

    def stand_down(self) -> None:
        """No caller stands in for a lookout."""

    def close(self) -> None:
        """Returns the values that are left."""
        if self.engine.debts or self.backs.are_left:
            self.tell(Trigger.OWED)
        self.tell(Trigger.CLOSED)
        if self.engine.state is State.PAUSING:
            self._calling.later(self._go_on)

    def answer_expired(self) -> None:
        """Answers the callers whose time is over, as far as no command has to be sent before."""
        # Read once: the lookout ends it without the mutex.
        if (trouble := self.trouble) is not None:
            self.line.answer_expired(trouble)
        elif self.engine.state is State.WATCHED and (self.line.anyone or self.turns.are_many):
            # No command is needed for callers who have come since. A value that comes is for those who wait longer.
            self.line.asked()
            self.line.answer_expired()
        elif self.line.count:
            self.tell(Trigger.LAST)

    async def stand_in(self, waiter: Waiter) -> None:
        """No caller stands in for a lookout."""

    async def end_in_time(self) -> None:
        """No command blocks."""

    async def hang_up(self) -> None:
        """Cuts the connections of its lookout. Values in the replies on them are lost."""
        if self.lookout is not None and not self.is_quiet:
            await self.lookout.hang_up()

    @property
    def is_busy(self) -> bool:
        """Whether a look by others may find values behind its own. A lookout comes at any time."""
        return True

    @property
    def is_attended(self) -> bool:
        """Whether somebody sees callers that enter the inbox of the line."""
        return self.engine.is_attended

    @property
    def is_blocked(self) -> bool:
        """Whether Redis watches for it."""
        return self.engine.state is State.WATCHED

    @property
    def is_quiet(self) -> bool:
        """Whether it holds no value, and none is on its way to it."""
        rests = self.engine.state in (State.RESTING, State.CALLED, State.YIELDED, State.WATCHED)
        return rests and not self.backs.are_left and not self.engine.debts

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is done for it, and it has no value."""
        return self.engine.state in (State.RESTING, State.WATCHED) and not self.backs.are_left

    # -- for a lookout -----------------------------------------------------------------------------------------------

    def tell(self, trigger: Trigger) -> None:
        """Feeds a trigger, under the mutex."""
        for do in self.engine.step(trigger):
            if do is Do.CALL:
                self._calling.call(self)
            elif do is Do.RETURN:
                self._calling.later(self._return)
            elif do is Do.DIAGNOSE:
                self._calling.later(self._diagnose)
            elif do is Do.TELL and self._reason is not None:
                self.line.fail(self._reason)
            elif do is Do.PAUSE:
                self._calling.later(self._go_on, self.backs.pause_of(self._pauses.next()))
        if self.engine.state is State.RESTING and self.line.inbox.count and not self.engine.is_over:
            # Somebody came who still found it called.
            self.tell(Trigger.WORK)

    def wants(self) -> bool:
        """Whether it has to be asked, in a round that comes to it. Otherwise it takes its next step."""
        self.backs.surplus = self.line.give(self.backs.surplus)
        choice = self.engine.choice(has_returns=self.backs.are_left)
        if choice is not Trigger.ASKS:
            self.tell(choice)
        return choice is Trigger.ASKS

    def ask(self, share: int) -> _Asked:
        """Chooses the commands to take so many values."""
        engine = self.engine
        debt = engine.debts.first
        request = debt.request if debt.owed is Owed.REPEAT else self.source.at_once(share) if share else None
        if request is not None:
            engine.sends(repeat(request), is_repeatable=request.repeatable)
        # Where more is left than is taken now, the next round comes anyway.
        watches = not engine.is_watched and (engine.left or 0) <= share
        now = self._connections.clock.monotonic()
        self.asked = _Asked(request=request, share=share, watches=watches or request is None, at=now)
        self.tell(Trigger.ASKS)
        return self.asked

    async def collect(self, reply: Any, length: Any) -> None:
        """Reads the replies to its commands, not under the mutex.

        ``length`` is the reply that comes with the watch. A reply may be an error of Redis's.
        """
        asked, request = self.asked, self.asked.request
        asked.length = length
        if isinstance(reply, NoScriptError):
            # It did not run. The lookout sends the script's text in the next round.
            asked.is_again = True
        elif request is not None:
            self.engine.was_answered()
            try:
                asked.taken = await self._taken(request, reply)
            except (ResponseError, RedissonDQError) as error:
                asked.refusal = error
        if isinstance(length, ResponseError) and not (asked.taken or asked.refusal):
            asked.refusal = length
        after = self.source.after(asked.taken, self.backs.answered)
        if after is not None:
            await self.backs.follow(after)

    def settle(self) -> list[Taken]:
        """Classifies the replies, under the mutex. Gives the values that came, which the caller hands out."""
        asked, self.asked = self.asked, _Asked()
        self.line.unclaim(asked.share)
        if asked.taken:
            self.line.took(asked.taken)
            self.turns.pass_on(self)
        if asked.refusal is not None:
            self._refusal = asked.request, asked.refusal
            self.tell(Trigger.REFUSED)
        else:
            if self.engine.state is State.ASKED:
                self.turns.answers = True
            watches = asked.watches and isinstance(asked.length, int)
            left = asked.length if watches else self._left_behind(asked)
            if asked.is_again and asked.request is not None:
                self.engine.is_to_be_sent_again(repeat(asked.request))
            self.tell(self.engine.replied(left, watches=watches, has_returns=self.backs.are_left))
        self._leave_debts()
        return asked.taken

    async def _taken(self, request: Request[list[Taken]], reply: Any) -> list[Taken]:
        if isinstance(reply, ResponseError):
            if request.when_full is not None and is_out_of_memory(reply):
                return await self._connections.run(request.when_full)
            raise reply
        return self._connections.parsed(request, reply)

    def _left_behind(self, asked: _Asked) -> int | None:
        """How many values are left, where no reply told so. None where that is not known."""
        if self.engine.is_watched and not asked.taken and not asked.is_again:
            return 0
        return max(0, (self.engine.left or 0) - len(asked.taken)) or None

    def later(self, work: AsyncWork, after: float) -> None:
        """Does something beside the lookouts, in so many seconds at the earliest."""
        self._calling.later(work, after)

    def forgo_late_claim(self) -> None:
        """Gives up a claim whose reply has not come for a while."""
        if self.engine.is_under_way and self._connections.clock.monotonic() - self.asked.at >= LATE:
            self.line.unclaim(self.asked.share)
            self.asked.share = 0

    def lose(self) -> None:
        """Redis does not watch any more. The replies to commands that are under way will not come."""
        self.line.unclaim(self.asked.share)
        self.asked, lost = _Asked(), self.asked
        self.lookout = None
        if lost.taken:
            # The connection broke behind the reply that had them.
            self.put_away(self.line.give(lost.taken))
        self.tell(Trigger.LOST)
        self._leave_debts()

    @property
    def may_have_taken(self) -> bool:
        """Whether a command that was sent for somebody who still waits may have taken something."""
        return self.engine.is_under_way or self.line.is_in_doubt

    def suffer(self, reason: RedissonDQError) -> None:
        """Redis cannot be reached, or refuses everything."""
        if isinstance(reason, RedisConnectionError):
            self.trouble = reason
            if reason.maybe_done:
                self.line.doubt()
            self.line.answer_expired(reason)
        else:
            self.line.fail(reason)

    def give_up(self) -> None:
        """No lookout comes to it: values go back, and pumps of their own take for callers. Under the mutex."""
        if self.engine.state is State.CALLED and self.wants():
            self._give_up()

    def stop(self) -> None:
        """Another pump takes its place, and goes on with the debts. This one reads the replies that are under way."""
        self.engine.is_over = True

    def _leave_debts(self) -> None:
        """Wakes the pump that has taken its place, where a request that was under way here has to be sent again."""
        if self.engine.is_over and self.engine.debts:
            self._give_up()

    # -- beside the lookout ------------------------------------------------------------------------------------------

    async def _return(self) -> None:
        """Puts values back. Once it is closed, also sends a request with a lost reply again, so that they go back."""
        goes_on = True
        if self.backs.are_left:
            goes_on = await self.backs.send()
        elif self.line.closed and self.engine.debts.has_request and not self.engine.is_over:
            goes_on = await self._repeat()
        if goes_on:
            self._trouble_is_over()
        with self.line.mutex:
            self.tell(Trigger.DONE if goes_on else Trigger.STUCK)

    async def _repeat(self) -> bool:
        taken = await self.backs.repeat(self.engine.debts)
        if taken is None:
            return False
        with self.line.mutex:
            self.backs.add(self.line.give(taken))
        return True

    async def _diagnose(self) -> None:
        request, error = self._refusal
        if isinstance(error, ResponseError) and is_denied(error):
            # The user may have the rights of a blocking command all the same.
            with self.line.mutex:
                self._give_up()
                self._reason = None
                self.tell(Trigger.TELLS)
            return
        try:
            reason: RedissonDQError | None = None
            if isinstance(error, ResponseError) and not is_passing(error) and request is not None:
                reason = await explained(self._connections, request, error)
            else:
                reason = await end_of_wait(self._connections, self.source, error)
        except RedissonDQError as failure:
            reason = failure
        if isinstance(reason, RedisConnectionError):
            self._connections.outage.began(self._place, reason)
            # It may live on another node now.
            await self._connections.refresh()
        with self.line.mutex:
            if isinstance(reason, RedisConnectionError):
                logger.debug("queue %r: waiting again in %.2f s: %s", self._key, self._pauses.coming, reason)
                self.suffer(reason)
                self.lookout = None
                self.tell(Trigger.AWAY)
            else:
                self._reason = reason
                self.tell(Trigger.TELLS)

    async def _go_on(self) -> None:
        with self.line.mutex:
            # The close ends a pause before its time.
            if self.engine.state is State.PAUSING:
                self.tell(Trigger.DONE)

    @property
    def _key(self) -> str:
        return self.source.key

    def is_well(self) -> None:
        """Redis has answered."""
        if self.engine.state is not State.FAILING:
            self._trouble_is_over()

    def _trouble_is_over(self) -> None:
        self.trouble = None
        self._pauses.reset()
        self._connections.outage.ended(self._place)
