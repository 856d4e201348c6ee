"""Redisson's codecs on Jackson: the same values and class names in different formats."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, overload

import attrs

from redisson_dq._common.texts import shown
from redisson_dq.codecs.base import Codec, T
from redisson_dq.codecs.budget import memory_of_text
from redisson_dq.codecs.faults import decode_error, encode_error
from redisson_dq.codecs.jackson import cbor, ion, msgpack, smile
from redisson_dq.codecs.jackson.avro import Avro
from redisson_dq.codecs.jackson.dialect import ION, JACKSON_2, JACKSON_2_BINARY, JACKSON_3_PLAIN, Dialect
from redisson_dq.codecs.jackson.naming import checked_naming
from redisson_dq.codecs.jackson.node import CLASS, Object
from redisson_dq.codecs.jackson.reading.dispatch import Reader
from redisson_dq.codecs.jackson.reading.doubts import Doubt
from redisson_dq.codecs.jackson.reading.plans import Plans
from redisson_dq.codecs.jackson.scalar_nodes import UUID_BYTES
from redisson_dq.codecs.jackson.texts import Texts
from redisson_dq.codecs.jackson.types import without_wildcards
from redisson_dq.codecs.jackson.writing.dispatch import node_of
from redisson_dq.codecs.marks import compared, marked
from redisson_dq.codecs.redissons import RedissonForm
from redisson_dq.codecs.typed import TypedCodec
from redisson_dq.errors import ArgumentError
from redisson_dq.java.annotations import signature_of
from redisson_dq.java.numbers import INT_MAX, INT_MIN
from redisson_dq.java.registry import generation
from redisson_dq.java.signatures import OBJECT, Signature

__all__ = [
    "AvroJacksonCodec",
    "CborJackson3Codec",
    "CborJacksonCodec",
    "IonJacksonCodec",
    "JacksonCodec",
    "MsgPackJacksonCodec",
    "SmileJackson3Codec",
    "SmileJacksonCodec",
]


def _is_its_value(node: Any) -> bool:
    """Whether a node is a text or an Integer. Such a node is its own value; only its bytes may have another form."""
    return type(node) is str or (type(node) is int and INT_MIN <= node <= INT_MAX)


def _is_of_a_declared_class(node: Object) -> bool:
    key, name = node[0] if node else ("", "")
    return key == CLASS and type(name) is str and not name.startswith("java.")


class JacksonCodec(Codec[T]):
    """The base of all these codecs. A codec derives from it and provides the two functions of its format.

    ``unknown`` is about classes that are not declared. ``"refuse"`` raises DecodeError and names the class.
    ``"generic"`` reads its objects as ``java.JavaObject``, which are written back as they were.

    ``redisson``: the version on the Java side, such as ``"4.3"``, if it is not the newest. Before Redisson 4.2 a UUID
    in a field or array of that type has no class in the bytes.

    ``naming``: the naming strategy of Java's mapper: ``"snake_case"`` for ``PropertyNamingStrategies.SNAKE_CASE``.
    Fields are read and written by these names, except for those with a name in ``json=`` of their class.

    Raises ArgumentError for another ``unknown`` or ``naming``, and for a ``redisson`` that is no version.
    """

    #: The format's functions: to bytes from a node, and back.
    _dumps: Callable[[Any], bytes]
    _loads: Callable[[bytes], Any]
    #: Some formats have this function, which also says whether Jackson would write the node to these bytes.
    _parse: Callable[[bytes], tuple[Any, bool]] | None = None
    #: Redisson's configuration of Jackson, and whether the format has bytes for a UUID without the name of its class.
    _set_up: Dialect = JACKSON_2
    _uuid_bytes = False
    #: The form of a UUID in a place whose type is declared. None: no Redisson names its class there.
    _uuid: RedissonForm | None = RedissonForm.CLASS_OF_UUID
    #: The declared type of the whole value.
    _declared: Signature = OBJECT
    _plans: Plans | None = None
    #: Why a value may be written to other bytes, whatever its node is. For Ion and Avro, no bytes rule that out.
    _doubt: Callable[[bytes], Doubt | None] = staticmethod(lambda _data: Doubt.NUMBERS_AND_TEXTS)
    #: Only for JSON: the function that writes a text, and those of ordinary values.
    _quoted: Callable[[str], str] | None = None
    _texts: Texts | None = None

    def __init__(self, *, unknown: str = "refuse", redisson: str | None = None, naming: str | None = None) -> None:
        if unknown not in ("refuse", "generic"):
            raise ArgumentError(f"unknown must be 'refuse' or 'generic', not {shown(unknown)}")
        typed_uuid = self._uuid is not None and self._uuid.is_written_by(redisson)
        self._dialect = attrs.evolve(self._set_up, typed_uuid=typed_uuid, generic=unknown == "generic")
        self._dialect = attrs.evolve(self._dialect, naming=checked_naming(naming))
        if self._uuid_bytes and not typed_uuid:
            self._dialect = attrs.evolve(self._dialect, scalars={**self._dialect.scalars, **UUID_BYTES})

    def encode(self, value: T) -> bytes:
        """The bytes of ``value``. Raises EncodeError. O(size)."""
        try:
            if self._quoted is not None and not self._dialect.wraps:
                texts = self._texts
                if texts is None or texts.generation != generation():
                    self._texts = texts = Texts(self._dialect, self._declared, self._quoted, self._dumps)
                data = texts.written(value)
                if data is not None:
                    return data
            return self._dumps(node_of(value, self._dialect, self._declared))
        except Exception as error:
            raise encode_error(error, self.name) from error

    def decode(self, data: bytes) -> T:
        """The value of ``data``. Raises DecodeError. O(size).

        The offset of a syntax error is exact. For a refused class or value it is the first place that names the class,
        and the message has the path in the value.
        """
        if type(data) is not bytes:
            data = bytes(data)
        try:
            node, is_usual = (self._loads(data), False) if self._parse is None else self._parse(data)
            if self._declared is OBJECT and _is_its_value(node):
                doubt = None if is_usual else self._doubt(data)
                return compared(node, data, self, doubt.words) if doubt else node  # type: ignore[no-any-return]
            plans = self._plans
            if plans is None or plans.generation != generation():
                self._plans = plans = Plans(self._dialect, self._declared)
            # An object of a declared class is compared when a queue searches for it, whatever its parts are.
            is_compared = type(node) is Object and _is_of_a_declared_class(node) and not self._dialect.wraps
            reader = Reader(plans, is_json=self._quoted is not None, is_compared=is_compared)
            found: T = reader.value(node)
        except (Exception, SystemExit) as error:
            raise decode_error(error, self.name, data) from error
        doubts = reader.doubts
        if not doubts.may_be_compared:
            return marked(found, str(doubts))
        if is_compared:
            return compared(found, data, self, Doubt.ANY_FORM.words)
        if doubts.told is None and not is_usual:
            doubt = self._doubt(data)
            if doubt is not None:
                doubts.note(doubt)
        return found if doubts.told is None else compared(found, data, self, doubts)

    def typed(self, type: Any) -> Codec[Any]:
        """This codec for values of that type: see :class:`~redisson_dq.codecs.typed.TypedCodec`."""
        return TypedCodec(self, type) if self._declared is OBJECT else super().typed(type)

    def memory_of(self, data: bytes) -> int:
        """For JSON and Ion, commas and brackets say more than the length."""
        return memory_of_text(data) if self._quoted is not None or self._set_up is ION else super().memory_of(data)


class MsgPackJacksonCodec(JacksonCodec):
    """JsonJacksonCodec's values in MessagePack: ``org.redisson.codec.MsgPackJacksonCodec``."""

    _set_up = JACKSON_2_BINARY
    _dumps = staticmethod(msgpack.dumps)
    _loads = staticmethod(msgpack.loads)
    _parse = staticmethod(msgpack.parse)


