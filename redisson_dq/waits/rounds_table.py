"""The rounds of a receiver of several sources, each with a pump of its own: the decisions, without any I/O.

Theory of operation. Callers wait for a value of any of the sources. One background task takes for them
(``_async/receiving/round_robin.py``). It feeds triggers into a :class:`RoundsTable` under the mutex of the line, and
carries out the actions that the table returns.

* Somebody waits. The background task looks at all sources without a blocked pop, and takes ready values (``LOOKING``).
* Nothing was ready. The pumps block for the callers, and the background task waits for its bell (``IDLE``).
* The look failed. The pumps try as well, and retry or tell. No caller is told meanwhile that nothing is there.
* Nobody waits any more. The pops stay blocked for a moment (``STAYING``), for callers who come back.
* Nobody came (``LINGERED``). The pops end, and the background task leaves.

Callers ring the bell without the mutex, and check whether the background task runs after that. So one that leaves is at
rest first, and hears its bell once more (``HEARS_BELL``).

Which sources were full at the last look is no state: it stands where the look is made, and saves a command.
"""

from __future__ import annotations

from typing import Final

from redisson_dq.scheduling.tables import TableEnum, stays

__all__ = ["TRANSITIONS", "Do", "RoundsTable", "State", "Trigger"]


class State(TableEnum):
    """The background task of a round-robin receiver."""

    RESTING = "there is none"
    CHOOSING = "it chooses what to do"
    LOOKING = "it takes ready values of sources without a blocked pop"
    IDLE = "somebody waits at blocked pops, it waits for its bell"
    STAYING = "nobody waits, and the pops stay blocked for a moment"
    LINGERED = "nobody came in that moment, it is about to leave"


class Trigger(TableEnum):
    """An event, as the table reads it."""

    # From others.
    WORK = "somebody may wait"
    CLOSED = "closed: nobody comes any more"
    # Chosen by the background task.
    LOOKS = "chosen: somebody waits, and a source has no blocked pop"
    WAITS = "chosen: somebody waits, and nothing is to be done"
    STAYS = "chosen: nobody waits"
    PARTS = "chosen: nobody came"
    RETIRES = "chosen: closed"
    # The outcome of an action.
    FOUND = "the look took values, or others did"
    MISSED = "the look found nothing, or failed"
    RANG = "the bell rang"
    LINGERED = "the bell did not ring for a moment"
    HEARS_BELL = "it hears its bell on the way out"


class Do(TableEnum):
    """An action of the receiver."""

    START = "start the background task"
    RING = "ring the bell"
    LOOK = "look"
    BLOCK = "let the pumps block"
    ANSWER = "answer the callers whose time is over"
    WAIT = "wait for the bell"
    STAY = "wait for the bell for a moment"
    END_POPS = "let the pops end"
    LEAVE = "leave"


_Row = tuple[State, tuple[Do, ...]]

_FROM_OTHERS: Final = (Trigger.WORK, Trigger.CLOSED)
_CHOICES: Final = (State.CHOOSING, State.LINGERED)
_WAITS: Final = (State.IDLE, State.STAYING)

#: (state, trigger) -> (next state, actions). A pair that is not listed cannot happen.
TRANSITIONS: Final[dict[tuple[State, Trigger], _Row]] = {
    (State.RESTING, Trigger.WORK): (State.CHOOSING, (Do.START,)),
    **stays(State.RESTING, Trigger.CLOSED),
    (State.RESTING, Trigger.HEARS_BELL): (State.CHOOSING, ()),
    # Callers ring the bell themselves, but others may have emptied the inbox since.
    **{(state, trigger): (state, (Do.RING,)) for state in _WAITS for trigger in _FROM_OTHERS},
    # It chooses after that.
    **{(state, trigger): (state, ()) for state in (*_CHOICES, State.LOOKING) for trigger in _FROM_OTHERS},
    **{(state, Trigger.LOOKS): (State.LOOKING, (Do.LOOK,)) for state in _CHOICES},
    **{(state, Trigger.WAITS): (State.IDLE, (Do.WAIT,)) for state in _CHOICES},
    **{(state, Trigger.RETIRES): (State.RESTING, (Do.LEAVE,)) for state in _CHOICES},
    (State.CHOOSING, Trigger.STAYS): (State.STAYING, (Do.STAY,)),
    (State.LINGERED, Trigger.PARTS): (State.RESTING, (Do.END_POPS, Do.LEAVE)),
    (State.LOOKING, Trigger.FOUND): (State.CHOOSING, (Do.ANSWER,)),
    (State.LOOKING, Trigger.MISSED): (State.CHOOSING, (Do.BLOCK, Do.ANSWER)),
    (State.IDLE, Trigger.RANG): (State.CHOOSING, ()),
    (State.STAYING, Trigger.RANG): (State.CHOOSING, ()),
    (State.STAYING, Trigger.LINGERED): (State.LINGERED, ()),
}


class RoundsTable:
    """Decides for one receiver. Not thread-safe: its callers hold the mutex of the line."""

    def __init__(self) -> None:
        self.state = State.RESTING

    @property
    def is_running(self) -> bool:
        """Whether there is a background task."""
        return self.state is not State.RESTING

    @property
    def is_looking(self) -> bool:
        """Whether a look is under way."""
        return self.state is State.LOOKING

    def choice(self, *, is_unserved: bool, anyone: bool, closed: bool) -> Trigger:
        """Classifies the work that is left.

        ``is_unserved``: a command has to be sent for somebody, and a source has no blocked pop. ``anyone`` waits.
        """
        if is_unserved:
            return Trigger.LOOKS
        if closed:
            return Trigger.RETIRES
        if anyone:
            return Trigger.WAITS
        return Trigger.PARTS if self.state is State.LINGERED else Trigger.STAYS

    def happened(self, trigger: Trigger) -> tuple[Do, ...]:
        """Gives the actions for a trigger."""
        self.state, to_do = TRANSITIONS[self.state, trigger]
        return to_do
