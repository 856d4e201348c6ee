"""Objects of declared classes: how Kryo's FieldSerializer, RecordSerializer and EnumSerializer lay them out.

An object is its fields, one after the other, sorted by name over the class and its superclasses. Of two fields with the
same name, the subclass's comes first. A field of a primitive type is its value. A field of a final class is the value
without its class, with null in the form of that class. Any other field is the value with its class. A record's
components are the same, without type arguments. An enum constant is a varint of its ordinal + 1 (0 is null).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import attrs

from redisson_dq.codecs.faults import Malformed, Unencodable, malformed, type_name, unwritable
from redisson_dq.codecs.kryo5.arrays import PRIMITIVE_BYTES, PRIMITIVES
from redisson_dq.codecs.kryo5.class_serializer import NO_SERIALIZER, ClassSerializer, check_serializer
from redisson_dq.codecs.kryo5.generics import Argument, Arguments, argument_of, bind, generics_hierarchy
from redisson_dq.codecs.kryo5.protocols import ReaderProtocol, TypesProtocol, WriterProtocol
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
from redisson_dq.codecs.kryo5.straight import MOSTLY, Step, reading_function, writing_function
from redisson_dq.codecs.kryo5.wire import ascii_name, read_string, read_varint, varint
from redisson_dq.java.assignable import parts_are_assignable, type_fits, value_is_assignable
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.places import Place, field_places, noted_arguments
from redisson_dq.java.signatures import Signature

__all__ = [
    "body_reader",
    "enum_reader",
    "enum_writer",
    "is_generic",
    "object_reader",
    "object_writer",
    "spelled_mostly",
]

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
    """Whether type arguments can affect the class's objects."""
    return declaration.kind == "class" and bool(generics_hierarchy(declaration))


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


def object_reader(declaration: Declaration, types: TypesProtocol) -> _Read:
    """The reader of a declared class's objects. Raises ArgumentError if an annotation is not a Java type."""
    steps = [_step_reader(attribute, declared, types) for attribute, declared in _fields(declaration)]
    java_names = {field.attribute: field.name for field in declaration.all_fields}
    class_name = declaration.name
    early = types.references and declaration.kind != "record"
    by_keyword = declaration.takes_all and not early

    def raise_in_field(error: Exception, at: int, data: bytes, reader: ReaderProtocol) -> NoReturn:
        attribute = steps[at].attribute
        fault = error if isinstance(error, Malformed) else malformed(error, data)
        fault.inside(attribute)
        fault.in_field(class_name, java_names[attribute], reversed(reader.seen))
        if fault is error:
            raise error
        raise fault from error

    def raise_unmakable(error: Exception, start: int) -> NoReturn:
        if isinstance(error, RecursionError):
            raise error
        reason = declaration.unmakable(error) if by_keyword else error
        raise Malformed(str(reason), start).of_classes((class_name,)) from reason

    read = reading_function(
        steps,
        class_name=class_name,
        new=declaration.new if early else None,
        complete=declaration.fill if early else declaration.python if by_keyword else declaration.make,
        by_keyword=by_keyword,
        is_made_by_init=by_keyword and declaration.is_made_by_init,
        raise_in_field=raise_in_field,
        raise_unmakable=raise_unmakable,
    )
    return _bound_reader(declaration, read) if is_generic(declaration) else read


def _erased(declared: Argument, types: TypesProtocol) -> Argument:
    """The field's own class instead of a variable, if that class is final: then Kryo uses no other."""
    if declared.variable is None or types.final(declared.name) is None:
        return declared
    return Argument(declared.name)


def _step_reader(attribute: str, declared: Argument, types: TypesProtocol) -> Step:
    declared = _erased(declared, types)
    arguments = declared.arguments
    if declared.variable is None:
        if declared.name in PRIMITIVES:
            return Step(attribute, _PRIMITIVE_READERS[declared.name], shortcut=declared.name)
        final = types.final(declared.name)
        if final is not None:
            if types.references or arguments:
                return Step(attribute, lambda data, pos, reader: reader.read_nullable(final, data, pos, arguments))
            return Step(attribute, _final_reader(final), shortcut=declared.name)
        if types.is_open(declared.name):
            check, fits = _open_check(declared)
            mostly = spelled_mostly(declared, types)
            return Step(attribute, is_open=True, arguments=arguments, check=check, fits=fits, mostly=mostly)

    check, fits = _open_check(declared)

    def read(data: bytes, pos: int, reader: ReaderProtocol) -> tuple[Any, int]:
        now = declared.final(reader)
        if now is not None:
            return reader.read_nullable(now, data, pos, arguments)
        value, end = reader.read_any(data, pos, arguments)
        if check is not None and type(value) not in fits:
            check(value, pos)
        return value, end

    return Step(attribute, read)


def spelled_mostly(declared: Argument, types: TypesProtocol) -> bytes:
    """The encoded class of most values of a field. Empty if it is not known."""
    name = MOSTLY.get(declared.name, "" if declared.arguments else declared.name)
    return b"" if types.references or types.allowed or not name else ascii_name(name)


def _open_check(declared: Argument) -> tuple[Callable[[Any, int], None] | None, set[type]]:
    """The check of a value in a field whose class is not final, and the types that always pass it.

    The value's class is in the bytes, and must fit the field. Otherwise the bytes do not match the declaration.
    """
    name = declared.name
    # Kryo may resolve a variable to another type, and Java assigns the value without a check.
    if name == "java.lang.Object" or declared.variable is not None or declared.found:
        return None, set()
    fits = {type(None)}

    def check(value: Any, pos: int) -> None:
        if not value_is_assignable(value, name):
            raise Malformed(f"{type_name(value)} where {name} is declared", pos)
        if declared.arguments:
            if not parts_are_assignable(value, declared):
                raise Malformed(f"{type_name(value)} with other parts than {name} is declared with", pos)
        elif type_fits(type(value), name):
            fits.add(type(value))

    return check, fits


