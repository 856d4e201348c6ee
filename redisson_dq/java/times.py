"""Java's dates and times: subclasses of Python's own classes, with what only Java has.

Python counts microseconds and the years 1 to 9999, Java nanoseconds and far longer. A value that a plain ``datetime``,
``date``, ``time`` or ``timedelta`` holds comes back as one. The classes here are subclasses that carry the nanoseconds,
or that pick another Java type. :class:`FarTime` keeps times that are out of the range of ``datetime``.

Calculating with a wrapper gives a plain value without the nanoseconds.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import datetime, time, timedelta, timezone, tzinfo
from typing import Any, ClassVar, TypeVar, cast

import attrs

from redisson_dq.errors import ArgumentError
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN
from redisson_dq.java.zones import ReadZone, fixed_offset, time_zone_id, zone_id, zone_info

__all__ = [
    "INSTANT_MAX",
    "INSTANT_MIN",
    "Duration",
    "FarTime",
    "GregorianCalendar",
    "Instant",
    "JavaDate",
    "JavaDateTime",
    "JavaTime",
    "LocalDateTime",
    "LocalTime",
    "MonthDay",
    "OffsetDateTime",
    "OffsetTime",
    "Period",
    "SqlDate",
    "SqlTime",
    "Timestamp",
    "Year",
    "YearMonth",
    "ZoneId",
    "ZoneOffset",
    "ZonedDateTime",
    "is_in_gap",
    "offset_id",
]

_D = TypeVar("_D", bound="JavaDateTime")
_T = TypeVar("_T", bound="JavaTime")

_UTC = timezone.utc
_EPOCH = datetime(1970, 1, 1, tzinfo=_UTC)
_MICROSECOND = timedelta(microseconds=1)


def _check_nanosecond(nanosecond: int) -> int:
    if not isinstance(nanosecond, int) or not 0 <= nanosecond <= 999:
        raise ArgumentError("nanosecond is 0 to 999: what is left below the microsecond")
    return nanosecond


class _Nanoseconds:
    """What Java counts below the microsecond: it takes part in comparing, showing and copying a value."""

    __slots__ = ()
    nanosecond: int

    def _plain(self) -> Any:
        """The value of Python's own class."""
        raise NotImplementedError

    def _extra(self) -> dict[str, Any]:
        """What the plain value has not got."""
        return {"nanosecond": self.nanosecond}

    def __eq__(self, other: object) -> bool:
        same = super().__eq__(other)
        return same if same is not True else self.nanosecond == getattr(other, "nanosecond", 0)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()

    def __repr__(self) -> str:
        nanosecond = f", nanosecond={self.nanosecond}" if self.nanosecond else ""
        return f"{type(self).__name__}({self._plain()!r}{nanosecond})"

    def __reduce_ex__(self, _protocol: object) -> tuple[Any, ...]:
        return _rebuild, (type(self), self._plain(), self._extra())


def _rebuild(kind: Any, plain: Any, extra: dict[str, Any]) -> Any:
    return kind(plain, **extra)


