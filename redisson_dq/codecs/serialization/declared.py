"""The user's own classes, as their declarations describe them; and objects of classes that nobody declared."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

from redisson_dq.codecs.faults import Malformed, Unencodable, shorten, type_name, unwritable
from redisson_dq.codecs.serialization.descriptors import jdk_descriptor, one_for_all
from redisson_dq.codecs.serialization.fitting import primitive
from redisson_dq.codecs.serialization.protocols import DecoderProtocol, EncoderProtocol
from redisson_dq.codecs.serialization.stream import (
    SC_ENUM,
    SC_EXTERNALIZABLE,
    SC_SERIALIZABLE,
    SC_WRITE_METHOD,
    STRUCT_CODES,
    ClassDesc,
    Content,
    EnumConstant,
    FieldDesc,
    Instance,
    Section,
)
from redisson_dq.java.arrays import PRIMITIVE_CODES, PRIMITIVE_NAMES
from redisson_dq.java.assignable import value_is_assignable
from redisson_dq.java.declaration import Declaration, Field
from redisson_dq.java.hierarchy import said_supertypes
from redisson_dq.java.numbers import Byte, Character, Float, Short, decoded_long
from redisson_dq.java.places import field_places, noted_arguments, with_declared_parts
from redisson_dq.java.registry import declaration_for
from redisson_dq.java.signatures import Signature
from redisson_dq.java.values import BlockData, JavaObject

__all__ = [
    "LEAVES",
    "declaration_line",
    "field_order",
    "generic_fields",
    "declared_descriptor",
    "descriptor_of_object",
    "ancestry",
    "read_collection",
    "read_constant",
    "read_generic",
    "read_generic_constant",
    "read_declared",
    "write_collection",
    "write_generic",
    "type_code",
    "write_declared",
]


#: Classes that have no subclasses, or none here.
LEAVES = frozenset(
    (
        *("java.lang.String", "java.lang.Boolean", "java.lang.Character", "java.lang.Byte", "java.lang.Short"),
        *("java.lang.Integer", "java.lang.Long", "java.lang.Float", "java.lang.Double", "java.math.BigInteger"),
        *("java.math.BigDecimal", "java.util.UUID", "java.net.URI", "java.net.URL", "java.util.Currency"),
    )
)

# Descriptors


@one_for_all(functools.cache)  # pyright: ignore[reportArgumentType] - a declaration hashes
def declared_descriptor(declaration: Declaration) -> ClassDesc:
    """The class as its own Java class file would describe it. Raises Unencodable if that is not known."""
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
        parent = None  # not Serializable, or of no account
    # Of the classes of the JDK that have no fields only Number is named beside the interfaces.
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
    """The class descriptor of an object that is written. Raises Unencodable if Java could not read the object."""
    for part in ancestry(declaration):
        if part.not_serialized:
            raise Unencodable(
                f"{part.name} is not written in Java's serialization, because {part.not_serialized}: send an object of "
                "another class, or take another codec"
            )
    return declared_descriptor(declaration)


def _serial_version_uid(declaration: Declaration) -> int:
    """The class's serialVersionUID.

    A class without one has a digest of its modifiers, interfaces, constructors and methods. A Python class tells
    nothing of these; a reader of class files could compute it. That of a record is 0, and not compared.
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
    """The type of a field as in a class file."""
    name = field.type.name
    if name in PRIMITIVE_CODES:
        return PRIMITIVE_CODES[name]
    name = name.replace(".", "/")
    return name if name.startswith("[") else f"L{name};"


def field_order(field: FieldDesc) -> tuple[bool, bytes]:
    """Primitives first, each group by name, as Java compares strings: by UTF-16 units."""
    return field.type not in STRUCT_CODES, field.name.encode("utf-16-be", "surrogatepass")


def declaration_line(desc: ClassDesc) -> str:
    """The decorator to declare a class of the stream with, for messages."""
    name = shorten(desc.name, 200)
    if desc.flags & SC_ENUM:
        return f'@java_class("{name}")'
    return f'@java_class("{name}", serial_version_uid={desc.uid})'


# Reading


def read_declared(node: Instance, declaration: Declaration, decoder: DecoderProtocol) -> Any:
    """An object of a declared class."""
    if declaration.kind == "enum":
        raise Malformed(f"class {declaration.name} is declared as an enum, and is none", node.offset)
    made = decoder.begin(node, declaration.new())
    values: dict[str, Any] = {}
    parts = dict(node.sections)
    name = ""
    try:
        for part in ancestry(declaration):
            _check_class(part, node, decoder)
            section = parts.pop(part.name, None) or Section()
            _check_fields(part, section, node)
            for field in part.fields:
                name = field.attribute
                values[name] = _field_value(field, section, decoder)
                _check_value(part, field, section.values.get(field.name), values[name], node)
    except Malformed as error:
        if name:
            error.inside(name)
        raise
    for rest in parts:
        raise Malformed(
            f"{declaration.name} has a superclass {shorten(rest, 200)} with fields: declare it, as a base class",
            node.offset,
        ).of_classes((declaration.name,))
    try:
        declaration.fill(made, values)
    except ValueError as error:
        raise Malformed(str(error), node.offset) from error
    return made


