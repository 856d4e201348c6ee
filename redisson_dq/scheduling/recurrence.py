"""When a recurring offer is due: its definition, and the one time that follows from another. No I/O, no clock.

The definition is stored in Redis and any number of processes work from it, so every answer depends on the arguments
alone. APScheduler's triggers compute the times. No other module knows that library.
Three things are done around the triggers, because versions and users have to agree on the result:

- An ``IntervalTrigger`` counts in floating-point seconds. One step, rounded to a millisecond, is exact. The number of
  missed steps is not: that of 3.11 is one too many about every other time. It is integer arithmetic here.
- A ``CronTrigger`` numbers weekdays from Monday = 0, and lets day of month and weekday both have to match. Here an
  expression has cron's meaning, see :meth:`Recurrence.checked`.
- Where clocks change, a ``CronTrigger`` of APScheduler 3.10 differs from one of 3.11. Here it sees a calendar
  without clock changes, and this module places the times it finds in the time zone, as cron does.

Nothing is due after the year 9900.

Most programs have no recurring offers. So this module is imported by the calls that need it, and APScheduler by the
functions here.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable
from datetime import datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import attrs
from attrs.validators import ge, instance_of, le, optional

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling.times import Delay, span_ms, to_ms

if TYPE_CHECKING:
    from apscheduler.triggers.combining import OrTrigger
    from apscheduler.triggers.cron import CronTrigger

__all__ = ["NewerRuleError", "Recurrence"]

_VERSION = 1
_UTC = timezone.utc
_EPOCH = datetime(1970, 1, 1, tzinfo=_UTC)
_MS = timedelta(milliseconds=1)

# The longest interval, and how far ahead a cron expression is searched. At the worst, 29 February falls on a given
# weekday once in 40 years. Searching on to the year 9999 for a 30 February takes half a second.
_HORIZON = timedelta(days=36_500)
# The horizon is a date that datetime can hold.
_LAST_MS = (datetime(9900, 1, 1, tzinfo=_UTC) - _EPOCH) // _MS

_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_MONTHS = ("", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_WEEKDAY_ITEM = re.compile(r"(?:\*|(?P<first>\w+)(?:-(?P<last>\w+))?)(?:/(?P<step>[0-9]+))?", re.ASCII)

_optional_int = optional(instance_of(int))


class NewerRuleError(ArgumentError):
    """A stored rule is in a form that this version does not know."""

    def __init__(self, form: int) -> None:
        super().__init__(
            f"a stored recurrence is in form {form}, and this version of redisson-dq reads {_VERSION} only; upgrade it"
        )
        self.form = form


@attrs.frozen(kw_only=True)
class Recurrence:
    """When a recurring offer is due. Built by :meth:`checked` from users' arguments, by :meth:`from_json` from Redis.

    Either ``every_ms`` (1 ms to 36,500 days) or ``cron`` (five fields in lower case, no alias) is set. ``timezone``
    is the IANA name that ``cron`` is read in. ``start_ms`` and ``end_ms`` are epoch ms, both inclusive, None for
    "from now on" and "for ever". Raises ArgumentError for a combination that means nothing, TypeError or ValueError for
    a single field that does.
    """

    every_ms: int | None = attrs.field(default=None, validator=optional([instance_of(int), ge(1), le(_HORIZON // _MS)]))
    cron: str | None = attrs.field(default=None, validator=optional(instance_of(str)))
    timezone: str = attrs.field(default="UTC", validator=instance_of(str))
    start_ms: int | None = attrs.field(default=None, validator=_optional_int)
    end_ms: int | None = attrs.field(default=None, validator=_optional_int)

    def __attrs_post_init__(self) -> None:
        if (self.every_ms is None) == (self.cron is None):
            raise ArgumentError("a recurring offer takes either every= or cron=, exactly one of them")
        try:
            _zone(self.timezone)
        except (LookupError, ValueError, OSError) as error:
            raise ArgumentError(
                f"no time zone is called {self.timezone!r}; give an IANA name such as 'Europe/Berlin'. "
                "Where the system has no time zones, install the package tzdata"
            ) from error
        if self.cron is not None:
            try:
                _cron_trigger(self.cron, _EPOCH)
            except ValueError as error:
                raise ArgumentError(
                    f"cron={self.cron!r} cannot be read: {error}. Give minute, hour, day of month, month and weekday, "
                    "for example '30 9 * * mon-fri', or one of " + ", ".join(_ALIASES)
                ) from error
        if self.start_ms is not None and self.end_ms is not None and self.end_ms < self.start_ms:
            raise ArgumentError("end= is before start=; give an end that is not, or none")

    @classmethod
    def checked(
        cls,
        queue_name: str,
        *,
        every: Delay | None = None,
        cron: str | None = None,
        timezone: str = "UTC",
        start: datetime | None = None,
        end: datetime | None = None,
    ) -> Recurrence:
        """The definition a user gave. Raises ArgumentError, which names the queue, for one that cannot be used.

        ``every`` is seconds or a timedelta, 1 ms to 36,500 days, rounded up to whole milliseconds. It is absolute
        time, whatever ``timezone``: every 24 hours, not every day at nine.

        ``cron`` has five fields, and cron's meaning:

        ============  =========================================
        minute        0-59
        hour          0-23
        day of month  1-31, ``last``
        month         1-12, ``jan``-``dec``
        weekday       0-7, ``sun``-``sat``; 0 and 7 are Sunday
        ============  =========================================

        A field is ``*`` or a list (``1,15``) of values, ranges (``1-5``) and steps (``*/15``, ``8-18/2``, ``5/10``:
        from 5 to the end). A weekday range may pass Sunday (``fri-mon``). When neither day of month nor weekday
        begins with ``*``, a day that matches *either* counts: ``0 9 1 * mon`` is each first and each Monday.
        Aliases: ``@hourly``, ``@daily`` (``@midnight``), ``@weekly``, ``@monthly``, ``@yearly`` (``@annually``).

        When clocks change, an hour field that begins with ``*`` is due whenever the clock shows its times. So ``0 * * *
        *`` is each hour of real time. Any other time of day is due once. When the clock shows it twice, it is due the
        first time. When the clock skips it, it is due at the moment of the change. In Berlin ``30 2 * * *`` is due at
        3:00 on the spring day and at the first 2:30 on the autumn day.

        ``start`` and ``end`` are datetimes with a time zone, both inclusive. The times of ``every`` are counted from
        ``start``.
        """
        every_ms = None if every is None else span_ms(every, queue_name, "every=")
        if every_ms is not None and not 1 <= every_ms <= _HORIZON // _MS:
            raise ArgumentError(f"queue {queue_name!r}: every= is between 1 ms and 36,500 days, not {shown(every)}")
        if not isinstance(timezone, str):
            raise ArgumentError(f"queue {queue_name!r}: timezone= is an IANA name as a string, not {shown(timezone)}")
        if cron is not None:
            if not isinstance(cron, str):
                raise ArgumentError(f"queue {queue_name!r}: cron= is a string of five fields, not {shown(cron)}")
            cron = " ".join(cron.lower().split())
            cron = _ALIASES.get(cron, cron)
        start_ms = None if start is None else to_ms(start, queue_name, "start=")
        end_ms = None if end is None else to_ms(end, queue_name, "end=")
        try:
            return cls(every_ms=every_ms, cron=cron, timezone=timezone, start_ms=start_ms, end_ms=end_ms)
        except ArgumentError as error:
            raise ArgumentError(f"queue {queue_name!r}: {error}") from error

    def to_json(self) -> str:
        """Compact JSON; the same for equal definitions."""
        return json.dumps({"v": _VERSION, **attrs.asdict(self)}, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Recurrence:
        """Reads the text that :meth:`to_json` wrote. Raises ArgumentError for anything else, a later version's text
        included.
        """
        try:
            fields = json.loads(text)
            version = fields.pop("v")
            if version == _VERSION:
                return cls(**fields)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise ArgumentError(f"a stored recurrence cannot be read: {error!r} in {text[:300]!r}") from error
        if isinstance(version, int) and version > _VERSION:
            raise NewerRuleError(version)
        raise ArgumentError(f"a stored recurrence has version {version!r}, which no release wrote: {text[:300]!r}")

    def first_ms(self, now_ms: int) -> int | None:
        """When the first occurrence is due, not before ``now_ms``. None when that is past the end, or never.

        ``every`` with a start: the start, or the first time after it on its grid; without one: ``every`` from now.
        ``cron``: the first match, not before the start.
        """
        start_ms = self.start_ms
        if self.every_ms is None:
            after_ms = (now_ms if start_ms is None else max(now_ms, start_ms)) - 1
            return self.next_ms(after_ms, after_ms)
        if start_ms is None:
            return self.next_ms(now_ms, now_ms)
        return start_ms if start_ms >= now_ms else self.next_ms(start_ms, now_ms - 1)

    def next_ms(self, previous_ms: int, now_ms: int) -> int | None:
        """When the occurrence after the one of ``previous_ms`` is due; None when that is past the end, or never.

        Missed occurrences (due at ``now_ms`` or before) are left out: however many, the answer is the first regular
        time that is later than both arguments. It is on the grid of ``previous_ms``, which has to be a time this
        definition gave; how late it is asked for shifts nothing. Costs about 0.1 ms, and some 5 ms for a cron
        expression that never matches.
        """
        if self.cron is not None:
            due_ms = _next_cron(self.cron, _zone(self.timezone), max(previous_ms, now_ms))
        else:
            assert self.every_ms is not None
            missed = max(0, (now_ms - previous_ms) // self.every_ms)
            due_ms = _next_interval(self.every_ms, previous_ms + missed * self.every_ms)
        return None if due_ms is None or (self.end_ms is not None and due_ms > self.end_ms) else due_ms


def _next_interval(every_ms: int, previous_ms: int) -> int | None:
    from apscheduler.triggers.interval import IntervalTrigger

    if previous_ms > _LAST_MS:
        return None
    previous = _EPOCH + timedelta(milliseconds=previous_ms)
    seconds: Any = every_ms / 1000
    due: Any = IntervalTrigger(seconds=seconds, start_date=previous, timezone=_UTC).get_next_fire_time(
        previous, previous
    )
    since: timedelta = due - _EPOCH
    return round(since / _MS)


def _next_cron(cron: str, zone: tzinfo, after_ms: int) -> int | None:
    """The first match later than ``after_ms``."""
    if after_ms > _LAST_MS:
        return None

    def local(second: int) -> datetime:
        return (_EPOCH + timedelta(seconds=second)).astimezone(zone)

    def offset_at(second: int) -> int:
        return (local(second).utcoffset() or timedelta()) // timedelta(seconds=1)

    start = after_ms // 1000 + 1
    trigger = _cron_trigger(cron, _EPOCH + timedelta(seconds=start) + _HORIZON)
    whenever_shown = cron.split()[1].startswith("*")
    # The zone is one constant offset after another. Within one, the trigger's calendar and the zone's differ by that
    # offset alone. A second early, so a change at the very start is seen as one.
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


def _zone(name: str) -> tzinfo:
    return _UTC if name == "UTC" else ZoneInfo(name)  # there is a UTC where the system has no time zones


def _cron_trigger(cron: str, until: datetime) -> CronTrigger | OrTrigger:
    """The trigger of an expression, read in UTC. Raises ValueError."""
    from apscheduler.triggers.combining import OrTrigger
    from apscheduler.triggers.cron import CronTrigger

    fields = cron.split()
    if len(fields) != 5:
        raise ValueError(f"it has {len(fields)} fields, not 5")
    minute, hour, day, month, weekday = fields
    # APScheduler ignores text behind a name: "jan/2", "last-1".
    if re.search("last[^,]", day):
        raise ValueError(f"{day!r} is no day of month")
    month = re.sub("[a-z]+", _month, month)
    weekdays = ",".join(_weekdays(weekday))
    rest = {"minute": minute, "hour": hour, "month": month, "timezone": _UTC, "end_date": until}
    if day.startswith("*") or weekday.startswith("*"):
        return CronTrigger(day=day, day_of_week=weekdays, **rest)
    return OrTrigger([CronTrigger(day=day, **rest), CronTrigger(day_of_week=weekdays, **rest)])


def _month(name: re.Match[str]) -> str:
    if name[0] in _MONTHS:
        return str(_MONTHS.index(name[0]))
    raise ValueError(f"{name[0]!r} is no month (1-12, jan-dec)")


def _weekdays(field: str) -> list[str]:
    """The names of a field's weekdays: names are the same to cron and APScheduler, numbers are not."""
    days: set[int] = set()
    for item in field.split(","):
        match = _WEEKDAY_ITEM.fullmatch(item)
        if match is None or match["step"] == "0":
            raise ValueError(f"{item!r} is no weekday, range or step of weekdays")
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
    raise ValueError(f"{text!r} is no weekday (0-7, sun-sat)")
