"""How many connections may wait idle for callers that come back."""

from __future__ import annotations

from redisson_dq._concurrency import AsyncMutex

__all__ = ["IdleConnections"]


class IdleConnections:
    """A limit for pumps whose sources may be new at each call, such as sets of queues. Others close at once."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._mutex = AsyncMutex()

    def enter(self) -> bool:
        """Whether one more may wait idle, until :meth:`leave`."""
        with self._mutex:
            if not self._left:
                return False
            self._left -= 1
            return True

    def leave(self) -> None:
        """One waits no more."""
        with self._mutex:
            self._left += 1
