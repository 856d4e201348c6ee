"""The ways in which a worker ends a lease, with the call and the request of each."""

from __future__ import annotations

from typing import Union

import attrs

from redisson_dq.calls.settling import Settling
from redisson_dq.items import SettleOutcome
from redisson_dq.wire.request import Request

__all__ = ["Ack", "Bury", "Ending", "Nack"]


@attrs.frozen
class Ack:
    """The value is done."""

    name = "ack"
    done = SettleOutcome.ACKED

    def request(self, settling: Settling, ids: list[bytes]) -> Request[list[SettleOutcome]]:
        return settling.ack(ids)


@attrs.frozen
class Nack:
    """The value comes again, after ``delay`` seconds."""

    delay: float
    counted: bool
    reason: str | None = None

    name = "nack"

    @property
    def is_to_head(self) -> bool:
        """Whether the value goes to the head of its queue, before those that went there earlier."""
        return not self.counted and not self.delay

    @property
    def done(self) -> SettleOutcome:
        return SettleOutcome.DELAYED if self.delay else SettleOutcome.RETURNED

    def request(self, settling: Settling, ids: list[bytes]) -> Request[list[SettleOutcome]]:
        return settling.nack(ids, self.delay, self.counted, self.reason)


@attrs.frozen
class Bury:
    """The value goes to the dead-letter list."""

    reason: str

    name = "reject"
    done = SettleOutcome.DEAD_LETTERED

    def request(self, settling: Settling, ids: list[bytes]) -> Request[list[SettleOutcome]]:
        return settling.reject(ids, self.reason)


Ending = Union[Ack, Nack, Bury]
