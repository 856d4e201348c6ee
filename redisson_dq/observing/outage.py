"""Whether the parts of a client can reach Redis. Observers are notified once that it is away, and once that it is
back.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from datetime import timedelta

from redisson_dq.observing import Away, BackAgain, Happening, Observers
from redisson_dq.scheduling.clock import Clock

__all__ = ["Outage"]


class Outage:
    """An outage, from the first part that cannot reach Redis until no part fails any more. The parts are those that
    retry by themselves: waits, renewals, acks, transfers.

    A try that began in an outage may fail after its end: a reply is late, or a connection broke that has not been read
    from since. That is not a new outage. The part tries again, and its next failure counts.
    """

    def __init__(self, clock: Clock, observers: Observers) -> None:
        self._clock = clock
        self._observers = observers
        self._mutex = threading.RLock()
        self._parts: set[str] = set()
        self._since = 0.0
        # When the last outage was over.
        self._over = -math.inf
        # Whether a part has reached Redis since the last failure.
        self._has_reached = False
        #: The hooks of the client's workers, which are called with Away and BackAgain too.
        self.hooks: list[Callable[[Happening], object]] = []
        #: Why the last outage began, and when by this machine's clock, in epoch us. None: there was no outage.
        self.last: tuple[BaseException, int] | None = None
        #: Whether some part cannot reach Redis, or the last one that could not tries no more.
        self.is_going_on = False

    def began(self, part: str, error: BaseException, tried: float) -> None:
        """One part cannot reach Redis. ``tried`` is when the try that failed began, in seconds of the clock."""
        with self._mutex:
            if not self.is_going_on and tried < self._over:
                return
            self._parts.add(part)
            self._has_reached = False
            first, self.is_going_on = not self.is_going_on, True
            if first:
                self._since = self._clock.monotonic()
                self.last = error, self._clock.calendar_us()
        if first:
            self._tell(Away(error=error))

    def ended(self, part: str) -> None:
        """One part can reach Redis."""
        # Nearly always true, and called after each reply. So the mutex is not taken for it.
        if not self.is_going_on:
            return
        self._leave(part, reached=True)

    def gave_up(self, part: str) -> None:
        """One part tries no more. The outage goes on until another one reaches Redis, unless one has since."""
        self._leave(part, reached=False)

    def _leave(self, part: str, *, reached: bool) -> None:
        with self._mutex:
            self._parts.discard(part)
            self._has_reached = self._has_reached or reached
            now = self._clock.monotonic()
            last = self.is_going_on and not self._parts and self._has_reached
            if last:
                self.is_going_on, self._over = False, now
            after = timedelta(seconds=now - self._since)
        if last:
            self._tell(BackAgain(after=after))

    def _tell(self, happening: Happening) -> None:
        self._observers.tell(happening)
        for call in list(self.hooks):
            call(happening)
