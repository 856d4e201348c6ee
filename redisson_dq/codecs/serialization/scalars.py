"""The values that hold no others: numbers, texts, UUIDs, dates before java.time."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

from redisson_dq import java
from redisson_dq.codecs.decimals import MAX_DECIMAL_BYTES, MAX_DECIMAL_DIGITS, unscaled_and_scale
from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.serialization.handler import ClassHandler, Data, array_field, field, int_bytes, put, text_field
from redisson_dq.codecs.serialization.protocols import DecoderProtocol, EncoderProtocol
from redisson_dq.codecs.serialization.stream import ArrayInstance, Instance
from redisson_dq.codecs.serialization.utf import join_surrogates
from redisson_dq.errors import ArgumentError
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, decoded_big_integer, decoded_long
from redisson_dq.java.time_numbers import instant_parts, java_date, millis_of, timestamp

__all__ = ["BIG_INTEGER", "INTEGER", "LONG", "HANDLERS"]

_NAN = float("nan")
_ATOMIC = "java.util.concurrent.atomic."


def _value_handler(
    name: str,
    kind: type,
    stream_type: type,
    make: Callable[[Any], Any],
    plain: Callable[[Any], Any],
    *,
    identity: bool = False,
) -> ClassHandler:
    """A class whose only field is ``value``. ``plain`` converts the Python value to it."""

    def read(node: Instance, _decoder: DecoderProtocol) -> Any:
        return make(field(node, "value", stream_type))

    def write(node: Instance, value: Any, _encoder: EncoderProtocol) -> None:
        put(node, {"value": plain(value)})

    return ClassHandler(name, read, kind, write, identity)


def _one_nan(value: float) -> float:
    return float(value) if value == value else _NAN


def _ranged(least: int, most: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if not isinstance(value.value, int) or not least <= value.value <= most:
            raise Unencodable(f"{type(value).__name__} holds an int of {least} to {most}")
        return int(value.value)

    return check


INTEGER = _value_handler("java.lang.Integer", java.Integer, int, int, int)
LONG = _value_handler("java.lang.Long", java.Long, int, decoded_long, int)

# Numbers of any size


def _read_big_integer(node: Instance, decoder: DecoderProtocol) -> int:
    return decoded_big_integer(_big_integer(node, decoder, None))


def _big_integer(node: Instance, decoder: DecoderProtocol, most_bytes: int | None) -> int:
    magnitude: bytes = array_field(node, "magnitude", "[B")
    signum: int = field(node, "signum", int)
    if signum not in (-1, 0, 1):
        raise Malformed(f"a BigInteger whose sign is {signum}", node.offset)
    if most_bytes is not None and len(magnitude) > most_bytes:
        raise Malformed(f"a BigDecimal of more than {MAX_DECIMAL_DIGITS} digits", node.offset)
    decoder.spend(len(magnitude), node)
    return signum * int.from_bytes(magnitude, "big")


def _write_big_integer(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    magnitude = abs(int(value))
    raw = magnitude.to_bytes((magnitude.bit_length() + 7) // 8, "big")
    # Four of the fields exist only for JDK 1.1; these values mark them as unused.
    put(
        node,
        {
            "bitCount": -1,
            "bitLength": -1,
            "firstNonzeroByteNum": -2,
            "lowestSetBit": -2,
            "signum": (value > 0) - (value < 0),
            "magnitude": encoder.array("[B", raw),
        },
    )


BIG_INTEGER = ClassHandler("java.math.BigInteger", _read_big_integer, java.BigInteger, _write_big_integer)


def _read_big_decimal(node: Instance, decoder: DecoderProtocol) -> Decimal:
    unscaled = Decimal(_big_integer(field(node, "intVal", Instance), decoder, MAX_DECIMAL_BYTES))
    scale = field(node, "scale", int)
    sign, digits, _exponent = unscaled.as_tuple()
    if len(digits) > MAX_DECIMAL_DIGITS:
        raise Malformed(f"a BigDecimal of more than {MAX_DECIMAL_DIGITS} digits", node.offset)
    decoder.spend(len(digits), node)
    return Decimal((sign, digits, -scale)) if scale else unscaled


def _write_big_decimal(node: Instance, value: Decimal, encoder: EncoderProtocol) -> None:
    unscaled, scale = unscaled_and_scale(value)
    put(node, {"scale": scale, "intVal": encoder.content(java.BigInteger(unscaled))})


# Texts


def _text_handler(name: str, kind: type, field_name: str) -> ClassHandler:
    """A class that is a text in one field."""

    def read(node: Instance, decoder: DecoderProtocol) -> Any:
        text = text_field(node, field_name, decoder)
        decoder.spend(len(text), node)
        return kind(text)

    def write(node: Instance, value: Any, _encoder: EncoderProtocol) -> None:
        put(node, {field_name: str.__str__(value)})

    return ClassHandler(name, read, kind, write)


def _units(text: str) -> list[int]:
    return list(memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H"))


def _text(units: Any, count: int, node: Instance, decoder: DecoderProtocol) -> str:
    if not 0 <= count <= len(units):
        raise Malformed("a text of fewer characters than it says", node.offset)
    decoder.spend(count, node)
    return join_surrogates("".join(map(chr, units[:count])))


_SPARE = 16  # the spare capacity of a StringBuilder that was made from a text


def _read_string_builder(node: Instance, decoder: DecoderProtocol) -> java.StringBuilder:
    data = Data(node, "java.lang.StringBuilder")
    count = data.integer()
    array = data.content()
    data.end()
    if not isinstance(array, ArrayInstance) or array.desc.name != "[C":
        raise Malformed("a StringBuilder without its characters", node.offset)
    return java.StringBuilder(_text(array.items, count, node, decoder))


def _write_string_builder(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    units = _units(value)
    put(node, {}, [int_bytes(len(units)), encoder.array("[C", (*units, *[0] * _SPARE))])


def _read_string_buffer(node: Instance, decoder: DecoderProtocol) -> java.StringBuffer:
    units = array_field(node, "value", "[C")
    return java.StringBuffer(_text(units, field(node, "count", int), node, decoder))


def _write_string_buffer(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    units = _units(value)
    put(node, {"count": len(units), "shared": False, "value": encoder.array("[C", (*units, *[0] * _SPARE))})


_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?#]*))?([^#]*)(?:#(.*))?", re.DOTALL)
_HOST = re.compile(r"(?:.*@)?(\[[^\]]*\]|[^:]*)(?::([0-9]*))?", re.DOTALL)
_NO_PORT = -1
_MAX_PORT = 65535


def _read_url(node: Instance, decoder: DecoderProtocol) -> java.Url:
    authority = text_field(node, "authority", decoder, null=True)
    ref = text_field(node, "ref", decoder, null=True)
    text = text_field(node, "protocol", decoder) + ":"
    if authority:
        text += f"//{authority}"
    text += text_field(node, "file", decoder, null=True) or ""
    text_field(node, "host", decoder, null=True)
    decoder.spend(len(text) + len(ref or ""), node)
    return java.Url(text if ref is None else f"{text}#{ref}")


def _write_url(node: Instance, value: Any, _encoder: EncoderProtocol) -> None:
    match = _URL.fullmatch(value)
    protocol, authority, file, ref = match.groups() if match is not None else ("", None, "", None)
    host = _HOST.fullmatch(authority or "")
    if match is None or host is None or int(host[2] or 0) > _MAX_PORT:
        raise Unencodable("a text that is not a URL: protocol://host:port/file#ref")
    put(
        node,
        {
            "hashCode": -1,  # not computed yet
            "port": int(host[2]) if host[2] else _NO_PORT,
            "authority": authority or None,
            "file": file,
            "host": host[1],
            "protocol": protocol.lower(),
            "ref": ref,
        },
    )


def _read_locale(node: Instance, decoder: DecoderProtocol) -> java.Locale:
    # Older JDKs have no script and no extensions.
    return java.Locale(
        text_field(node, "language", decoder),
        text_field(node, "country", decoder),
        text_field(node, "variant", decoder),
        text_field(node, "script", decoder, default=""),
        text_field(node, "extensions", decoder, default=""),
    )


def _write_locale(node: Instance, value: java.Locale, _encoder: EncoderProtocol) -> None:
    names = ("language", "country", "variant", "script", "extensions")
    put(node, {"hashcode": -1, **{name: str.__str__(getattr(value, name)) for name in names}})


def _read_pattern(node: Instance, decoder: DecoderProtocol) -> java.Pattern:
    return java.Pattern(text_field(node, "pattern", decoder), field(node, "flags", int))


def _write_pattern(node: Instance, value: java.Pattern, _encoder: EncoderProtocol) -> None:
    if type(value.pattern) is not str or not isinstance(value.flags, int) or not INT_MIN <= value.flags <= INT_MAX:
        raise Unencodable("a Pattern is a str and an int of flags")
    put(node, {"pattern": value.pattern, "flags": value.flags})


# The others


def _read_uuid(node: Instance, _decoder: DecoderProtocol) -> UUID:
    most, least = field(node, "mostSigBits", int), field(node, "leastSigBits", int)
    return UUID(int=(most & _LONG_MASK) << 64 | least & _LONG_MASK)


_LONG_MASK = (1 << 64) - 1


def _signed(bits: int) -> int:
    return bits - (1 << 64) if bits >> 63 else bits


def _write_uuid(node: Instance, value: UUID, _encoder: EncoderProtocol) -> None:
    put(node, {"mostSigBits": _signed(value.int >> 64), "leastSigBits": _signed(value.int & _LONG_MASK)})


def _read_bit_set(node: Instance, decoder: DecoderProtocol) -> java.BitSet:
    words = array_field(node, "bits", "[J")
    decoder.spend(len(words) + sum((word & _LONG_MASK).bit_count() for word in words), node)
    return java.BitSet.from_words(words)


def _write_bit_set(node: Instance, value: java.BitSet, encoder: EncoderProtocol) -> None:
    try:
        words = value.to_words()
    except ArgumentError as error:
        raise Unencodable(str(error)) from error
    put(node, {"bits": encoder.array("[J", tuple(words))})


def _date_handler(name: str, kind: Any) -> ClassHandler:
    """java.util.Date, java.sql.Date and Time: the milliseconds, which Date's writeObject writes."""

    def read(node: Instance, _decoder: DecoderProtocol) -> Any:
        return java_date(_millis(node), kind)

    def write(node: Instance, value: Any, _encoder: EncoderProtocol) -> None:
        put(node, {}, [_long_bytes(millis_of(value))])

    return ClassHandler(name, read, kind, write)


