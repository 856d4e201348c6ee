"""The end of a handling: which of several causes counts, decided without any I/O.

Theory of operation. A handling is a handler at work on one value, or on a batch. It occupies a slot of its handler.
Four things may end it: the handler returns, its time is over, its leases are lost, or the worker stops. They come from
different threads, and may come at one time. The driver feeds each of them as a trigger into a :class:`HandlingTable`.
It carries out the actions that the table returns. So the first trigger decides, and the others find the decision made.

* The handler returned or raised. Its thread concludes: it settles each value by its outcome, and frees the slot.
* The time was over. The handler may never return, so the slot is free at once, and another thread concludes.
* Every lease was lost. Other workers have the values, so nothing is settled here.
* The worker stops, and waits no longer. The values of a handler that still runs are handed back. A handler that has
  returned has decided, so its outcomes get a little time more. A second stop ends that time.

The end of an event loop is not one of these causes: it cancels the handler's task, and the leases end by their
deadlines.

A value that is given up needs ``on_failed`` first, which is a function of the user's and may take a long time.
Meanwhile a stop hands back all values that are not settled yet. A stop that comes between two values finds no function
to interrupt. The next value that is given up is then handed back, and ``on_failed`` is not called any more.

Each value is settled once. :meth:`HandlingTable.settles` is true for the first one that asks.
"""

from __future__ import annotations

from typing import Final

import attrs

from redisson_dq.scheduling.tables import TableEnum, stays

__all__ = ["TRANSITIONS", "Do", "HandlingAction", "HandlingTable", "State", "Trigger"]


class State(TableEnum):
    """The state of a handling."""

    RUNNING = "the handler runs, or waits for a thread"
    CONCLUDING = "the handler has ended, and its values are settled one by one"
    ON_FAILED_RUNS = "`on_failed` runs for one of the values"
    STOPPING = "the worker stops while the values are settled"
    LATE = "the time was over: the values are settled without a slot, beside the handler"
    SETTLED = "nothing is left to do"
    OVERDUE = "nothing is left to do, and the time was over before the handler returned"


class Trigger(TableEnum):
    """An event of a handling."""

    RETURNED = "handler returned or raised"
    CANCELLED = "handler's task cancelled"
    EXPIRED = "time over"
    LEASE_LOST = "lease of one value lost"
    LAST_LEASE_LOST = "last lease lost"
    STOPPED = "worker stops"
    GIVEN_UP = "a value is given up, and has an `on_failed`"
    ON_FAILED_RETURNED = "`on_failed` returned"
    ON_FAILED_RAISED = "`on_failed` raised"
    CONCLUDED = "all values dealt with"
    BROKEN_OFF = "conclusion broken off"


class Do(TableEnum):
    """An action for the driver."""

    CONCLUDE = "conclude"
    CONCLUDE_APART = "conclude in another thread"
    VOID = "tell the handler of the value"
    CANCEL = "cancel the handler"
    TELL_LATE = "tell of the timeout"
    TELL_LOST = "tell of the loss"
    HAND_BACK = "hand back what is not settled"
    CALL = "call `on_failed`"
    BURY = "bury the value"
    LET_EXPIRE = "leave the value leased"
    FREE = "free the slot"
    FORGET = "forget the handling"


@attrs.frozen
class HandlingAction:
    """One thing to do. ``places`` are those of the values that it is about, in the order of the batch."""

    do: Do
    places: tuple[int, ...] = ()


_Row = tuple[State, tuple[Do, ...]]


