"""One queue's transfer task: a client's knowledge of the queue between its transfers."""

from __future__ import annotations

import logging
from collections.abc import Hashable

import attrs

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.moving.arrivals import Arrivals
from redisson_dq._async.moving.departure import Departure
from redisson_dq._async.moving.tidying import Tidying
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.scheduling.engine import Action, Engine, Role
from redisson_dq.scheduling.hints import Hints
from redisson_dq.scheduling.pace import Pace
from redisson_dq.wire.keys import QueueKeys

__all__ = ["Decided", "Task"]

logger = logging.getLogger("redisson_dq")

# After this many failures in succession the hints may be the cause, and the queue counts as one that does not move.
_FAILURES = 2


@attrs.frozen
class Decided:
    """Actions of an engine, and the time at which it decided."""

    actions: tuple[Action, ...] = ()
    at_us: int = 0


@attrs.define(eq=False)
class Task:
    """The state of one queue's transfers. Only the driver's background task uses it."""

    keys: QueueKeys
    #: The queue's name, as it is reported to observers.
    name: str
    engine: Engine
    connections: Connections
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
    #: Where due entries are in the list, as far as this client knows.
    hints: Hints = attrs.field(factory=Hints)
    #: How fast its server works.
    pace: Pace = attrs.field(factory=Pace)
    #: Whether Redis has answered a transfer, and reported this client's role.
    has_role: bool = False
    #: Why Redis refused the last transfer.
    refusal: Hashable = None
    #: The role that was last reported to observers.
    told_role: Role | None = None
    # How many transfers have failed since the last one that moved due items, and the error that was logged last.
    _failures: int = 0
    _logged: str = ""

    def answered(self, us: int, moved: int, step: tuple[object, ...]) -> bool:
        """Learns from the time of a transfer. True if its server may be slow, and the way must be measured."""
        self.connections.outage.ended(self.keys.channel)
        self.connections.tries.succeeded(self)
        self.has_role = True
        may_be_slow = self.pace.took(us, worked=bool(moved or self.hints.is_passing))
        self.hints.answered(*step)  # type: ignore[arg-type]
        # A call of a pass moves nothing, so it does not show that the queue moves.
        if self._failures and not self.hints.is_passing:
            if self._failures >= _FAILURES:
                logger.warning(
                    "queue %r: its due items are moved again, after %d failures", self.keys.ready, self._failures
                )
            self._failures, self._logged = 0, ""
            self.connections.refusals.ended(self.keys.channel)
        return may_be_slow

    def failed(self, error: Exception, tried: float) -> bool:
        """Notes that a transfer has failed that began at ``tried``. True when the hints are forgotten, as they may be
        the cause.
        """
        self.hints.forget()
        if isinstance(error, RedisConnectionError):
            self.connections.outage.began(self.keys.channel, error, tried)
            logger.debug("queue %r: a transfer failed and will be retried: %s", self.keys.ready, error)
            return False
        # Redis has answered, or a defect of ours has shown.
        self.connections.outage.ended(self.keys.channel)
        self._failures += 1
        # A queue may be refused for hours.
        is_known = self._failures > _FAILURES and str(error) == self._logged
        self._logged = str(error)
        logger.log(
            logging.DEBUG if is_known else logging.WARNING,
            "queue %r: a transfer failed and will be retried: %s",
            self.keys.ready,
            error,
            exc_info=not isinstance(error, RedissonDQError),
        )
        if self._failures >= _FAILURES:
            what = f"its due items are not moved (key {self.keys.timeout!r})"
            self.connections.refusals.began(self.keys.channel, self.keys.ready, what, error)
        if self._failures != _FAILURES:
            return False
        self.hints, self.pace = Hints(), Pace()
        logger.warning(
            "queue %r: %d transfers in a row have failed; what was learned about the server and the entries in %r "
            "is dropped, and the next transfer uses the defaults: %s",
            self.keys.ready,
            self._failures,
            self.keys.timeout,
            error,
        )
        return True

    def closed(self) -> None:
        """The queue is not moved here any more."""
        self.tidying.close()
        self.connections.outage.gave_up(self.keys.channel)
        self.connections.refusals.ended(self.keys.channel)
        self.connections.tries.forget(self)
