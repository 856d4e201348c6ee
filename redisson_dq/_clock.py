"""The clock that timers and engines go by. Setting the machine's time does not move it."""

from __future__ import annotations

import time

__all__ = ["now_us"]


def now_us() -> int:
    """Its time in microseconds, counted from an arbitrary moment."""
    return time.monotonic_ns() // 1000
