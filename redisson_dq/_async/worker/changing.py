"""Starts and stops of one worker, which may come from any thread or task: one at a time."""

from __future__ import annotations

from collections.abc import Callable

from redisson_dq._concurrency import AsyncMutex, AsyncSwitch, async_here
from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling.clock import current

__all__ = ["LifeChanges"]


class LifeChanges:
    """One thread or task changes a worker. Others wait meanwhile."""

    def __init__(self) -> None:
        self._mutex = AsyncMutex()
        # The thread or task that starts or stops it just now.
        self._changer: object = None
        self._settled = AsyncSwitch(current())

    async def begin(self, is_due: Callable[[], bool]) -> bool:
        """Waits until nobody else starts or stops it. Returns whether there is still something to start, or to stop.

        The caller does that, and calls :meth:`end`. Raises ArgumentError in a function that is called for it.
        """
        while True:
            with self._mutex:
                if self._changer is None:
                    if not is_due():
                        return False
                    self._changer = async_here()
                    self._settled.off()
                    return True
                if self._changer is async_here():
                    raise ArgumentError(
                        "worker: start() and stop() wait for per_worker functions, so call request_stop() in these"
                    )
            await self._settled.wait(None)

    def pass_on(self) -> None:
        """The thread or task that calls goes on with the change."""
        self._changer = async_here()

    def end(self) -> None:
        """The change is made."""
        with self._mutex:
            self._changer = None
        self._settled.on()
