"""The engine of one connection that waits for values: classifies events, and looks them up in the pop table."""

from __future__ import annotations

import math
from typing import Final

import attrs

from redisson_dq._pauses import Pauses
from redisson_dq.errors import RedisConnectionError
from redisson_dq.waiting import pop_table
from redisson_dq.waiting.debts import LOOK, Debt, Debts, Owed, repeat
from redisson_dq.waiting.in_hand import InHand
from redisson_dq.waiting.line import SOON, Line
from redisson_dq.waiting.pop_table import IN_REDIS, Do, Pumper, State, Trigger
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["AT_MOST", "Look", "PopEngine"]

#: In a transaction no command blocks. Where Redis allows no transaction, a command blocks for so many seconds.
AT_MOST: Final = 0.001
# The server ends a pop this much before the caller's time is over. So the pop has ended when the caller looks.
_HEAD_START: Final = 0.0015
# A pop that has been blocked for so many seconds has found nothing. Or else Redis stands still.
_LONG: Final = 0.03
# A stand-in that comes back within so many seconds after a reply told that nothing is left does not look again.
_EMPTY: Final = 0.005
# A pop that took at most this much longer than a round trip did not wait. There was a value, and there may be more.
_AT_ONCE: Final = 0.001
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 2.0


@attrs.frozen
class Look:
    """A look that is about to be sent; ``request`` is None where none is needed.

    ``count`` values are claimed for callers until it is over. ``debt`` is paid by it.
    """

    request: Request[list[Taken]] | None
    count: int
    debt: Debt


