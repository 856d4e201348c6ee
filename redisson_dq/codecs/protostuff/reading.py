"""From protostuff's bytes to values."""

from __future__ import annotations

import struct
from typing import Any, cast

from redisson_dq.codecs.faults import TOO_DEEP, Malformed, shorten, undeclared
from redisson_dq.codecs.protostuff import types
from redisson_dq.codecs.protostuff.jdk import JDK
from redisson_dq.codecs.protostuff.scalars import ARRAY_IDS, NAMES, SCALARS
from redisson_dq.codecs.protostuff.types import array_name, collected, is_boxed, kind_of
from redisson_dq.codecs.protostuff.wire import BYTES, Reader
from redisson_dq.java.arrays import array_of, component_code, component_of
from redisson_dq.java.collections import COLLECTIONS
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.numbers import INT_MAX, INT_MIN
from redisson_dq.java.registry import declaration_of
from redisson_dq.java.signatures import OBJECT, Signature

__all__ = ["value_of"]

_COMPONENTS = {number: component for component, number in ARRAY_IDS.items()}
_MAX_DIMENSIONS = 255


def value_of(data: bytes, *, name: str) -> Any:
    """The value of the class ``name``, declared or of java.time. Raises Malformed. O(size)."""
    reader = Reader(data)
    try:
        return _content(reader, name)
    except (IndexError, struct.error) as error:
        raise Malformed("the bytes end in the middle of the value", len(data)) from error
    except RecursionError as error:
        raise Malformed(TOO_DEEP) from error


def _content(reader: Reader, name: str) -> Any:
    """The object of a class, from the fields that follow."""
    kind = kind_of(name)
    if kind == "jdk":
        return _jdk(reader, name)
    if kind == "class":
        return _declared(reader, cast(Declaration, declaration_of(name)))
    shown = shorten(name, 200)
    if kind == "any" and declaration_of(name) is None:
        raise undeclared(name, reader.start)
    raise Malformed(f"an object of {shown}, which protostuff does not read back", reader.start)


def _jdk(reader: Reader, name: str) -> Any:
    parts = JDK[name]
    start = reader.start
    values = []
    for number, part in enumerate(parts.types, 1):
        _expect(reader, reader.next(), number)
        values.append(_value(reader, Signature(part)))
    reader.leave()
    try:
        return parts.join(*values)
    except (ValueError, OverflowError) as error:
        raise Malformed(f"not a {name}: {error}", start) from error


def _declared(reader: Reader, declaration: Declaration) -> Any:
    start = reader.start
    fields = types.message_fields(declaration)
    values: dict[str, Any] = {}
    lists: dict[str, list[Any]] = {}
    path: tuple[Any, ...] = ()
    try:
        for number in reader.fields():
            field = fields.get(number)
            if field is None:
                _unknown(reader, declaration)
            elif field.attribute in values:
                raise reader.fault(f"the field {field.name} twice")
            elif field.is_list:
                items = lists.setdefault(field.attribute, [])
                path = (len(items), field.name)
                items.append(_value(reader, types.element_type(field.type)))
            else:
                path = (field.name,)
                values[field.attribute] = _value(reader, field.type)
            path = ()
    except Malformed as error:
        _note(error, path)
        if path:
            error.in_field(declaration.name, path[-1])
        raise
    for field in fields.values():
        if field.attribute in lists:
            name = types.collection_made_for(field.type.name)
            values[field.attribute] = _collected(reader, name, lists[field.attribute])
        elif field.required and field.attribute not in values:
            values[field.attribute] = field.absent()
    try:
        return declaration.make(values)
    except ValueError as error:
        raise Malformed(str(error), start).of_classes((declaration.name,)) from error


def _note(fault: Malformed, path: tuple[Any, ...]) -> None:
    for step in path:
        fault.inside(step)


def _unknown(reader: Reader, declaration: Declaration) -> None:
    """Skip a field that only a newer version of the class has, like Java."""
    if reader.number == types.POJO and reader.wire == BYTES:
        raise reader.fault(
            f"the name of a class where the fields of {declaration.name} should be: if that is abstract in Java, "
            "derive the Python class from abc.ABC as well"
        )
    reader.skip()


def _value(reader: Reader, declared: Signature, *, in_map: bool = False) -> Any:
    """The value of a field or an element of the declared type."""
    name = declared.name
    scalar = SCALARS.get(name)
    if scalar is not None:
        return scalar.load(reader)
    kind = kind_of(name)
    if kind == "enum":
        return _constant(reader, name)
    if kind == "none":
        raise reader.fault(f"a {name}, which protostuff does not read back")
    reader.enter()
    if kind == "class":
        return _declared(reader, cast(Declaration, declaration_of(name)))
    if kind == "jdk":
        return _jdk(reader, name)
    if kind == "map":
        return _map(reader, types.collection_made_for(name), *types.entry_types(declared))
    if kind == "array":
        return _declared_array(reader, component_of(name), in_map=in_map)
    return _any(reader, name)


def _constant(reader: Reader, name: str) -> Any:
    declaration = declaration_of(name)
    if declaration is None or declaration.kind != "enum":
        raise undeclared(name, reader.start)
    ordinal = reader.signed(64, INT_MIN, INT_MAX)
    if not 0 <= ordinal < len(declaration.members):
        raise reader.fault(f"{name} has no constant {ordinal}").of_classes((name,))
    return declaration.members[ordinal]


