"""Java's arrays: a varint of the length + 1 (0 is null), then the elements.

The elements of a primitive array stand one after the other: int and long as zigzag varints, the others in their
fixed size, little endian. Those of an array of a final class, and arrays in an array, stand without their class, null
as that class has it; those of any other array with their class.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from redisson_dq.codecs.faults import Malformed, Unencodable, unwritable
from redisson_dq.codecs.kryo5.scalars import (
    integer_bytes,
    long_bytes,
    read_boolean,
    read_integer,
    read_plain_character,
    read_plain_long,
)
from redisson_dq.codecs.kryo5.wire import read_varint, varint
from redisson_dq.java.arrays import Array, array_of
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN

if TYPE_CHECKING:
    from redisson_dq.codecs.kryo5.reader import Reader
    from redisson_dq.codecs.kryo5.types import JavaType, Types
    from redisson_dq.codecs.kryo5.writer import Writer

__all__ = ["PRIMITIVES", "array_reader", "array_writer", "primitive_bytes"]

#: The layout of the elements that have a fixed size.
_FIXED = {"byte": "b", "short": "h", "float": "f", "double": "d"}
_EACH = {
    "int": (read_integer, integer_bytes, INT_MIN, INT_MAX),
    "long": (read_plain_long, long_bytes, LONG_MIN, LONG_MAX),
}
PRIMITIVES = frozenset((*_FIXED, *_EACH, "boolean", "char"))


def _read_count(data: bytes, pos: int, size: int) -> tuple[int, int]:
    """The number of elements of at least ``size`` bytes, checked against the bytes that are there; -1 for null."""
    count, start = read_varint(data, pos)
    if (count - 1) * size > len(data) - start:
        raise Malformed(f"{count - 1} elements are announced, {len(data) - start} bytes are there", pos)
    return count - 1, start


def array_reader(component: str, types: Types) -> Any:
    """The reader of the arrays of one component type."""
    if component in PRIMITIVES:
        return _primitive_reader(component)

    def read(data: bytes, pos: int, reader: Reader) -> tuple[Any, int]:
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
        except Malformed as exc:
            exc.inside(len(made))
            raise
        reader.depth -= 1
        return made, pos

    return read


def _primitive_reader(component: str) -> Any:
    layout = _FIXED.get(component)
    size = struct.calcsize(layout) if layout else 2 if component == "char" else 1
    each: Any = {"boolean": read_boolean, "char": read_plain_character}.get(component)
    if component in _EACH:
        each = _EACH[component][0]

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


def array_writer(component: str, types: Types) -> Any:
    """The writer of the arrays of one component type."""
    if component in PRIMITIVES:
        return _primitive_writer(component)

    def write(value: Array[Any], writer: Writer) -> None:
        final: JavaType | None = types.component(component)
        if final is not None:
            writer.check_allowed(final)
        writer.out.append(varint(len(value) + 1))
        writer.enter()
        index = 0
        try:
            for index, item in enumerate(list(value)):  # noqa: B007 -- named in the error
                if final is None:
                    writer.write_any(writer.types.adapted(component, item))
                else:
                    writer.write_nullable(final, writer.fitted(final, item))
        except Unencodable as exc:
            exc.inside(index)
            raise
        except Exception as exc:
            raise unwritable(exc, index) from exc
        writer.depth -= 1

    return write


def _primitive_writer(component: str) -> Any:
    def write(value: Array[Any], writer: Writer) -> None:
        out = writer.out
        out.append(varint(len(value) + 1))
        for index, item in enumerate(value):
            try:
                out.append(primitive_bytes(component, item))
            except Unencodable as exc:
                exc.inside(index)
                raise
            except Exception as exc:
                raise unwritable(exc, index) from exc

    return write


def primitive_bytes(component: str, value: Any) -> bytes:
    """The bytes of a value of a primitive type. Raises Unencodable for a value that the type does not hold."""
    if component in _EACH:
        _read, to_bytes, low, high = _EACH[component]
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return to_bytes(value)
    elif component == "boolean":
        if isinstance(value, bool):
            return b"\x01" if value else b"\0"
    elif component == "char":
        if isinstance(value, str) and len(value) == 1 and value <= "\uffff":
            return ord(value).to_bytes(2, "little")
    elif component in ("float", "double"):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return _float_bytes(component, value)
    elif isinstance(value, int) and not isinstance(value, bool):
        try:
            return struct.pack("<" + _FIXED[component], value)
        except struct.error:
            pass
    raise Unencodable(f"{type(value).__name__} {'' if value is None else 'value '}does not fit Java's {component}")


def _float_bytes(component: str, value: float) -> bytes:
    if value != value:
        return b"\0\0\xc0\x7f" if component == "float" else b"\0\0\0\0\0\0\xf8\x7f"
    try:
        return struct.pack("<" + _FIXED[component], value)
    except (OverflowError, struct.error) as exc:
        raise Unencodable(f"the number is too large for Java's {component}") from exc
