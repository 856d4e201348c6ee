"""The stream of ordinary values, written directly, without contents in between, by a function for each declared class.

Ordinary are declared classes, lists, dicts, texts, enums and the usual numbers. Encoder and StreamWriter write any
other part of a value, with the same handles. If something is wrong, they write the whole value again and raise the
error. So bytes and errors are the same without this module.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from enum import Enum
from typing import Any

from redisson_dq.codecs.serialization import class_descriptors, stream
from redisson_dq.codecs.serialization.collection_handlers import LOAD_FACTOR
from redisson_dq.codecs.serialization.descriptors import jdk_descriptor
from redisson_dq.codecs.serialization.encoder import Encoder
from redisson_dq.codecs.serialization.fitting import primitive
from redisson_dq.codecs.serialization.stream import BASE_HANDLE, STRUCT_CODES, ClassDesc
from redisson_dq.codecs.serialization.utf import encode_utf
from redisson_dq.codecs.serialization.writer import StreamWriter
from redisson_dq.codecs.straight import Unusual, attribute_of, compiled
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.hashing import hash_map_capacity
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, Long
from redisson_dq.java.places import field_places
from redisson_dq.java.registry import declaration_for, generation

__all__ = ["written"]

#: Writes a value at a depth.
_Put = Callable[[Any, "_Straight", int], None]

#: Limits: a deeper value is not ordinary, nor is an object of a class with more superclasses.
_MOST_DEPTH = 50

_pack_int = struct.Struct(">i").pack
_pack_short = struct.Struct(">H").pack
_NULL, _END = b"\x70", b"\x78"
_SHORT = 256
#: References to the first handles, and the first bytes of short texts.
_REFERENCES = tuple(b"\x71" + _pack_int(BASE_HANDLE + handle) for handle in range(_SHORT))
_TEXTS = tuple(b"\x74" + _pack_short(length) for length in range(_SHORT))

#: By type code of a primitive field: the test for an ``item`` that the struct module cannot pack.
_PRIMITIVES = {
    "I": f"type(item) is not int or not {INT_MIN} <= item <= {INT_MAX}",
    "J": f"type(item) is not int or not {LONG_MIN} <= item <= {LONG_MAX}",
    "D": "type(item) is not float",
    "Z": "type(item) is not bool",
}


def written(value: Any) -> bytes | None:
    """The stream of a value. None if Encoder and StreamWriter have to write it, or raise the error."""
    global _functions
    kind = type(value)
    if kind is not list and kind is not dict and declaration_for(kind) is None:
        return None
    if _functions.generation != generation():
        _functions = _Functions()
    writer = _Straight(_functions)
    try:
        writer.put(value, 0)
        # For an object of a generic class, the place that is seen first decides, and the order here is different.
        return None if writer.encoder.notes else b"".join(writer.out)
    except Exception:
        return None


class _Boxed:
    """A JDK class with one primitive field. Up to ``most_shared``, each value has a single object."""

    def __init__(self, name: str, layout: str, most_shared: int) -> None:
        self.name = name
        self.pack = struct.Struct(layout).pack
        self.most_shared = most_shared
        self.desc = _described(name)


def _described(name: str) -> ClassDesc:
    found = jdk_descriptor(name)
    assert found is not None, name
    return found


_BOOLEAN, _INTEGER = _Boxed("java.lang.Boolean", ">?", 1), _Boxed("java.lang.Integer", ">i", 127)
_LONG, _DOUBLE = _Boxed("java.lang.Long", ">q", 127), _Boxed("java.lang.Double", ">d", -1)
_ARRAY_LIST, _LINKED_HASH_MAP = _described("java.util.ArrayList"), _described("java.util.LinkedHashMap")
_size_and_count = struct.Struct(">iBBi").pack
_table_and_counts = struct.Struct(">fiBBii").pack


class _Straight(StreamWriter):
    """A stream. A value that may be referred to is found by its id, with its handle instead of a content."""

    __slots__ = ("by_identity", "constants", "encoder", "functions", "known")

    def __init__(self, functions: _Functions) -> None:
        super().__init__()
        self.encoder = Encoder()
        self.by_identity = self.encoder.by_identity
        self.constants = self.encoder.constants
        self.functions = functions
        self.known = functions.by_type

    def put(self, item: Any, depth: int) -> None:
        """Write a value that is allowed in its place."""
        put = self.known.get(type(item))
        if put is None:
            put = self.functions.add(item)
        put(item, self, depth)

    def general(self, item: Any, depth: int) -> None:
        """Write a value by way of its contents."""
        self.depth = self.encoder.depth = depth
        self.write(self.encoder.content(item))

    def text(self, item: str, _depth: int = 0) -> None:
        handle = self.handles.get(item)
        if handle is not None:
            self.out.append(_reference(handle))
        elif len(item) < _SHORT and item.isascii() and "\0" not in item:
            self.handles[item] = self.count
            self.count += 1
            self.out.append(_TEXTS[len(item)] + item.encode())
        else:
            self.write(item)

    def begin(self, desc: ClassDesc, value: Any) -> bool:
        """Begin an object that may be referred to. False if it was written before: then a reference is written."""
        known = self.by_identity.get(id(value))
        if known is not None:
            self.write(known[1])
            return False
        self._object_of(desc)
        handle = self.count
        self.by_identity[id(value)] = value, handle
        self.handles[handle] = handle
        self.count = handle + 1
        return True

    def _object_of(self, desc: ClassDesc) -> None:
        """``TC_OBJECT classDesc``"""
        handle = self.handles.get(desc)
        if handle is not None:
            self.out.append(b"\x73" + _reference(handle))
        else:
            self.out.append(b"\x73")
            self._new_class_desc(desc)

    def _new_class_desc(self, desc: ClassDesc) -> None:
        """A class that was not written before."""
        out, handles = self.out, self.handles
        handles[desc] = self.count
        self.count += 1
        types, end = _parts_of(desc)
        for before, text, raw in types:
            handle = handles.get(text)
            if handle is not None:
                out.append(before + _reference(handle))
            else:
                handles[text] = self.count
                self.count += 1
                out.append(before + raw)
        out.append(end)
        above = desc.superclass
        if above is None:
            out.append(_NULL)
        elif above in handles:
            out.append(_reference(handles[above]))
        else:
            self._new_class_desc(above)

    def boxed(self, item: Any, boxed: _Boxed) -> None:
        """A number as an object."""
        if -128 <= item <= boxed.most_shared:
            key = boxed.name, int(item)
            found = self.constants.get(key)
            if found is not None:
                self.write(found)
                return
            self._object_of(boxed.desc)
            self.constants[key] = self.handles[self.count] = self.count
        else:
            self._object_of(boxed.desc)
        self.count += 1
        self.out.append(boxed.pack(item))

    def double(self, item: float) -> None:
        """A Double, which is a new object at each occurrence."""
        self._object_of(_DOUBLE.desc)
        self.count += 1
        self.out.append(_DOUBLE.pack(item))


def _reference(handle: int) -> bytes:
    """``TC_REFERENCE``"""
    return _REFERENCES[handle] if handle < _SHORT else b"\x71" + _pack_int(BASE_HANDLE + handle)


def _parts_of(desc: ClassDesc) -> tuple[list[tuple[bytes, str, bytes]], bytes]:
    """The bytes of a class: for each type name, the bytes before it, the name and its bytes; then the remaining
    bytes."""
    found = _parts.get(desc)
    if found is None:
        name = encode_utf(desc.name)
        before = b"\x72" + _pack_short(len(name)) + name
        before += struct.pack(">qBH", desc.uid, desc.flags, len(desc.fields))
        types = []
        for field in desc.fields:
            raw = encode_utf(field.name)
            before += field.type[0].encode() + _pack_short(len(raw)) + raw
            if field.type not in STRUCT_CODES:
                text = encode_utf(field.type)
                types.append((before, field.type, b"\x74" + _pack_short(len(text)) + text))
                before = b""
        found = _parts[desc] = types, before + b"\x78"
    return found


_parts: dict[ClassDesc, tuple[list[tuple[bytes, str, bytes]], bytes]] = {}

# The functions


def _put_int(item: int, w: _Straight, depth: int) -> None:
    if LONG_MIN <= item <= LONG_MAX:
        w.boxed(item, _INTEGER if INT_MIN <= item <= INT_MAX else _LONG)
    else:
        w.general(item, depth)


def _put_float(item: float, w: _Straight, depth: int) -> None:
    w.double(item) if item == item else w.general(item, depth)


def _put_list(items: list[Any], w: _Straight, depth: int) -> None:
    if depth > _MOST_DEPTH:
        raise Unusual
    if not w.begin(_ARRAY_LIST, items):
        return
    found = items.copy()
    w.out.append(_size_and_count(len(found), stream.BLOCK_DATA, 4, len(found)))
    for item in found:
        if type(item) is str:
            w.text(item)
        else:
            w.put(item, depth + 1)
    w.out.append(_END)


def _put_dict(items: dict[Any, Any], w: _Straight, depth: int) -> None:
    if depth > _MOST_DEPTH or float in map(type, items):  # Encoder checks whether more than one key is NaN
        raise Unusual
    if not w.begin(_LINKED_HASH_MAP, items):
        return
    size = len(items)
    capacity = hash_map_capacity(size)
    threshold = capacity * 3 // 4 if size else 0
    w.out.append(_table_and_counts(LOAD_FACTOR, threshold, stream.BLOCK_DATA, 8, capacity, size))
    for pair in items.items():
        for item in pair:
            if type(item) is str:
                w.text(item)
            else:
                w.put(item, depth + 1)
    w.out.append(_END + b"\0")  # and no access order


class _Functions:
    """The functions that write values, by exact type. They are valid until another class is declared."""

    def __init__(self) -> None:
        self.generation = generation()
        self.by_type: dict[type, _Put] = {
            type(None): lambda _item, w, _depth: w.out.append(_NULL),
            str: lambda item, w, _depth: w.text(item),
            bool: lambda item, w, _depth: w.boxed(item, _BOOLEAN),
            int: _put_int,
            Long: lambda item, w, _depth: w.boxed(item, _LONG),
            float: _put_float,
            list: _put_list,
            dict: _put_dict,
        }

    def add(self, item: Any) -> _Put:
        """Add the function for values of this one's type, and return it."""
        declaration = declaration_for(type(item))
        put: _Put = lambda item, w, depth: w.general(item, depth)  # noqa: E731
        if declaration is not None and isinstance(item, Enum):
            put = functools.partial(_put_enum, declaration)
        elif declaration is not None and not declaration.extends and not declaration.parameters:
            put = _of_class(declaration)
        self.by_type[type(item)] = put
        return put


