"""A single change in a value: every leaf that can be changed in Python, and the places where two values differ in
Java."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

import attrs

from redisson_dq import java
from redisson_dq.errors import ArgumentError
from redisson_dq.java.registry import declaration_for

__all__ = ["Leaf", "changed_leaf", "differences", "is_place", "leaves", "text_of"]

Put = Callable[[Any], None]
_DEEPEST = 40
_SETS = (set, java.OrderedSet)
#: Objects that count as leaves, with another one of the class.
_OTHERS: dict[type, tuple[Any, Any]] = {
    java.Locale: (java.Locale("fr"), java.Locale("it")),
    java.TimeZone: (java.TimeZone("Asia/Tokyo"), java.TimeZone("Asia/Kolkata")),
    java.ZoneOffset: (java.ZoneOffset(3600), java.ZoneOffset(7200)),
    java.ZoneId: (java.ZoneId("Asia/Tokyo"), java.ZoneId("Asia/Kolkata")),
    java.Currency: (java.Currency("EUR"), java.Currency("USD")),
    java.Uri: (java.Uri("http://a/b"), java.Uri("http://a/c")),
    java.Url: (java.Url("http://a/b"), java.Url("http://a/c")),
    java.JavaClass: (java.JavaClass("java.lang.Long"), java.JavaClass("java.lang.Short")),
    java.Period: (java.Period(1, 2, 3), java.Period(1, 2, 4)),
    java.YearMonth: (java.YearMonth(2025, 1), java.YearMonth(2025, 2)),
    java.MonthDay: (java.MonthDay(1, 2), java.MonthDay(1, 3)),
    java.BitSet: (java.BitSet({1}), java.BitSet({2})),
}
#: Objects with a class of their own for each value.
_CLASSES = (java.Charset, java.Comparator)
#: Objects that Java shows as one text, or whose parts depend on each other.
_WHOLE = (java.JavaObject, java.FarTime, java.GregorianCalendar, java.StackTraceElement)
_ENTRIES = (java.SimpleEntry, java.SimpleImmutableEntry)


@attrs.frozen
class Leaf:
    """A place in a value: the steps to it, its value, and what puts another one there."""

    path: tuple[Any, ...]
    value: Any
    put: Put


def leaves(value: Any, put: Put, path: tuple[Any, ...] = ()) -> Iterator[Leaf]:
    """Every leaf of a value, in the order of its containers. Keys of maps are not leaves. Neither is None, because the
    type of its place is not known.
    """
    if len(path) > _DEEPEST or value is None:
        return
    kind = type(value)
    if isinstance(value, dict):
        for key, item in list(value.items()):
            yield from leaves(item, partial(value.__setitem__, key), (*path, key))
    elif isinstance(value, java.Entries):
        for index, (key, item) in enumerate(value):
            yield from leaves(item, _in_tuple((key, item), 1, partial(value.__setitem__, index)), (*path, key))
    elif isinstance(value, (list, tuple)):
        step = "*" if isinstance(value, java.PriorityQueue) or "Set" in getattr(value, "java_name", "") else None
        for index, item in enumerate(value):
            one = java.Character(item) if isinstance(value, java.CharArray) else item
            replace = partial(value.__setitem__, index) if isinstance(value, list) else _in_tuple(value, index, put)
            yield from leaves(one, replace, (*path, step or index))
    elif isinstance(value, _SETS) and not isinstance(value, java.BitSet):
        for item in list(value):
            yield from leaves(item, _in_set(value, item), (*path, "*"))
    elif isinstance(value, java.Throwable):
        yield from leaves(value.message, partial(setattr, value, "message"), (*path, "message"))
        for name in value.fields:
            yield from leaves(value.fields[name], partial(value.fields.__setitem__, name), (*path, name))
    elif (
        (attrs.has(kind) or dataclasses.is_dataclass(kind)) and kind not in _OTHERS and not isinstance(value, enum.Enum)
    ):
        if kind in _WHOLE or kind.__module__.startswith("redisson_dq.codecs"):
            return
        for index, name in enumerate(_fields_of(kind)):
            steps = (*path, *_steps(kind, name, index))
            yield from leaves(getattr(value, name), _in_object(value, name, put), steps)
    else:
        yield Leaf(path, value, put)


def _steps(kind: type, name: str, index: int) -> tuple[Any, ...]:
    """To a field, as Java shows it."""
    declaration = declaration_for(kind)
    if declaration is not None:
        return (next((field.name for field in declaration.all_fields if field.attribute == name), name),)
    if kind in _ENTRIES:
        return (index,)
    return () if kind.__module__ == "redisson_dq.java.references" else (name,)


def _fields_of(kind: Any) -> list[str]:
    each = attrs.fields(kind) if attrs.has(kind) else dataclasses.fields(kind)
    return [field.name for field in each]


def _in_tuple(value: tuple[Any, ...], index: int, put: Put) -> Put:
    return lambda new: put((*value[:index], new, *value[index + 1 :]))


def _in_set(value: Any, item: Any) -> Put:
    def put(new: Any) -> None:
        if new in value or any(other is not item and other == item for other in value):
            raise ValueError("an equal one is there already")
        value.discard(item)
        value.add(new)

    return put


def _in_object(value: Any, name: str, put: Put) -> Put:
    def put_there(new: Any) -> None:
        try:
            setattr(value, name, new)
        except (attrs.exceptions.FrozenInstanceError, dataclasses.FrozenInstanceError):
            put(
                attrs.evolve(value, **{name: new})
                if attrs.has(type(value))
                else dataclasses.replace(value, **{name: new})
            )

    return put_there


def changed_leaf(value: Any) -> Any:
    """Another value of the type of a leaf; None if there is none."""
    kind: Any = type(value)
    for known, pair in _OTHERS.items():
        if isinstance(value, known):
            return next(other for other in pair if other != value)
    if isinstance(value, _CLASSES):
        return None
    if isinstance(value, enum.Enum):
        return next((other for other in kind if other is not value), None)
    if kind is bool:
        return not value
    if isinstance(value, java.Character):
        return kind("b" if value == "a" else "a")
    for change in _changes(value):
        try:
            made = change(_class_of(value))
        except (ArgumentError, OverflowError, ValueError, TypeError):
            continue
        if made != value:
            return made
    return None


def _class_of(value: Any) -> Any:
    """The class, without the note of the bytes that a value was read from."""
    kind: Any = type(value)
    return kind.__mro__[1] if kind.__module__.endswith("codecs.marks") else kind


def _changes(value: Any) -> list[Callable[[Any], Any]]:
    if isinstance(value, int):
        return [lambda kind: kind(value ^ 16)]  # which passes no power of two
    if isinstance(value, float):
        if not math.isfinite(value):
            return [lambda kind: kind(math.inf), lambda kind: kind(-math.inf)]
        return [lambda kind: kind(1.5), lambda kind: kind(2.5)]
    if isinstance(value, java.SqlTime):
        return [lambda kind: _time(kind, value + timedelta(hours=1))]
    if isinstance(value, str):
        return [lambda kind: kind(f"{value[:20]}x")]
    if isinstance(value, bytes):
        return [lambda kind: kind(b"\x01" + value)]
    if isinstance(value, Decimal):
        return [lambda kind: kind("12.5"), lambda kind: kind("13.5")]
    if isinstance(value, UUID):
        return [lambda kind: kind(int=value.int ^ 1)]
    if isinstance(value, timedelta):
        return [
            lambda kind: _time(kind, value + timedelta(days=1)),
            lambda kind: _time(kind, value - timedelta(days=1)),
        ]
    if isinstance(value, (datetime, date)):
        return [
            lambda kind: _time(kind, value + timedelta(days=1)),
            lambda kind: _time(kind, value - timedelta(days=1)),
        ]
    if isinstance(value, time):
        return [lambda kind: _time(kind, value.replace(minute=(value.minute + 1) % 60))]
    return []


def _time(kind: Any, value: Any) -> Any:
    return value if type(value) is kind else kind(value)


# -- in Java ---------------------------------------------------------------------------------------------------------


def differences(before: Any, after: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """The places where two values in typed JSON differ, each with both."""
    if before == after:
        return
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, (*path, str(index)))
    elif isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        if "$" not in before:
            for name in before:
                yield from differences(before[name], after[name], (*path, name))
        elif before["$"] != after["$"] or not isinstance(before.get("v"), (list, dict)):
            yield path, before, after
        elif _is_map(before):
            yield from _of_maps(before["v"], after["v"], path)
        elif _has_no_order(before["$"]):
            yield from _of_sets(before["v"], after["v"], path)
        else:
            yield from differences(before["v"], after["v"], path)
    else:
        yield path, before, after


def _is_map(node: Any) -> bool:
    return isinstance(node["v"], list) and bool(re.search("(Map[1N]?|Hashtable|Properties)$", node["$"]))


def _has_no_order(name: str) -> bool:
    return any(word in name for word in ("Set", "PriorityQueue", "PriorityBlockingQueue"))


def _of_maps(before: list[Any], after: list[Any], path: tuple[str, ...]) -> Iterator[Any]:
    ours = {json.dumps(key): value for key, value in before}
    theirs = {json.dumps(key): value for key, value in after}
    if ours.keys() != theirs.keys() or len(ours) != len(before):
        yield path, before, after
        return
    for key, _ in before:
        told = json.dumps(key)
        yield from differences(ours[told], theirs[told], (*path, text_of(key)))


def _of_sets(before: Iterable[Any], after: Iterable[Any], path: tuple[str, ...]) -> Iterator[Any]:
    # As texts: 1 is not true.
    counts = Counter(map(json.dumps, before))
    counts.subtract(map(json.dumps, after))
    gone = [json.loads(text) for text in counts for _ in range(counts[text])]
    come = [json.loads(text) for text in counts for _ in range(-counts[text])]
    if len(gone) == len(come) == 1:
        yield from differences(gone[0], come[0], (*path, "*"))
    else:
        yield path, gone, come


def is_place(ours: tuple[Any, ...], theirs: tuple[str, ...]) -> bool:
    """Whether the steps to a leaf lead to this place in Java's value. Of keys only texts, numbers and constants are
    compared.
    """
    return len(ours) == len(theirs) and all(map(_is_step, ours, theirs))


def _is_step(ours: Any, theirs: str) -> bool:
    if ours == "*" or theirs == "*":
        return bool(ours == theirs)
    if ours is None or isinstance(ours, bool):
        return theirs == json.dumps(ours)
    if isinstance(ours, enum.Enum):
        return theirs == ours.name
    # A field that hides another one has the name of its class before its own.
    return not isinstance(ours, (int, str)) or theirs in (str(ours), f"{theirs.rpartition('.')[0]}.{ours}")


def text_of(node: Any) -> str:
    """The text of a leaf in typed JSON."""
    if isinstance(node, dict) and "v" in node:
        return text_of(node["v"])
    return node if isinstance(node, str) else json.dumps(node)