def ancestry(declaration: Declaration) -> Iterator[Declaration]:
    """The class's superclasses, the topmost first, and the class."""
    if declaration.superclass is not None:
        yield from ancestry(declaration.superclass)
    yield declaration


def _check_class(part: Declaration, node: Instance, decoder: DecoderProtocol) -> None:
    """Refuse a class of another version, as Java does. Note a class with a writeObject."""
    desc: ClassDesc | None = node.desc
    while desc is not None and desc.name != part.name:
        desc = desc.superclass
    known = part.serial_version_uid
    if desc is not None and known is not None and part.kind == "class" and desc.uid != known:
        raise Malformed(
            f"{part.name} has the serialVersionUID {desc.uid} in the bytes, {known} in its declaration", node.offset
        ).of_classes((part.name,))
    if desc is not None and desc.flags & SC_WRITE_METHOD:
        decoder.other = f"{part.name} has a writeObject in Java, which its bytes tell and a declaration cannot"


def _check_fields(part: Declaration, section: Section, node: Instance) -> None:
    codes = {desc.name: desc.type for desc in _fields_of(part.name, node)}
    for field in part.fields:
        found = codes.pop(field.name, None)
        declared = type_code(field)
        if found is not None and found != declared and (found in STRUCT_CODES or declared in STRUCT_CODES):
            raise Malformed(
                f"{part.name}.{field.name} is of type {_type_name(found)} in the bytes, "
                f"{field.type.name} in its declaration",
                node.offset,
            ).of_classes((part.name,))
    for name, code in codes.items():
        fault = f"{part.name} has a field {shorten(name, 200)} of type {_type_name(code)} that its declaration lacks"
        if part.not_serialized:  # a declaration made again lacks it as well
            raise Malformed(f"{fault}: {part.not_serialized}", node.offset)
        raise Malformed(fault, node.offset).of_classes((part.name,))


def _check_value(part: Declaration, field: Field, content: Content, value: Any, node: Instance) -> None:
    """Refuse a value of another type than the field's, which Java cannot put into it either."""
    declared = field.type.name
    if content is None or declared in PRIMITIVE_CODES or field.type.variable is not None:
        return
    if declared in LEAVES:
        found = "java.lang.String" if isinstance(content, str) else content.desc.name
        fit = found == declared
    else:
        found = type_name(value)
        # A declared class that Python does not derive from the field's may still be a subclass in Java.
        fit = value_is_assignable(value, declared) or declaration_for(type(value)) is not None
    if not fit:
        raise Malformed(
            f"{part.name}.{field.name} is of type {shorten(found, 200)} in the bytes, {declared} in its declaration",
            node.offset,
        ).of_classes((part.name,))


def _fields_of(name: str, node: Instance) -> tuple[FieldDesc, ...]:
    return next((desc.fields for desc in node.desc.lineage if desc.name == name), ())


def _type_name(code: str) -> str:
    return PRIMITIVE_NAMES.get(code) or shorten(code.removeprefix("L").removesuffix(";").replace("/", "."), 200)


def _field_value(field: Field, section: Section, decoder: DecoderProtocol) -> Any:
    """The value of a field; of one that the bytes do not have, Java's zero."""
    kind = field.type.name
    if kind not in PRIMITIVE_CODES:
        return decoder.value(section.values.get(field.name))
    found = section.values.get(field.name, 0)
    if kind == "char":
        return chr(found)
    if kind == "boolean":
        return bool(found)
    return float(found) if kind in ("float", "double") else found


def read_constant(node: EnumConstant, declaration: Declaration) -> Enum:
    """A constant of a declared enum."""
    if node.name not in declaration.constants:
        raise Malformed(
            f"{declaration.name} has no constant {shorten(node.name, 200)} in its declaration", node.offset
        ).of_classes((declaration.name,))
    return declaration.members[declaration.constants.index(node.name)]


_GENERIC: dict[str, Callable[[Any], Any]] = {
    "B": Byte,
    "C": lambda unit: Character(chr(unit)),
    "F": Float,
    "J": decoded_long,
    "S": Short,
}


