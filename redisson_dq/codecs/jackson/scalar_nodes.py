"""The nodes that Jackson writes for values without parts, such as a number, a text or a date.

JsonJacksonCodec uses Jackson 2. Jackson 2 knows java.time only with the JavaTimeModule. Jackson 3 always knows it, and
writes some other types differently. The tables of dates and times have Java names as keys, because Python has fewer
types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from redisson_dq import java
from redisson_dq.codecs.faults import Unencodable
from redisson_dq.codecs.jackson import iso
from redisson_dq.codecs.jackson.enums import chrono_unit_text
from redisson_dq.codecs.jackson.locales import language_tag, text_of_locale
from redisson_dq.codecs.jackson.node import Object
from redisson_dq.codecs.jackson.throwables import trace_element
from redisson_dq.java import time_numbers, zone_ids
from redisson_dq.java.date_patterns import DatePattern
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN

__all__ = [
    "ION",
    "JACKSON_2",
    "JACKSON_3",
    "KEYS_2",
    "KEYS_3",
    "NODE_TYPES",
    "TIME_NUMBERS",
    "TIME_TEXTS",
    "UUID_BYTES",
    "Scalar",
    "no_module",
    "patterned",
    "text_in_pattern",
]

#: A value's Java name and its node. The name is None if the node itself shows it.
Scalar = Callable[[Any], "tuple[str | None, Any]"]
_Forms = Mapping[str, Callable[[Any], Any]]

#: The scalars that are nodes themselves.
NODE_TYPES = frozenset((str, Decimal, java.Byte, java.Short, java.Long, java.BigInteger, java.Float))


def _int(value: int) -> tuple[str | None, Any]:
    if INT_MIN <= value <= INT_MAX:
        return None, int(value)
    if LONG_MIN <= value <= LONG_MAX:
        return "java.lang.Long", java.Long(value)
    return "java.math.BigInteger", java.BigInteger(value)


def _double(value: float) -> tuple[str | None, Any]:
    return None if value - value == 0 else "java.lang.Double", float(value)


def _named(name: str, content: Callable[[Any], Any]) -> Scalar:
    return lambda value: (name, content(value))


def _pattern(value: java.Pattern) -> str:
    if value.flags:
        raise Unencodable("Jackson writes a Pattern without its flags: put them into the text, as (?i)")
    return _not_empty(value.pattern, value.java_name)


def _not_empty(text: str, name: str) -> str:
    if not text:
        raise Unencodable(f"an empty {name}, which Jackson reads as null")
    return str.__str__(text)


def _bit_set(value: java.BitSet) -> tuple[str | None, Any]:
    return _lost(value) if value else (value.java_name, Object((("empty", True),)))


def _lost(value: Any) -> tuple[str | None, Any]:
    raise Unencodable(f"Jackson does not write what a {value.java_name} holds")


def no_module(value: Any) -> tuple[str | None, Any]:
    """The form of values that Jackson knows only with a module: raises Unencodable."""
    raise _no_module(value.java_name)


def _unwrapped(value: Any) -> tuple[str | None, Any]:
    raise Unencodable(
        f"Jackson writes what is in a {value.java_name} in its place, unless a field is declared so: write that itself"
    )


# Dates and times


def _dates(form: Callable[[Any], Any]) -> _Forms:
    return {
        **dict.fromkeys(("java.util.Date", "java.sql.Date", "java.sql.Timestamp"), form),
        "java.sql.Time": lambda value: f"{value:%H:%M:%S}",
    }


_DATE_NUMBERS = _dates(lambda value: java.Long(time_numbers.millis_of(value)))
#: The two versions write UTC differently.
_DATE_TEXTS_2 = _dates(lambda value: iso.millis_text(value, "+00:00"))
_DATE_TEXTS_3 = _dates(lambda value: iso.millis_text(value, "Z"))


def _decimal(parts: Callable[[Any], tuple[int, int]]) -> Callable[[Any], Decimal]:
    """Seconds with nine decimals; Jackson writes none as 0.0."""

    def form(value: Any) -> Decimal:
        seconds, nano = parts(value)
        if seconds == LONG_MIN:
            raise ValueError("the least Duration, which Jackson neither writes nor reads")
        nanos = seconds * 1_000_000_000 + nano
        digits = tuple(map(int, str(abs(nanos))))
        return Decimal((int(nanos < 0), digits, -9)) if nanos else Decimal("0.0")

    return form


def _offset_instant(value: Any) -> tuple[int, int]:
    if isinstance(value, java.FarTime):
        year, month, day, hour, minute, second, nano, offset = value.parts[:8]
        return iso.epoch_seconds(year, month, day, hour, minute, second) - offset, nano
    return time_numbers.instant_parts(value)


def _clock(value: Any) -> list[Any]:
    """Hour and minute, then second and nanosecond where these are not 0."""
    hour, minute, second, nano = time_numbers.time_parts(value)
    return [hour, minute, second, nano] if nano else [hour, minute, second] if second else [hour, minute]


#: The types whose nodes are the same with and without texts.
_TIME_COMMON: _Forms = {
    "java.time.MonthDay": iso.month_day_text,
    "java.time.Period": iso.period_text,
    "java.time.ZoneRegion": str.__str__,
    "java.time.ZoneOffset": str,
}
_TIME_TEXTS: _Forms = {
    **_TIME_COMMON,
    "java.time.Instant": iso.instant_text,
    "java.time.LocalDate": iso.date_text,
    "java.time.LocalTime": iso.time_text,
    "java.time.LocalDateTime": iso.local_date_time_text,
    "java.time.OffsetDateTime": iso.offset_date_time_text,
    "java.time.ZonedDateTime": iso.offset_date_time_text,
    "java.time.OffsetTime": iso.offset_time_text,
    "java.time.Duration": iso.duration_text,
    "java.time.Year": int.__repr__,
    "java.time.YearMonth": iso.year_month_text,
}
_TIME_NUMBERS: _Forms = {
    **_TIME_COMMON,
    "java.time.Instant": _decimal(time_numbers.instant_parts),
    "java.time.LocalDate": lambda value: [*time_numbers.date_parts(value)],
    "java.time.LocalTime": _clock,
    "java.time.LocalDateTime": lambda value: [*time_numbers.date_parts(value), *_clock(value)],
    "java.time.OffsetDateTime": _decimal(_offset_instant),
    "java.time.ZonedDateTime": _decimal(_offset_instant),
    "java.time.OffsetTime": lambda value: [*_clock(value), zone_ids.offset_id(time_numbers.offset_of(value))],
    "java.time.Duration": _decimal(time_numbers.duration_parts),
    "java.time.Year": int,
    "java.time.YearMonth": lambda value: [value.year, value.month],
}
#: Classes whose values are written with the name of another class.
_RENAMED = {"java.time.ZoneRegion": "java.time.ZoneId"}


def _no_module(name: str, advice: str = "") -> Unencodable:
    return Unencodable(f"Redisson's Jackson has no {name} (its module is not registered){advice}")


def _java_time(forms: _Forms) -> Scalar:
    def scalar(value: Any) -> tuple[str | None, Any]:
        name = time_numbers.java_time_name(value)
        form = forms.get(name)
        if form is None:
            raise _no_module(name, "; a point in time can be a java.JavaDate")
        try:
            return _RENAMED.get(name, name), form(value)
        except (ValueError, TypeError, LookupError) as error:  # an offset unknown to Java, or a FarTime's other parts
            raise Unencodable(f"{name}: {error}") from error

    return scalar


#: The classes whose ISO 8601 texts are in the zone of the mapper.
_IN_ZONE = (java.JavaDate.java_name, java.Timestamp.java_name)


def text_in_pattern(pattern: DatePattern, value: Any, name: str, zone: str | None) -> str:
    """A date or time in a pattern. Raises Unencodable for a value that the pattern cannot express."""
    try:
        return pattern.written(value, name, zone)
    except ValueError as error:
        raise Unencodable(str(error)) from error


def patterned(
    scalars: Mapping[type, Scalar], patterns: Mapping[str, DatePattern], zone: str | None
) -> dict[type, Scalar]:
    """The table with these patterns by class. ``zone`` is that of the mapper, in which it also writes Dates without a
    pattern.
    """
    iso_text = None if zone is None else DatePattern("yyyy-MM-dd'T'HH:mm:ss.SSSXXX")

    def scalar(value: Any) -> tuple[str | None, Any]:
        name = time_numbers.java_time_name(value)
        pattern = patterns.get(name)
        if pattern is not None:
            return name, text_in_pattern(pattern, value, name, zone)
        found = scalars[type(value)](value)
        if iso_text is not None and name in _IN_ZONE and type(found[1]) is str:
            text = text_in_pattern(iso_text, value, name, zone)
            return name, text[:-1] + "+00:00" if text.endswith("Z") else text
        return found

    return {**scalars, **dict.fromkeys(_TIME_TYPES, scalar)}


_TIME_TYPES: tuple[type, ...] = (
    *(date, datetime, time, timedelta, java.JavaDate, java.SqlDate, java.SqlTime, java.Timestamp),
    *(java.FarTime, java.Period, java.Year, java.YearMonth, java.MonthDay, java.ZoneId, java.ZoneOffset),
)


def _times(forms: _Forms) -> dict[type, Scalar]:
    return dict.fromkeys(_TIME_TYPES, _java_time(forms))


# The tables

_OPTIONALS: tuple[Any, ...] = (java.OptionalInt, java.OptionalLong, java.OptionalDouble)

#: By Python type, as Redisson configures Jackson 2.
JACKSON_2: dict[type, Scalar] = {
    str: lambda value: (None, value),
    int: _int,
    bool: lambda value: (None, value),
    float: _double,
    Decimal: _named("java.math.BigDecimal", lambda value: value),
    **dict.fromkeys((bytes, bytearray, memoryview), _named("[B", bytes)),
    java.Byte: _named("java.lang.Byte", lambda value: value),
    java.Short: _named("java.lang.Short", lambda value: value),
    java.Integer: lambda value: (None, int(value)),
    java.Long: _named("java.lang.Long", lambda value: value),
    java.BigInteger: _named("java.math.BigInteger", lambda value: value),
    java.Float: _named("java.lang.Float", lambda value: value),
    java.Double: _double,
    java.Character: _named("java.lang.Character", str.__str__),
    UUID: _named("java.util.UUID", str),
    **{
        kind: _named(kind.java_name, str.__str__)
        for kind in (
            *(java.Uri, java.Url, java.Currency, java.Charset, java.StringBuilder, java.StringBuffer),
            java.JavaClass,
        )
    },
    java.TimeZone: _named(java.TimeZone.java_name, str.__str__),
    java.Locale: _named(java.Locale.java_name, text_of_locale),
    java.Pattern: _named(java.Pattern.java_name, _pattern),
    java.AtomicInteger: _named(java.AtomicInteger.java_name, lambda value: value.value),
    java.AtomicLong: _named(java.AtomicLong.java_name, lambda value: java.Long(value.value)),
    java.AtomicBoolean: _named(java.AtomicBoolean.java_name, lambda value: value.value),
    java.AtomicReference: _unwrapped,
    java.Optional: no_module,
    **dict.fromkeys(_OPTIONALS, no_module),
    java.StackTraceElement: _named(java.StackTraceElement.java_name, trace_element),
    java.BitSet: _bit_set,
    **_times(_DATE_NUMBERS),
}
#: Ion's mapper treats a java.sql.Time as the Date that it extends.
ION = {**JACKSON_2, **_times(dict.fromkeys(_DATE_NUMBERS, _DATE_NUMBERS["java.util.Date"]))}
_WITH_MODULES: dict[type, Scalar] = {
    **JACKSON_2,
    java.Optional: _unwrapped,
    **dict.fromkeys(_OPTIONALS, _unwrapped),
}
#: With JavaTimeModule in its default settings, and Jdk8Module.
TIME_NUMBERS = {**_WITH_MODULES, **_times({**_DATE_NUMBERS, **_TIME_NUMBERS})}
#: The nodes of java.time's values with WRITE_DATES_AS_TIMESTAMPS disabled. A Duration is still a number.
TIME_TEXTS = {
    **_WITH_MODULES,
    **_times(
        {
            **_DATE_TEXTS_2,
            **_TIME_TEXTS,
            "java.sql.Date": iso.date_text,
            "java.time.Duration": _TIME_NUMBERS["java.time.Duration"],
        }
    ),
}
#: The one declared enum of the JDK whose toString() is not its name.
_chrono_unit = _named("java.time.temporal.ChronoUnit", chrono_unit_text)

#: As Redisson configures Jackson 3.
JACKSON_3: dict[type, Scalar] = {
    **JACKSON_2,
    java.Locale: _named(java.Locale.java_name, language_tag),
    java.Month: _named("java.time.Month", lambda value: value.value),
    java.ChronoUnit: _chrono_unit,
    java.Optional: _unwrapped,
    **{kind: _named(kind.java_name, lambda value: value.value) for kind in _OPTIONALS},
    **_times({**_DATE_TEXTS_3, **_TIME_TEXTS, "java.time.Year": int}),
}

#: For formats that have bytes: there, a UUID is written without the name of its class.
UUID_BYTES: dict[type, Scalar] = {UUID: _named("java.util.UUID", lambda value: value.bytes)}

#: By Python type: the keys of a map whose declared keys have that type.
KEYS_2 = _times({**_DATE_TEXTS_2, **_TIME_TEXTS})
KEYS_3 = {java.ChronoUnit: _chrono_unit, **_times({**_DATE_TEXTS_3, **_TIME_TEXTS})}
