"""Converts plain Python values to the Java class that a field declares.

Each row of the table names a declared Java type, and the Python types whose plain values become it. ``int`` in the
table is any int except a bool. An int with a Java type of its own is included: ``Long(5)`` where a Short is declared
becomes a Short. Conversions are exact, except that two types round: a Float has 32 bits, a Date milliseconds.
"""

from __future__ import annotations

import codecs
import re
import reprlib
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from redisson_dq.errors import ArgumentError
from redisson_dq.java import calendars, numbers, references, text_forms, times, values, zone_ids
from redisson_dq.java.arrays import PRIMITIVE_CODES, Array, array_of, component_of
from redisson_dq.java.collections import COLLECTIONS, INTERFACES
from redisson_dq.java.facts import NO_NULL_VALUES, NO_NULLS
from redisson_dq.java.hierarchy import kind_of
from redisson_dq.java.maps import EnumMap
from redisson_dq.java.registry import declaration_for, declaration_of
from redisson_dq.java.sets import EnumSet, OrderedSet
from redisson_dq.java.signatures import Signature

__all__ = ["TABLE", "Misfit", "convert"]

_Make = Callable[[Any, Signature], Any]
_Row = dict[type, _Make]


class Misfit(ArgumentError):
    """A value that its place cannot hold. ``steps`` are the path from the value out to the place, innermost first."""

    def __init__(self, value: Any, declared: str, reason: str = "", *, steps: Iterable[Any] = ()) -> None:
        text = f"{_shown(value)} of type {_type_name(value)} cannot be a {declared}"
        super().__init__(f"{text}: {reason}" if reason else text)
        self.steps = [*steps]


class _Repr(reprlib.Repr):
    """Shows only values of Python's own classes. The repr of another class would run that class's code."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = 60

    def repr1(self, x: Any, level: int) -> str:
        kind = type(x)
        if x is None or kind in _SHOWN:
            return super().repr1(x, level)
        return f"<{kind.__qualname__[:60]}>"


_SHOWN = frozenset(
    (bool, int, float, str, bytes, Decimal, UUID, date, datetime, time, timedelta, list, tuple, set, frozenset, dict)
)
_repr = _Repr()


def _shown(value: Any) -> str:
    """The value, shortened, for messages."""
    if isinstance(value, Enum):
        return f"{type(value).__qualname__}.{value.name}"[:80]
    try:
        return _repr.repr(value)
    except Exception:  # an int with more digits than Python converts to text
        return "a value"


def _type_name(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


# Makers


def _exactly(kind: Callable[[float], Any]) -> _Make:
    """Makes a floating-point number of an int, if no digit is lost."""

    def make(value: Any, _: Signature) -> Any:
        made = kind(int(value))
        if made != value:
            raise ArgumentError("that type does not hold this int exactly; call float()")
        return made

    return make


_MAX_DECIMAL_BITS = 1 << 17  # converting an int to a Decimal takes quadratic time


def _decimal(value: Any, _: Signature) -> Decimal:
    if value.bit_length() > _MAX_DECIMAL_BITS:
        raise ArgumentError("a BigDecimal of so many digits would take too long to write")
    return Decimal(int(value))


def _simply(kind: Callable[[Any], Any]) -> _Make:
    return lambda value, _: kind(value)


def _unwrapped(kind: Callable[[Any], Any], plain: Callable[[Any], Any]) -> _Make:
    """Makes a plain value of a primitive type. The class of its box checks the value."""
    return lambda value, _: plain(kind(value))


def _text(make: Callable[[str], Any]) -> _Make:
    return lambda value, _: make(str.__str__(value))


_CHARSETS = {
    "utf-8": "UTF-8",
    "ascii": "US-ASCII",
    "iso8859-1": "ISO-8859-1",
    "utf-16": "UTF-16",
    "utf-16-be": "UTF-16BE",
    "utf-16-le": "UTF-16LE",
    **{f"cp{number}": f"windows-{number}" for number in range(1250, 1259)},
}


def _charset(value: str, _: Signature) -> values.Charset:
    try:
        return values.Charset(_CHARSETS[codecs.lookup(value).name])
    except (LookupError, ValueError) as error:
        raise ArgumentError("it is not a charset that is known here; make it a java.Charset") from error


def _pattern(_value: str, _: Signature) -> values.Pattern:
    # Java's syntax is not Python's, so a text that Java refuses would make the whole value unreadable there.
    raise ArgumentError("whether Java takes it as a pattern is not known here; make it a java.Pattern")


_OFFSET = re.compile(r"(UTC|GMT|UT)?([+-])(\d\d?)(?::?([0-5]\d))?")


def _zone(value: str, _: Signature) -> Any:
    text = str.__str__(value)
    offset = _OFFSET.fullmatch(text)
    if offset is not None:
        seconds = int(offset[3]) * 3600 + int(offset[4] or 0) * 60
        made = zone_ids.ZoneOffset(-seconds if offset[2] == "-" else seconds)
        if offset[1] is None:
            return made
        return zone_ids.ZoneId(offset[1] + (str(made) if seconds else ""))
    return zone_ids.ZoneOffset(0) if text == "Z" else zone_ids.ZoneId(text)


def _time_zone(value: str, _: Signature) -> values.TimeZone:
    return values.TimeZone(str.__str__(value))


def _year(value: Any, _: Signature) -> calendars.Year:
    if abs(value) > 999_999_999:
        raise ArgumentError("it is not a year of java.time")
    return calendars.Year(int(value))


def _atomic(kind: Callable[[Any], Any], check: Callable[[Any], Any], plain: Callable[[Any], Any]) -> _Make:
    return lambda value, _: kind(plain(check(value)))


def _bits(value: Iterable[Any], _: Signature) -> values.BitSet:
    if not all(type(bit) is int and 0 <= bit < 1 << 31 for bit in value):
        raise ArgumentError("a BitSet holds the numbers of bits: 0 to 2147483647")
    return values.BitSet(value)


def _enum_of(items: Iterable[Any], signature: Signature) -> tuple[Any, list[Any]]:
    """The enum of an EnumSet's elements or an EnumMap's keys, and the items in the enum's order."""
    items = list(items)
    declaration = declaration_of(signature.arguments[0].name) if signature.arguments else None
    if declaration is None and items:
        declaration = declaration_for(type(items[0]))
    if declaration is None or declaration.kind != "enum":
        raise ArgumentError("the enum is not known; declare java.EnumSet[Color] or java.EnumMap[Color, int]")
    for item in items:
        if type(item) is not declaration.python:
            raise Misfit(item, declaration.name)
    return declaration.python, sorted(items, key=declaration.members.index)


