"""Java's dates and times as texts of ISO 8601, and back.

A year has four digits at least, and a sign before 0 and beyond 9999. Readers raise ValueError for any other text.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from typing import Any

from redisson_dq import java
from redisson_dq.java import time_numbers, zone_ids
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN

__all__ = [
    "date_text",
    "duration_text",
    "epoch_seconds",
    "instant_text",
    "local_date_time_text",
    "millis_text",
    "month_day_text",
    "offset_date_time_text",
    "offset_time_text",
    "period_text",
    "read_date",
    "read_duration",
    "read_instant",
    "read_local_date_time",
    "read_local_time",
    "read_millis",
    "read_month_day",
    "read_offset",
    "read_offset_date_time",
    "read_offset_time",
    "read_period",
    "read_year",
    "read_year_month",
    "read_zoned_date_time",
    "time_text",
    "utc_of",
    "year_month_text",
]

_DAY = 86400
_BILLION = 1_000_000_000
_UNIX_DAY = date(1970, 1, 1).toordinal()
_CYCLE = 146097  # days of 400 years
_JULIAN_CYCLE = 1461  # days of 4 years
#: The first day of the Gregorian calendar, 1582-10-15; java.util.Date counts in the Julian one before it.
_GREGORIAN_DAY = -141427

# Days since 1970-01-01, for any year


def _civil(days: int) -> tuple[int, int, int]:
    cycles, rest = divmod(days + _UNIX_DAY - 1, _CYCLE)
    found = date.fromordinal(rest + 1)
    return found.year + 400 * cycles, found.month, found.day


def _days(year: int, month: int, day: int) -> int:
    cycles, rest = divmod(year - 1, 400)
    return date(rest + 1, month, day).toordinal() + cycles * _CYCLE - _UNIX_DAY


def epoch_seconds(year: int, month: int, day: int, hour: int, minute: int, second: int) -> int:
    """Seconds since 1970 of a time in UTC. Raises ValueError if it is no valid time."""
    time(hour, minute, second)
    return _days(year, month, day) * _DAY + hour * 3600 + minute * 60 + second


def utc_of(seconds: int, nano: int) -> Any:
    """The LocalDateTime in UTC of seconds since 1970. Raises ValueError if no LocalDateTime can hold it."""
    days, rest = divmod(seconds, _DAY)
    return time_numbers.local_date_time(
        time_numbers.local_date(*_civil(days)), time_numbers.local_time(rest // 3600, rest // 60 % 60, rest % 60, nano)
    )


def _julian_civil(days: int) -> tuple[int, int, int]:
    cycles, rest = divmod(days + _UNIX_DAY + 1, _JULIAN_CYCLE)
    year = min(rest // 365, 3)
    found = date(4 if year == 3 else 1, 1, 1) + timedelta(rest - 365 * year)
    return 4 * cycles + year + 1, found.month, found.day


def _julian_days(year: int, month: int, day: int) -> int:
    cycles, rest = divmod(year - 1, 4)
    return date(rest + 1, month, day).toordinal() + cycles * _JULIAN_CYCLE - _UNIX_DAY - 2


# Writing


def _year_text(year: int) -> str:
    return f"{year:04d}" if 0 <= year <= 9999 else f"{year:+05d}"


def _fraction(nano: int) -> str:
    return f".{nano:09d}".rstrip("0") if nano else ""


def _fraction_by_threes(nano: int) -> str:
    digits = f"{nano:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}" if digits else ""


def date_text(value: Any) -> str:
    """``LocalDate.toString``. O(1), as all others here."""
    year, month, day = time_numbers.date_parts(value)
    return f"{_year_text(year)}-{month:02d}-{day:02d}"


def time_text(value: Any) -> str:
    """A LocalTime by ISO_LOCAL_TIME: with its seconds, and as many digits of its fraction as needed."""
    hour, minute, second, nano = time_numbers.time_parts(value)
    return f"{hour:02d}:{minute:02d}:{second:02d}{_fraction(nano)}"


def local_date_time_text(value: Any) -> str:
    """A LocalDateTime by ISO_LOCAL_DATE_TIME."""
    return f"{date_text(value)}T{time_text(value)}"


def offset_date_time_text(value: Any) -> str:
    """An OffsetDateTime, or a ZonedDateTime without its zone, by ISO_OFFSET_DATE_TIME."""
    return local_date_time_text(value) + zone_ids.offset_id(time_numbers.offset_of(value))


def offset_time_text(value: time) -> str:
    """``OffsetTime.toString``: without seconds if there are none, the fraction in groups of three digits."""
    hour, minute, second, nano = time_numbers.time_parts(value)
    seconds = f":{second:02d}{_fraction_by_threes(nano)}" if second or nano else ""
    return f"{hour:02d}:{minute:02d}{seconds}{zone_ids.offset_id(time_numbers.offset_of(value))}"


def instant_text(value: Any) -> str:
    """``Instant.toString``: the fraction in groups of three digits."""
    seconds, nano = time_numbers.instant_parts(value)
    days, rest = divmod(seconds, _DAY)
    year, month, day = _civil(days)
    return f"{_year_text(year)}-{month:02d}-{day:02d}T{_clock(rest)}{_fraction_by_threes(nano)}Z"


def millis_text(value: Any, zone: str) -> str:
    """A java.util.Date as Jackson writes it, with milliseconds. ``zone`` is Jackson's text for UTC."""
    seconds, millis = divmod(time_numbers.millis_of(value), 1000)
    days, rest = divmod(seconds, _DAY)
    year, month, day = _julian_civil(days) if days < _GREGORIAN_DAY else _civil(days)
    text = _year_text(year) if year else "+0000"
    return f"{text}-{month:02d}-{day:02d}T{_clock(rest)}.{millis:03d}{zone}"


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def duration_text(value: Any) -> str:
    """``Duration.toString``."""
    seconds, nano = time_numbers.duration_parts(value)
    nanos = seconds * _BILLION + nano
    sign = "-" if nanos < 0 else ""
    whole, nano = divmod(abs(nanos), _BILLION)
    hours, minutes, seconds = whole // 3600, whole // 60 % 60, whole % 60
    text = "PT"
    if hours:
        text += f"{sign}{hours}H"
    if minutes:
        text += f"{sign}{minutes}M"
    if seconds or nano or text == "PT":
        text += f"{sign}{seconds}{_fraction(nano)}S"
    return text


