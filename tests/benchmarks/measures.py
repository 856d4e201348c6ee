"""What a run is asked for, and the arithmetic of its figures."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import attrs

__all__ = ["ASYNCIO", "REDISSON", "SYNC", "Settings", "Spread", "percentile", "ratios"]

#: The three that are measured side by side, as every table and the JSON name them.
REDISSON = "Redisson"
SYNC = "redisson_dq"
ASYNCIO = "redisson_dq.aio"


@attrs.frozen(kw_only=True)
class Settings:
    """How much is measured."""

    #: Items of one lateness pass, spread over this many seconds; items before it that do not count.
    items: int
    seconds: float
    warm_up: int
    #: Passes of each subject; rates are measured three times as often, as one takes a fraction of a second.
    repeat: int
    #: Calls of one slice of single offers, items of one bulk slice, items of one slice of Redisson's offers.
    offers: int
    bulk: int
    redisson_offers: int
    #: How long a codec has for one value in one direction, each round.
    slice_ms: int
    java: bool

    @property
    def rounds(self) -> int:
        """How often each rate is measured."""
        return 3 * self.repeat


@attrs.frozen(kw_only=True)
class Spread:
    """Repetitions of one figure: the median, and the least and the greatest of them."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> Spread:
        return cls(median=statistics.median(figures), low=min(figures), high=max(figures))

    def text(self, digits: int) -> str:
        """``0.53 (0.50 to 0.61)``."""
        if self.low == self.high:
            return f"{self.median:,.{digits}f}"
        return f"{self.median:,.{digits}f} ({self.low:,.{digits}f} to {self.high:,.{digits}f})"


def percentile(figures: Sequence[float], share: float) -> float:
    """The nearest rank: the least figure that at least ``share`` percent of all do not exceed."""
    ordered = sorted(figures)
    return ordered[max(0, math.ceil(share / 100 * len(ordered)) - 1)]


def ratios(figures: Sequence[float], beside: Sequence[float]) -> Spread:
    """Of each round to its own neighbour, so that a slow second of the machine hits both sides."""
    return Spread.of([mine / theirs for mine, theirs in zip(figures, beside, strict=True)])