def _final_reader(final: ClassSerializer) -> _Read:
    if final.read is read_string:
        return read_string
    if not final.null_mark:
        return lambda data, pos, reader: final.read(data, pos, reader)

    def read(data: bytes, pos: int, reader: ReaderProtocol) -> tuple[Any, int]:
        if data[pos] == 1:
            return final.read(data, pos + 1, reader)
        _null, pos = read_boolean(data, pos)
        return None, pos

    return read


def object_writer(declaration: Declaration, types: TypesProtocol) -> _Write:
    """The writer of a declared class's objects."""
    names = {field.attribute: f"{name}.{field.name}" for name, fields in declaration.typed_fields for field in fields}
    steps = [_step_writer(attribute, declared, types) for attribute, declared in _fields(declaration)]

    def raise_in_field(error: Exception, at: int, value: Any) -> NoReturn:
        attribute = steps[at].attribute
        if isinstance(error, AttributeError) and error.obj is value:
            raise Unencodable(f"the attribute {attribute} of a {type_name(value)} is not set") from error
        _raise_unwritable(error, attribute, names[attribute])

    @functools.lru_cache(maxsize=64)
    def writer_of(arguments: tuple[Signature, ...]) -> _Write:
        """The writer for a class with these type arguments."""
        places = field_places(declaration, arguments)
        placed = [_placed_step(step, places[step.attribute]) for step in steps]
        return writing_function(placed, class_name=declaration.name, raise_in_field=raise_in_field)

    write = writer_of(())

    def write_noted(value: Any, writer: WriterProtocol) -> None:
        writer.enter()
        writer.depth -= 1
        try:
            arguments = noted_arguments(value, declaration, writer.notes)
        except Exception as error:
            _raise_unwritable(error, "", declaration.name)
        writer_of(arguments)(value, writer)

    if declaration.parameters:
        write = write_noted
    return _bound_writer(declaration, write) if is_generic(declaration) else write


def _raise_unwritable(error: Exception, attribute: str, name: str) -> NoReturn:
    """Raise the error of an attribute's value, with the field ``name`` in its path."""
    if isinstance(error, Unencodable):
        error.of_field(name).inside(attribute)
        raise error
    raise unwritable(error, attribute).of_field(name) from error


def _placed_step(step: Step, place: Place | None) -> Step:
    return step if place is None else attrs.evolve(step, place=place, fits=place.exact)


def _step_writer(attribute: str, declared: Argument, types: TypesProtocol) -> Step:
    declared = _erased(declared, types)
    arguments = declared.arguments
    if declared.variable is None:
        if declared.name in PRIMITIVES:
            to_bytes = PRIMITIVE_BYTES[declared.name]
            return Step(attribute, lambda value, writer: writer.out.extend(to_bytes(value)), shortcut=declared.name)
        if declared.name in NO_SERIALIZER:
            return Step(attribute, lambda value, writer: check_serializer(declared.name))
        final = types.final(declared.name)
        if final is not None and not types.allowed and not declared.found:
            shortcut = "" if types.references or arguments else declared.name
            return Step(
                attribute, lambda value, writer: writer.write_nullable(final, value, arguments), shortcut=shortcut
            )
        if types.is_open(declared.name) and not declared.found:
            return Step(attribute, is_open=True, arguments=arguments)

    def write(value: Any, writer: WriterProtocol) -> None:
        # Kryo does not see the argument that a superclass sets, and uses that of an enclosing object.
        now = declared.final(writer)
        if value is not None:
            declared.refuse_arrays(writer, 1)
        if now is None:
            writer.write_any(value, arguments)
        else:
            writer.write_nullable(now, writer.placed(now.name, value), arguments)

    return Step(attribute, write)


def _bound_reader(declaration: Declaration, read: _Read) -> _Read:
    """The reader of objects whose class may have type arguments."""
    chains, own = generics_hierarchy(declaration), len(declaration.parameters)

    def read_bound(data: bytes, pos: int, reader: ReaderProtocol, arguments: Arguments = ()) -> tuple[Any, int]:
        bound = bind(chains, own, arguments, reader)
        if bound is None:
            return read(data, pos, reader)
        before, reader.variables = reader.variables, bound
        value, pos = read(data, pos, reader)
        reader.variables = before
        return value, pos

    return read_bound


def _bound_writer(declaration: Declaration, write: _Write) -> _Write:
    chains, own = generics_hierarchy(declaration), len(declaration.parameters)

    def write_bound(value: Any, writer: WriterProtocol, arguments: Arguments = ()) -> None:
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
            raise Malformed(f"{declaration.name} has no constant of the ordinal {ordinal - 1}", pos).of_classes(
                (declaration.name,)
            )
        return (members[ordinal - 1] if ordinal else None), end

    return read


def body_reader(declaration: Declaration) -> _Read:
    """The reader of constants with a body that the declaration does not name. They are written with the enum's
    class."""
    read = enum_reader(declaration)

    def read_body(data: bytes, pos: int, reader: ReaderProtocol) -> tuple[Any, int]:
        reader.other = f"constant_bodies= of {declaration.name} does not name the class of a constant with a body"
        return read(data, pos)

    return read_body


def enum_writer(declaration: Declaration) -> _Write:
    """The writer of a declared enum's constants."""
    ordinals = {member.name: ordinal for ordinal, member in enumerate(declaration.members, 1)}

    def write(value: Any, writer: WriterProtocol) -> None:
        writer.out.extend(varint(ordinals[value.name]))

    return write