class CborJacksonCodec(JacksonCodec):
    """JsonJacksonCodec's values in CBOR: ``org.redisson.codec.CborJacksonCodec``."""

    _set_up = JACKSON_2_BINARY
    _uuid_bytes = True
    _dumps = staticmethod(cbor.dumps)
    _loads = staticmethod(cbor.loads)
    _parse = staticmethod(cbor.parse)


class SmileJacksonCodec(JacksonCodec):
    """JsonJacksonCodec's values in Smile: ``org.redisson.codec.SmileJacksonCodec``."""

    _set_up = JACKSON_2_BINARY
    _uuid_bytes = True
    _dumps = staticmethod(smile.dumps)
    _loads = staticmethod(smile.loads)
    _parse = staticmethod(smile.parse)


class IonJacksonCodec(JacksonCodec):
    """JsonJacksonCodec's values in Ion's text: ``org.redisson.codec.IonJacksonCodec``."""

    _set_up = ION
    _uuid_bytes = True
    _dumps = staticmethod(ion.dumps)
    _loads = staticmethod(ion.loads)


class _UntypedCodec(JacksonCodec):
    """A binary format with Jackson 3's default settings."""

    _set_up = JACKSON_3_PLAIN
    _uuid_bytes = True
    _uuid = None

    def __init__(self, *, naming: str | None = None) -> None:
        super().__init__(naming=naming)


