"""The values that contain no others, as Kryo's serializers write and read them.

A ``read_*`` function takes the bytes, a position and the reader (unused here), and returns the value and the next
position. A ``*_bytes`` function returns the value's bytes without its class. Kryo writes Short, Character, Float and
Double in little endian, the bytes of BigInteger and BigDecimal in big endian.
"""

from __future__ import annotations

import struct
from decimal import Decimal
from typing import Any

from redisson_dq.codecs.decimals import MAX_DECIMAL_BYTES, MAX_DECIMAL_DIGITS, unscaled_and_scale
from redisson_dq.codecs.faults import Malformed
from redisson_dq.codecs.kryo5.wire import read_length, read_varint, read_varlong, varint
from redisson_dq.java.numbers import (
    Byte,
    Character,
    Float,
    Long,
    Short,
    decoded_big_integer,
    decoded_long,
)

__all__ = [
    "big_decimal_bytes",
    "big_integer_bytes",
    "boolean_bytes",
    "byte_array_bytes",
    "byte_bytes",
    "character_bytes",
    "double_bytes",
    "float_bytes",
    "integer_bytes",
    "long_bytes",
    "pack_double",
    "read_big_decimal",
    "read_big_integer",
    "read_boolean",
    "read_byte",
    "read_byte_array",
    "read_character",
    "read_double",
    "read_float",
    "read_integer",
    "read_long",
    "read_plain_byte",
    "read_plain_character",
    "read_plain_float",
    "read_plain_long",
    "read_plain_short",
    "read_short",
    "read_signed_int",
    "read_signed_long",
    "short_bytes",
    "unpack_double",
]

_DOUBLE = struct.Struct("<d")
_FLOAT = struct.Struct("<f")
_SHORT = struct.Struct("<h")
_NAN_DOUBLE = b"\0\0\0\0\0\0\xf8\x7f"
_NAN_FLOAT = b"\0\0\xc0\x7f"
unpack_double = _DOUBLE.unpack_from
_unpack_float = _FLOAT.unpack_from
_unpack_short = _SHORT.unpack_from
pack_double = _DOUBLE.pack
_new_int = int.__new__


def read_integer(data: bytes, pos: int, _: object = None) -> tuple[int, int]:
    byte = data[pos]
    if byte < 0x80:
        return byte >> 1 ^ -(byte & 1), pos + 1
    number, pos = read_varint(data, pos)
    return (number >> 1) ^ -(number & 1), pos


def integer_bytes(value: int) -> bytes:
    return varint((value << 1) ^ (value >> 31))


def read_long(data: bytes, pos: int, _: object = None) -> tuple[int, int]:
    byte = data[pos]
    if byte < 0x80:
        return _new_int(Long, byte >> 1 ^ -(byte & 1)), pos + 1
    number, pos = read_varlong(data, pos)
    return decoded_long((number >> 1) ^ -(number & 1)), pos


def long_bytes(value: int) -> bytes:
    return varint((value << 1) ^ (value >> 63))


def read_signed_int(data: bytes, pos: int, _: object = None) -> tuple[int, int]:
    """An int as a varint without zigzag."""
    number, pos = read_varint(data, pos)
    return (number ^ 0x80000000) - 0x80000000, pos


def read_signed_long(data: bytes, pos: int, _: object = None) -> tuple[int, int]:
    """A long as a varint without zigzag."""
    number, pos = read_varlong(data, pos)
    return (number ^ 1 << 63) - (1 << 63), pos


def read_short(data: bytes, pos: int, _: object = None) -> tuple[int, int]:
    return int.__new__(Short, _unpack_short(data, pos)[0]), pos + 2


def short_bytes(value: int) -> bytes:
    return _SHORT.pack(value)


def read_byte(data: bytes, pos: int, _: object = None) -> tuple[int, int]:
    byte = data[pos]
    return int.__new__(Byte, byte - 256 if byte > 127 else byte), pos + 1


def byte_bytes(value: int) -> bytes:
    return bytes((value & 0xFF,))


def read_boolean(data: bytes, pos: int, _: object = None) -> tuple[bool, int]:
    byte = data[pos]
    if byte > 1:
        raise Malformed(f"a boolean of {byte:#04x}", pos)
    return byte == 1, pos + 1


