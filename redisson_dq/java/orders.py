"""Java's order of the values that sorted collections hold."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from redisson_dq.java import numbers, times
from redisson_dq.java.registry import declaration_for

__all__ = ["Comparator", "sorted_by", "sorted_naturally"]

_Key = Callable[[Any], Any]


class Comparator(Enum):
    """The comparators of java.util that a sorted collection may carry; the value is the Java class."""

    #: ``Comparator.naturalOrder()``; a collection made without a comparator has None.
    NATURAL_ORDER = "java.util.Comparators$NaturalOrderComparator"
    REVERSE_ORDER = "java.util.Collections$ReverseComparator"
    #: ``String.CASE_INSENSITIVE_ORDER``
    CASE_INSENSITIVE_ORDER = "java.lang.String$CaseInsensitiveComparator"


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def _text_key(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def _uuid_key(value: UUID) -> tuple[int, int]:
    return _signed(value.int >> 64), _signed(value.int & (1 << 64) - 1)


def _float_key(number: float) -> tuple[bool, float, bool]:
    """NaN is the largest, and -0.0 is less than 0.0."""
    is_nan = number != number
    return is_nan, 0.0 if is_nan else number, str(number)[0] != "-"


#: By Python type: the sort key of its values. None means that the values themselves are compared.
_KEYS: dict[type, _Key | None] = {
    str: _text_key,
    numbers.Character: _text_key,
    UUID: _uuid_key,
    **dict.fromkeys((float, numbers.Float, numbers.Double), _float_key),
    **dict.fromkeys((numbers.Byte, numbers.Short, numbers.Integer, numbers.Long, numbers.BigInteger)),
    **dict.fromkeys((bool, int, Decimal, date, datetime, time, timedelta)),
    **dict.fromkeys((times.Instant, times.LocalDateTime, times.JavaDate, times.Timestamp, times.Year)),
}


def sorted_naturally(items: list[Any], key: _Key, *, reverse: bool) -> list[Any]:
    """The elements of a sorted collection, or the entries of a sorted map, in the natural order of Java.

    The order stays unchanged if Java's order is not known. ``key`` gives the value to compare. O(n log n)
    """
    kinds = {type(key(item)) for item in items}
    if len({_KEYS.get(kind, kind) for kind in kinds}) != 1:
        return items
    kind = next(iter(kinds))
    by = _KEYS.get(kind)
    if issubclass(kind, Enum):
        declaration = declaration_for(kind)
        if declaration is None:
            return items
        by = declaration.members.index
    elif kind not in _KEYS:
        return items
    try:
        return sorted(items, key=key if by is None else lambda item: by(key(item)), reverse=reverse)
    except (TypeError, ArithmeticError):  # naive and aware times, a Decimal that is no number
        return items


def sorted_by(comparator: Comparator | None, items: list[Any], key: _Key) -> list[Any]:
    """The items in the comparator's order. Their order stays unchanged if the comparator's is not known."""
    if comparator is Comparator.CASE_INSENSITIVE_ORDER:
        return items
    return sorted_naturally(items, key, reverse=comparator is Comparator.REVERSE_ORDER)
