"""The values that fit a place of a declared Java type: a field, an element of a ``list[Long]``, of an array.

Java's decoders put whatever they read into a field without a check, or fail there. So a value is checked where it is
written. It is of the declared type, or it is a plain value that becomes one of that type, or it is refused.
:mod:`~redisson_dq.java.hierarchy` decides the first, the table in :mod:`~redisson_dq.java.conversions` the second.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any, get_args

from redisson_dq.java.annotations import signature_of
from redisson_dq.java.arrays import PRIMITIVE_CODES, component_of
from redisson_dq.java.collections import Elements, Entries
from redisson_dq.java.conversions import Misfit, convert
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.element_types import declared_elements, element_types, matters, may_hold
from redisson_dq.java.generics import arguments_in
from redisson_dq.java.hierarchy import PYTHON_TYPES, holds, is_assignable, is_jdk
from redisson_dq.java.maps import EnumMap
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, Float, Long
from redisson_dq.java.references import (
    AtomicBoolean,
    AtomicInteger,
    AtomicLong,
    AtomicReference,
    Optional,
    OptionalDouble,
    OptionalInt,
    OptionalLong,
)
from redisson_dq.java.registry import declaration_for, declaration_of
from redisson_dq.java.replacing import Notes, inside, with_items, with_pairs
from redisson_dq.java.sets import EnumSet, OrderedSet
from redisson_dq.java.signatures import Signature, with_arguments

__all__ = ["Place", "field_places", "noted_arguments", "place_named", "place_of", "with_declared_parts"]

_OBJECT = "java.lang.Object"
_NONE = type(None)
#: The classes that hold only one type, with that type.
_INNER = {
    AtomicBoolean: "boolean",
    AtomicInteger: "int",
    AtomicLong: "long",
    OptionalInt: "int",
    OptionalLong: "long",
    OptionalDouble: "double",
}
_OPTIONALS = frozenset((OptionalInt, OptionalLong, OptionalDouble))


class Place:
    """A place of one declared type. ``exact`` are the Python types whose values it holds as they are."""

    __slots__ = ("_arguments", "_plain", "_signature", "exact", "name")

    def __init__(self, signature: Signature) -> None:
        self.name = signature.name
        self._signature = signature
        #: The places of its parts: an array's elements, or its type arguments.
        self._arguments = tuple(map(place_of, _parts_of(signature)))
        self.exact = self._exact()
        #: The plain collection that it holds, if only the parts decide.
        self._plain = self._plain_kind()

    def _exact(self) -> frozenset[type]:
        if any(self._arguments):
            return frozenset((_NONE,))
        declaration = declaration_of(self.name)
        if declaration is not None:
            return frozenset((_NONE, declaration.python))
        looked_into = {*_INNER, EnumSet, EnumMap} if self.name not in _ANYTHING else ()
        return frozenset((_NONE, *(kind for kind in _exact_types(self.name) if kind not in looked_into)))

    def _plain_kind(self) -> type | None:
        count = len(self._arguments)
        if count == 1 and self._arguments[0] is not None and holds(self.name, []):
            return list
        return dict if count == 2 and any(self._arguments) and holds(self.name, {}) else None

    def holds_all(self, values: Collection[Any]) -> bool:
        """Whether it holds all of these unchanged, judging only by their types. O(n)"""
        return set(map(type, values)) <= self.exact

    def shallow(self, value: Any) -> Any:
        """The value as one of this type, without a look at its parts. Raises Misfit."""
        if type(value) in self.exact or value is None:
            return value
        if not holds(self.name, value):
            return convert(value, self._signature)
        inner = _INNER.get(type(value))
        if inner is not None:
            _check_inner(value, inner)
        elif isinstance(value, (EnumSet, EnumMap)):
            self._check_enum(value)
        elif self._arguments:
            self._check_elements(value)
        return value

    def __call__(self, value: Any, notes: Notes) -> Any:
        """The value as one of this type, and all its parts as theirs: itself, or a copy. Raises Misfit.

        O(1), or O(size) for a collection whose elements have a declared type. ``notes`` gets the objects of generic
        classes.
        """
        kind = type(value)
        if kind in self.exact:
            return value
        if kind is self._plain and all(map(_holds_all, self._arguments, _parts_in(value))):
            return value
        value = self.shallow(value)
        return self._with_parts(value, notes) if self._arguments and value is not None else value

    def _check_enum(self, value: Any) -> None:
        arguments = self._signature.arguments
        declaration = declaration_for(value.element)
        if arguments and declaration is not None and not is_assignable(declaration.name, arguments[0].name):
            raise Misfit(value, f"{self.name}<{arguments[0].name}>")

    def _check_elements(self, value: Any) -> None:
        """Refuse an object of a class that extends a collection of other elements than are declared here."""
        named = isinstance(value, (Elements, Entries))
        declaration = declaration_of(value.java_name) if named else declaration_for(type(value))
        if declaration is None or not declaration.extends or declaration.name == self.name:
            return
        if not all(map(may_hold, declared_elements(self._signature), declaration.elements)):
            raise Misfit(value, self._signature.source)
        if len(declaration.elements) == 1 and self._arguments[0] is not None and not isinstance(value, Entries):
            # The other types of an interface's objects are not known here.
            name, own = self._arguments[0].name, declaration.elements[0]
            is_unknown = own.variable is None and own.name != name and not is_jdk(own.name)
            if is_unknown and declaration_of(own.name) is None:
                for index, item in enumerate(value):
                    if item is not None and not holds(name, item):
                        raise Misfit(item, name, steps=(index,))

    def _with_parts(self, value: Any, notes: Notes) -> Any:
        arguments = self._arguments
        declaration = declaration_for(type(value))
        if declaration is not None:
            if declaration.extends:
                return with_declared_parts(value, declaration, self._signature, notes)
            if declaration.kind != "enum":
                notes[id(value)] = value, arguments_in(declaration, self._signature) or ()
            return value
        if isinstance(value, dict):
            if len(arguments) != 2 or (_holds_all(arguments[0], value) and _holds_all(arguments[1], value.values())):
                return value
            return with_pairs(value, value.items(), arguments, notes)
        if isinstance(value, Entries):
            return with_pairs(value, value, arguments, notes) if len(arguments) == 2 else value
        if len(arguments) != 1 or arguments[0] is None:
            return value
        if isinstance(value, (list, tuple, set, frozenset, OrderedSet)):
            return with_items(value, arguments[0], notes)
        if isinstance(value, (Optional, AtomicReference)):
            held = inside(arguments[0], value.value, notes, "value")
            return value if held is value.value else type(value)(held)
        return value


class _Ints(Place):
    """A place of an ``Integer`` or a ``Long``."""

    __slots__ = ()

    def holds_all(self, values: Collection[Any]) -> bool:
        kinds = set(map(type, values))
        if kinds == {int} and self.name == "java.lang.Integer":
            return bool(min(values) >= INT_MIN and max(values) <= INT_MAX)
        if self.name == "java.lang.Long" and int in kinds:
            return all(map(_is_long, values))
        return kinds <= self.exact

    def __call__(self, value: Any, notes: Notes) -> Any:
        if type(value) is int and self.name == "java.lang.Integer" and INT_MIN <= value <= INT_MAX:
            return value
        return self.shallow(value)

    def shallow(self, value: Any) -> Any:
        if type(value) is int:
            if self.name == "java.lang.Integer":
                if INT_MIN <= value <= INT_MAX:
                    return value
            elif LONG_MIN <= value <= LONG_MAX:
                return value if _is_long(value) else int.__new__(Long, value)
        return Place.shallow(self, value)


def _is_long(value: Any) -> bool:
    """Whether the value is a Long as it is: one beyond 32 bits is."""
    if type(value) is int:
        return not INT_MIN <= value <= INT_MAX and LONG_MIN <= value <= LONG_MAX
    return value is None or type(value) is Long


class _Primitive(Place):
    """A place of a primitive type, whose values are plain Python values."""

    __slots__ = ("_least", "_most")

    def __init__(self, signature: Signature) -> None:
        super().__init__(signature)
        bits = _BITS.get(self.name, 0)
        self._least, self._most = (-(1 << bits - 1), (1 << bits - 1) - 1) if bits else (0, -1)

    def _exact(self) -> frozenset[type]:
        kind = _EXACT_PRIMITIVES.get(self.name)
        return frozenset(() if kind is None else (kind,))

    def shallow(self, value: Any) -> Any:
        if type(value) in self.exact or (type(value) is int and self._least <= value <= self._most):
            return value
        return convert(value, self._signature)

    def __call__(self, value: Any, notes: Notes) -> Any:
        return self.shallow(value)


#: A float is a Float, which is rounded to 32 bits.
_EXACT_PRIMITIVES = {"boolean": bool, "double": float, "float": Float}
_BITS = {"byte": 8, "short": 16, "int": 32, "long": 64}
#: A place that is declared as one of these does not look into its values.
_ANYTHING = frozenset((_OBJECT, "java.io.Serializable", "java.lang.Cloneable", "java.lang.Number"))


@lru_cache(maxsize=4096)
def place_of(signature: Signature) -> Place | None:
    """The place of a declared type; None for one that holds everything as it is. O(1) when it is known."""
    name = signature.name
    if name == _OBJECT or signature.wildcard == "super":
        return None
    if name in PRIMITIVE_CODES:
        return _Primitive(signature)
    return (_Ints if name in ("java.lang.Integer", "java.lang.Long") else Place)(signature)


@lru_cache(maxsize=1024)
def place_named(name: str) -> Place | None:
    """The place of a type without type arguments."""
    return place_of(Signature(name))


@lru_cache(maxsize=1024)
def _exact_types(name: str) -> frozenset[type]:
    """The Python types whose values are all of the type ``name``."""
    found = {kind for kind, java_name in PYTHON_TYPES.items() if is_assignable(java_name, name)}
    if {"java.lang.Integer", "java.lang.Long", "java.math.BigInteger"} <= {PYTHON_TYPES.get(kind) for kind in found}:
        found.add(int)
    return frozenset(found)


def _parts_of(signature: Signature) -> tuple[Signature, ...]:
    if signature.name[0] != "[":
        return signature.arguments if any(map(matters, signature.arguments)) else ()
    try:
        component = signature.component or Signature(component_of(signature.name))
    except ValueError:
        return ()
    # The elements of an array of primitives are checked where they are written.
    return (component,) if component.name not in PRIMITIVE_CODES and matters(component) else ()


def _parts_in(value: Any) -> tuple[Collection[Any], ...]:
    """The elements of a plain list, or the keys and the values of a plain dict."""
    return (value,) if type(value) is list else (value, value.values())


def _holds_all(place: Place | None, values: Collection[Any]) -> bool:
    return place is None or place.holds_all(values)


def _check_inner(value: Any, inner: str) -> None:
    if value.value is None and type(value) in _OPTIONALS:
        return
    try:
        convert_to = place_of(Signature(inner))
        assert convert_to is not None
        convert_to.shallow(value.value)
    except Misfit as error:
        error.steps.append("value")
        raise


def with_declared_parts(value: Any, declaration: Declaration, declared: Signature, notes: Notes) -> Any:
    """A subclass of a collection with its parts as the types that it declares for them. Raises Misfit."""
    places = tuple(map(place_of, element_types(declaration, declared)))
    if not any(places):
        return value
    if isinstance(value, dict):
        return with_pairs(value, value.items(), places, notes) if len(places) == 2 else value
    if isinstance(value, Entries):
        return with_pairs(value, value, places, notes) if len(places) == 2 else value
    return value if len(places) != 1 or places[0] is None else with_items(value, places[0], notes)


@lru_cache(maxsize=1024)
def field_places(declaration: Declaration, arguments: tuple[Signature, ...] = ()) -> dict[str, Place | None]:
    """By attribute: the places of an object's fields, where the class has these type arguments. O(1) when known."""
    given = dict(zip(declaration.parameters, arguments, strict=False))
    return {
        field.attribute: place_of(with_arguments(field.type, given))
        for _name, fields in declaration.typed_fields
        for field in fields
    }


def noted_arguments(value: Any, declaration: Declaration, notes: Notes) -> tuple[Signature, ...]:
    """The type arguments of an object: those of its place, or those that ``Range[Long](5, 6)`` was made with."""
    if not declaration.parameters:
        return ()
    noted = notes.get(id(value))
    if noted is not None:
        return noted[1]
    alias = getattr(value, "__orig_class__", None)
    if alias is None:
        return ()
    return tuple(signature_of(argument, where=declaration.name, null=True) for argument in get_args(alias))
