"""The turns of a fetcher in the pool of handlers."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import Any

from redisson_dq._concurrency import AsyncMutex, AsyncSwitch
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool, AsyncPoolWork
from redisson_dq.scheduling.clock import Clock

__all__ = ["Turns"]


class _Turn(enum.Enum):
    """The last turn of a fetcher."""

    DUE = "it begins as soon as the pool comes to it"
    SHORT = "it begins when there is a thread for it"
    GOING = "it has begun, and may begin another one"
    ENDED = "no turn follows"


class Turns:
    """The turns of a fetcher in the pool. Each ends when values came, and begins the next one, until the last.

    Where the system gives no thread, a turn waits until a handler has returned. The end does not wait for that.
    """

    def __init__(self, pool: AsyncHandlerPool, turn: AsyncPoolWork, clock: Clock) -> None:
        self._pool = pool
        self._turn = turn
        # Guards the turn until it has begun.
        self._mutex = AsyncMutex()
        self._last = _Turn.GOING
        # On when ``ended`` has to check whether the last turn is over.
        self._changed = AsyncSwitch(clock)

    def begin(self) -> bool:
        """Begins the first turn soon. Returns whether it waits for a thread."""
        return self._begin(lambda: self._pool.start(self._take))

    def next(self, handlings: Iterable[AsyncPoolWork]) -> bool:
        """Begins handlings, and the next turn after them. The turn that calls ends."""
        return self._begin(lambda: self._pool.start_all([*handlings, self._take]))

    def _begin(self, start: Callable[[], bool]) -> bool:
        with self._mutex:
            # The pool raises where the system gives not even the first thread.
            self._last = _Turn.SHORT
            try:
                if not start():
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

    async def ended(self) -> None:
        """Waits until no turn follows, after the fetcher was asked to end.

        The caller takes a turn that waits for a thread. It is the last one.
        """
        while not self._has_ended:
            self._changed.off()
            if self._last is _Turn.SHORT:
                await self._take()
            # Another one that waits for the end may turn the switch off meanwhile.
            if not self._has_ended:
                await self._changed.wait(None)

    @property
    def _has_ended(self) -> bool:
        return self._last is _Turn.ENDED

    async def _take(self) -> Any:
        with self._mutex:
            is_due = self._last in (_Turn.DUE, _Turn.SHORT)
            if is_due:
                self._last = _Turn.GOING
        return await self._turn() if is_due else None
