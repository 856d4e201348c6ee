"""Java's dates and times: Python's own classes with what Java has beyond them.

Python counts microseconds and the years 1 to 9999, Java nanoseconds and far longer. A value that a plain ``datetime``,
``date``, ``time`` or ``timedelta`` holds comes back as one. The classes here are subclasses that carry the nanoseconds,
or that pick another Java type. :class:`FarTime` keeps times that no ``datetime`` reaches.

Calculating with a wrapper gives a plain value, without the nanoseconds, as with the numbers.
"""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from typing import Any, ClassVar, TypeVar, cast

import attrs

from redisson_dq.errors import ArgumentError
from redisson_dq.java.numbers import LONG_MAX, LONG_MIN

__all__ = [
    "Duration",
    "FarTime",
    "GregorianCalendar",
    "Instant",
    "JavaDate",
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
    "date_parts",
    "duration",
    "duration_parts",
    "instant",
    "instant_parts",
    "java_date",
    "java_time_name",
    "local_date",
    "local_date_of_days",
    "local_date_time",
    "local_time",
    "millis_of",
    "offset_date_time",
    "offset_id",
    "offset_of",
    "offset_time",
    "time_parts",
    "timestamp",
    "zone_info",
    "zone_of",
    "zoned_date_time",
]

_D = TypeVar("_D", bound="_JavaDateTime")
_T = TypeVar("_T", bound="_JavaTime")

_UTC = timezone.utc
_EPOCH = datetime(1970, 1, 1, tzinfo=_UTC)
_MICROSECOND = timedelta(microseconds=1)
#: The longest has three parts of 14 characters. Python looks for the parts as directories, and as packages of tzdata.
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,31}(/[A-Za-z0-9_+-]{1,32}){0,2}")


def _check_nanosecond(nanosecond: int) -> int:
    if not isinstance(nanosecond, int) or not 0 <= nanosecond <= 999:
        raise ArgumentError("nanosecond is 0 to 999: what is left below the microsecond")
    return nanosecond


class _JavaDateTime(datetime):
    """A datetime with a Java type of its own: made from a datetime, or with datetime's own arguments."""

    __slots__ = ("nanosecond",)
    java_name: ClassVar[str]
    nanosecond: int

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
            if isinstance(value, _JavaDateTime) and not nanosecond:
                nanosecond = value.nanosecond
        else:
            # The datetime class itself says what is wrong with its arguments.
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

    def __add__(self, other: timedelta) -> datetime:  # type: ignore[override]
        return self.to_datetime() + other

    __radd__ = __add__  # type: ignore[assignment]

    def __sub__(self, other: Any) -> Any:
        return self.to_datetime() - other

    def __rsub__(self, other: Any) -> Any:
        return other - self.to_datetime()

    def replace(self, *args: Any, **kwargs: Any) -> datetime:  # type: ignore[override]
        """As datetime.replace: a plain datetime."""
        return self.to_datetime().replace(*args, **kwargs)

    def astimezone(self, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        """As datetime.astimezone: a plain datetime."""
        return self.to_datetime().astimezone(tz)

    def __eq__(self, other: object) -> bool:
        same = datetime.__eq__(self, other)
        return same if same is not True else self.nanosecond == getattr(other, "nanosecond", 0)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = datetime.__hash__

    def __repr__(self) -> str:
        nanosecond = f", nanosecond={self.nanosecond}" if self.nanosecond else ""
        return f"{type(self).__name__}({self.to_datetime()!r}{nanosecond})"

    def __reduce_ex__(self, _protocol: object) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.to_datetime(), {"nanosecond": self.nanosecond})


def _rebuild(kind: Any, plain: Any, extra: dict[str, Any]) -> Any:
    return kind(plain, **extra)


class _Utc(_JavaDateTime):
    __slots__ = ()

    @classmethod
    def _fit(cls, value: datetime) -> datetime:
        return super()._fit(value).astimezone(_UTC) if value.tzinfo is not _UTC else value


class Instant(_Utc):
    """``java.time.Instant``, in UTC. A plain datetime with ``timezone.utc`` becomes the same."""

    __slots__ = ()
    java_name = "java.time.Instant"


