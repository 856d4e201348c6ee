"""The end of one lease, on its way to Redis."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import attrs

from redisson_dq.calls.delivery import DeliveryFacts
from redisson_dq.calls.endings import Ending
from redisson_dq.calls.lease import Lease
from redisson_dq.errors import RedissonDQError
from redisson_dq.items import SettleOutcome

__all__ = ["EndsLeases", "Settlement", "Tell", "doubt"]

#: A function that gets the outcome.
Tell = Callable[[SettleOutcome], object]


@attrs.define(eq=False)
class Settlement:
    """The end of one lease, on its way to Redis. ``tell`` reports to hooks and observers how it ended."""

    lease: Lease
    how: Ending
    tell: Tell
    #: Whether the reply to a call that was to end the lease is lost. Redis may have carried that call out.
    is_in_doubt: bool = False


def doubt(settlements: Iterable[Settlement], error: BaseException) -> bool:
    """Notes whether Redis may have carried out the call that failed so, which was to end these leases. Returns that."""
    maybe_done: bool = getattr(error, "maybe_done", not isinstance(error, RedissonDQError))
    if maybe_done:
        for settlement in settlements:
            settlement.is_in_doubt = True
    return maybe_done


class EndsLeases(Protocol):
    """The settler of either flavour."""

    @property
    def is_torn_away(self) -> bool: ...

    def put(
        self, delivery: DeliveryFacts[Any], how: Ending, tell: Tell, acked: Callable[[Settlement], object] | None = None
    ) -> None: ...

    def send(self, settlement: Settlement) -> None: ...
