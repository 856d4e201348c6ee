"""The background task that moves the due items of one queue."""

from __future__ import annotations

import attrs

from redisson_dq._async.moving.arrivals import Arrivals
from redisson_dq._async.moving.departure import Departure
from redisson_dq._async.moving.tidying import Tidying
from redisson_dq.observing.transfer_record import TransferRecord
from redisson_dq.scheduling.engine import Action

__all__ = ["Decided", "Task"]


@attrs.frozen
class Decided:
    """Actions of an engine, and the time at which it decided."""

    actions: tuple[Action, ...] = ()
    at_us: int = 0


@attrs.define(eq=False)
class Task(TransferRecord):
    """The state of one queue's transfers. Only the driver's background task uses it."""

    #: Drops records beyond their time.
    tidying: Tidying
    #: Handles and workers that need it.
    holders: set[object] = attrs.field(factory=set)
    #: Whether a look at the head is already in the inbox.
    looking: bool = False
    #: Values moved to a receiver and not leased yet.
    arrivals: Arrivals = attrs.field(default=attrs.Factory(lambda task: Arrivals(task.keys), takes_self=True))
    #: The departure of the transfer that the timer leads to, where its time is known to the microsecond.
    departure: Departure | None = None

    def closed(self) -> None:
        self.tidying.close()
        super().closed()
