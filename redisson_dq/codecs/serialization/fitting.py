"""Values for places whose Java type is declared: a field, an element of a ``list[Long]``, of an array.

A plain Python value becomes the declared type there: 5 in a field of type Long is a Long. What then still is of
another type is for the encoder to see.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import datetime
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import Unencodable, type_name
from redisson_dq.errors import ArgumentError
from redisson_dq.java.arrays import array_of, component_of
from redisson_dq.java.collections import OrderedSet, collection_for
from redisson_dq.java.declare import Signature
from redisson_dq.java.places import fits

__all__ = ["fit", "primitive"]

_RANGES = {
    "byte": (-(1 << 7), (1 << 7) - 1),
    "short": (-(1 << 15), (1 << 15) - 1),
    "int": (-(1 << 31), (1 << 31) - 1),
    "long": (-(1 << 63), (1 << 63) - 1),
}


def primitive(value: Any, name: str) -> Any:
    """The number that stands in the stream for a value of a primitive type. Raises Unencodable."""
    if name == "boolean":
        if isinstance(value, bool):
            return value
    elif name == "char":
        if isinstance(value, str) and len(value) == 1 and value <= "\uffff":
            return ord(value)
    elif name in ("float", "double"):
        if isinstance(value, (float, int)) and not isinstance(value, bool):
            return _float(value, name)
    elif isinstance(value, int) and not isinstance(value, bool):
        least, most = _RANGES[name]
        if least <= value <= most:
            return int(value)
        raise Unencodable(f"an int outside {least} to {most}, which a Java {name} cannot hold")
    raise Unencodable(f"{type_name(value)} where a Java {name} is declared")


def _float(value: float, name: str) -> float:
    kind = java.Float if name == "float" else java.Double
    try:
        made = float(kind(value))
    except ArgumentError as exc:
        raise Unencodable(str(exc)) from exc
    if isinstance(value, int) and made != value:
        raise Unencodable(f"a Java {name} does not hold this int exactly; call float()")
    return made


#: By Java type: the plain Python type that may stand for it, and what makes it of that.
_MAKERS: dict[str, tuple[type, Callable[[Any], Any]]] = {
    "java.lang.Byte": (int, java.Byte),
    "java.lang.Short": (int, java.Short),
    "java.lang.Integer": (int, java.Integer),
    "java.lang.Long": (int, java.Long),
    "java.math.BigInteger": (int, java.BigInteger),
    "java.lang.Float": (float, java.Float),
    "java.lang.Double": (int, lambda value: java.Double(_float(value, "double"))),
    "java.lang.Character": (str, java.Character),
    **{
        kind.java_name: (str, kind)
        for kind in (java.Uri, java.Url, java.Currency, java.StringBuilder, java.StringBuffer, java.JavaClass)
    },
    **{
        kind.java_name: (datetime, kind)
        for kind in (
            *(java.Instant, java.LocalDateTime, java.OffsetDateTime, java.ZonedDateTime),
            *(java.JavaDate, java.SqlDate, java.SqlTime, java.Timestamp),
        )
    },
}


def fit(value: Any, type_: Signature) -> Any:
    """The value as its declared type, which is no primitive, wants it: itself, or a copy. Raises Unencodable.

    O(1), or O(size) for a collection whose elements have a declared type.
    """
    if value is None or not _matters(type_):
        return value
    name = type_.name
    try:
        plain, make = _MAKERS.get(name, (None, None))
        if make is not None:
            return make(value) if type(value) is plain else value
        if not fits(value, name):
            raise Unencodable(f"{type_name(value)} where {name} is declared")
        if name[0] == "[":
            return array_of(component_of(name), value) if type(value) in (list, tuple) else value
        return _fit_elements(collection_for(value, name), type_.arguments)
    except ArgumentError as exc:
        raise Unencodable(str(exc)) from exc


def _matters(type_: Signature) -> bool:
    return type_.name != "java.lang.Object" or any(map(_matters, type_.arguments))


def _fit_elements(value: Any, arguments: tuple[Signature, ...]) -> Any:
    """The collection itself if its elements are right, as an object that is shared stays one; else a copy."""
    if not any(map(_matters, arguments)):
        return value
    if len(arguments) == 1 and isinstance(value, (list, tuple, set, frozenset, OrderedSet)):
        items = [fit(item, arguments[0]) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        if isinstance(value, (tuple, frozenset)):
            return items if isinstance(value, tuple) else set(items)
        made: Any = copy.copy(value)
        made.clear()
        add = made.append if isinstance(made, list) else made.add
        for item in items:
            add(item)
        return made
    if len(arguments) == 2 and isinstance(value, dict):
        pairs = [(fit(key, arguments[0]), fit(item, arguments[1])) for key, item in value.items()]
        if all(new[0] is old[0] and new[1] is old[1] for new, old in zip(pairs, value.items(), strict=True)):
            return value
        filled = copy.copy(value)
        filled.clear()
        filled.update(pairs)
        return filled
    return value