# Values whose type is in the bytes, inside their group, which is open


def _any(reader: Reader, declared: str) -> Any:
    number = reader.next()
    if number not in types.allowed_in(declared):
        raise reader.fault(f"a value of protostuff's type {number}, which is not read as a {declared}")
    if number in NAMES:
        value = SCALARS[NAMES[number]].load(reader)
        reader.leave()
        return value
    if number == types.ARRAY_SCALAR:
        component = _COMPONENTS.get(reader.signed(32, 0, INT_MAX))
        if component is None:
            raise reader.fault("an array of a type that protostuff does not have")
        return _array(reader, component)
    start = reader.start
    name = reader.text()
    if number == types.POJO:
        return _content(reader, name)
    if number == types.ENUM:
        _expect(reader, reader.next(), 1)
        value = _constant(reader, name)
        reader.leave()
        return value
    if number == types.COLLECTION or number == types.MAP:
        full = types.FILLED.get(name)
        if full is None or types.is_map(full) != (number == types.MAP):
            raise Malformed(f"a collection of class {shorten(name, 200)}, which is not read", start)
        return (
            _map(reader, full, OBJECT, OBJECT) if number == types.MAP else _collected(reader, full, _elements(reader))
        )
    if number == types.ARRAY:
        return _object_array(reader, name)
    if kind_of(name) not in (("enum",) if number == types.ARRAY_ENUM else ("class", "jdk")):
        raise Malformed(f"an array of {shorten(name, 200)}, which is not declared", start)
    return _array(reader, name)


def _collected(reader: Reader, name: str, items: list[Any]) -> Any:
    """The collection of that class. Raises Malformed if too many of its keys or elements have the same hash."""
    if types.is_map(name):
        reader.hashes.check([key for key, _ in items], reader.start)
    elif not issubclass(COLLECTIONS[name], list):
        reader.hashes.check(items, reader.start, COLLECTIONS[name])
    return collected(name, items)


def _elements(reader: Reader) -> list[Any]:
    """The elements of a collection or an array, each with its type, up to the end of the group."""
    items: list[Any] = []
    try:
        for number in reader.fields():
            _expect(reader, number, 1)  # 2 is a count of nulls, which protostuff does not write by default
            items.append(_value(reader, OBJECT))
    except Malformed as error:
        error.inside(len(items))
        raise
    return items


def _map(reader: Reader, name: str, keys: Signature, values: Signature) -> Any:
    pairs: list[tuple[Any, Any]] = []
    key: Any = None
    try:
        for number in reader.fields():
            _expect(reader, number, 1)
            reader.enter()
            key = value = None
            for part in reader.fields():
                if part == 1 and key is None and value is None:
                    key = _value(reader, keys, in_map=True)
                elif part == 2 and value is None:
                    value = _value(reader, values, in_map=True)
                else:
                    raise reader.fault("an entry with something else than a key and a value")
            pairs.append((key, value))
    except Malformed as error:
        error.inside(key)
        raise
    return _collected(reader, name, pairs)


def _declared_array(reader: Reader, component: str, *, in_map: bool) -> Any:
    if kind_of(component) in ("scalar", "enum", "class", "jdk"):
        return _array(reader, component, in_map=in_map)
    _expect(reader, reader.next(), types.ARRAY)
    start = reader.start
    made = _object_array(reader, reader.text())
    if made.component != component:
        raise Malformed(f"an array of {shorten(made.component, 200)} where one of {component} should be", start)
    return made


def _array(reader: Reader, component: str, *, in_map: bool = False) -> Any:
    """An array after its type: its length, and elements of the component type.

    As a key or value of a declared map, a length below 0 distinguishes boxed numbers from primitive ones.
    """
    _expect(reader, reader.next(), 1)
    start = reader.start
    length = reader.signed(64, INT_MIN, INT_MAX)
    if in_map and is_boxed(component):
        length = -length - 1
    items: list[Any] = []
    try:
        for number in reader.fields():
            _expect(reader, number, 2)
            items.append(_value(reader, Signature(component)))
    except Malformed as error:
        error.inside(len(items))
        raise
    return _checked(array_of(component, items), length, start)


def _object_array(reader: Reader, name: str) -> Any:
    """An array after the name of its component: its length, its dimensions, and each element with its type."""
    start = reader.start
    _expect(reader, reader.next(), 3)
    length = reader.signed(32, 0, INT_MAX)
    _expect(reader, reader.next(), 2)
    dimensions = reader.signed(32, 1, _MAX_DIMENSIONS)
    component = name if dimensions == 1 else "[" * (dimensions - 1) + component_code(name)
    if not name or name.startswith("[") or kind_of(component) not in ("any", "list", "map", "array"):
        raise Malformed(f"an array of {shorten(name, 200)} whose elements have types of their own", start)
    items = _elements(reader)
    if dimensions > 1 and not all(array_name(item) == component for item in items):
        raise Malformed(f"an array of {shorten(component, 200)} that holds something else", start)
    return _checked(array_of(component, items), length, start)


def _checked(array: Any, length: int, start: int) -> Any:
    if len(array) != length:
        raise Malformed(f"{length} elements announced, {len(array)} there (protostuff drops nulls)", start)
    return array


def _expect(reader: Reader, number: int, expected: int) -> None:
    if number != expected:
        raise reader.fault(f"a field {number} where {expected} should be")
