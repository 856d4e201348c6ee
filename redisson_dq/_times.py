"""Delays, due times and timeouts as users give them, checked and turned into whole milliseconds."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Union

from .errors import ArgumentError

__all__ = ["Delay", "due_word", "timeout_seconds"]

#: Seconds, or a timedelta.
Delay = Union[int, float, timedelta]

# Scores are doubles: beyond 2**53 ms they lose milliseconds. Half of that leaves room for "now".
_MAX_MS = 2**52


def _seconds(value: object, what: str) -> float:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentError(f"{what} is a number of seconds or a timedelta, not {value!r}")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _up_to_ms(seconds: float) -> int:
    # Rounded up, so nothing is due early; what stands below a nanosecond is float noise (0.1 + 0.2).
    return math.ceil(round(seconds * 1000, 6))


def due_word(queue: str, delay: Delay | None, at: datetime | None) -> str:
    """The due time as ``offer.lua`` takes it: ms from now, or ``@`` and epoch ms.

    Raises ArgumentError unless exactly one of ``delay`` (finite, not negative) and ``at`` (with a time zone) is
    given. An ``at`` that has passed means due at once.
    """
    # The common case first: it is part of every offer's cost.
    if at is None and type(delay) in (int, float) and 0 <= delay <= _MAX_MS / 1000:  # type: ignore[operator]
        return str(_up_to_ms(delay))  # type: ignore[arg-type]
    if (delay is None) == (at is None):
        raise ArgumentError(f"queue {queue!r}: an offer takes either delay= or at=, exactly one of them")
    if at is not None:
        if not isinstance(at, datetime) or at.tzinfo is None:
            raise ArgumentError(
                f"queue {queue!r}: at= is a datetime with a time zone, not {at!r}; "
                "for example datetime.now(timezone.utc) + timedelta(minutes=5)"
            )
        return f"@{max(0, _up_to_ms(at.timestamp()))}"
    seconds = _seconds(delay, f"queue {queue!r}: a delay")
    if not math.isfinite(seconds) or seconds < 0 or seconds * 1000 > _MAX_MS:
        raise ArgumentError(
            f"queue {queue!r}: a delay is finite, not negative and below 142,000 years, not {delay!r}; "
            "give delay=0 for an item that is due at once"
        )
    return str(_up_to_ms(seconds))


def timeout_seconds(timeout: Delay, queue: str) -> float:
    """A timeout in seconds. Raises ArgumentError for a negative or non-finite one."""
    seconds = _seconds(timeout, f"queue {queue!r}: a timeout")
    if not math.isfinite(seconds) or seconds < 0:
        raise ArgumentError(f"queue {queue!r}: a timeout is finite and not negative, not {timeout!r}")
    return seconds
