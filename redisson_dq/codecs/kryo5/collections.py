"""Lists and sets: how Kryo's CollectionSerializer lays them out.

A collection is a flagged varint of its size + 1 (0 is null), then the comparator if it is sorted, then the elements. If
the flag is set, all elements are of one class or null. The class is written once; if it is null, every element is null
and nothing follows. A boolean says whether there are nulls (immutable lists and sets leave it out), and the elements
follow without their class. If the flag is not set, each element carries its class. An empty collection is 01.

A field's declared type may have type arguments (``arguments``, see :mod:`~redisson_dq.codecs.kryo5.generics`). Then
elements of a final class do not carry it, and the flag says whether there are nulls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Malformed, Unencodable, unwritable
from redisson_dq.codecs.java_limits import check_contents, check_fields
from redisson_dq.codecs.kryo5.class_serializer import ClassSerializer
from redisson_dq.codecs.kryo5.generics import Arguments
from redisson_dq.codecs.kryo5.numbers import ordinary_ints, put_ordinary_ints
from redisson_dq.codecs.kryo5.protocols import ReaderProtocol, WriterProtocol
from redisson_dq.codecs.kryo5.scalars import read_boolean
from redisson_dq.codecs.kryo5.strings import ordinary_strings, put_ordinary_strings
from redisson_dq.codecs.kryo5.wire import read_varint, read_varint_flag, varint, varint_flag
from redisson_dq.codecs.sorting import SORTED, refuse_comparator, sorted_contents
from redisson_dq.java.collections import set_of
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.facts import NO_NULLS
from redisson_dq.java.lists import ListOf
from redisson_dq.java.orders import Comparator
from redisson_dq.java.places import with_declared_parts
from redisson_dq.java.registry import declaration_for
from redisson_dq.java.signatures import Signature
from redisson_dq.java.tables import in_order

__all__ = ["collection_reader", "collection_writer", "declared_writer", "read_comparator", "with_contents_checked"]

_Read = Callable[..., "tuple[Any, int]"]
_Write = Callable[..., None]


def collection_reader(java_name: str, kind: type, *, sorted_: bool = False, null_flag: bool = True) -> _Read:
    """The reader of a collection class, whose values become ``kind``, a list class or a set class."""
    is_list, is_list_of, is_plain = issubclass(kind, list), issubclass(kind, ListOf), kind is list

    def read(data: bytes, pos: int, reader: ReaderProtocol, arguments: Arguments = ()) -> tuple[Any, int]:
        start = pos
        if is_plain:
            found = None
            if arguments:
                found = ordinary_strings(data, pos, reader, arguments)
            elif 0x81 < data[pos] < 0xC0 and reader.depth < MAX_DEPTH:
                # All elements are of the class that follows the size.
                byte = data[pos + 1]
                if byte == 3:
                    found = ordinary_strings(data, pos, reader, ())
                elif byte == 2:
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
            comparator, pos = read_comparator(data, pos, reader)
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
                    pos = _read_uniform(values, data, pos, reader, nested, count, null_flag)
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
            reader.check_keys(values, start, kind)
            made = set_of(java_name, kind, values)
        elif is_list_of:
            made.of_class(java_name)  # type: ignore[attr-defined]
        if comparator is not None:
            made.comparator = comparator  # type: ignore[attr-defined]
        return made, pos

    return read


def _read_uniform(
    values: list[Any], data: bytes, pos: int, reader: ReaderProtocol, nested: Arguments, count: int, null_flag: bool
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
    reader: ReaderProtocol,
    serializer: ClassSerializer,
    nested: Arguments,
    count: int,
    has_null: bool,
) -> int:
    """Elements of one class, which they do not carry."""
    start = pos
    budget = None
    if has_null or not serializer.sizeless:
        if count > len(data) - pos:
            if has_null or not _is_fieldless(serializer):
                reader.check_count(count, data, pos)
            budget = reader.spend(count, pos)
            start -= count
    else:
        budget = reader.spend(count, pos)
        start -= count
    if has_null:
        for _ in range(count):
            value, pos = reader.read_nullable(serializer, data, pos, nested)
            values.append(value)
    elif nested or reader.references or reader.is_counting:
        for _ in range(count):
            value, pos = reader.read_value(serializer, data, pos, nested)
            values.append(value)
            if budget is not None:
                budget.made(value, pos)
    elif budget is not None:
        for _ in range(count):
            value, pos = serializer.read(data, pos, reader)
            values.append(value)
            budget.made(value, pos)
    else:
        read = serializer.read
        for _ in range(count):
            value, pos = read(data, pos, reader)
            values.append(value)
    if pos - start < count:  # objects of a class without fields
        budget = reader.spend(count - (pos - start), start)
        if budget is not None:
            for value in values[pos - start - count :]:
                budget.made(value, start)
    return pos


def _is_fieldless(serializer: ClassSerializer) -> bool:
    """Whether it is a declared class whose objects take no bytes."""
    declaration = None if serializer.python is None else declaration_for(serializer.python)
    return declaration is not None and declaration.kind != "enum" and not declaration.all_fields


def read_comparator(data: bytes, pos: int, reader: ReaderProtocol) -> tuple[Comparator | None, int]:
    """The comparator that precedes the elements of a sorted collection or map."""
    comparator, end = reader.read_any(data, pos)
    if comparator is not None and not isinstance(comparator, Comparator):
        raise Malformed("a sorted collection with a comparator of its own", pos)
    return comparator, end


def collection_writer(java_name: str, *, sorted_: bool = False, null_flag: bool = True) -> _Write:
    """The writer of a collection class, for any Python collection."""
    has_order = java_name in SORTED
    is_plain = null_flag and not has_order

    def write(value: Any, writer: WriterProtocol, arguments: Arguments = ()) -> None:
        out = writer.out
        if has_order:
            if not sorted_:
                refuse_comparator(value)
            items = sorted_contents(value, java_name)
        elif type(value) is list:
            if is_plain and value:
                # The class of the first element decides which form is tried.
                kind = type(value[0])
                if kind is str and put_ordinary_strings(value, writer, arguments):
                    return
                if kind is int and not arguments and put_ordinary_ints(value, writer):
                    return
            items = list(value)
        else:
            items = in_order(value)
        count = len(items)
        element = arguments[0].final(writer) if arguments else None
        nested = arguments[-1].arguments if arguments else ()
        writer.enter()
        index, before = 0, len(out)
        try:
            types: dict[ClassSerializer | None, None] = {}
            if element is None:
                by_type = writer.by_type.get
                for index in range(count):
                    item = items[index]
                    types[by_type(type(item)) or writer.type_of(item)] = None
                has_null = types.pop(None, 0) is None
            else:
                if count:
                    arguments[0].refuse_arrays(writer, 0)
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
                before = len(out)
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
        if len(out) - before < count:
            writer.spend(count - (len(out) - before))
        writer.depth -= 1

    return write


def declared_writer(declaration: Declaration, write: _Write) -> _Write:
    """The writer of a class that extends a collection, based on the collection's writer.

    Kryo uses the type arguments of the class as those of the collection, whatever the class does with them.
    """
    count = 2 if issubclass(declaration.python, dict) else 1

    def checked(value: Any, writer: WriterProtocol, arguments: Arguments = ()) -> None:
        check_fields(value, declaration)
        if arguments and len(arguments) != count and len(value):
            raise Unencodable(
                f"a {declaration.name} where its type arguments are declared, which are not those of the "
                f"{declaration.extends} that it extends: Java's Kryo cannot write it. Declare the field without them"
            )
        write(with_declared_parts(value, declaration, Signature(declaration.name), writer.notes), writer, arguments)

    return checked


def with_contents_checked(java_name: str, write: _Write) -> _Write:
    """The writer of a collection that cannot have all contents."""

    def checked(value: Any, writer: WriterProtocol, *arguments: Arguments) -> None:
        check_contents(value, java_name)
        write(value, writer, *arguments)

    has_keys = java_name.rpartition(".")[2].strip("12N").endswith(("Set", "Map", "Hashtable"))
    return checked if java_name in NO_NULLS or has_keys else write
