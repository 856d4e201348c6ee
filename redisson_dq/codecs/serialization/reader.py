"""From bytes to contents: a method for each rule of the stream's grammar.

Reading past the end raises IndexError or struct.error, which the codec reports as bytes that end too early; anything
else that is wrong raises :class:`Malformed`. Each content takes at least one byte, and each length is checked against
the remaining bytes, so time and memory are O(bytes).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from redisson_dq.codecs.faults import MAX_DEPTH, Malformed, shorten
from redisson_dq.codecs.serialization import stream
from redisson_dq.codecs.serialization.contents import ContentReader
from redisson_dq.codecs.serialization.stream import (
    ArrayInstance,
    ClassDesc,
    ClassObject,
    Content,
    EnumConstant,
    FieldDesc,
    Instance,
    Section,
)
from redisson_dq.codecs.serialization.utf import decode_utf
from redisson_dq.java.own import own

__all__ = ["StreamReader"]

_SHORT = struct.Struct(">H")
_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_UNFINISHED: Final = -1  # the flags of a class descriptor that is being read
_END: Final = object()  # represents TC_ENDBLOCKDATA
_MOST_INTERFACES = 65535
_DESC_CODES = frozenset((stream.NULL, stream.REFERENCE, stream.CLASS_DESC, stream.PROXY_CLASS_DESC))
_BEGIN_OR_END_BLOCK = frozenset(
    bytes((code,)) for code in (stream.BLOCK_DATA, stream.BLOCK_DATA_LONG, stream.END_BLOCK_DATA)
)
_TEXT_CODES = frozenset((stream.REFERENCE, stream.STRING, stream.LONG_STRING))


class StreamReader(ContentReader):
    """One stream: its bytes, the position in them, and the contents that have handles.

    A Java stream may contain several objects, and later ones may refer to earlier ones.
    """

    __slots__ = ("constants", "handles")

    def __init__(self, data: bytes, pos: int = 0) -> None:
        """Reads the stream's header. Raises Malformed if it is not that of Java's version 5."""
        if data[pos : pos + 4] != stream.HEADER:
            raise Malformed("the bytes do not begin as a Java serialization stream does: AC ED 00 05", pos)
        super().__init__(data, pos + 4)
        self.handles: list[Content] = []
        # By name of an enum constant, which is a text with its own handle: the last handle.
        self.constants: dict[str, int] = {}

    def object(self) -> Content:
        """``object``, as ObjectInputStream.readObject reads it."""
        while self.data[self.pos] == stream.RESET:
            self.pos += 1
            self.handles.clear()
            self.texts.clear()
            self.constants.clear()
        return _not_block(self._content(), self.pos)

    def _content(self) -> Content:
        """``content``, or the mark of its end."""
        start = self.pos
        rule = _RULES.get(self.data[start])
        if rule is None:
            raise Malformed(f"no content begins with {self.data[start]:#04x}", start)
        self.pos = start + 1
        return rule(self, start)

    # Objects

    def instance(self, start: int, desc: ClassDesc | None = None) -> Instance:
        """``newObject: TC_OBJECT classDesc newHandle classdata[]``. ``desc`` is its class if it is already read."""
        desc = desc or self.class_desc()
        if desc is None:
            raise Malformed("an object without a class", start)
        instance = Instance(desc, {}, start)
        self.handles.append(instance)
        self._enter(start)
        for part in desc.lineage:
            if part.name in instance.sections:
                raise Malformed(f"class {shorten(part.name, 200)} is its own superclass", start)
            instance.sections[part.name] = section = Section()
            if part.flags & stream.SC_WRITE_METHOD:
                self._written(part, section)
            elif part.flags & stream.SC_SERIALIZABLE:
                self._values(part, section.values)
            elif part.flags & stream.SC_BLOCK_DATA:
                self._annotation(section.annotation)
            else:
                raise Malformed(f"only class {shorten(part.name, 200)} itself knows where its data ends", start)
        self.depth -= 1
        return instance

    def _written(self, desc: ClassDesc, section: Section) -> None:
        """The data of a class with a writeObject of its own: its fields, then any contents.

        The specification requires the fields first. The error names a class that leaves them out, because its data
        cannot be read here.
        """
        start = self.pos
        try:
            self._values(desc, section.values)
            self._annotation(section.annotation)
        except (Malformed, IndexError, struct.error) as error:
            if not desc.fields or self.data[start : start + 1] not in _BEGIN_OR_END_BLOCK:
                raise
            name = shorten(desc.name, 200)
            raise Malformed(
                f"class {name} seems to write data without its fields: its writeObject lacks defaultWriteObject()",
                start,
            ) from error

    def _values(self, desc: ClassDesc, values: dict[str, Content]) -> None:
        """``values: the fields in the descriptor's order``"""
        primitives, names, others = desc.layout
        values.update(zip(names, primitives.unpack_from(self.data, self.pos), strict=True))
        self.pos += primitives.size
        for name in others:
            values[name] = _not_block(self._content(), self.pos)

    def _annotation(self, contents: list[Content]) -> None:
        """``objectAnnotation: contents endBlockData``. Adjacent block data is joined, as in Java."""
        blocks: list[bytes] = []
        while True:
            content = self._content()
            if type(content) is bytes:
                blocks.append(content)
                continue
            if blocks:
                contents.append(b"".join(blocks))
                blocks = []
            if content is _END:
                return
            contents.append(content)

    def _array(self, start: int) -> ArrayInstance:
        """``newArray: TC_ARRAY classDesc newHandle (int)<size> values[size]``"""
        desc = self.class_desc()
        if desc is None or desc.name[:1] != "[" or len(desc.name) < 2:
            raise Malformed("an array whose class is none", start)
        array = ArrayInstance(desc, None, start)
        self.handles.append(array)
        (size,) = _INT.unpack_from(self.data, self.pos)
        self.pos += 4
        code = desc.name[1:]
        width = struct.calcsize(stream.STRUCT_CODES[code]) if code in stream.STRUCT_CODES else 1
        left = len(self.data) - self.pos
        if not 0 <= size * width <= left:
            raise Malformed(f"an array of {size} elements is announced, {left} bytes are there", start)
        if code == "B":
            array.items = self._next_bytes(size)
        elif code in stream.STRUCT_CODES:
            array.items = struct.unpack_from(f">{size}{stream.STRUCT_CODES[code]}", self.data, self.pos)
            self.pos += size * width
        else:
            array.items = items = []
            self._enter(start)
            for _ in range(size):
                items.append(_not_block(self._content(), self.pos))
            self.depth -= 1
        return array

    def _enum(self, start: int) -> EnumConstant:
        """``newEnum: TC_ENUM classDesc newHandle enumConstantName``"""
        desc = self.class_desc()
        if desc is None:
            raise Malformed("an enum constant without a class", start)
        constant = EnumConstant(desc, "", start)
        self.handles.append(constant)
        constant.name = self._text_object()
        self.constants[constant.name] = len(self.handles) - 1
        return constant

    def _class(self, start: int) -> ClassObject:
        """``newClass: TC_CLASS classDesc newHandle``"""
        desc = self.class_desc()
        if desc is None:
            raise Malformed("a Class object without a class", start)
        found = ClassObject(desc, start)
        self.handles.append(found)
        return found

    def _string(self, _start: int) -> str:
        """``TC_STRING newHandle (utf)``"""
        return self._new_text(self._utf())

    def _long_string(self, start: int) -> str:
        """``TC_LONGSTRING newHandle (long-utf)``"""
        (length,) = _LONG.unpack_from(self.data, self.pos)
        self.pos += 8
        left = len(self.data) - self.pos
        if not 0 <= length <= left:
            raise Malformed(f"a text of {length} bytes is announced, {left} are there", start)
        begin = self.pos
        return self._new_text(decode_utf(self._next_bytes(length), begin))

    def _new_text(self, text: str) -> str:
        """A text with a handle. If it equals an earlier text without being a reference to it, it is a separate
        object."""
        if text in self.texts:
            text = own(text)
        else:
            self.texts.add(text)
        self.handles.append(text)
        return text

    def _reference(self, start: int) -> Content:
        """``prevObject: TC_REFERENCE (int)handle``"""
        (handle,) = _INT.unpack_from(self.data, self.pos)
        self.pos += 4
        index = handle - stream.BASE_HANDLE
        if not 0 <= index < len(self.handles):
            raise Malformed(f"handle {handle & 0xFFFFFFFF:#x} refers to nothing yet", start)
        found = self.handles[index]
        if type(found) in (Instance, ArrayInstance):
            found.shared = True
        elif type(found) is str and self.constants.get(found, -1) > index:
            self.other = "it has a text that is the name of an enum's constant and another object in Java"
        return found

    # Class descriptors

    def class_desc(self) -> ClassDesc | None:
        """``classDesc: newClassDesc | nullReference | (ClassDesc)prevObject``, complete."""
        start = self.pos
        desc = self._content() if self.data[start] in _DESC_CODES else _END
        if desc is not None and (type(desc) is not ClassDesc or desc.flags == _UNFINISHED):
            raise Malformed("a class is missing", start)
        return desc

    def _new_class_desc(self, start: int) -> ClassDesc:
        """``TC_CLASSDESC className serialVersionUID newHandle classDescInfo``"""
        name = self._utf()
        (uid,) = _LONG.unpack_from(self.data, self.pos)
        self.pos += 8
        desc = ClassDesc(name, uid, _UNFINISHED)
        self.handles.append(desc)
        flags = self.data[self.pos]
        self.pos += 1
        if flags & stream.SC_SERIALIZABLE and flags & stream.SC_EXTERNALIZABLE:
            raise Malformed(f"class {shorten(name, 200)} is both Serializable and Externalizable", start)
        desc.fields = self._fields()
        self._finish(desc, flags, start)
        return desc

    def _fields(self) -> tuple[FieldDesc, ...]:
        """``fields: (short)<count> fieldDesc[count]``"""
        start = self.pos
        (count,) = _SHORT.unpack_from(self.data, start)
        self.pos += 2
        if 3 * count > len(self.data) - self.pos:
            raise Malformed(f"{count} fields are announced, {len(self.data) - self.pos} bytes are there", start)
        fields: dict[str, FieldDesc] = {}
        objects = False
        for _ in range(count):
            code = chr(self.data[self.pos])
            self.pos += 1
            name = self._utf()
            if code in "L[":
                objects = True
                start, kind = self.pos, code
                code = self._text_object()
                if code[:1] != kind:
                    raise Malformed(f"a field of type {shorten(code, 80)!r} where {kind!r} is announced", start)
            elif code not in stream.STRUCT_CODES or objects:
                raise Malformed(f"a field of type {code!r} where none can be", start)
            fields[name] = FieldDesc(name, code)
        if len(fields) != count:
            raise Malformed("a class with two fields of one name", start)
        return tuple(fields.values())

    def _new_proxy_class_desc(self, start: int) -> ClassDesc:
        """``TC_PROXYCLASSDESC newHandle (int)<count> proxyInterfaceName[count] classAnnotation superClassDesc``"""
        desc = ClassDesc("", 0, _UNFINISHED)
        self.handles.append(desc)
        (count,) = _INT.unpack_from(self.data, self.pos)
        self.pos += 4
        if not 0 <= count <= _MOST_INTERFACES:
            raise Malformed(f"a proxy of {count} interfaces", start)
        desc.interfaces = tuple(self._utf() for _ in range(count))
        self._finish(desc, stream.SC_SERIALIZABLE, start)
        return desc

    def _finish(self, desc: ClassDesc, flags: int, start: int) -> None:
        """``classAnnotation superClassDesc``. The annotation of a class (an RMI code base) is ignored."""
        self._enter(start)
        self._annotation([])
        desc.superclass = self.class_desc()
        self.depth -= 1
        ancestors = 0
        parent = desc.superclass
        while parent is not None:
            ancestors += 1
            parent = parent.superclass
        if ancestors > MAX_DEPTH:
            raise Malformed(f"a class with more than {MAX_DEPTH} superclasses", start)
        desc.flags = flags

    # The rest

    def _block(self, start: int) -> bytes:
        """``TC_BLOCKDATA (unsigned byte)<size> (byte)[size]``"""
        size = self.data[self.pos]
        self.pos += 1
        return self._block_of(size, start)

    def _long_block(self, start: int) -> bytes:
        """``TC_BLOCKDATALONG (int)<size> (byte)[size]``"""
        (size,) = _INT.unpack_from(self.data, self.pos)
        self.pos += 4
        return self._block_of(size, start)

    def _block_of(self, size: int, start: int) -> bytes:
        left = len(self.data) - self.pos
        if not 0 <= size <= left:
            raise Malformed(f"a block of {size} bytes is announced, {left} are there", start)
        return self._next_bytes(size)

    def _reset(self, start: int) -> Content:
        raise Malformed("a reset inside an object", start)

    def _exception(self, start: int) -> Content:
        """``exception: TC_EXCEPTION reset (Throwable)object reset``: the error that made the writer give up."""
        self.handles.clear()
        thrown = self._content()
        kind = thrown.desc.name if isinstance(thrown, Instance) else "something that is not an exception"
        raise Malformed(f"Java gave up writing the value: {shorten(kind, 200)}", start)

    def _utf(self) -> str:
        (length,) = _SHORT.unpack_from(self.data, self.pos)
        begin = self.pos + 2
        self.pos = begin
        return decode_utf(self._next_bytes(length), begin)

    def _text_object(self) -> str:
        start = self.pos
        text = self._content() if self.data[start] in _TEXT_CODES else _END
        if not isinstance(text, str):
            raise Malformed("a text is missing", start)
        text = str.__str__(text)
        if self.data[start] != stream.REFERENCE:
            self.handles[-1] = text
        return text


def _not_block(content: Content, end: int) -> Content:
    """The content, if it can be a value. It ends at the current position."""
    if content is _END or type(content) is bytes:
        raise Malformed("block data where an object is due", end)
    return content


_RULES: dict[int, Callable[[StreamReader, int], Any]] = {
    stream.NULL: lambda _reader, _start: None,
    stream.REFERENCE: StreamReader._reference,
    stream.CLASS_DESC: StreamReader._new_class_desc,
    stream.PROXY_CLASS_DESC: StreamReader._new_proxy_class_desc,
    stream.OBJECT: StreamReader.instance,
    stream.STRING: StreamReader._string,
    stream.LONG_STRING: StreamReader._long_string,
    stream.ARRAY: StreamReader._array,
    stream.CLASS: StreamReader._class,
    stream.ENUM: StreamReader._enum,
    stream.BLOCK_DATA: StreamReader._block,
    stream.BLOCK_DATA_LONG: StreamReader._long_block,
    stream.END_BLOCK_DATA: lambda _reader, _start: _END,
    stream.RESET: StreamReader._reset,
    stream.EXCEPTION: StreamReader._exception,
}
