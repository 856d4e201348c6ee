"""The last handlings of a worker that stops: how long it waits for them, and what becomes of their values."""

from __future__ import annotations

import logging
from collections.abc import Callable

from redisson_dq._async.leases.delivery import lease_of
from redisson_dq._async.worker.handling import Handling
from redisson_dq._concurrency import AsyncSwitch
from redisson_dq.scheduling.clock import Clock

__all__ = ["LastHandlings"]

logger = logging.getLogger("redisson_dq")


class LastHandlings:
    """Waits for handlings, and hands back the values of those that take too long."""

    def __init__(self, clock: Clock, going_on: Callable[[], list[Handling]]) -> None:
        self._clock = clock
        self._going_on = going_on
        self._changed = AsyncSwitch(clock)

    def check(self) -> None:
        """A handling has ended, or the grace may be cut short."""
        self._changed.on()

    async def returned(self, deadline: float, hurries: Callable[[], bool]) -> None:
        """Waits for the handlers until the deadline, or until ``hurries`` says that the grace is cut short.

        Then hands back the values of handlers that have not returned.
        """
        await self._ended(deadline, hurries)
        count = sum(bool(handling.hand_back()) for handling in reversed(self._going_on()))
        if count:
            logger.warning("worker: stopping; %d handlers have not returned, and their values are put back", count)

    async def concluded(self, deadline: float) -> None:
        """Waits until the outcomes of handlers that have returned are on their way to Redis, after :meth:`returned`.

        A hook, or a function for a backoff, may hold one up beyond the deadline. Its values are handed back then.
        """
        await self._ended(deadline, lambda: False)
        for handling in reversed(self._going_on()):
            if back := handling.hand_back():
                logger.warning(
                    "queue %r: %s has returned, but a hook or its backoff has not: the worker stops and puts back %s",
                    handling.intake.name,
                    handling.handler.name,
                    ", ".join(lease_of(event.delivery).display_name for event in back),
                )

    async def _ended(self, deadline: float, hurries: Callable[[], bool]) -> None:
        while not hurries():
            self._changed.off()
            wait = deadline - self._clock.monotonic()
            if not self._going_on() or wait <= 0 or hurries():
                break
            await self._changed.wait(wait)
