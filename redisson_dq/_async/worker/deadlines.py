"""The deadlines of a worker: the end of a handling's time, and of the wait for a batch. One task for all of them."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable

from redisson_dq._concurrency import AsyncBackgroundTask, AsyncSwitch
from redisson_dq.scheduling.clock import Clock

__all__ = ["Deadlines"]

logger = logging.getLogger("redisson_dq")


class Deadlines:
    """Calls ``due(now)`` at the next moment that ``moments`` gives, and whenever an earlier one was added."""

    def __init__(self, clock: Clock, moments: Callable[[], Iterable[float]], due: Callable[[float], object]) -> None:
        """Moments are in seconds of the clock."""
        self._clock = clock
        self._moments = moments
        self._due = due
        self._changed = AsyncSwitch(clock)
        self._next = math.inf
        self._ends = False
        self._worker = AsyncBackgroundTask(self._run, "redisson_dq-deadlines")

    def added(self, moment: float) -> None:
        """Notes a moment. Most are later than the next one, and cost nothing."""
        if moment < self._next:
            self._changed.on()

    def abandon(self) -> None:
        """Ends soon."""
        self._ends = True
        self._changed.on()

    async def aclose(self) -> None:
        self.abandon()
        await self._worker.join()

    async def _run(self) -> None:
        while not self._ends:
            self._changed.off()
            # Until it is known, whatever is added turns the switch.
            self._next = math.inf
            self._next = min(self._moments(), default=math.inf)
            now = self._clock.monotonic()
            if self._next <= now:
                try:
                    self._due(now)
                except Exception:
                    logger.exception("worker: an action at a deadline failed")
            elif not self._ends:
                await self._changed.wait(None if self._next == math.inf else self._next - now)
