"""The Java classes this codec knows: how Kryo's bytes name them, and the functions that read and write them.

Before a value Kryo writes its class as a varint: 0 for null; 1 for a class that is named (see the reader);
from 2 on the ids that Kryo gives by itself: int 0, String 1, float 2, boolean 3, byte 4, char 5, short 6,
long 7, double 8, boxed types the same.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from redisson_dq import java
from redisson_dq.codecs import classes
from redisson_dq.codecs.faults import no_java_type
from redisson_dq.codecs.kryo5 import containers, scalars, wire
from redisson_dq.java import numbers

if TYPE_CHECKING:
    from redisson_dq.codecs.kryo5.writer import Writer

__all__ = ["BY_ID", "BY_NAME", "JavaType", "type_of"]

Read = Callable[[bytes, int, Any], "tuple[Any, int]"]
Write = Callable[[Any, "Writer"], None]

#: What stands for null where the class is already known, as in a list whose elements are of one class: a byte
#: that the class's own serializer reads as null, or else a mark before every element, 00 for null and 01 for
#: a value.
NULL_ZERO: Final = b"\0"
NULL_STRING: Final = b"\x80"
NULL_MARK: Final = None


def _read_only(_value: Any, _writer: Writer) -> None:
    raise AssertionError("no Python type becomes this class")  # pragma: no cover


class JavaType:
    """One Java class. ``read`` and ``write`` do a value's bytes, the class excluded.

    ``tag`` is the class itself: its id's byte, or, when it is ``named``, its name as it stands after the
    number. ``sizeless`` says that a value has no bytes at all.
    """

    __slots__ = ("name", "named", "null", "null_mark", "read", "sizeless", "tag", "write")

    def __init__(
        self,
        name: str,
        read: Read,
        write: Write = _read_only,
        *,
        class_id: int | None = None,
        null: bytes | None = NULL_MARK,
        sizeless: bool = False,
    ) -> None:
        self.name = name
        self.named = class_id is None
        self.tag = wire.ascii_name(name) if class_id is None else bytes((class_id + 2,))
        self.null = null or b"\0"
        self.null_mark = null is NULL_MARK
        self.read = read
        self.write = write
        self.sizeless = sizeless


def _each(to_bytes: Callable[[Any], bytes]) -> Write:
    def write(value: Any, writer: Writer) -> None:
        writer.out.append(to_bytes(value))

    return write


INTEGER = JavaType("java.lang.Integer", scalars.read_integer, _each(scalars.integer_bytes), class_id=0)
STRING = JavaType("java.lang.String", wire.read_string, _each(wire.string_bytes), class_id=1, null=NULL_STRING)
FLOAT = JavaType("java.lang.Float", scalars.read_float, _each(scalars.float_bytes), class_id=2)
BOOLEAN = JavaType("java.lang.Boolean", scalars.read_boolean, _each(scalars.boolean_bytes), class_id=3)
BYTE = JavaType("java.lang.Byte", scalars.read_byte, _each(scalars.byte_bytes), class_id=4)
CHARACTER = JavaType("java.lang.Character", scalars.read_character, _each(scalars.character_bytes), class_id=5)
SHORT = JavaType("java.lang.Short", scalars.read_short, _each(scalars.short_bytes), class_id=6)
LONG = JavaType("java.lang.Long", scalars.read_long, _each(scalars.long_bytes), class_id=7)
DOUBLE = JavaType("java.lang.Double", scalars.read_double, _each(scalars.double_bytes), class_id=8)
#: By class id.
BY_ID = (INTEGER, STRING, FLOAT, BOOLEAN, BYTE, CHARACTER, SHORT, LONG, DOUBLE)

BIG_INTEGER = JavaType(
    "java.math.BigInteger", scalars.read_big_integer, _each(scalars.big_integer_bytes), null=NULL_ZERO
)
BIG_DECIMAL = JavaType(
    "java.math.BigDecimal", scalars.read_big_decimal, _each(scalars.big_decimal_bytes), null=NULL_ZERO
)
BYTE_ARRAY = JavaType("[B", scalars.read_byte_array, _each(scalars.byte_array_bytes), null=NULL_ZERO)

_read_list = containers.collection_reader()
_read_map = containers.map_reader()
ARRAY_LIST = JavaType(classes.ARRAY_LIST, _read_list, containers.write_list, null=NULL_ZERO)
LINKED_HASH_MAP = JavaType(classes.LINKED_HASH_MAP, _read_map, containers.write_map, null=NULL_ZERO)


def _named_types() -> dict[str, JavaType]:
    read_set = containers.collection_reader(classes.to_set)
    groups: list[tuple[tuple[str, ...], Read]] = [
        (classes.LISTS, _read_list),
        (classes.IMMUTABLE_LISTS, containers.collection_reader(null_flag=False)),
        (classes.SETS, read_set),
        (classes.IMMUTABLE_SETS, containers.collection_reader(classes.to_set, null_flag=False)),
        (classes.SORTED_SETS, containers.collection_reader(classes.to_set, sorted_=True)),
        (classes.MAPS + classes.IMMUTABLE_MAPS, _read_map),
        (classes.SORTED_MAPS, containers.map_reader(sorted_=True)),
    ]
    types = [JavaType(name, read, null=NULL_ZERO) for names, read in groups for name in names]
    pairs = (
        (classes.SMALL_LISTS, list, containers.read_singleton_list),
        (classes.SMALL_SETS, set, containers.read_singleton_set),
        (classes.SMALL_MAPS, dict, containers.read_singleton_map),
    )
    for (empty, single), make, read_single in pairs:
        types.append(JavaType(empty, containers.read_nothing(make), sizeless=True))
        types.append(JavaType(single, read_single))
    types += [BIG_INTEGER, BIG_DECIMAL, BYTE_ARRAY, ARRAY_LIST, LINKED_HASH_MAP]
    return {java_type.name: java_type for java_type in types}


#: By Java's name: every class that is read without an id.
BY_NAME = _named_types()

_BY_PYTHON_TYPE: dict[type, JavaType] = {
    str: STRING,
    float: DOUBLE,
    bool: BOOLEAN,
    Decimal: BIG_DECIMAL,
    bytes: BYTE_ARRAY,
    bytearray: BYTE_ARRAY,
    memoryview: BYTE_ARRAY,
    list: ARRAY_LIST,
    dict: LINKED_HASH_MAP,
    java.Byte: BYTE,
    java.Short: SHORT,
    java.Integer: INTEGER,
    java.Long: LONG,
    java.BigInteger: BIG_INTEGER,
    java.Float: FLOAT,
    java.Double: DOUBLE,
    java.Character: CHARACTER,
}


def type_of(value: Any) -> JavaType | None:
    """The Java type a value becomes, None for None. A subclass counts as its nearest base class here."""
    if value is None:
        return None
    kind = type(value)
    found = _BY_PYTHON_TYPE.get(kind)
    if found is None and kind is not int:
        if isinstance(value, Enum):
            raise no_java_type(value)
        for base in kind.__mro__:
            found = _BY_PYTHON_TYPE.get(base)
            if found is not None or base is int:
                break
        else:
            raise no_java_type(value)
    if found is not None:
        return found
    if numbers.INT_MIN <= value <= numbers.INT_MAX:
        return INTEGER
    return LONG if numbers.LONG_MIN <= value <= numbers.LONG_MAX else BIG_INTEGER
