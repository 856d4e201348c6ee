"""Maps: how Kryo's MapSerializer lays them out.

A map is a varint of its size + 1, the comparator if it is sorted, then each key and value with its class.

A field's declared type may have type arguments (``arguments``, see :mod:`~redisson_dq.codecs.kryo5.generics`). Then
keys and values of a final class do not carry it, and can always be null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from redisson_dq.codecs.faults import (
    MAX_DEPTH,
    Malformed,
    Unencodable,
    unwritable,
)
from redisson_dq.codecs.hashes import FEW_KEYS
from redisson_dq.codecs.kryo5.collections import read_comparator
from redisson_dq.codecs.kryo5.generics import Arguments
from redisson_dq.codecs.kryo5.protocols import ReaderProtocol, WriterProtocol
from redisson_dq.codecs.kryo5.scalars import unpack_double
from redisson_dq.codecs.kryo5.wire import read_string, read_varint, string_bytes, varint
from redisson_dq.codecs.sorting import sorted_contents
from redisson_dq.java.collections import map_of, remember_table
from redisson_dq.java.maps import HashMap
from redisson_dq.java.numbers import Long
from redisson_dq.java.tables import pairs_in_order

__all__ = ["map_reader", "map_writer"]

_Read = Callable[..., "tuple[Any, int]"]
_Write = Callable[..., None]

_new_int = int.__new__
#: The class Integer with a number of one byte: 0 to 63, then -64 to -1.
_SMALL = tuple(bytes((2, number << 1 ^ number >> 31)) for number in (*range(64), *range(-64, 0)))
#: Recent texts that were keys of maps, with their class, because most keys are repeated.
_keys: dict[str, bytes] = {}
_MOST_KEYS, _LONGEST_KEY = 1000, 32


def map_reader(java_name: str, kind: type, *, sorted_: bool = False, nulls: bool = True) -> _Read:
    """The reader of a map class, whose values become ``kind``, in the order of the bytes."""

    def read(data: bytes, pos: int, reader: ReaderProtocol, arguments: Arguments = ()) -> tuple[Any, int]:
        start = pos
        count, pos = read_varint(data, pos)
        if count == 0:
            return None, pos
        count -= 1
        comparator = None
        if sorted_:
            comparator, pos = read_comparator(data, pos, reader)
        reader.enter(start)
        reader.check_count(2 * count, data, pos)
        values: dict[Any, Any] = kind()
        if reader.references:
            reader.register(values)
        made, pos = read_rest(values, count, start, data, pos, reader, arguments)
        if comparator is not None:
            made.comparator = comparator
        return made, pos

    def read_ordinary(data: bytes, pos: int, reader: ReaderProtocol, arguments: Arguments = ()) -> tuple[Any, int]:
        """A map of up to 126 entries whose keys are texts, like most maps."""
        size, length = data[pos], len(data)
        depth = reader.depth + 1
        by_byte = reader.by_byte
        if not 0 < size < 0x80 or 2 * size > length - pos + 1 or depth > MAX_DEPTH or arguments or by_byte[0] is None:
            return read(data, pos, reader, arguments)
        reader.depth = depth
        start = pos
        pos += 1
        values: dict[Any, Any] = kind()
        find, text = reader.find, reader.text
        key: Any = None
        try:
            for _ in range(size - 1):
                if data[pos] != 3:
                    break
                first = data[pos + 1]
                if first < 0x80:
                    end = find(1, pos) + 1
                    if not end:
                        break
                    key = text[pos + 1 : end]
                else:
                    end = pos + 3
                    if first != 0x82 or end > length or data[pos + 2] > 0x7F:
                        break
                    key = text[pos + 2]
                if key in values:
                    break
                byte = data[end]
                if byte == 3:
                    first = data[end + 1]
                    if first < 0x80 and (pos := find(1, end) + 1):
                        values[key] = text[end + 1 : pos]
                    elif first == 0x82 and end + 3 <= length and data[end + 2] < 0x80:
                        values[key] = text[end + 2]
                        pos = end + 3
                    else:
                        values[key], pos = read_string(data, end + 1, reader)
                elif byte == 2 and (number := data[end + 1]) < 0x80:
                    values[key] = number >> 1 ^ -(number & 1)
                    pos = end + 2
                elif byte == 0:
                    values[key] = None
                    pos = end + 1
                elif byte == 10:
                    values[key] = unpack_double(data, end + 1)[0]
                    pos = end + 9
                elif byte == 9 and (number := data[end + 1]) < 0x80:
                    values[key] = _new_int(Long, number >> 1 ^ -(number & 1))
                    pos = end + 2
                elif (read_flat := by_byte[byte]) is not None:
                    values[key], pos = read_flat(data, end + 1, reader)
                else:
                    values[key], pos = reader.read_named(data, end)
            else:
                reader.depth = depth - 1
                if kind is not dict:
                    remember_table(values)
                return values, pos
        except Malformed as error:
            error.inside(key)
            raise
        return read_rest(values, size - 1, start, data, pos, reader, arguments)

    def read_rest(
        values: dict[Any, Any],
        count: int,
        start: int,
        data: bytes,
        pos: int,
        reader: ReaderProtocol,
        arguments: Arguments,
    ) -> tuple[Any, int]:
        """Read the entries that are not in ``values`` yet, and return all of them as a map."""
        pairs = list(values.items())
        read_key, read_item = (_part_reader(reader, arguments, index, nulls) for index in (0, 1))
        if reader.references:
            read_key = _hash_checked(read_key, reader)
        key: Any = None
        try:
            for index in range(len(pairs), count):
                key = index
                key, pos = read_key(data, pos)
                value, pos = read_item(data, pos)
                pairs.append((key, value))
        except Malformed as error:
            error.inside(key)
            raise
        reader.depth -= 1
        if count > FEW_KEYS:
            reader.check_keys([key for key, _value in pairs], start)
        try:
            values.update(pairs)
            is_dict = len(values) == count
            if kind is not dict:
                remember_table(values)
        except TypeError:  # a key without a hash
            is_dict = False
        return (values if is_dict else map_of(java_name, kind, pairs)), pos

    return read_ordinary if kind is dict or kind is HashMap else read


def _hash_checked(read: Callable[..., tuple[Any, int]], reader: ReaderProtocol) -> Callable[..., tuple[Any, int]]:
    def read_key(data: bytes, pos: int) -> tuple[Any, int]:
        before = reader.size
        key, end = read(data, pos)
        reader.check_hash(reader.size - before, pos)
        return key, end

    return read_key


def _part_reader(
    reader: ReaderProtocol, arguments: Arguments, index: int, nulls: bool
) -> Callable[..., tuple[Any, int]]:
    """The reader of a map's keys (0) or values (1)."""
    if len(arguments) < 2:
        return reader.read_any
    nested = arguments[index].arguments
    final = arguments[index].final(reader)
    if final is None:
        return lambda data, pos: reader.read_any(data, pos, nested)
    read = reader.read_nullable if nulls else reader.read_value
    return lambda data, pos: read(final, data, pos, nested)


