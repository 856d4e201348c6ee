"""The Java classes this codec knows: how Kryo's bytes name them, and the functions that read and write them.

Before a value Kryo writes its class as a varint. 0 is null, and 1 is a class that is named (see the reader). From 2 on
come the ids that Kryo itself gives, each plus 2. They are int 0, String 1, float 2, boolean 3, byte 4, char 5, short 6,
long 7, double 8. Boxed types have the same ids. The ids of the registered classes come after them.
"""

from __future__ import annotations

import copy
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
from redisson_dq.java import kotlin
from redisson_dq.java.arrays import PRIMITIVE_NAMES, component_of
from redisson_dq.java.collections import COLLECTIONS
from redisson_dq.java.declare import Declaration, declaration_for, declaration_of, generation
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN
from redisson_dq.java.orders import Comparator
from redisson_dq.java.time_numbers import java_time_name

__all__ = ["BY_ID", "ClassSerializer", "Types", "exception_type"]

_Read = Callable[..., "tuple[Any, int]"]
_Write = Callable[..., None]

#: What stands for null where the class is already known, as in a list whose elements are of one class. It is a byte
#: that the class's own serializer reads as null. Classes without such a byte have a mark before every element: 00 for
#: null, 01 for a value.
_NULL_ZERO: Final = b"\0"
_NULL_STRING: Final = b"\x80"
_NULL_MARK: Final = None

_MOST_ARRAY_TYPES = 256


class ClassSerializer:
    """One Java class. ``read`` and ``write`` do a value's bytes, the class excluded.

    ``tag`` is the byte of the class's id, for ids that Kryo itself gives. ``spelled`` is the name as it stands for any
    other class. ``sizeless`` says that a value has no bytes
    at all, ``final`` that the class is final in Java. ``generic`` says that ``read`` and ``write`` also take type
    arguments. ``shared`` says that Kryo may refer back to a value. ``enum`` is a declared enum's class.
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
        "spelled",
        "tag",
        "write",
    )

    def __init__(
        self,
        name: str,
        read: _Read,
        write: _Write,
        *,
        class_id: int | None = None,
        null: bytes | None = _NULL_MARK,
        sizeless: bool = False,
        final: bool = False,
        generic: bool = False,
        shared: bool = True,
        python: type | None = None,
    ) -> None:
        self.name = name
        self.spelled = wire.ascii_name(name)
        self.tag = None if class_id is None else bytes((class_id + 2,))
        self.null = null or b"\0"
        self.null_mark = null is _NULL_MARK
        self.read = read
        self.write = write
        self.sizeless = sizeless
        self.final = final
        self.generic = generic
        self.shared = shared
        self.python = python
        self.enum: Any = python if python is not None and issubclass(python, Enum) else None


def _each(to_bytes: Callable[[Any], bytes]) -> _Write:
    def write(value: Any, writer: Any) -> None:
        writer.out.extend(to_bytes(value))

    return write


def _box(name: str, read: _Read, to_bytes: Callable[[Any], bytes], class_id: int) -> ClassSerializer:
    return ClassSerializer("java.lang." + name, read, _each(to_bytes), class_id=class_id, final=True, shared=False)


_INTEGER = _box("Integer", scalars.read_integer, scalars.integer_bytes, 0)
_STRING = ClassSerializer(
    "java.lang.String", wire.read_string, _each(wire.string_bytes), class_id=1, null=_NULL_STRING, final=True
)
_FLOAT = _box("Float", scalars.read_float, scalars.float_bytes, 2)
_BOOLEAN = _box("Boolean", scalars.read_boolean, scalars.boolean_bytes, 3)
_BYTE = _box("Byte", scalars.read_byte, scalars.byte_bytes, 4)
_CHARACTER = _box("Character", scalars.read_character, scalars.character_bytes, 5)
_SHORT = _box("Short", scalars.read_short, scalars.short_bytes, 6)
_LONG = _box("Long", scalars.read_long, scalars.long_bytes, 7)
_DOUBLE = _box("Double", scalars.read_double, scalars.double_bytes, 8)
#: By class id.
BY_ID = (_INTEGER, _STRING, _FLOAT, _BOOLEAN, _BYTE, _CHARACTER, _SHORT, _LONG, _DOUBLE)

_BIG_INTEGER = ClassSerializer(
    "java.math.BigInteger", scalars.read_big_integer, _each(scalars.big_integer_bytes), null=_NULL_ZERO
)
_BIG_DECIMAL = ClassSerializer(
    "java.math.BigDecimal", scalars.read_big_decimal, _each(scalars.big_decimal_bytes), null=_NULL_ZERO
)
_BYTE_ARRAY = ClassSerializer(
    "[B", scalars.read_byte_array, _each(scalars.byte_array_bytes), null=_NULL_ZERO, final=True
)

#: With their comparator before the elements.
_SORTED = frozenset(
    (
        *("java.util.TreeMap", "java.util.concurrent.ConcurrentSkipListMap"),
        *("java.util.TreeSet", "java.util.PriorityQueue"),
    )
)


def _declared_collection(declaration: Declaration) -> ClassSerializer:
    """A class that extends a collection: its elements as those of what it extends. Java leaves its own fields out."""
    sorted_ = declaration.extends in _SORTED
    if issubclass(declaration.python, dict):
        read = containers.map_reader(declaration.name, declaration.python, sorted_=sorted_)
        put = containers.map_writer(sorted_=sorted_)
    else:
        read = containers.collection_reader(declaration.name, declaration.python, sorted_=sorted_)
        put = containers.collection_writer(sorted_=sorted_)
    write = containers.declared_writer(declaration, containers.without_nulls(declaration.extends, put))
    return ClassSerializer(
        declaration.name,
        read,
        write,
        null=_NULL_ZERO,
        final=declaration.final,
        generic=True,
        python=declaration.python,
    )


def _collection(name: str, kind: type) -> ClassSerializer:
    if kind in (java.EmptyList, java.EmptySet, java.EmptyMap):
        return ClassSerializer(name, *containers.nothing(kind), sizeless=True)
    if kind in (java.SingletonList, java.SingletonSet):
        return ClassSerializer(name, *containers.singleton(name, kind))
    if kind is java.SingletonMap:
        return ClassSerializer(name, *containers.singleton_map(name, kind))
    sorted_ = name in _SORTED
    nulls = kind not in (java.ListOf, java.SetOf, java.MapOf)
    if issubclass(kind, dict):
        read = containers.map_reader(name, kind, sorted_=sorted_, nulls=nulls)
        write = containers.map_writer(sorted_=sorted_, nulls=nulls)
    else:
        read = containers.collection_reader(name, kind, sorted_=sorted_, null_flag=nulls)
        write = containers.collection_writer(sorted_=sorted_, null_flag=nulls)
    if kind in kotlin.EMPTY or kind is java.CopiesList:
        write = containers.only_empty(kind, write)
    write = containers.without_nulls(name, write)
    return ClassSerializer(name, read, write, null=_NULL_ZERO, generic=True, final=kind is kotlin.ArrayDeque)


def _comparator(member: Comparator) -> ClassSerializer:
    """A comparator is an object without fields; the natural order is an enum's only constant."""
    if member is Comparator.NATURAL_ORDER:
        return ClassSerializer(
            member.value,
            lambda _data, pos, _: (member, pos + 1),
            _each(lambda _: b"\x01"),
            null=_NULL_ZERO,
            shared=False,
        )
    return ClassSerializer(
        member.value, lambda _data, pos, _: (member, pos), lambda _value, _writer: None, sizeless=True
    )


