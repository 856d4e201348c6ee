"""The classes of the JDK, of Kotlin and of Kryo itself that every configuration of the codec knows."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from redisson_dq import java
from redisson_dq.codecs.kryo5 import collections, embedded, fixed_sizes, key_sets, maps, scalars, times, values, wire
from redisson_dq.codecs.kryo5.class_serializer import NULL_STRING, NULL_ZERO, ClassSerializer, byte_writer
from redisson_dq.java import kotlin
from redisson_dq.java.collections import COLLECTIONS
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN
from redisson_dq.java.orders import Comparator
from redisson_dq.java.time_numbers import java_time_name

__all__ = [
    "BY_ID",
    "BY_NAME",
    "BY_PYTHON_TYPE",
    "BY_VALUE",
    "INTEGER",
    "LINKED_HASH_MAP",
    "UNREGISTRABLE",
    "collection_subclass",
    "exception_type",
    "int_name",
    "same_exception_type",
]

_Read = Callable[..., "tuple[Any, int]"]


def _box(name: str, read: _Read, to_bytes: Callable[[Any], bytes], class_id: int) -> ClassSerializer:
    return ClassSerializer(
        "java.lang." + name, read, byte_writer(to_bytes), class_id=class_id, final=True, shared=False
    )


INTEGER = _box("Integer", scalars.read_integer, scalars.integer_bytes, 0)
_STRING = ClassSerializer(
    "java.lang.String", wire.read_string, byte_writer(wire.string_bytes), class_id=1, null=NULL_STRING, final=True
)
_FLOAT = _box("Float", scalars.read_float, scalars.float_bytes, 2)
_BOOLEAN = _box("Boolean", scalars.read_boolean, scalars.boolean_bytes, 3)
_BYTE = _box("Byte", scalars.read_byte, scalars.byte_bytes, 4)
_CHARACTER = _box("Character", scalars.read_character, scalars.character_bytes, 5)
_SHORT = _box("Short", scalars.read_short, scalars.short_bytes, 6)
_LONG = _box("Long", scalars.read_long, scalars.long_bytes, 7)
_DOUBLE = _box("Double", scalars.read_double, scalars.double_bytes, 8)
#: By class id.
BY_ID = (INTEGER, _STRING, _FLOAT, _BOOLEAN, _BYTE, _CHARACTER, _SHORT, _LONG, _DOUBLE)

_BIG_INTEGER = ClassSerializer(
    "java.math.BigInteger", scalars.read_big_integer, byte_writer(scalars.big_integer_bytes), null=NULL_ZERO
)
_BIG_DECIMAL = ClassSerializer(
    "java.math.BigDecimal", scalars.read_big_decimal, byte_writer(scalars.big_decimal_bytes), null=NULL_ZERO
)
_BYTE_ARRAY = ClassSerializer(
    "[B", scalars.read_byte_array, byte_writer(scalars.byte_array_bytes), null=NULL_ZERO, final=True
)

#: Classes with their comparator before the elements.
_SORTED = frozenset(
    (
        *("java.util.TreeMap", "java.util.concurrent.ConcurrentSkipListMap"),
        *("java.util.TreeSet", "java.util.PriorityQueue"),
    )
)


def collection_subclass(declaration: Declaration) -> ClassSerializer:
    """A class that extends a collection, with elements written as in that collection. Java leaves its own fields
    out."""
    sorted_ = declaration.extends in _SORTED
    if issubclass(declaration.python, dict):
        read = maps.map_reader(declaration.name, declaration.python, sorted_=sorted_)
        put = maps.map_writer(declaration.extends, sorted_=sorted_)
    else:
        read = collections.collection_reader(declaration.name, declaration.python, sorted_=sorted_)
        put = collections.collection_writer(declaration.extends, sorted_=sorted_)
    write = collections.declared_writer(declaration, collections.with_contents_checked(declaration.extends, put))
    return ClassSerializer(
        declaration.name,
        read,
        write,
        null=NULL_ZERO,
        final=declaration.final,
        generic=True,
        python=declaration.python,
    )


def _collection(name: str, kind: type) -> ClassSerializer:
    if kind in (java.EmptyList, java.EmptySet, java.EmptyMap):
        return ClassSerializer(name, *fixed_sizes.no_bytes(kind), sizeless=True)
    if kind in (java.SingletonList, java.SingletonSet):
        return ClassSerializer(name, *fixed_sizes.singleton(name, kind))
    if kind is java.SingletonMap:
        return ClassSerializer(name, *fixed_sizes.singleton_map(name, kind))
    sorted_ = name in _SORTED
    nulls = kind not in (java.ListOf, java.SetOf, java.MapOf)
    if issubclass(kind, dict):
        read = maps.map_reader(name, kind, sorted_=sorted_, nulls=nulls)
        write = maps.map_writer(name, sorted_=sorted_, nulls=nulls)
    else:
        read = collections.collection_reader(name, kind, sorted_=sorted_, null_flag=nulls)
        write = collections.collection_writer(name, sorted_=sorted_, null_flag=nulls)
    if kind in kotlin.EMPTY or kind is java.CopiesList:
        write = fixed_sizes.only_empty(kind, write)
    if kind is java.ConcurrentHashSet:
        read, write = key_sets.key_set_reader(read), key_sets.write_key_set
    write = collections.with_contents_checked(name, write)
    return ClassSerializer(name, read, write, null=NULL_ZERO, generic=True, final=kind is kotlin.ArrayDeque)


def _comparator(member: Comparator) -> ClassSerializer:
    """A comparator is an object without fields; the natural order is an enum's only constant."""
    if member is Comparator.NATURAL_ORDER:
        return ClassSerializer(
            member.value,
            lambda _data, pos, _: (member, pos + 1),
            byte_writer(lambda _: b"\x01"),
            null=NULL_ZERO,
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
                ClassSerializer(name, read, byte_writer(to_bytes), final=table is times.TIMES or name in values.FINAL)
            )
    for name, kind in values.TEXTS.items():
        read = values.text_reader(kind, null=True)
        found.append(ClassSerializer(name, read, byte_writer(wire.string_bytes), null=NULL_STRING, final=True))
    found.append(ClassSerializer("java.util.Optional", *values.box(java.Optional), final=True))
    found.append(ClassSerializer("java.util.concurrent.atomic.AtomicReference", *values.box(java.AtomicReference)))
    found.append(
        ClassSerializer("java.lang.Class", values.read_java_class, values.write_java_class, null=NULL_ZERO, final=True)
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


def same_exception_type(name: str) -> ClassSerializer:
    """Always the same serializer, because a collection whose elements share one is written in another form."""
    with _lock:
        return _exception_types(name)


#: By Java name.
BY_NAME = _named_types()
LINKED_HASH_MAP = BY_NAME["java.util.LinkedHashMap"]

BY_PYTHON_TYPE: dict[type, ClassSerializer] = {
    str: _STRING,
    float: _DOUBLE,
    bool: _BOOLEAN,
    Decimal: _BIG_DECIMAL,
    bytes: _BYTE_ARRAY,
    bytearray: _BYTE_ARRAY,
    memoryview: _BYTE_ARRAY,
    list: BY_NAME["java.util.ArrayList"],
    tuple: BY_NAME["java.util.ArrayList"],
    set: BY_NAME["java.util.HashSet"],
    frozenset: BY_NAME["java.util.HashSet"],
    dict: LINKED_HASH_MAP,
    UUID: BY_NAME["java.util.UUID"],
    java.Byte: _BYTE,
    java.Short: _SHORT,
    java.Integer: INTEGER,
    java.Long: _LONG,
    java.BigInteger: _BIG_INTEGER,
    java.Float: _FLOAT,
    java.Double: _DOUBLE,
    java.Character: _CHARACTER,
}


def int_name(value: int) -> str:
    """The Java class that an int becomes, by its size."""
    if INT_MIN <= value <= INT_MAX:
        return INTEGER.name
    return _LONG.name if LONG_MIN <= value <= LONG_MAX else _BIG_INTEGER.name


#: By Python type: the Java class, if it depends on the value.
BY_VALUE: dict[type, Callable[[Any], str]] = {
    int: int_name,
    **dict.fromkeys((datetime, date, time, timedelta), java_time_name),
    java.Charset: values.charset_class,
    java.EnumSet: values.enum_set_class,
    **{kind: lambda _, name=name: name for kind, name in embedded.ADDRESSES.items()},  # type: ignore[misc]
    java.TimeZone: lambda _: "sun.util.calendar.ZoneInfo",
    Comparator: lambda value: str(value.value),
}


#: Redisson sets its own serializers for these classes after it has registered the allowed classes with Kryo's. If one
#: of these is allowed, Redisson cannot write at all on JDK 16 or later, or cannot read its own bytes.
UNREGISTRABLE = frozenset(
    (
        *embedded.STREAMS,
        *("java.util.UUID", "java.net.URI", "java.util.regex.Pattern"),
        *(f"java.util.concurrent.atomic.Atomic{kind}" for kind in ("Boolean", "Integer", "Long", "Reference")),
    )
)
