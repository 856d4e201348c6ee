"""Which Java class a Python value is, and which Java types that class is assignable to.

``hierarchy.txt`` lists the classes of the JDK and of Kotlin that values are written as, with all their public
supertypes. A line there is a kind (``I`` interface, ``A`` abstract class, ``C`` class, ``F`` final class), a name, and
its nearest supertypes.
"""

from __future__ import annotations

import functools
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from importlib import resources
from ipaddress import IPv4Address, IPv6Address
from typing import Any
from uuid import UUID

from redisson_dq.java import collections, kotlin, lists, maps, numbers, sets, time_numbers, times, values
from redisson_dq.java.arrays import PRIMITIVE_CODES, Array, component_of
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN
from redisson_dq.java.orders import Comparator
from redisson_dq.java.registry import declaration_for, declaration_of
from redisson_dq.java.sets import OrderedSet
from redisson_dq.java.values import JavaObject, Throwable

__all__ = [
    "PYTHON_TYPES",
    "class_name",
    "holds",
    "is_assignable",
    "is_jdk",
    "jdk_types",
    "kind_of",
    "said_supertypes",
    "supertypes",
]

_PACKAGE = __name__.rpartition(".")[0]
_OBJECT = "java.lang.Object"
_COLLECTIONS = ("java.util.Collection", "java.util.Map", "java.util.Dictionary")
_ENUM, _RECORD, _NUMBER = "java.lang.Enum", "java.lang.Record", "java.lang.Number"
_OF_ARRAYS = frozenset((_OBJECT, "java.lang.Cloneable", "java.io.Serializable"))
_THROWABLE = "java.lang.Throwable"
#: By kind of a declared class: the class that it extends without saying so.
_IMPLIED = {"enum": (_ENUM,), "record": (_RECORD,)}


@functools.cache
def jdk_types() -> dict[str, tuple[str, tuple[str, ...]]]:
    """By name: the kind and the direct supertypes of each type of the JDK that is known. O(1), once they are read."""
    text = resources.files(_PACKAGE).joinpath("hierarchy.txt").read_text("utf-8")
    rows = (line.split(" ") for line in text.splitlines())
    return {name: (kind, tuple(parents)) for kind, name, *parents in rows}


@functools.cache
def supertypes(name: str) -> frozenset[str]:
    """Of a class in the table: itself, and all that its objects are as well."""
    return frozenset((name, _OBJECT)).union(*map(supertypes, jdk_types()[name][1]))


def kind_of(name: str) -> str | None:
    """``I``, ``A``, ``C`` or ``F`` of a type of the JDK; None if the table does not have it. O(1)."""
    found = jdk_types().get(name)
    return None if found is None else found[0]


def is_jdk(name: str) -> bool:
    """Whether this is a type of the JDK, by its package."""
    return name.startswith(("java.", "javax.", "sun.", "jdk."))


# From values to classes

#: The Python types whose values are all of one Java class. Of a subclass the nearest of these counts.
PYTHON_TYPES: dict[type, str] = {
    str: "java.lang.String",
    bool: "java.lang.Boolean",
    float: "java.lang.Double",
    Decimal: "java.math.BigDecimal",
    UUID: "java.util.UUID",
    **dict.fromkeys((bytes, bytearray, memoryview), "[B"),
    **dict.fromkeys((list, tuple), "java.util.ArrayList"),
    **dict.fromkeys((set, frozenset), "java.util.HashSet"),
    OrderedSet: "java.util.LinkedHashSet",
    dict: "java.util.LinkedHashMap",
    date: "java.time.LocalDate",
    timedelta: "java.time.Duration",
    IPv4Address: "java.net.Inet4Address",
    IPv6Address: "java.net.Inet6Address",
    numbers.BigInteger: "java.math.BigInteger",
    **{
        kind: f"java.lang.{kind.__name__}"
        for kind in (
            *(numbers.Byte, numbers.Short, numbers.Integer, numbers.Long, numbers.Float, numbers.Double),
            numbers.Character,
        )
    },
    **{
        kind: name
        for module in (lists, sets, maps, collections, kotlin, values, times)
        for kind in map(vars(module).get, module.__all__)
        if isinstance(kind, type) and isinstance(name := kind.__dict__.get("java_name"), str)
    },
}