def _named_types() -> dict[str, ClassSerializer]:
    found = [*BY_ID, _BIG_INTEGER, _BIG_DECIMAL, _BYTE_ARRAY]
    found += [_collection(name, kind) for name, kind in COLLECTIONS.items()]
    found += [_comparator(member) for member in Comparator]
    for table in (times.DATES, times.TIMES, values.MARKED):
        for name, (read, to_bytes) in table.items():
            found.append(
                ClassSerializer(name, read, _each(to_bytes), final=table is times.TIMES or name in values.FINAL)
            )
    for name, kind in values.TEXTS.items():
        read = values.text_reader(kind, null=True)
        found.append(ClassSerializer(name, read, _each(wire.string_bytes), null=_NULL_STRING, final=True))
    found.append(ClassSerializer("java.util.Optional", *values.box(java.Optional), final=True))
    found.append(ClassSerializer("java.util.concurrent.atomic.AtomicReference", *values.box(java.AtomicReference)))
    found.append(
        ClassSerializer(
            "java.lang.Class", values.read_class_object, values.write_class_object, null=_NULL_ZERO, final=True
        )
    )
    for name in ("RegularEnumSet", "JumboEnumSet", "EnumSet"):
        found.append(ClassSerializer("java.util." + name, values.read_enum_set, values.write_enum_set))
    for name, stream in embedded.STREAMS.items():
        read, write = embedded.stream_reader(name, stream), embedded.stream_writer(stream)
        found.append(ClassSerializer(name, read, write, final=name in embedded.ADDRESSES.values()))
    return {serializer.name: serializer for serializer in found}