class JavaDateTime(_Nanoseconds, datetime):
    """A datetime with a Java type of its own: made from a datetime, or with datetime's own arguments."""

    __slots__ = ("__weakref__", "nanosecond")
    java_name: ClassVar[str]

    def __new__(
        cls: type[_D],
        value: datetime | int,
        month: int | None = None,
        day: int | None = None,
        hour: int = 0,
        minute: int = 0,
        second: int = 0,
        microsecond: int = 0,
        tzinfo: tzinfo | None = None,
        *,
        fold: int = 0,
        nanosecond: int = 0,
    ) -> _D:
        if isinstance(value, datetime):
            if isinstance(value, JavaDateTime) and not nanosecond:
                nanosecond = value.nanosecond
        else:
            # The constructor of datetime raises the right error for wrong arguments.
            value = datetime(
                value, cast(int, month), cast(int, day), hour, minute, second, microsecond, tzinfo, fold=fold
            )
        fitted = cls._fit(value)
        made = datetime.__new__(
            cls,
            fitted.year,
            fitted.month,
            fitted.day,
            fitted.hour,
            fitted.minute,
            fitted.second,
            fitted.microsecond,
            fitted.tzinfo,
            fold=fitted.fold,
        )
        made.nanosecond = _check_nanosecond(nanosecond)
        return made

    @classmethod
    def _fit(cls, value: datetime) -> datetime:
        """The value as this class holds it; ArgumentError when it cannot."""
        if value.utcoffset() is None:
            raise ArgumentError(f"{cls.__name__} takes an aware datetime (with a tzinfo)")
        return value

    def to_datetime(self) -> datetime:
        """The plain datetime, without the nanoseconds."""
        return datetime.combine(self.date(), self.timetz())

    _plain = to_datetime

    def __add__(self, other: timedelta) -> datetime:  # type: ignore[override]
        return self.to_datetime() + other

    __radd__ = __add__  # type: ignore[assignment]

    def __sub__(self, other: Any) -> Any:
        return self.to_datetime() - other

    def __rsub__(self, other: Any) -> Any:
        return other - self.to_datetime()

    def replace(self, *args: Any, **kwargs: Any) -> datetime:  # type: ignore[override]
        """Like datetime.replace. The result is a plain datetime."""
        return self.to_datetime().replace(*args, **kwargs)

    def astimezone(self, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        """Like datetime.astimezone. The result is a plain datetime."""
        return self.to_datetime().astimezone(tz)


class _Utc(JavaDateTime):
    __slots__ = ()

    @classmethod
    def _fit(cls, value: datetime) -> datetime:
        return super()._fit(value).astimezone(_UTC) if value.tzinfo is not _UTC else value


class Instant(_Utc):
    """``java.time.Instant``, in UTC. A plain datetime with ``timezone.utc`` also becomes an Instant."""

    __slots__ = ()
    java_name = "java.time.Instant"


class LocalDateTime(JavaDateTime):
    """``java.time.LocalDateTime``: no time zone. A plain naive datetime also becomes a LocalDateTime."""

    __slots__ = ()
    java_name = "java.time.LocalDateTime"

    @classmethod
    def _fit(cls, value: datetime) -> datetime:
        if value.tzinfo is not None:
            raise ArgumentError("LocalDateTime takes a naive datetime (without a tzinfo)")
        return value


class OffsetDateTime(JavaDateTime):
    """``java.time.OffsetDateTime``. Needed for an offset of 0, where a plain datetime becomes an Instant."""

    __slots__ = ()
    java_name = "java.time.OffsetDateTime"

    @classmethod
    def _fit(cls, value: datetime) -> datetime:
        offset = super()._fit(value).utcoffset()
        return value.replace(tzinfo=timezone(cast(timedelta, offset)), fold=0)


class ZonedDateTime(JavaDateTime):
    """``java.time.ZonedDateTime``. ``zone`` is the zone's id. By default it is that of the ZoneInfo or offset.

    Raises ArgumentError for a zone that no JVM knows. It also does so for a time and an offset that the zone does not
    have, as far as this machine knows its rules.
    """

    __slots__ = ("zone",)
    java_name = "java.time.ZonedDateTime"
    zone: str

    def __new__(cls, value: datetime | int, *args: Any, zone: str | None = None, **kwargs: Any) -> ZonedDateTime:
        made = super().__new__(cls, value, *args, **kwargs)
        if zone is None and isinstance(value, ZonedDateTime):
            made.zone = value.zone
            return made
        offset = offset_id(int(cast(timedelta, made.utcoffset()).total_seconds()))
        known: str = zone or getattr(made.tzinfo, "key", None) or offset
        made.zone = known if known == offset else zone_id(known)
        if known != offset and not _is_time_of(made, made.zone):
            shown = made.to_datetime().isoformat()
            raise ArgumentError(f"{shown} is no time of {made.zone}: give it as that zone has it, or in UTC")
        return made

    @classmethod
    def read(cls, value: datetime, zone: str, nanosecond: int = 0) -> ZonedDateTime:
        """The time that Java wrote. Its zone may have other rules there."""
        made = super().__new__(cls, value, nanosecond=nanosecond)
        made.zone = zone
        return made

    def __reduce_ex__(self, _protocol: object) -> tuple[Any, ...]:
        return ZonedDateTime.read, (self._plain(), self.zone, self.nanosecond)


class JavaDate(_Utc):
    """``java.util.Date``: milliseconds in UTC. Microseconds are cut off at once."""

    __slots__ = ()
    java_name = "java.util.Date"

    @classmethod
    def _fit(cls, value: datetime) -> datetime:
        fitted = super()._fit(value)
        return datetime.replace(fitted, microsecond=fitted.microsecond // 1000 * 1000)


class SqlDate(JavaDate):
    """``java.sql.Date``: its milliseconds in UTC."""

    __slots__ = ()
    java_name = "java.sql.Date"


class SqlTime(JavaDate):
    """``java.sql.Time``: its milliseconds in UTC."""

    __slots__ = ()
    java_name = "java.sql.Time"


class Timestamp(_Utc):
    """``java.sql.Timestamp``: nanoseconds in UTC."""

    __slots__ = ()
    java_name = "java.sql.Timestamp"


class JavaTime(_Nanoseconds, time):
    """A time with a Java type of its own: made from a time, or with time's own arguments."""

    __slots__ = ("__weakref__", "nanosecond")
    java_name: ClassVar[str]

    def __new__(
        cls: type[_T],
        value: time | int = 0,
        minute: int = 0,
        second: int = 0,
        microsecond: int = 0,
        tzinfo: tzinfo | None = None,
        *,
        fold: int = 0,
        nanosecond: int = 0,
    ) -> _T:
        if not isinstance(value, time):
            value = time(value, minute, second, microsecond, tzinfo, fold=fold)
        elif isinstance(value, JavaTime) and not nanosecond:
            nanosecond = value.nanosecond
        cls._check(value)
        made = time.__new__(cls, value.hour, value.minute, value.second, value.microsecond, value.tzinfo)
        made.nanosecond = _check_nanosecond(nanosecond)
        return made

    @classmethod
    def _check(cls, value: time) -> None:
        raise NotImplementedError

    def to_time(self) -> time:
        """The plain time, without the nanoseconds."""
        return time(self.hour, self.minute, self.second, self.microsecond, self.tzinfo)

    _plain = to_time

    def replace(self, *args: Any, **kwargs: Any) -> time:  # type: ignore[override]
        """Like time.replace. The result is a plain time."""
        return self.to_time().replace(*args, **kwargs)


class LocalTime(JavaTime):
    """``java.time.LocalTime``. A plain naive time also becomes a LocalTime."""

    __slots__ = ()
    java_name = "java.time.LocalTime"

    @classmethod
    def _check(cls, value: time) -> None:
        if value.tzinfo is not None:
            raise ArgumentError("LocalTime takes a naive time (without a tzinfo)")


class OffsetTime(JavaTime):
    """``java.time.OffsetTime``. A plain time with a ``datetime.timezone`` also becomes an OffsetTime."""

    __slots__ = ()
    java_name = "java.time.OffsetTime"

    @classmethod
    def _check(cls, value: time) -> None:
        if value.utcoffset() is None:
            raise ArgumentError("OffsetTime takes an aware time, with a datetime.timezone")


class Duration(_Nanoseconds, timedelta):
    """``java.time.Duration``. A plain timedelta also becomes a Duration."""

    __slots__ = ("__weakref__", "nanosecond")
    java_name: ClassVar[str] = "java.time.Duration"

    def __new__(cls, value: timedelta, *, nanosecond: int = 0) -> Duration:
        if not isinstance(value, timedelta):
            raise ArgumentError(f"Duration takes a timedelta, not {type(value).__name__}")
        if isinstance(value, Duration) and not nanosecond:
            nanosecond = value.nanosecond
        made = timedelta.__new__(cls, value.days, value.seconds, value.microseconds)
        made.nanosecond = _check_nanosecond(nanosecond)
        return made

    def to_timedelta(self) -> timedelta:
        """The plain timedelta, without the nanoseconds."""
        return timedelta(self.days, self.seconds, self.microseconds)

    _plain = to_timedelta


def is_in_gap(value: datetime) -> bool:
    """Whether the clocks of the value's zone are put forward over its time, so that they never show it."""
    before, after = (datetime.replace(value, fold=fold).utcoffset() for fold in (0, 1))
    return before is not None and after is not None and before < after


def _is_time_of(value: datetime, zone: str) -> bool:
    """Whether the clocks of a zone show the value's time at its offset. True for a zone that this machine lacks."""
    fixed = fixed_offset(zone)
    offset = cast(timedelta, value.utcoffset())
    if fixed is not None:
        return offset == timedelta(seconds=fixed)
    info = zone_info(zone)
    if info is None:
        return True
    there = datetime.combine(value.date(), value.time(), info)
    return not is_in_gap(there) and any(there.replace(fold=fold).utcoffset() == offset for fold in (0, 1))


def _integer_between(least: int, most: int) -> Any:
    return lambda number: type(number) is int and least <= number <= most


_NANO = _integer_between(0, 999_999_999)
_LONG = _integer_between(LONG_MIN, LONG_MAX)
_OF_DATE = (_integer_between(-999_999_999, 999_999_999), _integer_between(1, 12), _integer_between(1, 31))
_OF_CLOCK = (_integer_between(0, 23), _integer_between(0, 59), _integer_between(0, 59), _NANO)
_OF_OFFSET = _integer_between(-64800, 64800)
#: The seconds of Instant.MIN and Instant.MAX.
INSTANT_MIN, INSTANT_MAX = -31_557_014_167_219_200, 31_556_889_864_403_199
#: By Java name: what each part of a FarTime has to be.
_PARTS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys((JavaDate.java_name, SqlDate.java_name, SqlTime.java_name), (_LONG,)),
    Timestamp.java_name: (_integer_between(LONG_MIN // 1000, LONG_MAX // 1000), _NANO),
    Instant.java_name: (_integer_between(INSTANT_MIN, INSTANT_MAX), _NANO),
    Duration.java_name: (_LONG, _NANO),
    "java.time.LocalDate": _OF_DATE,
    LocalDateTime.java_name: (*_OF_DATE, *_OF_CLOCK),
    OffsetDateTime.java_name: (*_OF_DATE, *_OF_CLOCK, _OF_OFFSET),
    ZonedDateTime.java_name: (*_OF_DATE, *_OF_CLOCK, _OF_OFFSET, lambda zone: isinstance(zone, str)),
}


@attrs.frozen
class FarTime:
    """A Java date or time that is out of the range of Python's classes: ``LocalDate.MAX``, ``Instant.MIN``.

    ``parts`` are the numbers that Java keeps. An Instant and a Duration have epoch second and nanosecond, a Date has
    milliseconds. A LocalDate has year, month, day. A LocalDateTime adds hour, minute, second, nanosecond. An
    OffsetDateTime adds the offset's seconds to these, a ZonedDateTime the zone's id too.

    Raises ArgumentError for parts that no object of that class has.
    """

    java_name: str
    parts: tuple[Any, ...]

    def __attrs_post_init__(self) -> None:
        checks = _PARTS.get(self.java_name)
        if checks is None:
            raise ArgumentError(f"a FarTime is a date or a time of Java, no {self.java_name}")
        fits = len(self.parts) == len(checks)
        if not fits or not all(check(part) for check, part in zip(checks, self.parts, strict=True)):
            raise ArgumentError(f"{self.parts!r:.200} are no parts of a {self.java_name}")
        if checks[:3] == _OF_DATE:
            year, month, day = self.parts[:3]
            if day > monthrange(2000 + year % 400, month)[1]:  # a leap year if and only if this one is
                raise ArgumentError(f"month {month} of the year {year} has no day {day}")


def _calendar_time(value: datetime | FarTime) -> JavaDate | FarTime:
    return value if isinstance(value, FarTime) else JavaDate(value)


@attrs.frozen
class GregorianCalendar:
    """``java.util.GregorianCalendar``: a moment in a time zone, and the rules for counting weeks.

    ``time`` is any aware datetime, kept in milliseconds. ``zone`` is the id of a java.util.TimeZone, as Java has it.
    ``first_day_of_week`` is 1 for Sunday to 7. ``gregorian_change`` is when the Gregorian calendar replaces the Julian
    one, in epoch milliseconds.

    Java's serialization writes more of a calendar. ``described`` keeps that of one that was read, so that it can be
    written again. One that Python makes or changes has None.
    """

    java_name: ClassVar[str] = "java.util.GregorianCalendar"
    time: JavaDate | FarTime = attrs.field(converter=_calendar_time)
    zone: str = "UTC"
    lenient: bool = True
    first_day_of_week: int = 1
    minimal_days: int = 1
    gregorian_change: int = -12_219_292_800_000
    described: Any = attrs.field(default=None, init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if isinstance(self.time, FarTime) and self.time.java_name != JavaDate.java_name:
            raise ArgumentError("the time of a GregorianCalendar is a java.util.Date")
        if not isinstance(self.zone, str):
            raise ArgumentError("the zone of a GregorianCalendar is the id of a time zone")
        if not isinstance(self.zone, ReadZone):
            object.__setattr__(self, "zone", time_zone_id(self.zone))
        if not 1 <= self.first_day_of_week <= 7 or not 1 <= self.minimal_days <= 7:
            raise ArgumentError("first_day_of_week and minimal_days are 1 to 7")
        if not LONG_MIN <= self.gregorian_change <= LONG_MAX:
            raise ArgumentError("gregorian_change are milliseconds in 64 bits")


def _between(least: int, most: int) -> Any:
    """A validator: Java holds no other number there."""

    def check(owner: object, attribute: Any, value: int) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ArgumentError(f"{attribute.name} of a {type(owner).__name__} is {least} to {most}, not {value!r}")

    return check


_MOST_YEARS = 999_999_999


@attrs.frozen
class Period:
    """``java.time.Period``"""

    java_name: ClassVar[str] = "java.time.Period"
    years: int = attrs.field(default=0, validator=_between(INT_MIN, INT_MAX))
    months: int = attrs.field(default=0, validator=_between(INT_MIN, INT_MAX))
    days: int = attrs.field(default=0, validator=_between(INT_MIN, INT_MAX))


class Year(int):
    """``java.time.Year``: -999,999,999 to 999,999,999."""

    __slots__ = ()
    java_name: ClassVar[str] = "java.time.Year"

    def __new__(cls, value: int | str) -> Year:
        made = super().__new__(cls, value)
        if not -_MOST_YEARS <= made <= _MOST_YEARS:
            raise ArgumentError(f"a Year is -{_MOST_YEARS} to {_MOST_YEARS}")
        return made

    def __repr__(self) -> str:
        return f"Year({int.__repr__(self)})"

    __str__ = int.__repr__


@attrs.frozen(order=True)
class YearMonth:
    """``java.time.YearMonth``"""

    java_name: ClassVar[str] = "java.time.YearMonth"
    year: int = attrs.field(validator=_between(-_MOST_YEARS, _MOST_YEARS))
    month: int = attrs.field(validator=_between(1, 12))


@attrs.frozen(order=True)
class MonthDay:
    """``java.time.MonthDay``"""

    java_name: ClassVar[str] = "java.time.MonthDay"
    month: int = attrs.field(validator=_between(1, 12))
    day: int = attrs.field(validator=_between(1, 31))

    def __attrs_post_init__(self) -> None:
        if self.day > (29 if self.month == 2 else 30 if self.month in (4, 6, 9, 11) else 31):
            raise ArgumentError(f"month {self.month} has no day {self.day} in any year")


class ZoneId(str):
    """``java.time.ZoneId`` of a region: ``ZoneId("Europe/Berlin")``, ``ZoneId("UTC+02:00")``.

    It has the id that Java gives it: ``UTC+2`` becomes ``UTC+02:00``. Raises ArgumentError for ids that no JVM knows.
    """

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = "java.time.ZoneRegion"

    def __new__(cls, value: object = "") -> ZoneId:
        return cls.read(zone_id(str(value)))

    @classmethod
    def read(cls, value: str) -> ZoneId:
        """The zone of an id that Java wrote."""
        return super().__new__(cls, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return ZoneId.read, (str.__str__(self),)

    def __repr__(self) -> str:
        return f"ZoneId({str.__repr__(self)})"


def _at_most_18_hours(_owner: object, _attribute: object, value: int) -> None:
    if not isinstance(value, int) or abs(value) > 64800:
        raise ArgumentError("a ZoneOffset is at most 18 hours (64800 seconds)")


@attrs.frozen
class ZoneOffset:
    """``java.time.ZoneOffset``, in seconds: from -18 to 18 hours."""

    java_name: ClassVar[str] = "java.time.ZoneOffset"
    seconds: int = attrs.field(validator=_at_most_18_hours)

    def __str__(self) -> str:
        return offset_id(self.seconds)


def offset_id(seconds: int) -> str:
    """The offset as ZoneOffset.getId gives it: ``Z``, ``+02:00``, ``-01:30:15``."""
    if seconds == 0:
        return "Z"
    minutes, rest = divmod(abs(seconds), 60)
    text = f"{'-' if seconds < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"
    return f"{text}:{rest:02d}" if rest else text
