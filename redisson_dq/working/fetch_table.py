"""How a worker receives next: which command follows, and which acks it carries. The tables, without any I/O.

Theory of operation. A fetcher receives for one queue of a worker, in one thread or task. It goes in rounds. At the
beginning of a round the driver tells the plan (``fetch_plan.py``) whether values are wanted. The plan says what to do:
sleep, wait, or ack and receive in one call. When that is over the driver tells the outcome. So one command is under way
at a time.

* Nothing is wanted, as no slot is free. Sleep until one is freed.
* Values are wanted. Wait for them.
* The round fails. Pause before the next one.

Handlers ack meanwhile. Where more values stood ready, the next round follows at once. Acks are then collected for it:
one call ends leases and takes the next values. A plan that collects acks either carries them in that call, or passes
them on. It collects none while it waits, so an ack never depends on a value that may not come.

The wanted values may change at any time: a batch lacks fewer values, a handler with a limit is added. A change in the
middle of a round ends its wait, or the wait does not begin.

Two smaller machines go on beside the rounds. The :class:`Count` of the wanted values holds, or a change has come since.
The :class:`Standing` tells whether the last round failed.

Time comes in as an argument, in seconds of any clock that never steps.
"""

from __future__ import annotations

from typing import Final

from redisson_dq.scheduling.tables import TableEnum, stays

__all__ = ["COUNTS", "STANDINGS", "TRANSITIONS", "Count", "Do", "Standing", "State", "Trigger"]


class State(TableEnum):
    """A state of the fetcher."""

    BETWEEN = "between two rounds"
    COLLECTING = "between two rounds, and acks are collected for the next one"
    IDLE = "no value is wanted"
    IDLE_COLLECTING = "no value is wanted, and the next ack is collected: it begins a round"
    JOINING = "one call acks and receives"
    WAITING = "waits for values"
    PAUSING = "a round failed, the next one follows later"
    ENDING = "was asked to end"
    ENDED = "nothing is received any more"


class Trigger(TableEnum):
    """An event of the fetcher."""

    NOTHING = "round: nothing is wanted"
    JOINS = "round: more is ready"
    WANTED = "round: values are wanted"
    DRAINED = "answered: no more values are known to be ready"
    MORE = "answered: more values are ready"
    MISSED = "no value came"
    STALE = "no value came: a change was meanwhile"
    FAILED = "receiving failed"
    OVER = "sleep or pause over"
    ACKED = "a handling acks"
    FREED = "values are wanted again"
    CHANGED = "other values are wanted"
    SHORT = "no thread to receive in"
    END = "asked to end"
    GONE = "last round over"
    # Beside the rounds. Only the smaller tables have them.
    BEGINS = "a round begins"
    WENT_WELL = "values came, and were handed over"


class Count(TableEnum):
    """The wanted values, as they were counted at the beginning of a round."""

    FRESH = "as many are wanted as were counted"
    STALE = "others may be wanted than were counted"


class Standing(TableEnum):
    """The standing with Redis."""

    WELL = "the last round has not failed"
    FAILED = "the last round has failed"


class Do(TableEnum):
    """An action for the driver."""

    SLEEP = "sleep"
    JOIN = "ack and receive"
    WAIT = "wait"
    PAUSE = "pause"
    WAKE = "wake the fetcher"
    WITHDRAW = "end the wait"
    COLLECT = "collect the ack"
    SEND = "send the ack"
    PASS_ON = "send all acks"
    FINISH = "finish"


_Row = tuple[State, tuple[Do, ...]]


def _to(state: State, *to_do: Do) -> _Row:
    return state, to_do


def _changes(state: State, *to_do: Do, to: State | None = None) -> dict[tuple[State, Trigger], _Row]:
    """The rows of a state in which every change has the same effect."""
    row = _to(to or state, *to_do)
    return {(state, Trigger.FREED): row, (state, Trigger.CHANGED): row}


# In these states acks may be collected, or be under way.
_HAVING_ACKS: Final = (State.COLLECTING, State.JOINING, State.ENDING)

