"""Java's dates, times and calendars that Python has no class for, and those out of the range of ``datetime``."""

from __future__ import annotations

from calendar import monthrange
from datetime import datetime
from typing import Any, ClassVar

import attrs

from redisson_dq.errors import ArgumentError
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN
from redisson_dq.java.times import (
    Duration,
    Instant,
    JavaDate,
    LocalDateTime,
    OffsetDateTime,
    SqlDate,
    SqlTime,
    Timestamp,
    ZonedDateTime,
)
from redisson_dq.java.zones import ReadZone, time_zone_id

__all__ = [
    "INSTANT_MAX",
    "INSTANT_MIN",
    "FarTime",
    "GregorianCalendar",
    "MonthDay",
    "Period",
    "Year",
    "YearMonth",
]


def _integer_between(least: int, most: int) -> Any:
    return lambda number: type(number) is int and least <= number <= most


_NANO = _integer_between(0, 999_999_999)
_LONG = _integer_between(LONG_MIN, LONG_MAX)
_OF_DATE = (_integer_between(-999_999_999, 999_999_999), _integer_between(1, 12), _integer_between(1, 31))
_OF_CLOCK = (_integer_between(0, 23), _integer_between(0, 59), _integer_between(0, 59), _NANO)
_OF_OFFSET = _integer_between(-64800, 64800)
#: The seconds of Instant.MIN and Instant.MAX.
INSTANT_MIN, INSTANT_MAX = -31_557_014_167_219_200, 31_556_889_864_403_199
#: By Java name: the check of each part of a FarTime.
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
            raise ArgumentError(f"{self.parts!r:.200} are not parts of a {self.java_name}")
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
