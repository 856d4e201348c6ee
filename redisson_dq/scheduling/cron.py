"""Cron expressions, by APScheduler's triggers. No I/O, no clock. Only this module knows that library.

Two things are done around these triggers, because versions and users have to agree on the result:

- A ``CronTrigger`` numbers weekdays from Monday = 0, and lets day of month and weekday both have to match. Here an
  expression has cron's meaning, see :meth:`Recurrence.checked`.
- Where clocks change, a ``CronTrigger`` of APScheduler 3.10 differs from one of 3.11. Here it sees a calendar
  without clock changes, and this module places the times it finds in the time zone, as cron does.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from datetime import datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from apscheduler.triggers.combining import OrTrigger
    from apscheduler.triggers.cron import CronTrigger

__all__ = ["HORIZON", "next_match", "trigger_of"]

_UTC = timezone.utc
_EPOCH = datetime(1970, 1, 1, tzinfo=_UTC)

#: The longest interval, and how far ahead a cron expression is searched. At the worst, 29 February falls on a given
#: weekday once in 40 years. Searching on to the year 9999 for a 30 February takes half a second.
HORIZON = timedelta(days=36_500)

_MONTHS = ("", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_WEEKDAY_ITEM = re.compile(r"(?:\*|(?P<first>\w+)(?:-(?P<last>\w+))?)(?:/(?P<step>[0-9]+))?", re.ASCII)


def next_match(cron: str, zone: tzinfo, after_ms: int) -> int | None:
    """The first moment later than ``after_ms`` that an expression matches, in ms. None where it matches no more."""

    def local(second: int) -> datetime:
        return (_EPOCH + timedelta(seconds=second)).astimezone(zone)

    def offset_at(second: int) -> int:
        return (local(second).utcoffset() or timedelta()) // timedelta(seconds=1)

    start = after_ms // 1000 + 1
    trigger = trigger_of(cron, _EPOCH + timedelta(seconds=start) + HORIZON)
    whenever_shown = cron.split()[1].startswith("*")
    # The zone is one constant offset after another. Within one, the trigger's calendar and the zone's differ by that
    # offset only. Begin a second early, so that a change at the very start is noticed.
    offset = offset_at(start - 1)
    while True:
        shown: datetime | None = trigger.get_next_fire_time(None, _EPOCH + timedelta(seconds=start + offset))
        if shown is None:
            return None
        due = (shown - _EPOCH) // timedelta(seconds=1) - offset
        if offset_at(due) != offset:
            # Clocks change before that. Go on from there, with the new offset.
            change = _first_other(offset_at, offset, start, due)
            skipped = offset_at(change) - offset
            if due - change < skipped and not whenever_shown:
                return change * 1000
            start, offset = change, offset + skipped
        elif local(due).fold and not whenever_shown:
            start = due + 1
        else:
            return due * 1000


def _first_other(offset_at: Callable[[int], int], offset: int, start: int, end: int) -> int:
    """The second at which the zone leaves ``offset``; it has at ``end``."""
    return start + bisect_left(range(start, end), True, key=lambda second: offset_at(second) != offset)


def trigger_of(cron: str, until: datetime) -> CronTrigger | OrTrigger:
    """The trigger of an expression, read in UTC. Raises ValueError."""
    from apscheduler.triggers.combining import OrTrigger
    from apscheduler.triggers.cron import CronTrigger

    fields = cron.split()
    if len(fields) != 5:
        raise ValueError(f"it has {len(fields)} fields, not 5")
    minute, hour, day, month, weekday = fields
    # APScheduler ignores text after a name: "jan/2", "last-1".
    if re.search("last[^,]", day):
        raise ValueError(f"{day!r} is not a day of the month")
    month = re.sub("[a-z]+", _month, month)
    weekdays = ",".join(_weekdays(weekday))
    rest = {"minute": minute, "hour": hour, "month": month, "timezone": _UTC, "end_date": until}
    if day.startswith("*") or weekday.startswith("*"):
        return CronTrigger(day=day, day_of_week=weekdays, **rest)
    return OrTrigger([CronTrigger(day=day, **rest), CronTrigger(day_of_week=weekdays, **rest)])


def _month(name: re.Match[str]) -> str:
    if name[0] in _MONTHS:
        return str(_MONTHS.index(name[0]))
    raise ValueError(f"{name[0]!r} is not a month (1-12, jan-dec)")


def _weekdays(field: str) -> list[str]:
    """The names of a field's weekdays: names are the same to cron and APScheduler, numbers are not."""
    days: set[int] = set()
    for item in field.split(","):
        match = _WEEKDAY_ITEM.fullmatch(item)
        if match is None or match["step"] == "0":
            raise ValueError(f"{item!r} is not a weekday, range or step of weekdays")
        first = _weekday(match["first"] or "0")
        last = first if match["first"] and not match["step"] else 6
        if match["last"]:
            last = _weekday(match["last"])
        days.update(range(first, last + 1 if first <= last else last + 8, int(match["step"] or 1)))
    return [name for day, name in enumerate(_WEEKDAYS) if {day, day + 7} & days]


def _weekday(text: str) -> int:
    if text in _WEEKDAYS:
        return _WEEKDAYS.index(text)
    if text in tuple("01234567"):
        return int(text)
    raise ValueError(f"{text!r} is not a weekday (0-7, sun-sat)")
