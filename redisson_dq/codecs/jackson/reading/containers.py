"""Containers: lists, sets, maps, arrays, views, and the collections of an enum."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Malformed
from redisson_dq.codecs.floats import double_text
from redisson_dq.codecs.jackson.keys import map_key
from redisson_dq.codecs.jackson.node import Number, Object, array_node, object_node
from redisson_dq.codecs.jackson.reading.doubts import Doubt
from redisson_dq.codecs.jackson.reading.protocol import NodeReaderProtocol
from redisson_dq.codecs.jackson.refusals import other_typing, unknown
from redisson_dq.codecs.jackson.scalar_values import SCALARS
from redisson_dq.codecs.jackson.types import declared_component, key_and_value_of
from redisson_dq.java.arrays import array_of, component_of
from redisson_dq.java.collections import COLLECTIONS, map_of, set_of
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.lists import ListOf
from redisson_dq.java.registry import declaration_of
from redisson_dq.java.signatures import OBJECT, Signature

__all__ = [
    "array",
    "collection_of_items",
    "entries",
    "enum_collection",
    "items",
    "map_of_entries",
    "property_text",
    "viewed_class",
    "without_class",
]

#: Reads a part of a container: called with the reader, a node, its declared type and its depth.
_PartRead = Callable[[Any, Any, Signature, int], Any]

_PLAIN_ARRAYS = frozenset(("[I", "[J", "[S", "[Z", "[D", "[F", "[Ljava.lang.String;"))
#: How these values become texts in Properties.
_TEXT_OF: dict[type, Callable[[Any], str]] = {
    bool: lambda value: "true" if value else "false",
    int: str,
    float: double_text,
}
#: If one of these follows, a text is the name of a class and not an element of a list.
_NAMED = frozenset((list, Object, int, Number))
_VIEW = re.compile(
    r"java\.util\.Collections\$(?:Unmodifiable|Synchronized)"
    r"(?:(Collection|List|RandomAccessList)|((?:Sorted|Navigable)?Set)|((?:Sorted|Navigable)?Map))"
)


# -- the parts -------------------------------------------------------------------------------------------------------


def items(
    reader: NodeReaderProtocol, nodes: list[Any], declared: Signature, depth: int, read: _PartRead | None = None
) -> Any:
    """The values of an array's nodes. ``read`` reads one, by default the reader's own function."""
    if depth > MAX_DEPTH:
        raise Malformed(TOO_DEEP)
    read = read or type(reader).read
    values: list[Any] = []
    try:
        for node in nodes:
            values.append(read(reader, node, declared, depth + 1))
    except Malformed as error:
        error.inside(len(values))
        raise
    return values


def entries(
    reader: NodeReaderProtocol,
    node: Iterable[tuple[str, Any]],
    declared_key: Signature,
    declared_value: Signature,
    depth: int,
    read: _PartRead | None = None,
) -> list[tuple[Any, Any]]:
    """The keys and values in an object's node, in order. ``read`` reads one value."""
    if depth > MAX_DEPTH:
        raise Malformed(TOO_DEEP)
    read = read or type(reader).read
    plain = declared_key.name == OBJECT.name
    pairs = []
    key = ""
    try:
        for key, item in node:
            read_key = key if plain else _key(reader, key, declared_key.name)
            pairs.append((read_key, read(reader, item, declared_value, depth + 1)))
    except Malformed as error:
        error.inside(key)
        raise
    return pairs


def _key(reader: NodeReaderProtocol, text: str, name: str) -> Any:
    found = reader.keys.get((text, name))
    if found is None:
        found = reader.keys[text, name] = map_key(text, name, reader.dialect)
        if type(found) is not str and str(found) != text and not isinstance(found, Enum):
            reader.doubts.note(Doubt.KEY, text)
    return found


def property_text(reader: NodeReaderProtocol, node: Any, declared: Signature, depth: int) -> Any:
    """A value of ``java.util.Properties``. Java reads a number there as a text."""
    if type(node) in _TEXT_OF or type(node) is Number:  # noted before the doubts about the number itself
        reader.doubts.note(Doubt.PROPERTIES)
    value = reader.read(node, declared, depth)
    text_of = _TEXT_OF.get(type(value))
    if text_of is None:
        return value
    reader.doubts.note(Doubt.PROPERTIES)
    return text_of(value)


