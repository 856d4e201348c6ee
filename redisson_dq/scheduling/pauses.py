"""The pauses between tries, where each takes twice as long as the one before."""

from __future__ import annotations

import random

__all__ = ["JITTER", "Pauses", "jittered"]


# Many processes may fail at the same moment. Their pauses differ by this share, so that they do not all return at once.
JITTER = 0.25


def jittered(seconds: float) -> float:
    """A pause of this many seconds, or a little less."""
    return seconds * random.uniform(1 - JITTER, 1)


class Pauses:
    """Pauses that double, from ``first`` seconds up to ``longest``, each a little shorter by chance.

    Not thread-safe.
    """

    def __init__(self, first: float, longest: float) -> None:
        self._first = first
        self._longest = longest
        #: How many seconds the next pause takes at most.
        self.coming = first

    def next(self) -> float:
        """How many seconds to pause now. The pause after it takes twice as long."""
        seconds = self.coming
        self.coming = min(self._longest, seconds * 2)
        return jittered(seconds)

    def reset(self) -> None:
        """A try has succeeded. The next pause is the first one again."""
        self.coming = self._first
