"""The commands of the one connection that waits for values: the decisions, without any I/O.

Theory of operation. Callers stand in a :class:`~redisson_dq.waiting.line.Line`. Somebody pumps for them: sends commands
on one connection, reads each reply, and hands the values out. That is a background task, or one of the callers itself.
Nobody else reads on that connection. The pump (``_async/receiving/pump.py``) feeds triggers into a :class:`PopEngine`
and carries out the actions that it returns. All triggers come under the mutex of the line.

* The pumper chooses (``CHOOSING``). Values that nobody waits for go back first. Then come debts, then callers.
* It looks, by a command that does not block. When nothing is ready, it sends the blocking command.
* While that command is under way, others may end it. A ``PING`` behind it ends it in time (``TIMED``). Another
  connection ends it when nobody waits any more (``ENDING``), unless somebody joins before that. Another connection ends
  it in any case (``STOPPING``) when its time is over, or when the pumper is needed for something else.
* Once it is answered, nobody sends anything behind it any more. The pumper reads the replies behind it (``SETTLING``).
* Values are handed out (``GIVING``), after one more command where more may be ready (``GATHERING``).
* When something fails, the connection goes. The background task asks Redis for the cause (``FAILING``), and pauses
  or tells the callers. A caller that pumps leaves that to a background task.

A stand-in is a caller that pumps. It leaves when it has its answer. It also leaves work that may take long: to
connect, to put values back, and failures. It starts a background task for that. Nothing else depends on
the pumper.

Three promises hold in each state. The number of replies that are still to be read is known (:attr:`PopEngine.replies`),
and no command is sent before they are read. Each value is given, on its way back, or owed
(:mod:`redisson_dq.waiting.debts`). A pumper that leaves values or debts behind wakes another one.

A trigger is first classified by its meaning now: :meth:`PopEngine.choice`, :meth:`PopEngine.next_command`. Then it is
looked up in :data:`TRANSITIONS`, which is the whole behaviour. Time comes in as an argument, in seconds (``now``).
"""

from __future__ import annotations

import enum
import math
from typing import Final

from redisson_dq.waiting.debts import Debts
from redisson_dq.waiting.line import SOON, Line

__all__ = ["IN_REDIS", "TRANSITIONS", "Do", "PopEngine", "Pumper", "State", "Trigger"]


class State(enum.Enum):
    """The work on the connection."""

    RESTING = "nobody pumps"
    IDLE = "there is nothing to do, the pumper waits for its bell"
    CHOOSING = "the pumper chooses what to do"
    RETURNING = "values that nobody waits for go back"
    REPEATING = "after the close, a request with a lost reply is sent again"
    CONNECTING = "a connection is being made"
    LOOKING = "a command that does not block is under way, where the source has one"
    PROBING = "the blocking command is under way in a transaction, where it does not block"
    BLOCKED = "the blocking command is under way"
    TIMED = "so is the PING that ends it in time"
    ENDING = "nobody waits any more, another connection ends the blocking command"
    STOPPING = "another connection ends the blocking command, whoever waits"
    SETTLING = "the blocking command was answered, the replies behind it are read"
    FETCHING = "a value was set aside, a look for it is under way"
    GATHERING = "values came, a command for more is under way"
    GIVING = "values are handed out"
    FAILING = "something failed, the pumper finds out what is wrong"
    PAUSING = "the pumper pauses before it tries again"