def boolean_bytes(value: bool) -> bytes:
    return b"\x01" if value else b"\x00"


def read_character(data: bytes, pos: int, _: object = None) -> tuple[str, int]:
    return str.__new__(Character, chr(data[pos] | data[pos + 1] << 8)), pos + 2


def character_bytes(value: str) -> bytes:
    return ord(value).to_bytes(2, "little")


def read_float(data: bytes, pos: int, _: object = None) -> tuple[float, int]:
    return float.__new__(Float, _unpack_float(data, pos)[0]), pos + 4


def float_bytes(value: float) -> bytes:
    return _FLOAT.pack(value) if value == value else _NAN_FLOAT


def read_double(data: bytes, pos: int, _: object = None) -> tuple[float, int]:
    return unpack_double(data, pos)[0], pos + 8


def double_bytes(value: float) -> bytes:
    return pack_double(value) if value == value else _NAN_DOUBLE


def read_byte_array(data: bytes, pos: int, _: object = None) -> tuple[bytes | None, int]:
    length, start = read_length(data, pos)
    return (data[start : start + length], start + length) if length >= 0 else (None, start)


def byte_array_bytes(value: bytes | bytearray | memoryview) -> bytes:
    raw = bytes(value)
    return varint(len(raw) + 1) + raw


def read_big_integer(data: bytes, pos: int, _: object = None) -> tuple[int | None, int]:
    length, start = read_length(data, pos)
    if length < 1:
        if length == 0:
            raise Malformed("a BigInteger without bytes", pos)
        return None, start
    end = start + length
    return decoded_big_integer(int.from_bytes(data[start:end], "big", signed=True)), end


def big_integer_bytes(value: int) -> bytes:
    raw = _two_complement(value)
    return varint(len(raw) + 1) + raw


def read_big_decimal(data: bytes, pos: int, _: object = None) -> tuple[Decimal | None, int]:
    length, start = read_length(data, pos)
    if length < 1:
        if length == 0:
            raise Malformed("a BigDecimal without bytes", pos)
        return None, start
    if length > MAX_DECIMAL_BYTES:
        raise Malformed(f"a BigDecimal of more than {MAX_DECIMAL_DIGITS} digits", pos)
    end = start + length
    unscaled = Decimal(int.from_bytes(data[start:end], "big", signed=True))
    scale, end = read_integer(data, end)
    sign, digits, _exponent = unscaled.as_tuple()
    if len(digits) > MAX_DECIMAL_DIGITS:
        raise Malformed(f"a BigDecimal of more than {MAX_DECIMAL_DIGITS} digits", pos)
    return (Decimal((sign, digits, -scale)) if scale else unscaled), end


def big_decimal_bytes(value: Decimal) -> bytes:
    unscaled, scale = unscaled_and_scale(value)
    raw = _two_complement(unscaled)
    return varint(len(raw) + 1) + raw + integer_bytes(scale)


# Primitive fields of declared classes and primitive elements of arrays are plain Python values.


def read_plain_long(data: bytes, pos: int, _: object = None) -> tuple[int, int]:
    number, pos = read_varlong(data, pos)
    return (number >> 1) ^ -(number & 1), pos


def read_plain_short(data: bytes, pos: int, _: object = None) -> tuple[int, int]:
    return _unpack_short(data, pos)[0], pos + 2


def read_plain_byte(data: bytes, pos: int, _: object = None) -> tuple[int, int]:
    byte = data[pos]
    return byte - 256 if byte > 127 else byte, pos + 1


def read_plain_character(data: bytes, pos: int, _: object = None) -> tuple[str, int]:
    return chr(data[pos] | data[pos + 1] << 8), pos + 2


def read_plain_float(data: bytes, pos: int, _: object = None) -> tuple[float, int]:
    return _unpack_float(data, pos)[0], pos + 4


def _two_complement(value: Any) -> bytes:
    """The fewest bytes that hold the number and its sign, as from ``BigInteger.toByteArray``."""
    bits: int = (value if value >= 0 else ~value).bit_length()
    return int.to_bytes(value, bits // 8 + 1, "big", signed=True)
