"""A pump without a connection of its own: the lookout of its node sends its commands with those of many others.

``waits/watch_table.py`` says what is done when.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Protocol

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.receiving.asking import Asking, Refusal
from redisson_dq._async.receiving.errands import Errands
from redisson_dq._async.receiving.put_backs import PutBacks
from redisson_dq._concurrency import AsyncWork
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import Line, Waiter
from redisson_dq.waits.watch_engine import WatchEngine
from redisson_dq.waits.watch_table import Do, State, Trigger
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["Calling", "HangsUp", "SharedPump", "SourcesOfLine"]


class HangsUp(Protocol):
    """The lookout that a shared pump belongs to."""

    async def hang_up(self) -> None:
        """Cuts its connections."""


class SourcesOfLine(Protocol):
    """The sources of one line."""

    line: Line

    def add(self, pump: SharedPump, /) -> None:
        """One source more."""

    def wake(self) -> None:
        """Somebody may wait: calls the lookouts of all sources."""
        ...

    def ask(self, called: Collection[SharedPump], now: float) -> Sequence[SharedPump]:
        """Chooses the commands for those of the called ones that take their next step. Gives those that are asked."""
        ...

    def settle(self, asked: Sequence[SharedPump]) -> int:
        """All replies have come that were asked for in a round: hands out the values. Gives how many came."""
        ...

    def free(self) -> None:
        """A round is over that had claimed for the line: sources that have yielded may be asked."""


class Calling(Protocol):
    """Those that work for the shared pumps of a client."""

    def call(self, pump: SharedPump, /) -> None:
        """Lets the lookout come to it in its next round."""

    def later(self, work: AsyncWork, after: float = 0.0) -> None:
        """Does something beside the lookouts: at once, or in so many seconds where it asks no node for anything."""


class SharedPump:
    """Takes from one source while somebody waits; the mutex of the line guards its fields and most methods."""

    def __init__(
        self,
        connections: Connections,
        source: Source,
        debts: Debts,
        sources: SourcesOfLine,
        calling: Calling,
        give_up: Callable[[], None],
    ) -> None:
        """``give_up`` lets pumps of their own take the place of shared ones, as Redis refuses to tell of changes."""
        self._connections = connections
        self.source = source
        self.sources = sources
        self.line: Line = sources.line
        self.engine = WatchEngine(sources.line, debts)
        self.backs = PutBacks(connections, source, sources.line, self.put_away)
        self.asking = Asking(connections, source, self.engine, self.backs)
        #: The lookout of the node that the key lives on, once that is known.
        self.lookout: HangsUp | None = None
        self._calling = calling
        self._give_up = give_up
        # The name under which it reports an outage.
        self._part = f"wait {id(self)}"
        self._errands = Errands(connections, source, self.engine, self.backs, self._part, self.feed)
        sources.add(self)

    # -- for a receiver (Taker) --------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Somebody may wait."""
        self.feed(Trigger.OWED if self.engine.debts or self.backs.are_left else Trigger.WORK)

    def put_away(self, values: list[Taken]) -> None:
        """Puts values back where they came from, in the order in which they were taken."""
        if values:
            self.backs.add(values)
            self.feed(Trigger.OWED)

    def recover(self, request: Request[list[Taken]]) -> None:
        """Sends a repeatable request again. Its sender does not wait for the reply any more."""
        self.engine.debts.owe(request)
        self.feed(Trigger.OWED)

    def met(self, trouble: RedisConnectionError) -> None:
        """Nobody but its lookout looks at its source."""

    def end(self) -> None:
        """Nobody waits any more. Redis may go on watching, which costs nothing until the next change."""

    def stand_down(self) -> None:
        """No caller stands in for a lookout."""

    def close(self) -> None:
        """Returns the values that are left."""
        if self.engine.debts or self.backs.are_left:
            self.feed(Trigger.OWED)
        self.feed(Trigger.CLOSED)
        if self.engine.state is State.PAUSING:
            self._calling.later(self._errands.go_on)

    def answer_expired(self) -> None:
        """Answers the callers whose time is over, as far as no command has to be sent before."""
        # Read once: the lookout ends the trouble without the mutex.
        if (trouble := self.engine.trouble) is not None:
            self.line.answer_expired(trouble)
        elif self.engine.state is State.WATCHED and self.line.anyone:
            # No command is needed for callers who have come since. A value that comes is for those who wait longer.
            self.line.asked()
            self.line.answer_expired()
        elif self.line.count:
            self.feed(Trigger.TIME_OVER)

    async def stand_in(self, waiter: Waiter) -> None:
        """No caller stands in for a lookout."""

    async def end_in_time(self) -> None:
        """No command blocks."""

    async def hang_up(self) -> None:
        """Cuts the connections of its lookout. Values in the replies on them are lost."""
        if self.lookout is not None and self.engine.is_under_way:
            await self.lookout.hang_up()

    @property
    def trouble(self) -> RedisConnectionError | None:
        """Why nothing can be taken just now."""
        return self.engine.trouble

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

    def feed(
        self, trigger: Trigger, /, *, refusal: Refusal | None = None, reason: RedissonDQError | None = None
    ) -> None:
        """Feeds a trigger, under the mutex. ``refusal`` belongs to ``FAILED``, ``reason`` to ``REFUSED``."""
        if trigger is Trigger.AWAY:
            # It may live on another node now.
            self.lookout = None
        before = self.engine.trouble
        self._carry_out(self.engine.step(trigger), refusal, reason)
        if trigger is Trigger.RESTS and before is not None:
            # Nobody tries any more.
            self._connections.outage.gave_up(self._part)
        if self.engine.state is State.RESTING and self.line.inbox.qsize() and not self.engine.is_replaced:
            # Somebody came who still found it called.
            self.sources.wake()

    def _carry_out(self, to_do: tuple[Do, ...], refusal: Refusal | None, reason: RedissonDQError | None) -> None:
        for do in to_do:
            if do is Do.CALL:
                self._calling.call(self)
            elif do is Do.RETURN:
                self._calling.later(self._errands.put_back)
            elif do is Do.DIAGNOSE:
                assert refusal is not None
                self._calling.later(partial(self._errands.diagnose, refusal))
            elif do is Do.FAIL:
                assert reason is not None
                self.line.fail(reason)
            elif do is Do.REPLACE:
                self._give_up()
            elif do is Do.PAUSE:
                self._calling.later(self._errands.go_on, self.backs.pause_of(self.engine.longer_pause()))

    def wants(self) -> bool:
        """Whether it has to be asked, in a round that comes to it. Otherwise it takes its next step."""
        self.backs.surplus = self.line.give(self.backs.surplus)
        choice = self.engine.choice(has_returns=self.backs.are_left)
        if choice is not Trigger.ASKS:
            self.feed(choice)
        return choice is Trigger.ASKS

    def ask(self, share: int) -> None:
        """Chooses the commands to take so many values."""
        self.asking.choose(share)
        self.feed(Trigger.ASKS)

    def settle(self) -> list[Taken]:
        """Classifies the replies, under the mutex. Gives the values that came, which the caller hands out."""
        trigger, commands = self.asking.settle(has_returns=self.backs.are_left)
        self.feed(trigger, refusal=commands.refusal)
        self._leave_debts()
        return commands.taken

    def later(self, work: AsyncWork, after: float) -> None:
        """Does something beside the lookouts, in so many seconds at the earliest."""
        self._calling.later(work, after)

    def changes(self, lookout: HangsUp) -> None:
        """Redis has told this lookout of a change of the key."""
        if self.lookout is lookout:
            self.feed(Trigger.CHANGED)

    def lose(self, lookout: HangsUp) -> None:
        """This lookout has lost its connections: Redis does not watch, and the replies to its commands will not come.

        Does nothing where another lookout has the source by now. Its commands may be under way there.
        """
        if self.lookout is not lookout:
            return
        self.lookout = None
        # The connection may have broken behind the reply that had them.
        self.put_away(self.line.give(self.asking.lose()))
        self.feed(Trigger.DISCONNECTED)
        self._leave_debts()

    @property
    def may_have_taken(self) -> bool:
        """Whether a command that was sent for somebody who still waits may have taken something."""
        return self.engine.is_under_way or self.line.is_in_doubt

    def suffer(self, reason: RedissonDQError) -> None:
        """Redis cannot be reached, or refuses everything."""
        if isinstance(reason, RedisConnectionError):
            self.engine.suffer(reason)
        else:
            self.line.fail(reason)

    def give_up(self) -> None:
        """No lookout comes to it: values go back, and pumps of their own take for callers. Under the mutex."""
        self.line.admit()
        if self.engine.state is State.CALLED and self.wants():
            self._give_up()
            # Another pump takes for its callers now. Left called, this one would hold up the close.
            self.wants()

    def stop(self) -> None:
        """Another pump takes its place, and goes on with the debts. This one reads the replies that are under way."""
        self.engine.is_replaced = True

    def _leave_debts(self) -> None:
        """Wakes the pump that has taken its place, where a request that was under way here has to be sent again."""
        if self.engine.is_replaced and self.engine.debts:
            self._give_up()

    def is_well(self) -> None:
        """Redis has answered. Not under the mutex: observers hear of it."""
        if self.engine.state is not State.FAILING:
            self._connections.outage.ended(self._part)