def map_writer(java_name: str, *, sorted_: bool = False, nulls: bool = True) -> _Write:
    """The writer of a map class, for a dict or Entries."""

    def write(value: Any, writer: WriterProtocol, arguments: Arguments = ()) -> None:
        depth = writer.depth + 1
        if depth > MAX_DEPTH:
            writer.enter()
        writer.depth = depth
        out = writer.out
        size = len(value) + 1
        if size < 0x80:
            out.append(size)
        else:
            out += varint(size)
        if sorted_:
            pairs: Iterable[tuple[Any, Any]] = sorted_contents(value, java_name)
            writer.write_any(getattr(value, "comparator", None))
        else:
            pairs = pairs_in_order(value)
        key = None
        try:
            if len(arguments) > 1 or not writer.flat:
                write_key, write_item = (_part_writer(writer, arguments, index, nulls) for index in (0, 1))
                for key, item in pairs:
                    write_key(key)
                    write_item(item)
            else:
                write_any = writer.write_any
                for key, item in pairs:
                    if type(key) is str:
                        out += _keys.get(key) or _key_bytes(key)
                    else:
                        write_any(key)
                    item_type = type(item)
                    if item_type is str:
                        out += b"\x03"
                        if 1 < len(item) < 33 and item.isascii():
                            out += item.encode()
                            out[-1] |= 0x80
                        else:
                            out += string_bytes(item)
                    elif item_type is int and -64 <= item < 64:
                        out += _SMALL[item]
                    else:
                        write_any(item)
        except Unencodable as error:
            error.inside(key)
            raise
        except Exception as error:
            raise unwritable(error, key) from error
        writer.depth = depth - 1

    return write


def _key_bytes(text: str) -> bytes:
    """A key that was not written recently."""
    data = b"\x03" + string_bytes(text)
    if len(text) <= _LONGEST_KEY:
        if len(_keys) >= _MOST_KEYS:
            _keys.clear()
        _keys[text] = data
    return data


def _part_writer(writer: WriterProtocol, arguments: Arguments, index: int, nulls: bool) -> Callable[[Any], None]:
    if len(arguments) < 2:
        return writer.write_any
    nested = arguments[index].arguments
    final = arguments[index].final(writer)
    if final is None:
        return lambda value: writer.write_any(value, nested)
    put = writer.write_nullable if nulls else writer.write_value

    def put_array(value: Any) -> None:
        if value is not None:
            arguments[index].refuse_arrays(writer, 0)
        put(final, value, nested)

    if arguments[index].dimensions:
        return put_array
    if not arguments[index].is_open:
        return lambda value: put(final, value, nested)
    return lambda value: put(final, writer.placed(final.name, value), nested)
