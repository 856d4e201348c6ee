"""The engine of one source at a lookout: classifies events, and finds their rows in the watch table."""

from __future__ import annotations

from typing import Final

from redisson_dq.errors import RedisConnectionError
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.waits import watch_table
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import Line
from redisson_dq.waits.watch_table import Do, KeyWatch, State, Trigger
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["WatchEngine"]

_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 2.0


class WatchEngine:
    """Decides for one source. Not thread-safe: its callers hold the mutex of the line."""

    def __init__(self, line: Line, debts: Debts) -> None:
        self.state = State.RESTING
        self.debts = debts
        self.line = line
        self.watch = KeyWatch.OFF
        #: How many values stood there at the last reply; None where Redis has told of a change since.
        self.left: int | None = None
        #: Whether a pump of its own has taken its place, for good. That one asks, and pays what is owed.
        self.is_replaced = False
        #: Why nothing can be taken just now.
        self.trouble: RedisConnectionError | None = None
        self._pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        # The repeatable request that is under way.
        self._sent: Request[list[Taken]] | None = None

    def step(self, trigger: Trigger) -> tuple[Do, ...]:
        """Gives the actions for a trigger. All triggers come under the mutex.

        When the connection is lost, so is the reply to the request that is under way. So that request is owed again.
        """
        if trigger in (Trigger.CHANGED, Trigger.DISCONNECTED, Trigger.AWAY):
            self.left = None
        if trigger is Trigger.DISCONNECTED and self._sent is not None:
            self.send_again(self._sent)
        if trigger in (Trigger.DISCONNECTED, Trigger.FAILED):
            self.line.broke()
        if (self.state, trigger) in watch_table.TROUBLE_ENDS:
            self.trouble = None
            self._pauses.reset()
        self.watch = watch_table.WATCHES.get((self.watch, trigger), self.watch)
        self.state, to_do = watch_table.TRANSITIONS[self.state, trigger]
        return to_do

    def suffer(self, trouble: RedisConnectionError) -> None:
        """Redis cannot be reached, or refuses everything."""
        self.trouble = trouble
        if trouble.maybe_done:
            self.line.doubt()
        self.line.answer_expired(trouble)

    def longer_pause(self) -> float:
        """For how many seconds to pause now. The next pause takes twice as long."""
        return self._pauses.next()

    def sends(self, request: Request[list[Taken]]) -> None:
        """The request is about to be sent. A repeatable one is owed again when its reply is lost."""
        self.debts.paid(request)
        self._sent = request if request.repeatable else None

    def was_answered(self) -> None:
        """The reply to its request was read."""
        self._sent = None

    def send_again(self, request: Request[list[Taken]]) -> None:
        """Owes the request that is under way once more: it was not carried out, or its reply is lost."""
        self.debts.owe_first(request)
        self._sent = None

    def choice(self, *, has_returns: bool) -> Trigger:
        """Classifies the work that is left. ``has_returns``: values have to go back.

        Callers that are in the inbox by now are seen by the next round, as nothing is claimed for them in this one.
        """
        owes = self.debts.admit() and not self.is_replaced
        if has_returns or (self.line.closed and owes and self.debts.has_request):
            return Trigger.RETURNS
        if not (self.line.closed or self.is_replaced) and (owes or not self.line.is_empty):
            return Trigger.ASKS
        return Trigger.RESTS

    def replied(self, left: int | None, *, watches: bool, has_returns: bool) -> Trigger:
        """Classifies a reply.

        ``left`` is how many values it has told are left. ``watches``: Redis watches since these commands.
        """
        if self.state is State.STALE:
            # It is asked again at once, and may have got values by then.
            self.left = left or None
            return Trigger.OUTDATED
        self.left = left
        is_watched = watches or self.is_watched
        if is_watched and left == 0 and not (self.debts or has_returns or self.line.closed):
            return Trigger.EMPTY
        return Trigger.SEEN if watches else Trigger.LEFT

    @property
    def is_watched(self) -> bool:
        """Whether Redis tells of the next change of the key."""
        return self.watch is KeyWatch.ON

    @property
    def is_under_way(self) -> bool:
        """Whether its commands are on their way, or the replies."""
        return self.state in (State.ASKED, State.STALE)

    @property
    def is_attended(self) -> bool:
        """Whether callers that enter the inbox of the line are seen: a round, or the next change, leads to them."""
        return self.state is not State.RESTING