class Trigger(enum.Enum):
    """An event, as the engine reads it."""

    # From others.
    WORK = "somebody may wait"
    OWED = "values have to go back, or a request has to be sent again"
    PUMP = "somebody begins to pump"
    TIME_OVER = "the last caller's time is over"
    NOBODY = "nobody waits any more"
    JOINED = "somebody waits again"
    # Chosen by the pumper.
    RETURNS = "chosen: values go back"
    REPEATS = "chosen: closed, and a request is owed"
    CONNECTS = "chosen: there is no connection"
    LOOKS = "chosen: somebody waits, or a debt is left"
    IDLES = "chosen: nothing to do"
    LEAVES = "chosen: nothing to do, callers pump"
    RETIRES = "chosen: nothing to do for long, or closed"
    HANDS_OVER = "chosen: the rest is for a background task"
    # The outcome of an action.
    RANG = "the bell rang, or nobody came for long"
    DONE = "done"
    CAME = "values came"
    MORE = "values came, more may be ready"
    ASIDE = "a value was set aside"
    NONE = "nothing came"
    PATIENT = "nothing came, callers have time"
    HURRIED = "nothing came, no command may block"
    ANSWERED = "the blocking command was answered"
    FULL = "Redis has no memory for the blocking command"
    STUCK = "Redis did not take values or requests back"
    FAILED = "failed"
    SAVED = "failed behind values that came"
    ABANDONED = "failed for a caller that pumps"
    AWAY = "Redis is away, or refuses for a while"
    REFUSED = "Redis refuses"


class Pumper(enum.Enum):
    """The one that pumps."""

    NOBODY = "nobody"
    BACKGROUND = "a background task"
    CALLER = "a caller, as a stand-in"


class Do(enum.Enum):
    """An action of the pump. The last action of a row tells the next trigger."""

    # At once, under the mutex.
    START = "start a background task"
    RING = "ring the bell"
    NUDGE = "send a PING behind"
    UNBLOCK = "end it from another connection"
    # By the pumper.
    WAIT = "wait for the bell"
    PUT_BACK = "put back"
    REPEAT = "send the request again"
    CONNECT = "connect"
    LOOK = "look"
    PROBE = "try without blocking"
    BLOCK = "block"
    SETTLE = "read the replies behind"
    GATHER = "take more"
    GIVE = "hand out"
    DISCONNECT = "disconnect"
    DIAGNOSE = "find out what is wrong"
    TELL = "tell the callers"
    PAUSE = "pause longer each time"
    RETRY = "pause before it goes back"
    REST = "pause for a moment"
    LEAVE = "leave"


_Row = tuple[State, tuple[Do, ...]]

#: The blocking command is on its way to Redis, or stands there.
IN_REDIS: Final = frozenset({State.BLOCKED, State.TIMED, State.ENDING, State.STOPPING})

_CHOOSE: Final[_Row] = (State.CHOOSING, ())
_GIVE: Final[_Row] = (State.GIVING, (Do.GIVE,))
_BLOCK: Final[_Row] = (State.BLOCKED, (Do.BLOCK,))
_PROBE: Final[_Row] = (State.PROBING, (Do.PROBE,))
_SETTLE: Final[_Row] = (State.SETTLING, (Do.SETTLE,))
_STOP: Final[_Row] = (State.STOPPING, (Do.UNBLOCK,))
_FAIL: Final[_Row] = (State.FAILING, (Do.DISCONNECT, Do.DIAGNOSE))
_SAVE: Final[_Row] = (State.GIVING, (Do.GIVE, Do.DISCONNECT))
_ABANDON: Final[_Row] = (State.CHOOSING, (Do.DISCONNECT,))


def _stay(state: State) -> _Row:
    return state, ()


# The pumper does something, and chooses again after it. It sees the triggers of others then.
_BUSY: Final = [state for state in State if state not in IN_REDIS | {State.RESTING, State.IDLE, State.CHOOSING}]
_TOLD: Final = (Trigger.WORK, Trigger.OWED, Trigger.NOBODY)
# Commands are under way on the connection. In the next ones something else is that may fail, and in the last ones only
# a caller that pumps may be gone.
_EXCHANGING: Final = IN_REDIS | {State.LOOKING, State.PROBING, State.SETTLING, State.FETCHING}
_HELPING: Final = frozenset({State.CONNECTING, State.RETURNING, State.REPEATING, State.GIVING})
_ALONE: Final = frozenset({State.CHOOSING, State.GIVING, State.PAUSING})

