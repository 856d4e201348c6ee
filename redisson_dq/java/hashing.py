"""The iteration order of Java's hash tables, for classes whose hashCode is known.

Java writes a HashSet in the order of its table. A Python set is written in the same order, so both give the same bytes.
Elements whose hashCode is not known are sorted only by their values. Either way the order is the same in every
process.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from operator import mul
from typing import Any, TypeVar
from uuid import UUID

import attrs

from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, BigInteger, Character, Float, Long
from redisson_dq.java.registry import declaration_for

__all__ = [
    "concurrent_hash_map_capacity",
    "hash_map_capacity",
    "hash_map_order",
    "hashtable_capacity",
    "hashtable_order",
    "java_hash",
]

T = TypeVar("T")

_MASK = 0xFFFFFFFF
_MOST_NESTED = 50
#: 31 to the power of 1023 down to 0.
_POWERS = [pow(31, power, _MASK + 1) for power in reversed(range(1024))]


def java_hash(value: Any) -> int | None:
    """``hashCode()`` of the Java value as an unsigned 32-bit number. None if it is not known here. O(size)."""
    kind = type(value)
    if value is None:
        return 0
    if kind is bool:
        return 1231 if value else 1237
    if kind is str:
        return _string_hash(value)
    if kind is Character:
        return ord(value)
    if isinstance(value, Enum):
        return None  # an enum constant has another hashCode in each JVM
    if isinstance(value, int):
        if isinstance(value, BigInteger) or not LONG_MIN <= value <= LONG_MAX:
            return _big_integer_hash(value)
        if isinstance(value, Long) or not INT_MIN <= value <= INT_MAX:
            return _fold(value & 0xFFFFFFFFFFFFFFFF)
        return value & _MASK
    if isinstance(value, float):
        number = value if value == value else float("nan")
        if isinstance(value, Float):
            return int.from_bytes(struct.pack(">f", number), "big")
        return _fold(int.from_bytes(struct.pack(">d", number), "big"))
    if kind is Decimal:
        return _big_decimal_hash(value)
    if kind is UUID:
        return _fold(value.int >> 64 ^ value.int & 0xFFFFFFFFFFFFFFFF)
    if kind is tuple:
        return _list_hash(value)
    if kind is frozenset:
        codes = [java_hash(item) for item in value]
        return None if None in codes else sum(code for code in codes if code is not None) & _MASK
    return None


def _fold(bits: int) -> int:
    return (bits >> 32 ^ bits) & _MASK


def _string_hash(text: str) -> int:
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    result = 0
    for start in range(0, len(units), len(_POWERS)):
        part = units[start : start + len(_POWERS)]
        powers = _POWERS[len(_POWERS) - len(part) :]
        result = (result * pow(31, len(part), _MASK + 1) + sum(map(mul, part, powers))) & _MASK
    return result


def _list_hash(items: Iterable[Any]) -> int | None:
    result = 1
    for item in items:
        code = java_hash(item)
        if code is None:
            return None
        result = (31 * result + code) & _MASK
    return result


def _big_integer_hash(value: int) -> int:
    magnitude = abs(value)
    result = 0
    for word in struct.iter_unpack(">I", magnitude.to_bytes((magnitude.bit_length() + 31) // 32 * 4, "big")):
        result = (31 * result + word[0]) & _MASK
    return result if value >= 0 else -result & _MASK


def _big_decimal_hash(value: Decimal) -> int:
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):  # no BigDecimal is NaN or infinite
        return 0
    unscaled = int(Decimal((sign, digits, 0)))
    if LONG_MIN < unscaled <= LONG_MAX:
        found = (abs(unscaled) >> 32) * 31 + (abs(unscaled) & _MASK)
        found = -found if unscaled < 0 else found
    else:
        found = _big_integer_hash(unscaled)
    return (31 * found - exponent) & _MASK


def hash_map_capacity(size: int) -> int:
    """The table length of a HashMap after ``size`` entries were put into it one by one."""
    capacity = 16
    while size > capacity * 3 // 4:
        capacity *= 2
    return capacity


def concurrent_hash_map_capacity(size: int) -> int:
    """The table length of a ConcurrentHashMap that was filled in the same way."""
    capacity = 16
    while size >= capacity * 3 // 4:
        capacity *= 2
    return capacity


def hashtable_capacity(size: int) -> int:
    """The table length of a Hashtable that was filled in the same way."""
    capacity = 11
    while size > capacity * 3 // 4:
        capacity = 2 * capacity + 1
    return capacity


def hash_map_order(items: Iterable[T], key: Callable[[T], Any], capacity: int) -> list[T]:
    """The items in the iteration order of a HashMap whose table has that length. O(n log n)."""
    return _by_bucket(items, key, lambda code: (code ^ code >> 16) & (capacity - 1))


def hashtable_order(items: Iterable[T], key: Callable[[T], Any], capacity: int) -> list[T]:
    """The items as Hashtable.writeObject writes them: the last bucket first."""
    return _by_bucket(items, key, lambda code: -((code & 0x7FFFFFFF) % capacity))


def _by_bucket(items: Iterable[T], key: Callable[[T], Any], bucket: Callable[[int], int]) -> list[T]:
    listed = list(items)
    if len(listed) < 2:
        return listed
    keys = [key(item) for item in listed]
    codes = [java_hash(each) for each in keys]
    known = [code for code in codes if code is not None]
    # In Java, an element's place in its bucket depends on when it was added. A Python set does not know that.
    places = [bucket(code) for code in known] if len(known) == len(codes) else [0] * len(listed)
    order = [(place, _sort_key(each), index) for index, (place, each) in enumerate(zip(places, keys, strict=True))]
    return [listed[index] for _place, _key, index in sorted(order)]


#: The type's name, the part that distinguishes values of that type, and the keys of the values inside.
_SortKey = tuple[str, str, tuple[Any, ...]]


def _sort_key(value: Any, depth: int = 0) -> _SortKey:
    """A sort key for values that have no order of their own. Equal values have the same key in every process."""
    kind = type(value)
    name = f"{kind.__qualname__}\0{kind.__module__}"
    if kind is str:
        return name, value, ()
    if depth > _MOST_NESTED:
        return name, "", ()
    parts: Iterable[Any] = ()
    text = ""
    repr_of: Any = kind.__repr__
    if isinstance(value, Enum):
        text = value.name
    elif isinstance(value, str):
        text = str.__str__(value)
    elif isinstance(value, int):
        text = f"{int(value):+#x}"
    elif isinstance(value, float):
        text = float.hex(value)
    elif isinstance(value, (bytes, Decimal, UUID, timedelta)):
        text = repr(value)
    elif isinstance(value, (date, time)):
        text = f"{value.isoformat()} {getattr(value, 'nanosecond', 0):03} {getattr(value, 'zone', '')}"
    elif isinstance(value, (tuple, list)):
        parts = value
    elif isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, (set, frozenset)):
        return name, "", tuple(sorted(_sort_key(part, depth + 1) for part in value))
    elif attrs.has(kind):
        parts = [getattr(value, field.name, None) for field in attrs.fields(kind) if field.eq or declaration_for(kind)]
    elif is_dataclass(value):
        parts = [getattr(value, field.name, None) for field in fields_of(value)]
    elif (declaration := declaration_for(kind)) is not None:
        parts = [getattr(value, field.attribute, None) for field in declaration.all_fields]
    elif repr_of is not object.__repr__:
        text = repr(value)
    return name, text, tuple(_sort_key(part, depth + 1) for part in parts)
