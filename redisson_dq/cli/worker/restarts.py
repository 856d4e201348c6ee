"""When the next process starts after one has died, or could not be started. No I/O: time is an argument."""

from __future__ import annotations

__all__ = ["RestartBackoff", "Shortage"]

_FIRST, _LONGEST = 0.5, 30.0
# A process that ran for this long was healthy.
_WELL = 10.0
# The pause before the next attempt to start a process while the system has no descriptor, process or memory.
_FIRST_TRY, _LAST_TRIES = 0.1, 5.0


class RestartBackoff:
    """The first process that dies is replaced at once. Each one that dies soon after doubles the pause."""

    def __init__(self) -> None:
        self._failures = 0
        self._not_before = 0.0

    def died(self, now: float, ran_for: float) -> float:
        """Records that a process died after running for this long. Returns the pause before the next one starts."""
        self._failures = 1 if ran_for >= _WELL else self._failures + 1
        pause = 0.0 if self._failures < 2 else min(_LONGEST, _FIRST * 2.0 ** min(self._failures - 2, 30))
        self._not_before = max(self._not_before, now + pause)
        return pause

    def wait(self, now: float) -> float:
        """How long until a process may start; 0 for now."""
        return max(0.0, self._not_before - now)


class Shortage:
    """A period in which the system cannot start processes. Each failed attempt doubles the pause before the next."""

    def __init__(self) -> None:
        self._began = 0.0
        self._pause = 0.0
        self._not_before = 0.0
        #: Why the last attempt failed. None if there is no shortage.
        self.reason: str | None = None

    def failed(self, now: float, reason: str) -> bool:
        """Records a failed attempt. Returns whether it was the first one."""
        is_first = self.reason is None
        if is_first:
            self._began = now
        self._pause = _FIRST_TRY if is_first else min(_LAST_TRIES, self._pause * 2)
        self.reason = reason
        self._not_before = now + self._pause
        return is_first

    def ended(self, now: float) -> float | None:
        """Records that a process was started. Returns how long the shortage lasted, or None if there was none."""
        if self.reason is None:
            return None
        self.reason = None
        self._not_before = 0.0
        return now - self._began

    def wait(self, now: float) -> float:
        """How long until the next attempt; 0 for now."""
        return max(0.0, self._not_before - now)
