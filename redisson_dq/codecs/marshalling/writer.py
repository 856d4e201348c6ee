"""From contents to bytes, as ``RiverMarshaller`` of JBoss Marshalling writes the same objects in the same order."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Unencodable
from redisson_dq.codecs.marshalling import ids
from redisson_dq.codecs.marshalling.utf import as_river_writes_utf
from redisson_dq.codecs.serialization import class_descriptors
from redisson_dq.codecs.serialization.descriptors import jdk_descriptor
from redisson_dq.codecs.serialization.stream import (
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
    Instance,
    OwnText,
)
from redisson_dq.codecs.serialization.utf import encode_utf
from redisson_dq.java.arrays import PRIMITIVE_NAMES
from redisson_dq.java.registry import declaration_of

__all__ = ["RiverWriter"]

_BLOCK = 512  # the buffer of Java's marshaller: longer data is split into blocks of this size
_PRIMITIVE_IDS = {code: number for number, code in ids.PRIMITIVES.items()}
_BOXED_IDS = {name: (number, struct.Struct(layout)) for number, (name, layout) in ids.BOXED.items()}
_COUNTED_IDS = {name: number for number, name in ids.COUNTED.items()}
_SINGLE_IDS = {name: (number, fields) for number, (name, fields) in ids.SINGLE_FIELDS.items()}
_pack_short = struct.Struct(">H").pack
_pack_int = struct.Struct(">i").pack
_pack_long = struct.Struct(">q").pack


class RiverWriter:
    """One value. ``out`` collects its bytes, the version first.

    A content that is written twice is a reference the second time, except boxed numbers and empty texts. Equal texts
    count as one content, as do names of classes and fields, like the constants of a Java program.
    """

    __slots__ = ("classes", "count", "depth", "instances", "out", "superclasses")

    def __init__(self) -> None:
        self.out: list[bytes] = [bytes((ids.VERSION,))]
        self.depth = 0
        self.instances: dict[Content, int] = {}
        # By name. A class with its own id has another entry if it is written as a superclass.
        self.classes: dict[str, int] = {}
        self.superclasses: dict[str, int] = {}
        self.count = 0

    def write(self, content: Content) -> None:
        """``Marshaller.writeObject``. Raises Unencodable. O(size of the parts that were not written yet)."""
        if content is None:
            self._byte(ids.NULL)
            return
        if type(content) is str and not content:
            self._byte(ids.STRING_EMPTY)
            return
        place = self.instances.get(content)
        if place is not None:
            self._repeat(place, self.count, ids.REPEAT_OBJECT_NEAR, ids.REPEAT_OBJECT_NEARISH, ids.REPEAT_OBJECT_FAR)
            return
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unencodable(TOO_DEEP)
        _WRITE[type(content)](self, content)
        self.depth -= 1

    def _byte(self, *codes: int) -> None:
        self.out.append(bytes(codes))

    def _new(self, content: Content) -> None:
        self.instances[content] = self.count
        self.count += 1

    def _repeat(self, place: int, count: int, near: int, nearish: int, far: int) -> None:
        back = place - count
        if back >= -0x100:
            self._byte(near, back & 0xFF)
        elif back >= -0x10000:
            self.out += (bytes((nearish,)), _pack_short(back & 0xFFFF))
        else:
            self.out += (bytes((far,)), _pack_int(place))

    def _count(self, empty: int, count: int) -> None:
        """The id for something with this many parts, and the length. The ids of the four length formats are
        consecutive."""
        if not count:
            self._byte(empty)
        elif count <= 0x100:
            self._byte(empty + 1, count & 0xFF)
        elif count <= 0x10000:
            self.out += (bytes((empty + 2,)), _pack_short(count & 0xFFFF))
        else:
            self.out += (bytes((empty + 3,)), _pack_int(count))

    def _text(self, text: str | OwnText) -> None:
        plain = text.text if isinstance(text, OwnText) else text
        self._count(ids.STRING_EMPTY, _units(plain))
        if plain:
            self.out.append(encode_utf(plain))
            self._new(text)

    def _chars(self, text: str) -> None:
        self.out += (_pack_int(_units(text)), encode_utf(text))

    # Objects

    def _instance(self, node: Instance) -> None:
        name = node.desc.name
        if name == "java.lang.Boolean":
            self._byte(ids.BOOLEAN_TRUE if node.sections[name].values["value"] else ids.BOOLEAN_FALSE)
        elif name in _BOXED_IDS:
            code, layout = _BOXED_IDS[name]
            self.out += (bytes((code,)), layout.pack(node.sections[name].values["value"]))
        elif name in _SINGLE_IDS:
            self._single(node, *_SINGLE_IDS[name])
        elif name in _COLLECTIONS:
            _COLLECTIONS[name](self, node)
        else:
            self._object(node)

    def _object(self, node: Instance) -> None:
        declaration = declaration_of(node.desc.name)
        if declaration is not None and declaration.kind == "record":
            raise Unencodable(f"{declaration.name} is a record, which JBoss Marshalling cannot write and read in Java")
        self._byte(ids.NEW_OBJECT)
        self._class(node.desc)
        self._new(node)
        for desc in node.desc.lineage:
            section = node.sections[desc.name]
            for field in sorted(desc.fields, key=_by_name):
                code = STRUCT_CODES.get(field.type)
                if code is None:
                    self.write(section.values[field.name])
                else:
                    self.out.append(struct.pack(">" + code, section.values[field.name]))
            if desc.flags & (SC_WRITE_METHOD | SC_EXTERNALIZABLE):
                for content in section.annotation:
                    if desc.name == ids.TIMES:
                        self._blocks(as_river_writes_utf(content))
                    elif type(content) is bytes:
                        self._blocks(content)
                    else:
                        self.write(content)
                self._byte(ids.END_BLOCK)

    def _blocks(self, data: bytes) -> None:
        for start in range(0, len(data), _BLOCK):
            block = data[start : start + _BLOCK]
            if len(block) < 0x100:
                self._byte(ids.BLOCK_SMALL, len(block))
            else:
                self.out += (bytes((ids.BLOCK_MEDIUM,)), _pack_short(len(block)))
            self.out.append(block)

    def _single(self, node: Instance, code: int, fields: tuple[tuple[str, ...], ...]) -> None:
        if fields:
            self._new(node)
        self._byte(code)
        values = {name: value for section in node.sections.values() for name, value in section.values.items()}
        for name, *_ in fields:
            self.write(values[name])

    def _counted(self, node: Instance) -> None:
        """A collection whose writeObject writes the number of its elements or pairs, and then these."""
        name = node.desc.name
        _, *contents = node.sections[name].annotation
        self._elements(node, _COUNTED_IDS[name], contents, len(contents) // 2 if name.endswith("Map") else None)

    def _vector(self, node: Instance) -> None:
        values = node.sections["java.util.Vector"].values
        self._elements(node, _COUNTED_IDS[node.desc.name], values["elementData"].items[: values["elementCount"]])

    def _elements(self, node: Instance, code: int, contents: list[Content], count: int | None = None) -> None:
        self._new(node)
        self._count(ids.COLLECTION_EMPTY, len(contents) if count is None else count)
        self._byte(code)
        for content in contents:
            self.write(content)

    def _copies(self, node: Instance) -> None:
        values = node.sections[node.desc.name].values
        if values["n"]:
            self._elements(node, ids.COPIES, [values["element"]], values["n"])
        else:
            self._byte(_SINGLE_IDS["java.util.Collections$EmptyList"][0])

    def _enum_set(self, node: Instance) -> None:
        values = node.sections[node.desc.name].values
        contents = values["elements"].items
        self._count(ids.COLLECTION_EMPTY, len(contents))
        self._byte(ids.ENUM_SET)
        self._class(values["elementType"].desc)
        self._new(node)
        for content in contents:
            self.write(content)

    def _enum_map(self, node: Instance) -> None:
        section = node.sections[node.desc.name]
        _, *contents = section.annotation
        self._new(node)
        self._count(ids.COLLECTION_EMPTY, len(contents) // 2)
        self._byte(ids.ENUM_MAP)
        self._class(section.values["keyType"].desc)
        for content in contents:
            self.write(content)

    def _array(self, array: ArrayInstance) -> None:
        code = array.desc.name[1:]
        items = array.items
        primitive = _PRIMITIVE_IDS.get(code)
        self._count(ids.ARRAY_EMPTY, len(items))
        if primitive is None:
            self._class_named(array.desc.component)
            self._new(array)
            for item in items:
                self.write(item)
            return
        self._new(array)
        self._byte(primitive)
        if code == "B":
            self.out.append(items)
        elif code == "Z":
            bits = sum(1 << place for place, item in enumerate(items) if item)
            self.out.append(bits.to_bytes((len(items) + 7) // 8, "little"))
        else:
            self.out.append(struct.pack(f">{len(items)}{STRUCT_CODES[code]}", *items))

    def _enum(self, constant: EnumConstant) -> None:
        self._byte(ids.NEW_OBJECT)
        self._class(constant.desc)
        self._chars(constant.name)
        self._new(constant)

    def _class_object(self, content: ClassObject) -> None:
        code = ids.ID_OF_CLASS.get(content.desc.name)
        if code is None or code in ids.SINGLE_FIELDS:
            self._byte(ids.NEW_OBJECT, ids.CLASS_CLASS)
        self._class(content.desc)

    # Classes

    def _class_named(self, name: str) -> None:
        """A class known only by name, as the type of an array's elements."""
        code = ids.ID_OF_CLASS.get(name)
        declaration = declaration_of(name)
        if code is not None:
            self._byte(code)
        elif name.startswith("["):
            self._class(ClassDesc(name, 0))
        elif declaration is not None:
            self._class(class_descriptors.declared_descriptor(declaration))
        else:
            self._class(jdk_descriptor(name) or ClassDesc(name, 0))

    def _class(self, desc: ClassDesc) -> None:
        code = ids.ID_OF_CLASS.get(desc.name)
        if code is not None:
            self._byte(code)
            return
        place = self.classes.get(desc.name, self.superclasses.get(desc.name))
        if place is not None:
            self._repeat_class(place)
        elif desc.name.startswith("["):
            self._byte(ids.OBJECT_ARRAY_CLASS)
            self._class_named(desc.component)
            self._new_class(self.classes, desc)
        elif desc.flags & SC_ENUM:
            self._byte(ids.ENUM_CLASS)
            self._chars(desc.name)
            self._new_class(self.classes, desc)
        elif desc.flags & SC_EXTERNALIZABLE:
            self._byte(ids.EXTERNALIZABLE_CLASS)
            self._chars(desc.name)
            self.out.append(_pack_long(desc.uid))
            self._new_class(self.classes, desc)
        elif desc.flags & SC_SERIALIZABLE:
            self._serializable_class(desc)
        else:
            self._byte(ids.PLAIN_CLASS)
            self._chars(desc.name)
            self._new_class(self.classes, desc)

    def _repeat_class(self, place: int) -> None:
        count = len(self.classes) + len(self.superclasses)
        self._repeat(place, count, ids.REPEAT_CLASS_NEAR, ids.REPEAT_CLASS_NEARISH, ids.REPEAT_CLASS_FAR)

    def _new_class(self, known: dict[str, int], desc: ClassDesc) -> None:
        known[desc.name] = len(self.classes) + len(self.superclasses)

    def _serializable_class(self, desc: ClassDesc) -> None:
        self._byte(ids.WRITE_OBJECT_CLASS if desc.flags & SC_WRITE_METHOD else ids.SERIALIZABLE_CLASS)
        self.write(desc.name)
        self.out.append(_pack_long(desc.uid))
        self._new_class(self.superclasses, desc)
        self.out.append(_pack_int(len(desc.fields)))
        for field in sorted(desc.fields, key=_by_name):
            self.write(field.name)
            primitive = PRIMITIVE_NAMES.get(field.type)
            self._byte(ids.OBJECT_CLASS if primitive is None else ids.ID_OF_CLASS[primitive], 0)
        above = desc.superclass
        if above is None:
            self._byte(ids.OBJECT_CLASS)
        elif above.name in self.superclasses:
            self._repeat_class(self.superclasses[above.name])
        else:
            self._serializable_class(above)


def _units(text: str) -> int:
    """The length of a text in Java, in UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _by_name(field: Any) -> bytes:
    return bytes(field.name.encode("utf-16-be", "surrogatepass"))


_COLLECTIONS: dict[str, Callable[[RiverWriter, Instance], None]] = {
    **dict.fromkeys(_COUNTED_IDS, RiverWriter._counted),
    "java.util.Vector": RiverWriter._vector,
    "java.util.Stack": RiverWriter._vector,
    ids.COLLECTIONS[ids.COPIES]: RiverWriter._copies,
    ids.COLLECTIONS[ids.ENUM_SET]: RiverWriter._enum_set,
    ids.COLLECTIONS[ids.ENUM_MAP]: RiverWriter._enum_map,
}
_WRITE: dict[type, Any] = {
    str: RiverWriter._text,
    OwnText: RiverWriter._text,
    Instance: RiverWriter._instance,
    ArrayInstance: RiverWriter._array,
    EnumConstant: RiverWriter._enum,
    ClassObject: RiverWriter._class_object,
}
