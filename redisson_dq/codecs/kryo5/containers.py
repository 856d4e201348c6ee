"""Lists, sets and maps: how Kryo's CollectionSerializer and MapSerializer lay them out.

A collection is a flagged varint of its size + 1 (0 is null), then, for a sorted one, its comparator, then the
elements. With the flag set they are all of one class or null: that class once (null: every element is null,
and nothing follows), a boolean that says whether there are nulls (the immutable lists and sets leave it out),
and the elements without their class. Without the flag each element stands with its class. An empty collection
is 01.

A map is a varint of its size + 1, the comparator of a sorted one, then each key and value with its class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from redisson_dq.codecs.classes import to_set
from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.kryo5.scalars import read_boolean
from redisson_dq.codecs.kryo5.wire import read_varint, read_varint_flag, varint, varint_flag

if TYPE_CHECKING:
    from redisson_dq.codecs.kryo5.reader import Reader
    from redisson_dq.codecs.kryo5.types import JavaType
    from redisson_dq.codecs.kryo5.writer import Writer

__all__ = [
    "collection_reader",
    "map_reader",
    "read_nothing",
    "read_singleton_list",
    "read_singleton_map",
    "read_singleton_set",
    "write_list",
    "write_map",
]

_Read = Callable[[bytes, int, Any], "tuple[Any, int]"]


def collection_reader(
    make: Callable[[list[Any]], Any] | None = None, *, sorted_: bool = False, null_flag: bool = True
) -> _Read:
    """The reader of one collection class. ``make`` turns the list of its elements into the value."""

    def read(data: bytes, pos: int, reader: Reader) -> tuple[Any, int]:
        start = pos
        same_class = data[pos] & 0x80
        count, pos = read_varint_flag(data, pos)
        if count == 0:
            return None, pos
        count -= 1
        if sorted_:
            pos = _skip_comparator(data, pos, reader)
        values: list[Any] = []
        reader.enter(start)
        if count:
            if same_class:
                values, pos = _read_same_class(data, pos, reader, count, null_flag)
            else:
                reader.check_count(count, data, pos)
                read_any = reader.read_any
                for _ in range(count):
                    value, pos = read_any(data, pos)
                    values.append(value)
        reader.depth -= 1
        return (values if make is None else _made(make, values, start)), pos

    return read


def _made(make: Callable[[list[Any]], Any], values: list[Any], start: int) -> Any:
    try:
        return make(values)
    except Malformed as exc:
        exc.offset = start
        raise


def _read_same_class(data: bytes, pos: int, reader: Reader, count: int, null_flag: bool) -> tuple[list[Any], int]:
    start = pos
    java_type, pos = reader.read_class(data, pos)
    if java_type is None:
        reader.spend(count, start)
        return [None] * count, pos
    has_null = False
    if null_flag:
        has_null, pos = read_boolean(data, pos)
    if has_null or not java_type.sizeless:
        reader.check_count(count, data, pos)
    else:
        reader.spend(count, start)
    read = java_type.read
    values: list[Any] = []
    if has_null and java_type.null_mark:
        for _ in range(count):
            present, pos = read_boolean(data, pos)
            value = None
            if present:
                value, pos = read(data, pos, reader)
            values.append(value)
    else:
        for _ in range(count):
            value, pos = read(data, pos, reader)
            values.append(value)
    return values, pos


def map_reader(*, sorted_: bool = False) -> _Read:
    """The reader of one map class: a dict in the order of the bytes."""

    def read(data: bytes, pos: int, reader: Reader) -> tuple[Any, int]:
        start = pos
        count, pos = read_varint(data, pos)
        if count == 0:
            return None, pos
        count -= 1
        if sorted_:
            pos = _skip_comparator(data, pos, reader)
        reader.enter(start)
        reader.check_count(2 * count, data, pos)
        values: dict[Any, Any] = {}
        read_any = reader.read_any
        for _ in range(count):
            at = pos
            key, pos = read_any(data, pos)
            value, pos = read_any(data, pos)
            _put(values, key, value, at)
        if len(values) != count:
            raise Malformed("a map with keys that are equal in Python", start)
        reader.depth -= 1
        return values, pos

    return read


def _put(values: dict[Any, Any], key: Any, value: Any, offset: int) -> None:
    try:
        values[key] = value
    except TypeError as exc:
        raise Malformed(f"a map with a {type(key).__name__} as key, which no dict can hold", offset) from exc


def _skip_comparator(data: bytes, pos: int, reader: Reader) -> int:
    comparator, end = reader.read_any(data, pos)
    if comparator is not None:
        raise Malformed("a sorted collection with a comparator of its own", pos)
    return end


def read_nothing(make: Callable[[], Any]) -> _Read:
    """The reader of ``Collections.emptyList()`` and its kin, which have no bytes."""
    return lambda _data, pos, _reader: (make(), pos)


def read_singleton_list(data: bytes, pos: int, reader: Reader) -> tuple[list[Any], int]:
    """``Collections.singletonList(x)``: x with its class."""
    reader.enter(pos)
    value, pos = reader.read_any(data, pos)
    reader.depth -= 1
    return [value], pos


def read_singleton_set(data: bytes, pos: int, reader: Reader) -> tuple[set[Any], int]:
    """``Collections.singleton(x)``: x with its class."""
    start = pos
    values, pos = read_singleton_list(data, pos, reader)
    return _made(to_set, values, start), pos


def read_singleton_map(data: bytes, pos: int, reader: Reader) -> tuple[dict[Any, Any], int]:
    """``Collections.singletonMap(k, v)``: both with their classes."""
    reader.enter(pos)
    key, end = reader.read_any(data, pos)
    value, end = reader.read_any(data, end)
    values: dict[Any, Any] = {}
    _put(values, key, value, pos)
    reader.depth -= 1
    return values, end


def write_list(values: list[Any], writer: Writer) -> None:
    """An ArrayList's bytes, class excluded. O(size)."""
    out = writer.out
    count = len(values)
    writer.enter()
    index = 0
    try:
        types: set[JavaType | None] = set()
        for index in range(count):
            types.add(writer.type_of(values[index]))
        has_null = None in types
        types.discard(None)
        if not count:
            out.append(b"\x01")
        elif len(types) > 1:
            out.append(varint_flag(False, count + 1))
            for index in range(count):
                writer.write_any(values[index])
        else:
            out.append(varint_flag(True, count + 1))
            java_type = types.pop() if types else None
            writer.write_class(java_type)
            if java_type is not None:
                out.append(b"\x01" if has_null else b"\0")
                present = b"\x01" if has_null and java_type.null_mark else b""
                for index in range(count):
                    value = values[index]
                    if value is None:
                        out.append(java_type.null)
                    else:
                        out.append(present)
                        java_type.write(value, writer)
    except Unencodable as exc:
        exc.inside(index)
        raise
    writer.depth -= 1


def write_map(values: Mapping[Any, Any], writer: Writer) -> None:
    """A LinkedHashMap's bytes, class excluded. O(size)."""
    writer.enter()
    writer.out.append(varint(len(values) + 1))
    key = None
    try:
        for key, value in values.items():
            writer.write_any(key)
            writer.write_any(value)
    except Unencodable as exc:
        exc.inside(key)
        raise
    writer.depth -= 1
