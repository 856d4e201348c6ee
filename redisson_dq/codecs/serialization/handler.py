"""The handlers of the registry, and how they read and write a class's data."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

import attrs

from redisson_dq.codecs.faults import Malformed, shorten
from redisson_dq.codecs.serialization.protocols import DecoderProtocol, EncoderProtocol
from redisson_dq.codecs.serialization.stream import (
    SC_EXTERNALIZABLE,
    SC_WRITE_METHOD,
    STRUCT_CODES,
    ArrayInstance,
    ClassDesc,
    Content,
    Instance,
    Section,
)
from redisson_dq.codecs.serialization.utf import decode_utf, encode_utf
from redisson_dq.java.own import is_own

__all__ = ["Data", "ClassHandler", "array_field", "field", "int_bytes", "put", "text_field", "utf_bytes"]

_Read = Callable[[Instance, DecoderProtocol], Any]
_Write = Callable[[Instance, Any, EncoderProtocol], None]

int_bytes = struct.Struct(">i").pack
_REQUIRED: Any = object()


@attrs.frozen
class ClassHandler:
    """A Java class: how its objects are read, and how a Python value is written as one.

    ``write`` fills an Instance whose class is ``name``. ``python`` is the exact type that becomes this class.
    ``identity`` says that an object is written once, and later occurrences refer to it.
    """

    name: str
    read: _Read
    python: type | None = None
    write: _Write | None = None
    identity: bool = False


def field(node: Instance, name: str, kind: type | tuple[type, ...], default: Any = _REQUIRED) -> Any:
    """A field's content, checked to be of that Python type, or ``default`` if the class has no such field.

    The topmost class that has a field of this name counts. Raises Malformed.
    """
    for section in node.sections.values():
        if name in section.values:
            found = section.values[name]
            if not isinstance(found, kind):
                break
            return found
    else:
        if default is not _REQUIRED:
            return default
    raise Malformed(f"class {shorten(node.desc.name, 200)} without its field {name}", node.offset)


def text_field(
    node: Instance, name: str, decoder: DecoderProtocol, *, null: bool = False, default: Any = _REQUIRED
) -> Any:
    """The text of a field, for a value that does not remember its Java object. Raises Malformed."""
    found = field(node, name, (str, type(None)) if null else str, default)
    if is_own(found):
        decoder.other = "it has two equal texts that are two objects in Java, and one when they are written"
        return str.__str__(found)
    return found


def array_field(node: Instance, name: str, array_class: str) -> Any:
    """The items of a field with an array of that class. Raises Malformed."""
    found: ArrayInstance = field(node, name, ArrayInstance)
    if found.desc.name != array_class:
        raise Malformed(f"class {shorten(node.desc.name, 200)} without its field {name}", node.offset)
    return found.items


class Data:
    """The data that writeObject of one of an object's classes wrote, read in order, as by readObject."""

    __slots__ = ("_block", "_contents", "_next", "_node", "_pos")

    def __init__(self, node: Instance, java_class: str) -> None:
        section = node.sections.get(java_class)
        if section is None:
            raise Malformed(f"class {shorten(node.desc.name, 200)} without the data of {java_class}", node.offset)
        self._node = node
        self._contents = section.annotation
        self._next = 0
        self._block = b""
        self._pos = 0

    def unpack(self, layout: str) -> tuple[Any, ...]:
        """Primitive values, in a format of the struct module."""
        return struct.unpack(layout, self.next_bytes(struct.calcsize(layout)))

    def integer(self) -> int:
        """``readInt``"""
        return self.unpack(">i")[0]  # type: ignore[no-any-return]

    def next_bytes(self, size: int) -> bytes:
        """The next ``count`` bytes."""
        if self._pos == len(self._block) and self._next < len(self._contents):
            content = self._contents[self._next]
            if type(content) is bytes:
                self._block, self._pos = content, 0
                self._next += 1
        found = self._block[self._pos : self._pos + size]
        if len(found) < size:
            raise self._wrong()
        self._pos += size
        return found

    def utf(self) -> str:
        """``readUTF``"""
        (length,) = self.unpack(">H")
        return decode_utf(self.next_bytes(length), self._node.offset)

    def content(self) -> Content:
        """``readObject``, as a content."""
        if self._pos < len(self._block) or self._next == len(self._contents):
            raise self._wrong()
        found = self._contents[self._next]
        if type(found) is bytes:
            raise self._wrong()
        self._next += 1
        return found

    def contents(self, count: int) -> list[Content]:
        """Reads ``count`` objects, which must be all the rest. O(count)."""
        if self._pos < len(self._block) or count != len(self._contents) - self._next:
            raise self._wrong()
        found = self._contents[self._next :]
        if bytes in map(type, found):
            raise self._wrong()
        self._next = len(self._contents)
        return found

    def up_to_null(self) -> list[Content]:
        """The remaining objects, up to the null that ends them."""
        found = self.contents(len(self._contents) - self._next)
        if not found or found[-1] is not None:
            raise self._wrong()
        return found[:-1]

    def end(self) -> None:
        """Refuse any remaining data."""
        self.contents(0)

    def _wrong(self) -> Malformed:
        name = shorten(self._node.desc.name, 200)
        return Malformed(f"what class {name} writes by itself is not what it should be", self._node.offset)


def put(node: Instance, values: dict[str, Content], annotation: Iterable[Content] = ()) -> None:
    """Give an object its fields, and the data of its topmost class with a writeObject.

    Fields that are not named are zero or null.
    """
    for desc in node.desc.lineage:
        section = Section({name: values.get(name, zero) for name, zero in _zeros(desc)})
        if desc.flags & (SC_WRITE_METHOD | SC_EXTERNALIZABLE):
            section.annotation.extend(annotation)
            annotation = ()
        node.sections[desc.name] = section


def _zeros(desc: ClassDesc) -> list[tuple[str, Content]]:
    return [(name, 0 if kind in STRUCT_CODES else None) for name, kind in desc.fields]


def utf_bytes(text: str) -> bytes:
    """``writeUTF``"""
    raw = encode_utf(text)
    return len(raw).to_bytes(2, "big") + raw
