"""Slows a lookout down when Redis keeps reporting changes, and nothing is ever ready.

Redis also reports a key when it has no room to remember it (``tracking-table-max-keys``). A lookout that asks and
watches the key again then drives out another key, which Redis reports. The lookout would repeat this for ever, as fast
as it can. Many processes that wait for one queue do the same: each value is reported to all of them, and one gets it.
"""

from __future__ import annotations

from typing import Final

__all__ = ["Brake"]

# The brake counts in periods of this many seconds.
_SPAN: Final = 1.0
# Changes that are no storm: for each value that came, for each source that is waited for, and in any case.
_EACH_VALUE: Final = 100
_EACH_SOURCE: Final = 2
_ALWAYS: Final = 500
# The pause before each round of a storm.
_PAUSE: Final = 0.5


class Brake:
    """Counts the changes that Redis reports, and the values that come. Time is an argument, in seconds."""

    def __init__(self) -> None:
        self._since = 0.0
        self._told = self._came = 0
        self._has_braked = False

    def told(self, count: int, now: float) -> None:
        """Redis reported changes of ``count`` sources."""
        self._go_on(now)
        self._told += count

    def came(self, count: int) -> None:
        """``count`` values came."""
        self._came += count

    def pause(self, sources: int, now: float) -> float:
        """For how many seconds to pause before the next round, where ``sources`` are watched."""
        self._go_on(now)
        is_storm = self._told > _EACH_VALUE * self._came + _EACH_SOURCE * sources + _ALWAYS
        return _PAUSE if is_storm else 0.0

    def is_new(self) -> bool:
        """Whether this is the first call: only the first storm is worth a warning."""
        is_new, self._has_braked = not self._has_braked, True
        return is_new

    def _go_on(self, now: float) -> None:
        if now - self._since >= _SPAN:
            self._since, self._told, self._came = now, 0, 0
