"""The values that protostuff writes as one protobuf field: numbers, texts, byte[], BigDecimal, BigInteger, Date."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import Any

import attrs

from redisson_dq import java
from redisson_dq.codecs.faults import Unencodable, shorten, type_name
from redisson_dq.codecs.protostuff.wire import BYTES, FIXED32, FIXED64, VARINT, Reader, delimited, utf8, varint
from redisson_dq.errors import ArgumentError
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, decoded_big_integer, decoded_long
from redisson_dq.java.time_numbers import java_date, millis_of

__all__ = ["ARRAY_IDS", "NAMES", "SCALARS", "ScalarForm", "scalar_name"]

_DOUBLE = struct.Struct("<d")
_FLOAT = struct.Struct("<f")
_NAN = float("nan")
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,10})?", re.ASCII)


@attrs.frozen
class ScalarForm:
    """A Java type. ``cast`` converts a value to it, or raises ArgumentError or TypeError. ``dump`` writes and ``load``
    reads the bytes after the tag, in the wire type ``wire``.
    """

    wire: int
    cast: Callable[[Any], Any]
    dump: Callable[[Any], bytes]
    load: Callable[[Reader], Any]

    def fit(self, value: Any, name: str) -> Any:
        """The value converted to this type. ``name`` is the declared type, for messages. Raises Unencodable."""
        try:
            return self.cast(value)
        except (ArgumentError, TypeError) as error:
            raise Unencodable(f"{type_name(value)} cannot be a {name}: {error}") from error

    def bytes_of(self, value: Any, name: str) -> bytes:
        """The bytes of a value whose declared type is ``name``. Raises Unencodable."""
        return self.dump(self.fit(value, name))


def _only(*kinds: type) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if isinstance(value, kinds) and not isinstance(value, Enum):
            return value
        raise TypeError("it is of another type")

    return check


def _integer(kind: Callable[[int], int], bits: int, width: int, make: Callable[[int], Any] = int) -> ScalarForm:
    """A number of ``bits`` bits, which protostuff widens to ``width`` bits of two's complement."""
    mask = (1 << width) - 1
    least, most = -(1 << bits - 1), (1 << bits - 1) - 1
    return ScalarForm(
        VARINT, kind, lambda value: varint(value & mask), lambda reader: make(reader.signed(width, least, most))
    )


def _double(make: Callable[[float], Any] = float) -> ScalarForm:
    return ScalarForm(
        FIXED64,
        java.Double,
        lambda value: _DOUBLE.pack(value if value == value else _NAN),
        lambda reader: make(reader.double()),
    )


def _float(make: Callable[[float], Any] = float) -> ScalarForm:
    return ScalarForm(
        FIXED32,
        java.Float,
        lambda value: _FLOAT.pack(value if value == value else _NAN),
        lambda reader: make(reader.float()),
    )


def _char(make: Callable[[str], Any] = str) -> ScalarForm:
    return ScalarForm(
        VARINT,
        java.Character,
        lambda value: varint(ord(value)),
        lambda reader: make(chr(reader.signed(32, 0, 0xFFFF))),
    )


_MAX_DECIMAL_BITS = 1 << 17  # converting an int to a Decimal takes quadratic time


def _decimal(value: Any) -> Decimal:
    if isinstance(value, int) and value.bit_length() > _MAX_DECIMAL_BITS:
        raise TypeError("a BigDecimal of so many digits would take too long to write")
    number = Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else _only(Decimal)(value)
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or not INT_MIN <= -exponent <= INT_MAX:
        raise TypeError(f"a BigDecimal cannot hold {shorten(str(number), 80)}")
    return number if number else number.copy_abs()


def _read_decimal(reader: Reader) -> Decimal:
    text = reader.text()
    if _DECIMAL.fullmatch(text) is None:
        raise reader.fault("a text that is not a BigDecimal")
    try:
        return _decimal(Decimal(text))
    except TypeError as error:
        raise reader.fault(str(error)) from error


def _dump_big(value: int) -> bytes:
    """``BigInteger.toByteArray``: big endian, with room for the sign."""
    size = (value if value >= 0 else ~value).bit_length() // 8 + 1
    return delimited(value.to_bytes(size, "big", signed=True))


def _read_big(reader: Reader) -> int:
    data = reader.bytes_()
    if not data:
        raise reader.fault("a BigInteger without bytes")
    return decoded_big_integer(int.from_bytes(data, "big", signed=True))


