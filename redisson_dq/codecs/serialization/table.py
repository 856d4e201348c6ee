"""The table of the JDK's classes: which row reads a class of the stream, and which writes a Python value."""

from __future__ import annotations

from enum import Enum
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.serialization import (
    concurrent,
    immutable,
    lists,
    maps,
    network,
    scalars,
    sets,
    shapes,
    throwables,
    times,
    views,
)
from redisson_dq.codecs.serialization.rows import Row
from redisson_dq.java.arrays import Array
from redisson_dq.java.declare import declaration_for
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN

__all__ = ["BY_NAME", "constant_key", "row_of"]

_IMMUTABLE = "java.util.ImmutableCollections$"

_ROWS: tuple[Row, ...] = (
    *scalars.ROWS,
    *times.ROWS,
    *network.ROWS,
    *lists.ROWS,
    *sets.ROWS,
    *maps.ROWS,
    *concurrent.ROWS,
    *immutable.ROWS,
    *views.ROWS,
    *shapes.COMPARATOR_ROWS,
    *throwables.ROWS,
)

#: By the name that stands in the stream.
BY_NAME: dict[str, Row] = {row.name: row for row in reversed(_ROWS)}

_BY_PYTHON: dict[type, Row] = {row.python: row for row in _ROWS if row.python is not None}
_BY_PYTHON[java.Double] = _BY_PYTHON[float]
_BY_PYTHON[tuple] = _BY_PYTHON[list]
_BY_PYTHON[frozenset] = _BY_PYTHON[set]

#: The types whose values carry the name of their Java class.
_NAMED = (java.Elements, java.Entries, java.ListView, java.SetView, java.MapView, java.FarTime, java.InetAddress)
#: By such a name, where another one stands in the stream.
_BY_JAVA_NAME: dict[str, Row] = {
    **BY_NAME,
    **dict.fromkeys(times.NAMES, times.FAR_TIME),
    "java.net.Inet4Address": network.INET4,
    **{_IMMUTABLE + name: _BY_PYTHON[java.SetOf] for name in ("Set12", "SetN")},
    **{_IMMUTABLE + name: _BY_PYTHON[java.MapOf] for name in ("Map1", "MapN")},
    **{name: BY_NAME[in_stream] for name, in_stream in views.RANDOM_ACCESS.items()},
}

#: What ``valueOf`` of the class gives as the same object each time.
_CACHED = {
    "java.lang.Boolean": (0, 1),
    "java.lang.Byte": (-128, 127),
    "java.lang.Short": (-128, 127),
    "java.lang.Integer": (-128, 127),
    "java.lang.Long": (-128, 127),
    "java.math.BigInteger": (-16, 16),
}
_SINGLETONS = frozenset((java.EmptyList, java.EmptySet, java.EmptyMap))


def row_of(value: Any) -> Row | None:
    """The row that writes a value, None if the table has none. A subclass counts as its nearest base class here."""
    kind = type(value)
    row = _BY_PYTHON.get(kind)
    if row is not None:
        return row
    if kind is int:
        return _int_row(value)
    if kind in _NAMED:
        return _BY_JAVA_NAME.get(value.java_name)
    if isinstance(value, (Enum, Array)) or declaration_for(kind) is not None:
        return None
    for base in kind.__mro__:
        if base is int:
            return _int_row(value)
        if base in _BY_PYTHON:
            return _BY_PYTHON[base]
        if "java_name" in vars(base):
            return None  # a Java class that is not Serializable, whatever it is in Python
    return None


def _int_row(value: int) -> Row:
    if INT_MIN <= value <= INT_MAX:
        return scalars.INTEGER
    return scalars.LONG if LONG_MIN <= value <= LONG_MAX else scalars.BIG_INTEGER


def constant_key(value: Any, row: Row) -> Any:
    """What stands for a value of which Java has one object only; None for all others."""
    bounds = _CACHED.get(row.name)
    if bounds is not None:
        return (row.name, int(value)) if bounds[0] <= value <= bounds[1] else None
    if row.python is java.Character:
        return (row.name, str(value)) if value <= "\x7f" else None
    return row.name if row.python in _SINGLETONS else None
