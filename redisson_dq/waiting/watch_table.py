"""The wait for one source over connections that many sources share: the decisions, without any I/O.

Theory of operation. A lookout (``_async/receiving/lookout.py``) takes for many sources of one node over one connection.
Redis tells it of changes of the keys that it watches (``CLIENT TRACKING``). Each source has a :class:`WatchEngine`. The
lookout feeds triggers into it under the mutex of the source's line, and carries out the actions that it returns.

* The lookout goes in rounds. In a round it comes to each source that was called (``CALLED``), and chooses.
* It asks the source: a command takes ready values for those who wait, and one behind it tells how many values are left.
  With that one Redis begins to watch the key.
* When nothing is left, the source is watched (``WATCHED``). No command is sent then, though callers come and go. At the
  next change Redis tells once, and the source is asked again.
* The key may change while the commands are under way (``STALE``). Nobody knows whether that change came before the
  reply, so the source is asked again.
* A source whose callers are being served from other sources yields to those (``YIELDED``).
* Put-backs, repeated requests and the cause of a refusal belong to others (``RETURNING``, ``FAILING``), so they hold up
  no other source. After a failure the source pauses.

Beside its state an engine knows three facts. Redis watches the key or not (``is_watched``). So many values were left at
the last reply (``left``). Its ``trouble`` is the error of the last failure, until Redis has carried out a command
(:data:`ANSWERED`).

Three promises hold in each state. Each value is given, on its way back, or owed (:mod:`redisson_dq.waiting.debts`).
While somebody waits, the source is watched, or a step is under way that ends with a call. A caller whose time is over
is answered after a command that was sent later.

A trigger is first classified by its meaning now (:meth:`WatchEngine.choice`, :meth:`WatchEngine.replied`). Then it is
looked up in :data:`TRANSITIONS`, which is the whole behaviour.
"""

from __future__ import annotations

from typing import Final

from redisson_dq._pauses import Pauses
from redisson_dq._tables import TableEnum
from redisson_dq.errors import RedisConnectionError
from redisson_dq.waiting.debts import NOTHING, Debt, Debts
from redisson_dq.waiting.line import Line

__all__ = ["ANSWERED", "TRANSITIONS", "Do", "State", "Trigger", "WatchEngine"]


class State(TableEnum):
    """The wait for one source."""

    RESTING = "nobody waits, and Redis does not watch"
    CALLED = "the lookout comes to it in its next round"
    YIELDED = "callers are being served from other sources, and come to it later"
    ASKED = "its commands are under way"
    STALE = "its commands are under way, and the key has changed meanwhile"
    WATCHED = "nothing is ready, and Redis tells of the next change"
    RETURNING = "values or requests go back"
    FAILING = "Redis has refused, the cause is looked for"
    PAUSING = "it pauses before it tries again"


class Trigger(TableEnum):
    """An event, as the engine reads it."""

    # From others.
    WORK = "somebody may wait"
    OWED = "values have to go back, or a request has to be sent again"
    TIME_OVER = "a caller's time is over"
    CLOSED = "nobody comes any more"
    CHANGED = "Redis tells that the key has changed"
    LOST = "the connection broke"
    FREED = "callers are not served from other sources any more"
    # Chosen by the lookout in a round.
    ASKS = "chosen: somebody waits, or a debt is left"
    YIELDS = "chosen: others take for all that wait"
    RETURNS = "chosen: values go back, or a request after the close"
    RESTS = "chosen: nothing to do"
    # The outcome of an action.
    EMPTY = "nothing is left, and Redis watches"
    LEFT = "more may be ready"
    FAILED = "Redis refused the commands"
    DONE = "done"
    STUCK = "Redis did not take values or requests back"
    AWAY = "Redis is away, or refuses for a while"
    REFUSED = "Redis refuses for good"


class Do(TableEnum):
    """An action for one source."""

    CALL = "call the lookout"
    ASK = "ask"
    RETURN = "put back"
    DIAGNOSE = "find out what is wrong"
    PAUSE = "pause longer each time"
    FAIL = "fail the callers"


_Row = tuple[State, tuple[Do, ...]]

_CALL: Final[_Row] = (State.CALLED, (Do.CALL,))
# Somebody else does something for it, and the lookout is called when that is done.
_BUSY: Final = (State.RETURNING, State.FAILING, State.PAUSING)
_FROM_OTHERS: Final = (Trigger.WORK, Trigger.OWED, Trigger.TIME_OVER, Trigger.CLOSED, Trigger.CHANGED, Trigger.LOST)


def _stay(state: State, *triggers: Trigger) -> dict[tuple[State, Trigger], _Row]:
    return {(state, trigger): (state, ()) for trigger in triggers}


