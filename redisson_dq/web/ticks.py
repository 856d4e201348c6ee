"""The ticks of the timeline: whole minutes, hours, days, Mondays, months or years, wherever its bars begin."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

import attrs

from redisson_dq.scheduling.times import from_ms

__all__ = ["MOST_TICKS", "TimeTick", "ticks"]

#: The most ticks of a range, so that their labels do not overlap.
MOST_TICKS = 9
_S, _M, _H, _D = 1000, 60_000, 3_600_000, 86_400_000
_STEPS = (
    *(_S, 2 * _S, 5 * _S, 10 * _S, 15 * _S, 30 * _S, _M, 2 * _M, 5 * _M, 10 * _M, 15 * _M, 30 * _M),
    *(_H, 2 * _H, 3 * _H, 6 * _H, 12 * _H, _D, 2 * _D, 7 * _D, 14 * _D),
)
_MONTHS = (1, 3, 6, *(12 * years for years in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)))
# The epoch was a Thursday.
_MONDAY = 4 * _D


@attrs.frozen(kw_only=True)
class TimeTick:
    """One tick. ``share`` is its place in the range, 0 to 100, and ``label`` its text."""

    at: datetime
    share: float
    label: str


def ticks(start_ms: int, end_ms: int) -> tuple[TimeTick, ...]:
    """The ticks inside a range. Days, months and years are those of UTC."""
    size = end_ms - start_ms
    step = next((each for each in _STEPS if size <= each * (MOST_TICKS - 1)), None)
    found = _months(start_ms, end_ms) if step is None else _equal(start_ms, end_ms, step)
    return tuple(
        TimeTick(at=from_ms(ms), share=round(100 * (ms - start_ms) / size, 3), label=label) for ms, label in found
    )


def _equal(start_ms: int, end_ms: int, step: int) -> Iterator[tuple[int, str]]:
    first = _MONDAY if step % (7 * _D) == 0 else 0
    for ms in range(start_ms + (first - start_ms) % step, end_ms, step):
        is_day = ms % _D == 0
        yield ms, from_ms(ms).strftime("%d %b" if is_day else "%H:%M" if step >= _M else "%H:%M:%S")


def _months(start_ms: int, end_ms: int) -> Iterator[tuple[int, str]]:
    begin, end = _month_of(start_ms), _month_of(end_ms)
    step = next(each for each in _MONTHS if end - begin < each * MOST_TICKS)
    for month in range(begin - begin % step, end + 1, step):
        moment = datetime(month // 12, month % 12 + 1, 1, tzinfo=timezone.utc)
        ms = round(moment.timestamp() * 1000)
        if start_ms <= ms < end_ms:
            yield ms, f"{moment.year}" if step >= 12 else moment.strftime("%b %Y")


def _month_of(ms: int) -> int:
    """Months since the year 0."""
    moment = from_ms(ms)
    return moment.year * 12 + moment.month - 1
