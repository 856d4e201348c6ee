"""When a recurring offer is due: its definition, and the one time that follows from another. No I/O, no clock.

The definition is stored in Redis and any number of processes work from it, so every answer depends only on the
arguments. An interval is counted in whole milliseconds, and ``cron.py`` computes the times of an expression.

Nothing is due after the year 9900.

A rule that says how missed occurrences are made up for is in form 2, any other one in form 1, which all versions read.

Most programs have no recurring offers. So this module is imported by the calls that need it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone, tzinfo
from itertools import islice
from zoneinfo import ZoneInfo

import attrs
from attrs.validators import ge, in_, instance_of, le, optional

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling.cron import HORIZON, next_match, trigger_of
from redisson_dq.scheduling.times import Delay, span_ms, to_ms

__all__ = ["MOST_MISSED", "Following", "NewerRuleError", "Recurrence"]

# The form of a rule, and of one that says how missed occurrences are made up for (wire/forms.py).
_VERSION = 1
_MISSED = 2

#: The most missed occurrences that are offered, and that are counted of a cron expression.
MOST_MISSED = 1000
_USUAL_MOST = 100
# With missed="skip": how late an occurrence may be delivered.
_GRACE_MS = 60_000

_UTC = timezone.utc
_EPOCH = datetime(1970, 1, 1, tzinfo=_UTC)
_MS = timedelta(milliseconds=1)

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
_optional_int = optional(instance_of(int))


class NewerRuleError(ArgumentError):
    """A stored rule is in a form that this version does not know."""

    def __init__(self, form: int) -> None:
        super().__init__(
            f"a stored recurrence is in form {form}, and this version of redisson-dq reads forms up to {_MISSED}; "
            "upgrade it"
        )
        self.form = form


@attrs.frozen(kw_only=True)
class Following:
    """What follows an occurrence: when the next one is due (None: never), and which were missed before that.

    ``count`` is how many were missed, from ``first_ms`` to ``last_ms``. ``made_up`` are the due times of those of them
    that are offered all the same.
    """

    next_ms: int | None
    count: int = 0
    first_ms: int = 0
    last_ms: int = 0
    made_up: Sequence[int] = ()


@attrs.frozen(kw_only=True)
class Recurrence:
    """When a recurring offer is due. Built by :meth:`checked` from users' arguments, by :meth:`from_json` from Redis.

    Either ``every_ms`` (1 ms to 36,500 days) or ``cron`` (five fields in lower case, no alias) is set. ``timezone``
    is the IANA name that ``cron`` is read in. ``start_ms`` and ``end_ms`` are epoch ms, both inclusive, None for
    "from now on" and "for ever". ``missed`` decides what happens to missed occurrences: ``"one"``, ``"all"`` (the last
    ``missed_limit`` of them) or ``"skip"``. Raises ArgumentError for a combination that means nothing, TypeError or
    ValueError for a single field that does.
    """

    every_ms: int | None = attrs.field(default=None, validator=optional([instance_of(int), ge(1), le(HORIZON // _MS)]))
    cron: str | None = attrs.field(default=None, validator=optional(instance_of(str)))
    timezone: str = attrs.field(default="UTC", validator=instance_of(str))
    start_ms: int | None = attrs.field(default=None, validator=_optional_int)
    end_ms: int | None = attrs.field(default=None, validator=_optional_int)
    missed: str = attrs.field(default="one", validator=in_(("one", "all", "skip")))
    missed_limit: int | None = attrs.field(default=None, validator=optional([instance_of(int), ge(1), le(MOST_MISSED)]))

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
                trigger_of(self.cron, _EPOCH)
            except ValueError as error:
                raise ArgumentError(
                    f"cron={self.cron!r} cannot be read: {error}. Give minute, hour, day of month, month and weekday, "
                    "for example '30 9 * * mon-fri', or one of " + ", ".join(_ALIASES)
                ) from error
        if self.start_ms is not None and self.end_ms is not None and self.end_ms < self.start_ms:
            raise ArgumentError("end= is before start=; give an end that is not, or none")
        if (self.missed == "all") != (self.missed_limit is not None):
            raise ArgumentError("missed_limit= goes with missed='all'")

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
        missed: str = "one",
        missed_limit: int | None = None,
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
        ``start``. ``missed_limit`` is 100 by default.
        """
        every_ms = None if every is None else span_ms(every, queue_name, "every=")
        if every_ms is not None and not 1 <= every_ms <= HORIZON // _MS:
            raise ArgumentError(
                f"queue {queue_name!r}: every= must be between 1 ms and 36,500 days, not {shown(every)}"
            )
        if not isinstance(timezone, str):
            raise ArgumentError(
                f"queue {queue_name!r}: timezone= must be an IANA name as a string, not {shown(timezone)}"
            )
        if cron is not None:
            if not isinstance(cron, str):
                raise ArgumentError(f"queue {queue_name!r}: cron= must be a string of five fields, not {shown(cron)}")
            cron = " ".join(cron.lower().split())
            cron = _ALIASES.get(cron, cron)
        start_ms = None if start is None else to_ms(start, queue_name, "start=")
        end_ms = None if end is None else to_ms(end, queue_name, "end=")
        if not isinstance(missed, str) or missed not in ("one", "all", "skip"):
            raise ArgumentError(f"queue {queue_name!r}: missed= is 'one', 'all' or 'skip', not {shown(missed)}")
        if missed == "all" and missed_limit is None:
            missed_limit = _USUAL_MOST
        if missed_limit is not None and (
            isinstance(missed_limit, bool) or not isinstance(missed_limit, int) or not 1 <= missed_limit <= MOST_MISSED
        ):
            raise ArgumentError(
                f"queue {queue_name!r}: missed_limit= is an int from 1 to {MOST_MISSED}, not {shown(missed_limit)}"
            )
        try:
            return cls(
                every_ms=every_ms,
                cron=cron,
                timezone=timezone,
                start_ms=start_ms,
                end_ms=end_ms,
                missed=missed,
                missed_limit=missed_limit,
            )
        except ArgumentError as error:
            raise ArgumentError(f"queue {queue_name!r}: {error}") from error

    def to_json(self) -> str:
        """Compact JSON; the same for equal definitions."""
        fields = attrs.asdict(self)
        if self.missed == "one":
            del fields["missed"], fields["missed_limit"]
        return json.dumps(
            {"v": _VERSION if self.missed == "one" else _MISSED, **fields}, sort_keys=True, separators=(",", ":")
        )

    @classmethod
    def from_json(cls, text: str) -> Recurrence:
        """Reads the text that :meth:`to_json` wrote. Raises ArgumentError for anything else, a later version's text
        included.
        """
        try:
            fields = json.loads(text)
            version = fields.pop("v")
            if version in (_VERSION, _MISSED):
                return cls(**fields)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise ArgumentError(f"a stored recurrence cannot be read: {error!r} in {text[:300]!r}") from error
        if isinstance(version, int) and version > _MISSED:
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
        """When the first occurrence later than both arguments is due; None when that is past the end, or never.

        It is on the grid of ``previous_ms``, which has to be a time this definition gave; how late it is asked for
        shifts nothing. Costs about 0.1 ms, and some 5 ms for a cron expression that never matches.
        """
        if self.cron is not None:
            after_ms = max(previous_ms, now_ms)
            due_ms = None if after_ms > _LAST_MS else next_match(self.cron, _zone(self.timezone), after_ms)
        else:
            assert self.every_ms is not None
            latest_ms = previous_ms + max(0, (now_ms - previous_ms) // self.every_ms) * self.every_ms
            due_ms = None if latest_ms > _LAST_MS else latest_ms + self.every_ms
        return None if due_ms is None or (self.end_ms is not None and due_ms > self.end_ms) else due_ms

    def following(self, previous_ms: int, now_ms: int) -> Following:
        """What follows the occurrence of ``previous_ms``. Missed are those that are due by ``now_ms``.

        Costs as much as :meth:`next_ms` when none was missed. Else as much for each that is counted or offered, and for
        the last of very many of a cron expression up to fifteen times that.
        """
        next_ms = self.next_ms(previous_ms, previous_ms)
        if next_ms is None or next_ms > now_ms:
            return Following(next_ms=next_ms)
        first_ms, last_ms = next_ms, now_ms if self.end_ms is None else min(now_ms, self.end_ms)
        most = self.missed_limit or 1
        if self.every_ms is not None:
            count = (last_ms - previous_ms) // self.every_ms
            last_ms = previous_ms + count * self.every_ms
            kept = [last_ms - back * self.every_ms for back in range(min(count, most))][::-1]
        else:
            counted = list(islice(self._between(previous_ms, last_ms), MOST_MISSED))
            count = len(counted)
            kept = (counted if count < MOST_MISSED else self._last(previous_ms, last_ms, most))[-most:]
            last_ms = kept[-1]
        return Following(
            next_ms=self.next_ms(last_ms, now_ms),
            count=count,
            first_ms=first_ms,
            last_ms=last_ms,
            made_up=kept if self.missed == "all" else (),
        )

    def late_ms(self, due_ms: int) -> int | None:
        """How late the occurrence of ``due_ms`` may be delivered: a minute, or until the next one. None: any time."""
        if self.missed != "skip":
            return None
        next_ms = self.next_ms(due_ms, due_ms)
        return _GRACE_MS if next_ms is None else min(_GRACE_MS, next_ms - due_ms)

    def _between(self, after_ms: int, until_ms: int) -> Iterator[int]:
        """The times later than one and up to the other."""
        at = self.next_ms(after_ms, after_ms)
        while at is not None and at <= until_ms:
            yield at
            at = self.next_ms(at, at)

    def _last(self, after_ms: int, until_ms: int, most: int) -> list[int]:
        """The last times of a cron expression between two times, in order: at least ``most``, if there are as many."""
        # Cron has one time a minute at most, so a short span has few. In a long span the later half is searched first.
        if until_ms - after_ms <= most * 60_000:
            return list(self._between(after_ms, until_ms))
        if next(self._between(after_ms, until_ms), None) is None:
            return []
        middle_ms = (after_ms + until_ms) // 2
        late = self._last(middle_ms, until_ms, most)
        return late if len(late) >= most else [*self._last(after_ms, middle_ms, most - len(late)), *late]


def _zone(name: str) -> tzinfo:
    return _UTC if name == "UTC" else ZoneInfo(name)  # there is a UTC where the system has no time zones
