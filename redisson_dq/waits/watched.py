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
from functools import partial
from typing import Any, Final, Protocol

import attrs

from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import Line
from redisson_dq.waits.taking import Backs
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["LATE", "Calling", "Commands", "Refusal", "State", "WatchedSource"]

#: After this many seconds without a reply, others may take for the same callers.
LATE: Final = 0.5
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0


class State(enum.Enum):
    """The wait for one source."""

    RESTING = "nobody waits, and nothing is owed"
    CALLED = "the lookout comes to it in its next round"
    YIELDED = "callers are being served from other sources, and the lookout comes to it later"
    ASKED = "its commands are under way"
    WATCHED = "nothing is ready, and Redis reports the next change"
    BUSY = "the clerk works for it, or it pauses, and calls the lookout when that is over"


@attrs.frozen
class Refusal:
    """A request that Redis has refused, or None where it refused only the watch. One that ``passes`` ends by itself."""

    request: Request[list[Taken]] | None
    error: Exception
    passes: bool


@attrs.define
class Commands:
    """The commands of one round, and the replies so far."""

    request: Request[list[Taken]] | None = None
    #: Whether the request was sent before, and its reply was lost.
    is_repeated: bool = False
    #: How many values are claimed for those who wait.
    share: int = 0
    #: When they were sent.
    at: float = 0.0
    #: Whether Redis is asked to watch the key.
    watches: bool = False
    #: Whether the reply to the request was read.
    is_read: bool = False
    taken: list[Taken] = attrs.field(factory=list)
    #: The reply that comes with the watch: how many values are left.
    length: Any = None
    refusal: Refusal | None = None
    #: Whether the server did not know the script of the request.
    is_again: bool = False


class Calling(Protocol):
    """Those that work for the sources of a client."""

    def call(self, source: Any, /) -> None:
        """Lets the lookout come to it in its next round."""

    def later(self, work: Callable[[], Any], after: float = 0.0) -> None:
        """Does something outside the lookouts: at once, or ``after`` seconds where it asks no node for anything."""


