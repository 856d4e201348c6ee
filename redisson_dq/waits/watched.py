"""One source whose connection many sources share: what a lookout does for it, and when. Decisions, without any I/O.

A lookout (``_async/receiving/lookout.py``) takes for many sources of one node over one connection. Redis reports
changes of the keys that it watches (``CLIENT TRACKING``). It goes in rounds, and comes to each source that was called:

* It asks the source: a command takes ready values for those who wait, and the command after it shows how many values
  are left. With the second command Redis begins to watch the key.
* When nothing is left, the source is watched. No command is sent then, though callers come and go. At the next change
  Redis reports it once, and the source is called again.
* A caller's time may be over while the commands are under way. The source is asked again then, and the caller is
  answered after that. A lookout receives changes only between two rounds, when no command is under way.
* A source whose callers are being served from other sources yields to those.
* Put-backs, repeated requests and the cause of a refusal belong to the clerk, so they hold up no other source. After a
  failure the source pauses.

Three promises hold. Each value is given, on its way back, or owed (:mod:`redisson_dq.waits.debts`). While somebody
waits, the source is watched, or a step is under way that ends with a call. A caller whose time is over learns that
nothing is there only from a command that was sent later, or where Redis watches all sources of its line. A reply that
reports values which are left never counts as that.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, Final, Protocol

import attrs

from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import Line
from redisson_dq.waits.steps import Backs, Bell, Do, Pause, StepFailed, StepRefused, Steps, WaitStep
from redisson_dq.waits.troubles import Troubles
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["LATE", "Calling", "Commands", "State", "WatchedSource"]

#: After this many seconds without a reply, others may take for the same callers.
LATE: Final = 0.5


class State(enum.Enum):
    """The wait for one source."""

    RESTING = "nobody waits, and nothing is owed"
    CALLED = "the lookout comes to it in its next round"
    YIELDED = "callers are being served from other sources, and the lookout comes to it later"
    ASKED = "its commands are under way"
    WATCHED = "nothing is ready, and Redis reports the next change"
    BUSY = "the clerk works for it, or it pauses, and calls the lookout when that is over"


@attrs.define
class Commands:
    """The commands of one round, and the replies so far."""

    request: Request[list[Taken]] | None = None
    #: Whether the request was sent before, and its reply was lost.
    is_repeated: bool = False
    #: How many values are claimed for those who wait.
    share: int = 0
    #: Whether Redis is asked to watch the key.
    watches: bool = False
    #: Whether the reply to the request was read.
    is_read: bool = False
    taken: list[Taken] = attrs.field(factory=list)
    #: The reply that comes with the watch: how many values are left.
    length: Any = None
    #: Redis has refused the request, or only the watch.
    refusal: StepRefused | None = None
    #: Whether the server did not know the script of the request.
    is_again: bool = False

    @property
    def is_in_doubt(self) -> bool:
        """Whether the request may have taken values before, and was refused for a while, which does not show that."""
        return self.is_repeated and self.refusal is not None and self.refusal.passes


class Calling(Protocol):
    """The lookouts of a client, and their clerk (``_async/receiving/lookouts.py``, ``clerk.py``)."""

    def call(self, source: Any, /) -> None: ...

    def carry_out(self, source: Any, step: WaitStep, /) -> None: ...

    def end_pause(self, source: Any, step: WaitStep, /) -> None: ...

    def free_late(self, sources: Any, now: float, /) -> None: ...

    def gave_up(self, source: Any, /) -> None: ...

    def tell_answered(self, source: Any, /) -> None: ...


class WatchedSource(Troubles):
    """Decides for one source. The mutex of the line guards it."""

    def __init__(
        self,
        line: Line,
        source: Source,
        debts: Debts,
        backs: Backs,
        clock: Callable[[], float],
        lookouts: Calling,
        give_up: Callable[[], None],
    ) -> None:
        """``give_up`` lets pumps of their own take the place of all sources of the line."""
        super().__init__(line, source, debts, backs, clock)
        self.lookouts, self.give_up = lookouts, give_up
        #: All sources of its line (``rotation.py``).
        self.sources: Any = None
        #: The lookout of the node that the key lives on, once that is known.
        self.lookout: Any = None
        #: Whether that has not asked for it yet.
        self.is_new = False
        self.state = State.RESTING
        #: Those that are under way.
        self.commands = Commands()
        #: How many values were left at the last reply; None where Redis has reported a change since.
        self.left: int | None = None
        #: Whether Redis reports the next change of the key.
        self.is_key_watched = False
        #: Whether a pump of its own has taken its place, for good. That one asks, and pays what is owed.
        self.is_replaced = False
        # Whether a caller's time was over since the commands were sent.
        self._is_stale = False
        # What the clerk does for it, and the step of that which is under way.
        self._steps: Steps | None = None
        self.step: WaitStep | None = None

    # -- for a receiver, like a pump ---------------------------------------------------------------------------------

    def end(self) -> None:
        """Nobody waits any more. Redis may go on watching, which costs nothing until the next change."""

    @property
    def asked_by(self) -> Any:
        """The lookout that has asked for it, and has not read the replies yet."""
        return self.lookout if self.state is State.ASKED else None

    @property
    def is_busy(self) -> bool:
        """Whether a look by others may find values that come after its own. A lookout comes at any time."""
        return True

    @property
    def is_running(self) -> bool:
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

    # -- what others report ------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Somebody may wait, or something is owed."""
        self._call_from(State.RESTING, State.YIELDED)
        if self.debts or self.backs.are_left:
            self._call_from(State.WATCHED)

    def _has_work(self) -> None:
        self.wake()

    def close(self) -> None:
        """No caller comes any more. Sends back the values that are left."""
        if self.debts or self.backs.are_left:
            self._call_from(State.RESTING)
        self._call_from(State.YIELDED, State.WATCHED)
        if isinstance(self.step, (Bell, Pause)):
            self.lookouts.end_pause(self, self.step)

    def answer_expired(self) -> None:
        """Answers the callers whose time is over, as far as no command has to be sent before."""
        if self.trouble is not None:
            self.line.answer_expired(self.trouble)
        elif self.state is State.WATCHED and self.line.anyone:
            # No command is needed for callers who have come since. A value that comes is for those who wait longer.
            self.line.asked()
            self.line.answer_expired()
        elif self.line.count:
            # A reply that is under way may be older than the end of their time.
            self._is_stale = True
            self._call_from(State.RESTING, State.YIELDED, State.WATCHED)

    # -- for a lookout -----------------------------------------------------------------------------------------------

    def changes(self, lookout: object) -> None:
        """Redis has reported a change of the key to this lookout. It does so once."""
        if self.lookout is lookout:
            self.left, self.is_key_watched = None, False
            self._call_from(State.YIELDED, State.WATCHED)

    def lose_at(self, lookout: object) -> None:
        """This lookout has lost its connections: Redis does not watch, and the replies to its commands will not come.

        Does nothing where another lookout has the source by now. Its commands may be under way there.
        """
        if self.lookout is not lookout:
            return
        commands, self.commands = self.commands, Commands()
        self.line.unclaim(commands.share)
        request, is_owed = commands.request, commands.is_in_doubt or not commands.is_read
        if request is not None and request.repeatable and is_owed:
            self.debts.owe_first(request)
        # The connection may have broken after the reply that held them.
        self.put_away(self.line.give(commands.taken))
        self.line.broke()
        self._drop()
        # A lookout whose connections broke forgets its calls.
        self._call_from(State.CALLED, State.YIELDED, State.ASKED, State.WATCHED)
        self._leave_debts()

    @property
    def may_have_taken(self) -> bool:
        """Whether a command that was sent for somebody who still waits may have taken something."""
        return self.state is State.ASKED or self.line.is_in_doubt

    # -- a round -----------------------------------------------------------------------------------------------------

    def wants(self) -> bool:
        """Whether it has to be asked, in a round that comes to it. Otherwise it takes its next step.

        Callers that are in the inbox by now are seen by the next round, as nothing is claimed for them in this one.
        """
        line, backs = self.line, self.backs
        backs.surplus = line.give(backs.surplus)
        owes = self.debts.admit() and not self.is_replaced
        if backs.are_left or (line.closed and owes and self.debts.has_request):
            self._work(self._put_back() if backs.are_left else self._repeat())
            return False
        if not (line.closed or self.is_replaced) and (owes or line.waiting):
            return True
        self.state = State.RESTING
        if self.trouble is not None:
            self.trouble = None
            self.lookouts.gave_up(self)
        self._pauses.reset()
        if line.inbox.qsize() and not self.is_replaced:
            # Somebody came who still found it called.
            self.sources.wake()
        return False

    def ask(self, share: int, now: float) -> None:
        """Chooses the commands to take ``share`` values."""
        request = owed = self.debts.first
        if owed is not None:
            # From here on ``commands`` has it, as a new one. It is owed again where no reply comes.
            self.debts.paid(owed)
        elif share:
            request = self.source.at_once(share)
        # Where more is left than is taken now, the next round comes anyway.
        watches = request is None or (not self.is_key_watched and (self.left or 0) <= share)
        self.chose = now
        self.commands = Commands(request, owed is not None, share, watches)
        self.state, self._is_stale = State.ASKED, False

    @property
    def is_fresh(self) -> bool:
        """Whether the replies have come, and no caller's time was over since the commands were sent."""
        return self.commands.refusal is None and self.state is State.ASKED and not self._is_stale

    def forgo_late_claim(self, now: float) -> None:
        """Drops a claim that has waited too long for its reply."""
        if self.state is State.ASKED and now - self.chose >= LATE:
            self.line.unclaim(self.commands.share)
            self.commands.share = 0

    def settle(self) -> list[Taken]:
        """All replies of the round have come. Returns the values, which the caller hands out."""
        commands, self.commands = self.commands, Commands()
        taken, request = commands.taken, commands.request
        self.line.unclaim(commands.share)
        if taken:
            self.line.took(taken)
        if request is not None and (commands.is_in_doubt or commands.is_again):
            self.debts.owe_first(request)
        if commands.refusal is not None:
            self._work(self._failed(commands.refusal))
        else:
            self._goes_on(commands)
        self._leave_debts()
        return taken

    def _goes_on(self, commands: Commands) -> None:
        self._answered()
        watches = commands.watches and isinstance(commands.length, int)
        if watches:
            left: int | None = commands.length
        elif self.is_key_watched and not (commands.taken or commands.is_again):
            left = 0
        else:
            left = max(0, (self.left or 0) - len(commands.taken)) or None
        if self._is_stale:
            # It is asked again at once, and may have got values by then.
            self.left = left or None
            self._call()
            return
        self.left, self.is_key_watched = left, self.is_key_watched or watches
        if self.is_key_watched and left == 0 and not (self.debts or self.backs.are_left or self.line.closed):
            self.state = State.WATCHED
        else:
            self._call()

    # -- what the clerk does -----------------------------------------------------------------------------------------

    def _work(self, steps: Steps) -> None:
        """The clerk carries out these steps. Then the lookout comes to it again."""
        self.state, self._steps = State.BUSY, steps
        self.go_on(None, None)

    def go_on(self, step: WaitStep | None, outcome: Any) -> None:
        """The outcome of a step, which may be StepFailed. Does nothing where the step was over before."""
        if step is not self.step or self._steps is None:
            return
        try:
            while True:
                throws = isinstance(outcome, StepFailed)
                self.step = self._steps.throw(outcome) if throws else self._steps.send(outcome)
                if self.step is not Do.DISCONNECT:
                    break
                outcome = None
        except StopIteration:
            self.step = self._steps = None
            self._call()
        except StepFailed as error:
            self.step = None
            self._work(self._failed(error))
        else:
            self.lookouts.carry_out(self, self.step)

    def leave(self) -> None:
        """No lookout comes to it: values go back, and pumps of their own take for callers. Under the mutex."""
        self.line.admit()
        if self.state is State.CALLED and self.wants():
            self.give_up()
            # Another pump takes for its callers now. Left called, this one would hold up the close.
            self.wants()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _call_from(self, *states: State) -> None:
        if self.state in states:
            self._call()

    def _call(self) -> None:
        self.state = State.CALLED
        self.lookouts.call(self)

    def _drop(self) -> None:
        """Its key may live on another node now, which does not watch it."""
        self.lookout, self.left, self.is_key_watched = None, None, False

    def _leave_debts(self) -> None:
        """Wakes the pump that has taken its place, where a request that was under way here has to be sent again."""
        if self.is_replaced and self.debts:
            self.give_up()