class LocalDateTime(_JavaDateTime):
    """``java.time.LocalDateTime``: no time zone. A plain naive datetime becomes the same."""

    __slots__ = ()
    java_name = "java.time.LocalDateTime"

    @classmethod
    def _fit(cls, value: datetime) -> datetime:
        if value.tzinfo is not None:
            raise ArgumentError("LocalDateTime takes a naive datetime (without a tzinfo)")
        return value


class OffsetDateTime(_JavaDateTime):
    """``java.time.OffsetDateTime``. Needed for an offset of 0, where a plain datetime becomes an Instant."""

    __slots__ = ()
    java_name = "java.time.OffsetDateTime"

    @classmethod
    def _fit(cls, value: datetime) -> datetime:
        offset = super()._fit(value).utcoffset()
        return value.replace(tzinfo=timezone(cast(timedelta, offset)), fold=0)


class ZonedDateTime(_JavaDateTime):
    """``java.time.ZonedDateTime``; ``zone`` is the zone's id, by default the name of its ZoneInfo or its offset."""

    __slots__ = ("zone",)
    java_name = "java.time.ZonedDateTime"
    zone: str

    def __new__(cls, value: datetime | int, *args: Any, zone: str | None = None, **kwargs: Any) -> ZonedDateTime:
        made = super().__new__(cls, value, *args, **kwargs)
        if zone is None:
            zone = getattr(value, "zone", None) or getattr(made.tzinfo, "key", None)
        made.zone = zone or offset_id(int(cast(timedelta, made.utcoffset()).total_seconds()))
        return made

    def __reduce_ex__(self, _protocol: object) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.to_datetime(), {"nanosecond": self.nanosecond, "zone": self.zone})


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


class _JavaTime(time):
    __slots__ = ("nanosecond",)
    java_name: ClassVar[str]
    nanosecond: int

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
        elif isinstance(value, _JavaTime) and not nanosecond:
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

    def replace(self, *args: Any, **kwargs: Any) -> time:  # type: ignore[override]
        """As time.replace: a plain time."""
        return self.to_time().replace(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        same = time.__eq__(self, other)
        return same if same is not True else self.nanosecond == getattr(other, "nanosecond", 0)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = time.__hash__

    def __repr__(self) -> str:
        nanosecond = f", nanosecond={self.nanosecond}" if self.nanosecond else ""
        return f"{type(self).__name__}({self.to_time()!r}{nanosecond})"

    def __reduce_ex__(self, _protocol: object) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.to_time(), {"nanosecond": self.nanosecond})


class LocalTime(_JavaTime):
    """``java.time.LocalTime``. A plain naive time becomes the same."""

    __slots__ = ()
    java_name = "java.time.LocalTime"

    @classmethod
    def _check(cls, value: time) -> None:
        if value.tzinfo is not None:
            raise ArgumentError("LocalTime takes a naive time (without a tzinfo)")


class OffsetTime(_JavaTime):
    """``java.time.OffsetTime``. A plain time with a ``datetime.timezone`` becomes the same."""

    __slots__ = ()
    java_name = "java.time.OffsetTime"

    @classmethod
    def _check(cls, value: time) -> None:
        if value.utcoffset() is None:
            raise ArgumentError("OffsetTime takes an aware time, with a datetime.timezone")


class Duration(timedelta):
    """``java.time.Duration``. A plain timedelta becomes the same."""

    __slots__ = ("nanosecond",)
    java_name: ClassVar[str] = "java.time.Duration"
    nanosecond: int

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

    def __eq__(self, other: object) -> bool:
        same = timedelta.__eq__(self, other)
        return same if same is not True else self.nanosecond == getattr(other, "nanosecond", 0)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = timedelta.__hash__

    def __repr__(self) -> str:
        nanosecond = f", nanosecond={self.nanosecond}" if self.nanosecond else ""
        return f"Duration({self.to_timedelta()!r}{nanosecond})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (Duration, self.to_timedelta(), {"nanosecond": self.nanosecond})


@attrs.frozen
class FarTime:
    """A Java date or time that Python's classes do not reach: ``LocalDate.MAX``, ``Instant.MIN``.

    ``parts`` are the numbers that Java keeps. An Instant and a Duration have epoch second and nanosecond, a Date has
    milliseconds. A LocalDate has year, month, day. A LocalDateTime adds hour, minute, second, nanosecond. An
    OffsetDateTime adds the offset's seconds to these, a ZonedDateTime the zone's id too.
    """

    java_name: str
    parts: tuple[Any, ...]


