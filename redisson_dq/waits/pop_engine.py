"""The engine of one connection that waits for values: classifies events, and finds their rows in the pop table."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import attrs

from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.waits import pop_table
from redisson_dq.waits.debts import LOOK, Debt, Debts, Owed, repeat
from redisson_dq.waits.in_hand import InHand
from redisson_dq.waits.line import SOON, Line
from redisson_dq.waits.pop_table import (
    BREAKS,
    BY_CALLERS,
    IN_REDIS,
    SIGNS,
    Contact,
    Do,
    Pumper,
    Sign,
    State,
    Trigger,
)
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["AT_MOST", "Look", "PopEngine"]

#: In a transaction no command blocks. Where Redis allows no transaction, a command blocks for so many seconds.
AT_MOST: Final = 0.001
# The server ends a pop this much before the caller's time is over. So the pop has ended when the caller checks.
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

    The pump carries actions out under that mutex, and takes the beginner's mutex for some of them. Nobody takes the two
    in the other order.

    The pumper alone calls the methods about replies and failures, and only ``suffer`` of them under the mutex. In the
    states in which it calls the others, nobody else changes the fields that they change. Time comes in as an argument,
    in seconds (``now``).
    """

    def __init__(self, line: Line, source: Source, debts: Debts, *, stay: float = 0.0) -> None:
        """``stay`` is for how many seconds a pop goes on when the last caller's time is over."""
        self.state = State.RESTING
        self.pumper = Pumper.NOBODY
        self.contact = Contact.WELL
        self.debts = debts
        self.line = line
        self.source = source
        #: The number of the last blocking command.
        self.number = 0
        #: Whether the last trigger has shown that Redis answers.
        self.has_answered = False
        #: How many replies on the connection are still to be read.
        self.replies = 0
        #: The shortest time that a reply took on this connection.
        self.round_trip = 0.0
        self._stay = stay
        # The request that was sent together with the last blocking command.
        self._behind: Request[list[Taken]] | None = None
        # Why Redis could not be reached, or refused, when that was last found out.
        self._reason: RedisConnectionError | None = None
        #: When the pumper has chosen its work last.
        self.chose = 0.0
        self._began = 0.0
        self._pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        self.until = math.inf
        self.emptied = -math.inf

    def step(self, trigger: Trigger, stays: Callable[[], Trigger | None] | None = None) -> tuple[Do, ...]:
        """Gives the actions for a trigger. All triggers come under the mutex.

        A pumper that leaves is at rest first. ``stays`` gives the trigger by which it goes on all the same, if any. The
        row by which it was leaving shows nothing then, as its actions are not carried out.
        """
        before, shows = self.state, self.shows(trigger)
        if trigger is Trigger.ANSWERED and self.is_blocked:
            self.replies -= 1
        self.state, to_do = pop_table.TRANSITIONS[before, trigger]
        self.pumper = pop_table.PUMPERS.get((self.pumper, trigger), self.pumper)
        if stays is not None and Do.LEAVE in to_do and not self.is_running and (instead := stays()) is not None:
            return self.step(instead)
        self.has_answered = shows
        if (sign := SIGNS.get((before, trigger))) is not None:
            self._see(sign)
        if Do.NUDGE in to_do:
            self.replies += 1
        if Do.DISCONNECT in to_do:
            self.replies = 0
        if trigger in BREAKS:
            self.line.broke()
        return to_do

    def shows(self, trigger: Trigger) -> bool:
        """Whether this trigger shows that Redis answers."""
        sign = SIGNS.get((self.state, trigger))
        return sign is not None and pop_table.CONTACTS.get((self.contact, sign)) is Contact.WELL

    def _see(self, sign: Sign) -> None:
        contact = pop_table.CONTACTS.get((self.contact, sign))
        if contact is not None:
            self.contact = contact
            if contact is Contact.WELL:
                self._pauses.reset()

    def stand_in(self, *, is_connected: bool) -> bool:
        """Lets a caller pump from now on. False where somebody else pumps, or no connection is there."""
        if self.is_running or not is_connected:
            self.pumper = pop_table.PUMPERS.get((self.pumper, Trigger.STANDS_BY), self.pumper)
            return False
        self.step(Trigger.STANDS_IN)
        return True

    def stand_down(self) -> bool:
        """No caller pumps any more. Gives whether a background task has to stay for a while, and then to disconnect."""
        before, self.pumper = self.pumper, pop_table.PUMPERS.get((self.pumper, Trigger.STANDS_DOWN), self.pumper)
        return self.pumper is not before

    def answer_expired(self, now: float) -> None:
        """Answers the callers whose time is over, as far as no command has to end before."""
        # Read once: the pumper ends the trouble without the mutex.
        if (trouble := self.trouble) is not None:
            self.line.answer_expired(trouble)
        elif self.is_idle or (self.is_blocked and self.line.anyone):
            if self.is_blocked and now - self._began >= _LONG:
                # There was nothing. No command is needed for callers who have come since.
                self.line.asked()
            self.line.answer_expired()

    def met(self, trouble: RedisConnectionError, *, is_connected: bool) -> None:
        """Others could not reach its source while it had nothing to do."""
        self._reason = trouble
        self._see(Sign.AWAY)
        if is_connected:
            # Its own connection has shown no trouble.
            self._see(Sign.CONNECTED)

    # -- the pumper's choices ----------------------------------------------------------------------------------------

    def choice(self, now: float, *, is_answered: bool, is_connected: bool, has_returns: bool) -> Trigger:
        """Classifies the work that is left.

        ``is_answered`` tells whether the caller that pumps has its answer. ``has_returns``: values have to go back.
        """
        self.chose = now
        # Nobody has rung for long. So others see to the callers that wait.
        lingered = self.state is State.LINGERED
        has_debts = self.debts.admit()
        # As long as somebody waits, it tries to reach Redis.
        is_unserved = self.line.is_unserved(now) or (
            self.contact is not Contact.WELL and not is_connected and self.line.anyone
        )
        has_work = has_debts or has_returns or (is_unserved and not lingered)
        if self.pumper is Pumper.CALLER and (is_answered or has_returns or not is_connected):
            return Trigger.HANDS_OVER if has_work or self.line.closed else Trigger.LEAVES
        if has_returns:
            return Trigger.RETURNS
        if self.line.closed:
            return Trigger.REPEATS if self.debts.has_request else Trigger.RETIRES
        if has_work:
            return Trigger.LOOKS if is_connected else Trigger.CONNECTS
        if lingered:
            return Trigger.RETIRES
        return Trigger.LEAVES if self.pumper in BY_CALLERS else Trigger.IDLES

    def next_command(self, now: float, *, has_returns: bool) -> Trigger:
        """Classifies how to go on when nothing is ready.

        Nothing tells that a command has begun to block. So one that does not block comes first, where Redis was not
        well. Nothing blocks while values have to go back, or a debt is left: they may have come meanwhile.
        """
        # Once a command that does not block was answered, Redis is known to allow it.
        is_unsure = self.contact is not Contact.WELL and self.state is State.LOOKING
        # A replica that refuses to pop answers a look that finds nothing. So the look proves nothing.
        must_ask = is_unsure and self.contact is Contact.REFUSING
        if has_returns or self.debts or not (must_ask or self.line.is_unserved(now)):
            return Trigger.MISSED
        return Trigger.HURRIED if is_unsure or self.span(now) <= SOON else Trigger.PATIENT

    def span(self, now: float) -> float:
        """For how many seconds a blocking command may block; infinity without an end."""
        return self.line.patience(now) - _HEAD_START + (self._stay if self.line.anyone else 0.0)

    def look(self, now: float) -> Look:
        """The next look, for all callers that wait, or the request that is owed. Claims values for the callers."""
        count, debt = self.line.claim(now), self.debts.first
        request = debt.request
        knows = self.pumper is Pumper.CALLER and self.was_just_emptied(now)
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
        # Where Redis was not well, the blocking command follows now.
        return None if self.contact is not Contact.WELL else Trigger.MISSED

    def was_left(self, count: int | None, now: float) -> None:
        """A reply told how many values are left, or did not tell."""
        self.emptied = now if count == 0 else -math.inf

    # -- failures ----------------------------------------------------------------------------------------------------

    def diagnosed(self, reason: RedissonDQError | None, *, is_refusal: bool) -> Trigger:
        """Classifies the cause of a failure; None where nothing is wrong. ``is_refusal``: Redis has told it."""
        if reason is None:
            return Trigger.SOUND
        if not isinstance(reason, RedisConnectionError):
            return Trigger.REFUSED
        self._reason = reason
        return Trigger.PUT_OFF if is_refusal else Trigger.AWAY

    def suffer(self, trouble: RedisConnectionError, now: float) -> float:
        """Answers the callers whose time is over. Gives for how many seconds to pause; the next pause is longer."""
        if trouble.maybe_done:
            self.line.doubt()
        self.line.answer_expired(trouble)
        if now - self.chose > _LONGEST_PAUSE:
            # Redis could be reached since the last trouble: nothing has come, so nothing has told.
            self._pauses.reset()
        return self._pauses.next()

    def longer_pause(self) -> float:
        """For how many seconds to pause now. The next pause takes twice as long."""
        return self._pauses.next()

    @property
    def trouble(self) -> RedisConnectionError | None:
        """Why nothing can be taken just now."""
        return None if self.contact is Contact.WELL else self._reason

    # -- for others --------------------------------------------------------------------------------------------------

    def is_over(self, now: float) -> bool:
        """Whether the server ends the blocking command as soon as it reads its clock."""
        return self.until <= now

    def was_just_emptied(self, now: float) -> bool:
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
    def is_busy(self) -> bool:
        """Whether somebody pumps and has something to do."""
        return self.state not in (State.RESTING, State.IDLE)

    @property
    def is_idle(self) -> bool:
        """Whether the pumper waits for its bell."""
        return self.state is State.IDLE

    @property
    def is_blocked(self) -> bool:
        """Whether the blocking command is on its way or stands in Redis."""
        return self.state in IN_REDIS
