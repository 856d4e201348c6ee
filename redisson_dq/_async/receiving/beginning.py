"""Begins background tasks, where the system gives no thread as soon as it gives one."""

from __future__ import annotations

import logging
from collections.abc import Callable

from redisson_dq._concurrency import AsyncBackgroundTask, AsyncMutex, AsyncWork
from redisson_dq.scheduling.clock import Clock

__all__ = ["Beginner", "Begun"]

logger = logging.getLogger("redisson_dq")

# Between two tries to begin.
_PAUSE = 0.05


class Begun:
    """A background task that has begun, or begins as soon as it can."""

    def __init__(self, work: AsyncWork, name: str, *, shielded: bool) -> None:
        self.task: AsyncBackgroundTask | None = None
        self._work, self._name, self._shielded = work, name, shielded

    def begin(self) -> None:
        """Begins it. Raises RuntimeError where the system gives no thread."""
        self.task = AsyncBackgroundTask(self._work, self._name, shielded=self._shielded)


class Beginner:
    """Begins background tasks. Those that cannot begin now are left to the background task that reads the notices."""

    def __init__(self, clock: Clock, put: Callable[[AsyncWork], None]) -> None:
        """``put`` adds a notice."""
        self._clock = clock
        self._put = put
        self._mutex = AsyncMutex()
        self._waiting: list[Begun] = []
        self._has_told = False

    def begin(self, work: AsyncWork, name: str, *, shielded: bool = True) -> Begun:
        """Runs ``work`` in a background task, from now on or later. The caller may hold a mutex."""
        begun = Begun(work, name, shielded=shielded)
        self._begin(begun)
        return begun

    def _begin(self, begun: Begun) -> None:
        try:
            begun.begin()
        except RuntimeError:
            # The system gives no thread.
            with self._mutex:
                self._waiting.append(begun)
                is_first = len(self._waiting) == 1
            if is_first:
                self._put(self._go_on)

    async def _go_on(self) -> None:
        if not self._has_told:
            self._has_told = True
            logger.warning("the system cannot start a thread to wait for values; retrying until it can")
        await self._clock.async_sleep(_PAUSE)
        with self._mutex:
            waiting, self._waiting = self._waiting, []
        for begun in waiting:
            self._begin(begun)
        self._has_told = bool(self._waiting)