def period_text(value: java.Period) -> str:
    """``Period.toString``."""
    parts = ((value.years, "Y"), (value.months, "M"), (value.days, "D"))
    return "P" + ("".join(f"{number}{unit}" for number, unit in parts if number) or "0D")


def year_month_text(value: java.YearMonth) -> str:
    """A YearMonth by the pattern ``uuuu-MM``."""
    year = f"{value.year:04d}" if value.year >= 0 else f"{value.year:05d}"
    return f"{year}-{value.month:02d}"


def month_day_text(value: java.MonthDay) -> str:
    """``MonthDay.toString``."""
    return f"--{value.month:02d}-{value.day:02d}"


# Reading

_DATE = r"([+-]?\d{4,10})-(\d\d)-(\d\d)"
_TIME = r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
_OFFSET = r"(Z|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


_LOCAL_DATE = _compiled(_DATE)
_LOCAL_TIME = _compiled(_TIME)
_LOCAL_DATE_TIME = _compiled(f"{_DATE}T{_TIME}")
_OFFSET_TIME = _compiled(_TIME + _OFFSET)
_OFFSET_DATE_TIME = _compiled(f"{_DATE}T{_TIME}{_OFFSET}")
_ZONED_DATE_TIME = _compiled(rf"{_DATE}T{_TIME}{_OFFSET}(?:\[([^\]]+)\])?")
_UTIL_DATE = _compiled(f"{_DATE}(?:T{_TIME}{_OFFSET}?)?")
_ZONE_OFFSET = _compiled(_OFFSET)
_DURATION = _compiled(
    r"([+-]?)P(?:([+-]?\d{1,19})D)?(?:T(?:([+-]?\d{1,19})H)?(?:([+-]?\d{1,19})M)?(?:([+-]?\d{1,19})(?:\.(\d{1,9}))?S)?)?"
)
_PERIOD = _compiled(r"([+-]?)P(?:([+-]?\d{1,10})Y)?(?:([+-]?\d{1,10})M)?(?:([+-]?\d{1,10})W)?(?:([+-]?\d{1,10})D)?")
_YEAR = _compiled(r"([+-]?\d{1,9})")
_YEAR_MONTH = _compiled(r"([+-]?\d{4,9})-(\d\d)")
_MONTH_DAY = _compiled(r"--(\d\d)-(\d\d)")


def _parts(pattern: re.Pattern[str], text: str) -> tuple[str | None, ...]:
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError("not of that form")
    return match.groups()


def _numbers(parts: tuple[str | None, ...]) -> list[int]:
    return [int(part or 0) for part in parts]


def _nano(fraction: str | None) -> int:
    return int((fraction or "").ljust(9, "0"))


def _time(parts: tuple[str | None, ...]) -> time:
    hour, minute, second = _numbers(parts[:3])
    return time_numbers.local_time(hour, minute, second, _nano(parts[3]))


def _date(parts: tuple[str | None, ...]) -> date | java.FarTime:
    year, month, day = _numbers(parts)
    return time_numbers.local_date(year, month, day)


def read_date(text: str) -> Any:
    """A LocalDate."""
    return _date(_parts(_LOCAL_DATE, text))


