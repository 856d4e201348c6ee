"""Begins background tasks, where the system gives no thread as soon as it gives one."""

from __future__ import annotations

from collections.abc import Callable

from redisson_dq._clock import Clock
from redisson_dq._concurrency import AsyncMutex, AsyncWork
from redisson_dq._log import Log

__all__ = ["Beginner"]

logger = Log()

# Between two tries to begin.
_PAUSE = 0.05


class Beginner:
    """Begins background tasks. Those that cannot begin now are left to the background task that reads the notices."""

    def __init__(self, clock: Clock, put: Callable[[AsyncWork], None]) -> None:
        """``put`` adds a notice."""
        self._clock = clock
        self._put = put
        self._mutex = AsyncMutex()
        self._waiting: list[Callable[[], None]] = []
        self._has_told = False

    def begin(self, task: Callable[[], None]) -> None:
        """Calls ``task``, which makes the background task, now or later. Others may hold a mutex meanwhile."""
        try:
            task()
        except RuntimeError:
            # The system gives no thread.
            with self._mutex:
                self._waiting.append(task)
                is_first = len(self._waiting) == 1
            if is_first:
                self._put(self._go_on)

    async def _go_on(self) -> None:
        if not self._has_told:
            self._has_told = True
            logger.warning("the system gives no thread to wait for values in; tries again until it gives one")
        await self._clock.async_sleep(_PAUSE)
        with self._mutex:
            waiting, self._waiting = self._waiting, []
        for task in waiting:
            self.begin(task)
        self._has_told = bool(self._waiting)
