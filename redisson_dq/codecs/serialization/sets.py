"""Sets of java.util."""

from __future__ import annotations

import struct
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.serialization.collection_handlers import (
    LOAD_FACTOR,
    UTIL,
    comparator_content,
    comparator_of,
    with_comparator,
)
from redisson_dq.codecs.serialization.handler import ClassHandler, Data, array_field, field, int_bytes, put
from redisson_dq.codecs.serialization.protocols import DecoderProtocol, EncoderProtocol
from redisson_dq.codecs.serialization.stream import Instance
from redisson_dq.codecs.sorting import sorted_contents
from redisson_dq.java.hashing import hash_map_capacity
from redisson_dq.java.tables import Table, in_order, remembered_table

__all__ = ["HANDLERS"]


def _hash_set_handler(name: str, kind: Any) -> ClassHandler:
    def read(node: Instance, decoder: DecoderProtocol) -> Any:
        data = Data(node, UTIL + "HashSet")
        capacity, load_factor, size = data.unpack(">ifi")
        table: Table | None = Table((), capacity, load_factor)
        if (capacity, load_factor) == (hash_map_capacity(max(size, 0)), LOAD_FACTOR):
            table = None  # written like a Python set
        return decoder.set(node, name, kind, data.contents(size), table)

    return ClassHandler(name, read, kind, _write_hash_set, identity=True)


def _write_hash_set(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    table = remembered_table(value)
    capacity = load_factor = None
    if table is not None:
        capacity, load_factor = table.capacity, table.load_factor
    head = struct.pack(
        ">ifi",
        hash_map_capacity(len(value)) if capacity is None else capacity,
        LOAD_FACTOR if load_factor is None else load_factor,
        len(value),
    )
    put(node, {}, [head, *encoder.contents(in_order(value))])


def _read_tree_set(node: Instance, decoder: DecoderProtocol) -> Any:
    data = Data(node, UTIL + "TreeSet")
    comparator = comparator_of(data.content(), node)
    contents = data.contents(data.integer())
    return with_comparator(decoder.set(node, UTIL + "TreeSet", java.TreeSet, contents), comparator)


def _write_tree_set(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    items = sorted_contents(value, UTIL + "TreeSet", trusted=True)
    put(node, {}, [comparator_content(value, encoder), int_bytes(len(items)), *encoder.contents(items)])


_ENUMS = "[Ljava.lang.Enum;"


def _read_enum_set(node: Instance, decoder: DecoderProtocol) -> Any:
    element = decoder.enum_class(field(node, "elementType", object, None), node)
    contents = array_field(node, "elements", _ENUMS)
    decoder.spend(len(contents), node)
    return decoder.set(node, UTIL + "EnumSet", lambda items: java.EnumSet(element, items), contents)


def _write_enum_set(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    members = encoder.declaration(value.element).members
    ordered = sorted(value, key=members.index) if value <= set(members) else value
    name = encoder.declaration(value.element).name
    contents = encoder.elements(ordered, name)
    # Java shares one array among all empty EnumSets.
    elements = encoder.array(_ENUMS, contents) if contents else encoder.once(_ENUMS, lambda: encoder.array(_ENUMS, ()))
    put(node, {"elementType": encoder.class_object(name), "elements": elements})


HANDLERS: tuple[ClassHandler, ...] = (
    _hash_set_handler(UTIL + "HashSet", set),
    _hash_set_handler(UTIL + "LinkedHashSet", java.LinkedHashSet),
    ClassHandler(UTIL + "TreeSet", _read_tree_set, java.TreeSet, _write_tree_set, identity=True),
    ClassHandler(UTIL + "EnumSet$SerializationProxy", _read_enum_set, java.EnumSet, _write_enum_set, identity=True),
)