def exception_type(name: str) -> ClassSerializer:
    """The class of an exception; any class can be one."""
    return ClassSerializer(name, embedded.exception_reader(name), embedded.stream_writer(embedded.THROWABLE))


_exception_types = functools.lru_cache(maxsize=256)(exception_type)
_lock = threading.Lock()


def _same_exception_type(name: str) -> ClassSerializer:
    """The same object each time, in every thread: a collection whose elements are of one class is written otherwise."""
    with _lock:
        return _exception_types(name)


#: By Java's name.
_BY_NAME = _named_types()

_BY_PYTHON_TYPE: dict[type, ClassSerializer] = {
    str: _STRING,
    float: _DOUBLE,
    bool: _BOOLEAN,
    Decimal: _BIG_DECIMAL,
    bytes: _BYTE_ARRAY,
    bytearray: _BYTE_ARRAY,
    memoryview: _BYTE_ARRAY,
    list: _BY_NAME["java.util.ArrayList"],
    tuple: _BY_NAME["java.util.ArrayList"],
    set: _BY_NAME["java.util.HashSet"],
    frozenset: _BY_NAME["java.util.HashSet"],
    dict: _BY_NAME["java.util.LinkedHashMap"],
    UUID: _BY_NAME["java.util.UUID"],
    java.Byte: _BYTE,
    java.Short: _SHORT,
    java.Integer: _INTEGER,
    java.Long: _LONG,
    java.BigInteger: _BIG_INTEGER,
    java.Float: _FLOAT,
    java.Double: _DOUBLE,
    java.Character: _CHARACTER,
}


def _int_name(value: int) -> str:
    if INT_MIN <= value <= INT_MAX:
        return _INTEGER.name
    return _LONG.name if LONG_MIN <= value <= LONG_MAX else _BIG_INTEGER.name


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