def read_local_time(text: str) -> time:
    """A LocalTime."""
    return _time(_parts(_LOCAL_TIME, text))


def read_local_date_time(text: str) -> Any:
    """A LocalDateTime."""
    parts = _parts(_LOCAL_DATE_TIME, text)
    return time_numbers.local_date_time(_date(parts[:3]), _time(parts[3:]))


def read_offset(text: str) -> int:
    """The seconds of a ZoneOffset."""
    (found,) = _parts(_ZONE_OFFSET, text)
    digits = (found or "Z").replace(":", "")[1:].ljust(6, "0")
    hours, minutes, seconds = int(digits[:2]), int(digits[2:4]), int(digits[4:])
    total = hours * 3600 + minutes * 60 + seconds
    if minutes > 59 or seconds > 59 or total > 18 * 3600:
        raise ValueError("no offset of java.time")
    return -total if text[0] == "-" else total


def read_offset_time(text: str) -> time:
    """An OffsetTime."""
    *parts, offset = _parts(_OFFSET_TIME, text)
    return time_numbers.offset_time(_time(tuple(parts)), read_offset(offset or ""))


def read_offset_date_time(text: str) -> Any:
    """An OffsetDateTime."""
    *parts, offset = _parts(_OFFSET_DATE_TIME, text)
    local = time_numbers.local_date_time(_date(tuple(parts[:3])), _time(tuple(parts[3:])))
    return time_numbers.offset_date_time(local, read_offset(offset or ""))


def read_zoned_date_time(text: str) -> Any:
    """A ZonedDateTime: its zone in brackets, else the offset."""
    *parts, offset, zone = _parts(_ZONED_DATE_TIME, text)
    local = time_numbers.local_date_time(_date(tuple(parts[:3])), _time(tuple(parts[3:])))
    seconds = read_offset(offset or "")
    return time_numbers.zoned_date_time(local, seconds, zone or zone_ids.offset_id(seconds))


def read_instant(text: str) -> datetime | java.FarTime:
    """An Instant, with any offset."""
    parts = _parts(_OFFSET_DATE_TIME, text)
    seconds = epoch_seconds(*_numbers(parts[:6])) - read_offset(parts[7] or "")
    return time_numbers.instant(seconds, _nano(parts[6]))


def read_millis(text: str) -> int:
    """The milliseconds of a java.util.Date: a date, perhaps a time, perhaps an offset."""
    parts = _parts(_UTIL_DATE, text)
    year, month, day, hour, minute, second = _numbers(parts[:6])
    time(hour, minute, second)
    days = _days(year, month, day) if (year, month, day) >= (1582, 10, 15) else _julian_days(year, month, day)
    seconds = days * _DAY + hour * 3600 + minute * 60 + second - read_offset(parts[7] or "Z")
    millis = seconds * 1000 + _nano(parts[6]) // 1_000_000
    if not LONG_MIN <= millis <= LONG_MAX:
        raise ValueError("beyond java.util.Date")
    return millis


def read_duration(text: str) -> Any:
    """A Duration."""
    parts = _parts(_DURATION, text)
    if text[-1] in "PT":
        raise ValueError("a Duration without a number")
    days, hours, minutes, seconds = _numbers(parts[1:5])
    nanos = (days * _DAY + hours * 3600 + minutes * 60 + seconds) * _BILLION
    fraction = _nano(parts[5])
    nanos += -fraction if (parts[4] or "").startswith("-") else fraction
    whole, nano = divmod(-nanos if parts[0] == "-" else nanos, _BILLION)
    if not LONG_MIN <= whole <= LONG_MAX:
        raise ValueError("beyond Duration")
    return time_numbers.duration(whole, nano)


def read_period(text: str) -> java.Period:
    """A Period."""
    parts = _parts(_PERIOD, text)
    if text[-1] == "P":
        raise ValueError("a Period without a number")
    years, months, weeks, days = _numbers(parts[1:])
    found = [-number if parts[0] == "-" else number for number in (years, months, weeks * 7 + days)]
    if not all(INT_MIN <= number <= INT_MAX for number in found):
        raise ValueError("beyond Period")
    return java.Period(*found)


def read_year(text: str) -> java.Year:
    """A Year."""
    (year,) = _parts(_YEAR, text)
    return java.Year(year or 0)


def read_year_month(text: str) -> java.YearMonth:
    """A YearMonth."""
    year, month = _numbers(_parts(_YEAR_MONTH, text))
    date(2000, month, 1)
    return java.YearMonth(year, month)


def read_month_day(text: str) -> java.MonthDay:
    """A MonthDay."""
    month, day = _numbers(_parts(_MONTH_DAY, text))
    date(2000, month, day)
    return java.MonthDay(month, day)
