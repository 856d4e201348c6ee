"""Where handlings begin, and where fetchers have their turns."""

from __future__ import annotations

from typing import Union

from redisson_dq._clock import Clock
from redisson_dq._concurrency import AsyncMutex, AsyncSwitch, AsyncWork
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool, AsyncRunning

__all__ = ["Starter", "Starts", "Turns"]


class Starter:
    """Begins the handlings of values that were received at a time.

    The first one is for the fetcher itself, and begins without another thread or task being woken. The handling that
    ends first in the pool receives from then on.
    """

    def __init__(self, pool: AsyncHandlerPool) -> None:
        self._pool = pool
        #: The handling that the fetcher is to run. Until it does, nothing may be awaited, as the handling may be
        #: cancelled.
        self.first: AsyncWork | None = None

    def start(self, work: AsyncWork) -> AsyncRunning:
        """Keeps the first ``work``, and runs the others in the pool."""
        if self.first is not None:
            return self._pool.start(work)
        self.first = work
        return self._pool.adopt()


class Turns:
    """The turns of a fetcher in the pool. Each ends with a handling, and begins the next one, until the last.

    Where the system gives no thread, a turn waits until a handler has returned. The end does not wait for that.
    """

    def __init__(self, pool: AsyncHandlerPool, turn: AsyncWork, clock: Clock) -> None:
        self._pool = pool
        self._turn = turn
        # Guards the two fields below it.
        self._mutex = AsyncMutex()
        # Whether a turn has yet to begin, and whether it waits for a thread.
        self._is_due = self._waits = False
        self._has_ended = False
        # On when the one who waits for the end has to look.
        self._changed = AsyncSwitch(clock)

    def begin(self) -> bool:
        """The next turn begins soon. Whether it waits for a thread."""
        with self._mutex:
            self._is_due = self._waits = True
            try:
                self._waits = self._pool.start(self._take).waits
            finally:
                # The pool raises where the system gives not even the first thread.
                if self._waits:
                    self._changed.on()
        return self._waits

    def end(self) -> None:
        """No turn follows."""
        self._has_ended = True
        self._changed.on()

    async def ended(self, timeout: float | None) -> bool:
        """Waits until no turn follows, after the fetcher was asked to end. False when that takes longer.

        The caller takes a turn that waits for a thread. It is the last one, and ends without a handling.
        """
        while not self._has_ended:
            self._changed.off()
            if self._waits:
                await self._take()
            # Another one that waits for the end may turn the switch off meanwhile.
            if not (self._has_ended or await self._changed.wait(timeout) or self._has_ended):
                return False
        return True

    async def _take(self) -> None:
        with self._mutex:
            is_due, self._is_due = self._is_due, False
        if is_due:
            await self._turn()


#: The place where a handling begins: in the fetcher itself, or in the pool.
Starts = Union[Starter, AsyncHandlerPool]
