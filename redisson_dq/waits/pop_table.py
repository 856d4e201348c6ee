"""The commands of the one connection that waits for values: the decisions, without any I/O.

Theory of operation. Callers stand in a :class:`~redisson_dq.waits.line.Line`. Somebody pumps for them: sends commands
on one connection, reads each reply, and hands the values out. That is a background task, or one of the callers itself.
Nobody else reads on that connection. The pump (``_async/receiving/pump.py``) feeds triggers into an engine
(``pop_engine.py``), and carries out the actions that the engine returns. All triggers come under the mutex of the line.
The pumper hands a :class:`~redisson_dq.waits.in_hand.InHand` from one action to the next.

* The pumper chooses (``CHOOSING``). Values that nobody waits for go back first. Then come debts, then callers.
* It looks, by a command that does not block. When nothing is ready, it sends the blocking command.
* While that command is under way, others may end it. A ``PING`` behind it ends it in time (``TIMED``). Another
  connection ends it when nobody waits any more (``ENDING``), unless somebody joins before that. Another connection ends
  it in any case (``STOPPING``) when its time is over, or when the pumper is needed for something else.
* Once it is answered, nobody sends anything behind it any more. The pumper reads the replies behind it (``SETTLING``).
* Values are handed out (``GIVING``), after one more command where more may be ready (``GATHERING``).
* When something fails, the connection goes. The background task asks Redis for the cause (``FAILING``), and pauses
  or fails the callers. A caller that pumps leaves that to a background task.

A stand-in is a caller that pumps. It leaves when it has its answer. It also leaves work that may take long: to
connect, to put values back, and failures. It starts a background task for that. Nothing else depends on
the pumper.

Callers ring the bell without the mutex, and check whether somebody pumps after that. So a pumper that leaves
(``LEAVE``) is at rest first, and hears its bell once more. When the bell rang, a background task stays
(``HEARS_BELL``). A caller goes all the same, and starts a background task (``HANDS_OVER``).

Closing is an event (``CLOSED``) and no state. A pump that was closed still puts back, and repeats a request that is
owed, in the states of before. The line stays closed, so the pumper chooses nothing else from then on.

Two smaller machines go on beside the work. One is the :class:`Pumper`. A background task stays for a while when nobody
waits, unless callers pump. The other one is the :class:`Contact` with Redis. Unless that is ``WELL``, callers whose
time is over get the error of the last diagnosis. A command that does not block then comes before one that does.
Behind a command that failed nobody is told that nothing is there, before another one was sent (:data:`BREAKS`).

Three promises hold in each state. The number of replies that are still to be read is known (``PopEngine.replies``),
and no command is sent before they are read. Each value is given, on its way back, or owed
(:mod:`redisson_dq.waits.debts`). A pumper that leaves values or debts behind wakes another one.

The engine first classifies a trigger by its meaning now. Then it finds its rows in :data:`TRANSITIONS`,
:data:`PUMPERS` and :data:`SIGNS`. With :data:`CONTACTS` they are the whole behaviour.
"""

from __future__ import annotations

from typing import Final

from redisson_dq.scheduling.tables import TableEnum, stays

__all__ = [
    "BREAKS",
    "BY_CALLERS",
    "CHOICES",
    "IN_REDIS",
    "PUMPERS",
    "SIGNS",
    "TRANSITIONS",
    "CONTACTS",
    "Do",
    "Pumper",
    "Contact",
    "Sign",
    "State",
    "Trigger",
]


class State(TableEnum):
    """The work on the connection."""

    RESTING = "nobody pumps"
    IDLE = "there is nothing to do, the pumper waits for its bell"
    LINGERED = "there was nothing to do for long, the pumper is about to leave"
    CHOOSING = "the pumper chooses what to do"
    RETURNING = "values that nobody waits for go back"
    REPEATING = "after the close, a request with a lost reply is sent again"
    CONNECTING = "a connection is being made"
    LOOKING = "a command that does not block is under way, where the source has one"
    PROBING = "the blocking command is under way in a transaction, where it does not block"
    BLOCKED = "the blocking command is under way"
    TIMED = "the blocking command is under way, and behind it the PING that ends it in time"
    ENDING = "nobody waits any more, another connection ends the blocking command"
    STOPPING = "another connection ends the blocking command, whoever waits"
    SETTLING = "the blocking command was answered, the replies behind it are read"
    FETCHING = "a value was set aside, a look for it is under way"
    GATHERING = "values came, a command for more is under way"
    GIVING = "values are handed out"
    FAILING = "something failed, the pumper finds out what is wrong"
    PAUSING = "the pumper pauses before it tries again"