class CborJackson3Codec(_UntypedCodec):
    """CBOR without Java types: ``org.redisson.codec.CborJackson3Codec``.

    Types that CBOR lacks come back as others, here and in Java: a set as a list, a date as its text, a declared class
    as a dict, a UUID as 16 bytes. Raises EncodeError and DecodeError.
    """

    _dumps = staticmethod(cbor.dumps)
    _loads = staticmethod(cbor.loads)
    _parse = staticmethod(functools.partial(cbor.parse, typed=False))


class SmileJackson3Codec(_UntypedCodec):
    """Smile without Java types: ``org.redisson.codec.SmileJackson3Codec``. See CborJackson3Codec for its limits."""

    _dumps = staticmethod(smile.dumps)
    _loads = staticmethod(smile.loads)
    _parse = staticmethod(smile.parse)


class AvroJacksonCodec(JacksonCodec[T]):
    """Values of one type in Avro: ``org.redisson.codec.AvroJacksonCodec``.

    ``type`` is an annotation as in TypedJsonJacksonCodec, ``schema`` the JSON text of the Avro schema that the
    Java side has. ``redisson`` as in TypedJsonJacksonCodec: a UUID is 16 bytes, for ``bytes`` or a ``fixed`` of 16 in
    the schema. From 4.2 to 4.4 it is the name of its class and a text, for an ``array`` of ``string``. Raises
    ArgumentError for a type or a schema that cannot be used.
    """

    _set_up = attrs.evolve(JACKSON_2, typed=False)
    _uuid_bytes = True
    _uuid = RedissonForm.CLASS_OF_UUID_IN_TYPED

    @overload
    def __init__(
        self, type: type[T], schema: str, *, redisson: str | None = None, naming: str | None = None
    ) -> None: ...

    @overload
    def __init__(
        self: AvroJacksonCodec[Any], type: Any, schema: str, *, redisson: str | None = None, naming: str | None = None
    ) -> None: ...

    def __init__(self, type: Any, schema: str, *, redisson: str | None = None, naming: str | None = None) -> None:
        super().__init__(redisson=redisson, naming=naming)
        avro = Avro(schema)
        self._dumps = avro.dumps
        self._loads = avro.loads
        self._declared = without_wildcards(signature_of(type, where="AvroJacksonCodec", null=True))
