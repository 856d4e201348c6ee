"""Wrapper types that give a Python number or text another Java type than the plain value has.

A codec that carries types (Kryo5Codec, JsonJacksonCodec) gives a plain value its natural Java type:

* ``int`` -> ``Integer`` if it fits 32 bits, else ``Long`` if it fits 64, else ``BigInteger``;
* ``float`` -> ``Double``; ``str`` -> ``String``; ``Decimal`` -> ``BigDecimal``; ``bytes`` -> ``byte[]``.

Wrap the value to choose another: ``Long(5)``. A wrapper is still an int, a float or a str: it compares, hashes and
calculates as one (``Long(5) == 5``; ``Long(5) + 1`` is the plain int 6). Decoding returns the plain type if encoding
that plain value would give the same Java type. Otherwise it returns the wrapper. So a value that was read is written
back as the same type.
"""

from __future__ import annotations

import operator
import struct
from typing import Any, ClassVar, TypeVar

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError

__all__ = [
    "INT_MAX",
    "INT_MIN",
    "LONG_MAX",
    "LONG_MIN",
    "BigInteger",
    "Byte",
    "Character",
    "Double",
    "Float",
    "Integer",
    "JavaInt",
    "Long",
    "Short",
    "decoded_big_integer",
    "decoded_long",
]

_I = TypeVar("_I", bound="JavaInt")
_F = TypeVar("_F", bound="_JavaFloat")
_C = TypeVar("_C", bound="Character")
_FLOAT = struct.Struct("<f")


class JavaInt(int):
    """An int with a Java type of its own. Raises ArgumentError for other types and values out of range."""

    __slots__ = ()
    _bits: ClassVar[int | None] = None

    def __new__(cls: type[_I], value: int) -> _I:
        if isinstance(value, bool):
            raise ArgumentError(f"{cls.__name__} takes an int, not {shown(value)}")
        try:
            number = operator.index(value)
        except TypeError as error:
            raise ArgumentError(f"{cls.__name__} takes an int, not {type(value).__name__}") from error
        bits = cls._bits
        if bits is not None and not -(1 << bits - 1) <= number < 1 << bits - 1:
            raise ArgumentError(
                f"{cls.__name__} holds {-(1 << bits - 1)} to {(1 << bits - 1) - 1}; the value given has "
                f"{number.bit_length()} bits"
            )
        return int.__new__(cls, number)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({int.__repr__(self)})"

    __str__ = int.__repr__


class Byte(JavaInt):
    """``java.lang.Byte``: -128 to 127."""

    __slots__ = ()
    _bits = 8


class Short(JavaInt):
    """``java.lang.Short``: 16 bits, signed."""

    __slots__ = ()
    _bits = 16


class Integer(JavaInt):
    """``java.lang.Integer``: 32 bits, signed. A plain int of that size also becomes an Integer."""

    __slots__ = ()
    _bits = 32


class Long(JavaInt):
    """``java.lang.Long``: 64 bits, signed. Needed for a Long whose value fits 32 bits."""

    __slots__ = ()
    _bits = 64


class BigInteger(JavaInt):
    """``java.math.BigInteger``: any size. Needed for a value that fits 64 bits."""

    __slots__ = ()


class _JavaFloat(float):
    """A float with a Java type of its own. Raises ArgumentError for anything but a float or an int."""

    __slots__ = ()

    def __new__(cls: type[_F], value: float) -> _F:
        if isinstance(value, bool) or not isinstance(value, (float, int)):
            raise ArgumentError(f"{cls.__name__} takes a float, not {type(value).__name__}")
        try:
            return float.__new__(cls, cls._fit(float(value)))
        except OverflowError as error:
            raise ArgumentError(f"the value is too large for {cls.__name__}") from error

    @staticmethod
    def _fit(value: float) -> float:
        return value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({float.__repr__(self)})"

    __str__ = float.__repr__


class Float(_JavaFloat):
    """``java.lang.Float``: the value is rounded to 32 bits at once, as Java's ``(float) x`` does.

    So ``Float(1.1) != 1.1``. A finite value beyond the largest Float is refused with ArgumentError.
    """

    __slots__ = ()

    @staticmethod
    def _fit(value: float) -> float:
        rounded: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
        return rounded


class Double(_JavaFloat):
    """``java.lang.Double``. A plain float also becomes a Double."""

    __slots__ = ()


class Character(str):
    """``java.lang.Character``: one UTF-16 unit, so one character up to U+FFFF (a lone surrogate included)."""

    __slots__ = ()

    def __new__(cls: type[_C], value: str) -> _C:
        if not isinstance(value, str) or len(value) != 1 or value > "\uffff":
            raise ArgumentError("Character takes one character up to U+FFFF (one UTF-16 unit)")
        return str.__new__(cls, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str.__repr__(self)})"


# For all codecs: Java's ranges, and the decoding rule of the module's docstring.

INT_MIN, INT_MAX = -(1 << 31), (1 << 31) - 1
LONG_MIN, LONG_MAX = -(1 << 63), (1 << 63) - 1


def decoded_long(value: int, _new: Any = int.__new__) -> int:
    """The Python value of a decoded Long. ``value`` must fit 64 bits."""
    return _new(Long, value) if INT_MIN <= value <= INT_MAX else value


def decoded_big_integer(value: int) -> int:
    """The Python value of a decoded BigInteger."""
    return int.__new__(BigInteger, value) if LONG_MIN <= value <= LONG_MAX else value
