"""The values of nodes without parts: numbers, texts, dates, by the Java name of their class.

The forms of every Jackson configuration are read: dates as numbers and as texts, Locales of Jackson 2 and of Jackson 3.
A function returns None for a node that is not a value of its class.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from datetime import date, datetime, time, timezone
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed
from redisson_dq.codecs.jackson import iso
from redisson_dq.codecs.jackson.locales import read_locale
from redisson_dq.codecs.jackson.node import Number
from redisson_dq.codecs.jackson.throwables import read_trace_element
from redisson_dq.errors import ArgumentError
from redisson_dq.java import time_numbers
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, decoded_big_integer, decoded_long

__all__ = ["NON_FINITE", "SCALARS"]

#: Java's texts for the floats that JSON cannot express as numbers.
NON_FINITE = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}


def _integer(least: int, most: int, make: Callable[[int], Any]) -> Callable[[Any], Any]:
    return lambda node: make(node) if type(node) is int and least <= node <= most else None


def _double(node: Any) -> float | None:
    if type(node) is str:
        return float(NON_FINITE[node]) if node in NON_FINITE else None
    try:
        return float(node) if type(node) in (int, Number, float, java.Float, Decimal) else None
    except OverflowError:
        return float("inf" if node > 0 else "-inf")


def _float(node: Any) -> java.Float | None:
    number = _double(node)
    if number is None:
        return None
    try:
        return java.Float(number)
    except ArgumentError:
        return java.Float(float("-inf" if number < 0 else "inf"))


def _primitive_float(node: Any) -> float | None:
    number = _float(node)
    return None if number is None else float(number)


def _big_decimal(node: Any) -> Decimal | None:
    if type(node) is float:
        node = repr(node)
    elif type(node) not in (int, Number, Decimal):
        return None
    try:
        value = Decimal(node)
    except InvalidOperation:
        return None
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or not INT_MIN <= -exponent <= INT_MAX:
        return None
    return value if value else value.copy_abs()


def _byte_array(node: Any) -> bytes | None:
    if type(node) is bytes:
        return node
    try:
        return base64.b64decode(node, validate=True) if type(node) is str else None
    except ValueError:
        return None


def _char_array(node: Any) -> java.CharArray | None:
    return java.CharArray(node) if type(node) is str else None


def _character(node: Any) -> java.Character | None:
    return java.Character(node) if type(node) is str and len(node) == 1 and node <= "\uffff" else None


def _uuid(node: Any) -> UUID | None:
    if type(node) is bytes and len(node) == 16:
        return UUID(bytes=node)
    if type(node) is not str or _UUID.fullmatch(node) is None:
        return None
    return UUID(node)


_UUID = re.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

# Dates and times, as numbers or as texts

_NUMBERS = (int, Number, float, Decimal)


def _time(read: Callable[[Any], Any], *nodes: type) -> Callable[[Any], Any]:
    """A function that reads nodes of those types. ``read`` raises ValueError for invalid contents."""

    def checked(node: Any) -> Any:
        if type(node) not in nodes:
            return None
        try:
            return read(node)
        except (ValueError, ArithmeticError):
            return None

    return checked


def _either(text: Callable[[str], Any], other: Callable[[Any], Any], *nodes: type) -> Callable[[Any], Any]:
    return _time(lambda node: text(node) if type(node) is str else other(node), str, *nodes)


def _nanos(node: Any) -> tuple[int, int]:
    """A number of seconds as seconds and nanoseconds."""
    value = Decimal(repr(node) if type(node) is float else node)
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or exponent < -1000 or value.adjusted() > 18:
        raise ValueError("beyond java.time")
    unscaled, power = int(Decimal((sign, digits, 0))), exponent + 9
    seconds, nano = divmod(unscaled * 10**power if power >= 0 else unscaled // 10**-power, 1_000_000_000)
    if not LONG_MIN <= seconds <= LONG_MAX:
        raise ValueError("beyond java.time")
    return seconds, nano


def _whole_numbers(nodes: list[Any], least: int, most: int) -> list[int]:
    if not least <= len(nodes) <= most or not all(type(node) is int for node in nodes):
        raise ValueError("other numbers than those of a date or time")
    return nodes


def _clock(nodes: list[Any]) -> time:
    hour, minute, second, nano = [*_whole_numbers(nodes, 2, 4), 0, 0][:4]
    return time_numbers.local_time(hour, minute, second, nano)


def _day(nodes: list[Any]) -> Any:
    year, month, day = _whole_numbers(nodes, 3, 3)
    return time_numbers.local_date(year, month, day)


def _offset(seconds: int, nano: int) -> Any:
    return time_numbers.offset_date_time(iso.utc_of(seconds, nano), 0)


def _zoned(seconds: int, nano: int) -> Any:
    return time_numbers.zoned_date_time(iso.utc_of(seconds, nano), 0, "Z")


def _offset_time(nodes: list[Any]) -> time:
    if not nodes or type(nodes[-1]) is not str:
        raise ValueError("an OffsetTime without an offset")
    return time_numbers.offset_time(_clock(nodes[:-1]), iso.read_offset(nodes[-1]))


def _year_month(nodes: list[Any]) -> java.YearMonth:
    year, month = _whole_numbers(nodes, 2, 2)
    date(2000, month, 1)
    return java.YearMonth(year, month)


def _year(node: int) -> java.Year:
    if abs(node) > 999_999_999:
        raise ValueError("beyond Year")
    return java.Year(node)


def _month(node: Any) -> java.Month:
    try:
        return java.Month(node) if type(node) is int else java.Month[node]
    except KeyError as error:
        raise ValueError("no month") from error


def _millis(node: Any) -> int:
    millis = iso.read_millis(node) if type(node) is str else node
    if not LONG_MIN <= millis <= LONG_MAX:
        raise ValueError("beyond java.util.Date")
    return millis


def _timestamp(node: Any) -> Any:
    millis = _millis(node)
    return time_numbers.timestamp(millis // 1000, millis % 1000 * 1_000_000)


def _sql_time(node: Any) -> Any:
    if type(node) is str and len(node) == 8:
        return java.SqlTime(datetime.combine(date(1970, 1, 1), iso.read_local_time(node), timezone.utc))
    return time_numbers.java_date(_millis(node), java.SqlTime)


def _date(kind: type[java.JavaDate]) -> Callable[[Any], Any]:
    return _time(lambda node: time_numbers.java_date(_millis(node), kind), int, str)


_TIMES: dict[str, Callable[[Any], Any]] = {
    java.JavaDate.java_name: _date(java.JavaDate),
    java.SqlDate.java_name: _date(java.SqlDate),
    java.SqlTime.java_name: _time(_sql_time, int, str),
    java.Timestamp.java_name: _time(_timestamp, int, str),
    "java.time.Instant": _either(iso.read_instant, lambda node: time_numbers.instant(*_nanos(node)), *_NUMBERS),
    "java.time.OffsetDateTime": _either(iso.read_offset_date_time, lambda node: _offset(*_nanos(node)), *_NUMBERS),
    "java.time.ZonedDateTime": _either(iso.read_zoned_date_time, lambda node: _zoned(*_nanos(node)), *_NUMBERS),
    "java.time.Duration": _either(iso.read_duration, lambda node: time_numbers.duration(*_nanos(node)), *_NUMBERS),
    "java.time.LocalDate": _either(iso.read_date, _day, list),
    "java.time.LocalTime": _either(iso.read_local_time, _clock, list),
    "java.time.LocalDateTime": _either(
        iso.read_local_date_time, lambda node: time_numbers.local_date_time(_day(node[:3]), _clock(node[3:])), list
    ),
    "java.time.OffsetTime": _either(iso.read_offset_time, _offset_time, list),
    "java.time.Period": _time(iso.read_period, str),
    "java.time.Year": _either(iso.read_year, _year, int),
    "java.time.YearMonth": _either(iso.read_year_month, _year_month, list),
    "java.time.MonthDay": _time(iso.read_month_day, str),
    "java.time.Month": _time(_month, int, str),
    "java.time.ZoneId": _time(java.ZoneId.read, str),
    "java.time.ZoneOffset": _time(lambda node: java.ZoneOffset(iso.read_offset(node)), str),
}


def _text(make: Callable[[str], Any]) -> Callable[[Any], Any]:
    return lambda node: make(node) if type(node) is str else None


def _no_bits(node: Any) -> java.BitSet:
    if node == (("empty", True),):
        return java.BitSet()
    raise Malformed("a java.util.BitSet, of whose bits Jackson writes nothing", near=java.BitSet.java_name, stale=False)


def _truth(make: Callable[[bool], Any]) -> Callable[[Any], Any]:
    return lambda node: make(node) if type(node) is bool else None


#: By Java name: the function that makes a value from its node.
SCALARS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("boolean", "java.lang.Boolean"), _truth(bool)),
    "byte": _integer(-128, 127, int),
    "short": _integer(-32768, 32767, int),
    **dict.fromkeys(("int", "java.lang.Integer"), _integer(INT_MIN, INT_MAX, int)),
    "long": _integer(LONG_MIN, LONG_MAX, int),
    "float": _primitive_float,
    **dict.fromkeys(("double", "java.lang.Double"), _double),
    "char": _text(lambda node: str.__str__(node) if _character(node) is not None else None),
    "java.lang.Byte": _integer(-128, 127, java.Byte),
    "java.lang.Short": _integer(-32768, 32767, java.Short),
    "java.lang.Long": _integer(LONG_MIN, LONG_MAX, decoded_long),
    "java.math.BigInteger": lambda node: decoded_big_integer(node) if type(node) is int else None,
    "java.math.BigDecimal": _big_decimal,
    "java.lang.Float": _float,
    "java.lang.String": _text(str),
    "java.lang.Character": _character,
    "[B": _byte_array,
    "[C": _char_array,
    "java.util.UUID": _uuid,
    **{
        kind.java_name: _text(kind)
        for kind in (
            *(java.Uri, java.Url, java.Currency, java.Charset, java.StringBuilder, java.StringBuffer),
            *(java.JavaClass, java.Pattern),
        )
    },
    java.TimeZone.java_name: _text(java.TimeZone.read),
    java.Locale.java_name: _text(read_locale),
    java.StackTraceElement.java_name: read_trace_element,
    java.AtomicInteger.java_name: _integer(INT_MIN, INT_MAX, java.AtomicInteger),
    java.AtomicLong.java_name: _integer(LONG_MIN, LONG_MAX, java.AtomicLong),
    java.AtomicBoolean.java_name: _truth(java.AtomicBoolean),
    **_TIMES,
    java.BitSet.java_name: _no_bits,
}
