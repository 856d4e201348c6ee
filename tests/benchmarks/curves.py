"""How a figure grows with a size: flat, logarithmically or linearly, by the best fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

__all__ = ["FALLS", "FLAT", "LINEAR", "LOG", "UNKNOWN", "shape"]

FLAT: Final = "flat"
LOG: Final = "log"
LINEAR: Final = "linear"
FALLS: Final = "falls"
#: The growth if there are fewer than two sizes.
UNKNOWN: Final = "-"

#: Figures that are within this factor of each other do not grow.
_SAME = 1.5


def shape(figures: Mapping[float, float], *, slack: float = 0.0) -> str:
    """The growth of ``figures``, which are by size. Differences up to ``slack`` are ignored.

    >>> shape({10: 3.0, 100: 3.3, 1000: 2.9})
    'flat'
    >>> shape({10: 3.0, 100: 6.1, 1000: 9.0}), shape({10: 2.0, 100: 11.0, 1000: 101.0})
    ('log', 'linear')
    """
    sizes = sorted(figures)
    values = [figures[size] for size in sizes]
    if len(sizes) < 2:
        return UNKNOWN
    if max(values) + slack <= _SAME * (min(values) + slack) or max(values) - min(values) <= slack:
        return FLAT
    if values[-1] < values[0]:
        return FALLS
    misses: Sequence[tuple[str, Callable[[float], float]]] = ((LOG, math.log), (LINEAR, float))
    return min(misses, key=lambda each: _miss([each[1](size) for size in sizes], values))[0]


def _miss(across: Sequence[float], values: Sequence[float]) -> float:
    """The sum of the squared residuals of the best straight line."""
    middle, mean = sum(across) / len(across), sum(values) / len(values)
    spread = sum((place - middle) ** 2 for place in across)
    slope = sum((place - middle) * (value - mean) for place, value in zip(across, values, strict=True)) / spread
    return sum((value - mean - slope * (place - middle)) ** 2 for place, value in zip(across, values, strict=True))
