"""Maps of java.util."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.serialization.hashing import (
    concurrent_hash_map_capacity,
    hash_map_capacity,
    hash_map_order,
    hashtable_order,
)
from redisson_dq.codecs.serialization.rows import Data, Row, field, int_bytes, put
from redisson_dq.codecs.serialization.shapes import (
    LOAD_FACTOR,
    UTIL,
    key_of,
    map_row,
    pairs_of,
    size_and_pairs,
    sorted_map_row,
    two_ints,
)
from redisson_dq.codecs.serialization.stream import Content, Instance

if TYPE_CHECKING:
    from redisson_dq.codecs.serialization.decoder import Decoder
    from redisson_dq.codecs.serialization.encoder import Encoder

__all__ = ["ROWS"]


def _hash_map_contents(node: Instance) -> list[Content]:
    data = Data(node, UTIL + "HashMap")
    _buckets, size = data.unpack(">ii")
    return data.contents(2 * size)


def _hash_map_values(value: Any) -> dict[str, Content]:
    threshold = hash_map_capacity(len(value)) * 3 // 4 if value else 0
    return {"loadFactor": LOAD_FACTOR, "threshold": threshold}


def _linked_hash_map_annotation(value: Any, encoder: Encoder) -> list[Content]:
    return [two_ints(hash_map_capacity(len(value)), len(value)), *encoder.pairs(pairs_of(value))]


def _hash_map_annotation(value: Any, encoder: Encoder) -> list[Content]:
    capacity = hash_map_capacity(len(value))
    return [two_ints(capacity, len(value)), *encoder.pairs(hash_map_order(pairs_of(value), key_of, capacity))]


def _hashtable_contents(node: Instance) -> list[Content]:
    data = Data(node, UTIL + "Hashtable")
    _length, size = data.unpack(">ii")
    return data.contents(2 * size)


def _hashtable_capacity(size: int) -> int:
    capacity = 11
    while size > capacity * 3 // 4:
        capacity = 2 * capacity + 1
    return capacity


def _hashtable_values(value: Any) -> dict[str, Content]:
    return {"loadFactor": LOAD_FACTOR, "threshold": _hashtable_capacity(len(value)) * 3 // 4}


def _hashtable_annotation(value: Any, encoder: Encoder) -> list[Content]:
    capacity = _hashtable_capacity(len(value))
    return [two_ints(capacity, len(value)), *encoder.pairs(hashtable_order(pairs_of(value), key_of, capacity))]


def _properties_length(size: int) -> int:
    """The length of the table that a Hashtable would have made of so many entries."""
    length = size * 4 // 3 + size // 20 + 3
    return length - 1 if length > size and length % 2 == 0 else length


def _properties_values(value: Any) -> dict[str, Content]:
    return {"loadFactor": LOAD_FACTOR, "threshold": _properties_length(len(value)) * 3 // 4}


def _properties_annotation(value: Any, encoder: Encoder) -> list[Content]:
    ordered = hash_map_order(pairs_of(value), key_of, concurrent_hash_map_capacity(len(value)))
    return [two_ints(_properties_length(len(value)), len(value)), *encoder.pairs(reversed(ordered))]


def _read_properties(node: Instance, decoder: Decoder) -> Any:
    if field(node, "defaults", object, None) is not None:
        raise Malformed("Properties with defaults", node.offset)
    return decoder.map(node, UTIL + "Properties", java.Properties, _hashtable_contents(node))


def _tree_map_contents(node: Instance) -> list[Content]:
    data = Data(node, UTIL + "TreeMap")
    return data.contents(2 * data.integer())


def _identity_map_contents(node: Instance) -> list[Content]:
    data = Data(node, UTIL + "IdentityHashMap")
    return data.contents(2 * data.integer())


def _read_enum_map(node: Instance, decoder: Decoder) -> Any:
    element = decoder.enum_class(field(node, "keyType", object, None), node)
    data = Data(node, UTIL + "EnumMap")
    contents = data.contents(2 * data.integer())
    return decoder.map(node, UTIL + "EnumMap", lambda items: java.EnumMap(element, items), contents)


def _write_enum_map(node: Instance, value: Any, encoder: Encoder) -> None:
    declaration = encoder.declaration(value.element)
    if not all(isinstance(key, value.element) for key in value):
        raise Unencodable(f"an EnumMap of {declaration.name} with a key that is none of its constants")
    ordered = sorted(value.items(), key=lambda pair: declaration.members.index(pair[0]))
    contents = [int_bytes(len(value)), *encoder.pairs(ordered)]
    put(node, {"keyType": encoder.class_object(declaration.name)}, contents)


ROWS: tuple[Row, ...] = (
    map_row(UTIL + "HashMap", java.HashMap, _hash_map_contents, _hash_map_annotation, _hash_map_values),
    map_row(UTIL + "LinkedHashMap", dict, _hash_map_contents, _linked_hash_map_annotation, _hash_map_values),
    map_row(UTIL + "Hashtable", java.Hashtable, _hashtable_contents, _hashtable_annotation, _hashtable_values),
    map_row(
        UTIL + "IdentityHashMap",
        java.IdentityHashMap,
        _identity_map_contents,
        size_and_pairs,
        lambda value: {"size": len(value)},
    ),
    Row(
        UTIL + "Properties",
        _read_properties,
        java.Properties,
        lambda node, value, encoder: put(node, _properties_values(value), _properties_annotation(value, encoder)),
        identity=True,
    ),
    sorted_map_row(UTIL + "TreeMap", java.TreeMap, _tree_map_contents, size_and_pairs),
    Row(UTIL + "EnumMap", _read_enum_map, java.EnumMap, _write_enum_map, identity=True),
)