def class_name(value: Any) -> str | None:
    """The Java class that a value becomes where nothing else is declared; None if it has none. O(1)."""
    kind = type(value)
    name = PYTHON_TYPES.get(kind)
    if name is not None:
        return name
    if kind is int:
        return _int_name(value)
    declaration = declaration_for(kind)
    if declaration is not None:
        return declaration.name
    if isinstance(value, Enum):
        return str(value.value) if kind is Comparator else None
    for base in kind.__mro__:
        if base in (datetime, time):
            return time_numbers.java_time_name(value)
        if base is int:
            return _int_name(value)
        if base in PYTHON_TYPES:
            return PYTHON_TYPES[base]
        if "java_name" in base.__dict__:
            return str(value.java_name)
        if declaration_for(base) is not None:
            return None
    return None


def _int_name(value: int) -> str:
    if INT_MIN <= value <= INT_MAX:
        return "java.lang.Integer"
    return "java.lang.Long" if LONG_MIN <= value <= LONG_MAX else "java.math.BigInteger"


# From classes to the types that they are assignable to


def holds(declared: str, value: Any) -> bool:
    """Whether a place of the type ``declared`` can hold the value as the Java class that it is. O(1)"""
    declaration = declaration_of(declared)
    if declaration is not None and isinstance(value, declaration.python):
        return True
    if isinstance(value, JavaObject):  # of a class of which nothing is known
        return declared[0] != "[" and declared not in PRIMITIVE_CODES and kind_of(declared) != "F"
    if isinstance(value, Throwable):
        return _holds_throwable(declared, value)
    name = value.java_name if isinstance(value, Array) else class_name(value)
    return name is not None and is_assignable(name, declared)


def _holds_throwable(declared: str, value: Throwable) -> bool:
    name, described = value.java_name, value.described
    while described is not None and described.java_name == name:
        if name == declared:
            return True
        if isinstance(described.superclass, str):
            return is_assignable(described.superclass, declared)
        described = described.superclass
        name = described.java_name
    if kind_of(name) is None and kind_of(declared) is not None:
        return _THROWABLE in supertypes(declared) or declared in supertypes(_THROWABLE)
    return is_assignable(name, declared)


def is_assignable(name: str, declared: str) -> bool:
    """Whether objects of the class ``name`` can be where ``declared`` is declared.

    A user's class that does not say what it implements can be where an interface is declared that is none of
    collections.
    """
    if name == declared or declared == _OBJECT:
        return True
    if name == _OBJECT:
        return False
    if name[0] == "[" or declared[0] == "[":
        return _is_array_assignable(name, declared)
    if name in jdk_types():
        return declared in supertypes(name)
    declaration, wanted = declaration_of(name), declaration_of(declared)
    if declaration is not None and wanted is not None:
        return issubclass(declaration.python, wanted.python)
    if declaration is not None and (declared in said_supertypes(declaration) or declaration.says_all):
        return declared in said_supertypes(declaration)
    if not is_jdk(declared):
        # No class of a user extends one of Kotlin's that are listed.
        return not is_jdk(name) and kind_of(declared) is None
    if declaration is not None and declaration.extends:
        return kind_of(declared) is None
    return _is_open(declared, None if declaration is None else declaration.kind)


@functools.lru_cache(maxsize=4096)
def said_supertypes(declaration: Declaration) -> frozenset[str]:
    """All supertypes that are known of a declared class: those that it and its superclasses say, and what these are."""
    said = [interface.signature.name for interface in declaration.implements]
    said += _IMPLIED.get(declaration.kind, ())
    if declaration.serial_version_uid is not None:
        said.append("java.io.Serializable")
    if declaration.extends:
        said.append(declaration.extends)
    above = frozenset() if declaration.superclass is None else said_supertypes(declaration.superclass)
    return above.union(
        (declaration.name, _OBJECT), *(supertypes(one) if one in jdk_types() else (one,) for one in said)
    )


def _is_array_assignable(name: str, declared: str) -> bool:
    if declared in _OF_ARRAYS:
        return True
    if name[0] != "[" or declared[0] != "[":
        return False
    try:
        component, wanted = component_of(name), component_of(declared)
    except ValueError:
        return False
    if component in PRIMITIVE_CODES or wanted in PRIMITIVE_CODES:
        return component == wanted
    return is_assignable(component, wanted)


@functools.cache
def _is_open(declared: str, kind: str | None) -> bool:
    """Whether a user's class, enum or record may be assignable to that type of the JDK."""
    if declared in (_ENUM, _RECORD):
        return kind is None or kind == declared.rpartition(".")[2].lower()
    if declared == _NUMBER:
        return kind is None  # a declared class names it
    if declared not in jdk_types():
        return True
    return kind_of(declared) == "I" and not any(name in supertypes(declared) for name in _COLLECTIONS)
