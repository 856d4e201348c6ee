"""The JDK classes that protostuff writes as their private fields, except those that Java cannot read back.

The fields are those of JDK 8 to 21, in order, without transient ones.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, time, timedelta
from typing import Any
from uuid import UUID

import attrs

from redisson_dq import java
from redisson_dq.java import time_numbers, zone_ids

__all__ = ["JDK", "Parts", "jdk_name"]

_TIME = "java.time."


@attrs.frozen
class Parts:
    """A class. ``split`` returns an object's field values, and ``join`` makes an object from them. Both raise
    ValueError or OverflowError for a value that the class cannot hold.
    """

    types: tuple[str, ...]
    split: Callable[[Any], tuple[Any, ...]]
    join: Callable[..., Any]


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def _uuid(most: int, least: int) -> UUID:
    return UUID(int=(most & (1 << 64) - 1) << 64 | least & (1 << 64) - 1)


def _local(value: Any) -> tuple[Any, ...]:
    """The date and the time of a value that has both."""
    return time_numbers.local_date(*time_numbers.date_parts(value)), time_numbers.local_time(
        *time_numbers.time_parts(value)
    )


def _local_date_time(value: Any) -> Any:
    return time_numbers.local_date_time(*_local(value))


def _offset(value: Any) -> java.ZoneOffset:
    return java.ZoneOffset(time_numbers.offset_of(value))


def _zone(value: Any) -> java.ZoneId | java.ZoneOffset:
    zone, offset = time_numbers.zone_of(value), time_numbers.offset_of(value)
    return java.ZoneOffset(offset) if zone == zone_ids.offset_id(offset) else java.ZoneId.read(zone)


#: By Java name.
JDK: dict[str, Parts] = {
    "java.util.UUID": Parts(
        ("long", "long"), lambda value: (_signed(value.int >> 64), _signed(value.int & (1 << 64) - 1)), _uuid
    ),
    _TIME + "Instant": Parts(("long", "int"), time_numbers.instant_parts, time_numbers.instant),
    _TIME + "Duration": Parts(("long", "int"), time_numbers.duration_parts, time_numbers.duration),
    _TIME + "LocalDate": Parts(("int", "short", "short"), time_numbers.date_parts, time_numbers.local_date),
    _TIME + "LocalTime": Parts(("byte", "byte", "byte", "int"), time_numbers.time_parts, time_numbers.local_time),
    _TIME + "LocalDateTime": Parts((_TIME + "LocalDate", _TIME + "LocalTime"), _local, time_numbers.local_date_time),
    _TIME + "OffsetTime": Parts(
        (_TIME + "LocalTime", _TIME + "ZoneOffset"),
        lambda value: (time_numbers.local_time(*time_numbers.time_parts(value)), _offset(value)),
        lambda at, offset: time_numbers.offset_time(at, offset.seconds),
    ),
    _TIME + "OffsetDateTime": Parts(
        (_TIME + "LocalDateTime", _TIME + "ZoneOffset"),
        lambda value: (_local_date_time(value), _offset(value)),
        lambda local, offset: time_numbers.offset_date_time(local, offset.seconds),
    ),
    _TIME + "ZonedDateTime": Parts(
        (_TIME + "LocalDateTime", _TIME + "ZoneOffset", _TIME + "ZoneId"),
        lambda value: (_local_date_time(value), _offset(value), _zone(value)),
        lambda local, offset, zone: time_numbers.zoned_date_time(local, offset.seconds, str(zone)),
    ),
    _TIME + "ZoneOffset": Parts(("int",), lambda value: (value.seconds,), java.ZoneOffset),
    _TIME + "ZoneRegion": Parts(("java.lang.String",), lambda value: (str(value),), java.ZoneId.read),
    _TIME + "Period": Parts(("int", "int", "int"), lambda value: (value.years, value.months, value.days), java.Period),
    _TIME + "Year": Parts(("int",), lambda value: (int(value),), java.Year),
    _TIME + "YearMonth": Parts(("int", "int"), lambda value: (value.year, value.month), java.YearMonth),
    _TIME + "MonthDay": Parts(("int", "int"), lambda value: (value.month, value.day), java.MonthDay),
}


def jdk_name(value: Any) -> str | None:
    """The Java name for a value of one of these classes. None for any other value. O(1)."""
    if isinstance(value, UUID):
        return "java.util.UUID"
    is_time = isinstance(value, (date, time, timedelta))
    name = time_numbers.java_time_name(value) if is_time else getattr(value, "java_name", None)
    return name if isinstance(name, str) and name in JDK else None
