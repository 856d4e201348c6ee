"""Java's arrays: a varint of the length + 1 (0 is null), then the elements.

The elements of a primitive array follow each other: int and long as zigzag varints, the others in their fixed size,
little endian. The elements of an array of a final class, and the arrays in an array, carry no class. Null is written in
the form of that class. The elements of any other array carry their class.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from redisson_dq.codecs.faults import Malformed, Unencodable, unwritable
from redisson_dq.codecs.kryo5.class_serializer import ClassSerializer, check_serializer
from redisson_dq.codecs.kryo5.protocols import ReaderProtocol, TypesProtocol, WriterProtocol
from redisson_dq.codecs.kryo5.scalars import (
    boolean_bytes,
    byte_bytes,
    character_bytes,
    double_bytes,
    float_bytes,
    integer_bytes,
    long_bytes,
    read_boolean,
    read_integer,
    read_plain_character,
    read_plain_long,
    short_bytes,
)
from redisson_dq.codecs.kryo5.wire import read_varint, varint
from redisson_dq.java.arrays import Array, array_of
from redisson_dq.java.places import place_of
from redisson_dq.java.signatures import Signature

__all__ = ["PRIMITIVES", "PRIMITIVE_BYTES", "array_reader", "array_writer"]

#: The layout of the elements that have a fixed size.
_FIXED = {"byte": "b", "short": "h", "float": "f", "double": "d"}
_EACH = {
    "int": read_integer,
    "long": read_plain_long,
    "boolean": read_boolean,
    "char": read_plain_character,
}
PRIMITIVES = frozenset((*_FIXED, *_EACH))


def _read_count(data: bytes, pos: int, size: int) -> tuple[int, int]:
    """The number of elements, each of at least ``size`` bytes, checked against the remaining bytes. -1 for null."""
    count, start = read_varint(data, pos)
    if (count - 1) * size > len(data) - start:
        raise Malformed(f"{count - 1} elements are announced, {len(data) - start} bytes are there", pos)
    return count - 1, start


def array_reader(component: str, types: TypesProtocol) -> Any:
    """The reader of the arrays of one component type."""
    if component in PRIMITIVES:
        return _primitive_reader(component)

    def read(data: bytes, pos: int, reader: ReaderProtocol) -> tuple[Any, int]:
        start = pos
        count, pos = _read_count(data, pos, 0)
        if count < 0:
            return None, pos
        final = types.component(component)
        if final is not None and final.sizeless:
            reader.spend(count, start)
        reader.check_count(count, data, pos)
        made = array_of(component, ())
        reader.register(made)
        reader.enter(start)
        try:
            if final is None:
                for _ in range(count):
                    value, pos = reader.read_any(data, pos)
                    made.append(value)
            else:
                for _ in range(count):
                    value, pos = reader.read_nullable(final, data, pos)
                    made.append(value)
        except Malformed as error:
            error.inside(len(made))
            raise
        reader.depth -= 1
        return made, pos

    return read


def _primitive_reader(component: str) -> Any:
    layout = _FIXED.get(component)
    size = struct.calcsize(layout) if layout else 2 if component == "char" else 1
    each: Any = _EACH.get(component)

    def read(data: bytes, pos: int, _: object = None) -> tuple[Any, int]:
        count, pos = _read_count(data, pos, size)
        if count < 0:
            return None, pos
        if layout is not None:
            items = struct.unpack_from(f"<{count}{layout}", data, pos)
            return array_of(component, items), pos + count * size
        made = array_of(component, ())
        for _ in range(count):
            value, pos = each(data, pos)
            made.append(value)
        return made, pos

    return read


def array_writer(component: str, types: TypesProtocol) -> Any:
    """The writer of the arrays of one component type."""
    if component in PRIMITIVES:
        return _primitive_writer(component)

    def write(value: Array[Any], writer: WriterProtocol) -> None:
        check_serializer(component)
        final: ClassSerializer | None = types.component(component)
        if final is not None:
            writer.check_allowed(final)
        writer.out.extend(varint(len(value) + 1))
        writer.enter()
        index = 0
        try:
            for index, item in enumerate(list(value)):  # noqa: B007 -- named in the error
                placed = writer.placed(component, item)
                if final is None:
                    writer.write_any(placed)
                else:
                    writer.write_nullable(final, placed)
        except Unencodable as error:
            error.inside(index)
            raise
        except Exception as error:
            raise unwritable(error, index) from error
        writer.depth -= 1

    return write


def _primitive_writer(component: str) -> Any:
    to_bytes = PRIMITIVE_BYTES[component]
    place = place_of(Signature(component))
    assert place is not None
    put = place.shallow

    def write(value: Array[Any], writer: WriterProtocol) -> None:
        out = writer.out
        out.extend(varint(len(value) + 1))
        for index, item in enumerate(value):
            try:
                out.extend(to_bytes(put(item)))
            except Exception as error:
                raise unwritable(error, index) from error

    return write


#: By primitive type: the function that writes a value.
PRIMITIVE_BYTES: dict[str, Callable[[Any], bytes]] = {
    "boolean": boolean_bytes,
    "byte": byte_bytes,
    "char": character_bytes,
    "short": short_bytes,
    "int": integer_bytes,
    "long": long_bytes,
    "float": float_bytes,
    "double": double_bytes,
}
