"""The Java classes this codec knows: how Kryo's bytes name them, and the functions that read and write them.

Before a value Kryo writes its class as a varint: 0 for null; 1 for a class that is named (see the reader);
from 2 on the ids that Kryo gives by itself: int 0, String 1, float 2, boolean 3, byte 4, char 5, short 6,
long 7, double 8, boxed types the same; then those of the classes that are registered.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Collection
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from uuid import UUID

from redisson_dq import java
from redisson_dq.codecs.faults import Unencodable, no_java_type, shorten, type_name
from redisson_dq.codecs.kryo5 import arrays, containers, embedded, objects, scalars, times, values, wire
from redisson_dq.errors import ArgumentError
from redisson_dq.java.arrays import array_of, component_of
from redisson_dq.java.collections import COLLECTIONS, Comparator, collection_for
from redisson_dq.java.declare import Declaration, declaration_for, declaration_of, generation
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN
from redisson_dq.java.places import fits
from redisson_dq.java.times import java_time_name

__all__ = ["BY_ID", "JavaType", "Types", "exception_type"]

Read = Callable[..., "tuple[Any, int]"]
Write = Callable[..., None]

#: What stands for null where the class is already known, as in a list whose elements are of one class: a byte
#: that the class's own serializer reads as null, or else a mark before every element, 00 for null and 01 for
#: a value.
NULL_ZERO: Final = b"\0"
NULL_STRING: Final = b"\x80"
NULL_MARK: Final = None

_MOST_ARRAY_TYPES = 256


class JavaType:
    """One Java class. ``read`` and ``write`` do a value's bytes, the class excluded.

    ``tag`` is the byte of the class's id, for those that Kryo gives itself. ``sizeless`` says that a value has no
    bytes at all, ``final`` that the class is final in Java, ``generic`` that ``read`` and ``write`` also take type
    arguments, ``shared`` that Kryo may refer back to a value; ``enum`` is a declared enum's class.
    """

    __slots__ = (
        "enum",
        "final",
        "generic",
        "name",
        "null",
        "null_mark",
        "python",
        "read",
        "shared",
        "sizeless",
        "tag",
        "write",
    )

    def __init__(
        self,
        name: str,
        read: Read,
        write: Write,
        *,
        class_id: int | None = None,
        null: bytes | None = NULL_MARK,
        sizeless: bool = False,
        final: bool = False,
        generic: bool = False,
        shared: bool = True,
        python: type | None = None,
    ) -> None:
        self.name = name
        self.tag = None if class_id is None else bytes((class_id + 2,))
        self.null = null or b"\0"
        self.null_mark = null is NULL_MARK
        self.read = read
        self.write = write
        self.sizeless = sizeless
        self.final = final
        self.generic = generic
        self.shared = shared
        self.python = python
        self.enum: Any = python if python is not None and issubclass(python, Enum) else None


def _each(to_bytes: Callable[[Any], bytes]) -> Write:
    def write(value: Any, writer: Any) -> None:
        writer.out.append(to_bytes(value))

    return write


def _box(name: str, read: Read, to_bytes: Callable[[Any], bytes], class_id: int) -> JavaType:
    return JavaType("java.lang." + name, read, _each(to_bytes), class_id=class_id, final=True, shared=False)


INTEGER = _box("Integer", scalars.read_integer, scalars.integer_bytes, 0)
STRING = JavaType(
    "java.lang.String", wire.read_string, _each(wire.string_bytes), class_id=1, null=NULL_STRING, final=True
)
FLOAT = _box("Float", scalars.read_float, scalars.float_bytes, 2)
BOOLEAN = _box("Boolean", scalars.read_boolean, scalars.boolean_bytes, 3)
BYTE = _box("Byte", scalars.read_byte, scalars.byte_bytes, 4)
CHARACTER = _box("Character", scalars.read_character, scalars.character_bytes, 5)
SHORT = _box("Short", scalars.read_short, scalars.short_bytes, 6)
LONG = _box("Long", scalars.read_long, scalars.long_bytes, 7)
DOUBLE = _box("Double", scalars.read_double, scalars.double_bytes, 8)
#: By class id.
BY_ID = (INTEGER, STRING, FLOAT, BOOLEAN, BYTE, CHARACTER, SHORT, LONG, DOUBLE)

BIG_INTEGER = JavaType(
    "java.math.BigInteger", scalars.read_big_integer, _each(scalars.big_integer_bytes), null=NULL_ZERO
)
BIG_DECIMAL = JavaType(
    "java.math.BigDecimal", scalars.read_big_decimal, _each(scalars.big_decimal_bytes), null=NULL_ZERO
)
BYTE_ARRAY = JavaType("[B", scalars.read_byte_array, _each(scalars.byte_array_bytes), null=NULL_ZERO, final=True)

#: With their comparator before the elements.
_SORTED = frozenset(
    (
        *("java.util.TreeMap", "java.util.concurrent.ConcurrentSkipListMap"),
        *("java.util.TreeSet", "java.util.PriorityQueue"),
    )
)


def _collection(name: str, kind: type) -> JavaType:
    if kind in (java.EmptyList, java.EmptySet, java.EmptyMap):
        return JavaType(name, *containers.nothing(kind), sizeless=True)
    if kind in (java.SingletonList, java.SingletonSet):
        return JavaType(name, *containers.singleton(name, kind))
    if kind is java.SingletonMap:
        return JavaType(name, *containers.singleton_map(name, kind))
    sorted_ = name in _SORTED
    nulls = kind not in (java.ListOf, java.SetOf, java.MapOf)
    if issubclass(kind, dict):
        read = containers.map_reader(name, kind, sorted_=sorted_, nulls=nulls)
        write = containers.map_writer(sorted_=sorted_, nulls=nulls)
    else:
        read = containers.collection_reader(name, kind, sorted_=sorted_, null_flag=nulls)
        write = containers.collection_writer(sorted_=sorted_, null_flag=nulls)
    return JavaType(name, read, write, null=NULL_ZERO, generic=True)


def _comparator(member: Comparator) -> JavaType:
    """A comparator is an object without fields; the natural order is an enum's only constant."""
    if member is Comparator.NATURAL_ORDER:
        return JavaType(
            member.value,
            lambda _data, pos, _: (member, pos + 1),
            _each(lambda _: b"\x01"),
            null=NULL_ZERO,
            shared=False,
        )
    return JavaType(member.value, lambda _data, pos, _: (member, pos), lambda _value, _writer: None, sizeless=True)


