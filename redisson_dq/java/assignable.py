"""Whether a value that was read may be in a place of a declared Java type."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any
from uuid import UUID

from redisson_dq.java.arrays import Array
from redisson_dq.java.collections import COLLECTIONS, Elements, Entries
from redisson_dq.java.facts import INSTEAD
from redisson_dq.java.hierarchy import PYTHON_TYPES, is_assignable, kind_of
from redisson_dq.java.numbers import BigInteger, Byte, Character, Double, Float, Integer, Long, Short
from redisson_dq.java.registry import declaration_for, declaration_of
from redisson_dq.java.sets import OrderedSet
from redisson_dq.java.values import JavaObject

__all__ = ["parts_are_assignable", "type_fits", "value_is_assignable"]

_LISTS = (list, tuple)
_SETS = (set, frozenset, OrderedSet, Elements)
_MAPS = (dict, Entries)
#: The prefixes of names of types that are not collections.
_NO_COLLECTIONS = (
    *("java.time.", "java.math.", "java.net.", "java.util.UUID", "java.util.Date"),
    *("java.lang.Number", "java.lang.CharSequence", "java.lang.Comparable"),
)
_ARRAYS = (Array, tuple, bytes, bytearray, memoryview)
_HOLDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("java.lang.Iterable", "java.util.Collection"), (*_LISTS, *_SETS)),
    **dict.fromkeys(("java.util.List", "java.util.Queue", "java.util.Deque"), _LISTS),
    **dict.fromkeys((f"java.util.concurrent.Blocking{kind}" for kind in ("Queue", "Deque")), _LISTS),
    **dict.fromkeys(("java.util.Set", "java.util.SortedSet", "java.util.NavigableSet"), _SETS),
    **dict.fromkeys(("java.util.Map", "java.util.SortedMap", "java.util.NavigableMap"), _MAPS),
    "java.util.concurrent.ConcurrentMap": _MAPS,
}


#: The types that have a single Python type. A bool is not a number.
_PLAIN: dict[str, type] = {
    **dict.fromkeys(("java.lang.String", "char", "java.lang.Character"), str),
    **dict.fromkeys(("boolean", "java.lang.Boolean"), bool),
    **dict.fromkeys(("byte", "short", "int", "long"), int),
    **dict.fromkeys((f"java.lang.{name}" for name in ("Byte", "Short", "Integer", "Long")), int),
    **dict.fromkeys(("float", "double", "java.lang.Float", "java.lang.Double"), float),
    "java.math.BigInteger": int,
    "java.math.BigDecimal": Decimal,
}


#: The classes of Python whose values have one class in Java, or several with the same supertypes. They are final.
_FINAL: dict[type, str] = {
    **{kind: PYTHON_TYPES[kind] for kind in (str, bool, float, bytes, Decimal, UUID)},
    **{kind: PYTHON_TYPES[kind] for kind in (Byte, Short, Integer, Long, BigInteger, Float, Double, Character)},
    int: "java.lang.Integer",
}


def value_is_assignable(value: Any, name: str) -> bool:
    """Whether a place of the type ``name`` may hold a value that was read and is not None. O(1)

    This checks plain types and values, arrays, collections, and declared classes with their supertypes. Another value
    that was read may have lost its class, so it is True of every other type. A class that does not say what it
    implements may implement interfaces that are not declared.
    """
    own = declaration_for(type(value))
    plain = _PLAIN.get(name)
    if plain is not None:
        return own is None and isinstance(value, plain) and (plain is bool or type(value) is not bool)
    if own is not None:
        return is_assignable(own.name, name)
    final = _FINAL.get(type(value))
    if final is not None and kind_of(name) is not None:
        return is_assignable(final, name)
    if name[0] != "[" and (isinstance(value, Array) or (isinstance(value, JavaObject) and value.java_name in INSTEAD)):
        return is_assignable(value.java_name, name)
    holds: Any = _HOLDS.get(name)
    if holds is None:
        if name[0] == "[":
            return isinstance(value, _ARRAYS)
        kind = COLLECTIONS.get(name)
        if kind is not None:
            return isinstance(value, _MAPS if issubclass(kind, dict) else _LISTS if issubclass(kind, list) else _SETS)
        declaration = declaration_of(name)
        if declaration is None:
            return not (isinstance(value, (*_LISTS, *_SETS, *_MAPS)) and name.startswith(_NO_COLLECTIONS))
        if declaration.extends and isinstance(value, (Elements, Entries)):
            return is_assignable(value.java_name, name)
        # An object of a class that is not declared may be of a subclass.
        holds = (declaration.python, JavaObject)
    return isinstance(value, holds)


def parts_are_assignable(value: Any, declared: Any) -> bool:
    """Whether the elements, keys and values of a collection fit the arguments of its declared type. O(size).

    ``declared`` has a name, arguments and perhaps a variable, as a Signature does. Java does not check these when it
    reads a value, and fails where one is used.
    """
    arguments = declared.arguments
    if len(arguments) == 1 and isinstance(value, (*_LISTS, *_SETS)):
        return _all_fit(value, arguments[0])
    if len(arguments) == 2 and isinstance(value, _MAPS):
        pairs = value.items() if isinstance(value, dict) else value
        return _all_fit((key for key, _ in pairs), arguments[0]) and _all_fit((item for _, item in pairs), arguments[1])
    return True


def _all_fit(items: Iterable[Any], declared: Any) -> bool:
    name, arguments = declared.name, declared.arguments
    is_any = name == "java.lang.Object" or declared.variable is not None or getattr(declared, "found", False)
    if is_any or getattr(declared, "lower", False) or getattr(declared, "wildcard", "") == "super":
        return True
    fitting: set[type] = {type(None)}
    for item in items:
        if type(item) not in fitting:
            if not (value_is_assignable(item, name) and parts_are_assignable(item, declared)):
                return False
            if not arguments and not isinstance(item, (Elements, Entries)):
                fitting.add(type(item))
    return True


def type_fits(kind: type, name: str) -> bool:
    """Whether one check of a place of the type ``name`` is enough for all values of this Python type."""
    is_known = name in _HOLDS or name in _PLAIN or name in COLLECTIONS
    is_checked = is_known or declaration_of(name) is not None or declaration_for(kind) is not None
    return is_checked and not issubclass(kind, (Elements, Entries))