#: (state, trigger) -> (next state, actions). A pair that is not listed cannot occur.
TRANSITIONS: Final[dict[tuple[State, Trigger], _Row]] = {
    (State.RUNNING, Trigger.RETURNED): (State.CONCLUDING, (Do.CONCLUDE,)),
    # The loop ends. The leases end by their deadlines.
    (State.RUNNING, Trigger.CANCELLED): (State.SETTLED, (Do.FREE, Do.FORGET)),
    (State.RUNNING, Trigger.EXPIRED): (State.LATE, (Do.CANCEL, Do.TELL_LATE, Do.CONCLUDE_APART, Do.FREE)),
    (State.RUNNING, Trigger.LEASE_LOST): (State.RUNNING, (Do.VOID,)),
    (State.RUNNING, Trigger.LAST_LEASE_LOST): (State.SETTLED, (Do.CANCEL, Do.TELL_LOST, Do.FREE, Do.FORGET)),
    (State.RUNNING, Trigger.STOPPED): (State.SETTLED, (Do.CANCEL, Do.HAND_BACK, Do.FREE, Do.FORGET)),
    # From here on the outcome is final. The call that settles a value finds out that its lease was lost.
    **stays(State.CONCLUDING, Trigger.EXPIRED, Trigger.LEASE_LOST, Trigger.LAST_LEASE_LOST),
    (State.CONCLUDING, Trigger.STOPPED): (State.STOPPING, ()),
    (State.CONCLUDING, Trigger.GIVEN_UP): (State.ON_FAILED_RUNS, (Do.CALL,)),
    (State.CONCLUDING, Trigger.CONCLUDED): (State.SETTLED, (Do.FREE, Do.FORGET)),
    (State.CONCLUDING, Trigger.BROKEN_OFF): (State.SETTLED, (Do.FREE, Do.FORGET)),
    **stays(State.ON_FAILED_RUNS, Trigger.EXPIRED, Trigger.LEASE_LOST, Trigger.LAST_LEASE_LOST),
    (State.ON_FAILED_RUNS, Trigger.STOPPED): (State.SETTLED, (Do.CANCEL, Do.HAND_BACK, Do.FREE, Do.FORGET)),
    (State.ON_FAILED_RUNS, Trigger.ON_FAILED_RETURNED): (State.CONCLUDING, (Do.BURY,)),
    # The value comes again at the deadline of its lease.
    (State.ON_FAILED_RUNS, Trigger.ON_FAILED_RAISED): (State.CONCLUDING, (Do.LET_EXPIRE,)),
    (State.ON_FAILED_RUNS, Trigger.BROKEN_OFF): (State.SETTLED, (Do.FREE, Do.FORGET)),
    # The outcomes of the other values are known, and take little time.
    **stays(State.STOPPING, Trigger.EXPIRED, Trigger.LEASE_LOST, Trigger.LAST_LEASE_LOST),
    # A hook, or a function for a backoff, has not returned.
    (State.STOPPING, Trigger.STOPPED): (State.SETTLED, (Do.HAND_BACK, Do.FREE, Do.FORGET)),
    (State.STOPPING, Trigger.GIVEN_UP): (State.STOPPING, (Do.HAND_BACK,)),
    (State.STOPPING, Trigger.CONCLUDED): (State.SETTLED, (Do.FREE, Do.FORGET)),
    (State.STOPPING, Trigger.BROKEN_OFF): (State.SETTLED, (Do.FREE, Do.FORGET)),
    # The handler may still end, and its outcome does not count.
    **stays(State.LATE, Trigger.RETURNED, Trigger.CANCELLED, Trigger.LEASE_LOST, Trigger.LAST_LEASE_LOST),
    # Values of a conclusion that has not begun go back too.
    (State.LATE, Trigger.STOPPED): (State.OVERDUE, (Do.CANCEL, Do.HAND_BACK, Do.FORGET)),
    (State.LATE, Trigger.GIVEN_UP): (State.LATE, (Do.CALL,)),
    (State.LATE, Trigger.ON_FAILED_RETURNED): (State.LATE, (Do.BURY,)),
    (State.LATE, Trigger.ON_FAILED_RAISED): (State.LATE, (Do.LET_EXPIRE,)),
    (State.LATE, Trigger.CONCLUDED): (State.OVERDUE, (Do.FORGET,)),
    (State.LATE, Trigger.BROKEN_OFF): (State.OVERDUE, (Do.FORGET,)),
    # Calls that are under way end later, and find everything settled.
    **stays(State.SETTLED, *Trigger),
    # The time can be over only once.
    **stays(State.OVERDUE, *(trigger for trigger in Trigger if trigger is not Trigger.EXPIRED)),
}

# Actions on the value that the trigger names. The others are for all values of the handling.
_OF_ONE: Final = frozenset({Trigger.LEASE_LOST, Trigger.GIVEN_UP, Trigger.ON_FAILED_RETURNED, Trigger.ON_FAILED_RAISED})


# The places of nearly all handlings.
_ONE: Final = (0,)


class HandlingTable:
    """Decides for one handling of ``count`` values. Not thread-safe: its driver calls it under a mutex."""

    __slots__ = ("_lost", "_places", "state", "unsettled")

    def __init__(self, count: int) -> None:
        self.state = State.RUNNING
        self._places = _ONE if count == 1 else tuple(range(count))
        #: The places of the values that nobody has settled yet.
        self.unsettled = set(self._places)
        # How many leases are lost.
        self._lost = 0

    @property
    def holds_slot(self) -> bool:
        """Whether it occupies a slot of its handler."""
        return self.state not in (State.LATE, State.SETTLED, State.OVERDUE)

    @property
    def is_late(self) -> bool:
        """Whether its time was over before its handler returned. That is final, whatever the handler does later."""
        return self.state in (State.LATE, State.OVERDUE)

    def lost(self, place: int) -> tuple[HandlingAction, ...]:
        """The lease of one value is lost. With the last one the handling ends."""
        self._lost += 1
        is_last = self._lost == len(self._places)
        return self.happened(Trigger.LAST_LEASE_LOST if is_last else Trigger.LEASE_LOST, place)

    def happened(self, trigger: Trigger, place: int = 0) -> tuple[HandlingAction, ...]:
        """Any other trigger. ``place`` is that of the value that it is about."""
        self.state, to_do = TRANSITIONS[self.state, trigger]
        places = (place,) if trigger in _OF_ONE else self._places
        return tuple(HandlingAction(do, self._settled(places) if do is Do.HAND_BACK else places) for do in to_do)

    def finishes(self) -> bool:
        """The handler returned, and its only value is done: all of that in one step.

        False where something else has decided. The caller settles the value.
        """
        if self.state is not State.RUNNING or not self.unsettled:
            return False
        self.state = State.SETTLED
        self.unsettled.clear()
        return True

    def settles(self, place: int) -> bool:
        """Whether the value is still to be settled. The caller settles it: no second one gets True."""
        if place not in self.unsettled:
            return False
        self.unsettled.discard(place)
        return True

    def _settled(self, places: tuple[int, ...]) -> tuple[int, ...]:
        found = tuple(place for place in places if place in self.unsettled)
        self.unsettled.difference_update(found)
        return found
