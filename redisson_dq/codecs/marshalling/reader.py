"""From bytes to contents: ``RiverUnmarshaller`` of JBoss Marshalling, as far as Redisson's codec needs it.

Reading past the end raises IndexError or struct.error, which the codec reports as bytes that end too early. Anything
else that is wrong raises Malformed. Each content takes at least one byte, and each length is checked against the
remaining bytes, so time and memory are O(bytes).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from redisson_dq.codecs.faults import Malformed, shorten
from redisson_dq.codecs.marshalling import ids
from redisson_dq.codecs.marshalling.river_bytes import RiverBytes
from redisson_dq.codecs.marshalling.utf import as_java_writes_utf
from redisson_dq.codecs.serialization.descriptors import array_descriptor, jdk_descriptor
from redisson_dq.codecs.serialization.handler import int_bytes, put
from redisson_dq.codecs.serialization.stream import (
    SC_BLOCK_DATA,
    SC_ENUM,
    SC_EXTERNALIZABLE,
    SC_SERIALIZABLE,
    SC_WRITE_METHOD,
    STRUCT_CODES,
    ArrayInstance,
    ClassDesc,
    ClassObject,
    Content,
    EnumConstant,
    FieldDesc,
    Instance,
    Section,
)
from redisson_dq.java.arrays import PRIMITIVE_CODES
from redisson_dq.java.own import own

__all__ = ["RiverReader"]

_OBJECTS = "[Ljava.lang.Object;"
_OBJECT_TYPE = "Ljava/lang/Object;"
_SHORT = struct.Struct(">H")
_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_UNFINISHED: Final = -1  # the flags of a class that is being read
_BLOCKS = {ids.BLOCK_SMALL: 1, ids.BLOCK_MEDIUM: 2, ids.BLOCK_LARGE: 4}


class RiverReader(RiverBytes):
    """One value: its bytes, the position in them, and the objects and classes that can be referred to."""

    __slots__ = ("alike", "classes", "instances", "orders", "version")

    def __init__(self, data: bytes) -> None:
        """Raises Malformed for another version of the protocol."""
        super().__init__(data, 1)
        self.version = data[0]
        if self.version not in ids.VERSIONS:
            raise Malformed(f"version {self.version} of the river protocol; 2 to 4 can be read", 0)
        self.instances: list[Content] = []
        self.classes: list[ClassDesc] = []
        # By id and bytes: boxed numbers, and the empty collections of java.util.Collections.
        self.alike: dict[tuple[int, bytes | None], Instance] = {}
        # By class: its fields in the order of the bytes.
        self.orders: dict[ClassDesc, tuple[FieldDesc, ...]] = {}
        if self.version != ids.VERSION:
            self.other = f"it has version {self.version} of the river protocol"

    def object(self) -> Content:
        """``Unmarshaller.readObject``"""
        start = self.pos
        code = self.data[start]
        self.pos = start + 1
        rule = _RULES.get(code)
        if rule is None:
            raise Malformed(f"no object begins with {code:#04x}", start)
        self._enter(start)
        found = rule(self, code)
        self.depth -= 1
        return found

    # Objects

    def _repeat(self, code: int) -> Content:
        index = self._index(code, ids.REPEAT_OBJECT_FAR, ids.REPEAT_OBJECT_NEAR, len(self.instances))
        found = self.instances[index]
        if type(found) in (Instance, ArrayInstance):
            found.shared = True
        return found

    def _index(self, code: int, far: int, near: int, count: int) -> int:
        start = self.pos
        if code == far:
            index = self._int()
        elif code == near:
            index = self._unsigned(1) - 0x100 + count
        else:
            index = self._unsigned(2) - 0x10000 + count
        if not 0 <= index < count:
            raise Malformed("a reference to something that is not there yet", start)
        return index

    def _text(self, code: int) -> str:
        size = self._count(code - ids.STRING_EMPTY)
        if not size:
            return ""
        text = self._chars(size)
        if text in self.texts:
            text = own(text)
        else:
            self.texts.add(text)
        self.instances.append(text)
        return text

    def _boxed(self, code: int) -> Instance:
        name, layout = ids.BOXED[code]
        raw = self._next_bytes(struct.calcsize(layout))
        return self._one(name, code, raw, dict(zip(("value",), struct.unpack(layout, raw), strict=True)))

    def _boolean(self, code: int) -> Instance:
        return self._one("java.lang.Boolean", code, None, {"value": code == ids.BOOLEAN_TRUE})

    def _one(self, name: str, code: int, key: bytes | None, values: dict[str, Content]) -> Instance:
        """An object without identity in these bytes: the same content each time."""
        found = self.alike.get((code, key))
        if found is None:
            found = self.alike[code, key] = self._instance(name)
            put(found, values)
        return found

    def _instance(self, name: str) -> Instance:
        desc = jdk_descriptor(name)
        assert desc is not None, name
        return Instance(desc, {}, self.pos - 1)

    def _new(self, _code: int) -> Content:
        start = self.pos
        code = self.data[start]
        if code == ids.CLASS_CLASS:
            self.pos += 1
            return ClassObject(self._class(), start)
        desc = self._class()
        if desc.flags & SC_ENUM:
            constant = EnumConstant(desc, self._counted_chars(), start)
            self.instances.append(constant)
            return constant
        if not desc.flags & (SC_SERIALIZABLE | SC_EXTERNALIZABLE) or desc.interfaces is not None:
            raise Malformed(f"an object of {shorten(desc.name, 200)}, which is not Serializable", start)
        instance = Instance(desc, {}, start)
        self.instances.append(instance)
        for part in desc.lineage:
            if part.name in instance.sections:
                raise Malformed(f"class {shorten(part.name, 200)} is its own superclass", start)
            instance.sections[part.name] = section = Section()
            for name, code_of_type in self.orders.get(part, part.fields):
                section.values[name] = self._field(code_of_type)
            if part.flags & (SC_WRITE_METHOD | SC_EXTERNALIZABLE):
                self._annotation(section.annotation)
            if part.name == ids.TIMES:
                section.annotation = [as_java_writes_utf(content) for content in section.annotation]
        return instance

    def _field(self, code: str) -> Content:
        if code not in STRUCT_CODES:
            return self.object()
        layout = ">" + STRUCT_CODES[code]
        (found,) = struct.unpack_from(layout, self.data, self.pos)
        self.pos += struct.calcsize(layout)
        return found

    def _annotation(self, contents: list[Content]) -> None:
        """The data that writeObject or writeExternal wrote, up to its end. Adjacent blocks are joined."""
        blocks: list[bytes] = []
        while True:
            code = self.data[self.pos]
            if code in _BLOCKS:
                self.pos += 1
                blocks.append(self._next_bytes(self._unsigned(_BLOCKS[code])))
                continue
            if blocks:
                contents.append(b"".join(blocks))
                blocks = []
            if code == ids.END_BLOCK:
                self.pos += 1
                return
            contents.append(self.object())

    # Arrays and collections

    def _array(self, code: int) -> ArrayInstance:
        start = self.pos - 1
        size = self._count(code - ids.ARRAY_EMPTY)
        kind = self._class()
        primitive = PRIMITIVE_CODES.get(kind.name)
        array = ArrayInstance(array_descriptor(_array_name(kind.name)), None, start)
        self.instances.append(array)
        if primitive == "Z":
            raw = self._next_bytes((size + 7) // 8)
            array.items = tuple(bool(raw[place >> 3] >> (place & 7) & 1) for place in range(size))
        elif primitive == "B":
            array.items = self._next_bytes(size)
        elif primitive is not None:
            layout = struct.Struct(f">{size}{STRUCT_CODES[primitive]}")
            array.items = layout.unpack(self._next_bytes(layout.size))
        else:
            array.items = []
            self._fill(array.items, size)
        return array

    def _fill(self, target: list[Content], count: int) -> None:
        if count > len(self.data) - self.pos:
            raise Malformed(f"{count} elements are announced, {len(self.data) - self.pos} bytes are there", self.pos)
        for _ in range(count):
            target.append(self.object())

    def _collection(self, code: int) -> Instance:
        start = self.pos - 1
        count = self._count(code - ids.COLLECTION_EMPTY)
        kind = self.data[self.pos]
        self.pos += 1
        name = ids.COLLECTIONS.get(kind)
        if name is None:
            raise Malformed(f"no collection has the id {kind:#04x}", self.pos - 1)
        node = self._instance(name)
        node.offset = start
        values: dict[str, Content] = {"size": count}
        contents: list[Content] = [int_bytes(count)]
        if kind == ids.COPIES:
            self.instances.append(node)
            put(node, {"n": count, "element": self.object()})
        elif kind == ids.ENUM_SET:
            element = ClassObject(self._class(), start)
            self.instances.append(node)
            elements = ArrayInstance(array_descriptor("[Ljava.lang.Enum;"), [], start)
            self._fill(elements.items, count)
            put(node, {"elementType": element, "elements": elements})
        elif name in ("java.util.Vector", "java.util.Stack"):
            self.instances.append(node)
            items = ArrayInstance(array_descriptor(_OBJECTS), [], start)
            self._fill(items.items, count)
            put(node, {"elementCount": count, "elementData": items})
        else:
            self.instances.append(node)
            pairs = name.endswith("Map")
            if kind == ids.ENUM_MAP:
                values["keyType"] = ClassObject(self._class(), start)
            self._fill(contents, 2 * count if pairs else count)
            put(node, values, contents)
        return node

    def _single(self, code: int) -> Instance:
        name, fields = ids.SINGLE_FIELDS[code]
        if not fields:
            return self._one(name, code, None, {})
        node = self._instance(name)
        self.instances.append(node)
        put(node, {field: content for names in fields for content in (self.object(),) for field in names})
        return node

    # Classes

    def _class(self) -> ClassDesc:
        start = self.pos
        code = self.data[start]
        self.pos = start + 1
        if code in (ids.REPEAT_CLASS_FAR, ids.REPEAT_CLASS_NEAR, ids.REPEAT_CLASS_NEARISH):
            desc = self.classes[self._index(code, ids.REPEAT_CLASS_FAR, ids.REPEAT_CLASS_NEAR, len(self.classes))]
            if desc.flags == _UNFINISHED:
                raise Malformed("a class that is a part of itself", start)
            return desc
        if code in (ids.SERIALIZABLE_CLASS, ids.WRITE_OBJECT_CLASS):
            return self._serializable_class(SC_WRITE_METHOD if code == ids.WRITE_OBJECT_CLASS else 0, start)
        if code == ids.PLAIN_CLASS:
            return self._known(ClassDesc(self._counted_chars(), 0))
        if code == ids.ENUM_CLASS:
            desc = ClassDesc(self._counted_chars(), 0, SC_SERIALIZABLE | SC_ENUM, (), jdk_descriptor("java.lang.Enum"))
            return self._known(desc)
        if code == ids.EXTERNALIZABLE_CLASS:
            name = self._counted_chars()
            return self._known(ClassDesc(name, self._long(), SC_EXTERNALIZABLE | SC_BLOCK_DATA))
        if code == ids.OBJECT_ARRAY_CLASS:
            self._enter(start)
            desc = array_descriptor(_array_name(self._class().name))
            self.depth -= 1
            return self._known(desc)
        if code == ids.PROXY_CLASS:
            raise Malformed("a dynamic proxy cannot be read", start)
        known = ids.CLASS_OF_ID.get(code)
        if known is None:
            raise Malformed(f"no class begins with {code:#04x}", start)
        return _described(known)

    def _known(self, desc: ClassDesc) -> ClassDesc:
        self.classes.append(desc)
        return desc

    def _serializable_class(self, flags: int, start: int) -> ClassDesc:
        desc = self._known(ClassDesc("", 0, _UNFINISHED))
        desc.name = self._name()
        desc.uid = self._long()
        count = self._int()
        if not 0 <= 3 * count <= len(self.data) - self.pos:
            raise Malformed(f"{count} fields are announced, {len(self.data) - self.pos} bytes are there", start)
        self._enter(start)
        fields: dict[str, FieldDesc] = {}
        for _ in range(count):
            name = self._name()
            kind = self._class().name
            fields[name] = FieldDesc(name, PRIMITIVE_CODES.get(kind, _OBJECT_TYPE))
            self.pos += 1  # skip the byte that says whether it is unshared
        if len(fields) != count:
            raise Malformed("a class with two fields of one name", start)
        above = self._class()
        self.depth -= 1
        self.orders[desc] = ordered = tuple(fields.values())
        desc.fields = tuple(sorted(ordered, key=lambda field: field.type not in STRUCT_CODES))
        if above.flags & SC_SERIALIZABLE:
            desc.superclass = above
        desc.flags = SC_SERIALIZABLE | flags
        return desc

    # The rest

    def _name(self) -> str:
        if self.version < ids.VERSION:
            return self._counted_chars()
        start = self.pos
        name = self.object()
        if not isinstance(name, str):
            raise Malformed("a name is missing", start)
        if type(name) is not str:
            name = str.__str__(name)
            self.instances[-1] = name
        return name


def _array_name(component: str) -> str:
    if component in PRIMITIVE_CODES:
        return "[" + PRIMITIVE_CODES[component]
    return "[" + component if component.startswith("[") else f"[L{component};"


def _described(name: str) -> ClassDesc:
    """The class of an id."""
    if name.startswith("["):
        return array_descriptor(name)
    return jdk_descriptor(name) or ClassDesc(name, 0)


_RULES: dict[int, Callable[[RiverReader, int], Any]] = {
    ids.NULL: lambda _reader, _code: None,
    ids.REPEAT_OBJECT_FAR: RiverReader._repeat,
    ids.REPEAT_OBJECT_NEAR: RiverReader._repeat,
    ids.REPEAT_OBJECT_NEARISH: RiverReader._repeat,
    ids.NEW_OBJECT: RiverReader._new,
    ids.BOOLEAN_TRUE: RiverReader._boolean,
    ids.BOOLEAN_FALSE: RiverReader._boolean,
    **dict.fromkeys(range(ids.STRING_EMPTY, ids.STRING_EMPTY + 4), RiverReader._text),
    **dict.fromkeys(range(ids.ARRAY_EMPTY, ids.ARRAY_EMPTY + 4), RiverReader._array),
    **dict.fromkeys(range(ids.COLLECTION_EMPTY, ids.COLLECTION_EMPTY + 4), RiverReader._collection),
    **dict.fromkeys(ids.BOXED, RiverReader._boxed),
    **dict.fromkeys(ids.SINGLE_FIELDS, RiverReader._single),
    # A java.lang.Class. An object with the same id has its class written in full.
    **{
        code: lambda reader, code: ClassObject(_described(ids.CLASS_OF_ID[code]), reader.pos - 1)
        for code in ids.CLASS_OF_ID
        if code not in ids.SINGLE_FIELDS and code not in ids.BOXED
    },
}