#: Redisson gives these classes a serializer of its own, after it has registered the allowed classes with Kryo's. With
#: one of these among them it cannot write at all on a JDK since 16, or not read what it wrote.
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
        names = [serializer.name for serializer in BY_ID]
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
        self._declared: dict[Declaration, ClassSerializer] = {}
        self._bodies: dict[tuple[Declaration, str], ClassSerializer] = {}
        self._arrays: dict[str, ClassSerializer] = {}
        self._spelled: dict[bytes, ClassSerializer] = {}
        self._by_type: dict[type, ClassSerializer] = {}
        self._generation = -1

    def spelled(self) -> dict[bytes, ClassSerializer]:
        """The known and the declared classes that were read so far, by the bytes of their names."""
        if generation() != self._generation:
            self._forget()
        return self._spelled

    def by_type(self) -> dict[type, ClassSerializer]:
        """The classes that were written so far by Python type, where nothing else of a value decides."""
        if generation() != self._generation:
            self._forget()
        return self._by_type

    def _forget(self) -> None:
        # What was asked before may be answered otherwise by now: by new dicts, as other threads may fill the old ones.
        now = generation()
        self._spelled, self._by_type = {}, dict(_BY_PYTHON_TYPE)
        self._generation = now

    def known(self, name: str) -> ClassSerializer | None:
        """The class of that name, if it is one of those known to all or declared."""
        found = _BY_NAME.get(name)
        if found is not None:
            return found
        declaration = declaration_of(name)
        return None if declaration is None else self._of_declaration(declaration)

    def named(self, name: str) -> ClassSerializer | None:
        """The class of that name, None if nothing is known of it."""
        found = self.known(name)
        if found is not None:
            return found
        if name.startswith("["):
            return self._array(name)
        if name.startswith(values.CHARSET_PACKAGE):
            read, to_bytes = values.MARKED["java.nio.charset.Charset"]
            return ClassSerializer(name, read, _each(to_bytes))
        # The class of an enum's constant that has a body: Step$1 in Java, Step$UP in Kotlin.
        outer, dollar, constant = name.rpartition("$")
        declaration = declaration_of(outer) if dollar else None
        if declaration is None or declaration.kind != "enum":
            return None
        if name in declaration.bodies.values():
            return self._of_declaration(declaration)
        if not constant.isdigit() and constant not in declaration.constants:
            return None
        made = copy.copy(self._of_declaration(declaration))
        made.read = objects.body_reader(declaration)
        return made

    def final(self, name: str) -> ClassSerializer | None:
        """The class of that name if it is final in Java (of an array: if its innermost component type is)."""
        found = _BY_NAME.get(name)
        if found is None and name.startswith("["):
            found = self._array(name)
        elif found is None:
            declaration = declaration_of(name)
            found = None if declaration is None else self._of_declaration(declaration)
        return found if found is not None and found.final else None

    def component(self, name: str) -> ClassSerializer | None:
        """The class of an array's elements if they stand without it: a final class, or any array's."""
        return self.named(name) if name.startswith("[") else self.final(name)

    def is_open(self, name: str) -> bool:
        """Whether the class is known not to be final, now and later."""
        return self.final(name) is None and (name.startswith("java.") or declaration_of(name) is not None)

    def _array(self, name: str) -> ClassSerializer | None:
        found = self._arrays.get(name)
        if found is None:
            try:
                component = component_of(name)
            except ValueError:
                return None
            innermost = component.lstrip("[")
            final = component in arrays.PRIMITIVES or innermost in PRIMITIVE_NAMES or self._is_final(innermost)
            found = ClassSerializer(
                name,
                arrays.array_reader(component, self),
                arrays.array_writer(component, self),
                null=_NULL_ZERO,
                final=final,
            )
            if len(self._arrays) >= _MOST_ARRAY_TYPES:
                self._arrays.clear()
            if final or component.startswith("java."):
                found = self._arrays.setdefault(name, found)
        return found

    def _is_final(self, code: str) -> bool:
        """Whether a class is final, of its name or of its name as it stands in that of an array of arrays."""
        return self.final(code[1:-1] if code.endswith(";") else code) is not None

    def _of_declaration(self, declaration: Declaration) -> ClassSerializer:
        found = self._declared.get(declaration)
        if found is None:
            # Of two threads that come here at once, both go on with the type of one: types are told apart by identity.
            found = self._declared.setdefault(declaration, self._make(declaration))
        return found

    def _make(self, declaration: Declaration) -> ClassSerializer:
        """The declared class; its fields are looked at when the first object is read or written."""
        if declaration.kind == "enum":
            return ClassSerializer(
                declaration.name,
                objects.enum_reader(declaration),
                objects.enum_writer(declaration),
                null=_NULL_ZERO,
                final=declaration.final,
                shared=False,
                python=declaration.python,
            )

        if declaration.extends:
            return _declared_collection(declaration)

        def read(*args: Any) -> tuple[Any, int]:
            made.read = objects.object_reader(declaration, self)
            return made.read(*args)

        def write(*args: Any) -> None:
            made.write = objects.object_writer(declaration, self)
            made.write(*args)

        made = ClassSerializer(
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

    def of_constant(self, member: Enum) -> ClassSerializer:
        """The class of an enum's constant, which is the enum's but for one with a body."""
        declaration = declaration_for(type(member))
        if declaration is None:
            raise Unencodable(f"{type(member).__qualname__} has no Java type here: declare it with java_class")
        found = self._of_declaration(declaration)
        if not declaration.bodies:
            return found
        body = declaration.bodies.get(declaration.constants[declaration.members.index(member)])
        # Where classes are registered, Kryo takes the enum's for a constant whose own class is not among them.
        if body is None or (self.allowed and body not in self.ids):
            return found
        made = self._bodies.get((declaration, body))
        if made is None:
            made = ClassSerializer(
                body, found.read, found.write, null=_NULL_ZERO, final=True, shared=False, python=declaration.python
            )
            made = self._bodies.setdefault((declaration, body), made)
        return made

    def of(self, value: Any) -> ClassSerializer | None:
        """The Java class a value becomes, None for None. A subclass counts as its nearest base class here."""
        if value is None:
            return None
        kind = type(value)
        by_type = self._by_type
        found = by_type.get(kind)
        if found is not None:
            return found
        if kind is int:
            return _INTEGER if INT_MIN <= value <= INT_MAX else _BY_NAME[_int_name(value)]
        declaration = declaration_for(kind)
        if declaration is not None:
            if declaration.bodies:
                return self.of_constant(value)
            found = self._of_declaration(declaration)
            if declaration.python is kind:
                by_type[kind] = found
            return found
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
            if held is not None and name not in embedded.STREAMS and not issubclass(_collection_class(name), held):
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


def _collection_class(name: str) -> type:
    """The Python class of a collection, of a declared one as well; object for any other name."""
    declaration = declaration_of(name)
    if declaration is not None and declaration.extends:
        return declaration.python
    return COLLECTIONS.get(name, object)


#: What the classes are that these stand for.
_HELD: dict[type, Any] = {java.Elements: (set, java.OrderedSet), java.Entries: dict}