def _long_bytes(value: int) -> bytes:
    return value.to_bytes(8, "big", signed=True)


def _millis(node: Instance) -> int:
    data = Data(node, "java.util.Date")
    (millis,) = data.unpack(">q")
    data.end()
    return int(millis)


def _read_timestamp(node: Instance, _decoder: DecoderProtocol) -> Any:
    try:
        return timestamp(_millis(node) // 1000, field(node, "nanos", int))
    except ValueError as error:
        raise Malformed(str(error), node.offset) from error


def _write_timestamp(node: Instance, value: Any, _encoder: EncoderProtocol) -> None:
    seconds, nano = instant_parts(value)
    put(node, {"nanos": nano}, [_long_bytes(seconds * 1000)])


def _read_atomic_reference(node: Instance, decoder: DecoderProtocol) -> java.AtomicReference[Any]:
    made: java.AtomicReference[Any] = decoder.begin(node, java.AtomicReference())
    made.value = decoder.value(field(node, "value", object, None))
    return made


def _write_atomic_reference(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    put(node, {"value": encoder.content(value.value)})


HANDLERS: tuple[ClassHandler, ...] = (
    _value_handler("java.lang.Boolean", bool, bool, bool, bool),
    _value_handler("java.lang.Byte", java.Byte, int, java.Byte, int),
    _value_handler("java.lang.Short", java.Short, int, java.Short, int),
    _value_handler("java.lang.Character", java.Character, int, lambda unit: java.Character(chr(unit)), ord),
    INTEGER,
    LONG,
    _value_handler("java.lang.Float", java.Float, float, java.Float, _one_nan),
    _value_handler("java.lang.Double", float, float, float, _one_nan),
    BIG_INTEGER,
    ClassHandler("java.math.BigDecimal", _read_big_decimal, Decimal, _write_big_decimal),
    _text_handler("java.net.URI", java.Uri, "string"),
    ClassHandler("java.net.URL", _read_url, java.Url, _write_url),
    _text_handler("java.util.Currency", java.Currency, "currencyCode"),
    ClassHandler("java.lang.StringBuilder", _read_string_builder, java.StringBuilder, _write_string_builder),
    ClassHandler("java.lang.StringBuffer", _read_string_buffer, java.StringBuffer, _write_string_buffer),
    ClassHandler("java.util.Locale", _read_locale, java.Locale, _write_locale),
    ClassHandler("java.util.regex.Pattern", _read_pattern, java.Pattern, _write_pattern),
    ClassHandler("java.util.UUID", _read_uuid, UUID, _write_uuid),
    ClassHandler("java.util.BitSet", _read_bit_set, java.BitSet, _write_bit_set, identity=True),
    _date_handler("java.util.Date", java.JavaDate),
    _date_handler("java.sql.Date", java.SqlDate),
    _date_handler("java.sql.Time", java.SqlTime),
    ClassHandler("java.sql.Timestamp", _read_timestamp, java.Timestamp, _write_timestamp),
    _value_handler(
        _ATOMIC + "AtomicInteger", java.AtomicInteger, int, java.AtomicInteger, _ranged(INT_MIN, INT_MAX), identity=True
    ),
    _value_handler(
        _ATOMIC + "AtomicLong", java.AtomicLong, int, java.AtomicLong, _ranged(LONG_MIN, LONG_MAX), identity=True
    ),
    _value_handler(
        _ATOMIC + "AtomicBoolean",
        java.AtomicBoolean,
        int,
        lambda number: java.AtomicBoolean(number != 0),
        lambda value: int(bool(value.value)),
        identity=True,
    ),
    ClassHandler(
        _ATOMIC + "AtomicReference",
        _read_atomic_reference,
        java.AtomicReference,
        _write_atomic_reference,
        identity=True,
    ),
)
