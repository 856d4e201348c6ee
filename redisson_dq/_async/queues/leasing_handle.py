"""The common part of all handles that lease values: trying again, handing back, decoding."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Generic, TypeVar

from redisson_dq._async.leases.delivery import Delivery
from redisson_dq._async.queues.handle import Handle
from redisson_dq._concurrency import async_finish, async_sleep
from redisson_dq.errors import DecodeError, RedisConnectionError, RedissonDQError
from redisson_dq.requests.inner.leased_side import LeasedSide
from redisson_dq.requests.inner.settling import Settling
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.wire.leases import Leased
from redisson_dq.wire.request import Request

__all__ = ["Leasing"]

logger = logging.getLogger("redisson_dq")

T = TypeVar("T")
U = TypeVar("U")

# Pause between two tries of a receive whose reply was lost.
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0


class Leasing(Handle[T], Generic[T]):
    """A handle whose values can be leased."""

    _side: LeasedSide[T]

    async def _run_again(
        self, request: Request[U], lease: float, left: float | None, *, when_closed: bool = False
    ) -> U:
        """Runs a request. When the reply is lost, sends the same words again, which give the same result.

        Gives up when the leases it may have made have ended, or when the caller's time is over. ``when_closed`` is for
        what still has to be done after the client was closed.
        """
        until = time.monotonic() + (lease if left is None else min(lease, left))
        pause = 0.0
        while True:
            try:
                return await self._runtime.connections.run(request, when_closed=when_closed)
            except RedisConnectionError as error:
                # A request that was sent may have been carried out, also when the next try finds no server.
                sent = error.maybe_done or pause > 0
                if not sent or (pause and time.monotonic() + pause > until):
                    error.maybe_done = sent
                    raise
            await async_sleep(pause)
            pause = min(_LONGEST_PAUSE, max(_FIRST_PAUSE, pause * 2))

    async def _hand_back(self, source: LeaseSource, leased: list[Leased]) -> None:
        """Hands back the values that a cancelled caller would have received."""
        if leased:
            try:
                # A second hand-back answers LOST, and changes nothing.
                back = source.hand_back(leased)
                await self._run_again(back, source.visible_ms / 1000, None, when_closed=True)
            except RedissonDQError as error:
                logger.warning(
                    "queue %r: %d values are ready again at their deadline: %s", self.name, len(leased), error
                )

    async def _opened(self, source: LeaseSource, leased: Sequence[Leased]) -> list[Delivery[T]]:
        """The deliveries. Values that the codec cannot read go to the dead-letter list, and raise DecodeError."""
        opened, error = await self._sorted(source, leased)
        if error is None:
            return opened
        if error.kept_in is None or self._runtime.options.undecodable != "skip":
            raise error
        logger.warning("queue %r: skipped %d values: %s", self.name, len(error.undecodable), error)
        return opened

    async def _sorted(
        self, source: LeaseSource, leased: Sequence[Leased]
    ) -> tuple[list[Delivery[T]], DecodeError | None]:
        """The deliveries, and an error for the values that the codec cannot read. These are dead letters then, and
        ``kept_in`` is set. Where Redis refused that, they are ready again at their deadline, and ``__cause__`` says
        why.
        """
        settling = Settling(source, self.name, self._runtime.options.durable)
        connections = self._runtime.connections
        values, first = self._side.decoded([each.data for each in leased])
        if first is None:
            found = zip(leased, values, strict=True)
            return [Delivery(connections, settling, each, value) for each, value in found], None
        opened: list[Delivery[T]] = []
        unreadable: list[Leased] = []
        for each in leased:
            values, error = self._side.decoded([each.data])
            if error is None:
                opened.append(Delivery(connections, settling, each, values[0]))
            else:
                unreadable.append(each)
        first.decoded, first.undecodable = list(opened), [each.data for each in unreadable]
        try:
            reason = f"undecodable: {first}"
            await async_finish(self._runtime.connections.run(settling.reject([each.id for each in unreadable], reason)))
            first.kept_in = source.lease_keys.dead.dead
        except RedissonDQError as failure:
            first.__cause__ = failure
        return opened, first
