"""Dates and times: how Kryo's TimeSerializers and DateSerializer lay them out.

Where Kryo "optimizes for positive numbers", a varint has no zigzag, and a negative number takes all the bytes of a
varint. The ``read_*`` and ``*_bytes`` functions have the form of those for scalars. Numbers that no Java object can
hold raise ValueError in :mod:`redisson_dq.java.times`; :func:`_checked` turns it into a Malformed.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any

from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.kryo5.scalars import (
    boolean_bytes,
    long_bytes,
    read_boolean,
    read_byte,
    read_plain_long,
    read_signed_int,
    read_signed_long,
)
from redisson_dq.codecs.kryo5.wire import read_string, read_varint, string_bytes, varint
from redisson_dq.java import calendars, time_numbers, times, zone_ids, zones
from redisson_dq.java.calendars import FarTime

__all__ = ["DATES", "TIMES"]

_Read = Callable[[bytes, int, Any], "tuple[Any, int]"]

_INT = struct.Struct("<i")
_LONG = struct.Struct("<q")
_MASK_INT = 0xFFFFFFFF
_MASK_LONG = 0xFFFFFFFFFFFFFFFF


def _checked(read: Callable[[bytes, int], tuple[Any, int]]) -> _Read:
    @functools.wraps(read)
    def checked(data: bytes, pos: int, _: object = None) -> tuple[Any, int]:
        try:
            return read(data, pos)
        except (ValueError, OverflowError) as error:
            raise Malformed(f"not a date or time of Java: {error}", pos) from error

    return checked


def _int(number: int) -> bytes:
    return varint(number & _MASK_INT)


def _long(number: int) -> bytes:
    return varint(number & _MASK_LONG)


def _read_date(data: bytes, pos: int) -> tuple[date | FarTime, int]:
    year, pos = read_signed_int(data, pos)
    return time_numbers.local_date(year, data[pos], data[pos + 1]), pos + 2


def _date_bytes(value: date | FarTime) -> bytes:
    year, month, day = time_numbers.date_parts(value)
    return _int(year) + bytes((month, day))


def _read_time(data: bytes, pos: int) -> tuple[time, int]:
    """Kryo leaves out trailing zeros of hour, minute, second and nanosecond. The last part before them is written as
    its complement.
    """
    parts = [0, 0, 0]
    for index in range(3):
        part, pos = read_byte(data, pos)
        if part < 0:
            parts[index] = ~part
            return time_numbers.local_time(parts[0], parts[1], parts[2], 0), pos
        parts[index] = int(part)
    nano, pos = read_varint(data, pos)
    return time_numbers.local_time(parts[0], parts[1], parts[2], nano), pos


def _time_bytes(value: time | datetime | FarTime) -> bytes:
    *parts, nano = time_numbers.time_parts(value)
    if nano:
        return bytes(parts) + varint(nano)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return bytes((*parts[:-1], ~parts[-1] & 0xFF))


def _read_offset(data: bytes, pos: int) -> tuple[int, int]:
    quarters, pos = read_byte(data, pos)
    return (_INT.unpack_from(data, pos)[0], pos + 4) if quarters == 127 else (quarters * 900, pos)


def _offset_bytes(seconds: int) -> bytes:
    quarters, rest = divmod(seconds, 900)
    return b"\x7f" + _INT.pack(seconds) if rest else bytes((quarters & 0xFF,))


def _read_local(data: bytes, pos: int) -> tuple[datetime | FarTime, int]:
    day, pos = _read_date(data, pos)
    at, pos = _read_time(data, pos)
    return time_numbers.local_date_time(day, at), pos


def _local_bytes(value: datetime | FarTime) -> bytes:
    return _date_bytes(value) + _time_bytes(value)


def _read_offset_date_time(data: bytes, pos: int) -> tuple[Any, int]:
    local, pos = _read_local(data, pos)
    offset, pos = _read_offset(data, pos)
    return time_numbers.offset_date_time(local, offset), pos


def _read_zoned_date_time(data: bytes, pos: int) -> tuple[Any, int]:
    """Kryo does not write the offset. If a zone has the same hour twice, Java uses the first, and so does this
    function.
    """
    local, pos = _read_local(data, pos)
    zone, pos = _read_text(data, pos)
    return time_numbers.zoned_date_time(local, _offset_in(zone, local), zone), pos


def _zoned_date_time_bytes(value: datetime | FarTime) -> bytes:
    zone = time_numbers.zone_of(value)
    try:
        is_read = _offset_in(zone, _local(value)) == time_numbers.offset_of(value)
    except ValueError:
        is_read = True  # this machine does not know the zone's rules
    if not is_read:
        raise Unencodable(f"Kryo does not write a time's offset, and Java reads another one in {zone}: send it in UTC")
    return _local_bytes(value) + string_bytes(zone)


def _local(value: datetime | FarTime) -> datetime | FarTime:
    return value if isinstance(value, FarTime) else datetime.combine(value.date(), value.time()).replace(fold=0)


def _offset_in(zone: str, local: datetime | FarTime) -> int:
    """The offset in seconds of a zone, or of an offset used as a zone, at a local time."""
    fixed = zones.fixed_offset(zone)
    if fixed is not None:
        return fixed
    info = zones.zone_info(zone)
    if info is None:
        raise ValueError(f"the time zone {zone[:80]!r} is not known on this machine")
    if isinstance(local, FarTime):
        year, *rest = local.parts[:6]
        local = datetime(2000 + year % 400, *rest)  # a year in Python's range that is a leap year if this one is
    offset = info.utcoffset(local)
    return round(offset.total_seconds()) if offset is not None else 0


def _read_text(data: bytes, pos: int) -> tuple[str, int]:
    text, end = read_string(data, pos)
    if text is None:
        raise Malformed("a null where a zone is needed", pos)
    return text, end


def _read_offset_time(data: bytes, pos: int) -> tuple[time, int]:
    at, pos = _read_time(data, pos)
    offset, pos = _read_offset(data, pos)
    return time_numbers.offset_time(at, offset), pos


def _read_instant(data: bytes, pos: int) -> tuple[Any, int]:
    seconds, pos = read_signed_long(data, pos)
    nano, pos = read_varint(data, pos)
    return time_numbers.instant(seconds, nano), pos


def _instant_bytes(value: datetime | FarTime) -> bytes:
    seconds, nano = time_numbers.instant_parts(value)
    return _long(seconds) + varint(nano)


def _read_duration(data: bytes, pos: int) -> tuple[Any, int]:
    nano, end = read_varint(data, pos + 8)
    return time_numbers.duration(_LONG.unpack_from(data, pos)[0], nano), end


def _duration_bytes(value: timedelta | FarTime) -> bytes:
    seconds, nano = time_numbers.duration_parts(value)
    return _LONG.pack(seconds) + varint(nano)


def _read_period(data: bytes, pos: int) -> tuple[calendars.Period, int]:
    years, pos = read_signed_int(data, pos)
    months, pos = read_signed_int(data, pos)
    days, pos = read_signed_int(data, pos)
    return calendars.Period(years, months, days), pos


def _read_year(data: bytes, pos: int) -> tuple[calendars.Year, int]:
    year, pos = read_signed_int(data, pos)
    return calendars.Year(year), pos


def _read_year_month(data: bytes, pos: int) -> tuple[calendars.YearMonth, int]:
    year, pos = read_signed_int(data, pos)
    date(2000, data[pos], 1)
    return calendars.YearMonth(year, data[pos]), pos + 1


def _read_month_day(data: bytes, pos: int) -> tuple[calendars.MonthDay, int]:
    date(2000, data[pos], data[pos + 1])
    return calendars.MonthDay(data[pos], data[pos + 1]), pos + 2


def _read_zone_id(data: bytes, pos: int) -> tuple[zone_ids.ZoneId, int]:
    text, pos = _read_text(data, pos)
    return zone_ids.ZoneId.read(text), pos


def _read_zone_offset(data: bytes, pos: int) -> tuple[zone_ids.ZoneOffset, int]:
    seconds, pos = _read_offset(data, pos)
    if abs(seconds) > 64800:
        raise ValueError(f"an offset of {seconds} seconds")
    return zone_ids.ZoneOffset(seconds), pos


def _date_reader(kind: type[times.JavaDate]) -> _Read:
    def read(data: bytes, pos: int) -> tuple[Any, int]:
        millis, pos = read_signed_long(data, pos)
        return time_numbers.java_date(millis, kind), pos

    return _checked(read)


def _read_timestamp(data: bytes, pos: int) -> tuple[Any, int]:
    millis, pos = read_signed_long(data, pos)
    seconds, rest = divmod(millis, 1000)
    return time_numbers.timestamp(seconds, rest * 1_000_000), pos


def _millis_bytes(value: datetime | FarTime) -> bytes:
    return _long(time_numbers.millis_of(value))


def _timestamp_bytes(value: datetime | FarTime) -> bytes:
    """Kryo writes only a Timestamp's milliseconds. Anything finer would be lost, so it is refused."""
    seconds, nano = time_numbers.instant_parts(value)
    millis, rest = divmod(nano, 1_000_000)
    if rest:
        raise Unencodable("Kryo keeps the milliseconds of a java.sql.Timestamp only: round it, or make it an Instant")
    return _long(seconds * 1000 + millis)


