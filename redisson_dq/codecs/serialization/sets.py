"""Sets of java.util."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from redisson_dq import java
from redisson_dq.codecs.serialization.hashing import hash_map_capacity, hash_map_order
from redisson_dq.codecs.serialization.rows import Data, Row, array_field, field, int_bytes, put
from redisson_dq.codecs.serialization.shapes import (
    LOAD_FACTOR,
    UTIL,
    comparator_content,
    comparator_of,
    itself,
    set_row,
    with_comparator,
)
from redisson_dq.codecs.serialization.stream import Content, Instance

if TYPE_CHECKING:
    from redisson_dq.codecs.serialization.decoder import Decoder
    from redisson_dq.codecs.serialization.encoder import Encoder

__all__ = ["ROWS"]


def _hash_set_contents(node: Instance) -> list[Content]:
    data = Data(node, UTIL + "HashSet")
    _capacity, _load_factor, size = data.unpack(">ifi")
    return data.contents(size)


def _hash_set_annotation(value: Any, encoder: Encoder) -> list[Content]:
    return _table_annotation(hash_map_order(value, itself, hash_map_capacity(len(value))), encoder)


def _table_annotation(value: Any, encoder: Encoder) -> list[Content]:
    head = struct.pack(">ifi", hash_map_capacity(len(value)), LOAD_FACTOR, len(value))
    return [head, *encoder.contents(value)]


def _read_tree_set(node: Instance, decoder: Decoder) -> Any:
    data = Data(node, UTIL + "TreeSet")
    comparator = comparator_of(data.content(), node)
    contents = data.contents(data.integer())
    return with_comparator(decoder.set(node, UTIL + "TreeSet", java.TreeSet, contents), comparator, node)


def _write_tree_set(node: Instance, value: Any, encoder: Encoder) -> None:
    put(node, {}, [comparator_content(value, encoder), int_bytes(len(value)), *encoder.contents(value)])


def _read_enum_set(node: Instance, decoder: Decoder) -> Any:
    element = decoder.enum_class(field(node, "elementType", object, None), node)
    contents = array_field(node, "elements", "[Ljava.lang.Enum;")
    decoder.spend(len(contents), node)
    return decoder.set(node, UTIL + "EnumSet", lambda items: java.EnumSet(element, items), contents)


def _write_enum_set(node: Instance, value: Any, encoder: Encoder) -> None:
    members = encoder.declaration(value.element).members
    ordered = sorted(value, key=members.index) if value <= set(members) else value
    contents = encoder.elements(ordered, encoder.declaration(value.element).name)
    put(
        node,
        {
            "elementType": encoder.class_object(encoder.declaration(value.element).name),
            "elements": encoder.array("[Ljava.lang.Enum;", contents),
        },
    )


ROWS: tuple[Row, ...] = (
    set_row(UTIL + "HashSet", set, _hash_set_contents, _hash_set_annotation),
    set_row(UTIL + "LinkedHashSet", java.LinkedHashSet, _hash_set_contents, _table_annotation),
    Row(UTIL + "TreeSet", _read_tree_set, java.TreeSet, _write_tree_set, identity=True),
    Row(UTIL + "EnumSet$SerializationProxy", _read_enum_set, java.EnumSet, _write_enum_set, identity=True),
)