def _date(value: Any) -> Any:
    name = getattr(value, "java_name", "java.util.Date")
    if name.startswith("java.sql."):
        raise TypeError(f"Java reads a Date where a {name} was")
    if isinstance(value, java.FarTime) and name == "java.util.Date":
        return value
    made: Any = value
    return java.JavaDate(made)


_BOOLEAN = ScalarForm(VARINT, _only(bool), varint, lambda reader: bool(reader.signed(32, 0, 1)))

#: By Java name.
SCALARS: dict[str, ScalarForm] = {
    "boolean": _BOOLEAN,
    "byte": _integer(java.Byte, 8, 32),
    "char": _char(),
    "short": _integer(java.Short, 16, 32),
    "int": _integer(java.Integer, 32, 64),
    "long": _integer(java.Long, 64, 64),
    "float": _float(),
    "double": _double(),
    "java.lang.Boolean": _BOOLEAN,
    "java.lang.Byte": _integer(java.Byte, 8, 32, java.Byte),
    "java.lang.Character": _char(java.Character),
    "java.lang.Short": _integer(java.Short, 16, 32, java.Short),
    "java.lang.Integer": _integer(java.Integer, 32, 64),
    "java.lang.Long": _integer(java.Long, 64, 64, decoded_long),
    "java.lang.Float": _float(java.Float),
    "java.lang.Double": _double(),
    "java.lang.String": ScalarForm(BYTES, _only(str), lambda value: delimited(utf8(value)), Reader.text),
    "[B": ScalarForm(BYTES, _only(bytes, bytearray, memoryview), lambda value: delimited(bytes(value)), Reader.bytes_),
    "java.math.BigDecimal": ScalarForm(BYTES, _decimal, lambda value: delimited(str(value).encode()), _read_decimal),
    "java.math.BigInteger": ScalarForm(BYTES, java.BigInteger, _dump_big, _read_big),
    "java.util.Date": ScalarForm(
        FIXED64,
        _date,
        lambda value: millis_of(value).to_bytes(8, "little", signed=True),
        lambda reader: java_date(reader.fixed64()),
    ),
}

_PRIMITIVES = ("boolean", "byte", "char", "short", "int", "long", "float", "double")
_BOXES = ("Boolean", "Byte", "Character", "Short", "Integer", "Long", "Float", "Double")

#: By the number that precedes a value whose type is not declared. (10 is a class of protostuff.)
NAMES: dict[int, str] = {
    **{number: f"java.lang.{name}" for number, name in enumerate((*_BOXES, "String"), 1)},
    11: "[B",
    12: "java.math.BigDecimal",
    13: "java.math.BigInteger",
    14: "java.util.Date",
}

#: By component: the number that precedes the elements of an array whose type is not declared.
ARRAY_IDS: dict[str, int] = {
    **{name: number for number, name in enumerate(_PRIMITIVES) if name != "byte"},
    **{f"java.lang.{name}": number for number, name in enumerate(_BOXES, 8) if name != "Byte"},
    **{name: number + 7 for number, name in NAMES.items() if number > 8},
}

_BY_TYPE: dict[type, str] = {
    bool: "java.lang.Boolean",
    java.Byte: "java.lang.Byte",
    java.Short: "java.lang.Short",
    java.Integer: "java.lang.Integer",
    java.Long: "java.lang.Long",
    java.BigInteger: "java.math.BigInteger",
    java.Float: "java.lang.Float",
    java.Character: "java.lang.Character",
    Decimal: "java.math.BigDecimal",
    java.JavaDate: "java.util.Date",
    bytes: "[B",
    bytearray: "[B",
    memoryview: "[B",
}


def scalar_name(value: Any) -> str | None:
    """The Java type of a value whose type is not declared. None if the value is not a scalar. O(1)."""
    if isinstance(value, Enum):
        return None
    for kind in type(value).__mro__:
        if kind in _BY_TYPE:
            return _BY_TYPE[kind]
    name = getattr(value, "java_name", None)
    if name is not None:
        return "java.util.Date" if name == "java.util.Date" else None
    if isinstance(value, int):
        return _of_int(value)
    return "java.lang.String" if isinstance(value, str) else "java.lang.Double" if isinstance(value, float) else None


def _of_int(value: int) -> str:
    if INT_MIN <= value <= INT_MAX:
        return "java.lang.Integer"
    return "java.lang.Long" if LONG_MIN <= value <= LONG_MAX else "java.math.BigInteger"