def _read_calendar(data: bytes, pos: int) -> tuple[calendars.GregorianCalendar, int]:
    zone, pos = _read_text(data, pos)
    millis, pos = read_signed_long(data, pos)
    lenient, pos = read_boolean(data, pos)
    first_day, pos = read_signed_int(data, pos)
    minimal_days, pos = read_signed_int(data, pos)
    change, pos = read_plain_long(data, pos)
    calendar_zone = zones.read_time_zone(zone)
    return calendars.GregorianCalendar(
        time_numbers.java_date(millis), calendar_zone, lenient, first_day, minimal_days, change
    ), pos


def _calendar_bytes(value: calendars.GregorianCalendar) -> bytes:
    weeks = boolean_bytes(value.lenient) + _int(value.first_day_of_week) + _int(value.minimal_days)
    return string_bytes(value.zone) + _millis_bytes(value.time) + weeks + long_bytes(value.gregorian_change)


#: By Java name: the reader and the writer of a value. First classes that are not final in Java, then final ones.
DATES: dict[str, tuple[_Read, Callable[[Any], bytes]]] = {
    "java.util.Date": (_date_reader(times.JavaDate), _millis_bytes),
    "java.sql.Date": (_date_reader(times.SqlDate), _millis_bytes),
    "java.sql.Time": (_date_reader(times.SqlTime), _millis_bytes),
    "java.sql.Timestamp": (_checked(_read_timestamp), _timestamp_bytes),
    "java.util.GregorianCalendar": (_checked(_read_calendar), _calendar_bytes),
    "java.time.ZoneRegion": (_checked(_read_zone_id), string_bytes),
}
TIMES: dict[str, tuple[_Read, Callable[[Any], bytes]]] = {
    "java.time.Duration": (_checked(_read_duration), _duration_bytes),
    "java.time.Instant": (_checked(_read_instant), _instant_bytes),
    "java.time.LocalDate": (_checked(_read_date), _date_bytes),
    "java.time.LocalTime": (_checked(_read_time), _time_bytes),
    "java.time.LocalDateTime": (_checked(_read_local), _local_bytes),
    "java.time.OffsetTime": (
        _checked(_read_offset_time),
        lambda value: _time_bytes(value) + _offset_bytes(time_numbers.offset_of(value)),
    ),
    "java.time.OffsetDateTime": (
        _checked(_read_offset_date_time),
        lambda value: _local_bytes(value) + _offset_bytes(time_numbers.offset_of(value)),
    ),
    "java.time.ZonedDateTime": (
        _checked(_read_zoned_date_time),
        _zoned_date_time_bytes,
    ),
    "java.time.ZoneOffset": (_checked(_read_zone_offset), lambda value: _offset_bytes(value.seconds)),
    "java.time.Period": (
        _checked(_read_period),
        lambda value: _int(value.years) + _int(value.months) + _int(value.days),
    ),
    "java.time.Year": (_checked(_read_year), _int),
    "java.time.YearMonth": (_checked(_read_year_month), lambda value: _int(value.year) + bytes((value.month,))),
    "java.time.MonthDay": (_checked(_read_month_day), lambda value: bytes((value.month, value.day))),
}
