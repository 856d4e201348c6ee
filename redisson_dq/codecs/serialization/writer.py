"""From contents to bytes, as ObjectOutputStream writes the same objects in the same order."""

from __future__ import annotations

import struct
from typing import Any

from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Unencodable
from redisson_dq.codecs.serialization import stream
from redisson_dq.codecs.serialization.stream import (
    ArrayInstance,
    ClassDesc,
    ClassObject,
    Content,
    EnumConstant,
    Instance,
    OwnText,
)
from redisson_dq.codecs.serialization.utf import encode_utf

__all__ = ["StreamWriter"]

_MOST_BLOCK_DATA = 1024  # Java's buffer: longer data is split into blocks of this size
_MOST_UTF = 0xFFFF

_pack_int = struct.Struct(">i").pack
_pack_long = struct.Struct(">q").pack
_pack_short = struct.Struct(">H").pack
_NULL = bytes((stream.NULL,))
_END = bytes((stream.END_BLOCK_DATA,))


class StreamWriter:
    """A stream. ``out`` collects its bytes, the header first. ``depth`` is the depth of the next content.

    A content that is written twice is a reference the second time. Equal texts count as one content, like the constants
    of a Java program. The name of an enum constant is never a reference, because Java cannot read one there. As in
    Java, a later reference to that text uses the handle of the name.
    """

    __slots__ = ("count", "depth", "handles", "out")

    def __init__(self) -> None:
        self.out: list[bytes] = [stream.HEADER]
        self.depth = 0
        self.handles: dict[Content, int] = {}
        # Not the number of contents: a text may have had several handles.
        self.count = 0

    def write(self, content: Content) -> None:
        """``content``. Raises Unencodable if it nests too deep. O(size of the parts that were not written yet)."""
        if content is None:
            self.out.append(_NULL)
            return
        if type(content) is bytes:
            self._blocks(content)
            return
        handle = self.handles.get(content)
        if handle is not None:
            self.out.append(b"\x71" + _pack_int(stream.BASE_HANDLE + handle))
        elif type(content) is str:
            self._string(content)
        else:
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise Unencodable(TOO_DEEP)
            _WRITE[type(content)](self, content)
            self.depth -= 1

    def _new_handle(self, content: Content) -> None:
        self.handles[content] = self.count
        self.count += 1

    def _string(self, text: str | OwnText) -> None:
        """``TC_STRING newHandle (utf) | TC_LONGSTRING newHandle (long-utf)``"""
        raw = encode_utf(text.text if isinstance(text, OwnText) else text)
        self._new_handle(text)
        if len(raw) <= _MOST_UTF:
            self.out += (b"\x74", _pack_short(len(raw)), raw)
        else:
            self.out += (b"\x7c", _pack_long(len(raw)), raw)

    def _instance(self, instance: Instance) -> None:
        """``TC_OBJECT classDesc newHandle classdata[]``"""
        self.out.append(b"\x73")
        self.write(instance.desc)
        self._new_handle(instance)
        for desc in instance.desc.lineage:
            section = instance.sections[desc.name]
            primitives, names, others = desc.layout
            values = section.values
            if names:
                self.out.append(primitives.pack(*[values[name] for name in names]))
            for name in others:
                self.write(values[name])
            if desc.flags & (stream.SC_WRITE_METHOD | stream.SC_EXTERNALIZABLE):
                for content in section.annotation:
                    self.write(content)
                self.out.append(_END)

    def _array(self, array: ArrayInstance) -> None:
        """``TC_ARRAY classDesc newHandle (int)<size> values[size]``"""
        self.out.append(b"\x75")
        self.write(array.desc)
        self._new_handle(array)
        items = array.items
        self.out.append(_pack_int(len(items)))
        code = array.desc.name[1:]
        if code == "B":
            self.out.append(items)
        elif code in stream.STRUCT_CODES:
            self.out.append(struct.pack(f">{len(items)}{stream.STRUCT_CODES[code]}", *items))
        else:
            for item in items:
                self.write(item)

    def _enum(self, constant: EnumConstant) -> None:
        """``TC_ENUM classDesc newHandle enumConstantName``, the name as a string of its own."""
        self.out.append(b"\x7e")
        self.write(constant.desc)
        self._new_handle(constant)
        self._string(constant.name)

    def _class(self, content: ClassObject) -> None:
        """``TC_CLASS classDesc newHandle``"""
        self.out.append(b"\x76")
        self.write(content.desc)
        self._new_handle(content)

    def _class_desc(self, desc: ClassDesc) -> None:
        """``TC_CLASSDESC className serialVersionUID newHandle flags fields classAnnotation superClassDesc``"""
        name = encode_utf(desc.name)
        self.out += (b"\x72", _pack_short(len(name)), name, _pack_long(desc.uid))
        self._new_handle(desc)
        self.out.append(bytes((desc.flags,)) + _pack_short(len(desc.fields)))
        for field in desc.fields:
            raw = encode_utf(field.name)
            self.out += (field.type[0].encode(), _pack_short(len(raw)), raw)
            if field.type not in stream.STRUCT_CODES:
                self.write(field.type)
        self.out.append(_END)
        self.write(desc.superclass)

    def _blocks(self, data: bytes) -> None:
        """``TC_BLOCKDATA (unsigned byte)<size> (byte)[size] | TC_BLOCKDATALONG (int)<size> (byte)[size]``"""
        for start in range(0, len(data), _MOST_BLOCK_DATA):
            block = data[start : start + _MOST_BLOCK_DATA]
            head = bytes((0x77, len(block))) if len(block) < 0x100 else b"\x7a" + _pack_int(len(block))
            self.out += (head, block)


_WRITE: dict[type, Any] = {
    Instance: StreamWriter._instance,
    ArrayInstance: StreamWriter._array,
    EnumConstant: StreamWriter._enum,
    ClassObject: StreamWriter._class,
    ClassDesc: StreamWriter._class_desc,
    OwnText: StreamWriter._string,
}
