"""How a worker receives next: which command follows, and which acks it carries, decided without any I/O.

Theory of operation. A fetcher receives for one queue of a worker, in one thread or task. It goes in rounds. At the
beginning of a round the driver tells the :class:`FetchPlan` whether values are wanted. The plan says what to do: sleep,
wait, or ack and receive in one call. When that is over the driver tells the outcome. So one command is under way at a
time.

* Nothing is wanted, as no slot is free. Sleep until one is freed.
* Values are wanted. Wait for them.
* Redis refuses. Pause before the next round.

Handlers ack meanwhile. Where more values stood ready, the next round follows at once. Acks are then kept for it: one
call ends leases and takes the next values. A plan that keeps acks either carries them in that call, or passes them on.
It keeps none while it waits, so an ack never depends on a value that may not come.

The wanted values may change at any time: a batch lacks fewer values, a handler with a limit is added. A change in the
middle of a round ends its wait, or keeps the wait from beginning.

Time comes in as an argument, in seconds of any clock that never steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import attrs

from redisson_dq._tables import TableEnum

__all__ = ["PAUSE", "TRANSITIONS", "Action", "Do", "FetchPlan", "State", "Trigger"]


class State(TableEnum):
    """A state of the fetcher."""

    BETWEEN = "between two rounds"
    CARRYING = "between two rounds, and the next one carries acks"
    IDLE = "no value is wanted"
    EXPECTING = "no value is wanted, and an ack is expected: the next one begins a round"
    JOINING = "one call acks and receives"
    WAITING = "waits for values"
    PAUSING = "Redis refused, the next round follows later"
    LEAVING = "was asked to end"
    ENDED = "nothing is received any more"


class Trigger(TableEnum):
    """An event of the fetcher."""

    NOTHING = "round: nothing is wanted"
    JOINS = "round: more is ready"
    WANTED = "round: values are wanted"
    TOOK = "values came"
    MORE = "values came: more are ready"
    MISSED = "no value came"
    STALE = "no value came: a change was meanwhile"
    REFUSED = "Redis refused"
    OVER = "sleep or pause over"
    ACKED = "a handling acks"
    FREED = "values are wanted again"
    CHANGED = "other values are wanted"
    SHORT = "no thread to receive in"
    END = "asked to end"
    GONE = "last round over"


class Do(TableEnum):
    """An order to the driver."""

    SLEEP = "sleep"
    JOIN = "ack and receive"
    WAIT = "wait"
    PAUSE = "pause"
    WAKE = "wake the fetcher"
    WITHDRAW = "end the wait"
    KEEP = "keep the ack"
    SEND = "send the ack"
    PASS_ON = "send all acks"
    FINISH = "finish"


@attrs.frozen
class Action:
    """One thing to do. ``acks`` belong to ``SEND`` and ``PASS_ON``."""

    do: Do
    acks: Sequence[Any] = ()


_Row = tuple[State, tuple[Do, ...]]


def _to(state: State, *to_do: Do) -> _Row:
    return state, to_do


def _changes(state: State, *to_do: Do, to: State | None = None) -> dict[tuple[State, Trigger], _Row]:
    """The rows of a state in which every change has the same effect."""
    row = _to(to or state, *to_do)
    return {(state, Trigger.FREED): row, (state, Trigger.CHANGED): row}


# In these states acks may wait, or be under way.
_HAVING_ACKS: Final = (State.CARRYING, State.JOINING, State.LEAVING)

#: (state, trigger) -> (next state, actions). A pair that is not listed cannot occur.
TRANSITIONS: Final[dict[tuple[State, Trigger], _Row]] = {
    # A change wakes the fetcher that is about to sleep.
    (State.BETWEEN, Trigger.NOTHING): _to(State.IDLE, Do.SLEEP),
    (State.BETWEEN, Trigger.WANTED): _to(State.WAITING, Do.WAIT),
    (State.BETWEEN, Trigger.REFUSED): _to(State.PAUSING, Do.PAUSE),
    (State.BETWEEN, Trigger.OVER): _to(State.BETWEEN),
    (State.BETWEEN, Trigger.ACKED): _to(State.BETWEEN, Do.SEND),
    (State.BETWEEN, Trigger.END): _to(State.LEAVING, Do.WAKE),
    **_changes(State.BETWEEN, Do.WAKE),
    # Acks of handlers that end before the next round begins.
    (State.CARRYING, Trigger.NOTHING): _to(State.EXPECTING, Do.PASS_ON, Do.SLEEP),
    (State.CARRYING, Trigger.JOINS): _to(State.JOINING, Do.JOIN),
    (State.CARRYING, Trigger.WANTED): _to(State.WAITING, Do.PASS_ON, Do.WAIT),
    (State.CARRYING, Trigger.REFUSED): _to(State.PAUSING, Do.PASS_ON, Do.PAUSE),
    (State.CARRYING, Trigger.OVER): _to(State.CARRYING),
    (State.CARRYING, Trigger.ACKED): _to(State.CARRYING, Do.KEEP),
    # The round begins when a handler has returned, and acks do not wait for that.
    (State.CARRYING, Trigger.SHORT): _to(State.BETWEEN, Do.PASS_ON),
    **{(state, Trigger.SHORT): _to(state) for state in State if state is not State.CARRYING},
    (State.CARRYING, Trigger.END): _to(State.LEAVING, Do.PASS_ON, Do.WAKE),
    **_changes(State.CARRYING, Do.WAKE),
    (State.IDLE, Trigger.OVER): _to(State.BETWEEN),
    (State.IDLE, Trigger.ACKED): _to(State.IDLE, Do.SEND),
    (State.IDLE, Trigger.END): _to(State.LEAVING, Do.WAKE),
    **_changes(State.IDLE, Do.WAKE, to=State.BETWEEN),
    # A handler that acks frees its slot a moment later.
    (State.EXPECTING, Trigger.OVER): _to(State.CARRYING),
    (State.EXPECTING, Trigger.ACKED): _to(State.CARRYING, Do.KEEP, Do.WAKE),
    (State.EXPECTING, Trigger.END): _to(State.LEAVING, Do.WAKE),
    **_changes(State.EXPECTING, Do.WAKE, to=State.CARRYING),
    # Acks that come during the call go along with the next one.
    (State.JOINING, Trigger.TOOK): _to(State.BETWEEN, Do.PASS_ON),
    (State.JOINING, Trigger.MORE): _to(State.CARRYING),
    (State.JOINING, Trigger.MISSED): _to(State.WAITING, Do.PASS_ON, Do.WAIT),
    (State.JOINING, Trigger.STALE): _to(State.BETWEEN, Do.PASS_ON),
    (State.JOINING, Trigger.REFUSED): _to(State.PAUSING, Do.PASS_ON, Do.PAUSE),
    (State.JOINING, Trigger.ACKED): _to(State.JOINING, Do.KEEP),
    (State.JOINING, Trigger.END): _to(State.LEAVING, Do.PASS_ON),
    **_changes(State.JOINING),
    (State.WAITING, Trigger.TOOK): _to(State.BETWEEN),
    (State.WAITING, Trigger.MORE): _to(State.CARRYING),
    (State.WAITING, Trigger.STALE): _to(State.BETWEEN),
    (State.WAITING, Trigger.REFUSED): _to(State.PAUSING, Do.PAUSE),
    (State.WAITING, Trigger.ACKED): _to(State.WAITING, Do.SEND),
    # It waits for values already.
    (State.WAITING, Trigger.FREED): _to(State.WAITING),
    (State.WAITING, Trigger.CHANGED): _to(State.WAITING, Do.WITHDRAW),
    (State.WAITING, Trigger.END): _to(State.LEAVING, Do.WITHDRAW),
    (State.PAUSING, Trigger.OVER): _to(State.BETWEEN),
    (State.PAUSING, Trigger.ACKED): _to(State.PAUSING, Do.SEND),
    (State.PAUSING, Trigger.END): _to(State.LEAVING, Do.WAKE),
    **_changes(State.PAUSING, Do.WAKE, to=State.BETWEEN),
    # Whatever was under way ends, and no round follows. A call that failed gives back the acks that it carried.
    (State.LEAVING, Trigger.NOTHING): _to(State.LEAVING),
    (State.LEAVING, Trigger.WANTED): _to(State.LEAVING),
    (State.LEAVING, Trigger.TOOK): _to(State.LEAVING),
    (State.LEAVING, Trigger.MORE): _to(State.LEAVING),
    (State.LEAVING, Trigger.STALE): _to(State.LEAVING, Do.PASS_ON),
    (State.LEAVING, Trigger.REFUSED): _to(State.LEAVING, Do.PASS_ON),
    (State.LEAVING, Trigger.OVER): _to(State.LEAVING),
    (State.LEAVING, Trigger.ACKED): _to(State.LEAVING, Do.SEND),
    (State.LEAVING, Trigger.END): _to(State.LEAVING),
    **_changes(State.LEAVING),
    (State.ENDED, Trigger.ACKED): _to(State.ENDED, Do.SEND),
    (State.ENDED, Trigger.END): _to(State.ENDED),
    **_changes(State.ENDED),
    # The end of an event loop may come at any time.
    **{(state, Trigger.GONE): _to(State.ENDED, Do.FINISH) for state in State if state is not State.ENDED},
    **{(state, Trigger.GONE): _to(State.ENDED, Do.PASS_ON, Do.FINISH) for state in _HAVING_ACKS},
}


@lru_cache
def _alike(to_do: tuple[Do, ...]) -> tuple[Action, ...]:
    """Actions without acks are made once."""
    return tuple(Action(do) for do in to_do)


#: Between two tries, when Redis refuses to give anything.
PAUSE: Final = 1.0


class FetchPlan:
    """Decides for the fetcher of one queue. Not thread-safe: its driver calls it under a mutex."""

    def __init__(self) -> None:
        self.state = State.BETWEEN
        #: Whether other values may be wanted than at the beginning of the round.
        self.is_stale = False
        #: Whether Redis refused the last round.
        self.is_refused = False
        self._can_join = False
        #: When one call may ack and receive again.
        self.joins_from = 0.0
        self._waits_since = 0.0
        #: Acks for the next call.
        self.kept: list[Any] = []
        # Acks of the call that is under way.
        self._carried: list[Any] = []

    @property
    def ends(self) -> bool:
        """Whether no further round begins."""
        return self.state in (State.LEAVING, State.ENDED)

    def has_waited(self, now: float) -> bool:
        """Whether it has waited for so long that Redis has not refused the wait."""
        return self.state is State.WAITING and now - self._waits_since > PAUSE

    def is_well(self, now: float) -> bool:
        """Whether it receives, and Redis does not refuse that."""
        return not self.ends and (self.has_waited(now) or not self.is_refused)

    # -- rounds ------------------------------------------------------------------------------------------------------

    def new_round(self) -> None:
        """A round begins. A change from here on counts as a change in the round."""
        self.is_stale = False

    def counted(self, is_wanted: bool, now: float) -> tuple[Action, ...]:
        """Whether values are wanted. That was counted after :meth:`new_round`."""
        self._waits_since = now
        if not is_wanted:
            return self._step(Trigger.NOTHING)
        return self._step(Trigger.JOINS if self.state is State.CARRYING and self._joins(now) else Trigger.WANTED)

    def carried(self, most: int) -> list[Any]:
        """The acks for the call that is under way, at most so many."""
        self._carried, self.kept = self.kept[:most], self.kept[most:]
        return self._carried

    def noted(self) -> None:
        """The call has ended the leases of the acks that it carried."""
        self._carried = []

    def took(self, more: bool, now: float) -> tuple[Action, ...]:
        """Values came, or none did and the round is over. ``more`` stand behind the values in their queue."""
        return self._step(Trigger.MORE if more and self._joins(now) else Trigger.TOOK)

    def missed(self, now: float, *, refused_until: float = 0.0) -> tuple[Action, ...]:
        """No value came. The acks that were carried are not noted. None is carried before ``refused_until``."""
        self._give_back()
        self.joins_from = max(self.joins_from, refused_until)
        self._waits_since = now
        return self._step(Trigger.STALE if self.is_stale else Trigger.MISSED)

    def refused(self) -> tuple[Action, ...]:
        """The round failed."""
        self._give_back()
        self.is_refused = True
        return self._step(Trigger.REFUSED)

    def went_well(self) -> None:
        """The round is over, and Redis has not refused it."""
        self.is_refused = False

    def closed(self) -> tuple[Action, ...]:
        """The wait was ended: by a change, or by somebody else who closed the client."""
        if not self.is_stale:
            return self.refused()
        self._give_back()
        return self._step(Trigger.STALE)

    def happened(self, trigger: Trigger) -> tuple[Action, ...]:
        """Any trigger without details: ``OVER`` and ``SHORT``."""
        return self._step(trigger)

    def gone(self) -> tuple[Action, ...]:
        """The last round is over."""
        self._give_back()
        return self._step(Trigger.GONE)

    # -- from outside ------------------------------------------------------------------------------------------------

    def acked(self, ack: Any) -> tuple[Action, ...]:
        """A handling acks."""
        actions = self._step(Trigger.ACKED)
        if actions[0].do is Do.KEEP:
            self.kept.append(ack)
            return actions
        return (Action(actions[0].do, [ack]), *actions[1:])

    def changed(self, *, can_join: bool | None = None) -> tuple[Action, ...]:
        """Other values may be wanted. ``can_join`` tells whether the queue's receives may carry acks from now on."""
        if can_join is not None:
            self._can_join = can_join
        self.is_stale = True
        return self._step(Trigger.CHANGED)

    def freed(self) -> tuple[Action, ...]:
        """Values are wanted again."""
        return self._step(Trigger.FREED)

    def end(self) -> tuple[Action, ...]:
        """Nothing is to be received any more."""
        self.is_stale = True
        return self._step(Trigger.END)

    def _joins(self, now: float) -> bool:
        return self._can_join and now >= self.joins_from

    def _step(self, trigger: Trigger) -> tuple[Action, ...]:
        self.state, to_do = TRANSITIONS[self.state, trigger]
        if Do.PASS_ON not in to_do:
            return _alike(to_do)
        return tuple(Action(do, self._passed_on() if do is Do.PASS_ON else ()) for do in to_do)

    def _passed_on(self) -> list[Any]:
        passed_on, self.kept = self.kept, []
        return passed_on

    def _give_back(self) -> None:
        self.kept, self._carried = [*self._carried, *self.kept], []
