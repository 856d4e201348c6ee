"""Containers: lists, sets, maps, arrays, the collections of an enum, and classes that extend a collection."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Unencodable, no_java_type, unwritable
from redisson_dq.codecs.jackson.node import Object
from redisson_dq.codecs.jackson.types import declared_component, element_of, key_and_value_of, parts_of
from redisson_dq.codecs.jackson.writing.keys import declared_enum, key_of
from redisson_dq.codecs.jackson.writing.protocol import NodeWriterProtocol
from redisson_dq.codecs.java_limits import check_contents, check_fields
from redisson_dq.codecs.sorting import SORTED, refuse_comparator, sorted_contents
from redisson_dq.java.arrays import component_of
from redisson_dq.java.collections import COLLECTIONS
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.facts import SET_FROM_MAP
from redisson_dq.java.places import place_of, with_declared_parts
from redisson_dq.java.registry import declaration_of
from redisson_dq.java.signatures import OBJECT, Signature, array_signature
from redisson_dq.java.tables import in_order, pairs_in_order

__all__ = ["collection", "collection_name", "container", "entry_nodes", "item_nodes"]

#: Writes a part: called with its value, its declared type and its depth.
_PartWrite = Callable[[Any, Signature, int], Any]

#: The Java class of each plain collection.
_PLAIN = {
    **dict.fromkeys((list, tuple), "java.util.ArrayList"),
    **dict.fromkeys((set, frozenset), "java.util.HashSet"),
    dict: "java.util.LinkedHashMap",
}


#: The classes that hold nothing.
_EMPTY = java.kotlin.EMPTY | {java.CopiesList, java.EmptyList, java.EmptySet, java.EmptyMap}

#: Jackson reads all contents of these as texts.
_PROPERTIES = Signature("java.util.Properties", (Signature("java.lang.String"),) * 2)

#: The classes whose names are never written.
_NATURAL = frozenset(f"java.lang.{name}" for name in ("String", "Integer", "Double", "Boolean"))


def item_nodes(
    writer: NodeWriterProtocol,
    values: Iterable[Any],
    declared: Signature,
    depth: int,
    write: _PartWrite | None = None,
) -> list[Any]:
    """The nodes of a container's elements. ``write`` writes one, by default the writer's own function."""
    write = write or writer.write
    nodes: list[Any] = []
    try:
        for item in values:
            nodes.append(write(item, declared, depth + 1))
    except Unencodable as error:
        error.inside(len(nodes))
        raise
    except Exception as error:
        raise unwritable(error, len(nodes)) from error
    return nodes


def entry_nodes(
    writer: NodeWriterProtocol,
    pairs: Iterable[tuple[Any, Any]],
    declared: Signature,
    depth: int,
    *,
    named_keys: bool = False,
    write: _PartWrite | None = None,
) -> Object:
    """The node of a map's entries. ``named_keys``: keys need not be texts; they are written by their names in Java."""
    write = write or writer.write
    declared_key, declared_value = key_and_value_of(declared)
    named_keys = named_keys or declared_key.name != OBJECT.name
    key_place = place_of(declared_key)
    is_text = key_place is None or str in key_place.exact
    nodes: list[tuple[str, Any]] = []
    key = None
    try:
        for key, item in pairs:
            name = key if is_text and type(key) is str else key_of(writer, key, declared_key, named_keys)
            nodes.append((name, write(item, declared_value, depth + 1)))
    except Unencodable as error:
        error.inside(key)
        raise
    except Exception as error:
        raise unwritable(error, key) from error
    return Object(nodes)


def container(writer: NodeWriterProtocol, value: Any, declared: Signature, depth: int) -> Any:
    """The node of a container, an exception, or an object of an undeclared class. Raises Unencodable for anything
    else."""
    if depth > MAX_DEPTH:
        raise Unencodable(f"{TOO_DEEP} (does it contain itself?)")
    if isinstance(value, java.Array):
        return _array(writer, value, declared, depth)
    if type(value) in _EMPTY and len(value):
        raise Unencodable(f"a {value.java_name} with {len(value)} elements, which Java does not read: send a list")
    if isinstance(value, java.EnumSet):
        return _enum_set(writer, value, declared)
    if isinstance(value, java.EnumMap):
        return _enum_map(writer, value, declared, depth)
    if isinstance(value, dict):
        name = collection_name(value, declared)
        check_contents(value, name)
        refuse_comparator(value)
        return writer.with_name(
            name, entry_nodes(writer, pairs_in_order(value), _parts(writer, name, declared), depth), declared
        )
    if isinstance(value, java.Entries):
        name = value.java_name
        check_contents(value, name)
        return writer.with_name(name, entry_nodes(writer, value, _parts(writer, name, declared), depth), declared)
    if isinstance(value, (list, tuple, set, frozenset, java.OrderedSet)):
        name = collection_name(value, declared)
        check_contents(value, name)
        element = element_of(declared)
        has_order = name in SORTED and writer.dialect.typed and element == OBJECT
        refuse_comparator(value)
        elements = sorted_contents(value, name) if has_order else in_order(value)
        return writer.with_name(name, item_nodes(writer, elements, element, depth), declared)
    if isinstance(value, java.Throwable):
        return writer.with_name(value.java_name, writer.throwable(value, depth), declared)
    if isinstance(value, java.JavaObject):
        if value.data:
            raise Unencodable(f"{value.java_name} has data of its own, which Java's serialization alone carries")
        if value.java_name == SET_FROM_MAP:
            check_contents((), SET_FROM_MAP)
        content = writer.generic(value.fields, depth)
        return writer.with_name(value.java_name, content, declared) if value.java_name else content
    raise no_java_type(value)


