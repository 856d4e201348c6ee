"""The clock that timers and engines use. Setting the machine's time does not change it."""

from __future__ import annotations

import time

__all__ = ["now_us"]


def now_us() -> int:
    """The clock's time in microseconds, counted from an arbitrary moment."""
    return time.monotonic_ns() // 1000
