"""java.time: ``java.time.Ser`` writes every value, as a byte for the class and the value's numbers."""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed, Unencodable, shorten
from redisson_dq.codecs.serialization.handler import ClassHandler, Data, put, utf_bytes
from redisson_dq.codecs.serialization.protocols import DecoderProtocol, EncoderProtocol
from redisson_dq.codecs.serialization.stream import Instance
from redisson_dq.java import time_numbers, zone_ids
from redisson_dq.java.calendars import FarTime

__all__ = ["FAR_TIME", "NAMES", "HANDLERS"]

_SER = "java.time.Ser"
_OFFSET_IN_FULL = 127
_QUARTER = 900  # seconds

_pack_second = struct.Struct(">qi").pack
_pack_date = struct.Struct(">ibb").pack


def _read_second(data: Data) -> tuple[int, int]:
    seconds, nano = data.unpack(">qi")
    return seconds, nano


def _read_date(data: Data) -> date | FarTime:
    return time_numbers.local_date(*data.unpack(">ibb"))


def _date(value: Any) -> bytes:
    return _pack_date(*time_numbers.date_parts(value))


def _read_time(data: Data) -> time:
    """Reads a time. Java leaves out trailing zeros, and inverts the last part that it writes."""
    parts = []
    for _ in range(3):
        (part,) = data.unpack(">b")
        if part < 0:
            parts.append(~part)
            break
        parts.append(part)
    else:
        return time_numbers.local_time(parts[0], parts[1], parts[2], data.integer())
    return time_numbers.local_time(*parts, *[0] * (4 - len(parts)))


def _time(value: Any) -> bytes:
    *parts, nano = time_numbers.time_parts(value)
    if nano:
        return bytes(parts) + nano.to_bytes(4, "big")
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    parts[-1] = ~parts[-1] & 0xFF
    return bytes(parts)


def _read_date_time(data: Data) -> datetime | FarTime:
    day = _read_date(data)
    return time_numbers.local_date_time(day, _read_time(data))


def _date_time(value: Any) -> bytes:
    return _date(value) + _time(value)


def _read_offset(data: Data) -> int:
    (quarters,) = data.unpack(">b")
    return data.integer() if quarters == _OFFSET_IN_FULL else quarters * _QUARTER


def _offset(seconds: int) -> bytes:
    if seconds % _QUARTER:
        return struct.pack(">bi", _OFFSET_IN_FULL, seconds)
    return struct.pack(">b", seconds // _QUARTER)


def _read_zoned(data: Data) -> datetime | FarTime:
    local = _read_date_time(data)
    offset = _read_offset(data)
    (kind,) = data.unpack(">b")
    if kind not in (_ZONE_REGION, _ZONE_OFFSET):
        raise ValueError(f"{kind} is not a kind of time zone")
    zone = data.utf() if kind == _ZONE_REGION else zone_ids.offset_id(_read_offset(data))
    return time_numbers.zoned_date_time(local, offset, zone)


def _zoned(value: Any) -> bytes:
    offset, zone = time_numbers.offset_of(value), time_numbers.zone_of(value)
    same = zone == zone_ids.offset_id(offset)
    tail = bytes((_ZONE_OFFSET,)) + _offset(offset) if same else bytes((_ZONE_REGION,)) + utf_bytes(zone)
    return _date_time(value) + _offset(offset) + tail


def _ints(*values: int) -> bytes:
    return struct.pack(f">{len(values)}i", *values)


_ZONE_REGION, _ZONE_OFFSET = 7, 8

#: By the byte for the class: its name, its reader and its writer.
_KINDS: dict[int, tuple[str, Callable[[Data], Any], Callable[[Any], bytes]]] = {
    1: (
        java.Duration.java_name,
        lambda data: time_numbers.duration(*_read_second(data)),
        lambda value: _pack_second(*time_numbers.duration_parts(value)),
    ),
    2: (
        java.Instant.java_name,
        lambda data: time_numbers.instant(*_read_second(data)),
        lambda value: _pack_second(*time_numbers.instant_parts(value)),
    ),
    3: ("java.time.LocalDate", _read_date, _date),
    4: (java.LocalTime.java_name, _read_time, _time),
    5: (java.LocalDateTime.java_name, _read_date_time, _date_time),
    6: (java.ZonedDateTime.java_name, _read_zoned, _zoned),
    _ZONE_REGION: (java.ZoneId.java_name, lambda data: java.ZoneId.read(data.utf()), utf_bytes),
    _ZONE_OFFSET: (
        java.ZoneOffset.java_name,
        lambda data: java.ZoneOffset(_read_offset(data)),
        lambda value: _offset(value.seconds),
    ),
    9: (
        java.OffsetTime.java_name,
        lambda data: time_numbers.offset_time(_read_time(data), _read_offset(data)),
        lambda value: _time(value) + _offset(time_numbers.offset_of(value)),
    ),
    10: (
        java.OffsetDateTime.java_name,
        lambda data: time_numbers.offset_date_time(_read_date_time(data), _read_offset(data)),
        lambda value: _date_time(value) + _offset(time_numbers.offset_of(value)),
    ),
    11: (java.Year.java_name, lambda data: java.Year(data.integer()), lambda value: _ints(value)),
    12: (
        java.YearMonth.java_name,
        lambda data: java.YearMonth(*data.unpack(">ib")),
        lambda value: struct.pack(">ib", value.year, value.month),
    ),
    13: (
        java.MonthDay.java_name,
        lambda data: java.MonthDay(*data.unpack(">bb")),
        lambda value: bytes((value.month, value.day)),
    ),
    14: (
        java.Period.java_name,
        lambda data: java.Period(*data.unpack(">iii")),
        lambda value: _ints(value.years, value.months, value.days),
    ),
}
_NUMBERS = {name: number for number, (name, _read, _bytes) in _KINDS.items()}


def _read_ser(node: Instance, _decoder: DecoderProtocol) -> Any:
    data = Data(node, _SER)
    (number,) = data.unpack(">b")
    if number not in _KINDS:
        raise Malformed(f"{number} is not a kind of java.time", node.offset)
    name, read, _bytes = _KINDS[number]
    try:
        value = read(data)
    except (ValueError, OverflowError) as error:
        raise Malformed(f"no {name}: {error}", node.offset) from error
    data.end()
    return value


def _write_ser(node: Instance, value: Any, _encoder: EncoderProtocol) -> None:
    name = time_numbers.java_time_name(value)
    number = _NUMBERS[name]
    try:
        raw = _KINDS[number][2](value)
    except (ValueError, OverflowError, TypeError, IndexError, struct.error) as error:
        raise Unencodable(f"not a {name}: {shorten(str(error), 200)}") from error
    put(node, {}, [bytes((number,)) + raw])


HANDLERS: tuple[ClassHandler, ...] = (
    ClassHandler(_SER, _read_ser),
    *(
        ClassHandler(_SER, _read_ser, kind, _write_ser)
        for kind in (
            *(datetime, date, time, timedelta),
            *(java.Instant, java.LocalDateTime, java.OffsetDateTime, java.ZonedDateTime, java.LocalTime),
            *(java.OffsetTime, java.Duration, java.Period, java.Year, java.YearMonth, java.MonthDay),
            *(java.ZoneId, java.ZoneOffset),
        )
    ),
)
#: The handler that writes a FarTime of java.time.
FAR_TIME = ClassHandler(_SER, _read_ser, None, _write_ser)
NAMES = tuple(_NUMBERS)