class Trigger(TableEnum):
    """An event, as the engine reads it."""

    # From others.
    WORK = "somebody may wait"
    OWED = "values have to go back, or a request has to be sent again"
    STANDS_IN = "a caller begins to pump"
    HEARS_BELL = "a background task hears its bell on the way out"
    LAST_OVER = "the last caller's time is over"
    NOBODY = "nobody waits any more"
    CLOSED = "closed: nobody comes any more"
    JOINED = "somebody waits again"
    # Chosen by the pumper.
    RETURNS = "chosen: values go back"
    REPEATS = "chosen: closed, and a request is owed"
    CONNECTS = "chosen: there is no connection"
    LOOKS = "chosen: somebody waits, or a debt is left"
    IDLES = "chosen: nothing to do"
    LEAVES = "chosen: nothing to do, callers pump"
    RETIRES = "chosen: nothing to do for long, or closed"
    HANDS_OVER = "a caller leaves the rest to a background task"
    # The outcome of an action.
    RANG = "the bell rang"
    LINGERED = "the bell did not ring for long"
    DONE = "done"
    CAME = "values came"
    MORE = "values came, more may be ready"
    ASIDE = "a value was set aside"
    MISSED = "nothing came"
    PATIENT = "nothing came, callers have time"
    HURRIED = "nothing came, no command may block"
    ANSWERED = "the blocking command was answered"
    FULL = "Redis has no memory for the blocking command"
    STUCK = "Redis did not take values or requests back"
    FAILED = "failed"
    SAVED = "failed behind values that came"
    ABANDONED = "failed for a caller that pumps"
    AWAY = "Redis is away"
    PUT_OFF = "Redis refuses for a while"
    REFUSED = "Redis refuses for good"
    SOUND = "nothing is wrong"
    # Beside the work. Only the table of pumpers has them.
    STANDS_BY = "a caller would pump, and cannot yet"
    STANDS_DOWN = "no caller pumps any more"


class Pumper(TableEnum):
    """The one that pumps."""

    NOBODY = "nobody"
    BACKGROUND = "a background task"
    CALLER = "a caller, as a stand-in"
    ABSENT = "nobody, until the next caller stands in"
    RELIEF = "a background task, until the next caller can stand in"


class Contact(TableEnum):
    """The contact with Redis."""

    WELL = "it answers"
    AWAY = "it could not be reached"
    REFUSING = "it could be reached, and refused for a while"
    BACK = "it can be reached again, and has not answered a blocking command since"


class Sign(TableEnum):
    """A fact about Redis that a step of the work shows."""

    ANSWERED = "it has carried out a command"
    CONNECTED = "a connection was made"
    RESTS = "the connection rests, and nobody needs a command"
    DROPPED = "the connection goes"
    AWAY = "it could not be reached"
    PUT_OFF = "it has refused for a while"


class Do(TableEnum):
    """An action of the pump. The last action of a row that tells a trigger decides; else the engine chooses."""

    # At once, under the mutex. The PING is counted as a reply that comes, and is sent after the mutex.
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
    GIVE_WAY = "let the callers go on first"
    # Under the mutex the connection is given up, so nobody finds it any more. Then the pumper closes it.
    DISCONNECT = "disconnect"
    DIAGNOSE = "find out what is wrong"
    FAIL = "fail the callers"
    PAUSE = "pause longer each time"
    RETRY = "pause longer each time, until somebody comes"
    REST = "pause until there may be memory"
    LEAVE = "leave"


_Row = tuple[State, tuple[Do, ...]]

#: The blocking command is on its way to Redis, or stands there.
IN_REDIS: Final = frozenset({State.BLOCKED, State.TIMED, State.ENDING, State.STOPPING})
#: The pumper chooses what to do.
CHOICES: Final = frozenset({State.CHOOSING, State.LINGERED})

