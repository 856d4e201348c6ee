"""Delays, due times and timeouts as users give them, checked and turned into whole numbers."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Union

import attrs

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling.clock import Clock

__all__ = [
    "Delay",
    "Left",
    "delay_us",
    "delays_in_seconds",
    "down_to_ms",
    "due_word",
    "from_ms",
    "from_optional_ms",
    "from_us",
    "machine_us",
    "seconds_of",
    "span_ms",
    "span_us",
]
__all__ += ["timeout_seconds", "to_ms", "up_to_us", "visible_us"]

#: Seconds, or a timedelta.
Delay = Union[int, float, timedelta]

# Scores are doubles: beyond 2**53 ms they lose milliseconds. Half of that leaves room for "now".
_MAX_MS = 2**52

# 31 years. A larger number is hardly a delay: the seconds or milliseconds since 1970 are.
_A_MOMENT = 1_000_000_000

# The types of nearly all delays.
_NUMBERS = frozenset((int, float))

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def _seconds(value: object, what: str) -> float:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentError(f"{what} must be a number of seconds or a timedelta, not {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _up_to_ms(seconds: float) -> int:
    # Rounded up, so nothing is due early. Anything below a nanosecond is float noise (0.1 + 0.2).
    return math.ceil(seconds * 1000 - 1e-6)


def up_to_us(seconds: float) -> int:
    """Whole microseconds, rounded up. Anything below a nanosecond is float noise."""
    return math.ceil(seconds * 1_000_000 - 1e-3)


@attrs.frozen
class Left:
    """The rest of a delay that began at a moment of the client's clock. As text it is whole us, from 0 on."""

    us: int
    since_us: int
    clock: Clock

    def __str__(self) -> str:
        return str(max(0, self.us - (self.clock.now_us() - self.since_us)))


def due_word(queue: str, delay: Delay | None, at: datetime | None, clock: Clock | None = None) -> str | Left:
    """The due time as ``offer.lua`` takes it: us from now, or ``@`` and epoch ms.

    With ``clock`` the delay runs from this moment on, and is made text when it is sent.
    Raises ArgumentError unless exactly one of ``delay`` (finite, not negative) and ``at`` (with a time zone) is
    given. An ``at`` that has passed means due at once.
    """
    # The common case comes first: every offer pays for it.
    if at is None and type(delay) in _NUMBERS and 0 <= delay < _A_MOMENT:  # type: ignore[operator]
        return _left(up_to_us(delay), clock)  # type: ignore[arg-type]
    if at is not None and not isinstance(at, datetime):
        # Java's offer takes a number and its unit.
        raise ArgumentError(
            f"queue {queue!r}: at= must be a datetime with a time zone, not {shown(at)}; a delay is in seconds or a "
            "timedelta, without a unit: delay=2.5 is 2,500 ms"
        )
    if (delay is None) == (at is None):
        raise ArgumentError(f"queue {queue!r}: an offer takes either delay= or at=, exactly one of them")
    if at is not None:
        return f"@{max(0, to_ms(at, queue, 'at='))}"
    return _left(up_to_us(_delay_seconds(queue, delay)), clock)


def _left(us: int, clock: Clock | None) -> str | Left:
    return str(us) if clock is None else Left(us, clock.now_us(), clock)


def delays_in_seconds(queue: str, delays: Sequence[Delay]) -> Sequence[float]:
    """The delays of many offers in seconds, unrounded. Raises ArgumentError."""
    # The common case comes first here too.
    if _NUMBERS.issuperset(map(type, delays)) and all(0 <= delay < _A_MOMENT for delay in delays):  # type: ignore[operator]
        return delays  # type: ignore[return-value]
    return [_delay_seconds(queue, delay) for delay in delays]


