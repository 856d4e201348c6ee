"""Writing Kryo's bytes: classes, flat values at once, and what has to be counted while values nest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from redisson_dq import java
from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Unencodable
from redisson_dq.codecs.kryo5.scalars import double_bytes
from redisson_dq.codecs.kryo5.types import BY_ID, JavaType, Types
from redisson_dq.codecs.kryo5.wire import ascii_name, string_bytes, varint
from redisson_dq.java.numbers import LONG_MAX, LONG_MIN

if TYPE_CHECKING:
    from redisson_dq.codecs.kryo5.generics import Arguments, Variables
    from redisson_dq.codecs.serialization import WriteState

__all__ = ["FLAT", "ReferenceWriter", "Writer"]


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


#: By exact Python type: a value's class and bytes at once, where the class has an id; None where it has not.
FLAT: dict[type, Callable[[Any], bytes | None]] = {
    str: _string,
    int: _int,
    float: lambda value: b"\x0a" + double_bytes(value),
    bool: lambda value: b"\x05\x01" if value else b"\x05\x00",
    type(None): lambda _value: b"\0",
    java.Long: _long,
}
_TAGS = {java_type.name: java_type.tag for java_type in BY_ID}


class Writer:
    """The state of writing one value: its bytes so far, the classes named so far, the depth.

    ``variables`` are the type variables that are known where it is (see generics); ``streams`` what was written of
    the Java serialization streams, if there are any (see embedded).
    """

    __slots__ = ("_names", "assignable", "depth", "final", "fitted", "out", "streams", "type_of", "types", "variables")

    references = False

    def __init__(self, types: Types) -> None:
        self.types = types
        self.type_of = types.of
        self.final = self._allowed_final if types.allowed else types.final
        self.fitted = types.fitted
        self.assignable = types.assignable
        self.out: list[bytes] = []
        self.depth = 0
        self.variables: Variables = {}
        self.streams: WriteState | None = None
        self._names: dict[str, int] = {}

    def write_any(self, value: Any, arguments: Arguments = ()) -> None:
        """The value's class and its bytes."""
        flat = FLAT.get(type(value))
        data = flat(value) if flat is not None else None
        if data is not None:
            self.out.append(data)
            return
        java_type = self.type_of(value)
        self.write_class(java_type)
        if java_type is not None:
            self.write_value(java_type, value, arguments)

    def write_value(self, java_type: JavaType, value: Any, arguments: Arguments = ()) -> None:
        """The bytes of a value whose class is known, not None."""
        if arguments and java_type.generic:
            java_type.write(value, self, arguments)
        else:
            java_type.write(value, self)

    def write_nullable(self, java_type: JavaType, value: Any, arguments: Arguments = ()) -> None:
        """The bytes of a value whose class is known, or None."""
        if value is None:
            self.out.append(java_type.null)
            return
        if java_type.null_mark:
            self.out.append(b"\x01")
        self.write_value(java_type, value, arguments)

    def write_class(self, java_type: JavaType | None) -> None:
        """A class, or null."""
        if java_type is None:
            self.out.append(b"\0")
        elif java_type.tag is not None:
            self.out.append(java_type.tag)
        else:
            self.write_class_name(java_type.name)

    def _allowed_final(self, name: str) -> JavaType | None:
        found = self.types.final(name)
        if found is not None:
            self.check_allowed(found)
        return found

    def check_allowed(self, java_type: JavaType) -> None:
        """Refuse a class that is not allowed where it is not written: Java asks for its serializer, even for null."""
        if self.types.allowed and java_type.tag is None:
            self._allowed_id(java_type.name)

    def _allowed_id(self, name: str) -> int:
        class_id = self.types.ids.get(name)
        if class_id is None and name in ("java.util.RegularEnumSet", "java.util.JumboEnumSet"):
            class_id = self.types.ids.get("java.util.EnumSet")
        if class_id is None:
            raise Unencodable(f"Java class {name} is none of the allowed classes")
        return class_id

    def write_class_name(self, name: str) -> None:
        """A class of any name."""
        tag = _TAGS.get(name)
        if tag is not None:
            self.out.append(tag)
        elif self.types.allowed:
            self.out.append(varint(self._allowed_id(name) + 2))
        elif name in self._names:
            self.out.append(b"\x01" + varint(self._names[name]))
        else:
            self._names[name] = number = len(self._names)
            self.out.append(b"\x01" + varint(number) + ascii_name(name))

    def enter(self) -> None:
        """Go one collection deeper; the caller lowers ``depth`` when it is written."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unencodable(f"{TOO_DEEP} (does it contain itself?)")


class ReferenceWriter(Writer):
    """The same with ``references=True``: an object that stands twice is written once (see the reader)."""

    __slots__ = ("_written",)

    references = True

    def __init__(self, types: Types) -> None:
        super().__init__(types)
        #: By id: the object's number, and the object, so that no other gets its id.
        self._written: dict[int, tuple[int, Any]] = {}

    def write_any(self, value: Any, arguments: Arguments = ()) -> None:
        java_type = self.type_of(value)
        self.write_class(java_type)
        if java_type is not None:
            self.write_value(java_type, value, arguments)

    def write_value(self, java_type: JavaType, value: Any, arguments: Arguments = ()) -> None:
        if java_type.shared:
            known = self._written.get(id(value))
            if known is not None:
                self.out.append(varint(known[0] + 2))
                return
            self._written[id(value)] = len(self._written), value
            self.out.append(b"\x01")
        super().write_value(java_type, value, arguments)

    def write_nullable(self, java_type: JavaType, value: Any, arguments: Arguments = ()) -> None:
        if value is None:
            self.out.append(b"\0")
            return
        if not java_type.shared:
            self.out.append(b"\x01")
        self.write_value(java_type, value, arguments)