def _calendar_time(value: datetime | FarTime) -> JavaDate | FarTime:
    return value if isinstance(value, FarTime) else JavaDate(value)


@attrs.frozen
class GregorianCalendar:
    """``java.util.GregorianCalendar``: a moment in a time zone, and how it counts the weeks there.

    ``time`` is any aware datetime, kept in milliseconds. ``zone`` is the id of a java.util.TimeZone.
    ``first_day_of_week`` is 1 for Sunday to 7. ``gregorian_change`` is the time from which on it is not the Julian
    calendar, in epoch milliseconds.
    """

    java_name: ClassVar[str] = "java.util.GregorianCalendar"
    time: JavaDate | FarTime = attrs.field(converter=_calendar_time)
    zone: str = "UTC"
    lenient: bool = True
    first_day_of_week: int = 1
    minimal_days: int = 1
    gregorian_change: int = -12_219_292_800_000

    def __attrs_post_init__(self) -> None:
        if isinstance(self.time, FarTime) and self.time.java_name != JavaDate.java_name:
            raise ArgumentError("the time of a GregorianCalendar is a java.util.Date")
        if not isinstance(self.zone, str):
            raise ArgumentError("the zone of a GregorianCalendar is the id of a time zone")
        if not 1 <= self.first_day_of_week <= 7 or not 1 <= self.minimal_days <= 7:
            raise ArgumentError("first_day_of_week and minimal_days are 1 to 7")
        if not LONG_MIN <= self.gregorian_change <= LONG_MAX:
            raise ArgumentError("gregorian_change are milliseconds in 64 bits")


@attrs.frozen
class Period:
    """``java.time.Period``"""

    java_name: ClassVar[str] = "java.time.Period"
    years: int = 0
    months: int = 0
    days: int = 0


class Year(int):
    """``java.time.Year``"""

    __slots__ = ()
    java_name: ClassVar[str] = "java.time.Year"

    def __repr__(self) -> str:
        return f"Year({int.__repr__(self)})"

    __str__ = int.__repr__


@attrs.frozen(order=True)
class YearMonth:
    """``java.time.YearMonth``"""

    java_name: ClassVar[str] = "java.time.YearMonth"
    year: int
    month: int


@attrs.frozen(order=True)
class MonthDay:
    """``java.time.MonthDay``"""

    java_name: ClassVar[str] = "java.time.MonthDay"
    month: int
    day: int


class ZoneId(str):
    """``java.time.ZoneId`` of a region: ``ZoneId("Europe/Berlin")``."""

    __slots__ = ()
    java_name: ClassVar[str] = "java.time.ZoneRegion"

    def __repr__(self) -> str:
        return f"ZoneId({str.__repr__(self)})"


def _at_most_18_hours(_owner: object, _attribute: object, value: int) -> None:
    if not isinstance(value, int) or abs(value) > 64800:
        raise ArgumentError("a ZoneOffset is at most 18 hours (64800 seconds)")


@attrs.frozen
class ZoneOffset:
    """``java.time.ZoneOffset``, in seconds: at most 18 hours, both ways."""

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


# From Java's numbers to Python values. Numbers that no Java object holds raise ValueError.


def _far(make: Callable[[], Any], java_name: str, *parts: Any) -> Any:
    try:
        return make()
    except OverflowError:
        return FarTime(java_name, parts)


def _check_nano(nano: int) -> tuple[int, int]:
    if not 0 <= nano <= 999_999_999:
        raise ValueError(f"{nano} is no nanosecond of a second")
    return divmod(nano, 1000)


def _epoch(seconds: int, micro: int) -> datetime:
    return _EPOCH + timedelta(seconds=seconds, microseconds=micro)


def instant(seconds: int, nano: int) -> datetime | FarTime:
    """An Instant of epoch seconds and nanoseconds of the second."""
    micro, rest = _check_nano(nano)
    found = _far(lambda: _epoch(seconds, micro), Instant.java_name, seconds, nano)
    return Instant(found, nanosecond=rest) if rest and isinstance(found, datetime) else found