#: (state, trigger) -> (next state, actions). A pair that is not listed cannot happen.
TRANSITIONS: Final[dict[tuple[State, Trigger], _Row]] = {
    **_stay(State.RESTING, Trigger.CHANGED, Trigger.LOST, Trigger.CLOSED),
    (State.RESTING, Trigger.WORK): _CALL,
    (State.RESTING, Trigger.OWED): _CALL,
    (State.RESTING, Trigger.TIME_OVER): _CALL,
    # A round sees all that has happened before it.
    **_stay(State.CALLED, *_FROM_OTHERS),
    # A lookout whose connections broke forgets its calls.
    (State.CALLED, Trigger.LOST): _CALL,
    (State.CALLED, Trigger.ASKS): (State.ASKED, (Do.ASK,)),
    (State.CALLED, Trigger.YIELDS): (State.YIELDED, ()),
    (State.CALLED, Trigger.RETURNS): (State.RETURNING, (Do.RETURN,)),
    (State.CALLED, Trigger.RESTS): (State.RESTING, ()),
    **{(State.YIELDED, trigger): _CALL for trigger in (*_FROM_OTHERS, Trigger.FREED)},
    # The reply tells of all but that Redis has told meanwhile, and that somebody's time is over.
    **_stay(State.ASKED, Trigger.WORK, Trigger.OWED, Trigger.CLOSED),
    (State.ASKED, Trigger.CHANGED): (State.STALE, ()),
    (State.ASKED, Trigger.TIME_OVER): (State.STALE, ()),
    (State.ASKED, Trigger.LOST): _CALL,
    (State.ASKED, Trigger.EMPTY): (State.WATCHED, ()),
    (State.ASKED, Trigger.LEFT): _CALL,
    (State.ASKED, Trigger.FAILED): (State.FAILING, (Do.DIAGNOSE,)),
    **_stay(State.STALE, Trigger.WORK, Trigger.OWED, Trigger.CLOSED, Trigger.CHANGED, Trigger.TIME_OVER),
    (State.STALE, Trigger.LOST): _CALL,
    (State.STALE, Trigger.LEFT): _CALL,
    (State.STALE, Trigger.FAILED): (State.FAILING, (Do.DIAGNOSE,)),
    # Callers who come while nothing is ready need no command.
    **_stay(State.WATCHED, Trigger.WORK),
    (State.WATCHED, Trigger.OWED): _CALL,
    (State.WATCHED, Trigger.TIME_OVER): _CALL,
    (State.WATCHED, Trigger.CLOSED): _CALL,
    (State.WATCHED, Trigger.CHANGED): _CALL,
    (State.WATCHED, Trigger.LOST): _CALL,
    # Others carry these out.
    **{pair: row for state in _BUSY for pair, row in _stay(state, *_FROM_OTHERS).items()},
    (State.RETURNING, Trigger.DONE): _CALL,
    (State.RETURNING, Trigger.STUCK): (State.PAUSING, (Do.PAUSE,)),
    (State.FAILING, Trigger.AWAY): (State.PAUSING, (Do.PAUSE,)),
    (State.FAILING, Trigger.REFUSED): (State.CALLED, (Do.FAIL, Do.CALL)),
    (State.PAUSING, Trigger.DONE): _CALL,
}

#: In these rows Redis has carried out a command, so the trouble is over.
ANSWERED: Final = frozenset(
    {
        (State.ASKED, Trigger.EMPTY),
        (State.ASKED, Trigger.LEFT),
        (State.STALE, Trigger.LEFT),
        (State.RETURNING, Trigger.DONE),
    }
)

_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 2.0


class WatchEngine:
    """Decides for one source. Not thread-safe: its callers hold the mutex of the line."""

    def __init__(self, line: Line, debts: Debts) -> None:
        self.state = State.RESTING
        self.debts = debts
        self.line = line
        #: Whether Redis tells of the next change of the key.
        self.is_watched = False
        #: How many values stood there at the last reply; None where Redis has told of a change since.
        self.left: int | None = None
        #: Whether a pump of its own has taken its place. That one asks, and pays what is owed.
        self.is_replaced = False
        #: Why nothing can be taken just now.
        self.trouble: RedisConnectionError | None = None
        self._pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        # The debt of the request that is under way.
        self._sent = NOTHING

    def step(self, trigger: Trigger) -> tuple[Do, ...]:
        """Gives the actions for a trigger. All triggers come under the mutex."""
        if trigger in (Trigger.CHANGED, Trigger.LOST):
            self.is_watched, self.left = False, None
        if trigger is Trigger.LOST:
            self.is_to_be_sent_again(self._sent)
        if (self.state, trigger) in ANSWERED:
            self.trouble = None
            self._pauses.reset()
        self.state, to_do = TRANSITIONS[self.state, trigger]
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

    def sends(self, debt: Debt, *, is_repeatable: bool) -> None:
        """The request of this debt is about to be sent. A repeatable one is owed again when its reply is lost."""
        self.debts.paid(debt)
        self._sent = debt if is_repeatable else NOTHING

    def was_answered(self) -> None:
        """The reply to its request was read."""
        self._sent = NOTHING

    def is_to_be_sent_again(self, debt: Debt) -> None:
        """The request that is under way was not carried out, or its reply is lost."""
        self.debts.owe_first(debt)
        self._sent = NOTHING

    def choice(self, *, has_returns: bool) -> Trigger:
        """Classifies the work that is left. ``has_returns``: values have to go back."""
        owes = self.debts.admit() and not self.is_replaced
        if has_returns or (self.line.closed and owes and self.debts.has_request):
            return Trigger.RETURNS
        if not (self.line.closed or self.is_replaced) and (owes or self.line.count):
            return Trigger.ASKS
        return Trigger.RESTS

    def replied(self, left: int | None, *, watches: bool, has_returns: bool) -> Trigger:
        """Classifies a reply.

        ``left`` is how many values it has told are left. ``watches``: Redis watches since these commands.
        """
        if self.state is State.STALE:
            # The change may be older than the reply, or newer.
            self.is_watched = False
            self.left = left or None
            return Trigger.LEFT
        self.is_watched = self.is_watched or watches
        self.left = left
        is_done = self.is_watched and left == 0 and not (self.debts or has_returns or self.line.closed)
        return Trigger.EMPTY if is_done else Trigger.LEFT

    @property
    def is_under_way(self) -> bool:
        """Whether its commands are on their way, or the replies."""
        return self.state in (State.ASKED, State.STALE)

    @property
    def is_attended(self) -> bool:
        """Whether callers that enter the inbox of the line are seen: a round, or the next change, leads to them."""
        return self.state is not State.RESTING