_CHOOSE: Final[_Row] = (State.CHOOSING, ())
_START: Final[_Row] = (State.CHOOSING, (Do.START,))
_RING: Final[_Row] = (State.CHOOSING, (Do.RING,))
_CONNECT: Final[_Row] = (State.CONNECTING, (Do.CONNECT,))
_LOOK: Final[_Row] = (State.LOOKING, (Do.LOOK,))
_RETIRE: Final[_Row] = (State.RESTING, (Do.DISCONNECT, Do.LEAVE))
_GIVE: Final[_Row] = (State.GIVING, (Do.GIVE,))
_BLOCK: Final[_Row] = (State.BLOCKED, (Do.BLOCK,))
_PROBE: Final[_Row] = (State.PROBING, (Do.PROBE,))
_SETTLE: Final[_Row] = (State.SETTLING, (Do.SETTLE,))
_STOP: Final[_Row] = (State.STOPPING, (Do.UNBLOCK,))
_FAIL: Final[_Row] = (State.FAILING, (Do.DISCONNECT, Do.DIAGNOSE))
_SAVE: Final[_Row] = (State.GIVING, (Do.GIVE, Do.DISCONNECT))
_ABANDON: Final[_Row] = (State.CHOOSING, (Do.DISCONNECT,))
_HAND_OVER: Final[_Row] = (State.CHOOSING, (Do.START, Do.LEAVE))

# The pumper does something, and chooses again after it. It sees the triggers of others then.
_BUSY: Final = [state for state in State if state not in IN_REDIS | CHOICES | {State.RESTING, State.IDLE}]
_FROM_OTHERS: Final = (Trigger.WORK, Trigger.OWED, Trigger.NOBODY, Trigger.CLOSED)
# Commands are under way on the connection, and may fail.
_EXCHANGING: Final = IN_REDIS | {State.LOOKING, State.PROBING, State.SETTLING, State.FETCHING}
# Something else is under way that may fail. Values and requests that go back fail by a defect alone: a try that Redis
# does not take is STUCK.
_HELPING: Final = frozenset({State.CONNECTING, State.RETURNING, State.REPEATING, State.GIVING})
# A caller that pumps may be cancelled here too.
_ALONE: Final = frozenset({State.CHOOSING, State.GIVING, State.PAUSING})

