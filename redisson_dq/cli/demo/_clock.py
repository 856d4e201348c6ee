"""The server's clock, seen from here."""

from __future__ import annotations

import time
from collections.abc import Callable

import attrs

__all__ = ["ServerTime", "measure"]

_SAMPLES = 20


@attrs.frozen(kw_only=True)
class ServerTime:
    """Turns ``time.perf_counter()`` of this process into the server's epoch milliseconds.

    ``offset_ms`` is added. ``error_ms`` is how far off the result can be. It is half the shortest round trip, as the
    server may have read its clock at either end of it.
    """

    offset_ms: float
    error_ms: float

    def at(self, counter: float) -> float:
        """The server's clock, in epoch milliseconds, when the counter (seconds) stood there."""
        return counter * 1000 + self.offset_ms

    def drift_ms(self, later: ServerTime) -> float:
        """By how much a later measurement of the same clock differs from this one."""
        return abs(later.offset_ms - self.offset_ms)


def measure(
    server_time: Callable[[], tuple[int, int]], *, counter: Callable[[], float] = time.perf_counter
) -> ServerTime:
    """Ask for the server's TIME (seconds, microseconds) 20 times and trust the quickest answer."""
    best: tuple[float, float] | None = None
    for _ in range(_SAMPLES):
        sent = counter()
        seconds, micros = server_time()
        received = counter()
        middle_ms = (sent + received) * 500
        sample = ((received - sent) * 500, seconds * 1000 + micros / 1000 - middle_ms)
        best = min(best, sample) if best else sample
    assert best is not None
    return ServerTime(error_ms=best[0], offset_ms=best[1])
