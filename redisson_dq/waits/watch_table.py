"""The wait for one source over connections that many sources share: the decisions, without any I/O.

Theory of operation. A lookout (``_async/receiving/lookout.py``) takes for many sources of one node over one connection.
Redis tells it of changes of the keys that it watches (``CLIENT TRACKING``). Each source has an engine. The
lookout feeds triggers into it under the mutex of the source's line, and carries out the actions that it returns.

* The lookout goes in rounds. In a round it comes to each source that was called (``CALLED``), and chooses.
* It asks the source: a command takes ready values for those who wait, and one behind it tells how many values are left.
  With that one Redis begins to watch the key.
* When nothing is left, the source is watched (``WATCHED``). No command is sent then, though callers come and go. At the
  next change Redis tells once, and the source is asked again.
* A caller's time may be over while the commands are under way (``STALE``). The source is asked again then, and the
  caller is answered after that. A lookout hears of changes between two rounds alone, when no command is under way.
* A source whose callers are being served from other sources yields to those (``YIELDED``).
* Put-backs, repeated requests and the cause of a refusal belong to others (``RETURNING``, ``FAILING``), so they hold up
  no other source. After a failure the source pauses.

A smaller machine goes on beside the work: Redis watches the key or not (:class:`KeyWatch`). Three facts are no states.
``left`` is a number of values. ``trouble`` is an error, and the rows of :data:`TROUBLE_ENDS` end it. ``is_replaced`` is
set once and never taken back, so a table of it would have one row. None of the three changes which actions belong to a
trigger.

Three promises hold in each state. Each value is given, on its way back, or owed (:mod:`redisson_dq.waits.debts`).
While somebody waits, the source is watched, or a step is under way that ends with a call. A caller whose time is over
is told that nothing is there only by a command that was sent later, or where Redis watches all sources of its line. No
reply says so that tells of values which are left.

The engine (``watch_engine.py``) first classifies a trigger by its meaning now (``choice``, ``replied``). Then it finds
its rows in :data:`TRANSITIONS` and :data:`WATCHES`, which are the whole behaviour.
"""

from __future__ import annotations

from typing import Final

from redisson_dq.scheduling.tables import TableEnum, stays

__all__ = ["TROUBLE_ENDS", "TRANSITIONS", "WATCHES", "Do", "State", "Trigger", "KeyWatch"]


class State(TableEnum):
    """The wait for one source."""

    RESTING = "nobody waits, and nothing is owed"
    CALLED = "the lookout comes to it in its next round"
    YIELDED = "callers are being served from other sources, and come to it later"
    ASKED = "its commands are under way"
    STALE = "its commands are under way, and were sent before the time of a caller was over"
    WATCHED = "nothing is ready, and Redis tells of the next change"
    RETURNING = "values or requests go back"
    FAILING = "Redis has refused, somebody finds out why"
    PAUSING = "it pauses before it tries again"


class Trigger(TableEnum):
    """An event, as the engine reads it."""

    # From others.
    WORK = "somebody may wait"
    OWED = "values have to go back, or a request has to be sent again"
    TIME_OVER = "a caller's time is over"
    CLOSED = "nobody comes any more"
    CHANGED = "Redis tells that the key has changed"
    DISCONNECTED = "the connection broke"
    FREED = "callers are not served from other sources any more"
    # Chosen by the lookout in a round.
    ASKS = "chosen: somebody waits, or a debt is left"
    YIELDS = "chosen: others take for all that wait"
    RETURNS = "chosen: values go back, or a request after the close"
    RESTS = "chosen: nothing to do"
    # The outcome of an action.
    EMPTY = "nothing is left, and Redis watches"
    LEFT = "more may be ready"
    SEEN = "more may be ready, and Redis watches"
    OUTDATED = "the commands were sent before the time of a caller was over"
    FAILED = "Redis refused the commands"
    DONE = "done"
    STUCK = "Redis did not take values or requests back"
    AWAY = "Redis is away, or refuses for a while"
    REFUSED = "Redis refuses for good"
    DENIED = "the user has no right to watch, or to take without blocking"
    SOUND = "nothing is wrong"


class KeyWatch(TableEnum):
    """The watch of Redis over the key."""

    OFF = "Redis does not tell of the next change"
    ON = "Redis tells of the next change"


class Do(TableEnum):
    """An action for one source."""

    CALL = "call the lookout"
    ASK = "ask"
    RETURN = "put back"
    DIAGNOSE = "find out what is wrong"
    PAUSE = "pause longer each time"
    FAIL = "fail the callers"
    REPLACE = "let pumps of their own take over"


_Row = tuple[State, tuple[Do, ...]]

_CALL: Final[_Row] = (State.CALLED, (Do.CALL,))
# Somebody else does something for it, and the lookout is called when that is done.
_BUSY: Final = (State.RETURNING, State.FAILING, State.PAUSING)
_FROM_OTHERS: Final = (
    Trigger.WORK,
    Trigger.OWED,
    Trigger.TIME_OVER,
    Trigger.CLOSED,
    Trigger.CHANGED,
    Trigger.DISCONNECTED,
)


