"""Values that are equal in Python and of another type in Java: ``5`` and ``Long(5)``, a list and ``LinkedList(list)``.

A queue is searched by bytes. So a plain ``5``, an Integer, finds no Long that Java offered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from redisson_dq.errors import ArgumentError
from redisson_dq.java.lists import ArrayAsList, LinkedList, ListOf
from redisson_dq.java.maps import HashMap, MapOf, TreeMap
from redisson_dq.java.numbers import BigInteger, Byte, Character, Double, Float, Integer, Long, Short
from redisson_dq.java.times import Instant, JavaDate, OffsetDateTime, Timestamp, ZonedDateTime

__all__ = ["equal_values"]

#: The most likely ones first.
_INTS = (Long, Integer, BigInteger, Short, Byte)
_TIMES = (JavaDate, Instant, Timestamp, ZonedDateTime, OffsetDateTime)
_LISTS = (ArrayAsList, ListOf, LinkedList)
_MAPS = (HashMap, TreeMap, MapOf)


def equal_values(value: Any) -> Iterator[tuple[str, Any]]:
    """Each equal value with the name of its type in :mod:`redisson_dq.java`. Of a list or a dict all its values are."""
    kind = type(value)
    if kind in (list, tuple):
        for make in _other_ints(value, _INTS):
            yield from _made(f"list[java.{make.__name__}]", lambda make=make: [make(item) for item in value])
    if kind is dict:
        for make in _other_ints(value.values(), (Long, Integer)):
            name = f"dict[..., java.{make.__name__}]"
            yield from _made(name, lambda make=make: {key: make(item) for key, item in value.items()})
    makes: tuple[Any, ...] = ()
    if isinstance(value, int) and kind is not bool:
        makes = _INTS
    elif isinstance(value, float):
        makes = (Float, Double)
    elif kind is str and len(value) == 1:  # pyright: ignore[reportArgumentType]
        makes = (Character,)
    elif kind is Character:
        yield "str", str(value)
    elif isinstance(value, datetime):
        makes = _TIMES
    elif kind in (list, tuple):
        makes = _LISTS
    elif kind is dict:
        makes = _MAPS
    elif kind in (*_LISTS, *_MAPS):
        plain = list if kind in _LISTS else dict
        yield plain.__name__, plain(value)  # pyright: ignore[reportArgumentType, reportCallIssue]
    for make in makes:
        if make is not kind:
            for name, other in _made(f"java.{make.__name__}", lambda make=make: make(value)):
                if other == value:
                    yield name, other


def _other_ints(parts: Iterable[Any], kinds: tuple[Any, ...]) -> list[Any]:
    """The other types of whole numbers that the parts could be of, where they are all of one."""
    found = {*map(type, parts)}
    return [kind for kind in kinds if kind not in found] if len(found) == 1 and found <= {int, *_INTS} else []


def _made(name: str, make: Any) -> Iterator[tuple[str, Any]]:
    try:
        made = make()
    except (ArgumentError, TypeError):  # it does not hold the number, or a time has no zone
        return
    yield name, made
