"""Whether a handler can take the next value: free, gathering a batch, full or passed. The table, without any I/O.

Theory of operation. A worker that runs has a post (``post.py``) for each handler that was declared. A post knows how
many slots of its handler are taken, and the values of the batch that is being gathered. The driver feeds triggers into
the roster (``roster.py``), and carries out the actions that it returns.

* A value came. It begins a handling, joins a batch, or is turned away when no slot is free.
* A batch is full, or its time is over. It begins.
* A slot was freed. Values are wanted again.
* The worker stops, or the queue is closed. The values of a batch that has not begun go back.

The next value in a queue may be for any handler, and Redis returns values only in order. So a handler without a free
slot holds up the others of its queue. After a moment they pass it: the worker receives for them, and turns away the
values of the full handler. These are parked: they wait like delayed items, and come again. The pause grows with the
time for which the handler has been full. When many are parked, the last one comes late. The full handler then holds up
the others again until that time is near.

A batch that is being gathered holds a slot. So a post that gathers is never full. Only a value that has failed before
its handler was called may take a slot beyond the limit: it is handled by itself, while the others wait for more.

Time comes in as an argument, in seconds of any clock that never steps.
"""

from __future__ import annotations

from typing import Final

from redisson_dq.scheduling.tables import TableEnum, stays

__all__ = ["TRANSITIONS", "Do", "State", "Trigger"]


class State(TableEnum):
    """Whether a handler can take the next value."""

    FREE = "a slot is free"
    GATHERING = "a batch is being gathered, and holds a slot"
    FULL = "no slot is free: the other handlers of the queue are held up"
    PASSED = "no slot has been free for a while: the others go on"


class Trigger(TableEnum):
    """An event of a handler's post."""

    CAME = "a value came, for itself"
    JOINED = "a value came, for a batch"
    FILLED = "a value came: the batch is full"
    UNADMITTED = "a value came that is not let in"
    TAKEN = "last slot taken: others share the queue"
    TAKEN_ALONE = "last slot taken: nobody shares the queue"
    SHARED = "another handler shares the queue"
    ALONE = "nobody shares the queue any more"
    FREED = "slot freed"
    EASED = "slot beyond the limit freed"
    DUE = "the moment has come"
    FAR = "parked values come late"
    DROPPED = "batches are given up"


class Do(TableEnum):
    """An action for the driver."""

    GATHER = "gather the value"
    BEGIN = "begin a handling"
    TURN_AWAY = "turn the value away"
    ARM = "arm the deadline"
    FETCH = "have values fetched again"
    RECOUNT = "have fewer values fetched"
    RETURN = "return the batch"


_Row = tuple[State, tuple[Do, ...]]


#: (state, trigger) -> (next state, actions). A pair that is not listed cannot occur.
TRANSITIONS: Final[dict[tuple[State, Trigger], _Row]] = {
    (State.FREE, Trigger.CAME): (State.FREE, (Do.BEGIN,)),
    (State.FREE, Trigger.JOINED): (State.GATHERING, (Do.GATHER, Do.ARM)),
    (State.FREE, Trigger.FILLED): (State.FREE, (Do.GATHER, Do.BEGIN)),
    (State.FREE, Trigger.UNADMITTED): (State.FREE, (Do.TURN_AWAY,)),
    (State.FREE, Trigger.TAKEN): (State.FULL, (Do.ARM,)),
    (State.FREE, Trigger.TAKEN_ALONE): (State.FULL, ()),
    (State.FREE, Trigger.FREED): (State.FREE, (Do.FETCH,)),
    **stays(State.FREE, Trigger.SHARED, Trigger.ALONE, Trigger.DROPPED),
    # A value of a batch handler that has failed already is handled by itself.
    (State.GATHERING, Trigger.CAME): (State.GATHERING, (Do.BEGIN,)),
    (State.GATHERING, Trigger.JOINED): (State.GATHERING, (Do.GATHER,)),
    (State.GATHERING, Trigger.FILLED): (State.FREE, (Do.GATHER, Do.BEGIN)),
    (State.GATHERING, Trigger.UNADMITTED): (State.GATHERING, (Do.TURN_AWAY,)),
    # The fetcher may wait for as many values as the batch lacked.
    (State.GATHERING, Trigger.DUE): (State.FREE, (Do.BEGIN, Do.RECOUNT)),
    (State.GATHERING, Trigger.FREED): (State.GATHERING, (Do.FETCH,)),
    (State.GATHERING, Trigger.EASED): (State.GATHERING, (Do.FETCH,)),
    **stays(State.GATHERING, Trigger.SHARED, Trigger.ALONE),
    (State.GATHERING, Trigger.DROPPED): (State.FREE, (Do.RETURN,)),
    # A full handler turns away. The next value may be for another handler, and waits after it.
    (State.FULL, Trigger.CAME): (State.FULL, (Do.TURN_AWAY,)),
    (State.FULL, Trigger.JOINED): (State.FULL, (Do.TURN_AWAY,)),
    (State.FULL, Trigger.FILLED): (State.FULL, (Do.TURN_AWAY,)),
    (State.FULL, Trigger.UNADMITTED): (State.FULL, (Do.TURN_AWAY,)),
    (State.FULL, Trigger.DUE): (State.PASSED, (Do.FETCH,)),
    (State.FULL, Trigger.FREED): (State.FREE, (Do.FETCH,)),
    (State.FULL, Trigger.EASED): (State.FULL, (Do.FETCH,)),
    (State.FULL, Trigger.SHARED): (State.FULL, (Do.ARM,)),
    **stays(State.FULL, Trigger.ALONE, Trigger.DROPPED),
    # Values of this handler come only because others are wanted.
    (State.PASSED, Trigger.CAME): (State.PASSED, (Do.TURN_AWAY,)),
    (State.PASSED, Trigger.JOINED): (State.PASSED, (Do.TURN_AWAY,)),
    (State.PASSED, Trigger.FILLED): (State.PASSED, (Do.TURN_AWAY,)),
    (State.PASSED, Trigger.UNADMITTED): (State.PASSED, (Do.TURN_AWAY,)),
    (State.PASSED, Trigger.FAR): (State.FULL, (Do.ARM,)),
    (State.PASSED, Trigger.FREED): (State.FREE, (Do.FETCH,)),
    (State.PASSED, Trigger.EASED): (State.PASSED, (Do.FETCH,)),
    **stays(State.PASSED, Trigger.SHARED),
    # No handler may pass. Values that still come go back to the head, in their order.
    (State.PASSED, Trigger.ALONE): (State.FULL, ()),
    **stays(State.PASSED, Trigger.DROPPED),
}
