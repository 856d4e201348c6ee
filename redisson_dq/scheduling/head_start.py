"""How long before a transfer is sent its timer fires, learned from the ways before. No I/O.

A way lasts from the time that the timer was set for to the moment when everything is ready to be sent. It includes the
timer's thread, the driver and a connection. A transfer that is ready early waits for the rest.
"""

from __future__ import annotations

from collections import deque
from typing import Final

__all__ = ["HeadStart"]

_FIRST_US: Final = 200
_LEAST_US: Final = 50
_MOST_US: Final = 2_000
# How many ways are remembered.
_WAYS: Final = 32


class HeadStart:
    """Learns the way from the timer to the sending. ``busy_wait`` is whether a wait can end to the microsecond.

    With it, the head start aims at the 90th percentile: nine of ten transfers are ready in time, and wait. Without it a
    wait costs more than it saves, so the aim is the 10th percentile.
    """

    def __init__(self, *, busy_wait: bool) -> None:
        self.us = _FIRST_US
        self._busy_wait = busy_wait
        self._ways: deque[int] = deque(maxlen=_WAYS)

    def learn(self, way_us: int) -> None:
        """A timer that was to fire ``way_us`` ago led to a transfer that can be sent now."""
        self._ways.append(way_us)
        ordered = sorted(self._ways)
        in_time = ordered[len(ordered) * (9 if self._busy_wait else 1) // 10]
        self.us = max(_LEAST_US, min(_MOST_US, in_time))
