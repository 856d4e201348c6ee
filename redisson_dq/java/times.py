"""Java's dates and times: subclasses of Python's own classes, with the parts that only Java has.

Python counts microseconds and the years 1 to 9999, Java nanoseconds and far longer. A value that a plain ``datetime``,
``date``, ``time`` or ``timedelta`` holds comes back as one. The classes here are subclasses that carry the nanoseconds,
or that pick another Java type. :mod:`~redisson_dq.java.calendars` has those that Python has no class for.

Calculating with a wrapper gives a plain value without the nanoseconds.
"""

from __future__ import annotations

from datetime import datetime, time, timedelta, timezone, tzinfo
from typing import Any, ClassVar, TypeVar, cast

from redisson_dq.errors import ArgumentError
from redisson_dq.java.zone_ids import offset_id
from redisson_dq.java.zones import fixed_offset, zone_id, zone_info

__all__ = [
    "Duration",
    "Instant",
    "JavaDate",
    "JavaDateTime",
    "JavaTime",
    "LocalDateTime",
    "LocalTime",
    "OffsetDateTime",
    "OffsetTime",
    "SqlDate",
    "SqlTime",
    "Timestamp",
    "ZonedDateTime",
    "is_in_gap",
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
    """The nanoseconds below the microsecond: they take part in comparing, showing and copying a value."""

    __slots__ = ()
    nanosecond: int

    def _plain(self) -> Any:
        """The value of Python's own class."""
        raise NotImplementedError

    def _extra(self) -> dict[str, Any]:
        """The parts that the plain value lacks."""
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
            raise ArgumentError(f"{shown} is not a time of {made.zone}: give it as that zone has it, or in UTC")
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
