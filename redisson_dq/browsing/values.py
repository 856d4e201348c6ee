"""Decodes values, and turns them into plain mappings, lists and scalars. It never raises, whatever the bytes are."""

from __future__ import annotations

import dataclasses
import enum
import math
import re
from collections.abc import Callable, Iterable, Mapping, Set
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import attrs

from redisson_dq._common.texts import digits, nearest
from redisson_dq.browsing.recognising import Candidate, Sureness, codec_named, recognise
from redisson_dq.codecs.base import Codec
from redisson_dq.codecs.budget import budget_of
from redisson_dq.codecs.encrypted import EncryptedCodec, key_id_of
from redisson_dq.codecs.faults import Malformed
from redisson_dq.errors import ArgumentError, DecodeError, RedissonDQError

__all__ = ["CLASS", "DecodedValue", "ValueReader", "make_codec", "plain_value"]

#: The key under which a plain mapping has the Java class of an object.
CLASS = "@class"
_CLASS_NAME = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]*(?:\.[A-Za-z_$][A-Za-z0-9_$]*)+")
_JSON_CLASS = re.compile(rb'\s*\{\s*"@class"\s*:\s*"([^"\\]{1,300})"')
_SERIALIZED = b"\xac\xed\x00\x05sr"
#: The memory that a compressed value may take when it is only displayed.
_MOST_MEMORY = 16 * 1024 * 1024
# Values that are nested deeper, and further ones, are left out.
_DEEPEST, _MOST_PARTS = 50, 20_000
_CUT = "..."
# These codecs read objects of undeclared classes as plain fields.
_GENERIC = frozenset(
    f"{each}Codec"
    for each in (
        *("Serialization", "JsonJackson", "JsonJackson3", "MsgPackJackson", "IonJackson"),
        *("CborJackson", "CborJackson3", "SmileJackson", "SmileJackson3"),
    )
)
_WRAPPING = ("LZ4Codec", "LZ4CodecV2", "SnappyCodec", "SnappyCodecV2", "ZStdCodec")


@attrs.frozen(kw_only=True)
class DecodedValue:
    """A value, as far as it could be decoded.

    ``codec`` is Redisson's name of the codec that decoded it. ``sure`` is how certain that codec is, or ``given`` if
    the caller named it. ``value`` is plain: mappings, lists, text, numbers, booleans and None. An object is a mapping
    with its class under ``@class``. If no codec could decode the value, ``error`` says why, and ``value`` is the bytes
    in hex. ``java_class`` is the class of the whole value, even if it could not be decoded.
    """

    codec: str
    sure: Sureness | str
    value: Any
    java_class: str = ""
    error: str = ""


