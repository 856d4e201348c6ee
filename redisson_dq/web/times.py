"""Times in queries and forms, and times and spans in words."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

from redisson_dq.errors import ArgumentError

__all__ = ["LAST_MS", "in_words", "moment_ms", "span_in_words", "span_ms"]

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000, "y": 31_536_000_000}
_SPAN = re.compile(r"([+-]?)(\d{1,15}(?:\.\d{1,6})?)\s*(ms|[smhdwy])?")
#: The last moment of the calendar, in epoch ms.
LAST_MS = 253402300799999


def span_ms(text: str) -> int:
    """A span in ms: ``90``, ``5m``, ``-2h``, ``1.5d``. A plain number is in seconds. Raises ArgumentError."""
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise ArgumentError(
            f"a time must be a number of seconds, or such as 500ms, 5m, 2h, 1d or -5m, not {text[:100]!r}"
        )
    ms = round(float(found[2]) * _UNITS[found[3] or "s"])
    if ms > LAST_MS:
        raise ArgumentError(f"{text[:100]!r} is longer than any calendar")
    return -ms if found[1] == "-" else ms


def moment_ms(text: str, now_ms: int) -> int:
    """A moment in epoch ms: epoch ms, ISO 8601, ``now``, or a span from now on such as ``+1h``. Raises ArgumentError.

    A time without a zone is UTC.
    """
    text = text.strip()
    if text.lower() == "now":
        return now_ms
    if text[:1] in ("+", "-"):
        return now_ms + span_ms(text)
    if text.isascii() and text.isdigit() and len(text) <= 15:
        return min(int(text), LAST_MS)
    try:
        moment = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return round(moment.timestamp() * 1000)
    except (ValueError, OverflowError):
        raise ArgumentError(
            f"a moment is such as 2026-11-25T09:00:00Z, now, +1h, or epoch ms, not {text[:100]!r}"
        ) from None


def in_words(moment: datetime | None, now: datetime | None) -> str:
    """A time relative to now: ``in 5m 10s``, ``2h 3m ago``."""
    if moment is None or now is None:
        return ""
    text = span_in_words(abs(moment - now))
    return f"in {text}" if moment > now else f"{text} ago"


def span_in_words(span: timedelta) -> str:
    """A span by its two largest units: ``1d 4h``, ``5m 10s``, ``250ms``."""
    ms = round(span.total_seconds() * 1000)
    if ms < 10_000:
        return f"{ms}ms" if ms < 1000 else f"{ms / 1000:.1f}s"
    left = round(ms / 1000)
    parts: list[str] = []
    for unit, size in (("y", 31_536_000), ("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count}{unit}" if count else "")
        if len(parts) == 2:
            break
    return " ".join(filter(None, parts))
