"""Objects of the user's own classes, as declared."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from redisson_dq.codecs.faults import Malformed, Unencodable, shorten, type_name, unwritable
from redisson_dq.codecs.serialization.class_descriptors import ancestry, type_code
from redisson_dq.codecs.serialization.fitting import primitive
from redisson_dq.codecs.serialization.protocols import DecoderProtocol, EncoderProtocol
from redisson_dq.codecs.serialization.stream import (
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
from redisson_dq.java.assignable import parts_are_assignable, value_is_assignable
from redisson_dq.java.declaration import Declaration, Field
from redisson_dq.java.places import field_places, noted_arguments, with_declared_parts
from redisson_dq.java.signatures import Signature

__all__ = ["LEAVES", "read_collection", "read_constant", "read_declared", "write_collection", "write_declared"]


#: Classes that have no subclasses, or none here.
LEAVES = frozenset(
    (
        *("java.lang.String", "java.lang.Boolean", "java.lang.Character", "java.lang.Byte", "java.lang.Short"),
        *("java.lang.Integer", "java.lang.Long", "java.lang.Float", "java.lang.Double", "java.math.BigInteger"),
        *("java.math.BigDecimal", "java.util.UUID", "java.net.URI", "java.net.URL", "java.util.Currency"),
    )
)

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


def _check_class(part: Declaration, node: Instance, decoder: DecoderProtocol) -> None:
    """Refuse a class of another version, like Java. Note a class with a writeObject."""
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
        if part.not_serialized:  # a generated declaration lacks it too
            raise Malformed(f"{fault}: {part.not_serialized}", node.offset)
        raise Malformed(fault, node.offset).of_classes((part.name,))


def _check_value(part: Declaration, field: Field, content: Content, value: Any, node: Instance) -> None:
    """Refuse a value of another type than the field's, which Java could not assign either."""
    declared = field.type.name
    if content is None or declared in PRIMITIVE_CODES or field.type.variable is not None:
        return
    if declared in LEAVES:
        found = "java.lang.String" if isinstance(content, str) else content.desc.name
        fit = found == declared
    else:
        found = type_name(value)
        fit = value_is_assignable(value, declared)
    if fit and not parts_are_assignable(value, field.type):
        found, fit = f"{type_name(value)} with other parts", False
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
    """The value of a field. Java's zero if the bytes do not have it."""
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


def read_collection(
    node: Instance, declaration: Declaration, read: Callable[..., Any], decoder: DecoderProtocol
) -> Any:
    """An object of a class that extends a collection. ``read`` reads such a collection."""
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


# Writing


def write_declared(node: Instance, value: Any, declaration: Declaration, encoder: EncoderProtocol) -> None:
    """Give a new object of a declared class its fields."""
    node.sections.update(_write_fields(value, declaration, encoder))


def _write_fields(value: Any, declaration: Declaration, encoder: EncoderProtocol) -> dict[str, Section]:
    """The fields of an object of a declared class, by class."""
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
