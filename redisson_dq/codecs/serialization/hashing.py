"""The order in which Java's hash tables give their elements, for the classes whose hashCode is known.

A HashSet that is filled in Java is written in the order of its table. The same order here makes the bytes of a
Python set those of Java, and the same in every process.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, BigInteger, Character, Float, Long

__all__ = ["concurrent_hash_map_capacity", "hash_map_capacity", "hash_map_order", "hashtable_order", "java_hash"]

T = TypeVar("T")

_MASK = 0xFFFFFFFF


def java_hash(value: Any) -> int | None:
    """``hashCode()`` of the Java value as 32 bits without sign; None where this module does not know it. O(size)."""
    kind = type(value)
    if value is None:
        return 0
    if kind is bool:
        return 1231 if value else 1237
    if kind is str:
        return _string_hash(value)
    if kind is Character:
        return ord(value)
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
    return None


def _fold(bits: int) -> int:
    return (bits >> 32 ^ bits) & _MASK


def _string_hash(text: str) -> int:
    result = 0
    for unit in memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H"):
        result = (31 * result + unit) & _MASK
    return result


def _big_integer_hash(value: int) -> int:
    magnitude = abs(value)
    result = 0
    for word in struct.iter_unpack(">I", magnitude.to_bytes((magnitude.bit_length() + 31) // 32 * 4, "big")):
        result = (31 * result + word[0]) & _MASK
    return result if value >= 0 else -result & _MASK


def _big_decimal_hash(value: Decimal) -> int:
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    unscaled = int(Decimal((sign, digits, 0)))
    if LONG_MIN < unscaled <= LONG_MAX:
        found = (abs(unscaled) >> 32) * 31 + (abs(unscaled) & _MASK)
        found = -found if unscaled < 0 else found
    else:
        found = _big_integer_hash(unscaled)
    return (31 * found - exponent) & _MASK


def hash_map_capacity(size: int) -> int:
    """The length of the table of a HashMap into which so many entries were put one by one."""
    capacity = 16
    while size > capacity * 3 // 4:
        capacity *= 2
    return capacity


def concurrent_hash_map_capacity(size: int) -> int:
    """The same of a ConcurrentHashMap."""
    capacity = 16
    while size >= capacity * 3 // 4:
        capacity *= 2
    return capacity


def hash_map_order(items: Iterable[T], key: Callable[[T], Any], capacity: int) -> list[T]:
    """The items as a HashMap with a table of that length gives them. O(n log n)."""
    return _by_bucket(items, key, lambda code: (code ^ code >> 16) & (capacity - 1))


def hashtable_order(items: Iterable[T], key: Callable[[T], Any], capacity: int) -> list[T]:
    """The items as Hashtable.writeObject writes them: the last bucket first."""
    return _by_bucket(items, key, lambda code: -((code & 0x7FFFFFFF) % capacity))


def _by_bucket(items: Iterable[T], key: Callable[[T], Any], bucket: Callable[[int], int]) -> list[T]:
    # A table keeps the elements of one bucket in the order in which they came, as the sort does.
    listed = list(items)
    if isinstance(items, (set, frozenset)):
        listed.sort(key=repr)  # a set of Python's has none of its own
    codes = [java_hash(key(item)) for item in listed]
    if None in codes:
        return listed
    places = [bucket(code) for code in codes if code is not None]
    return [item for _, item in sorted(zip(places, listed, strict=True), key=lambda pair: pair[0])]
