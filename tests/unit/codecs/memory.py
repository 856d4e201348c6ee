"""How much memory a call takes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

__all__ = ["peak_of"]


def peak_of(call: Callable[[], object]) -> int:
    """The most bytes that were allocated at one time during the call."""
    tracemalloc.start()
    try:
        call()
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak
