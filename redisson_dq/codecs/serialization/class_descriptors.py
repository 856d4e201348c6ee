"""The descriptors of the user's own classes, as in their class files."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from redisson_dq.codecs.faults import Unencodable, shorten
from redisson_dq.codecs.serialization.descriptors import jdk_descriptor, one_for_all
from redisson_dq.codecs.serialization.stream import (
    SC_ENUM,
    SC_SERIALIZABLE,
    STRUCT_CODES,
    ClassDesc,
    FieldDesc,
)
from redisson_dq.java.arrays import PRIMITIVE_CODES
from redisson_dq.java.declaration import Declaration, Field
from redisson_dq.java.hierarchy import said_supertypes

__all__ = ["ancestry", "declaration_line", "declared_descriptor", "descriptor_of_object", "field_order", "type_code"]


@one_for_all(functools.cache)  # pyright: ignore[reportArgumentType] - a declaration hashes
def declared_descriptor(declaration: Declaration) -> ClassDesc:
    """The class as its Java class file would describe it. Raises Unencodable if that is not known."""
    if declaration.kind == "enum":
        return ClassDesc(declaration.name, 0, SC_SERIALIZABLE | SC_ENUM, (), jdk_descriptor("java.lang.Enum"))
    said = said_supertypes(declaration)
    if "java.io.Externalizable" in said:
        raise Unencodable(f"{declaration.name} is Externalizable: only its writeExternal() knows what Java reads")
    if declaration.says_all and "java.io.Serializable" not in said:
        raise Unencodable(f"{declaration.name} is not Serializable in Java")
    parent = declaration.superclass
    if parent is not None and parent.says_all and "java.io.Serializable" not in said_supertypes(parent):
        if parent.all_fields:
            raise Unencodable(
                f"{declaration.name} extends {parent.name}, which is not Serializable in Java: its fields would be lost"
            )
        parent = None
    if parent is not None and not parent.extends and parent.serial_version_uid is None and not parent.all_fields:
        parent = None  # not Serializable, or not relevant
    # Number is the only JDK class without fields that is named in addition to the interfaces.
    is_number = any(named.signature.name == "java.lang.Number" for named in declaration.implements)
    above = declaration.extends or ("java.lang.Number" if is_number else "")
    return ClassDesc(
        declaration.name,
        _serial_version_uid(declaration),
        SC_SERIALIZABLE,
        tuple(sorted((FieldDesc(field.name, type_code(field)) for field in declaration.fields), key=field_order)),
        declared_descriptor(parent) if parent is not None else jdk_descriptor(above),
    )


def descriptor_of_object(declaration: Declaration) -> ClassDesc:
    """The class descriptor for writing an object. Raises Unencodable if Java could not read the object."""
    for part in ancestry(declaration):
        if part.not_serialized:
            raise Unencodable(
                f"{part.name} is not written in Java's serialization, because {part.not_serialized}: send an object of "
                "another class, or take another codec"
            )
    return declared_descriptor(declaration)


def _serial_version_uid(declaration: Declaration) -> int:
    """The class's serialVersionUID.

    If a class declares none, Java uses a digest of its modifiers, interfaces, constructors and methods, which a Python
    class does not have. That of a record is 0, and not compared.
    """
    if declaration.serial_version_uid is not None:
        return declaration.serial_version_uid
    if declaration.kind == "record":
        return 0
    raise Unencodable(
        f"the serialVersionUID of {declaration.name} is not known: declare it with "
        f'@java_class("{declaration.name}", serial_version_uid=...); the JDK\'s serialver prints it'
    )


def type_code(field: Field) -> str:
    """The type of a field, as in a class file."""
    name = field.type.name
    if name in PRIMITIVE_CODES:
        return PRIMITIVE_CODES[name]
    name = name.replace(".", "/")
    return name if name.startswith("[") else f"L{name};"


def field_order(field: FieldDesc) -> tuple[bool, bytes]:
    """Primitives first, each group by name, as Java compares strings: by UTF-16 units."""
    return field.type not in STRUCT_CODES, field.name.encode("utf-16-be", "surrogatepass")


def declaration_line(desc: ClassDesc) -> str:
    """The decorator that declares a class of the stream, for messages."""
    name = shorten(desc.name, 200)
    if desc.flags & SC_ENUM:
        return f'@java_class("{name}")'
    return f'@java_class("{name}", serial_version_uid={desc.uid})'


def ancestry(declaration: Declaration) -> Iterator[Declaration]:
    """The class's superclasses, the topmost first, and the class."""
    if declaration.superclass is not None:
        yield from ancestry(declaration.superclass)
    yield declaration