def _delay_seconds(queue: str, delay: object) -> float:
    seconds = _seconds(delay, f"queue {queue!r}: a delay")
    if not math.isfinite(seconds) or seconds < 0 or seconds * 1000 > _MAX_MS:
        raise ArgumentError(
            f"queue {queue!r}: a delay must be finite, not negative and below 142,000 years, not {shown(delay)}; "
            "give delay=0 for an item that is due at once"
        )
    if seconds >= _A_MOMENT and not isinstance(delay, timedelta):
        raise ArgumentError(
            f"queue {queue!r}: a delay of {delay} seconds would be {seconds / 31_557_600:,.0f} years; a moment goes by "
            "at=datetime.fromtimestamp(..., timezone.utc), and a delay as long as that as a timedelta"
        )
    return seconds


def delay_us(delay: Delay, queue: str) -> int:
    """A delay in whole microseconds, as that of an offer. Raises ArgumentError."""
    return up_to_us(_delay_seconds(queue, delay))


def span_ms(span: Delay, queue: str, what: str) -> int:
    """A span of time in whole milliseconds, rounded up. Raises ArgumentError for a negative or non-finite one."""
    return _up_to_ms(seconds_of(span, f"queue {queue!r}: {what}"))


def span_us(span: Delay, queue: str, what: str) -> int:
    """A delay in whole microseconds, to be added to the server's time. Only the sum is rounded to ms then."""
    return up_to_us(seconds_of(span, f"queue {queue!r}: {what}"))


def visible_us(visibility_timeout: Delay, queue: str) -> int:
    """A visibility timeout in us. Raises ArgumentError unless it is above zero."""
    us = span_us(visibility_timeout, queue, "a visibility timeout")
    if not us:
        raise ArgumentError(f"queue {queue!r}: a visibility timeout is above zero")
    return us


def to_ms(moment: object, queue: str, what: str) -> int:
    """An aware datetime as epoch milliseconds, rounded up. Raises ArgumentError for anything else."""
    return _up_to_ms(_aware(moment, queue, what).timestamp())


def down_to_ms(moment: object, queue: str, what: str) -> int:
    """An aware datetime as epoch milliseconds, rounded down. Raises ArgumentError for anything else."""
    return (_aware(moment, queue, what) - _EPOCH) // timedelta(milliseconds=1)


def _aware(moment: object, queue: str, what: str) -> datetime:
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise ArgumentError(
            f"queue {queue!r}: {what} must be a datetime with a time zone, not {shown(moment)}; "
            "for example datetime.now(timezone.utc) + timedelta(minutes=5)"
        )
    return moment


def machine_us() -> int:
    """The time of this machine's calendar, in epoch us. It decides nothing."""
    return time.time_ns() // 1000


def from_us(us: int) -> datetime:
    """A moment in epoch us, in UTC."""
    return _EPOCH + timedelta(microseconds=us)


def from_ms(epoch_ms: int) -> datetime:
    """The datetime in UTC. A time out of range gives the latest datetime."""
    try:
        return _EPOCH + timedelta(milliseconds=epoch_ms)
    except OverflowError:
        return datetime.max.replace(tzinfo=timezone.utc)


def from_optional_ms(epoch_ms: int | None) -> datetime | None:
    """The datetime of epoch ms. None if they are unknown."""
    return None if epoch_ms is None else from_ms(epoch_ms)


def timeout_seconds(timeout: Delay, queue: str) -> float:
    """A timeout in seconds. Raises ArgumentError for a negative or non-finite one, and for one that Redis refuses."""
    return seconds_of(timeout, f"queue {queue!r}: a timeout")


def seconds_of(span: object, what: str) -> float:
    """A span of time in seconds. Raises ArgumentError for a negative or non-finite one. ``what`` begins the message."""
    seconds = _seconds(span, what)
    if not math.isfinite(seconds) or seconds < 0 or seconds * 1000 > _MAX_MS:
        raise ArgumentError(f"{what} must be finite, not negative and below 142,000 years, not {shown(span)}")
    return seconds
