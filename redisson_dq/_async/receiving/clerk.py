"""Does the work of shared pumps that takes time, one thing after the other. So no lookout waits for it."""

from __future__ import annotations

import heapq
import itertools
import logging

from redisson_dq._async.receiving.beginning import Beginner, Begun
from redisson_dq._concurrency import AsyncCancelled, AsyncInbox, AsyncMutex, AsyncWork
from redisson_dq.scheduling.clock import Clock

__all__ = ["Clerk"]

logger = logging.getLogger("redisson_dq")


class Clerk:
    """A background task that lives as long as there is something to do."""

    def __init__(self, clock: Clock, name: str, beginner: Beginner) -> None:
        self._clock = clock
        self._name = name
        self._beginner = beginner
        self._mutex = AsyncMutex()
        self._inbox: AsyncInbox[tuple[float, int, AsyncWork]] = AsyncInbox(clock)
        self._numbers = itertools.count()
        self._is_running = False
        self._is_closing = False
        self._task: Begun | None = None

    def add(self, work: AsyncWork, after: float = 0.0) -> None:
        """Does this in so many seconds at the earliest. Once it is closed, at once."""
        self._inbox.put((self._clock.monotonic() + after, next(self._numbers), work))
        with self._mutex:
            if not self._is_running:
                self._is_running = True
                self._task = self._beginner.begin(self._run, f"redisson_dq-{self._name}")

    async def aclose(self) -> None:
        """Waits for nothing any more. It ends when all is done."""
        self._is_closing = True
        with self._mutex:
            if self._is_running:
                self._inbox.put((self._clock.monotonic(), next(self._numbers), _nothing))

    async def _run(self) -> None:
        works: list[tuple[float, int, AsyncWork]] = []
        while True:
            with self._mutex:
                if not works and not self._inbox.count:
                    self._is_running = False
                    return
            now = self._clock.monotonic()
            waits = max(0.0, works[0][0] - now) if works and not self._is_closing else 0.0
            came = await self._inbox.next(waits)
            if came is not None:
                heapq.heappush(works, came)
                continue
            if works and (self._is_closing or works[0][0] <= self._clock.monotonic()):
                await self._do(heapq.heappop(works)[2])

    async def _do(self, work: AsyncWork) -> None:
        try:
            await work()
        except (Exception, AsyncCancelled):
            # A defect must not end the waits of all others.
            logger.exception("unexpected error beside a lookout")


async def _nothing() -> None:
    """Wakes the background task."""
