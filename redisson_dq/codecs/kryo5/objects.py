"""Objects of declared classes: how Kryo's FieldSerializer, RecordSerializer and EnumSerializer lay them out.

An object is its fields, one after the other, sorted by name over the class and its superclasses (of two with one
name the subclass's comes first). A field of a primitive type is its value; one of a final class the value without its
class, null as that class has it; any other the value with its class. A record's components are the same, without
type arguments. An enum constant is a varint of its ordinal + 1 (0 is null).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Malformed, Unencodable, type_name, unwritable
from redisson_dq.codecs.kryo5.arrays import PRIMITIVES, primitive_bytes
from redisson_dq.codecs.kryo5.generics import Argument, Arguments, argument_of, bind, hierarchy
from redisson_dq.codecs.kryo5.scalars import (
    read_boolean,
    read_double,
    read_integer,
    read_plain_byte,
    read_plain_character,
    read_plain_float,
    read_plain_long,
    read_plain_short,
)
from redisson_dq.codecs.kryo5.wire import read_string, read_varint, varint
from redisson_dq.codecs.serialization.fitting import fit
from redisson_dq.java.declare import Declaration, Signature

if TYPE_CHECKING:
    from redisson_dq.codecs.kryo5.reader import Reader
    from redisson_dq.codecs.kryo5.types import JavaType, Types
    from redisson_dq.codecs.kryo5.writer import Writer

__all__ = ["enum_reader", "enum_writer", "is_generic", "object_reader", "object_writer"]

_NUMBERS = frozenset(f"java.lang.{name}" for name in ("Byte", "Short", "Integer", "Long", "Float", "Double"))

_Read = Callable[..., "tuple[Any, int]"]
_Write = Callable[..., None]

_PRIMITIVE_READERS: dict[str, _Read] = {
    "boolean": read_boolean,
    "byte": read_plain_byte,
    "char": read_plain_character,
    "short": read_plain_short,
    "int": read_integer,
    "long": read_plain_long,
    "float": read_plain_float,
    "double": read_double,
}


def is_generic(declaration: Declaration) -> bool:
    """Whether type arguments can matter to the class's objects."""
    return declaration.kind == "class" and bool(hierarchy(declaration))


def _fields(declaration: Declaration) -> list[tuple[str, Argument]]:
    """The attributes and types of an object's fields in Kryo's order."""
    found: list[tuple[str, str, Argument]] = []
    current: Declaration | None = declaration
    while current is not None:
        for field in current.fields:
            declared = argument_of(field.type, current, declaration)
            found.append((field.name, field.attribute, declared))
        current = current.superclass
    found.sort(key=lambda entry: entry[0])
    if declaration.kind == "record":
        return [(attribute, Argument(declared.name)) for _name, attribute, declared in found]
    return [(attribute, declared) for _name, attribute, declared in found]


def object_reader(declaration: Declaration, types: Types) -> _Read:
    """The reader of a declared class's objects. Raises ArgumentError for a declaration that names no Java type."""
    steps = [(attribute, _step_reader(declared, types)) for attribute, declared in _fields(declaration)]
    fill, new, make = declaration.fill, declaration.new, declaration.make
    early = types.references and declaration.kind != "record"

    def read(data: bytes, pos: int, reader: Reader) -> tuple[Any, int]:
        start = pos
        reader.depth += 1
        if reader.depth > MAX_DEPTH:
            raise Malformed(TOO_DEEP, pos)
        instance = None
        if early:
            instance = new()
            reader.register(instance)
        values: dict[str, Any] = {}
        attribute = ""
        try:
            for attribute, step in steps:
                values[attribute], pos = step(data, pos, reader)
        except Malformed as exc:
            exc.inside(attribute)
            raise
        reader.depth -= 1
        try:
            if instance is None:
                return make(values), pos
            fill(instance, values)
        except ValueError as exc:
            raise Malformed(str(exc), start) from exc
        return instance, pos

    return _bound_reader(declaration, read) if is_generic(declaration) else read


def _step_reader(declared: Argument, types: Types) -> _Read:
    if declared.variable is None and declared.name in PRIMITIVES:
        return _PRIMITIVE_READERS[declared.name]
    arguments = declared.arguments
    final = types.final(declared.name) if declared.variable is None else None
    if final is not None:
        if types.references or arguments:
            return lambda data, pos, reader: reader.read_nullable(final, data, pos, arguments)
        return _final_reader(final)
    if declared.variable is None and types.is_open(declared.name):
        if arguments:
            return lambda data, pos, reader: reader.read_any(data, pos, arguments)
        return lambda data, pos, reader: reader.read_any(data, pos)

    def read(data: bytes, pos: int, reader: Reader) -> tuple[Any, int]:
        now = declared.final(reader)
        if now is None:
            return reader.read_any(data, pos, arguments)
        return reader.read_nullable(now, data, pos, arguments)

    return read


