"""Where handlings begin."""

from __future__ import annotations

from typing import Union

from redisson_dq._concurrency import AsyncWork
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool, AsyncRunning

__all__ = ["Starter", "Starts"]


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


#: The place where a handling begins: in the fetcher itself, or in the pool.
Starts = Union[Starter, AsyncHandlerPool]