def _named_types() -> dict[str, JavaType]:
    found = [*BY_ID, BIG_INTEGER, BIG_DECIMAL, BYTE_ARRAY]
    found += [_collection(name, kind) for name, kind in COLLECTIONS.items()]
    found += [_comparator(member) for member in Comparator]
    for table in (times.DATES, times.TIMES, values.MARKED):
        for name, (read, to_bytes) in table.items():
            found.append(JavaType(name, read, _each(to_bytes), final=table is times.TIMES or name in values.FINAL))
    for name, kind in values.TEXTS.items():
        read = values.text_reader(kind, null=True)
        found.append(JavaType(name, read, _each(wire.string_bytes), null=NULL_STRING, final=True))
    found.append(JavaType("java.util.Optional", *values.box(java.Optional), final=True))
    found.append(JavaType("java.util.concurrent.atomic.AtomicReference", *values.box(java.AtomicReference)))
    found.append(
        JavaType("java.lang.Class", values.read_class_object, values.write_class_object, null=NULL_ZERO, final=True)
    )
    for name in ("RegularEnumSet", "JumboEnumSet", "EnumSet"):
        found.append(JavaType("java.util." + name, values.read_enum_set, values.write_enum_set))
    for name, stream in embedded.STREAMS.items():
        read, write = embedded.stream_reader(name, stream), embedded.stream_writer(stream)
        found.append(JavaType(name, read, write, final=name in embedded.ADDRESSES.values()))
    return {java_type.name: java_type for java_type in found}


def exception_type(name: str) -> JavaType:
    """The class of an exception; any class can be one."""
    return JavaType(name, embedded.exception_reader(name), embedded.stream_writer(embedded.THROWABLE))


_exception_types = functools.lru_cache(maxsize=256)(exception_type)
_lock = threading.Lock()


def _same_exception_type(name: str) -> JavaType:
    """The same object each time, in every thread: a collection whose elements are of one class is written otherwise."""
    with _lock:
        return _exception_types(name)