#: (state, trigger) -> (next state, actions). A pair that is not listed cannot occur.
TRANSITIONS: Final[dict[tuple[State, Trigger], _Row]] = {
    # A change wakes the fetcher that is about to sleep.
    (State.BETWEEN, Trigger.NOTHING): _to(State.IDLE, Do.SLEEP),
    (State.BETWEEN, Trigger.WANTED): _to(State.WAITING, Do.WAIT),
    (State.BETWEEN, Trigger.FAILED): _to(State.PAUSING, Do.PAUSE),
    (State.BETWEEN, Trigger.OVER): _to(State.BETWEEN),
    (State.BETWEEN, Trigger.ACKED): _to(State.BETWEEN, Do.SEND),
    (State.BETWEEN, Trigger.END): _to(State.ENDING, Do.WAKE),
    **_changes(State.BETWEEN, Do.WAKE),
    # Acks are collected of handlers that end before the next round.
    (State.COLLECTING, Trigger.NOTHING): _to(State.IDLE_COLLECTING, Do.PASS_ON, Do.SLEEP),
    (State.COLLECTING, Trigger.JOINS): _to(State.JOINING, Do.JOIN),
    (State.COLLECTING, Trigger.WANTED): _to(State.WAITING, Do.PASS_ON, Do.WAIT),
    (State.COLLECTING, Trigger.FAILED): _to(State.PAUSING, Do.PASS_ON, Do.PAUSE),
    (State.COLLECTING, Trigger.OVER): _to(State.COLLECTING),
    (State.COLLECTING, Trigger.ACKED): _to(State.COLLECTING, Do.COLLECT),
    # The round begins when a handler has returned, and acks do not wait for that. The thread of that handler may have
    # begun the round before, so SHORT may come in every state.
    (State.COLLECTING, Trigger.SHORT): _to(State.BETWEEN, Do.PASS_ON),
    **{(state, Trigger.SHORT): (state, ()) for state in State if state is not State.COLLECTING},
    (State.COLLECTING, Trigger.END): _to(State.ENDING, Do.PASS_ON, Do.WAKE),
    **_changes(State.COLLECTING, Do.WAKE),
    (State.IDLE, Trigger.OVER): _to(State.BETWEEN),
    (State.IDLE, Trigger.ACKED): _to(State.IDLE, Do.SEND),
    (State.IDLE, Trigger.END): _to(State.ENDING, Do.WAKE),
    **_changes(State.IDLE, Do.WAKE, to=State.BETWEEN),
    # A handler that acks frees its slot a moment later.
    (State.IDLE_COLLECTING, Trigger.OVER): _to(State.COLLECTING),
    (State.IDLE_COLLECTING, Trigger.ACKED): _to(State.COLLECTING, Do.COLLECT, Do.WAKE),
    (State.IDLE_COLLECTING, Trigger.END): _to(State.ENDING, Do.WAKE),
    **_changes(State.IDLE_COLLECTING, Do.WAKE, to=State.COLLECTING),
    # Acks that come during the call go along with the next one.
    (State.JOINING, Trigger.DRAINED): _to(State.BETWEEN, Do.PASS_ON),
    (State.JOINING, Trigger.MORE): _to(State.COLLECTING),
    (State.JOINING, Trigger.MISSED): _to(State.WAITING, Do.PASS_ON, Do.WAIT),
    (State.JOINING, Trigger.STALE): _to(State.BETWEEN, Do.PASS_ON),
    (State.JOINING, Trigger.FAILED): _to(State.PAUSING, Do.PASS_ON, Do.PAUSE),
    (State.JOINING, Trigger.ACKED): _to(State.JOINING, Do.COLLECT),
    (State.JOINING, Trigger.END): _to(State.ENDING, Do.PASS_ON),
    **stays(State.JOINING, Trigger.FREED, Trigger.CHANGED),
    (State.WAITING, Trigger.DRAINED): _to(State.BETWEEN),
    (State.WAITING, Trigger.MORE): _to(State.COLLECTING),
    (State.WAITING, Trigger.STALE): _to(State.BETWEEN),
    (State.WAITING, Trigger.FAILED): _to(State.PAUSING, Do.PAUSE),
    (State.WAITING, Trigger.ACKED): _to(State.WAITING, Do.SEND),
    # It waits for values already.
    **stays(State.WAITING, Trigger.FREED),
    (State.WAITING, Trigger.CHANGED): _to(State.WAITING, Do.WITHDRAW),
    (State.WAITING, Trigger.END): _to(State.ENDING, Do.WITHDRAW),
    (State.PAUSING, Trigger.OVER): _to(State.BETWEEN),
    (State.PAUSING, Trigger.ACKED): _to(State.PAUSING, Do.SEND),
    (State.PAUSING, Trigger.END): _to(State.ENDING, Do.WAKE),
    **_changes(State.PAUSING, Do.WAKE, to=State.BETWEEN),
    # Whatever was under way ends, and no round follows. A call that failed gives back the acks that it carried.
    **stays(State.ENDING, Trigger.NOTHING, Trigger.WANTED, Trigger.DRAINED, Trigger.MORE, Trigger.OVER, Trigger.END),
    (State.ENDING, Trigger.STALE): _to(State.ENDING, Do.PASS_ON),
    (State.ENDING, Trigger.FAILED): _to(State.ENDING, Do.PASS_ON),
    (State.ENDING, Trigger.ACKED): _to(State.ENDING, Do.SEND),
    **stays(State.ENDING, Trigger.FREED, Trigger.CHANGED),
    (State.ENDED, Trigger.ACKED): _to(State.ENDED, Do.SEND),
    **stays(State.ENDED, Trigger.END, Trigger.FREED, Trigger.CHANGED),
    # The end of an event loop may come at any time.
    **{(state, Trigger.GONE): _to(State.ENDED, Do.FINISH) for state in State if state is not State.ENDED},
    **{(state, Trigger.GONE): _to(State.ENDED, Do.PASS_ON, Do.FINISH) for state in _HAVING_ACKS},
}

#: (count, trigger) -> the count from then on. Any other pair changes nothing.
COUNTS: Final[dict[tuple[Count, Trigger], Count]] = {
    (Count.STALE, Trigger.BEGINS): Count.FRESH,
    (Count.FRESH, Trigger.CHANGED): Count.STALE,
    (Count.FRESH, Trigger.END): Count.STALE,
}

#: (standing, trigger) -> the standing from then on. Any other pair changes nothing.
STANDINGS: Final[dict[tuple[Standing, Trigger], Standing]] = {
    (Standing.WELL, Trigger.FAILED): Standing.FAILED,
    (Standing.FAILED, Trigger.WENT_WELL): Standing.WELL,
}
