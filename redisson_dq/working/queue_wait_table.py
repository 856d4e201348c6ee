"""The wait of a worker for one queue of many: in line or not, and when it is looked at, decided without any I/O.

Theory of operation. One fetcher receives for all queues of a worker. For each queue it has a :class:`QueueWaitTable`.
It feeds triggers into it, and carries out the actions that it returns.

* Values are wanted. A waiter enters the line of the queue, and stays there until a value comes. So a queue whose waiter
  is in line is known to be empty.
* Values came. The next waiter enters when values are wanted again.
* Slots are few, and more values are in the queue than have come. It is stocked then. Such queues are looked at in
  their order when a slot is free, and no waiter enters before a look has found nothing.
* Fewer values are wanted than a waiter would take. It leaves the line, and another one enters.
* Receiving fails. The queue is not asked for a moment. Others go on.

A waiter that leaves the line may still be answered with values. They count like any others. Values for a waiter that
was to leave for good go back.
"""

from __future__ import annotations

from typing import Final

from redisson_dq.scheduling.tables import TableEnum, stays

__all__ = ["TRANSITIONS", "Do", "QueueWaitTable", "State", "Trigger"]


class State(TableEnum):
    """The state of a wait."""

    RESTING = "no waiter in line"
    STOCKED = "no waiter in line, and values may be ready"
    WAITING = "a waiter is in line"
    LEAVING = "the waiter was asked to leave the line"
    PAUSING = "receiving failed, it is tried again later"
    PARTING = "the waiter was asked to leave the line for good"
    GONE = "nothing is received any more"


class Trigger(TableEnum):
    """An event of a wait."""

    WANTED = "values are wanted"
    FEWER = "fewer values are wanted than the waiter takes"
    TOOK = "values came"
    MORE = "values came: more may be ready"
    UNWANTED = "values came that are not wanted: they go back"
    MISSED = "no value came"
    FAILED = "receiving failed"
    OVER = "pause over"
    END = "asked to end"


class Do(TableEnum):
    """An action for the driver."""

    ENTER = "enter the line"
    WITHDRAW = "leave the line"
    PAUSE = "pause"
    FORGET = "forget the wait"


_Row = tuple[State, tuple[Do, ...]]


#: (state, trigger) -> (next state, actions). A pair that is not listed cannot occur.
TRANSITIONS: Final[dict[tuple[State, Trigger], _Row]] = {
    (State.RESTING, Trigger.WANTED): (State.WAITING, (Do.ENTER,)),
    (State.RESTING, Trigger.END): (State.GONE, (Do.FORGET,)),
    **stays(State.STOCKED, Trigger.WANTED),
    (State.STOCKED, Trigger.TOOK): (State.RESTING, ()),
    (State.STOCKED, Trigger.MORE): (State.STOCKED, ()),
    (State.STOCKED, Trigger.MISSED): (State.RESTING, ()),
    (State.STOCKED, Trigger.FAILED): (State.PAUSING, (Do.PAUSE,)),
    (State.STOCKED, Trigger.END): (State.GONE, (Do.FORGET,)),
    (State.WAITING, Trigger.FEWER): (State.LEAVING, (Do.WITHDRAW,)),
    (State.WAITING, Trigger.TOOK): (State.RESTING, ()),
    (State.WAITING, Trigger.MORE): (State.STOCKED, ()),
    (State.WAITING, Trigger.UNWANTED): (State.STOCKED, ()),
    (State.WAITING, Trigger.MISSED): (State.RESTING, ()),
    (State.WAITING, Trigger.FAILED): (State.PAUSING, (Do.PAUSE,)),
    (State.WAITING, Trigger.END): (State.PARTING, (Do.WITHDRAW,)),
    # Its answer is on the way. The wanted values are counted again when that has come.
    **stays(State.LEAVING, Trigger.WANTED),
    (State.LEAVING, Trigger.TOOK): (State.RESTING, ()),
    (State.LEAVING, Trigger.MORE): (State.STOCKED, ()),
    (State.LEAVING, Trigger.UNWANTED): (State.STOCKED, ()),
    (State.LEAVING, Trigger.MISSED): (State.RESTING, ()),
    (State.LEAVING, Trigger.FAILED): (State.PAUSING, (Do.PAUSE,)),
    (State.LEAVING, Trigger.END): (State.PARTING, ()),
    **stays(State.PAUSING, Trigger.WANTED),
    (State.PAUSING, Trigger.OVER): (State.RESTING, ()),
    (State.PAUSING, Trigger.END): (State.GONE, (Do.FORGET,)),
    # The end of a fetcher waits for each answer.
    **{
        (State.PARTING, trigger): (State.GONE, (Do.FORGET,))
        for trigger in (Trigger.UNWANTED, Trigger.MISSED, Trigger.FAILED)
    },
}


class QueueWaitTable:
    """Decides for one queue. Only its driver calls it."""

    def __init__(self, *, is_stocked: bool = False) -> None:
        """Where it ``is_stocked``, the queue is looked at before its first waiter enters the line."""
        self.state = State.STOCKED if is_stocked else State.RESTING

    @property
    def ends(self) -> bool:
        """Whether it takes no further values."""
        return self.state in (State.PARTING, State.GONE)

    def happened(self, trigger: Trigger) -> tuple[Do, ...]:
        """Returns the actions for a trigger."""
        self.state, to_do = TRANSITIONS[self.state, trigger]
        return to_do