def _is_class(name: Any) -> bool:
    """Whether a text is the name of a known class."""
    return type(name) is str and (name in SCALARS or name in COLLECTIONS or declaration_of(name) is not None)


# -- containers of known parts ---------------------------------------------------------------------------------------


def without_class(reader: NodeReaderProtocol, node: Any, depth: int) -> Any:
    """A list or a dict without its class; any other value unchanged."""
    kind = type(node)
    if kind is list:
        if len(node) == 2 and not reader.dialect.typed and type(node[1]) in _NAMED and _is_class(node[0]):
            raise other_typing(node[0], wrapped=True)
        return items(reader, node, OBJECT, depth)
    if kind is Object:
        pairs = entries(reader, node, OBJECT, OBJECT, depth)
        found = dict(pairs)
        if len(found) != len(pairs):
            reader.doubts.note(Doubt.KEY_TWICE)
        return found
    return reader.number(node)


def map_of_entries(
    reader: NodeReaderProtocol, name: str, kind: Any, declared_key: Signature, pairs: list[tuple[Any, Any]]
) -> Any:
    """The map of this class with these entries. If a key occurs twice, Java keeps the last entry."""
    if declared_key is not OBJECT:
        reader.hashes.check([key for key, _ in pairs])
    unique = list(dict(pairs).items())
    if len(unique) != len(pairs):
        reader.doubts.note(Doubt.KEY_TWICE)
    return map_of(name, kind, unique)


def collection_of_items(reader: NodeReaderProtocol, name: str, kind: Any, values: list[Any]) -> Any:
    """The list or the set of this class with these elements."""
    if kind is list:
        return values
    if issubclass(kind, list):
        made = kind(values)
        if isinstance(made, ListOf):
            made.of_class(name)
        return made
    reader.hashes.check(values, kind=kind)
    return set_of(name, kind, values)


# -- containers that are read here -----------------------------------------------------------------------------------


def array(reader: NodeReaderProtocol, name: str, node: Any, declared: Signature, depth: int) -> Any:
    """An array of the class ``name``."""
    try:
        component = component_of(name)
    except ValueError as error:
        raise unknown(name) from error
    if name not in _PLAIN_ARRAYS:
        reader.doubts.note(Doubt.NAMED_IN_COLLECTION, name)
    return array_of(component, items(reader, array_node(name, node), declared_component(name, declared), depth))


def viewed_class(name: str) -> str:
    """The class of the collection in a view of ``java.util.Collections``. Empty if ``name`` is not that of a view."""
    found = _VIEW.fullmatch(name)
    if found is None:
        return ""
    is_list, is_set, _ = found.groups()
    inner = "java.util.Tree" if "Sorted" in name or "Navigable" in name else "java.util.LinkedHash"
    return "java.util.ArrayList" if is_list else f"{inner}Set" if is_set else f"{inner}Map"


def enum_collection(
    reader: NodeReaderProtocol,
    name: str,
    declaration: Declaration,
    is_set: bool,
    node: Any,
    declared: Signature,
    depth: int,
) -> Any:
    """An EnumSet or an EnumMap of a declared enum."""
    element = Signature(declaration.name)
    if is_set:
        reader.doubts.note(Doubt.OTHER_CLASS, name)
        members = items(reader, array_node(name, node), element, depth, type(reader).declared_as)
        return java.EnumSet(declaration.python, members)
    declared_value = key_and_value_of(declared)[1]
    reader.doubts.note(Doubt.NAMED_IN_ENUM_MAP)
    pairs = entries(reader, object_node(name, node), element, declared_value, depth, _value_of_enum_map)
    return java.EnumMap(declaration.python, pairs)


def _value_of_enum_map(reader: NodeReaderProtocol, node: Any, declared: Signature, depth: int) -> Any:
    """A value of an EnumMap. Its class may precede it, because the map's name says Object instead of the value's
    type."""
    is_named = reader.dialect.typed and type(node) is list and len(node) == 2 and node[0] == declared.name
    return reader.read(node, OBJECT if is_named else declared, depth)
