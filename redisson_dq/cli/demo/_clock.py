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

    error_ms: float
    offset_ms: float
    counter: Callable[[], float] = time.perf_counter

    def now_ms(self) -> float:
        """The server's clock, in epoch milliseconds."""
        return self.counter() * 1000 + self.offset_ms

    def drift_ms(self, later: ServerTime) -> float:
        """By how much a later measurement of the same clock differs from this one."""
        return abs(later.offset_ms - self.offset_ms)


def measure(server_time_us: Callable[[], int], *, counter: Callable[[], float] = time.perf_counter) -> ServerTime:
    """Ask for the server's time in microseconds 20 times, and trust the quickest answer."""
    samples = []
    for _ in range(_SAMPLES):
        sent = counter()
        there_ms = server_time_us() / 1000
        received = counter()
        samples.append(((received - sent) * 500, there_ms - (sent + received) * 500))
    error_ms, offset_ms = min(samples)
    return ServerTime(error_ms=error_ms, offset_ms=offset_ms, counter=counter)
