"""Kotlin's own collections: empty ones, and those of buildList, buildSet and buildMap."""

from __future__ import annotations

from typing import Any

from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.serialization.handler import ClassHandler, Data, int_bytes, put
from redisson_dq.codecs.serialization.protocols import DecoderProtocol, EncoderProtocol
from redisson_dq.codecs.serialization.stream import Instance
from redisson_dq.java import kotlin
from redisson_dq.java.tables import pairs_in_order

__all__ = ["HANDLERS"]

_BUILDERS = "kotlin.collections.builders."
_LIST, _SET = 0, 1


def _empty(kind: Any) -> ClassHandler:
    def write(node: Instance, value: Any, _encoder: EncoderProtocol) -> None:
        if len(value):
            raise Unencodable(f"a {kind.java_name} with {len(value)} elements")
        put(node, {})

    return ClassHandler(kind.java_name, lambda _node, _decoder: kind(), kind, write)


def _read_collection(node: Instance, decoder: DecoderProtocol) -> Any:
    data = Data(node, _BUILDERS + "SerializedCollection")
    flags, count = data.unpack(">bi")
    contents = data.contents(count)
    if flags == _LIST:
        made = decoder.begin(node, kotlin.ListBuilder())
        decoder.fill(made, contents)
        return made
    if flags == _SET:
        return decoder.set(node, kotlin.SetBuilder.java_name, kotlin.SetBuilder, contents)
    raise Malformed(f"a built collection of kind {flags}", node.offset)


def _read_map(node: Instance, decoder: DecoderProtocol) -> Any:
    data = Data(node, _BUILDERS + "SerializedMap")
    flags, count = data.unpack(">bi")
    if flags:
        raise Malformed(f"a built map of kind {flags}", node.offset)
    return decoder.map(node, kotlin.MapBuilder.java_name, kotlin.MapBuilder, data.contents(2 * count))


def _writer(flags: int) -> Any:
    def write(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
        put(node, {}, [bytes((flags,)) + int_bytes(len(value)), *encoder.contents(value)])

    return write


def _write_map(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    put(node, {}, [b"\0" + int_bytes(len(value)), *encoder.pairs(pairs_in_order(value))])


HANDLERS: tuple[ClassHandler, ...] = (
    *map(_empty, (kotlin.EmptyList, kotlin.EmptySet, kotlin.EmptyMap)),
    ClassHandler(
        _BUILDERS + "SerializedCollection", _read_collection, kotlin.ListBuilder, _writer(_LIST), identity=True
    ),
    ClassHandler(_BUILDERS + "SerializedCollection", _read_collection, kotlin.SetBuilder, _writer(_SET), identity=True),
    ClassHandler(_BUILDERS + "SerializedMap", _read_map, kotlin.MapBuilder, _write_map, identity=True),
)