def timestamp(seconds: int, nano: int) -> Timestamp | FarTime:
    """A java.sql.Timestamp of epoch seconds and nanoseconds of the second."""
    micro, rest = _check_nano(nano)
    return cast(
        "Timestamp | FarTime",
        _far(lambda: Timestamp(_epoch(seconds, micro), nanosecond=rest), Timestamp.java_name, seconds, nano),
    )


def java_date(millis: int, kind: type[JavaDate] = JavaDate) -> JavaDate | FarTime:
    """A java.util.Date, java.sql.Date or java.sql.Time of epoch milliseconds."""
    return cast(
        "JavaDate | FarTime", _far(lambda: kind(_EPOCH + timedelta(milliseconds=millis)), kind.java_name, millis)
    )


def duration(seconds: int, nano: int) -> timedelta | FarTime:
    """A Duration of seconds and nanoseconds of the second."""
    micro, rest = _check_nano(nano)
    found = _far(lambda: timedelta(seconds=seconds, microseconds=micro), Duration.java_name, seconds, nano)
    return Duration(found, nanosecond=rest) if rest and isinstance(found, timedelta) else found


def local_date(year: int, month: int, day: int) -> date | FarTime:
    """A LocalDate."""
    if 1 <= year <= 9999:
        return date(year, month, day)
    _check_date(year, month, day)
    return FarTime("java.time.LocalDate", (year, month, day))


def _check_date(year: int, month: int, day: int) -> None:
    # A year of the same kind, leap or not, within Python's.
    date(2000 + year % 400, month, day)
    if abs(year) > 999_999_999:
        raise ValueError(f"{year} is no year of java.time")


