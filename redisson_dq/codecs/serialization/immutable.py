"""List.of, Set.of, Map.of, the empty and one-element collections of java.util.Collections, and entries."""

from __future__ import annotations

from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.serialization.collection_handlers import (
    HELPERS,
    UTIL,
    counted,
    size_and_items,
)
from redisson_dq.codecs.serialization.handler import ClassHandler, field, int_bytes, put
from redisson_dq.codecs.serialization.protocols import DecoderProtocol, EncoderProtocol
from redisson_dq.codecs.serialization.stream import Instance
from redisson_dq.java.tables import pairs_in_order

__all__ = ["HANDLERS"]

# Collections without elements or with one


def _empty(name: str, kind: Any) -> ClassHandler:
    def write(node: Instance, value: Any, _encoder: EncoderProtocol) -> None:
        if len(value):
            raise Unencodable(f"a {kind.__name__} with elements")
        put(node, {})

    return ClassHandler(HELPERS + name, lambda _node, _decoder: kind(), kind, write)


def _only(value: Any) -> Any:
    if len(value) != 1:
        raise Unencodable(f"a {type(value).__name__} of {len(value)} elements")
    return next(iter(value))


def _read_singleton_list(node: Instance, decoder: DecoderProtocol) -> Any:
    made = decoder.begin(node, java.SingletonList())
    decoder.fill(made, [field(node, "element", object, None)])
    return made


def _read_singleton_set(node: Instance, decoder: DecoderProtocol) -> Any:
    contents = [field(node, "element", object, None)]
    return decoder.set(node, HELPERS + "SingletonSet", java.SingletonSet, contents)


def _write_singleton(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    put(node, {"element": encoder.contents([_only(value)])[0]})


def _read_singleton_map(node: Instance, decoder: DecoderProtocol) -> Any:
    contents = [field(node, "k", object, None), field(node, "v", object, None)]
    return decoder.map(node, HELPERS + "SingletonMap", java.SingletonMap, contents)


def _write_singleton_map(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    _only(value)
    key, item = encoder.pairs(pairs_in_order(value))
    put(node, {"k": key, "v": item})


# List.of, Set.of, Map.of

_LIST, _SET, _MAP, _LIST_WITH_NULLS = 1, 2, 3, 4


def _read_immutable(node: Instance, decoder: DecoderProtocol) -> Any:
    tag = field(node, "tag", int) & 0xFF
    contents = counted(UTIL + "CollSer")(node)
    if tag in (_LIST, _LIST_WITH_NULLS):
        made = decoder.begin(node, java.ListOf(nulls=tag == _LIST_WITH_NULLS))
        decoder.fill(made, contents)
        return made
    if tag == _SET:
        return decoder.set(node, UTIL + "ImmutableCollections$SetN", java.SetOf, contents)
    if tag == _MAP and len(contents) % 2 == 0:
        return decoder.map(node, UTIL + "ImmutableCollections$MapN", java.MapOf, contents)
    raise Malformed(f"an immutable collection of kind {tag}", node.offset)


def _write_list_of(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    nulls = getattr(value, "nulls", False) or any(item is None for item in value)
    tag = _LIST_WITH_NULLS if nulls else _LIST
    put(node, {"tag": tag}, size_and_items(value, encoder))


def _write_set_of(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    if any(item is None for item in value):
        raise Unencodable("a Set.of with null")
    put(node, {"tag": _SET}, size_and_items(value, encoder))


def _write_map_of(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    if any(key is None or item is None for key, item in pairs_in_order(value)):
        raise Unencodable("a Map.of with null")
    put(node, {"tag": _MAP}, [int_bytes(2 * len(value)), *encoder.pairs(pairs_in_order(value))])


# Single entries; the one of Map.entry is not Serializable


def _entry_handler(kind: Any) -> ClassHandler:
    def read(node: Instance, decoder: DecoderProtocol) -> Any:
        return kind(*decoder.values([field(node, "key", object, None), field(node, "value", object, None)]))

    def write(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
        key, item = encoder.pairs([(value.key, value.value)])
        put(node, {"key": key, "value": item})

    return ClassHandler(kind.java_name, read, kind, write, identity=True)


HANDLERS: tuple[ClassHandler, ...] = (
    _entry_handler(java.SimpleEntry),
    _entry_handler(java.SimpleImmutableEntry),
    _empty("EmptyList", java.EmptyList),
    _empty("EmptySet", java.EmptySet),
    _empty("EmptyMap", java.EmptyMap),
    ClassHandler(HELPERS + "SingletonList", _read_singleton_list, java.SingletonList, _write_singleton, identity=True),
    ClassHandler(HELPERS + "SingletonSet", _read_singleton_set, java.SingletonSet, _write_singleton, identity=True),
    ClassHandler(HELPERS + "SingletonMap", _read_singleton_map, java.SingletonMap, _write_singleton_map, identity=True),
    ClassHandler(UTIL + "CollSer", _read_immutable, java.ListOf, _write_list_of, identity=True),
    ClassHandler(UTIL + "CollSer", _read_immutable, java.SetOf, _write_set_of, identity=True),
    ClassHandler(UTIL + "CollSer", _read_immutable, java.MapOf, _write_map_of, identity=True),
)
