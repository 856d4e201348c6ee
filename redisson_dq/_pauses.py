"""The pauses between tries, where each takes twice as long as the one before."""

from __future__ import annotations

__all__ = ["Pauses"]


class Pauses:
    """Pauses that double, from ``first`` seconds up to ``longest``. Not thread-safe."""

    def __init__(self, first: float, longest: float) -> None:
        self._first = first
        self._longest = longest
        #: How many seconds the next pause takes.
        self.coming = first

    def next(self) -> float:
        """How many seconds to pause now. The pause after it takes twice as long."""
        seconds = self.coming
        self.coming = min(self._longest, seconds * 2)
        return seconds

    def reset(self) -> None:
        """A try has succeeded. The next pause is the first one again."""
        self.coming = self._first