class WatchedSource:
    """Decides for one source. The mutex of the line guards it."""

    def __init__(self, source: Source, line: Line, debts: Debts, backs: Backs, lookouts: Calling) -> None:
        self.source, self.line, self.debts, self.backs = source, line, debts, backs
        self.lookouts = lookouts
        self.state = State.RESTING
        #: Those that are under way.
        self.commands = Commands()
        #: How many values were left at the last reply; None where Redis has reported a change since.
        self.left: int | None = None
        #: Whether Redis reports the next change of the key.
        self.is_key_watched = False
        #: Whether a pump of its own has taken its place, for good. That one asks, and pays what is owed.
        self.is_replaced = False
        #: Why nothing can be taken just now.
        self.trouble: RedisConnectionError | None = None
        # Whether a caller's time was over since the commands were sent.
        self._is_stale = False
        self._is_pausing = False
        self._pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)

    # -- what a subclass does ----------------------------------------------------------------------------------------

    def put_back(self) -> Any:
        """The clerk's: puts values back, then calls :meth:`came_back`."""
        raise NotImplementedError

    def diagnose(self, refusal: Refusal) -> Any:
        """The clerk's: finds out why Redis has refused, then calls :meth:`went_away` or what else it was."""
        raise NotImplementedError

    def go_on(self) -> Any:
        """The clerk's: a pause is over. Calls :meth:`pause_is_over`."""
        raise NotImplementedError

    def give_up(self) -> None:
        """Lets pumps of their own take the place of all sources of the line."""
        raise NotImplementedError

    def spaced(self, seconds: float, reason: RedisConnectionError) -> float:
        """A pause of ``seconds``, or longer where others are refused too, for the same reason."""
        raise NotImplementedError

    def rests(self) -> None:
        """Nobody waits for it, and nobody tries any more."""
        raise NotImplementedError

    # -- what others report ------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Somebody may wait, or something is owed."""
        self._call_from(State.RESTING, State.YIELDED)
        if self.debts or self.backs.are_left:
            self._call_from(State.WATCHED)

    def put_away(self, values: list[Taken]) -> None:
        """Puts values back where they came from, in the order in which they were taken."""
        if values:
            self.backs.add(values)
            self.wake()

    def recover(self, request: Request[list[Taken]]) -> None:
        """Sends a repeatable request again. Its sender does not wait for the reply any more."""
        self.debts.owe(request)
        self.wake()

    def close(self) -> None:
        """No caller comes any more. Returns the values that are left."""
        if self.debts or self.backs.are_left:
            self._call_from(State.RESTING)
        self._call_from(State.YIELDED, State.WATCHED)
        if self._is_pausing:
            self.lookouts.later(self.go_on)

    def answer_expired(self) -> None:
        """Answers the callers whose time is over, as far as no command has to be sent before."""
        # Read once: the lookout ends the trouble without the mutex.
        if (trouble := self.trouble) is not None:
            self.line.answer_expired(trouble)
        elif self.state is State.WATCHED and self.line.anyone:
            # No command is needed for callers who have come since. A value that comes is for those who wait longer.
            self.line.asked()
            self.line.answer_expired()
        elif self.line.count:
            # A reply that is under way may be older than the end of their time.
            self._is_stale = True
            self._call_from(State.RESTING, State.YIELDED, State.WATCHED)

    def stop(self) -> None:
        """Another pump takes its place, and goes on with the debts. This one reads the replies that are under way."""
        self.is_replaced = True

    def is_freed(self) -> None:
        """Its callers are not served from other sources any more."""
        self._call_from(State.YIELDED)

    def has_changed(self) -> None:
        """Redis has reported a change of the key. It does so once."""
        self.left, self.is_key_watched = None, False
        self._call_from(State.YIELDED, State.WATCHED)

    def suffer(self, reason: RedissonDQError) -> None:
        """Redis cannot be reached, or refuses everything."""
        if not isinstance(reason, RedisConnectionError):
            self.line.fail(reason)
            return
        self.trouble = reason
        if reason.maybe_done:
            self.line.doubt()
        self.line.answer_expired(reason)

    def lose(self) -> None:
        """The connection is lost: Redis does not watch, and the replies to its commands will not come."""
        commands, self.commands = self.commands, Commands()
        self.line.unclaim(commands.share)
        if commands.request is not None and commands.request.repeatable and not commands.is_read:
            self.debts.owe_first(commands.request)
        # The connection may have broken after the reply that held them.
        self.put_away(self.line.give(commands.taken))
        self.line.broke()
        self.left, self.is_key_watched = None, False
        # A lookout whose connections broke forgets its calls.
        self._call_from(State.CALLED, State.YIELDED, State.ASKED, State.WATCHED)
        self._leave_debts()

    # -- a round -----------------------------------------------------------------------------------------------------

    def wants(self) -> bool:
        """Whether it has to be asked, in a round that comes to it. Otherwise it takes its next step.

        Callers that are in the inbox by now are seen by the next round, as nothing is claimed for them in this one.
        """
        line, backs = self.line, self.backs
        backs.surplus = line.give(backs.surplus)
        owes = self.debts.admit() and not self.is_replaced
        if backs.are_left or (line.closed and owes and self.debts.has_request):
            self.state = State.BUSY
            self.lookouts.later(self.put_back)
            return False
        if not (line.closed or self.is_replaced) and (owes or line.waiting):
            return True
        self.state = State.RESTING
        self.rests()
        self._is_well()
        return False

    def yields(self) -> None:
        """Others take for all that wait."""
        self.state = State.YIELDED

    def ask(self, share: int, now: float) -> None:
        """Chooses the commands to take ``share`` values."""
        request = owed = self.debts.first
        if request is None and share:
            request = self.source.at_once(share)
        if request is not None:
            self.debts.paid(request)
        # Where more is left than is taken now, the next round comes anyway.
        watches = request is None or (not self.is_key_watched and (self.left or 0) <= share)
        self.commands = Commands(request, owed is not None, share, now, watches)
        self.state, self._is_stale = State.ASKED, False

    @property
    def is_fresh(self) -> bool:
        """Whether the replies have come, and no caller's time was over since the commands were sent."""
        return self.commands.refusal is None and self.state is State.ASKED and not self._is_stale

    def forgo_late_claim(self, now: float) -> None:
        """Drops a claim that has waited too long for its reply."""
        if self.state is State.ASKED and now - self.commands.at >= LATE:
            self.line.unclaim(self.commands.share)
            self.commands.share = 0

    def settle(self) -> list[Taken]:
        """All replies of the round have come. Returns the values, which the caller hands out."""
        commands, self.commands = self.commands, Commands()
        taken, request = commands.taken, commands.request
        self.line.unclaim(commands.share)
        if taken:
            self.line.took(taken)
        if commands.refusal is not None:
            if commands.is_repeated and commands.refusal.passes and request is not None:
                # It may have taken values before, and this refusal does not show that.
                self.debts.owe_first(request)
            self.line.broke()
            self.state = State.BUSY
            self.lookouts.later(partial(self.diagnose, commands.refusal))
        else:
            if commands.is_again and request is not None:
                self.debts.owe_first(request)
            self._answered(commands)
        self._leave_debts()
        return taken

    def _answered(self, commands: Commands) -> None:
        self._is_well()
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

    # -- the outcome of the clerk's work -----------------------------------------------------------------------------

    def came_back(self, *, is_done: bool) -> None:
        """Values are back, or Redis did not take them."""
        if is_done:
            self._is_well()
            self._call()
        else:
            self._pause()

    def went_away(self, reason: RedisConnectionError) -> None:
        """Redis is away, or refuses for a while. The key may live on another node now, which does not watch it."""
        self.suffer(reason)
        self.left, self.is_key_watched = None, False
        self._pause(reason)

    def was_refused(self, reason: RedissonDQError) -> None:
        """Redis refuses for good. A request may be owed, for which nobody waits any more."""
        self.line.fail(reason)
        self._pause()

    def was_denied(self) -> None:
        """The user has no right to watch, or to take without blocking."""
        self.state = State.CALLED
        self.give_up()
        self._call()

    def was_sound(self) -> None:
        """Nothing is wrong."""
        self._call()

    def pause_is_over(self) -> None:
        """A pause is over. The close ends it before its time."""
        if self._is_pausing:
            self._is_pausing = False
            self._call()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _call_from(self, *states: State) -> None:
        if self.state in states:
            self._call()

    def _call(self) -> None:
        self.state = State.CALLED
        self.lookouts.call(self)

    def _pause(self, reason: RedisConnectionError | None = None) -> None:
        self.state, self._is_pausing = State.BUSY, True
        seconds = self.backs.pause_of(self._pauses.next())
        if reason is not None and not self.line.closed:
            seconds = self.spaced(seconds, reason)
        self.lookouts.later(self.go_on, seconds)

    def _is_well(self) -> None:
        """Redis has carried out a command, or nobody waits for one."""
        self.trouble = None
        self._pauses.reset()

    def _leave_debts(self) -> None:
        """Wakes the pump that has taken its place, where a request that was under way here has to be sent again."""
        if self.is_replaced and self.debts:
            self.give_up()
