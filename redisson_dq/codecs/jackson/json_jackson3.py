"""Redisson's JSON codecs on Jackson 3."""

from __future__ import annotations

from typing import Any, overload

from redisson_dq.codecs.base import T
from redisson_dq.codecs.jackson import json
from redisson_dq.codecs.jackson.codecs import JacksonCodec
from redisson_dq.codecs.jackson.dialect import JACKSON_3, JACKSON_3_PLAIN
from redisson_dq.codecs.jackson.types import without_wildcards
from redisson_dq.java.annotations import signature_of

__all__ = ["JsonJackson3Codec", "TypedJsonJackson3Codec"]


class JsonJackson3Codec(JacksonCodec):
    """JSON with Java types: ``org.redisson.codec.JsonJackson3Codec``, of Redisson 4.

    Like JsonJacksonCodec, with these differences:

    ==================================  ========================================================================
    Python                              JSON
    ==================================  ========================================================================
    datetime, date, time, timedelta     ``["java.time.Instant","2024-02-29T12:30:15Z"]`` ..
    java.JavaDate, its kin              ``["java.util.Date","2024-02-29T12:30:15.123Z"]``
    java.Long as the whole value        ``5``, which comes back as an int
    java.Long where a field says so     ``5``
    java.OptionalInt, its kin           ``["java.util.OptionalInt",5]``
    java.Locale                         ``["java.util.Locale","en-US"]``
    java.Month                          ``["java.time.Month",2]``
    decimal.Decimal                     ``["java.math.BigDecimal",1E+3]``
    str beyond U+FFFF                   as it is
    a record                            its fields in the order in which they are declared
    ==================================  ========================================================================

    All declared fields of a declared class are written. Jackson 3 knows only fields that are public, or have a public
    getter or setter, so declare no others.

    Raises EncodeError and DecodeError like JsonJacksonCodec.
    """

    _set_up = JACKSON_3
    _dumps = staticmethod(json.dumps_3)
    _quoted = staticmethod(json.quoted_3)
    _loads = staticmethod(json.loads)
    _doubt = staticmethod(json.doubt)


class TypedJsonJackson3Codec(JacksonCodec[T]):
    """Plain JSON of one type: ``org.redisson.codec.TypedJsonJackson3Codec``.

    Like TypedJsonJacksonCodec, in JsonJackson3Codec's forms. A field that is None is written as ``null``, and a UUID
    never carries the name of its class.
    """

    _set_up = JACKSON_3_PLAIN
    _uuid = None
    _dumps = staticmethod(json.dumps_3)
    _quoted = staticmethod(json.quoted_3)
    _loads = staticmethod(json.loads)
    _doubt = staticmethod(json.doubt)

    @overload
    def __init__(self, type: type[T], *, naming: str | None = None) -> None: ...

    @overload
    def __init__(self: TypedJsonJackson3Codec[Any], type: Any, *, naming: str | None = None) -> None: ...

    def __init__(self, type: Any, *, naming: str | None = None) -> None:
        super().__init__(naming=naming)
        self._type = type
        self._declared = without_wildcards(signature_of(type, where="TypedJsonJackson3Codec", null=True))

    def __repr__(self) -> str:
        return f"{self.name}({getattr(self._type, '__qualname__', self._type)})"