def read_collection(
    node: Instance, declaration: Declaration, read: Callable[..., Any], decoder: DecoderProtocol
) -> Any:
    """An object of a class that extends a collection. ``read`` reads one of that collection."""
    try:
        made = declaration.collection(decoder.complete(node, read))
    except ValueError as error:
        raise Malformed(str(error), node.offset) from error
    for part in ancestry(declaration):
        _check_class(part, node, decoder)
        section = node.sections.get(part.name) or Section()
        _check_fields(part, section, node)
        for field in part.fields:
            value = _field_value(field, section, decoder)
            _check_value(part, field, section.values.get(field.name), value, node)
            if not hasattr(type(made), field.attribute):
                raise Malformed(
                    f"{part.name}.{field.name}: Python holds its elements in no set or dict, as they have no hash",
                    node.offset,
                )
            object.__setattr__(made, field.attribute, value)
    return made


def write_collection(
    node: Instance, value: Any, declaration: Declaration, write: Any, encoder: EncoderProtocol
) -> None:
    """Give a new object of such a class its elements and its fields."""
    own = _write_fields(value, declaration, encoder)
    write(node, with_declared_parts(value, declaration, Signature(declaration.name), encoder.notes), encoder)
    node.sections.update(own)


def read_generic(node: Instance, decoder: DecoderProtocol) -> JavaObject:
    """An object as the stream describes it: its fields, and by class the data that the class wrote by itself."""
    made: JavaObject = decoder.begin(node, JavaObject(node.desc.name, described=node.desc))
    for desc in node.desc.lineage:
        section = node.sections[desc.name]
        if made.fields.keys() & section.values.keys():
            raise Malformed(f"class {shorten(node.desc.name, 200)} has two fields of one name", node.offset)
        made.fields |= generic_fields(desc, section, decoder)
        if section.annotation:
            made.data[desc.name] = [
                BlockData(content) if type(content) is bytes else decoder.value(content)
                for content in section.annotation
            ]
    return made


def generic_fields(desc: ClassDesc, section: Section, decoder: DecoderProtocol) -> dict[str, Any]:
    """The fields of one class by Java name, of the types that the stream says."""
    values: dict[str, Any] = {}
    name = ""
    try:
        for name, code in desc.fields:
            found = section.values[name]
            make = _GENERIC.get(code) if code in STRUCT_CODES else decoder.value
            values[name] = found if make is None else make(found)
    except Malformed as error:
        error.inside(name)
        raise
    return values


def read_generic_constant(node: EnumConstant) -> JavaObject:
    """A constant of an undeclared enum."""
    return JavaObject(node.desc.name, {"name": node.name}, described=node.desc)


# Writing


def write_declared(node: Instance, value: Any, declaration: Declaration, encoder: EncoderProtocol) -> None:
    """Give a new object of a declared class its fields."""
    node.sections.update(_write_fields(value, declaration, encoder))


def _write_fields(value: Any, declaration: Declaration, encoder: EncoderProtocol) -> dict[str, Section]:
    """By class: the fields of an object of a declared class."""
    sections: dict[str, Section] = {}
    field: Field | None = None
    name = ""
    try:
        places = field_places(declaration, noted_arguments(value, declaration, encoder.notes))
        for name, fields in declaration.typed_fields:
            values: dict[str, Content] = {}
            for field in fields:
                given = getattr(value, field.attribute)
                if field.type.name in PRIMITIVE_CODES:
                    values[field.name] = primitive(given, field.type.name)
                else:
                    values[field.name] = encoder.placed(given, places[field.attribute])
            sections[name] = Section(values)
    except Unencodable as error:
        if field is not None:
            error.of_field(f"{name}.{field.name}").inside(field.attribute)
        raise
    except Exception as error:
        if isinstance(error, AttributeError) and error.obj is value:
            raise Unencodable(f"{declaration.python.__qualname__} without one of its attributes: {error}") from error
        if field is None:
            raise unwritable(error) from error
        raise unwritable(error, field.attribute).of_field(f"{name}.{field.name}") from error
    return sections


def write_generic(node: Instance, value: JavaObject, encoder: EncoderProtocol) -> None:
    """Give a new object the parts that were read of it, in the order of its class in the stream."""
    left, data = dict(value.fields), dict(value.data)
    for desc in node.desc.lineage:
        values: dict[str, Content] = {}
        for name, code in desc.fields:
            if name not in left:
                raise Unencodable(f"a JavaObject of {value.java_name} without its field {shorten(name, 80)}")
            values[name] = encoder.described(left.pop(name), code, name)
        annotation = data.pop(desc.name, ())
        if annotation and not desc.flags & (SC_WRITE_METHOD | SC_EXTERNALIZABLE):
            raise Unencodable(f"class {desc.name} writes nothing beside its fields")
        contents = [bytes(item) if type(item) is BlockData else encoder.content(item) for item in annotation]
        node.sections[desc.name] = Section(values, contents)
    for unknown in (*left, *data):
        raise Unencodable(f"{value.java_name} has no field or class {shorten(str(unknown), 80)}")
