"""How fast a server works, compared with the one on which the scripts' costs were measured.

A transfer estimates how much it has time for. On a slow server the same work takes longer, and Redis answers nobody
else meanwhile. From Redis 7.2 on, and in Valkey, a script cannot measure that itself: its clock stands still while it
runs.
"""

from __future__ import annotations

__all__ = ["Pace"]

#: A call that takes longer had too much to do, in us. On the machine of the measurements it takes 15 to 40 ms.
_LONG_US = 50_000
#: A call that takes less could have done more.
_SHORT_US = 20_000
#: A network or a busy client makes one call late now and then. Several in succession tell of the server.
_LONG_CALLS, _SHORT_CALLS = 2, 16
_SLOWEST = 32.0


class Pace:
    """``slowness`` divides the time that a script reckons with: 1.0, or more after long calls."""

    def __init__(self) -> None:
        self.slowness = 1.0
        self._long = self._short = 0

    def took(self, us: int) -> None:
        """Learns how long a call with work to do has taken, its way included."""
        self._long = self._long + 1 if us > _LONG_US else 0
        self._short = self._short + 1 if us < _SHORT_US else 0
        if self._long == _LONG_CALLS:
            self.slowness, self._long = min(_SLOWEST, self.slowness * 2), 0
        elif self._short == _SHORT_CALLS:
            self.slowness, self._short = max(1.0, self.slowness / 1.25), 0
