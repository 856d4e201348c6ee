"""The leases that a client renews: when each has to be renewed, and when it is lost. No I/O."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar

from redisson_dq.calls.delivery import DeliveryFacts, lease_of
from redisson_dq.calls.lease import Lease
from redisson_dq.calls.settling import Settling
from redisson_dq.items import SettleOutcome
from redisson_dq.scheduling.clock import Clock

__all__ = ["GIVE_UP", "RENEW", "KeptLeases", "extended", "give_up_near_end"]

D = TypeVar("D", bound=DeliveryFacts[Any])

#: A lease is renewed when this share of its time is left, tried again each second share, and given up at the third.
RENEW, _AGAIN, GIVE_UP = 2 / 3, 1 / 12, 1 / 6


class KeptLeases(Generic[D]):
    """The deliveries whose leases are renewed, as long as somebody has them. Without any, a pause is infinite."""

    def __init__(self, clock: Clock, mutex: AbstractContextManager[Any]) -> None:
        self._clock = clock
        self._mutex = mutex
        #: In the order in which they were received. Guarded by the mutex.
        self.deliveries: weakref.WeakKeyDictionary[D, None] = weakref.WeakKeyDictionary()

    def queues(self) -> set[str]:
        """The keys of the queues that they are of."""
        return {lease_of(each).settling.source.key for each in self._living()}

    def due(self, tried: dict[Settling, float]) -> tuple[dict[Settling, list[D]], float]:
        """The leases to renew now, and the time until the next renewal. ``tried`` says when a renewal has failed."""
        due: dict[Settling, list[D]] = {}
        pause = math.inf
        for delivery in self._living():
            lease = lease_of(delivery)
            soon = _AGAIN * lease.visible
            again = tried.get(lease.settling, -math.inf) + soon - self._clock.monotonic()
            wait = max(lease.left - RENEW * lease.visible, again)
            # Renewals that are due a little later are sent along.
            if wait <= soon and again <= 0:
                due.setdefault(lease.settling, []).append(delivery)
                wait = soon
            pause = min(pause, wait)
        return due, max(pause, 0.001)

    def hung(self, asked_at: float | None) -> tuple[list[D], float]:
        """Those whose renewal has hung for too long, and the time until the next look. One was sent at ``asked_at``."""
        found, pause = [], math.inf
        for delivery in self._living():
            lease = lease_of(delivery)
            # An answer that was asked for only now may still come: a loop that was blocked begins with both tasks.
            asked_for = 0.0 if asked_at is None else self._clock.monotonic() - asked_at
            wait = max(lease.left - GIVE_UP * lease.visible, _AGAIN * lease.visible - asked_for)
            if wait <= 0:
                lease.is_given_up = True
                found.append(delivery)
            else:
                pause = min(pause, wait)
        return found, pause

    def lose(self, delivery: D) -> bool:
        """Notes that a lease is lost. False where that is known, or a call ends it."""
        lease = lease_of(delivery)
        with self._mutex:
            is_known, lease.is_ending = lease.is_ending, True
        if not is_known:
            lease.lost()
        return not is_known

    def _living(self) -> list[D]:
        """The leases that are still to be renewed."""
        with self._mutex:
            for delivery in list(self.deliveries):
                if lease_of(delivery).is_ending:
                    self.deliveries.pop(delivery, None)
            return list(self.deliveries)


def give_up_near_end(lease: Lease) -> bool:
    """Marks a lease that could not be renewed as given up, if its end is near. Returns False while there is time for
    another try, and where a call ends the lease.
    """
    if lease.is_ending or lease.left > GIVE_UP * lease.visible:
        return False
    lease.is_given_up = True
    return True


def extended(deliveries: Sequence[D], outcomes: Sequence[SettleOutcome], deadline_ms: int, now_us: int) -> list[D]:
    """Notes the answer to a renewal. Returns those that it has not found."""
    lost = []
    for delivery, outcome in zip(deliveries, outcomes, strict=True):
        lease = lease_of(delivery)
        if not lease.is_ending:
            lease.extended(outcome, deadline_ms, now_us)
            if outcome is SettleOutcome.LOST:
                lost.append(delivery)
    return lost
