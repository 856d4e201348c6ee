"""Maps of java.util."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.serialization.collection_handlers import (
    LOAD_FACTOR,
    UTIL,
    map_handler,
    size_and_pairs,
    sorted_map_handler,
    two_ints,
)
from redisson_dq.codecs.serialization.handler import ClassHandler, Data, field, int_bytes, put
from redisson_dq.codecs.serialization.protocols import DecoderProtocol, EncoderProtocol
from redisson_dq.codecs.serialization.stream import Content, Instance, OwnText
from redisson_dq.java.hashing import hash_map_capacity, hashtable_capacity
from redisson_dq.java.tables import Table, pairs_in_order, remembered_table

__all__ = ["HANDLERS"]


def _table_handler(name: str, kind: Any, java_class: str, usual: Callable[[int], Table]) -> ClassHandler:
    """The handler of a map that writes the length of its table, its load factor and its threshold.

    ``usual`` computes the table of a map to which ``count`` entries were added one by one.
    """

    def read(node: Instance, decoder: DecoderProtocol) -> Any:
        if field(node, "defaults", object, None) is not None:
            raise Malformed("Properties with defaults", node.offset)
        data = Data(node, java_class)
        capacity, size = data.unpack(">ii")
        contents = data.contents(2 * size)
        order = field(node, "accessOrder", bool, False)
        table = Table((), capacity, field(node, "loadFactor", float), field(node, "threshold", int), order)
        made = java.LinkedHashMap if kind is dict and table != usual(size) else kind
        return decoder.map(node, name, made, contents, table)

    def write(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
        table = remembered_table(value)
        if table is None or table.capacity is None:
            table = usual(len(value))
        values = {"loadFactor": table.load_factor, "threshold": table.threshold, "accessOrder": table.access_order}
        put(node, values, [two_ints(table.capacity, len(value)), *encoder.pairs(pairs_in_order(value))])

    return ClassHandler(name, read, kind, write, identity=True)


def _hash_map_table(size: int) -> Table:
    capacity = hash_map_capacity(size)
    return Table((), capacity, LOAD_FACTOR, capacity * 3 // 4 if size else 0)


def _hashtable_table(size: int) -> Table:
    capacity = hashtable_capacity(size)
    return Table((), capacity, LOAD_FACTOR, capacity * 3 // 4)


def _properties_table(size: int) -> Table:
    """The table that a Hashtable would have for ``count`` entries."""
    length = size * 4 // 3 + size // 20 + 3
    length -= length > size and length % 2 == 0
    return Table((), length, LOAD_FACTOR, length * 3 // 4)


def _tree_map_contents(node: Instance) -> list[Content]:
    data = Data(node, UTIL + "TreeMap")
    return data.contents(2 * data.integer())


def _identity_map_contents(node: Instance) -> list[Content]:
    data = Data(node, UTIL + "IdentityHashMap")
    return data.contents(2 * data.integer())


def _identity_map_annotation(value: Any, encoder: EncoderProtocol) -> list[Content]:
    """Writes equal texts among the keys as different objects, because Java refuses a key that is already in the map."""
    contents = size_and_pairs(value, encoder)
    seen: set[str] = set()
    for index in range(1, len(contents), 2):
        key = contents[index]
        if type(key) is str:
            if key in seen:
                contents[index] = OwnText(key)
            seen.add(key)
    return contents


def _read_enum_map(node: Instance, decoder: DecoderProtocol) -> Any:
    element = decoder.enum_class(field(node, "keyType", object, None), node)
    data = Data(node, UTIL + "EnumMap")
    contents = data.contents(2 * data.integer())
    return decoder.map(node, UTIL + "EnumMap", lambda items: java.EnumMap(element, items), contents)


def _write_enum_map(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    declaration = encoder.declaration(value.element)
    if not all(isinstance(key, value.element) for key in value):
        raise Unencodable(f"an EnumMap of {declaration.name} with a key that is none of its constants")
    ordered = sorted(value.items(), key=lambda pair: declaration.members.index(pair[0]))
    contents = [int_bytes(len(value)), *encoder.pairs(ordered)]
    put(node, {"keyType": encoder.class_object(declaration.name)}, contents)


HANDLERS: tuple[ClassHandler, ...] = (
    _table_handler(UTIL + "HashMap", java.HashMap, UTIL + "HashMap", _hash_map_table),
    _table_handler(UTIL + "LinkedHashMap", dict, UTIL + "HashMap", _hash_map_table),
    _table_handler(UTIL + "Hashtable", java.Hashtable, UTIL + "Hashtable", _hashtable_table),
    _table_handler(UTIL + "Properties", java.Properties, UTIL + "Hashtable", _properties_table),
    map_handler(
        UTIL + "IdentityHashMap",
        java.IdentityHashMap,
        _identity_map_contents,
        _identity_map_annotation,
        lambda value: {"size": len(value)},
    ),
    sorted_map_handler(
        UTIL + "TreeMap",
        java.TreeMap,
        _tree_map_contents,
        lambda pairs, encoder: [int_bytes(len(pairs)), *encoder.pairs(pairs)],
    ),
    ClassHandler(UTIL + "EnumMap", _read_enum_map, java.EnumMap, _write_enum_map, identity=True),
)
