"""Small values of the JDK in the layout of Kryo's DefaultSerializers: identifiers, texts, boxes, bit sets."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any
from uuid import UUID

from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.kryo5.protocols import ReaderProtocol, WriterProtocol
from redisson_dq.codecs.kryo5.scalars import read_boolean, read_signed_int
from redisson_dq.codecs.kryo5.wire import ascii_name, read_string, read_varint, string_bytes, varint
from redisson_dq.java import references, values
from redisson_dq.java.locales import Locale
from redisson_dq.java.sets import EnumSet

__all__ = [
    "CHARSET_PACKAGE",
    "FINAL",
    "MARKED",
    "TEXTS",
    "box",
    "charset_class",
    "enum_set_class",
    "read_java_class",
    "read_enum_set",
    "text_reader",
    "write_java_class",
    "write_enum_set",
]

_Read = Callable[[bytes, int, Any], "tuple[Any, int]"]

_INT = struct.Struct("<i")
_LONG = struct.Struct("<q")
_DOUBLE = struct.Struct("<d")


def _text(data: bytes, pos: int) -> tuple[str, int]:
    text, end = read_string(data, pos)
    if text is None:
        raise Malformed("a null where a text is needed", pos)
    return text, end


def text_reader(kind: Callable[[str], Any], *, null: bool) -> _Read:
    """The reader of a class whose values are written as a string."""

    def read(data: bytes, pos: int, _: object = None) -> tuple[Any, int]:
        text, end = read_string(data, pos) if null else _text(data, pos)
        return (None if text is None else kind(text)), end

    return read


def _read_uuid(data: bytes, pos: int, _: object = None) -> tuple[UUID, int]:
    end = pos + 16
    if end > len(data):
        raise IndexError
    return UUID(bytes=data[pos : pos + 8][::-1] + data[pos + 8 : end][::-1]), end


def _uuid_bytes(value: UUID) -> bytes:
    raw = value.bytes
    return raw[7::-1] + raw[:7:-1]


def _read_locale(data: bytes, pos: int, _: object = None) -> tuple[Locale, int]:
    language, pos = _text(data, pos)
    country, pos = _text(data, pos)
    variant, pos = _text(data, pos)
    return Locale(language, country, variant), pos


def _locale_bytes(value: Locale) -> bytes:
    if value.script or value.extensions != value.added_extensions:
        raise Unencodable("Kryo does not carry a Locale's script and extensions")
    return ascii_name(value.language) + ascii_name(value.country) + string_bytes(value.variant)


def _read_pattern(data: bytes, pos: int, _: object = None) -> tuple[values.Pattern, int]:
    text, pos = _text(data, pos)
    flags, pos = read_signed_int(data, pos)
    return values.Pattern(text, flags), pos


def _pattern_bytes(value: values.Pattern) -> bytes:
    return string_bytes(value.pattern) + varint(value.flags & 0xFFFFFFFF)


def _fixed(kind: Callable[[Any], Any], layout: struct.Struct) -> tuple[_Read, Callable[[Any], bytes]]:
    """A mutable box for a number of fixed size."""

    def read(data: bytes, pos: int, _: object = None) -> tuple[Any, int]:
        return kind(layout.unpack_from(data, pos)[0]), pos + layout.size

    def to_bytes(value: Any) -> bytes:
        return _packed(layout, value.value)

    return read, to_bytes


def _packed(layout: struct.Struct, value: Any) -> bytes:
    try:
        return layout.pack(value)
    except struct.error as error:
        raise Unencodable(f"a {type(value).__name__} or a number of more bits than Java has there") from error


def _optional(kind: Callable[[Any], Any], layout: struct.Struct) -> tuple[_Read, Callable[[Any], bytes]]:
    """An optional number of fixed size, preceded by a boolean."""

    def read(data: bytes, pos: int, _: object = None) -> tuple[Any, int]:
        present, pos = read_boolean(data, pos)
        if not present:
            return kind(None), pos
        return kind(layout.unpack_from(data, pos)[0]), pos + layout.size

    def to_bytes(value: Any) -> bytes:
        return b"\0" if value.value is None else b"\x01" + _packed(layout, value.value)

    return read, to_bytes


def _read_atomic_boolean(data: bytes, pos: int, _: object = None) -> tuple[references.AtomicBoolean, int]:
    value, pos = read_boolean(data, pos)
    return references.AtomicBoolean(value), pos


def _read_bit_set(data: bytes, pos: int, _: object = None) -> tuple[values.BitSet, int]:
    count, start = read_varint(data, pos)
    if count > (len(data) - start) // 8:
        raise Malformed(f"{count} longs are announced, {len(data) - start} bytes are there", pos)
    return values.BitSet.from_words(struct.unpack_from(f"<{count}q", data, start)), start + 8 * count


def _bit_set_bytes(value: values.BitSet) -> bytes:
    words = value.to_words()
    return varint(len(words)) + struct.pack(f"<{len(words)}q", *words)


#: By Java name: the reader and the writer of a value without parts. A null mark precedes these bytes.
MARKED: dict[str, tuple[_Read, Callable[[Any], bytes]]] = {
    "java.util.UUID": (_read_uuid, _uuid_bytes),
    "java.net.URI": (text_reader(values.Uri, null=False), string_bytes),
    "java.net.URL": (text_reader(values.Url, null=False), string_bytes),
    "java.util.Locale": (_read_locale, _locale_bytes),
    "java.util.regex.Pattern": (_read_pattern, _pattern_bytes),
    "java.util.OptionalInt": _optional(references.OptionalInt, _INT),
    "java.util.OptionalLong": _optional(references.OptionalLong, _LONG),
    "java.util.OptionalDouble": _optional(references.OptionalDouble, _DOUBLE),
    "java.util.BitSet": (_read_bit_set, _bit_set_bytes),
    "java.util.concurrent.atomic.AtomicBoolean": (
        _read_atomic_boolean,
        lambda value: b"\x01" if value.value else b"\0",
    ),
    "java.util.concurrent.atomic.AtomicInteger": _fixed(references.AtomicInteger, _INT),
    "java.util.concurrent.atomic.AtomicLong": _fixed(references.AtomicLong, _LONG),
    "java.util.TimeZone": (text_reader(values.TimeZone.read, null=False), string_bytes),
    "sun.util.calendar.ZoneInfo": (text_reader(values.TimeZone.read, null=False), string_bytes),
    "java.nio.charset.Charset": (text_reader(values.Charset, null=False), string_bytes),
}
#: The classes whose readers handle null themselves.
TEXTS: dict[str, type[str]] = {
    "java.util.Currency": values.Currency,
    "java.lang.StringBuilder": values.StringBuilder,
    "java.lang.StringBuffer": values.StringBuffer,
}
#: The final classes among these. A field of such a type does not name the class again.
FINAL = frozenset(
    (
        *("java.util.UUID", "java.net.URI", "java.net.URL", "java.util.Locale", "java.util.regex.Pattern"),
        *("java.util.OptionalInt", "java.util.OptionalLong", "java.util.OptionalDouble"),
        *TEXTS,
    )
)

_CHARSETS = {
    **{name: name.replace("-", "_") for name in ("UTF-8", "UTF-16", "UTF-16BE", "UTF-16LE", "US-ASCII", "ISO-8859-1")},
    **{f"windows-{number}": f"MS{number}" for number in range(1250, 1259)},
}
CHARSET_PACKAGE = "sun.nio.cs."


def charset_class(value: values.Charset) -> str:
    """The Java class of a charset, or the abstract class Charset. Java can read both."""
    own = _CHARSETS.get(value)
    return CHARSET_PACKAGE + own if own else value.java_name


def box(kind: Callable[[Any], Any]) -> tuple[_Read, Callable[[Any, WriterProtocol], None]]:
    """The reader and the writer of an object that wraps one value. The value is written with its class."""

    def read(data: bytes, pos: int, reader: ReaderProtocol) -> tuple[Any, int]:
        reader.enter(pos)
        value, pos = reader.read_any(data, pos)
        reader.depth -= 1
        return kind(value), pos

    def write(value: Any, writer: WriterProtocol) -> None:
        writer.enter()
        writer.write_any(value.value)
        writer.depth -= 1

    return read, write


def read_java_class(data: bytes, pos: int, reader: ReaderProtocol) -> tuple[values.JavaClass | None, int]:
    """A Class: the class itself, and after the id of a primitive type, whether it is that type or its box."""
    name, pos = reader.read_class_name(data, pos)
    if name is None:
        return None, pos
    if name in reader.types.boxes:
        primitive, pos = read_boolean(data, pos)
        if primitive:
            name = reader.types.boxes[name]
    return reader.java_class(name), pos


#: Kryo makes a serializer for each class that it names, and cannot make one for these.
_NOT_NAMED = frozenset(
    (
        *("void", "java.lang.Record", "java.lang.StackTraceElement"),
        *("java.util.AbstractMap$SimpleEntry", "java.util.AbstractMap$SimpleImmutableEntry"),
    )
)


def write_java_class(value: values.JavaClass, writer: WriterProtocol) -> None:
    """Write a Class in the form that ``read_java_class`` reads."""
    if value in _NOT_NAMED:
        raise Unencodable(f"the class {value}, which Kryo does not read")
    box_name = writer.types.primitives.get(value)
    writer.write_class_name(box_name or value)
    if box_name is not None:
        writer.out.extend(b"\x01")
    elif value in writer.types.boxes:
        writer.out.extend(b"\0")


def read_enum_set(data: bytes, pos: int, reader: ReaderProtocol) -> tuple[EnumSet[Any], int]:
    """An EnumSet: the class of its elements, their number, and each element as the enum itself is written."""
    start = pos
    serializer, pos = reader.read_class(data, pos)
    if serializer is None or serializer.enum is None:
        raise Malformed("an EnumSet of a class that is not a declared enum", start)
    count, pos = read_varint(data, pos)
    reader.check_count(count, data, pos)
    made: EnumSet[Any] = EnumSet(serializer.enum)
    for _ in range(count):
        member, pos = serializer.read(data, pos, reader)
        made.add(member)
    return made, pos


def enum_set_class(value: EnumSet[Any]) -> str:
    """The class of an EnumSet: Java has one for up to 64 constants and one for more."""
    return "java.util.RegularEnumSet" if len(value.element) <= 64 else "java.util.JumboEnumSet"


def write_enum_set(value: EnumSet[Any], writer: WriterProtocol) -> None:
    """Write an EnumSet in the order of its constants, as Java iterates over it."""
    members = [member for member in value.element if member in value]
    if len(members) != len(value):
        raise Unencodable(f"an EnumSet of {value.element.__qualname__} with elements of other types")
    # The class of the first element. For an empty set, the class of the enum's first constant.
    constants = members or list(value.element)
    if not constants:
        raise Unencodable(f"an EnumSet of {value.element.__qualname__}, which has no constants")
    serializer = writer.types.of_constant(constants[0])
    writer.write_class(serializer)
    writer.out.extend(varint(len(members)))
    for member in members:
        serializer.write(member, writer)