class ValueReader:
    """Decodes values of any codec, or of a given one. It only creates objects of declared classes."""

    def __init__(self, codec: str | Codec | None = None, *, keys: Mapping[str, bytes] | None = None) -> None:
        """``codec`` is a codec, or the name of one, such as ``"json"``. Without it, the codec is recognised from the
        bytes. ``keys`` has the keys of an :class:`~redisson_dq.codecs.EncryptedCodec`, by their ids.

        Raises ArgumentError.
        """
        self._given = make_codec(codec) if isinstance(codec, str) else codec
        self._decrypting: EncryptedCodec[bytes] | None = None
        if keys:
            from redisson_dq.codecs.simple import ByteArrayCodec

            self._decrypting = EncryptedCodec(ByteArrayCodec(), keys)
        self._made: dict[str, Codec] = {}

    def read(self, data: bytes, *, is_whole: bool = True, queue: str = "") -> DecodedValue:
        """The value of ``data``. Never raises. ``is_whole`` is false for the beginning of a longer value.

        ``queue`` is the key of the value's queue, to which an encrypted value is bound.
        """
        key = key_id_of(data)
        if key is not None:
            return self._decrypted(data, f"encrypted, key {key}", is_whole, queue)
        if not is_whole:
            found = recognise(data, is_whole=False)
            name, sure = (found[0].codec, found[0].sure) if found else ("", "possible")
            error = f"only {len(data)} bytes of it were read"
            return DecodedValue(codec=name, sure=sure, value=data.hex(), error=error, java_class=_class_in(data))
        if self._given is not None:
            return self._by(self._given, Candidate(self._given.name, "certain", "given"), data, "given")
        first: DecodedValue | None = None
        candidates = recognise(data)
        for each in candidates:
            codec = self._codec(each.codec)
            if codec is None:
                text = f"{each.codec} has no counterpart in Python, or needs an extra"
                tried = DecodedValue(codec=each.codec, sure=each.sure, value=data.hex(), error=text)
            else:
                tried = self._by(codec, each, data, each.sure)
            if not tried.error:
                return tried
            first = first or tried
        return first or DecodedValue(codec="", sure="", value=data.hex(), error="no codec is known for these bytes")

    def _decrypted(self, data: bytes, error: str, is_whole: bool, queue: str) -> DecodedValue:
        if is_whole and self._decrypting is not None:
            try:
                inside = self.read(self._decrypting.of_queue(queue).decode(data))
            except DecodeError as failure:
                error = str(failure)
            else:
                return attrs.evolve(inside, codec=f"EncryptedCodec({inside.codec})")
        return DecodedValue(codec="EncryptedCodec", sure="certain", value=data.hex(), error=error)

    def _codec(self, name: str) -> Codec | None:
        if name not in self._made:
            try:
                self._made[name] = make_codec(name)
            except (RedissonDQError, ImportError):
                return None
        return self._made[name]

    def _by(self, codec: Codec, candidate: Candidate, data: bytes, sure: str) -> DecodedValue:
        name = candidate.codec
        try:
            with budget_of(_MOST_MEMORY) as budget:
                if budget.left < budget.size:  # the bytes were decompressed
                    budget.check(codec.memory_of(data))
                value = codec.decode(data)
                if name.startswith(_WRAPPING) and type(value) is bytes:
                    inside = (self if self._given is None else ValueReader()).read(value)
                    return attrs.evolve(inside, codec=f"{name.partition('(')[0]}({inside.codec})")
            made = plain_value(value)
        except Exception as error:  # a user's class may raise anything
            text = str(error) if isinstance(error, (RedissonDQError, Malformed)) else f"{type(error).__name__}: {error}"
            return DecodedValue(codec=name, sure=sure, value=data.hex(), error=text, java_class=_class_in(data))
        return DecodedValue(codec=name, sure=sure, value=made, java_class=_class_of(value))


def make_codec(name: str, *, generic: bool = True) -> Codec:
    """A codec by its name, such as ``JsonJacksonCodec`` or ``json``. Raises ArgumentError.

    Codecs that can read undeclared classes do so, unless ``generic`` is false. A codec that wraps another one returns
    the bytes inside.
    """
    from redisson_dq import codecs

    full = codec_named(name)
    if full is None:
        meant = nearest(name, [each for each in codecs.__all__ if each != "Codec"])
        raise ArgumentError(f"there is no codec {name!r}{f'; did you mean {meant}?' if meant else ''}")
    kind: Callable[..., Codec] = getattr(codecs, full)
    try:
        if full in _WRAPPING:
            return kind(codecs.ByteArrayCodec())
        return kind(unknown="generic") if generic and full in _GENERIC else kind()
    except (TypeError, ModuleNotFoundError) as error:
        raise ArgumentError(f"{full} cannot be used here: {error}") from error


# -- plain values ----------------------------------------------------------------------------------------------------


def plain_value(value: Any) -> Any:
    """The value as mappings, lists, text, numbers, booleans and None. Only a part of a very large value. O(size)."""
    return _Plain().made(value, 0)


