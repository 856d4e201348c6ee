"""When the next process starts after one has died. No I/O: time is an argument."""

from __future__ import annotations

__all__ = ["RestartBackoff"]

_FIRST, _LONGEST = 0.5, 30.0
# A process that ran for that long was well.
_WELL = 10.0


class RestartBackoff:
    """The first process that dies is replaced at once. Each one that dies soon after doubles the pause."""

    def __init__(self) -> None:
        self._failures = 0
        self._not_before = 0.0

    def died(self, now: float, ran_for: float) -> float:
        """Notes that a process has died which ran for so long; tells the pause before the next one starts."""
        self._failures = 1 if ran_for >= _WELL else self._failures + 1
        pause = 0.0 if self._failures < 2 else min(_LONGEST, _FIRST * 2.0 ** min(self._failures - 2, 30))
        self._not_before = max(self._not_before, now + pause)
        return pause

    def wait(self, now: float) -> float:
        """How long until a process may start; 0 for now."""
        return max(0.0, self._not_before - now)
