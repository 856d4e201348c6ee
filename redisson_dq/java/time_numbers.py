"""Converts between the numbers of Java's dates and times and the Python values of :mod:`redisson_dq.java.times`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from typing import Any, cast

from redisson_dq.java.calendars import INSTANT_MAX, INSTANT_MIN, FarTime
from redisson_dq.java.times import (
    Duration,
    Instant,
    JavaDate,
    JavaDateTime,
    JavaTime,
    LocalDateTime,
    LocalTime,
    OffsetDateTime,
    OffsetTime,
    Timestamp,
    ZonedDateTime,
    is_in_gap,
)
from redisson_dq.java.zone_ids import offset_id
from redisson_dq.java.zones import no_java_zone, zone_info

__all__ = [
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
    "offset_of",
    "offset_time",
    "time_parts",
    "timestamp",
    "zone_of",
    "zoned_date_time",
]

_UTC = timezone.utc
_EPOCH = datetime(1970, 1, 1, tzinfo=_UTC)
_MICROSECOND = timedelta(microseconds=1)


# From Java's numbers to Python values. Numbers that no Java object holds raise ValueError.


def _far(make: Callable[[], Any], java_name: str, *parts: Any) -> Any:
    try:
        return make()
    except OverflowError:
        return FarTime(java_name, parts)


def _check_nano(nano: int) -> tuple[int, int]:
    if not 0 <= nano <= 999_999_999:
        raise ValueError(f"{nano} is not a nanosecond of a second")
    return divmod(nano, 1000)


def _check_instant(seconds: int) -> None:
    if not INSTANT_MIN <= seconds <= INSTANT_MAX:
        raise ValueError(
            f"{seconds} is not a second of an Instant, which ends with the years -1000000000 and 1000000000"
        )


def _epoch(seconds: int, micro: int) -> datetime:
    return _EPOCH + timedelta(seconds=seconds, microseconds=micro)


def instant(seconds: int, nano: int) -> datetime | FarTime:
    """An Instant of epoch seconds and nanoseconds of the second."""
    _check_instant(seconds)
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
    # A year in Python's range that is a leap year if and only if this one is.
    date(2000 + year % 400, month, day)
    if abs(year) > 999_999_999:
        raise ValueError(f"{year} is not a year of java.time")


def local_date_of_days(days: int) -> date | FarTime:
    """A LocalDate of days since 1970-01-01."""
    years = 400 * ((days + 719468) // 146097)
    base = date(1970, 1, 1).toordinal() + days
    if 1 <= base <= date.max.toordinal():
        return date.fromordinal(base)
    # Shift by whole cycles of 400 years into the range of date. Then shift the year back.
    shifted = date.fromordinal(base - (years - 2000) // 400 * 146097)
    return local_date(shifted.year + years - 2000, shifted.month, shifted.day)


def local_time(hour: int, minute: int, second: int, nano: int) -> time:
    """A LocalTime."""
    micro, rest = _check_nano(nano)
    plain = time(hour, minute, second, micro)
    return LocalTime(plain, nanosecond=rest) if rest else plain


def local_date_time(day: date | FarTime, at: time) -> datetime | FarTime:
    """A LocalDateTime of its date and its time."""
    if isinstance(day, FarTime):
        return FarTime(LocalDateTime.java_name, (*day.parts, *time_parts(at)))
    rest = _nanosecond_of(at)
    plain = datetime.combine(day, _plain_time(at))
    return LocalDateTime(plain, nanosecond=rest) if rest else plain


def _plain_time(at: time) -> time:
    return at.to_time() if isinstance(at, JavaTime) else at


def _offset(seconds: int) -> timezone:
    if abs(seconds) > 64800:
        raise ValueError(f"{seconds} seconds are not an offset of java.time")
    return timezone(timedelta(seconds=seconds))


def offset_time(at: time, offset: int) -> time:
    """An OffsetTime of a local time and the offset's seconds."""
    rest = _nanosecond_of(at)
    plain = _plain_time(at).replace(tzinfo=_offset(offset))
    return OffsetTime(plain, nanosecond=rest) if rest else plain