#: (state, trigger) -> (next state, actions). A pair that is not listed cannot happen.
TRANSITIONS: Final[dict[tuple[State, Trigger], _Row]] = {
    **{(state, trigger): _stay(state) for state in _BUSY for trigger in _TOLD},
    # A stand-in begins to pump where nobody does. So does a pumper that hears its bell on the way out.
    (State.RESTING, Trigger.WORK): (State.CHOOSING, (Do.START,)),
    (State.RESTING, Trigger.OWED): (State.CHOOSING, (Do.START,)),
    (State.RESTING, Trigger.PUMP): _CHOOSE,
    (State.RESTING, Trigger.NOBODY): _stay(State.RESTING),
    # Callers ring the bell themselves.
    (State.IDLE, Trigger.WORK): (State.CHOOSING, (Do.RING,)),
    (State.IDLE, Trigger.OWED): (State.CHOOSING, (Do.RING,)),
    (State.IDLE, Trigger.RANG): _CHOOSE,
    (State.IDLE, Trigger.NOBODY): _stay(State.IDLE),
    (State.CHOOSING, Trigger.RANG): _CHOOSE,
    (State.CHOOSING, Trigger.NOBODY): _CHOOSE,
    # It may not have heard its bell yet, and others may have emptied the inbox since.
    (State.CHOOSING, Trigger.WORK): (State.CHOOSING, (Do.RING,)),
    (State.CHOOSING, Trigger.OWED): (State.CHOOSING, (Do.RING,)),
    # A pumper chooses. A caller that leaves work behind starts a background task for it.
    (State.CHOOSING, Trigger.RETURNS): (State.RETURNING, (Do.PUT_BACK,)),
    (State.CHOOSING, Trigger.REPEATS): (State.REPEATING, (Do.REPEAT,)),
    (State.CHOOSING, Trigger.CONNECTS): (State.CONNECTING, (Do.CONNECT,)),
    (State.CHOOSING, Trigger.LOOKS): (State.LOOKING, (Do.LOOK,)),
    (State.CHOOSING, Trigger.IDLES): (State.IDLE, (Do.WAIT,)),
    (State.CHOOSING, Trigger.LEAVES): (State.RESTING, (Do.LEAVE,)),
    (State.CHOOSING, Trigger.RETIRES): (State.RESTING, (Do.DISCONNECT, Do.LEAVE)),
    (State.CHOOSING, Trigger.HANDS_OVER): (State.CHOOSING, (Do.START, Do.LEAVE)),
    (State.RETURNING, Trigger.DONE): _CHOOSE,
    (State.RETURNING, Trigger.STUCK): (State.PAUSING, (Do.RETRY,)),
    (State.REPEATING, Trigger.CAME): _GIVE,
    (State.REPEATING, Trigger.NONE): _CHOOSE,
    (State.REPEATING, Trigger.STUCK): (State.PAUSING, (Do.RETRY,)),
    (State.CONNECTING, Trigger.DONE): _CHOOSE,
    (State.LOOKING, Trigger.CAME): _GIVE,
    (State.LOOKING, Trigger.PATIENT): _BLOCK,
    (State.LOOKING, Trigger.HURRIED): _PROBE,
    (State.LOOKING, Trigger.NONE): _CHOOSE,
    (State.PROBING, Trigger.ANSWERED): _SETTLE,
    # Others end the blocking command. One reply more is to be read behind a PING.
    (State.BLOCKED, Trigger.WORK): _stay(State.BLOCKED),
    (State.BLOCKED, Trigger.OWED): _STOP,
    (State.BLOCKED, Trigger.TIME_OVER): (State.TIMED, (Do.NUDGE,)),
    (State.BLOCKED, Trigger.NOBODY): (State.ENDING, (Do.UNBLOCK,)),
    (State.BLOCKED, Trigger.ANSWERED): _SETTLE,
    (State.TIMED, Trigger.WORK): _stay(State.TIMED),
    (State.TIMED, Trigger.OWED): _STOP,
    (State.TIMED, Trigger.NOBODY): _STOP,
    (State.TIMED, Trigger.ANSWERED): _SETTLE,
    (State.ENDING, Trigger.WORK): _stay(State.ENDING),
    (State.ENDING, Trigger.OWED): _stay(State.STOPPING),
    (State.ENDING, Trigger.NOBODY): _stay(State.ENDING),
    (State.ENDING, Trigger.JOINED): _stay(State.BLOCKED),
    (State.ENDING, Trigger.ANSWERED): _SETTLE,
    (State.STOPPING, Trigger.WORK): _stay(State.STOPPING),
    (State.STOPPING, Trigger.OWED): _stay(State.STOPPING),
    (State.STOPPING, Trigger.NOBODY): _stay(State.STOPPING),
    (State.STOPPING, Trigger.ANSWERED): _SETTLE,
    # The pumper has all replies. Callers may have time for a blocking command after a probe.
    (State.SETTLING, Trigger.CAME): _GIVE,
    (State.SETTLING, Trigger.MORE): (State.GATHERING, (Do.GATHER,)),
    (State.SETTLING, Trigger.ASIDE): (State.FETCHING, (Do.LOOK,)),
    (State.SETTLING, Trigger.NONE): _CHOOSE,
    (State.SETTLING, Trigger.PATIENT): _BLOCK,
    (State.SETTLING, Trigger.HURRIED): _PROBE,
    (State.SETTLING, Trigger.FULL): (State.PAUSING, (Do.REST,)),
    (State.SETTLING, Trigger.SAVED): _SAVE,
    (State.FETCHING, Trigger.CAME): _GIVE,
    (State.FETCHING, Trigger.NONE): _CHOOSE,
    (State.GATHERING, Trigger.CAME): _GIVE,
    (State.GATHERING, Trigger.SAVED): _SAVE,
    (State.GIVING, Trigger.DONE): _CHOOSE,
    # Failures.
    **{(state, Trigger.FAILED): _FAIL for state in State if state in _EXCHANGING | _HELPING},
    **{(state, Trigger.ABANDONED): _ABANDON for state in State if state in _EXCHANGING | _ALONE},
    (State.FAILING, Trigger.AWAY): (State.PAUSING, (Do.PAUSE,)),
    (State.FAILING, Trigger.REFUSED): (State.CHOOSING, (Do.TELL,)),
    (State.PAUSING, Trigger.DONE): _CHOOSE,
}

