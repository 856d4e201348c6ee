"""How fast a server works, compared with the one on which the scripts' costs were measured.

A transfer estimates how much it has time for. On a slow server the same work takes longer, and Redis answers nobody
else meanwhile. From Redis 7.2 on, and in Valkey, a script cannot measure that itself: its clock does not move while it
runs.
"""

from __future__ import annotations

__all__ = ["Pace"]

#: A call that takes longer had too much to do, in us. On the machine of the measurements it takes 15 to 40 ms.
_LONG_US = 50_000
#: A call that takes less could have done more.
_SHORT_US = 20_000
#: A network or a busy client makes one call late now and then. Several in succession mean that the server is slow.
_LONG_CALLS, _SHORT_CALLS = 2, 16
_SLOWEST = 32.0


class Pace:
    """``slowness`` divides the time that a script assumes: 1.0, or more after long calls.

    A call takes its way to the server and back, and the time that the server works. The way says nothing about the
    server: a call to a server far away is long, however little it does. So the way is measured separately. The fastest
    call is an upper end of it. Before the server counts as slower, a call without work shows what the way takes now.
    """

    def __init__(self) -> None:
        self.slowness = 1.0
        self._way_us = 0
        self._long = self._short = 0
        # The shortest of the long calls in succession.
        self._least_us = 0

    def took(self, us: int, *, worked: bool = True) -> bool:
        """Learns how long a call has taken, its way included. ``worked`` is whether it had work to do.

        True when the server may be slow. A call without work has to be measured then (:meth:`way_took`).
        """
        self._way_us = min(self._way_us, us)
        if not worked:
            return False
        worked_us = us - self._way_us
        self._short = self._short + 1 if worked_us < _SHORT_US else 0
        if self._short == _SHORT_CALLS:
            self.slowness, self._short = max(1.0, self.slowness / 1.25), 0
        if worked_us <= _LONG_US:
            self._long = 0
            return False
        self._least_us = us if self._long == 0 else min(self._least_us, us)
        self._long += 1
        return self._long >= _LONG_CALLS

    def way_took(self, us: int) -> None:
        """Learns how long a call without work has taken, after long calls in succession."""
        self._way_us = us
        if self._least_us - us > _LONG_US:
            self.slowness = min(_SLOWEST, self.slowness * 2)
        self._long = 0
