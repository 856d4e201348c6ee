"""Maps: how Kryo's MapSerializer lays them out.

A map is a varint of its size + 1, the comparator of a sorted one, then each key and value with its class.

A field's declared type may have type arguments (``arguments``, see :mod:`~redisson_dq.codecs.kryo5.generics`). Then
keys and values of a final class stand without it, and can always be null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from redisson_dq.codecs.faults import (
    MAX_DEPTH,
    TOO_DEEP,
    Malformed,
    Unencodable,
    unwritable,
)
from redisson_dq.codecs.hashes import FEW_KEYS
from redisson_dq.codecs.kryo5.collections import read_comparator
from redisson_dq.codecs.kryo5.wire import read_varint, varint
from redisson_dq.java.collections import keep_table, map_of
from redisson_dq.java.tables import pairs_in_order

if TYPE_CHECKING:
    from redisson_dq.codecs.kryo5.generics import Arguments
    from redisson_dq.codecs.kryo5.reader import Reader
    from redisson_dq.codecs.kryo5.writer import Writer

__all__ = ["map_reader", "map_writer"]

_Read = Callable[..., "tuple[Any, int]"]
_Write = Callable[..., None]

_NO_BYTE: Any = (None,) * 256
_NO_FLAT: Any = {}.get


def map_reader(java_name: str, kind: type, *, sorted_: bool = False, nulls: bool = True) -> _Read:
    """The reader of one map class, which becomes ``kind``, in the order of the bytes."""
    is_plain = kind is dict

    def read(data: bytes, pos: int, reader: Reader, arguments: Arguments = ()) -> tuple[Any, int]:
        start = pos
        count, pos = read_varint(data, pos)
        if count == 0:
            return None, pos
        count -= 1
        comparator = None
        if sorted_:
            comparator, pos = read_comparator(data, pos, reader)
        reader.depth += 1
        if reader.depth > MAX_DEPTH:
            raise Malformed(TOO_DEEP, start)
        if 2 * count > len(data) - pos:
            reader.check_count(2 * count, data, pos)
        values: dict[Any, Any] = kind()
        pairs: list[tuple[Any, Any]] = []
        if len(arguments) < 2:
            # What has a class of one byte is read at once, as most keys and values are.
            by_byte = reader.by_byte
            read_key = read_item = reader.read_any
        else:
            by_byte = _NO_BYTE
            read_key, read_item = (_part_reader(reader, arguments, index, nulls) for index in (0, 1))
        if reader.references:
            reader.register(values)
            read_key = _hash_checked(read_key, reader)
        append = pairs.append
        key: Any = None
        try:
            for index in range(count):
                key = index
                read = by_byte[data[pos]]
                key, pos = read_key(data, pos) if read is None else read(data, pos + 1, reader)
                read = by_byte[data[pos]]
                value, pos = read_item(data, pos) if read is None else read(data, pos + 1, reader)
                append((key, value))
        except Malformed as error:
            error.inside(key)
            raise
        reader.depth -= 1
        if count > FEW_KEYS:
            reader.check_keys([key for key, _value in pairs], start)
        try:
            values.update(pairs)
            is_dict = len(values) == count
            if not is_plain:
                keep_table(values)
        except TypeError:  # a key without a hash
            is_dict = False
        made: Any = values if is_dict else map_of(java_name, kind, pairs)
        if comparator is not None:
            made.comparator = comparator
        return made, pos

    return read


def _hash_checked(read: Callable[..., tuple[Any, int]], reader: Reader) -> Callable[..., tuple[Any, int]]:
    def read_key(data: bytes, pos: int) -> tuple[Any, int]:
        before = reader.size
        key, end = read(data, pos)
        reader.check_hash(reader.size - before, pos)
        return key, end

    return read_key


def _part_reader(reader: Reader, arguments: Arguments, index: int, nulls: bool) -> Callable[..., tuple[Any, int]]:
    """How a map's keys (0) or values (1) are read."""
    nested = arguments[index].arguments
    final = arguments[index].final(reader)
    if final is None:
        return lambda data, pos: reader.read_any(data, pos, nested)
    read = reader.read_nullable if nulls else reader.read_value
    return lambda data, pos: read(final, data, pos, nested)


def map_writer(*, sorted_: bool = False, nulls: bool = True) -> _Write:
    """The writer of one map class, from a dict or Entries."""

    def write(value: Any, writer: Writer, arguments: Arguments = ()) -> None:
        writer.enter()
        out = writer.out
        out += varint(len(value) + 1)
        if sorted_:
            writer.write_any(getattr(value, "comparator", None))
        write_key: Callable[[Any], None]
        write_item: Callable[[Any], None]
        if len(arguments) < 2:
            # What is bytes at once with its class, as most keys and values are.
            keys, flat = writer.flat_keys.get, writer.flat.get
            write_key = write_item = writer.write_any
        else:
            keys = flat = _NO_FLAT
            write_key, write_item = (_part_writer(writer, arguments, index, nulls) for index in (0, 1))
        key = None
        try:
            for key, item in pairs_in_order(value):
                to_bytes = keys(type(key))
                if to_bytes is None or (data := to_bytes(key)) is None:
                    write_key(key)
                else:
                    out += data
                to_bytes = flat(type(item))
                if to_bytes is None or (data := to_bytes(item)) is None:
                    write_item(item)
                else:
                    out += data
        except Unencodable as error:
            error.inside(key)
            raise
        except Exception as error:
            raise unwritable(error, key) from error
        writer.depth -= 1

    return write


def _part_writer(writer: Writer, arguments: Arguments, index: int, nulls: bool) -> Callable[[Any], None]:
    nested = arguments[index].arguments
    final = arguments[index].final(writer)
    if final is None:
        return lambda value: writer.write_any(value, nested)
    put = writer.write_nullable if nulls else writer.write_value
    if not arguments[index].is_open:
        return lambda value: put(final, value, nested)
    return lambda value: put(final, writer.placed(final.name, value), nested)
