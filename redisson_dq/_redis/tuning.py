"""Settings of a client that no program has to change. Only tests and benchmarks change them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import attrs

__all__ = ["Tuning", "current", "tuned"]


@attrs.frozen(kw_only=True)
class Tuning:
    """How often a client checks its subscription and the heads of its queues, in seconds; how many due items one call
    of the script moves; whether the client waits without sleeping for the last 0.3 ms before a transfer.
    """

    probe_interval: float = 30.0
    #: The script's work grows with it, and Lua cannot unpack many thousand values.
    transfer_batch: int = 5000
    busy_wait: bool = True


_current = Tuning()


def current() -> Tuning:
    """The settings of a client that is made now."""
    return _current


@contextlib.contextmanager
def tuned(
    *, probe_interval: float | None = None, transfer_batch: int | None = None, busy_wait: bool | None = None
) -> Iterator[None]:
    """Gives these settings to every client that is made inside, in any thread. For tests."""
    global _current
    before = _current
    changes: dict[str, Any] = {
        "probe_interval": probe_interval,
        "transfer_batch": transfer_batch,
        "busy_wait": busy_wait,
    }
    _current = attrs.evolve(before, **{name: value for name, value in changes.items() if value is not None})
    try:
        yield
    finally:
        _current = before
