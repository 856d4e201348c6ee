"""How the transfers of one queue go: what is learned from each, and when their failures are reported."""

from __future__ import annotations

import logging
from collections.abc import Hashable
from datetime import timedelta

import attrs

from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.observing.happenings import Moved, RoleChanged
from redisson_dq.observing.observers import Observers
from redisson_dq.observing.outage import Outage
from redisson_dq.observing.refusals import Refusals
from redisson_dq.scheduling.engine import Engine, Role
from redisson_dq.scheduling.hints import Hints
from redisson_dq.scheduling.pace import Pace
from redisson_dq.scheduling.tries import Tries
from redisson_dq.wire.keys import QueueKeys

__all__ = ["TransferRecord"]

logger = logging.getLogger("redisson_dq")

# After this many failures in succession the hints may be the cause, and the queue counts as one that does not move.
_FAILURES = 2


@attrs.define(eq=False)
class TransferRecord:
    """A client's knowledge of one queue between its transfers."""

    keys: QueueKeys
    #: The queue's name, as it is reported to observers.
    name: str
    engine: Engine
    outage: Outage
    refusals: Refusals
    tries: Tries
    #: Where due entries are in the list, as far as this client knows.
    hints: Hints = attrs.field(factory=Hints, kw_only=True)
    #: How fast its server works.
    pace: Pace = attrs.field(factory=Pace, kw_only=True)
    #: Whether Redis has answered a transfer, and reported this client's role.
    has_role: bool = attrs.field(default=False, kw_only=True)
    #: Why Redis refused the last transfer.
    refusal: Hashable = attrs.field(default=None, kw_only=True)
    #: The role that was last reported to observers.
    told_role: Role | None = attrs.field(default=None, kw_only=True)
    # How many transfers have failed since the last one that moved due items, and the error that was logged last.
    _failures: int = attrs.field(default=0, kw_only=True)
    _logged: str = attrs.field(default="", kw_only=True)

    def answered(self, us: int, moved: int, step: tuple[object, ...]) -> bool:
        """Learns from the time of a transfer. True if its server may be slow, and the way must be measured."""
        self.outage.ended(self.keys.channel)
        self.tries.succeeded(self)
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
            self.refusals.ended(self.keys.channel)
        return may_be_slow

    def report(self, observers: Observers, moved: int, us: int) -> None:
        """Reports to observers the role of this client, how the transfer went, and how many items it has moved."""
        role, late_us = self.engine.role, self.engine.late_us
        if role is not self.told_role and observers.heard[RoleChanged]:
            self.told_role = role
            observers.tell(RoleChanged(queue=self.name, role=role))
        for tally in observers.tallies:
            tally.transferred(self.name, us / 1_000_000, self.engine.was_early)
        if moved and observers.heard[Moved]:
            # A transfer may also move an item that was due before the one that it was sent for.
            late_by = None if late_us is None or late_us < 0 else timedelta(microseconds=late_us)
            observers.tell(Moved(queue=self.name, count=moved, late_by=late_by))

    def failed(self, error: Exception, tried: float) -> bool:
        """Notes that a transfer has failed that began at ``tried``. True when the hints are forgotten, as they may be
        the cause.
        """
        self.hints.forget()
        if isinstance(error, RedisConnectionError):
            self.outage.began(self.keys.channel, error, tried)
            logger.debug("queue %r: a transfer failed and will be retried: %s", self.keys.ready, error)
            return False
        # Redis has answered, or a defect of ours has shown.
        self.outage.ended(self.keys.channel)
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
            self.refusals.began(self.keys.channel, self.keys.ready, what, error)
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
        self.outage.gave_up(self.keys.channel)
        self.refusals.ended(self.keys.channel)
        self.tries.forget(self)
