"""The values of an ordinary stream, read directly, without contents in between, by a function for each declared class.

Ordinary are lists, maps, texts, enums, the usual numbers, and declared classes whose fields in the stream are the
declared ones. StreamReader and Decoder read any other object inside, with the same handles. They read the whole stream
again if it is invalid, if it refers to an incomplete object, or if an object is a separate one that Python would not
write separately. So values and errors are the same without this module.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from redisson_dq.codecs.hashes import FEW_KEYS
from redisson_dq.codecs.serialization import stream
from redisson_dq.codecs.serialization.collection_handlers import LOAD_FACTOR
from redisson_dq.codecs.serialization.decoder import Decoder
from redisson_dq.codecs.serialization.reader import StreamReader
from redisson_dq.codecs.serialization.straight_classes import Class, Classes, incomplete
from redisson_dq.codecs.serialization.stream import BASE_HANDLE, ClassDesc
from redisson_dq.codecs.serialization.utf import decode_utf
from redisson_dq.codecs.straight import Unusual
from redisson_dq.java.collections import remember_table
from redisson_dq.java.hashing import hash_map_capacity
from redisson_dq.java.maps import HashMap
from redisson_dq.java.numbers import Long, decoded_long
from redisson_dq.java.registry import generation
from redisson_dq.java.tables import Table

__all__ = ["UNREAD", "read"]

#: The placeholder for the value of a stream that is not ordinary.
UNREAD: Any = object()

#: Limits: a deeper value is not ordinary, nor is a stream with more new classes.
_MOST_DEPTH = 50
_MOST_NEW = 16

_unpack_int = struct.Struct(">i").unpack_from
_unpack_map = struct.Struct(">fiBBii").unpack_from


def read(data: bytes, *, generic: bool) -> Any:
    """The value of a whole stream, or UNREAD."""
    global _classes
    if data[:4] != stream.HEADER or data[4:5] != b"\x73":
        return UNREAD
    if _classes.generation != generation():
        _classes = Classes(_READ)
    try:
        found = _Stream(data, _classes, generic)
        value, end = found.value(data, 4, 0)
    except (Exception, SystemExit):
        return UNREAD
    return UNREAD if end != len(data) or found.has_other else value


class _Stream:
    """The state of reading one stream. ``handles`` are values, classes, texts, or marks of incomplete objects."""

    __slots__ = ("_classes", "_constants", "_contents", "_decoder", "_new", "data", "handles", "texts")

    def __init__(self, data: bytes, classes: Classes, generic: bool) -> None:
        self.data = data
        self._classes = classes
        self._decoder = Decoder(len(data), generic=generic)
        self._contents: StreamReader | None = None
        self._constants = self._decoder.constants
        self._new = 0
        self.handles: list[Any] = []
        self.texts: set[str] = set()

    @property
    def has_other(self) -> bool:
        """Whether the value would be written to other bytes."""
        return bool(self._decoder.other or (self._contents is not None and self._contents.other))

    def value(self, data: bytes, pos: int, depth: int) -> tuple[Any, int]:
        """The value of a content at a depth."""
        code = data[pos]
        if code == 0x74:
            return self.text(data, pos)
        if code == 0x73:
            found, end = self.class_of(data, pos + 1)
            return self.object_of(found, data, end, depth, pos)
        if code == 0x71:
            return self.referred(data, pos)
        if code == 0x70:
            return None, pos + 1
        if code == stream.RESET:
            raise Unusual
        return self._general(pos, depth)

    def object_of(self, found: Class, data: bytes, pos: int, depth: int, start: int) -> tuple[Any, int]:
        """An object of that class, which began at ``start``."""
        if found.read is None:
            return self._general(pos, depth, found, start)
        if depth > _MOST_DEPTH:
            raise Unusual
        return found.read(data, pos, self, depth, found)

    def leaf(self, data: bytes, pos: int, depth: int, name: str, kind: type | None) -> tuple[Any, int]:
        """An object of exactly that class, or null. ``kind`` is the type of values that may be referred to."""
        code = data[pos]
        if code == 0x73:
            found, end = self.class_of(data, pos + 1)
            if found.desc.name != name:
                raise Unusual
            return self.object_of(found, data, end, depth, pos)
        if code == 0x70:
            return None, pos + 1
        value, end = self.referred(data, pos)
        if code != 0x71 or type(value) is not kind:
            raise Unusual
        return value, end

    def text(self, data: bytes, pos: int) -> tuple[str, int]:
        """A new text, whose type code is at ``pos``."""
        start = pos + 3
        end = start + (data[pos + 1] << 8 | data[pos + 2])
        raw = data[start:end]
        text = raw.decode("ascii") if raw.isascii() else decode_utf(raw, start)
        if end > len(data) or text in self.texts:
            raise Unusual
        self.texts.add(text)
        self.handles.append(text)
        return text, end

    def referred(self, data: bytes, pos: int) -> tuple[Any, int]:
        """The value that a reference refers to, if it is complete."""
        index = _unpack_int(data, pos + 1)[0] - BASE_HANDLE
        if index < 0:
            raise Unusual
        found = self.handles[index]
        if found is incomplete or type(found) is Class:
            raise Unusual
        if type(found) is str and self._contents is not None and self._contents.constants.get(found, -1) > index:
            raise Unusual  # the name of an enum's constant has its own handle
        return found, pos + 5

    def class_of(self, data: bytes, pos: int) -> tuple[Class, int]:
        """A class, whose type code is at ``pos``."""
        code = data[pos]
        if code == 0x71:
            index = _unpack_int(data, pos + 1)[0] - BASE_HANDLE
            found = self.handles[index] if index >= 0 else None
            if type(found) is not Class:
                raise Unusual
            return found, pos + 5
        if code != 0x72:
            raise Unusual
        handles = self.handles
        known = self._classes.known(data, pos, handles)
        if known is None:
            self._new += 1
            if self._new > _MOST_NEW:
                raise Unusual
            known = self._classes.learned(data, pos, handles)
        handles += known.handles
        self.texts.update(known.texts)
        return known.found, pos + len(known.raw)

    def _general(self, pos: int, depth: int, found: Class | None = None, start: int = 0) -> tuple[Any, int]:
        """The value of a content that is not ordinary, or of an object whose class was read."""
        contents, handles = self._contents, self.handles
        if contents is None:
            contents = self._contents = StreamReader(self.data)
            contents.handles = _Handles()
            contents.texts = self.texts
        known = contents.handles
        for item in handles[len(known) :]:
            known.append(item.desc if type(item) is Class else item if type(item) is str else incomplete)
        first = len(handles)
        contents.pos = pos
        contents.depth = self._decoder.depth = depth
        content = contents.object() if found is None else contents.instance(start, found.desc)
        value = self._decoder.value(content)
        for index in range(first, len(known)):
            item = list.__getitem__(known, index)
            if type(item) is ClassDesc:
                handles.append(self._classes.of(item))
            else:
                known[index] = item if type(item) is str else incomplete
                handles.append(known[index] if type(item) is str else incomplete)
        return value, contents.pos

    def once(self, key: tuple[str, int]) -> None:
        """Note that this is the single object of a value. Raises Unusual if there already was one."""
        if ("", key) in self._constants:
            raise Unusual
        self._constants["", key] = incomplete


class _Handles(list[Any]):
    """The handles for contents among ordinary values, to which they must not refer."""

    def __getitem__(self, index: Any) -> Any:
        found = list.__getitem__(self, index)
        if found is incomplete:
            raise Unusual
        return found


# The classes of the JDK


def _boxed(layout: str, width: int, most_shared: int, make: Callable[[Any], Any]) -> Any:
    unpack = struct.Struct(layout).unpack_from

    def read(data: bytes, pos: int, s: _Stream, _depth: int, found: Class) -> tuple[Any, int]:
        value = make(unpack(data, pos)[0])
        if -128 <= value <= most_shared:
            s.once((found.desc.name, int(value)))
            s.handles.append(value)
        else:
            s.handles.append(incomplete)
        return value, pos + width

    return read


def _read_list(data: bytes, pos: int, s: _Stream, depth: int, _found: Class) -> tuple[Any, int]:
    if data[pos + 4] != stream.BLOCK_DATA or data[pos + 5] != 4:
        raise Unusual
    (count,) = _unpack_int(data, pos + 6)
    number = len(s.handles)
    s.handles.append(incomplete)
    pos += 10
    if not 0 <= count <= len(data) - pos:
        raise Unusual
    values: list[Any] = []
    for _ in range(count):
        value, pos = s.text(data, pos) if data[pos] == 0x74 else s.value(data, pos, depth + 1)
        values.append(value)
    if data[pos] != stream.END_BLOCK_DATA:
        raise Unusual
    s.handles[number] = values
    return values, pos + 1


def _read_map(data: bytes, pos: int, s: _Stream, depth: int, found: Class) -> tuple[Any, int]:
    load_factor, threshold, code, length, capacity, size = _unpack_map(data, pos)
    number = len(s.handles)
    s.handles.append(incomplete)
    pos += 18
    if code != stream.BLOCK_DATA or length != 8 or not 0 <= 2 * size <= len(data) - pos:
        raise Unusual
    made: dict[Any, Any] = {}
    kinds = _KEYS if size <= FEW_KEYS else _STR  # the decoder checks the hashes of many numbers
    for _ in range(size):
        key, pos = s.value(data, pos, depth + 1)
        if type(key) not in kinds:
            raise Unusual
        made[key], pos = s.value(data, pos, depth + 1)
    if data[pos] != stream.END_BLOCK_DATA or len(made) != size:
        raise Unusual
    pos += 1
    if found.desc.name == "java.util.HashMap":
        made = HashMap(made)
        remember_table(made, Table((), capacity, load_factor, threshold))
    else:
        usual = hash_map_capacity(size)
        is_usual = capacity == usual and load_factor == LOAD_FACTOR and threshold == (usual * 3 // 4 if size else 0)
        if not is_usual or data[pos]:
            raise Unusual
        pos += 1
    s.handles[number] = made
    return made, pos


_KEYS = frozenset((str, int, Long, bool))
_STR = frozenset((str,))
#: By name of a JDK class: the function that reads its objects.
_READ: dict[str, Any] = {
    "java.lang.Boolean": _boxed(">?", 1, 1, bool),
    "java.lang.Integer": _boxed(">i", 4, 127, int),
    "java.lang.Long": _boxed(">q", 8, 127, decoded_long),
    "java.lang.Double": _boxed(">d", 8, -129, float),
    "java.util.ArrayList": _read_list,
    "java.util.LinkedHashMap": _read_map,
    "java.util.HashMap": _read_map,
}
_classes = Classes(_READ)
