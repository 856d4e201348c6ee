"""Lists and queues of java.util."""

from __future__ import annotations

from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.serialization.collection_handlers import (
    HELPERS,
    OBJECTS,
    UTIL,
    comparator_content,
    comparator_of,
    counted,
    list_handler,
    size_and_items,
)
from redisson_dq.codecs.serialization.fitting import primitive
from redisson_dq.codecs.serialization.handler import ClassHandler, Data, array_field, field, int_bytes, put
from redisson_dq.codecs.serialization.protocols import DecoderProtocol, EncoderProtocol
from redisson_dq.codecs.serialization.stream import ArrayInstance, Content, Instance
from redisson_dq.codecs.sorting import sorted_contents
from redisson_dq.java.arrays import component_code

__all__ = ["HANDLERS", "fill_priority_queue", "write_priority_queue"]


def _vector_contents(node: Instance) -> list[Content]:
    items = array_field(node, "elementData", OBJECTS)
    count = field(node, "elementCount", int)
    if not 0 <= count <= len(items):
        raise Malformed("a Vector of fewer elements than it says", node.offset)
    found: list[Content] = items[:count]
    return found


def _vector_values(value: Any, encoder: EncoderProtocol) -> dict[str, Content]:
    capacity: int | None = getattr(value, "capacity", None)
    if capacity is None or capacity < len(value):
        capacity = 10
        while capacity < len(value):
            capacity *= 2
    items = [*encoder.contents(value), *[None] * (capacity - len(value))]
    return {
        "capacityIncrement": primitive(getattr(value, "increment", 0), "int"),
        "elementCount": len(value),
        "elementData": encoder.array(OBJECTS, items),
    }


def _vector_handler(name: str, kind: Any) -> ClassHandler:
    def make(node: Instance) -> Any:
        return kind((), len(array_field(node, "elementData", OBJECTS)), field(node, "capacityIncrement", int))

    return list_handler(name, kind, _vector_contents, lambda _value, _encoder: [], _vector_values, make)


def _read_priority_queue(node: Instance, decoder: DecoderProtocol) -> Any:
    return fill_priority_queue(decoder.begin(node, java.PriorityQueue()), node, decoder)


def fill_priority_queue(made: Any, node: Instance, decoder: DecoderProtocol) -> Any:
    """Give a queue the comparator and the elements of a PriorityQueue, and return it."""
    made.comparator = comparator_of(field(node, "comparator", object, None), node)
    data = Data(node, UTIL + "PriorityQueue")
    data.integer()
    decoder.fill(made, data.contents(field(node, "size", int)))
    return made


def write_priority_queue(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    """Give a PriorityQueue the elements of a queue. Java rebuilds the heap."""
    items = sorted_contents(value, UTIL + "PriorityQueue", trusted=True)
    put(
        node,
        {"size": len(items), "comparator": comparator_content(value, encoder)},
        [int_bytes(max(2, len(items) + 1)), *encoder.contents(items)],
    )


def _read_array_as_list(node: Instance, decoder: DecoderProtocol) -> Any:
    array = field(node, "a", ArrayInstance)
    try:
        component = array.desc.component
    except ValueError as error:
        raise Malformed(str(error), node.offset) from error
    if not isinstance(array.items, list):
        raise Malformed("a list around an array of numbers", node.offset)
    decoder.spend(len(array.items), node)
    made = decoder.begin(node, java.ArrayAsList((), component))
    decoder.fill(made, array.items)
    return made


def _write_array_as_list(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    put(node, {"a": encoder.array("[" + component_code(value.component), encoder.elements(value, value.component))})


def _read_copies(node: Instance, decoder: DecoderProtocol) -> list[Any]:
    count = field(node, "n", int)
    if count < 0:
        raise Malformed("a list of fewer elements than none", node.offset)
    decoder.spend(count, node)
    made: java.CopiesList[Any] = decoder.begin(node, java.CopiesList())
    made += decoder.values([field(node, "element", object, None)]) * count
    if not count:
        made.element = decoder.value(field(node, "element", object, None))
    return made


def _write_copies(node: Instance, value: java.CopiesList[Any], encoder: EncoderProtocol) -> None:
    if any(item is not value[0] and (type(item) is not type(value[0]) or item != value[0]) for item in value):
        raise Unencodable("a CopiesList of different elements: send a list")
    put(node, {"n": len(value), "element": encoder.content(value[0] if value else value.element)})


HANDLERS: tuple[ClassHandler, ...] = (
    list_handler(
        UTIL + "ArrayList", list, counted(UTIL + "ArrayList"), size_and_items, lambda value, _: {"size": len(value)}
    ),
    list_handler(UTIL + "LinkedList", java.LinkedList, counted(UTIL + "LinkedList"), size_and_items),
    list_handler(UTIL + "ArrayDeque", java.ArrayDeque, counted(UTIL + "ArrayDeque"), size_and_items),
    _vector_handler(UTIL + "Vector", java.Vector),
    _vector_handler(UTIL + "Stack", java.Stack),
    ClassHandler(UTIL + "PriorityQueue", _read_priority_queue, java.PriorityQueue, write_priority_queue, identity=True),
    ClassHandler(UTIL + "Arrays$ArrayList", _read_array_as_list, java.ArrayAsList, _write_array_as_list, identity=True),
    ClassHandler(HELPERS + "CopiesList", _read_copies, java.CopiesList, _write_copies, identity=True),
)
