"""Checks the moments and spans that a test gives to its clock, and converts them to whole us."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from redisson_dq.errors import ArgumentError

__all__ = ["LAST_US", "after", "epoch_us"]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_US = timedelta(microseconds=1)
#: The last moment that Python can represent.
LAST_US = (datetime.max.replace(tzinfo=timezone.utc) - _EPOCH) // _US


def epoch_us(moment: Any, what: str) -> int:
    """A moment in epoch us. Raises ArgumentError for a moment without a time zone, or one that Redis or Python cannot
    represent.
    """
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise ArgumentError(f"{what} a datetime with a time zone, not {moment!r}")
    found = (moment - _EPOCH) // _US
    if not 0 <= found <= LAST_US:
        raise ArgumentError(f"{what} a moment of the years 1970 to 9999 in UTC, not {moment}")
    return found


def after(now_us: int, span: Any, parts: Mapping[str, float]) -> int:
    """The moment later by seconds, a timedelta, or the arguments of one. Raises ArgumentError for other values."""
    if (span is None) is not bool(parts):
        raise ArgumentError("advance() takes either a span or its parts: advance(30), advance(minutes=5, seconds=30)")
    try:
        if isinstance(span, bool):
            raise TypeError(f"{span} is not a number")
        if not isinstance(span, timedelta):
            span = timedelta(**parts) if parts else timedelta(seconds=span)
        moment_us: int = now_us + span // _US
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(
            f"advance(): a span is in seconds, a timedelta, or its parts such as days=30: {error}"
        ) from error
    if moment_us > LAST_US:
        raise ArgumentError(f"advance(): {span} ends after the year 9999")
    return moment_us