#: (state, trigger) -> (next state, actions). A pair that is not listed cannot happen.
TRANSITIONS: Final[dict[tuple[State, Trigger], _Row]] = {
    **{(state, trigger): (state, ()) for state in _BUSY for trigger in _FROM_OTHERS},
    (State.RESTING, Trigger.WORK): _START,
    (State.RESTING, Trigger.OWED): _START,
    # A connection is left of callers that pumped.
    (State.RESTING, Trigger.CLOSED): _START,
    (State.RESTING, Trigger.STANDS_IN): _CHOOSE,
    # The bell rang while the pumper was on its way out. The actions of this row replace those of the row by which the
    # pumper was leaving.
    (State.RESTING, Trigger.HEARS_BELL): _CHOOSE,
    (State.RESTING, Trigger.HANDS_OVER): _HAND_OVER,
    **stays(State.RESTING, Trigger.NOBODY),
    # Callers ring the bell themselves, but others may have emptied the inbox since.
    **{(State.IDLE, trigger): _RING for trigger in (Trigger.WORK, Trigger.OWED, Trigger.CLOSED)},
    (State.IDLE, Trigger.RANG): _CHOOSE,
    (State.IDLE, Trigger.LINGERED): (State.LINGERED, ()),
    **stays(State.IDLE, Trigger.NOBODY),
    # It is about to choose, so no bell has to wake it. It leaves then, unless somebody came on the way out, or a caller
    # has noted a request meanwhile.
    **{(State.LINGERED, came): _CHOOSE for came in (Trigger.WORK, Trigger.OWED, Trigger.CLOSED, Trigger.RANG)},
    **stays(State.LINGERED, Trigger.NOBODY),
    (State.LINGERED, Trigger.CONNECTS): _CONNECT,
    (State.LINGERED, Trigger.LOOKS): _LOOK,
    (State.LINGERED, Trigger.RETIRES): _RETIRE,
    **stays(State.CHOOSING, Trigger.RANG, Trigger.LINGERED, Trigger.NOBODY),
    # It may not have heard its bell yet, and others may have emptied the inbox since.
    **{(State.CHOOSING, trigger): _RING for trigger in (Trigger.WORK, Trigger.OWED, Trigger.CLOSED)},
    # A pumper chooses. A caller that leaves work behind starts a background task for it.
    (State.CHOOSING, Trigger.RETURNS): (State.RETURNING, (Do.PUT_BACK,)),
    (State.CHOOSING, Trigger.REPEATS): (State.REPEATING, (Do.REPEAT,)),
    (State.CHOOSING, Trigger.CONNECTS): _CONNECT,
    (State.CHOOSING, Trigger.LOOKS): _LOOK,
    (State.CHOOSING, Trigger.IDLES): (State.IDLE, (Do.WAIT,)),
    (State.CHOOSING, Trigger.LEAVES): (State.RESTING, (Do.LEAVE,)),
    (State.CHOOSING, Trigger.RETIRES): _RETIRE,
    (State.CHOOSING, Trigger.HANDS_OVER): _HAND_OVER,
    (State.RETURNING, Trigger.DONE): _CHOOSE,
    (State.RETURNING, Trigger.STUCK): (State.PAUSING, (Do.RETRY,)),
    (State.REPEATING, Trigger.CAME): _GIVE,
    (State.REPEATING, Trigger.MISSED): _CHOOSE,
    (State.REPEATING, Trigger.STUCK): (State.PAUSING, (Do.RETRY,)),
    (State.CONNECTING, Trigger.DONE): _CHOOSE,
    (State.LOOKING, Trigger.CAME): _GIVE,
    (State.LOOKING, Trigger.PATIENT): _BLOCK,
    (State.LOOKING, Trigger.HURRIED): _PROBE,
    (State.LOOKING, Trigger.MISSED): _CHOOSE,
    (State.PROBING, Trigger.ANSWERED): _SETTLE,
    # Others end the blocking command. One reply more is to be read behind a PING.
    **stays(State.BLOCKED, Trigger.WORK),
    (State.BLOCKED, Trigger.OWED): _STOP,
    (State.BLOCKED, Trigger.LAST_OVER): (State.TIMED, (Do.NUDGE,)),
    **{(State.BLOCKED, trigger): (State.ENDING, (Do.UNBLOCK,)) for trigger in (Trigger.NOBODY, Trigger.CLOSED)},
    (State.BLOCKED, Trigger.ANSWERED): _SETTLE,
    **stays(State.TIMED, Trigger.WORK),
    **{(State.TIMED, trigger): _STOP for trigger in (Trigger.OWED, Trigger.NOBODY, Trigger.CLOSED)},
    (State.TIMED, Trigger.ANSWERED): _SETTLE,
    **stays(State.ENDING, Trigger.WORK, Trigger.NOBODY, Trigger.CLOSED),
    (State.ENDING, Trigger.OWED): (State.STOPPING, ()),
    (State.ENDING, Trigger.JOINED): (State.BLOCKED, ()),
    (State.ENDING, Trigger.ANSWERED): _SETTLE,
    **stays(State.STOPPING, *_FROM_OTHERS),
    (State.STOPPING, Trigger.ANSWERED): _SETTLE,
    # The pumper has all replies. Callers may have time for a blocking command after a probe.
    (State.SETTLING, Trigger.CAME): _GIVE,
    (State.SETTLING, Trigger.MORE): (State.GATHERING, (Do.GATHER,)),
    (State.SETTLING, Trigger.ASIDE): (State.FETCHING, (Do.LOOK,)),
    (State.SETTLING, Trigger.MISSED): _CHOOSE,
    (State.SETTLING, Trigger.PATIENT): _BLOCK,
    (State.SETTLING, Trigger.HURRIED): _PROBE,
    (State.SETTLING, Trigger.FULL): (State.PAUSING, (Do.REST,)),
    (State.SETTLING, Trigger.SAVED): _SAVE,
    (State.FETCHING, Trigger.CAME): _GIVE,
    (State.FETCHING, Trigger.MISSED): _CHOOSE,
    (State.GATHERING, Trigger.CAME): _GIVE,
    (State.GATHERING, Trigger.SAVED): _SAVE,
    # The callers that were given values may be back in line already.
    (State.GIVING, Trigger.DONE): (State.CHOOSING, (Do.GIVE_WAY,)),
    # Failures.
    **{(state, Trigger.FAILED): _FAIL for state in State if state in _EXCHANGING | _HELPING},
    # The end of a loop cancels a connection that is being made, also for a diagnosis or in a pause. It does not cancel
    # the pumper itself. So a pumper that is idle or chooses fails by a defect alone.
    (State.FAILING, Trigger.FAILED): (State.FAILING, (Do.DIAGNOSE,)),
    **{(state, Trigger.FAILED): _CHOOSE for state in (State.IDLE, State.CHOOSING, State.PAUSING)},
    **{(state, Trigger.ABANDONED): _ABANDON for state in State if state in _EXCHANGING | _ALONE},
    (State.FAILING, Trigger.AWAY): (State.PAUSING, (Do.PAUSE,)),
    (State.FAILING, Trigger.PUT_OFF): (State.PAUSING, (Do.PAUSE,)),
    # A debt may be left, for which nobody waits any more.
    (State.FAILING, Trigger.REFUSED): (State.PAUSING, (Do.FAIL, Do.RETRY)),
    (State.FAILING, Trigger.SOUND): _CHOOSE,
    (State.PAUSING, Trigger.DONE): _CHOOSE,
}