class _Plain:
    def __init__(self) -> None:
        self._left = _MOST_PARTS

    def made(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, enum.Enum):
            return value.name
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else str(float(value))
        if isinstance(value, str):
            return str(value)
        if isinstance(value, (bytes, bytearray)):
            return bytes(value).hex()
        if isinstance(value, (datetime, date, time)):
            return value.isoformat()
        if isinstance(value, (Decimal, UUID, timedelta)):
            return str(value)
        if depth >= _DEEPEST or self._left <= 0:
            return _CUT
        return self._container(value, depth + 1)

    def _container(self, value: Any, depth: int) -> Any:
        if (found := _java_object(value)) is not None:
            name, fields = found
            if isinstance(fields, Mapping):
                return {**({CLASS: name} if name else {}), **self._mapping(fields.items(), depth)}
            return {CLASS: name, "value": self.made(fields, depth)}
        if isinstance(value, Mapping):
            return self._mapping(value.items(), depth)
        if isinstance(value, (list, tuple, Set)) or (isinstance(value, Iterable) and not _fields_of(value)):
            return self._sequence(value, depth)
        fields = _fields_of(value)
        if not fields:
            return str(value)
        return {CLASS: _class_of(value), **self._mapping(fields, depth)}

    def _mapping(self, pairs: Iterable[tuple[Any, Any]], depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, part in pairs:
            if self._left <= 0:
                made[_CUT] = _CUT
                break
            key = name if isinstance(name, str) else self.made(name, depth)
            made[digits(key) if isinstance(key, int) else str(key)] = self.made(part, depth)
        return made

    def _sequence(self, parts: Iterable[Any], depth: int) -> list[Any]:
        made = []
        for part in parts:
            if self._left <= 0:
                made.append(_CUT)
                break
            made.append(self.made(part, depth))
        return made


def _fields_of(value: Any) -> list[tuple[str, Any]]:
    """The fields of an object of attrs, dataclasses or pydantic, or the attributes of any other object."""
    kind = type(value)
    if attrs.has(kind):
        names = [each.name for each in attrs.fields(kind)]
    elif dataclasses.is_dataclass(kind):
        names = [each.name for each in dataclasses.fields(kind)]
    elif isinstance(getattr(kind, "model_fields", None), dict):
        names = list(kind.model_fields)
    else:
        names = [name for name in getattr(value, "__dict__", ()) if not name.startswith("_")]
    return [(name, getattr(value, name, None)) for name in names if not name.startswith("__")]


def _is_of_python(value: Any) -> bool:
    """Whether the value is a plain Python one. This loads no Java types, as codecs of plain texts and numbers need
    none.
    """
    return type(value).__module__ == "builtins"


def _java_object(value: Any) -> tuple[str, Any] | None:
    """The class and the fields of an object of an undeclared class."""
    if _is_of_python(value):
        return None
    from redisson_dq.java.values import JavaObject

    return (value.java_name, value.fields) if isinstance(value, JavaObject) else None


def _class_of(value: Any) -> str:
    """The Java class of an object, declared or not. Empty for plain values."""
    if _is_of_python(value):
        return ""
    from redisson_dq.java.registry import declaration_for

    found, declared = _java_object(value), declaration_for(type(value))
    if found is not None:
        return found[0]
    if declared is not None:
        return declared.name
    return str(getattr(type(value), "java_name", "") or "")


def _class_in(data: bytes) -> str:
    """The Java class named in the first bytes of a value in Kryo, JSON or Java serialization."""
    named = b""
    if found := _JSON_CLASS.match(data):
        named = found[1]
    elif data.startswith(_SERIALIZED):
        named = data[8 : 8 + int.from_bytes(data[6:8], "big")]
    elif data[:2] == b"\x01\x00":
        # The high bit marks the last letter.
        end = next((i for i, byte in enumerate(data[2:300], 2) if byte & 0x80), None)
        named = b"" if end is None else data[2:end] + bytes([data[end] & 0x7F])
    return named.decode("ascii") if _CLASS_NAME.fullmatch(named) else ""