def _enum_set(value: Iterable[Any], signature: Signature) -> EnumSet[Any]:
    return EnumSet(*_enum_of(value, signature))


def _enum_map(value: dict[Any, Any], signature: Signature) -> EnumMap[Any, Any]:
    enum, keys = _enum_of(value, signature)
    return EnumMap(enum, [(key, value[key]) for key in keys])


_CONCURRENT = "java.util.concurrent."


def _collection(kind: Any) -> _Make:
    name: str = kind.java_name

    def make(value: Any, _: Signature) -> Any:
        has_null = name in NO_NULLS and None in value
        if has_null or (
            name in NO_NULL_VALUES and isinstance(value, dict) and any(item is None for item in value.values())
        ):
            raise ArgumentError(f"a {name} holds no null")
        return kind(value)

    return make


def _array(value: Any, signature: Signature) -> Any:
    component = component_of(signature.name)
    if component != "byte":
        return array_of(component, value)
    for index, item in enumerate(value):
        if not isinstance(item, int) or isinstance(item, bool) or not -128 <= item <= 255:
            raise Misfit(item, "byte", steps=(index,))
    return bytes(item & 0xFF for item in value)


# The table

#: The Python type that a plain value counts as. Values with a Java type of their own are not plain, except numbers.
_PLAIN: dict[type, type] = {
    **{kind: kind for kind in (bool, int, float, str, dict, datetime, time)},
    **dict.fromkeys((numbers.Byte, numbers.Short, numbers.Integer, numbers.Long, numbers.BigInteger), int),
    **dict.fromkeys((numbers.Float, numbers.Double), float),
    **dict.fromkeys((list, tuple), list),
    **dict.fromkeys((set, frozenset, OrderedSet), set),
}

_LANG, _TIME, _ATOMIC = "java.lang.", "java.time.", _CONCURRENT + "atomic."
_WRAPPED: tuple[Any, ...] = (
    *(times.Instant, times.OffsetDateTime, times.ZonedDateTime),
    *(times.JavaDate, times.SqlDate, times.SqlTime, times.Timestamp),
)
_AS_COLLECTION: dict[str, Any] = {
    **{name: kind for name, kind in COLLECTIONS.items() if isinstance(kind.__dict__.get("java_name"), str)},
    **{name: COLLECTIONS[found] for name, found in INTERFACES.items()},
}

