"""The registry of the JDK's classes: the handler that reads a class, and the one that writes a Python value."""

from __future__ import annotations

from enum import Enum
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.serialization import (
    collection_handlers,
    concurrent,
    immutable,
    kotlin,
    lists,
    maps,
    network,
    scalars,
    sets,
    throwables,
    times,
    views,
    zones,
)
from redisson_dq.codecs.serialization.handler import ClassHandler
from redisson_dq.java.arrays import Array
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN
from redisson_dq.java.own import kind_of
from redisson_dq.java.registry import declaration_for

__all__ = ["BY_NAME", "constant_key", "handler_of"]

_IMMUTABLE = "java.util.ImmutableCollections$"

_HANDLERS: tuple[ClassHandler, ...] = (
    *scalars.HANDLERS,
    *times.HANDLERS,
    *zones.HANDLERS,
    *network.HANDLERS,
    *lists.HANDLERS,
    *sets.HANDLERS,
    *maps.HANDLERS,
    *concurrent.HANDLERS,
    *immutable.HANDLERS,
    *kotlin.HANDLERS,
    *views.HANDLERS,
    *collection_handlers.COMPARATOR_HANDLERS,
    *throwables.HANDLERS,
)

#: By the class's name in the stream.
BY_NAME: dict[str, ClassHandler] = {handler.name: handler for handler in reversed(_HANDLERS)}

_BY_PYTHON: dict[type, ClassHandler] = {handler.python: handler for handler in _HANDLERS if handler.python is not None}
_BY_PYTHON[java.Double] = _BY_PYTHON[float]
_BY_PYTHON[tuple] = _BY_PYTHON[list]
_BY_PYTHON[frozenset] = _BY_PYTHON[java.HashSet] = _BY_PYTHON[set]
_BY_PYTHON[java.LinkedHashMap] = _BY_PYTHON[dict]

#: The types whose values carry the name of their Java class.
_NAMED = (
    *(java.Elements, java.Entries, java.FarTime, java.InetAddress),
    *(java.ListView, java.SetView, java.MapView, java.ElementsView, java.EntriesView),
)
#: By that name, for classes with another name in the stream.
_BY_JAVA_NAME: dict[str, ClassHandler] = {
    **BY_NAME,
    **dict.fromkeys(times.NAMES, times.FAR_TIME),
    "java.net.Inet4Address": network.INET4,
    **{_IMMUTABLE + name: _BY_PYTHON[java.SetOf] for name in ("Set12", "SetN")},
    **{_IMMUTABLE + name: _BY_PYTHON[java.MapOf] for name in ("Map1", "MapN")},
    **{name: BY_NAME[in_stream] for name, in_stream in views.RANDOM_ACCESS.items()},
}

#: The values for which ``valueOf`` of the class returns the same object each time.
_CACHED = {
    "java.lang.Boolean": (0, 1),
    "java.lang.Byte": (-128, 127),
    "java.lang.Short": (-128, 127),
    "java.lang.Integer": (-128, 127),
    "java.lang.Long": (-128, 127),
    "java.math.BigInteger": (-16, 16),
}
_SINGLETONS = frozenset(
    (java.EmptyList, java.EmptySet, java.EmptyMap, java.kotlin.EmptyList, java.kotlin.EmptySet, java.kotlin.EmptyMap)
)


def handler_of(value: Any) -> ClassHandler | None:
    """The handler that writes a value, or None. A subclass counts as its nearest base class."""
    kind = kind_of(value)
    handler = _BY_PYTHON.get(kind)
    if handler is not None:
        return handler
    if kind is int:
        return _int_handler(value)
    if kind in _NAMED:
        return _BY_JAVA_NAME.get(value.java_name)
    if isinstance(value, (Enum, Array)) or declaration_for(kind) is not None:
        return None
    for base in kind.__mro__:
        if base is int:
            return _int_handler(value)
        if base in _BY_PYTHON:
            return _BY_PYTHON[base]
        if "java_name" in vars(base):
            return None  # a Java class that is not Serializable, whatever its Python base class
    return None


def _int_handler(value: int) -> ClassHandler:
    if INT_MIN <= value <= INT_MAX:
        return scalars.INTEGER
    return scalars.LONG if LONG_MIN <= value <= LONG_MAX else scalars.BIG_INTEGER


def constant_key(value: Any, handler: ClassHandler) -> Any:
    """A key for a value that is a single object in Java. None for all other values."""
    bounds = _CACHED.get(handler.name)
    if bounds is not None:
        return (handler.name, int(value)) if bounds[0] <= value <= bounds[1] else None
    if handler.python in (java.Currency, java.Locale):
        return handler.name, value
    if handler.python is java.Character:
        return (handler.name, str(value)) if value <= "\x7f" else None
    return handler.name if handler.python in _SINGLETONS else None
