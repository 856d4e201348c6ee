"""Redisson's codec for protobuf messages and for the other types that it accepts."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, overload

from redisson_dq import java
from redisson_dq._common.texts import shown
from redisson_dq.codecs.base import Codec, T
from redisson_dq.codecs.faults import Malformed, Unencodable, decode_error, encode_error, type_name
from redisson_dq.codecs.jackson.json_jackson import JsonJacksonCodec
from redisson_dq.codecs.jackson.typed_json import TypedJsonJacksonCodec
from redisson_dq.codecs.marks import compared
from redisson_dq.codecs.protostuff import SCALARS, bytes_of, kind_of, name_of, value_of
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from redisson_dq.java.annotations import signature_of
from redisson_dq.java.registry import declaration_of

__all__ = ["ProtobufCodec"]


class _Coding(NamedTuple):
    """Encodes and decodes the codec's type. Raises Unencodable, Malformed, or another codec's errors."""

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]


class ProtobufCodec(Codec[T]):
    """The values of one type: ``org.redisson.codec.ProtobufCodec(Class)``, since Redisson 3.23.4.

    ``type`` decides the bytes:

    * a message class that protobuf generated (``Shipment`` of ``shipment_pb2``): protobuf. Needs the extra
      ``protobuf``. Maps in it are sorted by their keys, so equal messages have equal bytes;
    * ``str``, ``int``, ``java.Long`` ..., ``list``, ``set``, ``dict`` and all other types on the list of Java's codec:
      the bytes of JsonJacksonCodec, or of ``blacklist_codec``, which then decides on the types;
    * a class declared with java_class, or one of java.time: the runtime schema of protostuff, Java's library for
      classes that protobuf did not generate.

    Raises ArgumentError for any other type, including records and enums, which Java's codec cannot read back. Raises
    EncodeError for a value of another type, and for a value that protostuff would lose silently: None in a list or an
    array, a subclass in a field, another collection than Java makes for the field, and None or an empty collection in a
    field whose attribute would come back as something else. Raises DecodeError for bytes that are not such a value.
    O(size).
    """

    @overload
    def __init__(self, type: type[T], blacklist_codec: Codec | None = None) -> None: ...

    @overload
    def __init__(self: ProtobufCodec[Any], type: Any, blacklist_codec: Codec | None = None) -> None: ...

    def __init__(self, type: Any, blacklist_codec: Codec | None = None) -> None:
        if blacklist_codec is not None and (
            not isinstance(blacklist_codec, Codec) or isinstance(blacklist_codec, ProtobufCodec)
        ):
            raise ArgumentError(
                f"blacklist_codec must be a codec other than ProtobufCodec, not {shown(blacklist_codec)}"
            )
        self._type = type
        self._coding = _message(type) if hasattr(type, "DESCRIPTOR") else _of_type(type, blacklist_codec)

    def encode(self, value: T) -> bytes:
        """The bytes of ``value``. Raises EncodeError. O(size)."""
        try:
            return self._coding.encode(value)
        except EncodeError as error:
            raise EncodeError(_under_own_name(self.name, error), codec=self.name, path=error.path) from error
        except Exception as error:
            raise encode_error(error, self.name) from error

    def decode(self, data: bytes) -> T:
        """The value of ``data``. Raises DecodeError. O(size)."""
        if type(data) is not bytes:
            data = bytes(data)
        try:
            found: T = self._coding.decode(data)
        except DecodeError as error:
            raise DecodeError(
                _under_own_name(self.name, error), codec=self.name, data=data, offset=error.offset
            ) from error
        except (Exception, SystemExit) as error:
            raise decode_error(error, self.name, data) from error
        return compared(found, data, self, "its writer has other fields")

    def __repr__(self) -> str:
        return f"{self.name}({getattr(self._type, '__qualname__', self._type)})"


def _under_own_name(codec: str, error: EncodeError | DecodeError) -> str:
    """The message of an inner codec's error, with this codec's name."""
    return f"{codec}: {str(error).removeprefix(f'{error.codec}: ')}"


# Messages of protobuf

#: In Python and Java, protobuf writes messages nested to any depth, but reads only 100 levels. Each level takes at
#: least two bytes.
_SHORTEST_DEEP = 200


def _message(kind: Any) -> _Coding:
    try:
        protobuf = importlib.import_module("google.protobuf.message")
    except ImportError as error:
        raise ArgumentError("ProtobufCodec needs protobuf: pip install 'protobuf>=5.29.6'") from error
    message: Any = kind
    if not isinstance(kind, type) or not issubclass(kind, protobuf.Message):
        raise ArgumentError(f"{kind!r} is not a message class of google.protobuf")

    def encode(value: Any) -> bytes:
        if not isinstance(value, message):
            raise Unencodable(f"{type_name(value)} cannot be a {message.__qualname__}")
        try:
            data: bytes = value.SerializeToString(deterministic=True)
            if len(data) > _SHORTEST_DEEP:
                message.FromString(data)
        except (protobuf.EncodeError, protobuf.DecodeError, ValueError) as error:
            raise Unencodable(f"no side reads it back: {error}") from error
        return data

    def decode(data: bytes) -> Any:
        try:
            return message.FromString(data)
        except (protobuf.DecodeError, ValueError) as error:  # ValueError: for a text, from protobuf's pure Python
            raise Malformed(f"no {message.__qualname__}: {error}") from error

    return _Coding(encode, decode)


# JsonJacksonCodec's bytes: org.redisson.codec.ProtobufCodec's "blacklist"

_BOXES = ("Boolean", "Byte", "Character", "Short", "Integer", "Long", "Float", "Double")
_VALUES = (
    *(java.Uri, java.Url, java.Currency, java.Locale, java.Pattern, java.StringBuilder, java.StringBuffer),
    *(java.JavaClass, java.AtomicBoolean, java.AtomicInteger, java.AtomicLong),
)
#: The Java classes of the values that each type takes: its own and its subclasses.
_JSON: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in (f"java.lang.{box}" for box in (*_BOXES, "String"))},
    **{name: (name,) for name in ("java.math.BigDecimal", "java.math.BigInteger", "java.util.Date", "java.util.UUID")},
    **{kind.java_name: (kind.java_name,) for kind in _VALUES},
    "java.util.ArrayList": ("java.util.ArrayList",),
    "java.util.HashSet": ("java.util.HashSet", "java.util.LinkedHashSet"),
    "java.util.HashMap": ("java.util.HashMap", "java.util.LinkedHashMap"),
}
#: ``list``, ``set`` and ``dict`` mean interfaces, but the list of Java's codec has classes.
_CLASSES = {
    "java.util.List": "java.util.ArrayList",
    "java.util.Set": "java.util.HashSet",
    "java.util.Map": "java.util.HashMap",
}

_COLLECTIONS = frozenset(_CLASSES.values())


def _is_accepted(value: Any, name: str) -> bool:
    try:
        return value is None or name_of(value) in _JSON[name]
    except Unencodable:
        return False


def _checked(value: Any, name: str) -> Any:
    if not _is_accepted(value, name):
        raise Malformed(f"{type_name(value)} where a {name} should be")
    return value


def _of_another_codec(codec: Codec, name: str) -> _Coding:
    """The coding of a type by another codec, which itself accepts values of any type."""
    if name not in _COLLECTIONS:
        return _Coding(codec.encode, codec.decode)

    def encode(value: Any) -> bytes:
        if not _is_accepted(value, name):
            raise Unencodable(f"{type_name(value)} cannot be a {name}")
        return codec.encode(value)

    return _Coding(encode, lambda data: _checked(codec.decode(data), name))


def _json(kind: Any, name: str) -> _Coding:
    scalar, accepted = SCALARS.get(name), _JSON[name]
    named, bare = JsonJacksonCodec(), TypedJsonJacksonCodec(kind)

    def encode(value: Any) -> bytes:
        if value is not None and scalar is not None:
            value = scalar.fit(value, name)
        elif value is not None and name_of(value) not in accepted:
            raise Unencodable(f"{type_name(value)} cannot be a {name}")
        return named.encode(value)

    def decode(data: bytes) -> Any:
        value = named.decode(data)
        if not _is_accepted(value, name) and name not in _COLLECTIONS:
            # If the whole value is a Short, a Character, a URI and so on, it does not carry its class.
            value = bare.decode(data)
        return _checked(value, name)

    return _Coding(encode, decode)


# The choice


def _of_type(kind: Any, blacklist_codec: Codec | None) -> _Coding:
    name = signature_of(kind, where="ProtobufCodec", null=True).name
    name = _CLASSES.get(name, name)
    if name in _JSON and blacklist_codec is not None:
        return _of_another_codec(blacklist_codec, name)
    if name in _JSON:
        return _json(kind, name)
    if kind_of(name) not in ("class", "jdk"):
        raise ArgumentError(f"ProtobufCodec takes no {name}: {_why_not(name)}")
    return _Coding(partial(bytes_of, name=name), partial(value_of, name=name))


def _why_not(name: str) -> str:
    declaration = declaration_of(name)
    if declaration is None and not name.startswith(("java.", "[")):
        return f'write a Python class for it under @java_class("{name}")'
    kinds = {"enum": "an enum as the whole value", "record": "a record", "class": "an abstract class"}
    kinds["collection"] = "a class that extends a collection"
    what = "it" if declaration is None else kinds[declaration.kind]
    return f"Java's codec does not read back what it writes of {what}; list, set, dict and declared classes are fine"
