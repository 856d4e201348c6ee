"""Writes Kryo's bytes: classes, flat values directly, and the depth of nested values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.budget import current_budget
from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Unencodable
from redisson_dq.codecs.kryo5.class_serializer import ClassSerializer
from redisson_dq.codecs.kryo5.generics import NO_VARIABLES, Arguments
from redisson_dq.codecs.kryo5.jdk_classes import BY_ID
from redisson_dq.codecs.kryo5.scalars import double_bytes
from redisson_dq.codecs.kryo5.types import Types
from redisson_dq.codecs.kryo5.wire import MAX_SIZELESS, TOO_MANY_SIZELESS, ascii_name, string_bytes, varint
from redisson_dq.codecs.serialization import WriteState
from redisson_dq.java.numbers import LONG_MAX, LONG_MIN
from redisson_dq.java.places import place_named
from redisson_dq.java.replacing import Notes

__all__ = ["ReferenceWriter", "Writer"]


def _string(value: str) -> bytes:
    return b"\x03" + string_bytes(value)


def _int(value: int) -> bytes | None:
    if -0x80000000 <= value <= 0x7FFFFFFF:
        return b"\x02" + varint((value << 1) ^ (value >> 31))
    if LONG_MIN <= value <= LONG_MAX:
        return b"\x09" + varint((value << 1) ^ (value >> 63))
    return None


def _long(value: int) -> bytes:
    return b"\x09" + varint((value << 1) ^ (value >> 63))


#: By exact Python type: the function that returns a value's class and bytes, if the class has an id. None otherwise.
_FLAT: dict[type, Callable[[Any], bytes | None]] = {
    str: _string,
    int: _int,
    float: lambda value: b"\x0a" + double_bytes(value),
    bool: lambda value: b"\x05\x01" if value else b"\x05\x00",
    type(None): lambda _value: b"\0",
    java.Long: _long,
}
_NOT_FLAT: dict[type, Callable[[Any], bytes | None]] = {}
#: References to classes that were named before, by number.
_NAMED = tuple(bytes((1, number)) for number in range(0x80))
_TAGS = {serializer.name: serializer.tag for serializer in BY_ID}


class Writer:
    """The state of writing one value: its bytes so far, the classes named so far, the depth.

    ``variables`` are the type variables of the current object (see generics). ``notes`` are the objects of generic
    classes whose place is known. ``streams`` is the state of the Java serialization streams, if there are any (see
    embedded).
    """

    references = False
    #: By exact type: the function that returns a value's class and bytes.
    flat = _FLAT
    #: Few values need this.
    streams: WriteState | None = None
    _sizeless = 0
    depth = 0
    variables = NO_VARIABLES

    def __init__(self, types: Types) -> None:
        self.types = types
        #: By exact type of a value: its class, if the type alone decides.
        self.by_type = types.by_type()
        self.notes: Notes = {}
        self.out = bytearray()
        self._names: dict[str, int] = {}

    def type_of(self, value: Any) -> ClassSerializer | None:
        """The Java class that a value becomes. None for None."""
        return self.by_type.get(type(value)) or self.types.of(value)

    def final(self, name: str) -> ClassSerializer | None:
        """The class of that name if it is final in Java."""
        found = self.types.final(name)
        if found is not None and self.types.allowed:
            self.check_allowed(found)
        return found

    def placed(self, name: str, value: Any) -> Any:
        """The value as one of the class ``name``, to be written without the class. Raises Misfit."""
        place = place_named(name)
        return value if place is None else place(value, self.notes)

    def write_any(self, value: Any, arguments: Arguments = ()) -> None:
        """The value's class and its bytes."""
        kind = type(value)
        flat = _FLAT.get(kind)
        if flat is not None:
            data = flat(value)
            if data is not None:
                self.out += data
                return
        serializer: Any = self.by_type.get(kind) or self.types.of(value)
        number = self._names.get(serializer.name)
        if number is None or number > 0x7F:
            self.write_class(serializer)
        else:
            self.out += _NAMED[number]
        if arguments and serializer.generic:
            serializer.write(value, self, arguments)
        else:
            serializer.write(value, self)

    def write_value(self, serializer: ClassSerializer, value: Any, arguments: Arguments = ()) -> None:
        """The bytes of a value whose class is known, not None."""
        if arguments and serializer.generic:
            serializer.write(value, self, arguments)
        else:
            serializer.write(value, self)

    def write_nullable(self, serializer: ClassSerializer, value: Any, arguments: Arguments = ()) -> None:
        """The bytes of a value whose class is known, or None."""
        if value is None:
            self.out.extend(serializer.null)
            return
        if serializer.null_mark:
            self.out.extend(b"\x01")
        self.write_value(serializer, value, arguments)

    def write_class(self, serializer: ClassSerializer | None) -> None:
        """A class, or null."""
        if serializer is None:
            self.out.extend(b"\0")
        elif serializer.tag is not None:
            self.out += serializer.tag
        elif self.types.allowed:
            self.write_class_name(serializer.name)
        else:
            names, name = self._names, serializer.name
            number = names.get(name)
            if number is None:
                names[name] = number = len(names)
                self.out += b"\x01" + varint(number) + serializer.spelled
            else:
                self.out += b"\x01" + varint(number)

    def check_allowed(self, serializer: ClassSerializer) -> None:
        """Refuse a class that is not allowed, even if it is not written: Java looks up its serializer, even for
        null."""
        if self.types.allowed and serializer.tag is None:
            self._allowed_id(serializer.name)

    def _allowed_id(self, name: str) -> int:
        class_id = self.types.ids.get(name)
        if class_id is None and name in ("java.util.RegularEnumSet", "java.util.JumboEnumSet"):
            class_id = self.types.ids.get("java.util.EnumSet")
        if class_id is None:
            raise Unencodable(f"Java class {name} is none of the allowed classes")
        return class_id

    def write_class_name(self, name: str) -> None:
        """The name of any class."""
        tag = _TAGS.get(name)
        if tag is not None:
            self.out.extend(tag)
        elif self.types.allowed:
            self.out.extend(varint(self._allowed_id(name) + 2))
        elif name in self._names:
            self.out += b"\x01" + varint(self._names[name])
        else:
            self._names[name] = number = len(self._names)
            self.out += b"\x01" + varint(number) + ascii_name(name)

    def enter(self) -> None:
        """Go one level deeper. The caller decrements ``depth`` after writing the collection."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unencodable(f"{TOO_DEEP} (does it contain itself?)")

    def spend(self, count: int) -> None:
        """Account for elements that take no bytes, as the reader does."""
        self._sizeless += count
        if self._sizeless > MAX_SIZELESS:
            raise Unencodable(TOO_MANY_SIZELESS)
        budget = current_budget()
        if budget is not None:
            budget.is_unsaid = True


class ReferenceWriter(Writer):
    """A writer with ``references=True``, which writes an object that occurs twice only once (see the reader)."""

    references = True
    #: There is a mark between a class and its value.
    flat = _NOT_FLAT

    def __init__(self, types: Types) -> None:
        super().__init__(types)
        #: By id: the object's number, and the object itself, so that its id is not reused.
        self._written: dict[int, tuple[int, Any]] = {}

    def write_any(self, value: Any, arguments: Arguments = ()) -> None:
        serializer = self.type_of(value)
        self.write_class(serializer)
        if serializer is not None:
            self.write_value(serializer, value, arguments)

    def write_value(self, serializer: ClassSerializer, value: Any, arguments: Arguments = ()) -> None:
        if serializer.shared:
            known = self._written.get(id(value))
            if known is not None:
                self.out.extend(varint(known[0] + 2))
                return
            self._written[id(value)] = len(self._written), value
            self.out.extend(b"\x01")
        super().write_value(serializer, value, arguments)

    def write_nullable(self, serializer: ClassSerializer, value: Any, arguments: Arguments = ()) -> None:
        if value is None:
            self.out.extend(b"\0")
            return
        if not serializer.shared:
            self.out.extend(b"\x01")
        self.write_value(serializer, value, arguments)
