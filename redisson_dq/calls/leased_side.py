"""A side of a queue whose values can be leased: the terms of its leases."""

from __future__ import annotations

from typing import TypedDict, TypeVar

import attrs

from redisson_dq._redis.options import Options
from redisson_dq.calls.checks import check_count
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.codecs.base import Codec
from redisson_dq.errors import ArgumentError
from redisson_dq.observing import Buried
from redisson_dq.scheduling.times import Delay, visible_us
from redisson_dq.wire.calls import LeaseKeys
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import DeadKeys
from redisson_dq.wire.lease_source import LeaseSource

__all__ = ["LeaseTerms", "LeasedSide"]

T = TypeVar("T")


class LeaseTerms(TypedDict, total=False):
    """Options that say how a queue ends leases without an ack. Their defaults stand in :class:`LeasedSide`."""

    delivery_limit: int | None
    dead_letter: str | None


class LeasedSide(OpenQueue[T]):
    """The terms of leases: for how long, how often, and where a value goes after the last delivery."""

    #: Whether a value that leaves the queue makes room in it.
    bounded = False
    #: The client's, by whose first bytes others know whose a lease is (:attr:`LeaseSource.owner`).
    owner = b""
    #: A value that is given back waits for at least so many us.
    back_after_us = 0

    def __init__(
        self,
        name: str,
        codec: Codec | None,
        options: Options,
        *,
        delivery_limit: int | None = 10,
        dead_letter: str | None = None,
    ) -> None:
        """After ``delivery_limit`` deliveries (None: never) a value is a dead letter. The queue ``dead_letter`` takes
        it, by its name before the name mapper; None stands for a list of this queue's own. Raises ArgumentError.
        """
        super().__init__(name, codec, options)
        if delivery_limit is not None:
            check_count(delivery_limit, name, "a delivery limit")
        if dead_letter is not None and self.keys_of(dead_letter).ready in attrs.astuple(self.keys):
            raise ArgumentError(f"queue {name!r}: dead_letter= is the queue itself, or one of its keys")
        self.delivery_limit = delivery_limit or 0
        self.dead_letter = dead_letter
        self.terms = LeaseTerms(delivery_limit=delivery_limit, dead_letter=dead_letter)
        self._last_source: LeaseSource | None = None

    def lease_source(self, visibility_timeout: Delay) -> LeaseSource:
        """The source of calls that lease values."""
        visible = visible_us(visibility_timeout, self.name)
        # Nearly every call has the same source.
        last = self._last_source
        if last is None or last.visible_us != visible or last.lease_keys.queue is not self.keys:
            last = LeaseSource(
                self.lease_keys,
                self.options.envelope,
                visible,
                self.delivery_limit,
                self.back_after_us,
                # A shorter id has no room for it.
                self.owner if self.options.envelope is Envelope.CURRENT else b"",
                clock=self.options.clock,
                tell_buried=self._tell_buried,
            )
            self._last_source = last
        return last

    def _tell_buried(self, count: int) -> None:
        kept_in = self.dead_keys.dead
        self.options.observers.tell(Buried(queue=self.name, count=count, limit=self.delivery_limit, kept_in=kept_in))

    # -- leases ------------------------------------------------------------------------------------------------------

    @property
    def lease_keys(self) -> LeaseKeys:
        """The keys of its leases and dead letters."""
        return LeaseKeys(queue=self.keys, dead=self.dead_keys, bounded=self.bounded)

    @property
    def dead_keys(self) -> DeadKeys:
        """The keys of its dead letters."""
        if self.dead_letter is None:
            return DeadKeys.belonging_to(self.keys.ready)
        return DeadKeys.of(self.keys_of(self.dead_letter).ready)
