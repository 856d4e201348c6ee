"""Lists, sets and maps: how Kryo's CollectionSerializer and MapSerializer lay them out.

A collection is a flagged varint of its size + 1 (0 is null), then, for a sorted one, its comparator, then the
elements. With the flag set they are all of one class or null: that class once (null: every element is null,
and nothing follows), a boolean that says whether there are nulls (the immutable lists and sets leave it out),
and the elements without their class. Without the flag each element stands with its class. An empty collection
is 01.

A map is a varint of its size + 1, the comparator of a sorted one, then each key and value with its class.

In a field whose declared type has type arguments (``arguments``, see :mod:`~redisson_dq.codecs.kryo5.generics`),
elements of a final class stand without it: the flag of a collection says whether there are nulls then, and a
map's keys and values can always be null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from redisson_dq.codecs.faults import Malformed, Unencodable, unwritable
from redisson_dq.codecs.hashes import FEW_KEYS, check_hashes
from redisson_dq.codecs.kryo5.scalars import read_boolean
from redisson_dq.codecs.kryo5.wire import read_varint, read_varint_flag, varint, varint_flag
from redisson_dq.java.collections import Comparator, Entries, map_of, set_of
from redisson_dq.java.declare import declaration_for

if TYPE_CHECKING:
    from redisson_dq.codecs.kryo5.generics import Arguments
    from redisson_dq.codecs.kryo5.reader import Reader
    from redisson_dq.codecs.kryo5.types import JavaType
    from redisson_dq.codecs.kryo5.writer import Writer

__all__ = [
    "collection_reader",
    "collection_writer",
    "map_reader",
    "map_writer",
    "nothing",
    "singleton",
    "singleton_map",
]

Read = Callable[..., "tuple[Any, int]"]
Write = Callable[..., None]


def collection_reader(java_name: str, kind: type, *, sorted_: bool = False, null_flag: bool = True) -> Read:
    """The reader of one collection class, which becomes ``kind``: a list class or a set class."""
    is_list = issubclass(kind, list)

    def read(data: bytes, pos: int, reader: Reader, arguments: Arguments = ()) -> tuple[Any, int]:
        start = pos
        element = arguments[0].final(reader) if arguments else None
        flag = data[pos] & 0x80
        if element is not None and not null_flag:
            flag = 0
            count, pos = read_varint(data, pos)
        else:
            count, pos = read_varint_flag(data, pos)
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
        reader.enter(start)
        before = reader.size
        if count:
            nested = arguments[-1].arguments if arguments else ()
            try:
                if element is not None:
                    pos = _read_elements(values, data, pos, reader, element, nested, count, bool(flag))
                elif flag:
                    pos = _read_same_class(values, data, pos, reader, nested, count, null_flag)
                else:
                    reader.check_count(count, data, pos)
                    read_any = reader.read_any
                    for _ in range(count):
                        value, pos = read_any(data, pos, nested)
                        values.append(value)
            except Malformed as exc:
                exc.inside(len(values))
                raise
        reader.depth -= 1
        made = values
        if not is_list:
            reader.check_hash(reader.size - before, start)
            check_hashes(values, start)
            made = set_of(java_name, kind, values)
        if comparator is not None and isinstance(made, kind):
            made.comparator = comparator  # type: ignore[attr-defined]
        return made, pos

    return read


def _read_same_class(
    values: list[Any], data: bytes, pos: int, reader: Reader, nested: Arguments, count: int, null_flag: bool
) -> int:
    start = pos
    java_type, pos = reader.read_class(data, pos)
    if java_type is None:
        reader.spend(count, start)
        values.extend([None] * count)
        return pos
    has_null = False
    if null_flag:
        has_null, pos = read_boolean(data, pos)
    return _read_elements(values, data, pos, reader, java_type, nested, count, has_null)


def _read_elements(
    values: list[Any],
    data: bytes,
    pos: int,
    reader: Reader,
    java_type: JavaType,
    nested: Arguments,
    count: int,
    has_null: bool,
) -> int:
    """Elements of one class, without it."""
    start = pos
    if has_null or not java_type.sizeless:
        if count > len(data) - pos:
            if has_null or not _is_fieldless(java_type):
                reader.check_count(count, data, pos)
            reader.spend(count, pos)
            start -= count
    else:
        reader.spend(count, pos)
        start -= count
    if has_null:
        for _ in range(count):
            value, pos = reader.read_nullable(java_type, data, pos, nested)
            values.append(value)
    elif nested or reader.references:
        for _ in range(count):
            value, pos = reader.read_value(java_type, data, pos, nested)
            values.append(value)
    else:
        read = java_type.read
        for _ in range(count):
            value, pos = read(data, pos, reader)
            values.append(value)
    if pos - start < count:  # objects of a class without fields
        reader.spend(count - (pos - start), start)
    return pos


def _is_fieldless(java_type: JavaType) -> bool:
    """Whether it is a declared class whose objects take no bytes."""
    declaration = None if java_type.python is None else declaration_for(java_type.python)
    return declaration is not None and declaration.kind != "enum" and not declaration.all_fields


def map_reader(java_name: str, kind: type, *, sorted_: bool = False, nulls: bool = True) -> Read:
    """The reader of one map class, which becomes ``kind``, in the order of the bytes."""

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
        reader.register(values)
        pairs: list[tuple[Any, Any]] = []
        read_key = _part_reader(reader, arguments, 0, nulls)
        read_item = _part_reader(reader, arguments, 1, nulls)
        if reader.references:
            read_key = _hash_checked(read_key, reader)
        key: Any = None
        for index in range(count):
            try:
                key = index
                key, pos = read_key(data, pos)
                value, pos = read_item(data, pos)
            except Malformed as exc:
                exc.inside(key)
                raise
            pairs.append((key, value))
        reader.depth -= 1
        if count > FEW_KEYS:
            check_hashes([key for key, _value in pairs], start)
        try:
            values.update(pairs)
            is_dict = len(values) == count
        except TypeError:  # a key without a hash
            is_dict = False
        made: Any = values if is_dict else map_of(java_name, kind, pairs)
        if comparator is not None and isinstance(made, kind):
            made.comparator = comparator  # type: ignore[attr-defined]
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


def nothing(kind: type) -> tuple[Read, Write]:
    """The reader and writer of ``Collections.emptyList()`` and its kin, which have no bytes."""

    def write(value: Any, _writer: Writer) -> None:
        if len(value):
            raise Unencodable(f"a {kind.__name__} with {len(value)} elements")

    return lambda _data, pos, _reader: (kind(), pos), write


def _only(value: Any) -> Any:
    if len(value) != 1:
        raise Unencodable(f"a {type(value).__name__} with {len(value)} elements")
    return next(iter(value))


def singleton(java_name: str, kind: type) -> tuple[Read, Write]:
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


def singleton_map(java_name: str, kind: type) -> tuple[Read, Write]:
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


def collection_writer(*, sorted_: bool = False, null_flag: bool = True) -> Write:
    """The writer of one collection class, from any Python collection."""

    def write(value: Any, writer: Writer, arguments: Arguments = ()) -> None:
        out = writer.out
        items = list(value)
        count = len(items)
        element = arguments[0].final(writer) if arguments else None
        nested = arguments[-1].arguments if arguments else ()
        writer.enter()
        index = 0
        try:
            types: dict[JavaType | None, None] = {}
            if element is None:
                declared = arguments[0].resolve(writer) if arguments else None
                if declared is not None and declared != "java.lang.Object":
                    adapted = writer.types.adapted
                    for index in range(count):
                        items[index] = adapted(declared, items[index])
                for index in range(count):
                    types[writer.type_of(items[index])] = None
                has_null = types.pop(None, 0) is None
            else:
                for index in range(count):
                    items[index] = writer.fitted(element, items[index])
                has_null = any(item is None for item in items)
            if has_null and not null_flag:
                raise Unencodable("Java's immutable collections hold no null")
            if not count:
                out.append(b"\x01")
            elif element is not None:
                out.append(varint_flag(has_null, count + 1) if null_flag else varint(count + 1))
            else:
                out.append(varint_flag(len(types) < 2, count + 1))
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
                        out.append(b"\x01" if has_null else b"\0")
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
        except Unencodable as exc:
            exc.inside(index)
            raise
        except Exception as exc:
            raise unwritable(exc, index) from exc
        writer.depth -= 1

    return write


def map_writer(*, sorted_: bool = False, nulls: bool = True) -> Write:
    """The writer of one map class, from a dict or Entries."""

    def write(value: Any, writer: Writer, arguments: Arguments = ()) -> None:
        writer.enter()
        writer.out.append(varint(len(value) + 1))
        if sorted_:
            writer.write_any(getattr(value, "comparator", None))
        write_key = _part_writer(writer, arguments, 0, nulls)
        write_item = _part_writer(writer, arguments, 1, nulls)
        key = None
        try:
            for key, item in value if isinstance(value, Entries) else value.items():
                write_key(key)
                write_item(item)
        except Unencodable as exc:
            exc.inside(key)
            raise
        except Exception as exc:
            raise unwritable(exc, key) from exc
        writer.depth -= 1

    return write


def _part_writer(writer: Writer, arguments: Arguments, index: int, nulls: bool) -> Callable[[Any], None]:
    if len(arguments) < 2:
        return writer.write_any
    nested = arguments[index].arguments
    final = arguments[index].final(writer)
    if final is None:
        declared, adapted = arguments[index].resolve(writer), writer.types.adapted
        if declared is None or declared == "java.lang.Object":
            return lambda value: writer.write_any(value, nested)
        return lambda value: writer.write_any(adapted(declared, value), nested)
    put = writer.write_nullable if nulls else writer.write_value
    return lambda value: put(final, writer.fitted(final, value), nested)