#: (state, trigger) -> (next state, actions). A pair that is not listed cannot happen.
TRANSITIONS: Final[dict[tuple[State, Trigger], _Row]] = {
    **stays(State.RESTING, Trigger.CHANGED, Trigger.DISCONNECTED, Trigger.CLOSED),
    (State.RESTING, Trigger.WORK): _CALL,
    (State.RESTING, Trigger.OWED): _CALL,
    (State.RESTING, Trigger.TIME_OVER): _CALL,
    # A round sees all that has happened before it.
    **stays(State.CALLED, *_FROM_OTHERS),
    # A lookout whose connections broke forgets its calls.
    (State.CALLED, Trigger.DISCONNECTED): _CALL,
    (State.CALLED, Trigger.ASKS): (State.ASKED, (Do.ASK,)),
    (State.CALLED, Trigger.YIELDS): (State.YIELDED, ()),
    (State.CALLED, Trigger.RETURNS): (State.RETURNING, (Do.RETURN,)),
    (State.CALLED, Trigger.RESTS): (State.RESTING, ()),
    **{(State.YIELDED, trigger): _CALL for trigger in (*_FROM_OTHERS, Trigger.FREED)},
    # The reply shows values, debts and a close. It does not show whether Redis had carried out the commands before
    # somebody's time was over.
    **stays(State.ASKED, Trigger.WORK, Trigger.OWED, Trigger.CLOSED),
    (State.ASKED, Trigger.TIME_OVER): (State.STALE, ()),
    (State.ASKED, Trigger.DISCONNECTED): _CALL,
    (State.ASKED, Trigger.EMPTY): (State.WATCHED, ()),
    (State.ASKED, Trigger.LEFT): _CALL,
    (State.ASKED, Trigger.SEEN): _CALL,
    (State.ASKED, Trigger.FAILED): (State.FAILING, (Do.DIAGNOSE,)),
    **stays(State.STALE, Trigger.WORK, Trigger.OWED, Trigger.CLOSED, Trigger.TIME_OVER),
    (State.STALE, Trigger.DISCONNECTED): _CALL,
    (State.STALE, Trigger.OUTDATED): _CALL,
    (State.STALE, Trigger.FAILED): (State.FAILING, (Do.DIAGNOSE,)),
    # Callers who come while nothing is ready need no command.
    **stays(State.WATCHED, Trigger.WORK),
    (State.WATCHED, Trigger.OWED): _CALL,
    (State.WATCHED, Trigger.TIME_OVER): _CALL,
    (State.WATCHED, Trigger.CLOSED): _CALL,
    (State.WATCHED, Trigger.CHANGED): _CALL,
    (State.WATCHED, Trigger.DISCONNECTED): _CALL,
    # The clerk works for a source in these states.
    **{pair: row for state in _BUSY for pair, row in stays(state, *_FROM_OTHERS).items()},
    (State.RETURNING, Trigger.DONE): _CALL,
    (State.RETURNING, Trigger.STUCK): (State.PAUSING, (Do.PAUSE,)),
    (State.FAILING, Trigger.AWAY): (State.PAUSING, (Do.PAUSE,)),
    # A request may be owed, for which nobody waits any more.
    (State.FAILING, Trigger.REFUSED): (State.PAUSING, (Do.FAIL, Do.PAUSE)),
    (State.FAILING, Trigger.DENIED): (State.CALLED, (Do.REPLACE, Do.CALL)),
    (State.FAILING, Trigger.SOUND): _CALL,
    (State.PAUSING, Trigger.DONE): _CALL,
}

#: (watch, trigger) -> the watch from then on. Any other pair changes nothing.
WATCHES: Final[dict[tuple[KeyWatch, Trigger], KeyWatch]] = {
    (KeyWatch.OFF, Trigger.EMPTY): KeyWatch.ON,
    (KeyWatch.OFF, Trigger.SEEN): KeyWatch.ON,
    # Redis tells once.
    (KeyWatch.ON, Trigger.CHANGED): KeyWatch.OFF,
    (KeyWatch.ON, Trigger.DISCONNECTED): KeyWatch.OFF,
    # The key may live on another node now, which does not watch it.
    (KeyWatch.ON, Trigger.AWAY): KeyWatch.OFF,
}

#: In these rows the trouble is over: Redis has carried out a command, or nobody waits for one.
TROUBLE_ENDS: Final = frozenset(
    {
        (State.CALLED, Trigger.RESTS),
        (State.ASKED, Trigger.EMPTY),
        (State.ASKED, Trigger.LEFT),
        (State.ASKED, Trigger.SEEN),
        (State.STALE, Trigger.OUTDATED),
        (State.RETURNING, Trigger.DONE),
    }
)