def _put_enum(declaration: Declaration, item: Enum, w: _Straight, depth: int) -> None:
    w.depth = depth
    w.write(w.encoder.enum_constant(declaration, item))


def _of_class(declaration: Declaration) -> _Put:
    desc = class_descriptors.descriptor_of_object(declaration)
    places = field_places(declaration)
    fields = {(name, field.name): field for name, fields in declaration.typed_fields for field in fields}
    names: dict[str, Any] = {**_KNOWN, "desc": desc}
    lines = [
        "def put(value, w, depth):",
        "    if depth > MOST_DEPTH:",
        "        raise Unusual",
        "    if not w.begin(desc, value):",
        "        return",
        "    out, below = w.out, depth + 1",
    ]
    if len(desc.lineage) > _MOST_DEPTH:
        lines.insert(1, "    raise Unusual")
    number = 0
    for part in desc.lineage:
        primitives, packed, others = part.layout
        codes = dict(part.fields)
        for name in packed:
            field = fields[part.name, name]
            unfit = _PRIMITIVES.get(codes[name], "True")
            lines += [
                f"    item_{number} = item = {attribute_of('value', field.attribute)}",
                f"    if {unfit}:",
                f"        item_{number} = primitive(item, {field.type.name!r})",
            ]
            number += 1
        if packed:
            names[f"pack_{number}"] = primitives.pack
            items = ", ".join(f"item_{index}" for index in range(number - len(packed), number))
            lines += [f"    out.append(pack_{number}({items}))"]
        for name in others:
            field = fields[part.name, name]
            place = places[field.attribute]
            lines += [f"    item = {attribute_of('value', field.attribute)}"]
            rest = ["w.put(item, below)"]
            if place is not None:
                names[f"place_{number}"], names[f"fits_{number}"] = place, place.exact
                rest = [
                    f"if type(item) not in fits_{number}:",
                    f"    item = place_{number}(item, w.encoder.notes)",
                    *rest,
                ]
            lines += ["    " + line for line in rest]
            number += 1
    put: _Put = compiled(lines, names, "put", declaration.name)
    return put


_KNOWN: dict[str, Any] = {
    "MOST_DEPTH": _MOST_DEPTH,
    "Unusual": Unusual,
    "primitive": primitive,
}
_functions = _Functions()
