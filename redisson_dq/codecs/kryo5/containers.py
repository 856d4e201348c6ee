"""Lists, sets and maps: how Kryo's CollectionSerializer and MapSerializer lay them out.

A collection is a flagged varint of its size + 1 (0 is null), then, for a sorted one, its comparator, then the elements.
With the flag set all elements are of one class or null. That class stands once (when it is null, every element is null
and nothing follows). A boolean says whether there are nulls; the immutable lists and sets leave it out. The elements
follow without their class. Without the flag each element stands with its class. An empty collection is 01.

A map is a varint of its size + 1, the comparator of a sorted one, then each key and value with its class.

A field's declared type may have type arguments (``arguments``, see :mod:`~redisson_dq.codecs.kryo5.generics`). Then
elements of a final class stand without it. The flag of a collection says whether there are nulls, and a map's keys and
values can always be null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from redisson_dq.codecs.faults import (
    MAX_DEPTH,
    TOO_DEEP,
    Malformed,
    Unencodable,
    check_fields,
    check_nulls,
    unwritable,
)
from redisson_dq.codecs.hashes import FEW_KEYS
from redisson_dq.codecs.kryo5.generics import STRING
from redisson_dq.codecs.kryo5.numbers import ordinary_ints, put_ordinary_ints
from redisson_dq.codecs.kryo5.scalars import read_boolean
from redisson_dq.codecs.kryo5.wire import read_string, read_varint, read_varint_flag, string_bytes, varint, varint_flag
from redisson_dq.java.collections import Entries, keep_table, map_of, set_of
from redisson_dq.java.declare import Declaration, declaration_for
from redisson_dq.java.facts import NO_NULLS
from redisson_dq.java.lists import ListOf
from redisson_dq.java.orders import Comparator
from redisson_dq.java.places import with_declared_parts
from redisson_dq.java.signatures import Signature
from redisson_dq.java.tables import in_order, pairs_in_order

if TYPE_CHECKING:
    from redisson_dq.codecs.kryo5.generics import Arguments
    from redisson_dq.codecs.kryo5.reader import Reader
    from redisson_dq.codecs.kryo5.types import ClassSerializer
    from redisson_dq.codecs.kryo5.writer import Writer

__all__ = [
    "collection_reader",
    "collection_writer",
    "declared_writer",
    "map_reader",
    "map_writer",
    "nothing",
    "only_empty",
    "ordinary_strings",
    "put_ordinary_strings",
    "singleton",
    "singleton_map",
    "without_nulls",
]

_Read = Callable[..., "tuple[Any, int]"]
_Write = Callable[..., None]


def collection_reader(java_name: str, kind: type, *, sorted_: bool = False, null_flag: bool = True) -> _Read:
    """The reader of one collection class, which becomes ``kind``: a list class or a set class."""
    is_list, is_list_of, is_plain = issubclass(kind, list), issubclass(kind, ListOf), kind is list

    def read(data: bytes, pos: int, reader: Reader, arguments: Arguments = ()) -> tuple[Any, int]:
        start = pos
        if is_plain:
            found = ordinary_strings(data, pos, reader, arguments)
            if found is None and not arguments:
                found = ordinary_ints(data, pos, reader)
            if found is not None:
                return found
        element = arguments[0].final(reader) if arguments else None
        first = data[pos]
        flag = first & 0x80
        if element is not None and not null_flag:
            flag = 0
            count, pos = read_varint(data, pos)
        elif first & 0x40:
            count, pos = read_varint_flag(data, pos)
        else:
            count, pos = first & 0x3F, pos + 1
        if count == 0:
            return None, pos
        count -= 1
        comparator = None
        if sorted_:
            comparator, pos = _read_comparator(data, pos, reader)
        values: list[Any] = []
        if is_list:
            values = kind()
            if reader.references:
                reader.register(values)
        reader.depth += 1
        if reader.depth > MAX_DEPTH:
            raise Malformed(TOO_DEEP, start)
        before = reader.size
        if count:
            nested = arguments[-1].arguments if arguments else ()
            try:
                if element is not None:
                    pos = _read_elements(values, data, pos, reader, element, nested, count, flag != 0)
                elif flag:
                    pos = _read_same_class(values, data, pos, reader, nested, count, null_flag)
                else:
                    reader.check_count(count, data, pos)
                    read_any, by_byte = reader.read_any, reader.by_byte
                    for _ in range(count):
                        read_flat = by_byte[data[pos]]
                        if read_flat is None:
                            value, pos = read_any(data, pos, nested)
                        else:
                            value, pos = read_flat(data, pos + 1, reader)
                        values.append(value)
            except Malformed as error:
                error.inside(len(values))
                raise
        reader.depth -= 1
        made = values
        if not is_list:
            reader.check_hash(reader.size - before, start)
            reader.check_keys(values, start)
            made = set_of(java_name, kind, values)
        elif is_list_of:
            made.of_class(java_name)  # type: ignore[attr-defined]
        if comparator is not None:
            made.comparator = comparator  # type: ignore[attr-defined]
        return made, pos

    return read


def ordinary_strings(data: bytes, pos: int, reader: Reader, arguments: Arguments) -> tuple[list[Any], int] | None:
    """A list of up to 62 strings, as most lists are; None for any other, of which nothing was read then."""
    count = (data[pos] & 0x7F) - 1
    pos += 1
    if arguments:
        if arguments[0] is not STRING:
            return None
    elif data[pos : pos + 2] == b"\x03\0" and data[pos - 1] & 0x80:  # all of the class String, and none is null
        pos += 2
    else:
        return None
    if not 0 < count < 0x3F or count > len(data) - pos or reader.references or reader.depth >= MAX_DEPTH:
        return None
    find, text = reader.find, reader.text
    values: list[Any] = []
    try:
        for _ in range(count):
            end = data[pos] < 0x80 and find(1, pos) + 1
            if end:
                values.append(text[pos:end])
                pos = end
            else:
                value, pos = read_string(data, pos, reader)
                values.append(value)
    except Malformed:  # which does not tell its place yet
        return None
    return values, pos


def _read_same_class(
    values: list[Any], data: bytes, pos: int, reader: Reader, nested: Arguments, count: int, null_flag: bool
) -> int:
    start = pos
    serializer, pos = reader.read_class(data, pos)
    if serializer is None:
        reader.spend(count, start)
        values.extend([None] * count)
        return pos
    has_null = False
    if null_flag:
        byte = data[pos]
        has_null, pos = (byte == 1, pos + 1) if byte < 2 else read_boolean(data, pos)
    return _read_elements(values, data, pos, reader, serializer, nested, count, has_null)


def _read_elements(
    values: list[Any],
    data: bytes,
    pos: int,
    reader: Reader,
    serializer: ClassSerializer,
    nested: Arguments,
    count: int,
    has_null: bool,
) -> int:
    """Elements of one class, without it."""
    start = pos
    if has_null or not serializer.sizeless:
        if count > len(data) - pos:
            if has_null or not _is_fieldless(serializer):
                reader.check_count(count, data, pos)
            reader.spend(count, pos)
            start -= count
    else:
        reader.spend(count, pos)
        start -= count
    if has_null:
        for _ in range(count):
            value, pos = reader.read_nullable(serializer, data, pos, nested)
            values.append(value)
    elif nested or reader.references:
        for _ in range(count):
            value, pos = reader.read_value(serializer, data, pos, nested)
            values.append(value)
    else:
        read = serializer.read
        for _ in range(count):
            value, pos = read(data, pos, reader)
            values.append(value)
    if pos - start < count:  # objects of a class without fields
        reader.spend(count - (pos - start), start)
    return pos


def _is_fieldless(serializer: ClassSerializer) -> bool:
    """Whether it is a declared class whose objects take no bytes."""
    declaration = None if serializer.python is None else declaration_for(serializer.python)
    return declaration is not None and declaration.kind != "enum" and not declaration.all_fields


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
            comparator, pos = _read_comparator(data, pos, reader)
        reader.enter(start)
        reader.check_count(2 * count, data, pos)
        values: dict[Any, Any] = kind()
        pairs: list[tuple[Any, Any]] = []
        read_key = _part_reader(reader, arguments, 0, nulls)
        read_item = _part_reader(reader, arguments, 1, nulls)
        if reader.references:
            reader.register(values)
            read_key = _hash_checked(read_key, reader)
        # What has a class of one byte is read at once, as most keys and values are.
        by_byte = _NO_BYTE if len(arguments) > 1 else reader.by_byte
        key: Any = None
        try:
            for index in range(count):
                key = index
                read = by_byte[data[pos]]
                key, pos = read_key(data, pos) if read is None else read(data, pos + 1, reader)
                read = by_byte[data[pos]]
                value, pos = read_item(data, pos) if read is None else read(data, pos + 1, reader)
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
    if len(arguments) < 2:
        return reader.read_any
    nested = arguments[index].arguments
    final = arguments[index].final(reader)
    if final is None:
        return lambda data, pos: reader.read_any(data, pos, nested)
    read = reader.read_nullable if nulls else reader.read_value
    return lambda data, pos: read(final, data, pos, nested)


def _read_comparator(data: bytes, pos: int, reader: Reader) -> tuple[Comparator | None, int]:
    comparator, end = reader.read_any(data, pos)
    if comparator is not None and not isinstance(comparator, Comparator):
        raise Malformed("a sorted collection with a comparator of its own", pos)
    return comparator, end


def nothing(kind: type) -> tuple[_Read, _Write]:
    """The reader and writer of ``Collections.emptyList()`` and its kin, which have no bytes."""

    def write(value: Any, _writer: Writer) -> None:
        if len(value):
            raise Unencodable(f"a {kind.__name__} with {len(value)} elements")

    return lambda _data, pos, _reader: (kind(), pos), write


def only_empty(kind: Any, write: _Write) -> _Write:
    """The writer of a class that holds nothing, written as other collections are."""

    def checked(value: Any, *rest: Any) -> None:
        if len(value):
            raise Unencodable(f"a {kind.java_name} with {len(value)} elements, which Java does not read: send a list")
        write(value, *rest)

    return checked


def _only(value: Any) -> Any:
    if len(value) != 1:
        raise Unencodable(f"a {type(value).__name__} with {len(value)} elements")
    return next(iter(value))


def singleton(java_name: str, kind: type) -> tuple[_Read, _Write]:
    """The reader and writer of ``Collections.singletonList(x)`` and ``singleton(x)``: x with its class."""

    def read(data: bytes, pos: int, reader: Reader) -> tuple[Any, int]:
        reader.enter(pos)
        before = reader.size
        value, pos = reader.read_any(data, pos)
        reader.depth -= 1
        reader.check_hash(reader.size - before, pos)
        return (kind([value]) if issubclass(kind, list) else set_of(java_name, kind, [value])), pos

    def write(value: Any, writer: Writer) -> None:
        writer.enter()
        writer.write_any(_only(value))
        writer.depth -= 1

    return read, write


def singleton_map(java_name: str, kind: type) -> tuple[_Read, _Write]:
    """The reader and writer of ``Collections.singletonMap(k, v)``: both with their classes."""

    def read(data: bytes, pos: int, reader: Reader) -> tuple[Any, int]:
        reader.enter(pos)
        before = reader.size
        key, pos = reader.read_any(data, pos)
        reader.check_hash(reader.size - before, pos)
        value, pos = reader.read_any(data, pos)
        reader.depth -= 1
        return map_of(java_name, kind, [(key, value)]), pos

    def write(value: Any, writer: Writer) -> None:
        writer.enter()
        for part in _only(value if isinstance(value, Entries) else value.items()):
            writer.write_any(part)
        writer.depth -= 1

    return read, write


def collection_writer(*, sorted_: bool = False, null_flag: bool = True) -> _Write:
    """The writer of one collection class, from any Python collection."""
    is_plain = null_flag and not sorted_

    def write(value: Any, writer: Writer, arguments: Arguments = ()) -> None:
        out = writer.out
        if type(value) is list:
            if is_plain and put_ordinary_strings(value, writer, arguments):
                return
            if is_plain and not arguments and put_ordinary_ints(value, writer):
                return
            items = list(value)
        else:
            items = in_order(value)
        count = len(items)
        element = arguments[0].final(writer) if arguments else None
        nested = arguments[-1].arguments if arguments else ()
        writer.enter()
        index = 0
        try:
            types: dict[ClassSerializer | None, None] = {}
            if element is None:
                by_type = writer.by_type.get
                for index in range(count):
                    item = items[index]
                    types[by_type(type(item)) or writer.type_of(item)] = None
                has_null = types.pop(None, 0) is None
            else:
                if arguments[0].is_open:
                    for index in range(count):
                        items[index] = writer.placed(element.name, items[index])
                has_null = any(item is None for item in items)
            if has_null and not null_flag and not (isinstance(value, ListOf) and len(types) > 1):
                raise Unencodable("Java's immutable collections hold no null, or Kryo cannot write it")
            if not count:
                out.extend(b"\x01")
            elif element is not None:
                out.extend(varint_flag(has_null, count + 1) if null_flag else varint(count + 1))
            else:
                out.extend(varint_flag(len(types) < 2, count + 1))
            if sorted_:
                writer.write_any(getattr(value, "comparator", None))
            if not count:
                pass
            elif len(types) > 1:
                for index in range(count):
                    writer.write_any(items[index], nested)
            else:
                if element is None:
                    element = next(iter(types), None)
                    writer.write_class(element)
                    if element is not None and null_flag:
                        out.extend(b"\x01" if has_null else b"\0")
                if element is None:
                    pass
                elif has_null or nested or writer.references:
                    put = writer.write_nullable if has_null else writer.write_value
                    for index in range(count):
                        put(element, items[index], nested)
                else:
                    put_plain = element.write
                    for index in range(count):
                        put_plain(items[index], writer)
        except Unencodable as error:
            error.inside(index)
            raise
        except Exception as error:
            raise unwritable(error, index) from error
        writer.depth -= 1

    return write


def put_ordinary_strings(values: list[Any], writer: Writer, arguments: Arguments) -> bool:
    """Write a list of texts, as most lists are. False for any other, of which nothing is written then."""
    if (
        set(map(type, values)) != _STR
        or (arguments and arguments[0] is not STRING)
        or writer.references
        or writer.depth >= MAX_DEPTH
    ):
        return False
    out = writer.out
    out += varint_flag(not arguments, len(values) + 1)
    if not arguments:
        out += b"\x03\0"  # all of the class String, and none is null
    for text in values:
        if 1 < len(text) < 33 and text.isascii():
            out += text.encode()
            out[-1] |= 0x80
        else:
            out += string_bytes(text)
    return True


_STR = {str}
_NO_BYTE: Any = (None,) * 256
_NO_FLAT: Any = {}


def declared_writer(declaration: Declaration, write: _Write) -> _Write:
    """The writer of a class that extends a collection, from that of the collection.

    Kryo takes the type arguments of the class for those of the collection, whatever the class does with them.
    """
    count = 2 if issubclass(declaration.python, dict) else 1

    def checked(value: Any, writer: Writer, arguments: Arguments = ()) -> None:
        check_fields(value, declaration)
        if arguments and len(arguments) != count:
            raise Unencodable(
                f"a {declaration.name} where its type arguments are declared, which are not those of the "
                f"{declaration.extends} that it extends: Java's Kryo cannot write it. Declare the field without them"
            )
        write(with_declared_parts(value, declaration, Signature(declaration.name), writer.notes), writer, arguments)

    return checked


def without_nulls(java_name: str, write: _Write) -> _Write:
    """The writer of a collection that holds no null."""

    def checked(value: Any, writer: Writer, *arguments: Arguments) -> None:
        check_nulls(value, java_name)
        write(value, writer, *arguments)

    return checked if java_name in NO_NULLS else write


def map_writer(*, sorted_: bool = False, nulls: bool = True) -> _Write:
    """The writer of one map class, from a dict or Entries."""

    def write(value: Any, writer: Writer, arguments: Arguments = ()) -> None:
        writer.enter()
        writer.out.extend(varint(len(value) + 1))
        if sorted_:
            writer.write_any(getattr(value, "comparator", None))
        write_key = _part_writer(writer, arguments, 0, nulls)
        write_item = _part_writer(writer, arguments, 1, nulls)
        # What is bytes at once with its class, as most keys and values are.
        flat = _NO_FLAT if len(arguments) > 1 else writer.flat
        out = writer.out
        key = None
        try:
            for key, item in pairs_in_order(value):
                to_bytes = flat.get(type(key))
                data = None if to_bytes is None else to_bytes(key)
                if data is None:
                    write_key(key)
                else:
                    out += data
                to_bytes = flat.get(type(item))
                data = None if to_bytes is None else to_bytes(item)
                if data is None:
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
    if len(arguments) < 2:
        return writer.write_any
    nested = arguments[index].arguments
    final = arguments[index].final(writer)
    if final is None:
        return lambda value: writer.write_any(value, nested)
    put = writer.write_nullable if nulls else writer.write_value
    if not arguments[index].is_open:
        return lambda value: put(final, value, nested)
    return lambda value: put(final, writer.placed(final.name, value), nested)
