"""Where handlings begin, and where fetchers have their turns."""

from __future__ import annotations

import enum
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
        """Sets the first ``work`` aside for the fetcher, and runs the others in the pool."""
        if self.first is not None:
            return self._pool.start(work)
        self.first = work
        return self._pool.adopt()


class _Turn(enum.Enum):
    """The last turn of a fetcher."""

    DUE = "it begins as soon as the pool comes to it"
    SHORT = "it begins when there is a thread for it"
    GOING = "it has begun, and may begin another one"
    ENDED = "no turn follows"


class Turns:
    """The turns of a fetcher in the pool. Each ends with a handling, and begins the next one, until the last.

    Where the system gives no thread, a turn waits until a handler has returned. The end does not wait for that.
    """

    def __init__(self, pool: AsyncHandlerPool, turn: AsyncWork, clock: Clock) -> None:
        self._pool = pool
        self._turn = turn
        # Guards the turn until it has begun.
        self._mutex = AsyncMutex()
        self._last = _Turn.GOING
        # On when ``ended`` has to check whether the last turn is over.
        self._changed = AsyncSwitch(clock)

    def begin(self) -> bool:
        """The next turn begins soon. Whether it waits for a thread."""
        with self._mutex:
            # The pool raises where the system gives not even the first thread.
            self._last = _Turn.SHORT
            try:
                if not self._pool.start(self._take).waits:
                    self._last = _Turn.DUE
            finally:
                is_short = self._last is _Turn.SHORT
                if is_short:
                    self._changed.on()
        return is_short

    def end(self) -> None:
        """No turn follows."""
        self._last = _Turn.ENDED
        self._changed.on()

    async def ended(self, timeout: float | None) -> bool:
        """Waits until no turn follows, after the fetcher was asked to end. False when that takes longer.

        The caller takes a turn that waits for a thread. It is the last one, and ends without a handling.
        """
        while not self._has_ended:
            self._changed.off()
            if self._last is _Turn.SHORT:
                await self._take()
            # Another one that waits for the end may turn the switch off meanwhile.
            if not (self._has_ended or await self._changed.wait(timeout) or self._has_ended):
                return False
        return True

    @property
    def _has_ended(self) -> bool:
        return self._last is _Turn.ENDED

    async def _take(self) -> None:
        with self._mutex:
            is_due = self._last in (_Turn.DUE, _Turn.SHORT)
            if is_due:
                self._last = _Turn.GOING
        if is_due:
            await self._turn()


#: The place where a handling begins: in the fetcher itself, or in the pool.
Starts = Union[Starter, AsyncHandlerPool]