class PopEngine:
    """Decides for one connection. Not thread-safe: the pump calls it under the mutex of the line.

    Only the pumper calls the methods of the section about replies, and it needs no mutex for them. Time comes in as an
    argument, in seconds (``now``).
    """

    def __init__(self, line: Line, source: Source, debts: Debts, *, stay: float = 0.0, shuts: bool = False) -> None:
        """``stay`` is for how many seconds a pop goes on when the last caller's time is over. ``shuts``: it takes for
        callers only while it is open, from :meth:`open` until it finds that nobody waits.
        """
        self.state = State.RESTING
        self.pumper = Pumper.NOBODY
        self.debts = debts
        #: The number of the last blocking command.
        self.number = 0
        #: How many replies on the connection are still to be read.
        self.replies = 0
        #: Whether it takes for callers.
        self.is_open = not shuts
        #: Whether callers pump. A background task has nobody to stay for then.
        self.callers_pump = False
        #: Why nothing can be taken just now.
        self.trouble: RedisConnectionError | None = None
        #: The shortest time that a reply took on this connection.
        self.round_trip = 0.0
        self.line = line
        self.source = source
        self._stay = stay
        self._shuts = shuts
        # Whether Redis could be reached in the last trouble, and refused.
        self._is_refused = False
        # The request that was sent together with the last blocking command.
        self._behind: Request[list[Taken]] | None = None
        self._chose = self._began = 0.0
        self._pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        self.until = math.inf
        self.emptied = -math.inf

    def step(self, trigger: Trigger) -> tuple[Do, ...]:
        """Gives the actions for a trigger. All triggers come under the mutex."""
        if trigger is Trigger.ANSWERED and self.is_blocked:
            self.replies -= 1
        self.state, to_do, pumper = pop_table.TRANSITIONS[self.state, trigger]
        if pumper is not None:
            self.pumper = pumper
        if Do.NUDGE in to_do:
            self.replies += 1
        if Do.DISCONNECT in to_do:
            self.replies = 0
        return to_do

    def stand_in(self, *, is_connected: bool) -> bool:
        """Lets a caller pump from now on. False where somebody else pumps, or no connection is there."""
        self.callers_pump = True
        if self.is_running or not is_connected:
            return False
        self.step(Trigger.STANDS_IN)
        return True

    def open(self) -> None:
        """Takes for callers from now on."""
        self.is_open = True

    def shut_if_at_rest(self) -> bool:
        """Takes for callers no more, where it has nothing to do. Gives whether it is shut."""
        if self._shuts and self.state in (State.RESTING, State.IDLE):
            self.is_open = False
        return not self.is_open

    def answer_expired(self, now: float) -> None:
        """Answers the callers whose time is over, as far as no command has to end before."""
        # Read once: the pumper ends it without the mutex.
        if (trouble := self.trouble) is not None:
            self.line.answer_expired(trouble)
        elif self.is_idle or (self.is_blocked and self.line.anyone):
            if self.is_blocked and now - self._began >= _LONG:
                # There was nothing. No command is needed for callers who have come since.
                self.line.asked()
            self.line.answer_expired()

    # -- the pumper's choices ----------------------------------------------------------------------------------------

    def choice(
        self, now: float, *, is_answered: bool, is_connected: bool, has_returns: bool, lingered: bool
    ) -> Trigger:
        """Classifies the work that is left.

        ``is_answered`` tells whether the caller that pumps has its answer. ``has_returns``: values have to go back.
        ``lingered``: nobody has come for long.
        """
        self._chose = now
        has_work = self.debts.admit() or has_returns or (self.is_open and self.line.is_unserved(now))
        if self.pumper is Pumper.CALLER and (is_answered or has_returns or not is_connected):
            return Trigger.HANDS_OVER if has_work or self.line.closed else Trigger.LEAVES
        if has_returns:
            return Trigger.RETURNS
        if self.line.closed:
            return Trigger.REPEATS if self.debts.has_request else Trigger.RETIRES
        if has_work:
            return Trigger.LOOKS if is_connected else Trigger.CONNECTS
        if self._shuts and not self.line.anyone:
            self.is_open = False
        if lingered:
            return Trigger.RETIRES
        return Trigger.LEAVES if self.callers_pump else Trigger.IDLES

    def next_command(self, now: float, *, has_returns: bool) -> Trigger:
        """Classifies how to go on when nothing is ready.

        In trouble nothing tells that a command has begun to block. So one that does not block comes first. Nothing
        blocks while values have to go back, or a debt is left: they may have come meanwhile.
        """
        if has_returns or self.debts or not (self.is_open and self.line.is_unserved(now)):
            return Trigger.NONE
        return Trigger.HURRIED if self.trouble is not None or self.span(now) <= SOON else Trigger.PATIENT

    def span(self, now: float) -> float:
        """For how many seconds a blocking command may block; infinity without an end."""
        return self.line.patience(now) - _HEAD_START + (self._stay if self.line.anyone else 0.0)

    def look(self, now: float) -> Look:
        """The next look, for all callers that wait, or the request that is owed. Claims values for the callers."""
        count, debt = self.line.claim(now), self.debts.first
        request = debt.request
        knows = self.pumper is Pumper.CALLER and self.is_empty(now)
        if request is None and not knows and (count or debt is LOOK):
            request = self.source.look(count)
        if request is not None:
            self.line.asked()
        return Look(request, count, debt)

    def begin(self, now: float, *, blocks: bool) -> InHand:
        """The blocking command is about to be sent.

        Notes the callers that it is sent for, and the debt when its reply is lost.
        """
        self.line.asked()
        span = self.span(now) if blocks else AT_MOST
        self._behind = behind = self.source.behind() if blocks else None
        self._began = now
        self.number += 1
        # Until it is sent, a PING would come before it, and its reply would be read as the command's.
        self.until = math.inf
        self.replies = 0 if not blocks else 1 if behind is None else 2
        if behind is not None:
            self.debts.owe(repeat(behind))
        elif self.source.sets_aside:
            self.debts.owe(LOOK)
        return InHand(now, span, behind)

    def wants_more(self, held: InHand) -> bool:
        """Whether one more command is worth sending for the callers that wait."""
        return held.took < self.round_trip + _AT_ONCE or self.line.wants_many

    def failure(self, held: InHand) -> Trigger:
        """Classifies an error. A background task asks for the cause, and outlasts it."""
        if held.taken:
            return Trigger.SAVED
        return Trigger.ABANDONED if self.pumper is Pumper.CALLER else Trigger.FAILED

    # -- replies -----------------------------------------------------------------------------------------------------

    def sent(self, held: InHand) -> None:
        """The blocking command was sent."""
        self.until = self._began + held.span

    def was_read(self) -> None:
        """One of the replies behind the blocking command was read."""
        self.replies -= 1

    def looked(self, look: Look) -> None:
        """A look has succeeded, and pays for each look that was owed."""
        if look.request is not None:
            self._is_refused = False
        if look.debt.owed is not Owed.REPEAT:
            self.debts.paid(LOOK)

    def notes_aside(self, held: InHand) -> None:
        """The reply to the blocking command has told whether it has set a value aside, or leaves that open."""
        if held.is_aside or (held.is_refused and self.source.sets_aside):
            self.debts.owe(LOOK)
        else:
            self.debts.paid(LOOK)

    def settled(self, held: InHand) -> Trigger | None:
        """Classifies the replies to a blocking command that Redis did not refuse."""
        if held.reply is not None:
            self.round_trip = min(self.round_trip, held.took)
        if held.taken:
            return Trigger.CAME if held.taken[-1].left == 0 else Trigger.MORE
        if held.is_aside:
            return Trigger.ASIDE
        # After trouble, Redis has now shown that it allows the command.
        return None if self.trouble is not None else Trigger.NONE

    def was_left(self, count: int | None, now: float) -> None:
        """A reply told how many values are left, or did not tell."""
        self.emptied = now if count == 0 else -math.inf

    # -- trouble -----------------------------------------------------------------------------------------------------

    def in_trouble(self, trouble: RedisConnectionError, now: float, *, is_refused: bool) -> None:
        """Redis is away. ``is_refused``: it can be reached, and refuses for a while."""
        self.trouble = trouble
        self._is_refused = is_refused
        if trouble.maybe_done:
            self.line.doubt()
        self.line.answer_expired(trouble)
        if now - self._chose > _LONGEST_PAUSE:
            # Redis could be reached since the last trouble: nothing has come, so nothing has told.
            self._pauses.reset()

    def out_of_trouble(self) -> None:
        """Redis has answered."""
        self.trouble = None
        self._is_refused = False
        self._pauses.reset()

    def longer_pause(self) -> float:
        """How many seconds to pause now. The next pause takes twice as long."""
        return self._pauses.next()

    def proves_redis_is_back(self, trigger: Trigger, *, is_connected: bool) -> bool:
        """Whether the pumper's trigger tells that Redis can be reached."""
        if self._is_refused:
            # A connection that is made proves nothing then.
            return False
        if trigger is Trigger.NONE:
            return not self.debts
        # A connection that rests was made after the last trouble, as each trouble ends one.
        return trigger in (Trigger.IDLES, Trigger.LEAVES) and is_connected

    # -- for others --------------------------------------------------------------------------------------------------

    def is_over(self, now: float) -> bool:
        """Whether the server ends the blocking command as soon as it looks at its clock."""
        return self.until <= now

    def is_empty(self, now: float) -> bool:
        """Whether a reply has just told that nothing is left, and nothing is owed."""
        return not self.debts and now - self.emptied < _EMPTY

    def owes_another(self) -> bool:
        """Whether a request is owed that was not sent together with the blocking command. Under the mutex."""
        self.debts.admit()
        return any(each.owed is Owed.REPEAT and each.request is not self._behind for each in self.debts.all)

    @property
    def is_running(self) -> bool:
        """Whether somebody pumps."""
        return self.state is not State.RESTING

    @property
    def is_idle(self) -> bool:
        """Whether the pumper waits for its bell."""
        return self.state is State.IDLE

    @property
    def is_blocked(self) -> bool:
        """Whether the blocking command is on its way or stands in Redis."""
        return self.state in IN_REDIS
