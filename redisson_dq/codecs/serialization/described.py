"""Objects of undeclared classes: read and written as the stream describes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from redisson_dq.codecs.faults import Malformed, Unencodable, shorten
from redisson_dq.codecs.serialization.handler import ClassHandler
from redisson_dq.codecs.serialization.protocols import DecoderProtocol, EncoderProtocol
from redisson_dq.codecs.serialization.stream import (
    SC_EXTERNALIZABLE,
    SC_WRITE_METHOD,
    STRUCT_CODES,
    ClassDesc,
    Content,
    EnumConstant,
    Instance,
    Section,
)
from redisson_dq.java.numbers import Byte, Character, Float, Short, decoded_long
from redisson_dq.java.values import BlockData, JavaObject

__all__ = ["as_it_was", "generic_fields", "read_generic", "read_generic_constant", "write_generic"]

_GENERIC: dict[str, Callable[[Any], Any]] = {
    "B": Byte,
    "C": lambda unit: Character(chr(unit)),
    "F": Float,
    "J": decoded_long,
    "S": Short,
}


def read_generic(node: Instance, decoder: DecoderProtocol) -> JavaObject:
    """An object as the stream describes it: its fields, and by class, the data that the class wrote itself."""
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


def as_it_was(name: str) -> ClassHandler:
    """The handler of a JDK class whose objects become JavaObjects, which are written unchanged."""
    return ClassHandler(name, lambda node, decoder: decoder.complete(node, read_generic), identity=True)


def generic_fields(desc: ClassDesc, section: Section, decoder: DecoderProtocol) -> dict[str, Any]:
    """The fields of a class by Java name, with the types from the stream."""
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


def write_generic(node: Instance, value: JavaObject, encoder: EncoderProtocol) -> None:
    """Give a new object the parts of the object that was read, in the order of its class in the stream."""
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
