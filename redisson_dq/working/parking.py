"""Values that came while their handler had no free slot: when they come again, and when others may pass them."""

from __future__ import annotations

import math

__all__ = ["Parking"]

# A handler that is full for a shorter time holds up the others of its queue. Nothing is parked then.
_PATIENCE = 0.05
# A parked value comes again after a quarter of the time for which its handler has been full, within these bounds ...
_SHORTEST, _LONGEST = 0.1, 1.0
# ... and so much later than the one that was parked before it. So at most 100 values a second come again.
_APART = 0.01
# When the last one is to come later than that, the handler holds up the others again: they stand far behind.
_FARTHEST = 10.0


class Parking:
    """Of one handler in this process. Times are on the monotonic clock.

    Nobody knows whose value the next one is, and Redis gives no value out of its turn. So a worker that goes on while a
    handler is full also gets values of that handler. It parks them: they wait like delayed items, and come again.
    """

    def __init__(self) -> None:
        self._full_since: float | None = None
        # When the last parked value comes again.
        self._last = -math.inf
        #: When :attr:`is_open` becomes true, or None.
        self.moment: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether others of the queue may pass, and values of this handler are parked meanwhile."""
        return self._full_since is not None and self.moment is None

    def begin(self, now: float) -> None:
        """Notes that the handler is full."""
        if self._full_since is None:
            self._full_since = now
            self.moment = max(now + _PATIENCE, self._last - _FARTHEST)

    def end(self) -> None:
        """Notes that the handler has a free slot."""
        self._full_since = self.moment = None

    def reach(self, now: float) -> bool:
        """Whether the moment has come. True once."""
        if self.moment is None or self.moment > now:
            return False
        self.moment = None
        return True

    def park(self, count: int, now: float) -> float:
        """Parks so many values, and gives the seconds after which they come again.

        0 where the handler was not full a moment ago: nobody passes then, and they go back to the head.
        """
        if not self.is_open or self._full_since is None:
            return 0.0
        pause = min(_LONGEST, max(_SHORTEST, (now - self._full_since) / 4))
        self._last = max(now + pause, self._last) + count * _APART
        if self._last - now > _FARTHEST:
            self.moment = self._last - _FARTHEST
        return self._last - now
