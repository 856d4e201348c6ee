"""From values to protostuff's bytes."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, cast

from redisson_dq import java
from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Unencodable, no_java_type, type_name, unwritable
from redisson_dq.codecs.protostuff import types
from redisson_dq.codecs.protostuff.jdk import JDK, jdk_name
from redisson_dq.codecs.protostuff.scalars import ARRAY_IDS, NAMES, SCALARS, scalar_name
from redisson_dq.codecs.protostuff.types import MessageField, array_name, is_boxed, kind_of
from redisson_dq.codecs.protostuff.wire import BYTES, END, START, VARINT, delimited, tag, utf8, varint
from redisson_dq.codecs.sorting import SORTED, refuse_comparator, sorted_contents
from redisson_dq.java.arrays import array_of, component_of
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.places import field_places, noted_arguments
from redisson_dq.java.registry import declaration_for, declaration_of
from redisson_dq.java.replacing import Notes
from redisson_dq.java.signatures import OBJECT, Signature
from redisson_dq.java.tables import in_order, pairs_in_order

__all__ = ["bytes_of", "name_of"]

_NUMBERS = {name: number for number, name in NAMES.items()}
_SIMPLE = {name: simple for simple, name in types.FILLED.items()}
_PLAIN: dict[type, str] = {
    **dict.fromkeys((list, tuple), "java.util.ArrayList"),
    **dict.fromkeys((set, frozenset), "java.util.HashSet"),
    dict: "java.util.LinkedHashMap",
}
_LOST = "protostuff writes no nulls here: the element would be gone"


def bytes_of(value: Any, *, name: str) -> bytes:
    """The bytes of a value of the class ``name``, declared or of java.time. Raises Unencodable. O(size)."""
    writer = _Writer()
    try:
        writer.content(value, name)
    except RecursionError as error:
        raise Unencodable(TOO_DEEP) from error
    return b"".join(writer.out)


class _Writer:
    def __init__(self) -> None:
        self.out: list[bytes] = []
        self._depth = 0
        self._notes: Notes = {}

    def content(self, value: Any, name: str) -> None:
        """Write the fields of an object of exactly this class."""
        if name in JDK:
            return self._jdk(value, name)
        declaration = cast(Declaration, declaration_of(name))
        if type(value) is declaration.python:
            return self._declared(value, declaration)
        if isinstance(value, declaration.python):
            raise Unencodable(f"{type_name(value)} where {name} is declared: Java keeps the fields of {name} only")
        raise _wrong(value, name)

    def _jdk(self, value: Any, name: str) -> None:
        if jdk_name(value) != name:
            raise _wrong(value, name)
        parts = JDK[name]
        try:
            values = parts.split(value)
        except (ValueError, OverflowError) as error:
            raise Unencodable(f"not a {name}: {error}") from error
        for number, (part, of_type) in enumerate(zip(values, parts.types, strict=True), 1):
            self._value(number, part, Signature(of_type))

    def _declared(self, value: Any, declaration: Declaration) -> None:
        path: tuple[Any, ...] = ()
        try:
            places = field_places(declaration, noted_arguments(value, declaration, self._notes))
            for number, field in types.message_fields(declaration).items():
                path = (field.name,)
                found = _attribute(value, field)
                if found is None:
                    continue
                place = places[field.attribute]
                if place is not None and type(found) not in place.exact:
                    found = place(found, self._notes)
                if not field.is_list:
                    self._value(number, found, field.type)
                    continue
                element = types.element_type(field.type)
                for index, item in enumerate(in_order(found)):
                    path = (index, field.name)
                    self._value(number, item, element)
        except Unencodable as error:
            error.of_field(".".join((declaration.name, *path[-1:])))
            for step in path:
                error.inside(step)
            raise
        except Exception as error:
            raise unwritable(error, *path).of_field(".".join((declaration.name, *path[-1:]))) from error

    def _value(self, number: int, value: Any, declared: Signature, *, in_map: bool = False) -> None:
        """Write a field or an element of the declared type."""
        name = declared.name
        if value is None:
            raise Unencodable(_LOST)
        scalar = SCALARS.get(name)
        if scalar is not None:
            self.out += (tag(number, scalar.wire), scalar.bytes_of(value, name))
            return
        kind = kind_of(name)
        if kind == "none":
            raise Unencodable(f"a {name}, which protostuff does not read back")
        if kind == "enum":
            self.out += (tag(number, VARINT), _ordinal(value, name))
            return
        if self._depth == MAX_DEPTH:
            raise Unencodable(f"{TOO_DEEP} (does it contain itself?)")
        self._depth += 1
        self.out.append(tag(number, START))
        if kind in ("class", "jdk"):
            self.content(value, name)
        elif kind == "map":
            _check_collection(value, name)
            self._map(value, *types.entry_types(declared))
        elif kind == "array":
            self._declared_array(value, name, in_map=in_map)
        else:
            self._any(value, name)
        self.out.append(tag(number, END))
        self._depth -= 1

    def _map(self, value: Any, keys: Signature, values: Signature) -> None:
        key: Any = None
        try:
            for key, item in pairs_in_order(value):
                self.out.append(tag(1, START))
                if key is not None:
                    self._value(1, key, keys, in_map=True)
                if item is not None:
                    self._value(2, item, values, in_map=True)
                self.out.append(tag(1, END))
        except Unencodable as error:
            error.inside(key)
            raise
        except Exception as error:
            raise unwritable(error, key) from error

    # Values whose type is in the bytes

    def _any(self, value: Any, declared: str) -> None:
        scalar = scalar_name(value)
        if scalar is not None:
            number = _NUMBERS[scalar]
            _check_allowed(number, value, declared)
            self.out += (tag(number, SCALARS[scalar].wire), SCALARS[scalar].bytes_of(value, scalar))
            return
        array = array_name(value)
        if array is not None:
            return self._array(value, array, declared)
        name = _class_name(value)
        kind = kind_of(name)
        if kind == "enum":
            self._named(types.ENUM, name, value, declared)
            self.out += (tag(1, VARINT), _ordinal(value, name))
        elif kind == "class":
            self._named(types.POJO, name, value, declared)
            self._declared(value, cast(Declaration, declaration_of(name)))
        elif kind == "jdk":
            self._named(types.POJO, name, value, declared)
            self._jdk(value, name)
        elif kind in ("list", "map"):
            _check_order(value, name)
            self._named(types.MAP if kind == "map" else types.COLLECTION, _SIMPLE[name], value, declared)
            if kind == "map":
                self._map(value, OBJECT, OBJECT)
            else:
                self._elements(value, 1, OBJECT)
        else:
            raise Unencodable(f"a {name}, which protostuff does not read back")

    def _named(self, number: int, name: str, value: Any, declared: str) -> None:
        _check_allowed(number, value, declared)
        self.out += (tag(number, BYTES), delimited(utf8(name)))

    def _array(self, value: Any, array: str, declared: str) -> None:
        try:
            component = component_of(array)
        except ValueError as error:
            raise Unencodable(str(error)) from error
        kind = kind_of(component)
        if kind == "scalar" and component in ARRAY_IDS:
            _check_allowed(types.ARRAY_SCALAR, value, declared)
            self.out += (tag(types.ARRAY_SCALAR, VARINT), varint(ARRAY_IDS[component]))
        elif kind == "enum":
            self._named(types.ARRAY_ENUM, component, value, declared)
        elif kind in ("class", "jdk"):
            self._named(types.ARRAY_POJO, component, value, declared)
        self._array_content(value, component, kind, in_map=False)

    def _declared_array(self, value: Any, name: str, *, in_map: bool) -> None:
        component = component_of(name)
        if type(value) in (list, tuple):
            value = array_of(component, value)
        elif array_name(value) != name:
            raise _wrong(value, name)
        self._array_content(value, component, kind_of(component), in_map=in_map)

    def _array_content(self, value: Any, component: str, kind: str, *, in_map: bool) -> None:
        """Write the length and the elements. As a key or value of a declared map, boxed numbers have a negative
        length."""
        if kind == "none" or (kind == "scalar" and component not in ARRAY_IDS):
            raise Unencodable(f"an array of {component}, which protostuff does not read back")
        if kind in ("scalar", "enum", "class", "jdk"):
            length = -len(value) - 1 if in_map and is_boxed(component) else len(value)
            self.out += (tag(1, VARINT), varint(length))
            return self._elements(value, 2, Signature(component))
        base, dimensions = component, 1
        while base.startswith("["):
            base, dimensions = component_of(base), dimensions + 1
            if any(array_name(item) != component for item in value):
                raise Unencodable(f"an array of {component} that holds something else")
        self.out += (tag(types.ARRAY, BYTES), delimited(utf8(base)))
        self.out += (tag(3, VARINT), varint(len(value)), tag(2, VARINT), varint(dimensions))
        self._elements(value, 1, Signature(component) if kind == "any" else OBJECT)

    def _elements(self, items: Iterable[Any], number: int, of_type: Signature) -> None:
        count = 0
        try:
            for item in in_order(items):
                self._value(number, item, of_type)
                count += 1
        except Unencodable as error:
            error.inside(count)
            raise
        except Exception as error:
            raise unwritable(error, count) from error


def _attribute(value: Any, field: MessageField) -> Any:
    """The value to write for a field. None means that nothing is written, because an absent field is read as the same
    value.
    """
    try:
        found = getattr(value, field.attribute)
    except AttributeError as error:
        raise Unencodable(f"the attribute has no value: {error}") from error
    if found is None:
        if field.absent() is not None:
            raise Unencodable("None, which protostuff does not write: it would come back as the attribute's default")
        return None
    if field.is_list:
        _check_collection(found, field.type.name)
        if not found and field.absent() != found:
            raise Unencodable(
                "an empty collection, which protostuff does not write: it would come back as the attribute's default"
            )
    return found


def _check_collection(value: Any, declared: str) -> None:
    """Check that Java reads back the same kind of value in a place with this declared type."""
    name, expected = _collection_name(value), types.collection_made_for(declared)
    if name is None:
        raise _wrong(value, expected)
    is_plain = not hasattr(value, "java_name") and types.family(name) is types.family(expected)
    if name != expected and not is_plain and (name, declared) != ("java.util.HashMap", "java.util.Map"):
        raise Unencodable(f"a {name}, where Java reads a {expected}")
    _check_order(value, expected)


def _check_order(value: Any, java_name: str) -> None:
    refuse_comparator(value)
    if java_name in SORTED:
        sorted_contents(value, java_name)


def name_of(value: Any) -> str:
    """The Java class of a value. Raises Unencodable if there is none."""
    return scalar_name(value) or array_name(value) or _class_name(value)


def _class_name(value: Any) -> str:
    """The Java class of a value that is neither a scalar nor an array."""
    declaration = declaration_for(type(value))
    if declaration is not None:
        return declaration.name
    name = None if isinstance(value, Enum) else jdk_name(value) or _collection_name(value)
    if name is None:
        raise no_java_type(value)
    return name


def _collection_name(value: Any) -> str | None:
    """The Java class of a value that is a collection, or that names its own class."""
    name = getattr(value, "java_name", None)
    if isinstance(name, str):
        return name
    for base in type(value).__mro__:
        if base in _PLAIN:
            return _PLAIN[base]
    return "java.util.LinkedHashSet" if isinstance(value, java.OrderedSet) else None


def _ordinal(value: Any, name: str) -> bytes:
    declaration = cast(Declaration, declaration_of(name))
    if type(value) is not declaration.python:
        raise _wrong(value, name)
    return varint(declaration.members.index(value))


def _check_allowed(number: int, value: Any, declared: str) -> None:
    if number not in types.allowed_in(declared):
        raise _wrong(value, declared)


def _wrong(value: Any, name: str) -> Unencodable:
    return Unencodable(f"{type_name(value)} cannot be a {name}")
