"""The codec itself. It handles flat values directly, and all others through a reader or a writer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from redisson_dq.codecs.base import Codec
from redisson_dq.codecs.budget import COUNTED_FROM, counting_budget
from redisson_dq.codecs.faults import Malformed, decode_error, encode_error
from redisson_dq.codecs.kryo5.jdk_classes import LINKED_HASH_MAP
from redisson_dq.codecs.kryo5.reader import CountingReader, CountingReferenceReader, Reader, ReferenceReader
from redisson_dq.codecs.kryo5.strings import STRINGS, list_of_strings, strings_bytes
from redisson_dq.codecs.kryo5.types import Types
from redisson_dq.codecs.kryo5.writer import ReferenceWriter, Writer
from redisson_dq.codecs.marks import compared, marked
from redisson_dq.codecs.typed import TypedCodec
from redisson_dq.errors import ArgumentError

__all__ = ["Kryo5Codec"]

#: The first bytes of a LinkedHashMap that is the whole value.
_MAP = b"\x01\0" + LINKED_HASH_MAP.spelled
_ORDINARY = (STRINGS, _MAP)


class Kryo5Codec(Codec):
    """Redisson's default codec, ``org.redisson.codec.Kryo5Codec``.

    ==================  =======================================================================
    Python              Java
    ==================  =======================================================================
    None                null
    bool                Boolean
    int                 Integer, or Long, or BigInteger: the first that holds it
    float               Double
    str                 String
    bytes               byte[] (also from bytearray and memoryview)
    decimal.Decimal     BigDecimal
    list, tuple         ArrayList
    set, frozenset      HashSet
    dict                LinkedHashMap
    uuid.UUID           UUID
    datetime, date ...  the type of java.time (see redisson_dq.java)
    classes under
    java_class          the class, record or enum that they declare
    the types of
    redisson_dq.java    the type of the same name
    ==================  =======================================================================

    A value comes back as the plain Python type if that becomes the same Java type, otherwise as the type of
    redisson_dq.java. The bytes are those that Redisson writes for the same value, with two exceptions: an enum constant
    with a body that the declaration does not name, and two wrappers around one collection.

    ``allowed_classes`` and ``references`` are the arguments of Java's ``new Kryo5Codec(Set<String> allowedClasses,
    boolean useReferences)`` and must be the same on both sides. The names are registered in this order. If there are
    any, no other class is read or written. With references, an object that occurs twice in a value comes back as one
    object, and values may contain themselves.

    ``redisson``: the version on the Java side, such as ``"4.3"``, if it is not the newest. A value that this version
    writes and cannot read back is refused, such as a java.ConcurrentHashSet before 4.7 or with allowed classes. The
    bytes of every version are read.

    Raises ArgumentError for a class that Redisson cannot have among the allowed ones. Raises EncodeError for any other
    type, and for values nested more than 200 deep. Raises DecodeError for bytes that are not one whole value, and for a
    Java class that is not declared (named in the message). Time and memory are O(size of the value or of the bytes).
    """

    def __init__(
        self, allowed_classes: Iterable[str] = (), references: bool = False, *, redisson: str | None = None
    ) -> None:
        is_several = isinstance(allowed_classes, Iterable) and not isinstance(allowed_classes, str)
        names = tuple(allowed_classes) if is_several else ()
        if not is_several or not all(isinstance(name, str) for name in names):
            raise ArgumentError("allowed_classes takes Java class names, as a list or a set")
        self._types = Types(names, references=references, redisson=redisson)
        self._redisson = redisson
        self._reader: type[Reader] = ReferenceReader if references else Reader
        self._writer: type[Writer] = ReferenceWriter if references else Writer
        #: By type: the function that returns the bytes of a whole value directly, or None.
        self._flat: dict[type, Callable[[Any], bytes | None]] = dict(self._writer.flat)
        if self._flat and not self._types.allowed:
            self._flat[list] = strings_bytes
        #: Whether the usual first bytes of a class name can be used.
        self._is_ordinary = list in self._flat

    def typed(self, type: Any) -> Codec[Any]:
        """This codec for values of that type: see :class:`~redisson_dq.codecs.typed.TypedCodec`."""
        return TypedCodec(self, type)

    def __repr__(self) -> str:
        allowed = self._types.allowed
        options = [f"allowed_classes={allowed}"] if allowed else []
        if self._types.references:
            options.append("references=True")
        if self._redisson is not None:
            options.append(f"redisson={self._redisson!r}")
        return f"{self.name}({', '.join(options)})"

    def encode(self, value: Any) -> bytes:
        """The bytes of ``value``. Raises EncodeError. O(size)."""
        to_bytes = self._flat.get(type(value))
        if to_bytes is not None:
            data = to_bytes(value)
            if data is not None:
                return data
        state = self._writer(self._types)
        try:
            state.write_any(value)
        except Exception as error:
            raise encode_error(error, self.name) from error
        return bytes(state.out)

    def decode(self, data: bytes) -> Any:
        """The value of ``data``. Raises DecodeError. O(size)."""
        if type(data) is not bytes:
            data = bytes(data)
        reader: Reader | None = None
        try:
            read = self._reader.by_byte[data[0]]
            if read is not None:
                value, end = read(data, 1, None)
            elif len(data) > COUNTED_FROM and (budget := counting_budget(data)) is not None:
                counting = CountingReferenceReader if self._types.references else CountingReader
                reader = counting(self._types, data, budget)
                value, end = reader.read_any(data, 0)
            elif self._is_ordinary and data.startswith(_ORDINARY):
                if data.startswith(STRINGS):
                    strings = list_of_strings(data)
                    if strings is not None:
                        return strings
                    reader = self._reader(self._types, data)
                    value, end = reader.read_named(data, 0)
                else:
                    # The class LinkedHashMap needs no lookup.
                    reader = self._reader(self._types, data)
                    reader.names.append(LINKED_HASH_MAP)
                    value, end = LINKED_HASH_MAP.read(data, len(_MAP), reader)
            else:
                reader = self._reader(self._types, data)
                value, end = reader.read_named(data, 0)
            if end == len(data):
                if reader is None or not (reader.other or reader.streams or reader.references):
                    return value
                if reader.references:
                    # In Python, equal texts or bytes may be one object.
                    return compared(value, data, self, reader.other or "Python has one object for two of Java")
                other = reader.other or ("" if reader.streams is None else reader.streams.other)
                return marked(value, other) if other else value
            if end > len(data):
                raise IndexError
            seen = () if reader is None else reversed(reader.seen)
            raise Malformed(f"{len(data) - end} bytes too many after the value", end).of_classes(seen)
        except (Exception, SystemExit) as error:
            raise decode_error(error, self.name, data) from error
