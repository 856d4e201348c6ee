"""Classes of Kotlin's standard library, which ``emptyList()``, ``buildList { }``, ``a to b`` and others make.

Everything else that Kotlin's functions make has a Java class: ``listOf(a)`` is a SingletonList, ``listOf(a, b)`` an
``Arrays.asList``, ``mutableListOf()`` an ArrayList, ``setOf(a, b)`` a LinkedHashSet.
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

import attrs

from redisson_dq.java.collections import COLLECTIONS
from redisson_dq.java.declare import java_class
from redisson_dq.java.sets import LinkedHashSet, OrderedSet

__all__ = [
    "EMPTY",
    "ArrayDeque",
    "EmptyList",
    "EmptyMap",
    "EmptySet",
    "Lazy",
    "ListBuilder",
    "MapBuilder",
    "Pair",
    "SetBuilder",
    "Triple",
]

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")

_PACKAGE = "kotlin.collections."


class EmptyList(list[T]):
    """``emptyList()``, ``listOf()``. ``filter`` and ``take`` return it too when nothing is left."""

    __slots__ = ()
    java_name: ClassVar[str] = _PACKAGE + "EmptyList"


class ListBuilder(list[T]):
    """``buildList { }``"""

    __slots__ = ()
    java_name: ClassVar[str] = _PACKAGE + "builders.ListBuilder"


class ArrayDeque(list[T]):
    """``kotlin.collections.ArrayDeque``"""

    __slots__ = ()
    java_name: ClassVar[str] = _PACKAGE + "ArrayDeque"


class EmptySet(OrderedSet[T]):
    """``emptySet()``, ``setOf()``"""

    __slots__ = ()
    java_name: ClassVar[str] = _PACKAGE + "EmptySet"


class SetBuilder(LinkedHashSet[T]):
    """``buildSet { }``"""

    __slots__ = ()
    java_name: ClassVar[str] = _PACKAGE + "builders.SetBuilder"


class EmptyMap(dict[K, V]):
    """``emptyMap()``, ``mapOf()``"""

    __slots__ = ()
    java_name: ClassVar[str] = _PACKAGE + "EmptyMap"


class MapBuilder(dict[K, V]):
    """``buildMap { }``"""

    __slots__ = ()
    java_name: ClassVar[str] = _PACKAGE + "builders.MapBuilder"


#: The classes that hold nothing.
EMPTY: frozenset[type] = frozenset((EmptyList, EmptySet, EmptyMap))
_NAMED: tuple[Any, ...] = (EmptyList, ListBuilder, ArrayDeque, EmptySet, SetBuilder, EmptyMap, MapBuilder)
#: The codecs find all collections in one table. The table's module cannot import this one: this one imports from it.
COLLECTIONS.update({kind.java_name: kind for kind in _NAMED})


@java_class("kotlin.Pair", final=True, serial_version_uid=-424738587697246344)
@attrs.frozen
class Pair(Generic[A, B]):
    """``kotlin.Pair``, which ``a to b`` makes"""

    first: A
    second: B


@java_class("kotlin.Triple", final=True, serial_version_uid=-5662557992369688800)
@attrs.frozen
class Triple(Generic[A, B, C]):
    """``kotlin.Triple``"""

    first: A
    second: B
    third: C


@java_class("kotlin.InitializedLazyImpl", final=True, serial_version_uid=8919238260634059149)
@attrs.define
class Lazy(Generic[T]):
    """A property ``by lazy { }`` in Java's serialization: its value. Java computes the value first, if that was not
    done yet.
    """

    value: T