#: A command may have failed. So no caller may be told that nothing is there before another one was sent.
BREAKS: Final = frozenset({Trigger.FAILED, Trigger.SAVED, Trigger.ABANDONED})

#: Callers pump, when they can. A background task has nobody to stay for then.
BY_CALLERS: Final = frozenset({Pumper.CALLER, Pumper.ABSENT, Pumper.RELIEF})

_BEGINS: Final = (Trigger.WORK, Trigger.OWED, Trigger.HEARS_BELL)

#: (pumper, trigger) -> the pumper from then on. Any other trigger changes nothing.
PUMPERS: Final[dict[tuple[Pumper, Trigger], Pumper]] = {
    **{(Pumper.NOBODY, begins): Pumper.BACKGROUND for begins in _BEGINS},
    (Pumper.NOBODY, Trigger.STANDS_BY): Pumper.ABSENT,
    (Pumper.BACKGROUND, Trigger.STANDS_BY): Pumper.RELIEF,
    (Pumper.BACKGROUND, Trigger.RETIRES): Pumper.NOBODY,
    (Pumper.CALLER, Trigger.LEAVES): Pumper.ABSENT,
    (Pumper.CALLER, Trigger.HANDS_OVER): Pumper.RELIEF,
    **{(Pumper.ABSENT, begins): Pumper.RELIEF for begins in (*_BEGINS, Trigger.CLOSED)},
    (Pumper.ABSENT, Trigger.HANDS_OVER): Pumper.RELIEF,
    (Pumper.ABSENT, Trigger.STANDS_IN): Pumper.CALLER,
    (Pumper.ABSENT, Trigger.STANDS_DOWN): Pumper.NOBODY,
    (Pumper.RELIEF, Trigger.LEAVES): Pumper.ABSENT,
    (Pumper.RELIEF, Trigger.RETIRES): Pumper.ABSENT,
    (Pumper.RELIEF, Trigger.STANDS_DOWN): Pumper.BACKGROUND,
}

#: (state, trigger) -> the sign of Redis in it. Any other row has none. A look that finds nothing shows nothing: it may
#: need no command, and a replica answers it too.
SIGNS: Final[dict[tuple[State, Trigger], Sign]] = {
    (State.RETURNING, Trigger.DONE): Sign.ANSWERED,
    (State.GIVING, Trigger.DONE): Sign.ANSWERED,
    **{(State.SETTLING, told): Sign.ANSWERED for told in (Trigger.CAME, Trigger.MORE, Trigger.ASIDE, Trigger.MISSED)},
    **{(State.SETTLING, told): Sign.ANSWERED for told in (Trigger.PATIENT, Trigger.HURRIED, Trigger.FULL)},
    (State.CONNECTING, Trigger.DONE): Sign.CONNECTED,
    (State.CHOOSING, Trigger.IDLES): Sign.RESTS,
    (State.CHOOSING, Trigger.LEAVES): Sign.RESTS,
    (State.FAILING, Trigger.AWAY): Sign.AWAY,
    (State.FAILING, Trigger.PUT_OFF): Sign.PUT_OFF,
    **{row: Sign.DROPPED for row, (_, to_do) in TRANSITIONS.items() if to_do[:1] == (Do.DISCONNECT,)},
}

#: (contact, sign) -> the contact from then on. Any other pair changes nothing.
CONTACTS: Final[dict[tuple[Contact, Sign], Contact]] = {
    **{(contact, Sign.ANSWERED): Contact.WELL for contact in Contact},
    **{(contact, Sign.AWAY): Contact.AWAY for contact in Contact if contact is not Contact.BACK},
    **{(contact, Sign.PUT_OFF): Contact.REFUSING for contact in Contact if contact is not Contact.BACK},
    (Contact.AWAY, Sign.CONNECTED): Contact.BACK,
    # To one that has refused, a new connection shows nothing.
    (Contact.BACK, Sign.RESTS): Contact.WELL,
    (Contact.BACK, Sign.DROPPED): Contact.AWAY,
}