def local_date_of_days(days: int) -> date | FarTime:
    """A LocalDate of days since 1970-01-01."""
    years = 400 * ((days + 719468) // 146097)
    base = date(1970, 1, 1).toordinal() + days
    if 1 <= base <= date.max.toordinal():
        return date.fromordinal(base)
    # Shift by whole cycles of 400 years into the range of date, and the year back.
    shifted = date.fromordinal(base - (years - 2000) // 400 * 146097)
    return local_date(shifted.year + years - 2000, shifted.month, shifted.day)


def local_time(hour: int, minute: int, second: int, nano: int) -> time:
    """A LocalTime."""
    micro, rest = _check_nano(nano)
    plain = time(hour, minute, second, micro)
    return LocalTime(plain, nanosecond=rest) if rest else plain


def local_date_time(day: date | FarTime, at: time) -> datetime | FarTime:
    """A LocalDateTime of its two halves."""
    if isinstance(day, FarTime):
        return FarTime(LocalDateTime.java_name, (*day.parts, *time_parts(at)))
    rest = _nanosecond_of(at)
    plain = datetime.combine(day, _plain_time(at))
    return LocalDateTime(plain, nanosecond=rest) if rest else plain


def _plain_time(at: time) -> time:
    return at.to_time() if isinstance(at, _JavaTime) else at


def _offset(seconds: int) -> timezone:
    if abs(seconds) > 64800:
        raise ValueError(f"{seconds} seconds are no offset of java.time")
    return timezone(timedelta(seconds=seconds))


def offset_time(at: time, offset: int) -> time:
    """An OffsetTime of a local time and the offset's seconds."""
    rest = _nanosecond_of(at)
    plain = _plain_time(at).replace(tzinfo=_offset(offset))
    return OffsetTime(plain, nanosecond=rest) if rest else plain


def offset_date_time(local: datetime | FarTime, offset: int) -> datetime | FarTime:
    """An OffsetDateTime of a local one and the offset's seconds."""
    zone = _offset(offset)
    if isinstance(local, FarTime):
        return FarTime(OffsetDateTime.java_name, (*local.parts, offset))
    plain = _plain(local).replace(tzinfo=zone)
    rest = _nanosecond_of(local)
    return OffsetDateTime(plain, nanosecond=rest) if rest or not offset else plain


def zoned_date_time(local: datetime | FarTime, offset: int, zone: str) -> datetime | FarTime:
    """A ZonedDateTime of a local one, the offset's seconds and the zone's id."""
    fixed = _offset(offset)
    if isinstance(local, FarTime):
        return FarTime(ZonedDateTime.java_name, (*local.parts, offset, zone))
    plain = _plain(local)
    rest = _nanosecond_of(local)
    info = zone_info(zone)
    for fold in (0, 1) if info is not None else ():
        found = plain.replace(tzinfo=info, fold=fold)
        if found.utcoffset() == fixed.utcoffset(None):
            return ZonedDateTime(found, zone=zone, nanosecond=rest) if rest else found
    # An offset as zone, a zone this machine does not know, or one whose rules it knows differently.
    return ZonedDateTime(plain.replace(tzinfo=fixed), zone=zone, nanosecond=rest)


def zone_info(zone: str) -> zoneinfo.ZoneInfo | None:
    """The time zone of that id, None if this machine's tz database has none."""
    if _ZONE.fullmatch(zone) is None:
        return None
    try:
        return zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


# From Python values to Java's numbers.


def _plain(value: datetime) -> datetime:
    return value.to_datetime() if isinstance(value, _JavaDateTime) else value


def _nanosecond_of(value: datetime | time | timedelta) -> int:
    """What the value has below its microseconds: 0 to 999."""
    return getattr(value, "nanosecond", 0)


def instant_parts(value: datetime | FarTime) -> tuple[int, int]:
    """Epoch seconds and nanoseconds of the second, of an aware datetime or FarTime."""
    if isinstance(value, FarTime):
        return cast("tuple[int, int]", value.parts)
    micros = (_plain(value) - _EPOCH) // _MICROSECOND
    seconds, micro = divmod(micros, 1_000_000)
    return seconds, micro * 1000 + _nanosecond_of(value)


def millis_of(value: datetime | FarTime) -> int:
    """Epoch milliseconds of an aware datetime or FarTime."""
    if isinstance(value, FarTime):
        return cast(int, value.parts[0])
    return (_plain(value) - _EPOCH) // timedelta(milliseconds=1)


def duration_parts(value: timedelta | FarTime) -> tuple[int, int]:
    """Seconds and nanoseconds of the second."""
    if isinstance(value, FarTime):
        return cast("tuple[int, int]", value.parts)
    return value.days * 86400 + value.seconds, value.microseconds * 1000 + _nanosecond_of(value)


def date_parts(value: date | FarTime) -> tuple[int, int, int]:
    """Year, month and day, of whatever has a date."""
    if isinstance(value, FarTime):
        return cast("tuple[int, int, int]", value.parts[:3])
    return value.year, value.month, value.day


def time_parts(value: time | datetime | FarTime) -> tuple[int, int, int, int]:
    """Hour, minute, second and nanosecond of the second, of whatever has a time."""
    if isinstance(value, FarTime):
        return cast("tuple[int, int, int, int]", value.parts[3:7])
    return value.hour, value.minute, value.second, value.microsecond * 1000 + _nanosecond_of(value)


def offset_of(value: time | datetime | FarTime) -> int:
    """The offset's seconds. Raises ValueError for an offset that Java has not."""
    if isinstance(value, FarTime):
        return cast(int, value.parts[7])
    offset = value.utcoffset()
    if offset is None:
        raise ValueError("a time with a zone but without a date has no offset")
    if offset.microseconds or abs(offset) > timedelta(hours=18):
        raise ValueError(f"an offset of {offset} is no ZoneOffset")
    return offset.days * 86400 + offset.seconds


def zone_of(value: datetime | FarTime) -> str:
    """The zone's id of what becomes a ZonedDateTime."""
    if isinstance(value, FarTime):
        return cast(str, value.parts[8])
    if isinstance(value, ZonedDateTime):
        return value.zone
    return cast(str, getattr(value.tzinfo, "key", None)) or offset_id(offset_of(value))


def java_time_name(value: datetime | date | time | timedelta) -> str:
    """The Java type that a plain or wrapped value becomes."""
    named = getattr(value, "java_name", None)
    if named is not None:
        return cast(str, named)
    if isinstance(value, datetime):
        if value.tzinfo is None:
            return LocalDateTime.java_name
        if value.tzinfo is _UTC:
            return Instant.java_name
        return ZonedDateTime.java_name if getattr(value.tzinfo, "key", None) else OffsetDateTime.java_name
    if isinstance(value, date):
        return "java.time.LocalDate"
    if isinstance(value, time):
        return LocalTime.java_name if value.tzinfo is None else OffsetTime.java_name
    return Duration.java_name