#: By Java's name.
_BY_NAME = _named_types()

_BY_PYTHON_TYPE: dict[type, JavaType] = {
    str: STRING,
    float: DOUBLE,
    bool: BOOLEAN,
    Decimal: BIG_DECIMAL,
    bytes: BYTE_ARRAY,
    bytearray: BYTE_ARRAY,
    memoryview: BYTE_ARRAY,
    list: _BY_NAME["java.util.ArrayList"],
    tuple: _BY_NAME["java.util.ArrayList"],
    set: _BY_NAME["java.util.HashSet"],
    frozenset: _BY_NAME["java.util.HashSet"],
    dict: _BY_NAME["java.util.LinkedHashMap"],
    UUID: _BY_NAME["java.util.UUID"],
    java.Byte: BYTE,
    java.Short: SHORT,
    java.Integer: INTEGER,
    java.Long: LONG,
    java.BigInteger: BIG_INTEGER,
    java.Float: FLOAT,
    java.Double: DOUBLE,
    java.Character: CHARACTER,
}


def _int_name(value: int) -> str:
    if INT_MIN <= value <= INT_MAX:
        return INTEGER.name
    return LONG.name if LONG_MIN <= value <= LONG_MAX else BIG_INTEGER.name


#: By Python type: the Java class that a value's own contents decide on.
_BY_VALUE: dict[type, Callable[[Any], str]] = {
    int: _int_name,
    **dict.fromkeys((datetime, date, time, timedelta), java_time_name),
    java.Charset: values.charset_class,
    java.EnumSet: values.enum_set_class,
    **{kind: lambda _, name=name: name for kind, name in embedded.ADDRESSES.items()},  # type: ignore[misc]
    java.TimeZone: lambda _: "sun.util.calendar.ZoneInfo",
    Comparator: lambda value: str(value.value),
}


#: What Redisson gives a serializer of its own, after the allowed classes were registered with Kryo's: with one of
#: these among them it cannot write at all on a JDK since 16, or not read what it wrote.
_UNREGISTRABLE = frozenset(
    (
        *embedded.STREAMS,
        *("java.util.UUID", "java.net.URI", "java.util.regex.Pattern"),
        *(f"java.util.concurrent.atomic.Atomic{kind}" for kind in ("Boolean", "Integer", "Long", "Reference")),
    )
)