def collection(
    writer: NodeWriterProtocol, value: Any, declaration: Declaration, declared: Signature, depth: int
) -> Any:
    """An object of a class that extends a collection: only its elements, because Java leaves its own fields out."""
    if depth > MAX_DEPTH:
        raise Unencodable(f"{TOO_DEEP} (does it contain itself?)")
    writer.check_json(declaration)
    check_fields(value, declaration)
    check_contents(value, declaration.extends)
    parts, are_others = parts_of(declaration, declared, writer.dialect.names)
    if are_others:
        value = with_declared_parts(value, declaration, declared, {})
    if isinstance(value, (dict, java.Entries)):
        parts = _parts(writer, declaration.extends, parts)
        return writer.with_name(declaration.name, entry_nodes(writer, pairs_in_order(value), parts, depth), declared)
    return writer.with_name(declaration.name, item_nodes(writer, in_order(value), element_of(parts), depth), declared)


def _enum_set(writer: NodeWriterProtocol, value: java.EnumSet[Any], declared: Signature) -> Any:
    declaration = declared_enum(value.element)
    if not value <= {*declaration.members}:
        raise Unencodable(f"an EnumSet of {declaration.name} with an element that is none of its constants")
    members = sorted(value, key=declaration.members.index)
    node = [writer.constant(member, declaration) for member in members]
    return writer.with_name(f"{value.java_name}<{declaration.name}>", node, declared)


def _enum_map(writer: NodeWriterProtocol, value: java.EnumMap[Any, Any], declared: Signature, depth: int) -> Any:
    declaration = declared_enum(value.element)
    if not value.keys() <= {*declaration.members}:
        raise Unencodable(f"an EnumMap of {declaration.name} with a key that is none of its constants")
    pairs = sorted(value.items(), key=lambda pair: declaration.members.index(pair[0]))
    name = f"{value.java_name}<{declaration.name},java.lang.Object>"
    # Its name says Object, so its values are written like objects of an unknown class.
    declared_key, declared_value = key_and_value_of(declared)
    place = place_of(declared_value)
    placed = pairs if place is None else ((key, place(item, {})) for key, item in pairs)
    objects = Signature(value.java_name, (declared_key, OBJECT if writer.dialect.typed else declared_value))
    return writer.with_name(name, entry_nodes(writer, placed, objects, depth, named_keys=True), declared)


def _array(writer: NodeWriterProtocol, value: java.Array[Any], declared: Signature, depth: int) -> Any:
    name = value.java_name
    try:
        component_of(name)
    except ValueError as error:
        raise Unencodable(str(error)) from error
    if name == "[B":
        return writer.with_name(name, bytes(item & 0xFF for item in value), declared)
    if name == "[C":
        return writer.with_name(name, _text_of_units(value), declared)
    component = declared_component(name, declared)
    elements: Iterable[Any] = value
    is_named = bool(component.arguments) and writer.dialect.names(array_signature(component))
    if is_named and all(_reads_named(writer, each) for each in component.arguments):
        # Java writes an element of a List<Order>[] by its own class only, and reads it as a List<Order>.
        place = place_of(component)
        elements = value if place is None else (place(item, {}) for item in value)
        # For a map, the declaration says how Java reads its keys.
        keys = (component.arguments[0], OBJECT) if len(component.arguments) == 2 else ()
        component = Signature(component.name, keys)
    return writer.with_name(name, item_nodes(writer, elements, component, depth), declared)


def _reads_named(writer: NodeWriterProtocol, declared: Signature) -> bool:
    """Whether Java, which writes a value of this declared type without a class name, also reads it with one."""
    declaration = declaration_of(declared.name)
    is_object = declaration is not None and declaration.kind in ("class", "record")
    return (is_object or declared.name in _NATURAL or writer.dialect.names(declared)) and all(
        _reads_named(writer, each) for each in declared.arguments
    )


def _parts(writer: NodeWriterProtocol, name: str, declared: Signature) -> Signature:
    """The type of a map of the class ``name``, as far as it affects how entries are written."""
    return _PROPERTIES if name == _PROPERTIES.name and (writer.dialect.typed or declared.name == name) else declared


def collection_name(value: Any, declared: Signature) -> str:
    """The Java class of a collection in a place of the type ``declared``."""
    name = getattr(value, "java_name", None)
    if isinstance(name, str):
        return name
    if declared.name in COLLECTIONS and not (declared.name == "java.util.HashMap" and isinstance(value, dict)):
        return declared.name
    for base in type(value).__mro__:
        if base in _PLAIN:
            return _PLAIN[base]
    return "java.util.LinkedHashSet"


def _text_of_units(units: Iterable[str]) -> str:
    """The text of a ``char[]``."""
    text = "".join(units)
    if any(len(unit) != 1 or unit > "\uffff" for unit in units):
        raise Unencodable("a char[] with an element that is not one UTF-16 unit: make it of the whole text")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