#: By declared Java type: the Python types that are converted, and the function that converts their values.
TABLE: dict[str, _Row] = {
    "boolean": {},
    "byte": {int: _unwrapped(numbers.Byte, int)},
    "short": {int: _unwrapped(numbers.Short, int)},
    "int": {int: _unwrapped(numbers.Integer, int)},
    "long": {int: _unwrapped(numbers.Long, int)},
    "float": {float: _simply(numbers.Float), int: _exactly(numbers.Float)},
    "double": {float: _simply(float), int: _exactly(float)},
    "char": dict.fromkeys((str, numbers.Character), _unwrapped(numbers.Character, str.__str__)),
    **{
        f"{_LANG}{kind.__name__}": {int: _simply(kind)}
        for kind in (numbers.Byte, numbers.Short, numbers.Integer, numbers.Long)
    },
    _LANG + "Float": {float: _simply(numbers.Float), int: _exactly(numbers.Float)},
    _LANG + "Double": {float: _simply(float), int: _exactly(numbers.Double)},
    _LANG + "Character": {str: _simply(numbers.Character)},
    _LANG + "String": {str: _text(str)},
    "java.math.BigInteger": {int: _simply(numbers.BigInteger)},
    "java.math.BigDecimal": {int: _decimal},
    _ATOMIC + "AtomicInteger": {int: _atomic(references.AtomicInteger, numbers.Integer, int)},
    _ATOMIC + "AtomicLong": {int: _atomic(references.AtomicLong, numbers.Long, int)},
    _ATOMIC + "AtomicBoolean": {bool: _simply(references.AtomicBoolean)},
    _ATOMIC + "AtomicReference": {object: _simply(references.AtomicReference)},
    "java.util.Optional": {object: _simply(references.Optional)},
    "java.util.OptionalInt": {int: _atomic(references.OptionalInt, numbers.Integer, int)},
    "java.util.OptionalLong": {int: _atomic(references.OptionalLong, numbers.Long, int)},
    "java.util.OptionalDouble": {
        float: _simply(references.OptionalDouble),
        int: lambda value, signature: references.OptionalDouble(_exactly(float)(value, signature)),
    },
    **{kind.java_name: {str: _text(kind)} for kind in (values.StringBuilder, values.StringBuffer)},
    values.Uri.java_name: {str: _text(text_forms.uri)},
    values.Url.java_name: {str: _text(text_forms.url)},
    values.Currency.java_name: {str: _text(text_forms.currency)},
    values.JavaClass.java_name: {str: _text(text_forms.class_named)},
    values.Charset.java_name: {str: _charset},
    values.TimeZone.java_name: {str: _time_zone},
    values.Pattern.java_name: {str: _pattern},
    _TIME + "ZoneId": {str: _zone},
    **{kind.java_name: {datetime: _simply(kind)} for kind in _WRAPPED},
    times.LocalDateTime.java_name: {datetime: _simply(times.LocalDateTime)},
    times.LocalTime.java_name: {time: _simply(times.LocalTime)},
    times.OffsetTime.java_name: {time: _simply(times.OffsetTime)},
    calendars.Year.java_name: {int: _year},
    values.BitSet.java_name: {set: _bits},
    EnumSet.java_name: {set: _enum_set},
    EnumMap.java_name: {dict: _enum_map},
    **{
        name: {dict if issubclass(kind, dict) else list if issubclass(kind, list) else set: _collection(kind)}
        for name, kind in _AS_COLLECTION.items()
    },
}


_ARRAYS: _Row = {list: _array}


def _plain_type(value: Any) -> type | None:
    """The Python type that a plain value counts as in the table. None for a value that is not plain."""
    kind = type(value)
    found = _PLAIN.get(kind)
    if found is not None:
        return found
    if hasattr(kind, "java_name") or isinstance(value, Array) or declaration_for(kind) is not None:
        return None
    for base in kind.__mro__:
        if base is numbers.Character or declaration_for(base) is not None:
            return None
        if base in _PLAIN:
            return _PLAIN[base]
    return None


def convert(value: Any, signature: Signature) -> Any:
    """A plain value as one of the declared type. Raises Misfit for any other."""
    name = signature.name
    try:
        plain = _plain_type(value)
        row: _Row | None = TABLE.get(name) if name[0] != "[" else _ARRAYS
        make = None
        if row is not None:
            make = row.get(object) or row.get(type(value) if plain is None else plain)
        if make is not None:
            return make(value, signature)
        if row is _ARRAYS and isinstance(value, Array) and all(item is None for item in value):
            # Kryo takes another type for that of a variable, and reads an array without values as one of that.
            component = component_of(name)
            if component not in PRIMITIVE_CODES:
                return array_of(component, value)
        declaration = declaration_of(name)
        if declaration is not None and plain is not None and declaration.extends:
            base = COLLECTIONS[declaration.extends]
            like = dict if issubclass(base, dict) else list if issubclass(base, list) else set
            if plain is like:
                return declaration.python(value)
    except Misfit:
        raise
    except (ArgumentError, OverflowError) as error:
        raise Misfit(value, name, str(error)) from error
    may_implement = "." in name and name[0] != "[" and declaration is None and kind_of(name) in (None, "I")
    is_declared = may_implement and declaration_for(type(value)) is not None
    raise Misfit(value, name, "java_class does not say that it implements that" if is_declared else "")