def offset_date_time(local: datetime | FarTime, offset: int) -> datetime | FarTime:
    """An OffsetDateTime of a local date and time and the offset's seconds."""
    zone = _offset(offset)
    if isinstance(local, FarTime):
        return FarTime(OffsetDateTime.java_name, (*local.parts, offset))
    plain = _plain(local).replace(tzinfo=zone)
    rest = _nanosecond_of(local)
    return OffsetDateTime(plain, nanosecond=rest) if rest or not offset else plain


def zoned_date_time(local: datetime | FarTime, offset: int, zone: str) -> datetime | FarTime:
    """A ZonedDateTime of a local date and time, the offset's seconds and the zone's id."""
    fixed = _offset(offset)
    if isinstance(local, FarTime):
        return FarTime(ZonedDateTime.java_name, (*local.parts, offset, zone))
    plain = _plain(local)
    rest = _nanosecond_of(local)
    info = zone_info(zone)
    is_plain = info is not None and not no_java_zone(zone) and not is_in_gap(plain.replace(tzinfo=info))
    for fold in (0, 1) if is_plain else ():
        found = plain.replace(tzinfo=info, fold=fold)
        if found.utcoffset() == fixed.utcoffset(None):
            return ZonedDateTime.read(found, zone, rest) if rest else found
    # The zone is an offset, or this machine does not know the zone, or knows it with other rules.
    return ZonedDateTime.read(plain.replace(tzinfo=fixed), zone, rest)


# From Python values to Java's numbers.


def _plain(value: datetime) -> datetime:
    return value.to_datetime() if isinstance(value, JavaDateTime) else value


def _nanosecond_of(value: datetime | time | timedelta) -> int:
    """The nanoseconds below the value's microseconds: 0 to 999."""
    return getattr(value, "nanosecond", 0)


def instant_parts(value: datetime | FarTime) -> tuple[int, int]:
    """Epoch seconds and nanoseconds of the second, of an aware datetime or FarTime."""
    if isinstance(value, FarTime):
        seconds, nano = cast("tuple[int, int]", value.parts)
        _check_instant(seconds)
        _check_nano(nano)
        return seconds, nano
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
        seconds, nano = cast("tuple[int, int]", value.parts)
        _check_nano(nano)
        return seconds, nano
    return value.days * 86400 + value.seconds, value.microseconds * 1000 + _nanosecond_of(value)


def date_parts(value: date | FarTime) -> tuple[int, int, int]:
    """Year, month and day of any value with a date."""
    if isinstance(value, FarTime):
        return cast("tuple[int, int, int]", value.parts[:3])
    return value.year, value.month, value.day


def time_parts(value: time | datetime | FarTime) -> tuple[int, int, int, int]:
    """Hour, minute, second and nanosecond of the second, of any value with a time."""
    if isinstance(value, FarTime):
        return cast("tuple[int, int, int, int]", value.parts[3:7])
    return value.hour, value.minute, value.second, value.microsecond * 1000 + _nanosecond_of(value)


def offset_of(value: time | datetime | FarTime) -> int:
    """The offset's seconds. Raises ValueError for an offset that Java does not support."""
    if isinstance(value, FarTime):
        return cast(int, value.parts[7])
    offset = value.utcoffset()
    if offset is None:
        raise ValueError("a time with a zone but without a date has no offset")
    if offset.microseconds or abs(offset) > timedelta(hours=18):
        raise ValueError(f"an offset of {offset} is not a ZoneOffset")
    return offset.days * 86400 + offset.seconds


def zone_of(value: datetime | FarTime) -> str:
    """The zone's id of a value that becomes a ZonedDateTime."""
    if isinstance(value, FarTime):
        return cast(str, value.parts[8])
    if isinstance(value, ZonedDateTime):
        return value.zone
    key = getattr(value.tzinfo, "key", None)
    if key and (why := no_java_zone(key)):
        raise ValueError(why)
    if key and is_in_gap(value):
        raise ValueError(f"{value.replace(tzinfo=None)} is left out by the clocks of {key}: send it in UTC")
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
