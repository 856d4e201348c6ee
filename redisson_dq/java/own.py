"""Texts, numbers and dates that remember whether Java had one object or several equal ones.

Java's serialization distinguishes two equal objects from one object at two places. Python writes equal texts as one
object and equal dates as two, so that equal values have equal bytes. If the bytes that were read differ from that rule,
the value gets a special class. Such a value is written as one object at all its places.
"""

from __future__ import annotations

import functools
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import attrs

__all__ = ["is_own", "is_own_of", "kind_of", "own"]

_BASES: tuple[Any, ...] = (str, int, float, bytes, Decimal, UUID, date, time, timedelta)


class _Own:
    """The addition of these classes to their base class: a copy of a value is the value itself."""

    __slots__ = ()

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


def own(value: Any) -> Any:
    """The value as an object with an identity. Values that have one in Python, and bools, are returned unchanged.
    O(size).
    """
    kind: Any = type(value)
    if issubclass(kind, (bool, _Own, Enum)) or not (issubclass(kind, _BASES) or attrs.has(kind)):
        return value
    return _made(_class_of(kind), value)


def is_own(value: Any) -> bool:
    """Whether :func:`own` made the value."""
    return isinstance(value, _Own)


def is_own_of(kind: type, value: Any) -> bool:
    """Whether :func:`own` made the value from one of exactly that type."""
    return type(value) is _class_of(kind)


def kind_of(value: Any) -> Any:
    """The type of the value, as if :func:`own` had not been called."""
    return type(value).__mro__[2] if isinstance(value, _Own) else type(value)


@functools.cache
def _class_of(kind: Any) -> Any:
    """The class that ``own`` uses for values of a type. Its name and module are those of the type."""

    def again(value: Any, _protocol: object) -> tuple[Any, ...]:
        return own, (_made(kind, value),)

    def text(value: Any) -> str:
        return repr(_made(kind, value))

    def equal(value: Any, other: Any) -> Any:
        return _made(kind, value) == (_made(kind, other) if isinstance(other, _Own) else other)

    how: dict[str, Any] = {"__slots__": (), "__reduce_ex__": again, "__repr__": text, "__module__": kind.__module__}
    if attrs.has(kind):  # the __eq__ of attrs compares only objects of the same class
        how |= {"__eq__": equal, "__hash__": kind.__hash__}
    return type(kind.__name__, (_Own, kind), how)


def _made(kind: Any, value: Any) -> Any:
    if issubclass(kind, (str, int, float, bytes, Decimal)):
        return next(base for base in _BASES if issubclass(kind, base)).__new__(kind, value)
    if issubclass(kind, UUID):
        return kind(int=value.int)
    if hasattr(kind, "java_name") and not attrs.has(kind):
        return kind(value)
    if issubclass(kind, timedelta):
        return kind(value.days, value.seconds, value.microseconds)
    if issubclass(kind, (date, time)):
        replace: Any = datetime if issubclass(kind, datetime) else time if issubclass(kind, time) else date
        how = replace.__reduce_ex__(value, 4)  # of which earlier protocols know no fold
        return kind(*how[1])
    return kind(**{field.alias: getattr(value, field.name) for field in attrs.fields(kind) if field.init})