class Types:
    """The classes as one configuration of the codec names them: those known to all, and the declared ones.

    ``allowed`` are registered in the order of their names; if there are any, no other class is read or written.
    """

    def __init__(self, allowed: Collection[str] = (), *, references: bool = False) -> None:
        self.references = references
        names = [java_type.name for java_type in BY_ID]
        #: The box's class by the primitive type's name, and the other way round.
        self.primitives: dict[str, str] = dict(
            zip(("int", "", "float", "boolean", "byte", "char", "short", "long", "double"), names, strict=True)
        )
        del self.primitives[""]
        self.boxes = {box: name for name, box in self.primitives.items()}
        refused = sorted(name for name in allowed if name in _UNREGISTRABLE)
        if refused:
            raise ArgumentError(
                f"Redisson's Kryo5Codec cannot have {refused[0]} among its allowed classes: it registers them before "
                "it sets up how that class is written"
            )
        self.allowed = sorted({self.primitives.get(name, name) for name in allowed} - {*names})
        self.ids = {name: len(names) + index for index, name in enumerate(self.allowed)}
        self._declared: dict[Declaration, JavaType] = {}
        self._arrays: dict[str, JavaType] = {}
        self._spelled: dict[bytes, JavaType] = {}
        self._generation = 0

    def spelled(self) -> dict[bytes, JavaType]:
        """The known and the declared classes that were read so far, by the bytes of their names."""
        now = generation()
        if now != self._generation:
            self._spelled, self._generation = {}, now
        return self._spelled

    def known(self, name: str) -> JavaType | None:
        """The class of that name, if it is one of those known to all or declared."""
        found = _BY_NAME.get(name)
        if found is not None:
            return found
        declaration = declaration_of(name)
        return None if declaration is None else self._of_declaration(declaration)

    def named(self, name: str) -> JavaType | None:
        """The class of that name, None if nothing is known of it."""
        found = self.known(name)
        if found is not None:
            return found
        if name.startswith("["):
            return self._array(name)
        if name.startswith(values.CHARSET_PACKAGE):
            read, to_bytes = values.MARKED["java.nio.charset.Charset"]
            return JavaType(name, read, _each(to_bytes))
        # The class of an enum's constant that has a body.
        outer, dollar, number = name.rpartition("$")
        declaration = declaration_of(outer) if dollar and number.isdigit() else None
        return self._of_declaration(declaration) if declaration is not None and declaration.kind == "enum" else None

    def final(self, name: str) -> JavaType | None:
        """The class of that name if it is final in Java (of an array: if its innermost component type is)."""
        found = _BY_NAME.get(name)
        if found is None and name.startswith("["):
            found = self._array(name)
        elif found is None:
            declaration = declaration_of(name)
            found = None if declaration is None else self._of_declaration(declaration)
        return found if found is not None and found.final else None

    def component(self, name: str) -> JavaType | None:
        """The class of an array's elements if they stand without it: a final class, or any array's."""
        return self.named(name) if name.startswith("[") else self.final(name)

    def is_open(self, name: str) -> bool:
        """Whether the class is known not to be final, now and later."""
        return self.final(name) is None and (name.startswith("java.") or declaration_of(name) is not None)

    def _array(self, name: str) -> JavaType | None:
        found = self._arrays.get(name)
        if found is None:
            try:
                component = component_of(name)
            except ValueError:
                return None
            final = component in arrays.PRIMITIVES or self.final(component) is not None
            found = JavaType(
                name,
                arrays.array_reader(component, self),
                arrays.array_writer(component, self),
                null=NULL_ZERO,
                final=final,
            )
            if len(self._arrays) >= _MOST_ARRAY_TYPES:
                self._arrays.clear()
            if final or component.startswith("java."):
                found = self._arrays.setdefault(name, found)
        return found

    def _of_declaration(self, declaration: Declaration) -> JavaType:
        found = self._declared.get(declaration)
        if found is None:
            # Of two threads that come here at once, both go on with the type of one: types are told apart by identity.
            found = self._declared.setdefault(declaration, self._make(declaration))
        return found

    def _make(self, declaration: Declaration) -> JavaType:
        """The declared class; its fields are looked at when the first object is read or written."""
        if declaration.kind == "enum":
            return JavaType(
                declaration.name,
                objects.enum_reader(declaration),
                objects.enum_writer(declaration),
                null=NULL_ZERO,
                final=declaration.final,
                shared=False,
                python=declaration.python,
            )

        def read(*args: Any) -> tuple[Any, int]:
            made.read = objects.object_reader(declaration, self)
            return made.read(*args)

        def write(*args: Any) -> None:
            made.write = objects.object_writer(declaration, self)
            made.write(*args)

        made = JavaType(
            declaration.name,
            read,
            write,
            # With references a mark stands before each.
            sizeless=not self.references and not declaration.has_attributes,
            final=declaration.final,
            generic=objects.is_generic(declaration),
            python=declaration.python,
        )
        return made

    def of_enum(self, kind: type[Enum]) -> JavaType:
        """The class of an enum's constants."""
        declaration = declaration_for(kind)
        if declaration is None:
            raise Unencodable(f"{kind.__qualname__} has no Java type here: declare it with java_class")
        return self._of_declaration(declaration)

    def of(self, value: Any) -> JavaType | None:
        """The Java class a value becomes, None for None. A subclass counts as its nearest base class here."""
        if value is None:
            return None
        kind = type(value)
        found = _BY_PYTHON_TYPE.get(kind)
        if found is not None:
            return found
        if kind is int:
            return INTEGER if INT_MIN <= value <= INT_MAX else _BY_NAME[_int_name(value)]
        declaration = declaration_for(kind)
        if declaration is not None:
            return self._of_declaration(declaration)
        if isinstance(value, java.Throwable):
            if self.allowed:
                raise Unencodable("Redisson's Kryo5Codec with allowed classes writes no exceptions")
            return _same_exception_type(value.java_name)
        if isinstance(value, java.JavaObject):
            raise Unencodable(f"an object of {value.java_name}, which is not declared, is not written")
        if isinstance(value, Enum) and kind is not Comparator:
            raise no_java_type(value)
        name = self._name_of(value, kind)
        if name is not None:
            held = _HELD.get(kind)
            if (
                held is not None
                and name not in embedded.STREAMS
                and not issubclass(COLLECTIONS.get(name, object), held)
            ):
                what = "maps" if held is dict else "sets"
                raise Unencodable(f"{kind.__name__} of {shorten(name, 120)}, which is no class of {what}")
            found = _BY_NAME.get(name) or self.named(name)
            if found is None:
                raise Unencodable(f"Java class {name} cannot be written")
            return found
        raise no_java_type(value)

    @staticmethod
    def _name_of(value: Any, kind: type) -> str | None:
        for base in kind.__mro__:
            choose = _BY_VALUE.get(base)
            if choose is not None:
                return choose(value)
            if "java_name" in base.__dict__ or "java_name" in getattr(base, "__slots__", ()):
                return str(value.java_name)
            found = _BY_PYTHON_TYPE.get(base)
            if found is not None:
                return found.name
            if base is not kind and declaration_for(base) is not None:
                raise Unencodable(f"{type_name(value)} has no Java type here: declare it with java_class")
        return None

    def fitted(self, java_type: JavaType, value: Any) -> Any:
        """A value for a place that only holds one final class: as it is, or the number that it is there.

        Raises Unencodable for a value of another class.
        """
        if value is None or _BY_PYTHON_TYPE.get(type(value)) is java_type:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            limits = _LIMITS.get(java_type)
            if limits is not None and limits[0] <= value <= limits[1]:
                return value
            if java_type is DOUBLE or java_type is FLOAT:
                value = float(value)
        if java_type.name[0] == "[" and isinstance(value, (list, tuple)) and type(value) in (list, tuple):
            return array_of(component_of(java_type.name), value)
        if java_type is FLOAT and isinstance(value, float):
            return java.Float(value)
        if java_type is CHARACTER and isinstance(value, str) and len(value) == 1:
            return java.Character(value)
        wrap = _WRAPPERS.get(java_type.name)
        if wrap is not None and type(value) in (datetime, time):
            try:
                return wrap(value)
            except ValueError as exc:
                raise Unencodable(f"a {type_name(value)} where {java_type.name} is declared: {exc}") from exc
        found = self.of(value)
        # An array of a class that may yet be declared is made anew each time.
        if found is not java_type and not (found is not None and found.name == java_type.name and found.name[0] == "["):
            named = found.name if found is not None else "null"
            raise Unencodable(f"{type_name(value)} becomes {named}, where {java_type.name} is declared")
        return value

    @staticmethod
    def adapted(name: str, value: Any) -> Any:
        """A plain value as what it is in a place of a declared type that is not final: a datetime the date, a list the
        array or the collection. Kryo puts whatever it reads into the field, without a look."""
        kind = type(value)
        if kind is datetime:
            wrap = _WRAPPERS.get(name)
            return value if wrap is None else wrap(value)
        if kind in _PLAIN:
            if name[0] == "[":
                return array_of(component_of(name), value) if kind in (list, tuple) else value
            return collection_for(value, name)
        return value

    def assignable(self, name: str, value: Any) -> Any:
        """The same for a field. Raises Unencodable for a value that the field cannot hold."""
        value = self.adapted(name, value)
        if value is not None and not fits(value, name):
            raise Unencodable(f"{type_name(value)} where {name} is declared")
        return value


#: What the classes are that these stand for.
_HELD: dict[type, Any] = {java.Elements: (set, java.OrderedSet), java.Entries: dict}
_PLAIN = frozenset((list, tuple, set, frozenset, dict))
_LIMITS = {
    BYTE: (-128, 127),
    SHORT: (-32768, 32767),
    INTEGER: (INT_MIN, INT_MAX),
    LONG: (LONG_MIN, LONG_MAX),
}
#: A plain datetime in a place of these classes becomes one.
_WRAPPERS: dict[str, Callable[[Any], Any]] = {
    kind.java_name: kind
    for kind in (
        java.Instant,
        java.OffsetDateTime,
        java.ZonedDateTime,
        java.OffsetTime,
        java.JavaDate,
        java.SqlDate,
        java.SqlTime,
        java.Timestamp,
    )
}
