"""Whether a handler makes progress: how long the last ones took, and when one began or ended."""

from __future__ import annotations

from typing import Final

__all__ = ["UsualTime"]

# Beyond this many seconds, and this many times the longest of the last handlings, a handling takes unusually long.
_SHORTEST: Final = 30.0
_TIMES: Final = 3
# The longest handling is forgotten bit by bit with each one that is shorter.
_FADES: Final = 0.9


class UsualTime:
    """The pace of one handler. Times are in seconds of the clock."""

    __slots__ = ("last_change", "longest")

    def __init__(self) -> None:
        #: When a handling began or ended last.
        self.last_change = 0.0
        #: About how long the longest of the last handlings took; 0 before the first end.
        self.longest = 0.0

    def ended(self, now: float, seconds: float) -> None:
        """A handling has ended after ``seconds``."""
        self.last_change = now
        self.longest = seconds if seconds > self.longest else max(seconds, _FADES * self.longest)

    def patience(self, timeout: float | None, default: float) -> float:
        """For how many seconds a handling may go on before it is unusual.

        ``default`` holds before the first end, for a handler without ``timeout``.
        """
        if not self.longest:
            return default if timeout is None else timeout
        usual = max(_TIMES * self.longest, min(_SHORTEST, default))
        return usual if timeout is None else min(usual, timeout)
