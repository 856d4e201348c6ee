"""Whether Redis can be reached, as all parts of a client see it together: told once when it ends, and once when it is
back.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import timedelta

from redisson_dq._concurrency import AsyncMutex

__all__ = ["Outage"]

logger = logging.getLogger("redisson_dq")

#: Is told why Redis cannot be reached, or for how long it could not.
_Listener = Callable[["BaseException | timedelta"], object]


class Outage:
    """What goes on by itself when Redis is away (waits, renewals, acks, transfers) tells its trouble here.

    It lasts from the first part that fails until no part fails any more.
    """

    def __init__(self) -> None:
        self._mutex = AsyncMutex()
        self._places: dict[str, BaseException] = {}
        self._since = 0.0
        self.listeners: list[_Listener] = []

    @property
    def is_going_on(self) -> bool:
        return bool(self._places)

    def began(self, place: str, error: BaseException) -> None:
        """One part cannot reach Redis."""
        with self._mutex:
            first = not self._places
            self._places[place] = error
            if first:
                self._since = time.monotonic()
        if first:
            logger.warning("Redis is away: %s", error)
            self._tell(error)

    def ended(self, place: str) -> None:
        """One part can reach Redis again, or tries no more."""
        # Nearly always: it is asked after each reply.
        if place not in self._places:
            return
        with self._mutex:
            last = self._places.pop(place, None) is not None and not self._places
            after = timedelta(seconds=time.monotonic() - self._since)
        if last:
            logger.warning("Redis is back again after %.1f s", after.total_seconds())
            self._tell(after)

    def _tell(self, what: BaseException | timedelta) -> None:
        for listener in list(self.listeners):
            try:
                listener(what)
            except Exception:
                logger.exception("what is told of an outage failed")
