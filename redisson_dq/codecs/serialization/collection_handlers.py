"""The common parts of the handlers of lists, sets and maps."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import attrs

from redisson_dq.codecs.faults import Malformed, shorten
from redisson_dq.codecs.serialization.handler import ClassHandler, Data, field, int_bytes, put
from redisson_dq.codecs.serialization.protocols import DecoderProtocol, EncoderProtocol
from redisson_dq.codecs.serialization.stream import Content, EnumConstant, Instance
from redisson_dq.codecs.sorting import sorted_contents
from redisson_dq.java.orders import Comparator
from redisson_dq.java.tables import in_order, pairs_in_order

__all__ = [
    "COMPARATOR_HANDLERS",
    "CONCURRENT",
    "HELPERS",
    "LOAD_FACTOR",
    "OBJECTS",
    "UTIL",
    "Contents",
    "comparator_content",
    "comparator_of",
    "counted",
    "items_and_null",
    "list_handler",
    "map_handler",
    "null_ended",
    "part",
    "size_and_items",
    "size_and_pairs",
    "sorted_map_handler",
    "two_ints",
    "with_comparator",
]

UTIL = "java.util."

CONCURRENT = "java.util.concurrent."

HELPERS = "java.util.Collections$"

OBJECTS = "[Ljava.lang.Object;"

LOAD_FACTOR = 0.75

two_ints = struct.Struct(">ii").pack

Contents = Callable[[Instance], "list[Content]"]


def counted(java_class: str) -> Contents:
    """An int, and as many elements."""

    def contents(node: Instance) -> list[Content]:
        data = Data(node, java_class)
        return data.contents(data.integer())

    return contents


def null_ended(java_class: str) -> Contents:
    """The elements and a null."""
    return lambda node: Data(node, java_class).up_to_null()


def part(node: Instance, name: str, java_class: str, decoder: DecoderProtocol) -> Instance:
    """The collection inside another one, which takes over its elements."""
    found: Instance = field(node, name, Instance)
    section = found.sections.get(java_class)
    if section is None:
        raise Malformed(f"class {shorten(node.desc.name, 200)} without its field {name}", node.offset)
    decoder.spend(len(section.annotation), node)
    return found


def size_and_items(value: Any, encoder: EncoderProtocol) -> list[Content]:
    return [int_bytes(len(value)), *encoder.contents(in_order(value))]


def items_and_null(value: Any, encoder: EncoderProtocol) -> list[Content]:
    return [*encoder.contents(value), None]


def size_and_pairs(value: Any, encoder: EncoderProtocol) -> list[Content]:
    return [int_bytes(len(value)), *encoder.pairs(pairs_in_order(value))]


def list_handler(
    name: str,
    kind: type,
    contents: Contents,
    annotation: Callable[[Any, EncoderProtocol], list[Content]],
    values: Callable[[Any, EncoderProtocol], dict[str, Content]] = lambda _value, _encoder: {},
    make: Callable[[Instance], Any] | None = None,
) -> ClassHandler:
    """The handler of a list class whose writeObject writes its elements. ``make`` makes the empty list."""

    def read(node: Instance, decoder: DecoderProtocol) -> Any:
        made = decoder.begin(node, kind() if make is None else make(node))
        decoder.fill(made, contents(node))
        return made

    def write(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
        put(node, values(value, encoder), annotation(value, encoder))

    return ClassHandler(name, read, kind, write, identity=True)


def map_handler(
    name: str,
    kind: Any,
    contents: Contents,
    annotation: Callable[[Any, EncoderProtocol], list[Content]],
    values: Callable[[Any], dict[str, Content]] = lambda _value: {},
) -> ClassHandler:
    def read(node: Instance, decoder: DecoderProtocol) -> Any:
        return decoder.map(node, name, kind, contents(node))

    def write(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
        put(node, values(value), annotation(value, encoder))

    return ClassHandler(name, read, kind, write, identity=True)


def sorted_map_handler(
    name: str, kind: Any, contents: Contents, write: Callable[[list[Any], EncoderProtocol], list[Content]]
) -> ClassHandler:
    """The handler of a sorted map. ``write`` gives the contents for its pairs in order."""

    def read(node: Instance, decoder: DecoderProtocol) -> Any:
        comparator = comparator_of(field(node, "comparator", object, None), node)
        found = contents(node)
        if len(found) % 2:
            raise Malformed("a map with a key that has no value", node.offset)
        return with_comparator(decoder.map(node, name, kind, found), comparator)

    def write_map(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
        pairs = sorted_contents(value, name, trusted=True)
        put(node, {"comparator": comparator_content(value, encoder)}, write(pairs, encoder))

    return ClassHandler(name, read, kind, write_map, identity=True)


# Comparators

_COMPARATORS = {comparator.value: comparator for comparator in Comparator}


def comparator_of(content: Content, node: Instance) -> Comparator | None:
    """The comparator of a sorted collection, if it is a known one."""
    if content is None:
        return None
    name = content.desc.name if isinstance(content, (Instance, EnumConstant)) else "no object"
    if name not in _COMPARATORS:
        raise Malformed(f"a sorted collection with a comparator of its own, {shorten(name, 200)}", node.offset)
    return _COMPARATORS[name]


def comparator_content(value: Any, encoder: EncoderProtocol) -> Content:
    """The content of a sorted collection's comparator. A type without one is in natural order."""
    return encoder.content(getattr(value, "comparator", None))


def with_comparator(made: Any, comparator: Comparator | None) -> Any:
    """The collection with the comparator by which Java has sorted it."""
    if comparator is not None:
        made.comparator = comparator
    made.table = attrs.evolve(made.table, order=comparator or Comparator.NATURAL_ORDER)
    return made


COMPARATOR_HANDLERS: tuple[ClassHandler, ...] = tuple(
    ClassHandler(comparator.value, lambda _node, _decoder, found=comparator: found)  # type: ignore[misc]
    for comparator in (Comparator.REVERSE_ORDER, Comparator.CASE_INSENSITIVE_ORDER)
)