# The server ends a pop this much before the caller's time is over. So the pop has ended when the caller looks.
_HEAD_START: Final = 0.0015
# A pop that has been blocked for so many seconds has found nothing. Or else Redis stands still.
_LONG: Final = 0.03
# A stand-in that comes back within so many seconds after a reply told that nothing is left does not look again.
_EMPTY: Final = 0.005


class PopEngine:
    """Decides for one connection. Not thread-safe: the pump calls it under the mutex of the line.

    ``stay`` is for how many seconds a pop goes on when the last caller's time is over. ``shuts``: it takes for callers
    only while it is open, from :meth:`open` until it finds that nobody waits.
    """

    def __init__(self, line: Line, *, stay: float = 0.0, shuts: bool = False) -> None:
        self.state = State.RESTING
        self.pumper = Pumper.NOBODY
        self.debts = Debts()
        #: The number of the last blocking command.
        self.number = 0
        #: How many replies on the connection are still to be read.
        self.replies = 0
        #: Whether it takes for callers.
        self.is_open = not shuts
        #: Whether callers pump. A background task has nobody to stay for then.
        self.callers_pump = False
        self.line = line
        self._stay = stay
        self._shuts = shuts
        self._began = 0.0
        self.until = math.inf
        self.emptied = -math.inf

    def step(self, trigger: Trigger) -> tuple[Do, ...]:
        """Gives the actions for a trigger. All triggers come under the mutex."""
        if trigger is Trigger.ANSWERED and self.is_blocked:
            self.replies -= 1
        self.state, to_do = TRANSITIONS[self.state, trigger]
        for do in to_do:
            if do is Do.START:
                self.pumper = Pumper.BACKGROUND
            elif do is Do.LEAVE and self.state is State.RESTING:
                self.pumper = Pumper.NOBODY
            elif do is Do.NUDGE:
                self.replies += 1
            elif do is Do.DISCONNECT:
                self.replies = 0
        return to_do

    def pump(self, pumper: Pumper) -> None:
        """Somebody begins to pump, where nobody does."""
        self.step(Trigger.PUMP)
        self.pumper = pumper

    def stand_in(self, *, is_connected: bool) -> bool:
        """Whether a caller pumps from now on. It does not where somebody else pumps, or no connection is there."""
        self.callers_pump = True
        if self.is_running or not is_connected:
            return False
        self.pump(Pumper.CALLER)
        return True

    def open(self) -> None:
        """Takes for callers from now on."""
        self.is_open = True

    def shut_if_at_rest(self) -> bool:
        """Takes for callers no more, where it has nothing to do. Gives whether it is shut."""
        if self._shuts and self.state in (State.RESTING, State.IDLE):
            self.is_open = False
        return not self.is_open

    # -- the pumper's choices ----------------------------------------------------------------------------------------

    def choice(
        self, now: float, *, is_answered: bool, is_connected: bool, has_returns: bool, lingered: bool
    ) -> Trigger:
        """Classifies the work that is left.

        ``is_answered`` tells whether the caller that pumps has its answer. ``has_returns``: values have to go back.
        ``lingered``: nobody has come for long.
        """
        has_work = has_returns or bool(self.debts) or (self.is_open and self.line.is_unserved(now))
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

    def next_command(self, now: float, *, in_trouble: bool, has_returns: bool) -> Trigger:
        """Classifies how to go on when nothing is ready.

        In trouble nothing tells that a command has begun to block. So one that does not block comes first. Nothing
        blocks while values have to go back, or a debt is left: they may have come meanwhile.
        """
        if has_returns or self.debts or not (self.is_open and self.line.is_unserved(now)):
            return Trigger.NONE
        return Trigger.HURRIED if in_trouble or self.span(now) <= SOON else Trigger.PATIENT

    def span(self, now: float) -> float:
        """For how many seconds a blocking command may block; infinity without an end."""
        return self.line.patience(now) - _HEAD_START + (self._stay if self.line.anyone else 0.0)

    def began(self, now: float, replies: int) -> None:
        """The blocking command is about to be sent, and so many replies will come."""
        self._began = now
        self.number += 1
        # Until it is sent, a PING would come before it, and its reply would be read as the command's.
        self.until = math.inf
        self.replies = replies

    def sent(self, span: float) -> None:
        """The blocking command was sent, and the server ends it after ``span`` seconds."""
        self.until = self._began + span

    def was_read(self) -> None:
        """One of the replies behind the blocking command was read."""
        self.replies -= 1

    def was_left(self, count: int | None, now: float) -> None:
        """A reply told how many values are left, or did not tell."""
        self.emptied = now if count == 0 else -math.inf

    # -- for others --------------------------------------------------------------------------------------------------

    def is_over(self, now: float) -> bool:
        """Whether the server ends the blocking command as soon as it looks at its clock."""
        return self.until <= now

    def is_empty(self, now: float) -> bool:
        """Whether a reply has just told that nothing is left, and nothing is owed."""
        return not self.debts and now - self.emptied < _EMPTY

    def found_nothing(self, now: float) -> bool:
        """Whether it is blocked, and would have been answered by now if there had been a value."""
        return self.is_blocked and now - self._began >= _LONG

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
