"""Keeps leases alive while their values are worked on. One background task does it for all leases of a client."""

from __future__ import annotations

import logging
import time
import weakref
from collections.abc import Sequence
from typing import Any

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.leases.delivery import Delivery
from redisson_dq._concurrency import AsyncBackgroundTask, AsyncCallback, AsyncMutex, AsyncSwitch, async_call
from redisson_dq.errors import ClosedError, RedisConnectionError, RedissonDQError
from redisson_dq.items import SettleOutcome
from redisson_dq.requests.inner.settling import Settling

__all__ = ["Renewal"]

logger = logging.getLogger("redisson_dq")

# A lease is renewed when a third of its time has passed, tried again at this share of it, and given up at this share.
_RENEW, _AGAIN, _GIVE_UP = 2 / 3, 1 / 12, 1 / 6
# The name under which it reports an outage.
_PLACE = "renewal"
# How long close() waits for an answer that is under way.
_LAST_ANSWER = 2.0


class Renewal:
    """Extends leases, those of one queue with one call, as long as somebody has the delivery and has not ended it.

    When a lease cannot be kept, ``lost`` becomes true and the callback is called before the deadline. A delivery that
    nobody refers to any more is not renewed.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._mutex = AsyncMutex()
        self._kept: weakref.WeakSet[Delivery[Any]] = weakref.WeakSet()
        self._changed = AsyncSwitch()
        self._task: AsyncBackgroundTask | None = None
        self._closed = False

    def keep(self, deliveries: Sequence[Delivery[Any]], on_lost: AsyncCallback[Any] | None) -> None:
        """Keeps these until they are ended. ``on_lost`` is called with each that cannot be kept."""
        for each in deliveries:
            each._on_lost = on_lost
        with self._mutex:
            if self._closed:
                return
            self._kept.update(deliveries)
            if self._task is None:
                self._task = AsyncBackgroundTask(self._run, "redisson_dq-renewal")
        self._changed.on()

    async def aclose(self) -> None:
        """Ends the background task. Leases run on until their deadlines."""
        with self._mutex:
            self._closed = True
            task = self._task
        self._changed.on()
        if task is not None:
            await task.stop(_LAST_ANSWER)

    async def _run(self) -> None:
        tried: dict[Settling, float] = {}
        while not self._closed:
            self._changed.off()
            due, pause = self._due(tried)
            for settling, deliveries in due.items():
                tried[settling] = time.monotonic()
                if await self._renew(settling, deliveries):
                    del tried[settling]
                deliveries = []
            # The background task must not hold the last reference to the deliveries.
            due.clear()
            if pause is None:
                # Nothing is left to renew, so no later answer would end the outage.
                self._connections.outage.ended(_PLACE)
            await self._changed.wait(pause)

    def _due(self, tried: dict[Settling, float]) -> tuple[dict[Settling, list[Delivery[Any]]], float | None]:
        """What has to be renewed now, and how long until there is something to do again."""
        due: dict[Settling, list[Delivery[Any]]] = {}
        pause: float | None = None
        with self._mutex:
            kept = list(self._kept)
            for delivery in kept:
                if delivery._is_ending:
                    self._kept.discard(delivery)
        for delivery in kept:
            if delivery._is_ending:
                continue
            visible = delivery._settling.source.visible_ms / 1000
            wait = delivery.remaining.total_seconds() - _RENEW * visible
            again = tried.get(delivery._settling, 0.0) + _AGAIN * visible - time.monotonic()
            wait = max(wait, again)
            # Renewals that are due a little later are sent along.
            if wait <= _AGAIN * visible and again <= 0:
                due.setdefault(delivery._settling, []).append(delivery)
                wait = _AGAIN * visible
            pause = wait if pause is None else min(pause, wait)
        return due, None if pause is None else max(pause, 0.001)

    async def _renew(self, settling: Settling, deliveries: list[Delivery[Any]]) -> bool:
        """False when it has to be tried again soon."""
        for start in range(0, len(deliveries), 1000):
            batch = deliveries[start : start + 1000]
            request = settling.extend([each._leased.id for each in batch], settling.source.visible_ms / 1000)
            try:
                now_us, deadline_ms, outcomes = await self._connections.run(request)
            except ClosedError:
                return True
            except RedissonDQError as error:
                if isinstance(error, RedisConnectionError):
                    self._connections.outage.began(_PLACE, error)
                    logger.debug("queue %r: %d leases are not renewed yet: %s", settling.name, len(batch), error)
                else:
                    logger.warning("queue %r: %d leases are not renewed yet: %s", settling.name, len(batch), error)
                await self._give_up(batch, settling.source.visible_ms / 1000)
                return False
            self._connections.outage.ended(_PLACE)
            for each, outcome in zip(batch, outcomes, strict=True):
                if each._is_ending:
                    continue
                each._extended(outcome, deadline_ms, now_us)
                if outcome is SettleOutcome.LOST:
                    await self._tell(each)
        return True

    async def _give_up(self, deliveries: list[Delivery[Any]], visible: float) -> None:
        for each in deliveries:
            if each.remaining.total_seconds() <= _GIVE_UP * visible and not each._is_ending:
                each._is_given_up = True
                await self._tell(each)

    async def _tell(self, delivery: Delivery[Any]) -> None:
        delivery._is_ending = True
        if delivery._on_lost is None:
            return
        try:
            await async_call(delivery._on_lost, delivery)
        except Exception:
            logger.exception("queue %r: what is called for a lost lease failed", delivery._settling.name)