def _final_reader(final: JavaType) -> _Read:
    if final.read is read_string:
        return read_string
    if not final.null_mark:
        return lambda data, pos, reader: final.read(data, pos, reader)

    def read(data: bytes, pos: int, reader: Reader) -> tuple[Any, int]:
        if data[pos] == 1:
            return final.read(data, pos + 1, reader)
        _null, pos = read_boolean(data, pos)
        return None, pos

    return read


def object_writer(declaration: Declaration, types: Types) -> _Write:
    """The writer of a declared class's objects."""
    real = {field.attribute: field.type for _name, fields in declaration.typed_fields for field in fields}
    steps = [
        (attribute, _step_writer(declared, types, real[attribute])) for attribute, declared in _fields(declaration)
    ]

    def write(value: Any, writer: Writer) -> None:
        writer.enter()
        attribute = ""
        try:
            for attribute, step in steps:
                step(getattr(value, attribute), writer)
        except Unencodable as exc:
            exc.inside(attribute)
            raise
        except Exception as exc:
            if isinstance(exc, AttributeError) and exc.obj is value:
                raise Unencodable(f"the attribute {attribute} of a {type_name(value)} is not set") from exc
            raise unwritable(exc, attribute) from exc
        writer.depth -= 1

    return _bound_writer(declaration, write) if is_generic(declaration) else write


def _step_writer(declared: Argument, types: Types, real: Signature) -> Callable[[Any, Writer], None]:
    if declared.variable is None and declared.name in PRIMITIVES:
        name = declared.name
        return lambda value, writer: writer.out.append(primitive_bytes(name, value))
    arguments = declared.arguments
    final = types.final(declared.name) if declared.variable is None else None
    if final is not None and not types.allowed:
        return lambda value, writer: writer.write_nullable(final, writer.fitted(final, value), arguments)
    if declared.variable is None and types.is_open(declared.name):
        return lambda value, writer: writer.write_any(writer.assignable(declared.name, value), arguments)

    # Kryo does not see the argument that a class further up gives; Java's getters cast to it all the same.
    is_number = declared.variable is not None and real.variable is None and real.name in _NUMBERS

    def write(value: Any, writer: Writer) -> None:
        now = declared.final(writer)
        if now is None:
            if is_number:
                value = fit(value, real)
            writer.write_any(writer.assignable(declared.name, value), arguments)
        else:
            writer.write_nullable(now, writer.fitted(now, value), arguments)

    return write


def _bound_reader(declaration: Declaration, read: _Read) -> _Read:
    """The reader of an object that may be given the type arguments of its class."""
    chains, own = hierarchy(declaration), len(declaration.parameters)

    def read_bound(data: bytes, pos: int, reader: Reader, arguments: Arguments = ()) -> tuple[Any, int]:
        bound = bind(chains, own, arguments, reader)
        if bound is None:
            return read(data, pos, reader)
        before, reader.variables = reader.variables, bound
        value, pos = read(data, pos, reader)
        reader.variables = before
        return value, pos

    return read_bound


def _bound_writer(declaration: Declaration, write: _Write) -> _Write:
    chains, own = hierarchy(declaration), len(declaration.parameters)

    def write_bound(value: Any, writer: Writer, arguments: Arguments = ()) -> None:
        bound = bind(chains, own, arguments, writer)
        if bound is None:
            write(value, writer)
            return
        before, writer.variables = writer.variables, bound
        write(value, writer)
        writer.variables = before

    return write_bound


def enum_reader(declaration: Declaration) -> _Read:
    """The reader of a declared enum's constants."""
    members = declaration.members

    def read(data: bytes, pos: int, _: object = None) -> tuple[Any, int]:
        ordinal, end = read_varint(data, pos)
        if ordinal > len(members):
            raise Malformed(f"{declaration.name} has no constant of the ordinal {ordinal - 1}", pos)
        return (members[ordinal - 1] if ordinal else None), end

    return read


def enum_writer(declaration: Declaration) -> _Write:
    """The writer of a declared enum's constants."""
    ordinals = {member.name: ordinal for ordinal, member in enumerate(declaration.members, 1)}

    def write(value: Any, writer: Writer) -> None:
        writer.out.append(varint(ordinals[value.name]))

    return write
