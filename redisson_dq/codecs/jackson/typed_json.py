"""JSON of one declared type, without the names of Java classes."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, overload

import attrs

from redisson_dq.codecs.base import Codec, T
from redisson_dq.codecs.jackson import json
from redisson_dq.codecs.jackson.codecs import JacksonCodec
from redisson_dq.codecs.jackson.dialect import (
    JACKSON_2,
    with_java_time,
    with_numbers_as_text,
    with_patterns,
    with_typing,
)
from redisson_dq.codecs.jackson.types import without_wildcards
from redisson_dq.codecs.redissons import RedissonForm
from redisson_dq.java.annotations import signature_of
from redisson_dq.java.date_patterns import PatternLike
from redisson_dq.java.signatures import OBJECT, Signature

__all__ = ["TypedJsonJacksonCodec"]


class TypedJsonJacksonCodec(JacksonCodec[T]):
    """Plain JSON of one type: ``org.redisson.codec.TypedJsonJacksonCodec``.

    ``type`` is a Python annotation: a declared class, ``str``, ``java.Long``, ``list[Order]``, ``dict[str, Order]``; it
    decides as what the JSON is read, like the ``Class`` or ``TypeReference`` in Java. ``object`` reads plain lists and
    dicts.

    Without ``typing`` the bytes name no class: a value of a subclass comes back as the declared class, without the
    subclass's fields. ``java_time``, ``naming``, ``patterns``, ``time_zone`` and ``as_text`` are as in
    JsonJacksonCodec.

    ``typing``: the default typing of Java's mapper. ``"wrapper_array"`` is ``activateDefaultTyping(.., NON_FINAL)``:
    objects are written as ``["com.acme.Order",{..}]``. ``"property"`` is the same with ``JsonTypeInfo.As.PROPERTY``:
    ``{"@class":"com.acme.Order",..}``. Objects in another form than the codec writes are refused.

    ``redisson``: the version on the Java side, such as ``"4.3"``, if it is not the newest. Redisson 4.2 to 4.4 name the
    class of a UUID, and cannot read one without it. Any other Redisson writes a text, and cannot read the class. Both
    forms are read here.

    Raises ArgumentError for a type without a Java counterpart; EncodeError and DecodeError like JsonJacksonCodec.
    """

    _set_up = attrs.evolve(JACKSON_2, typed=False)
    _uuid = RedissonForm.CLASS_OF_UUID_IN_TYPED
    _dumps = staticmethod(json.dumps)
    _quoted = staticmethod(json.quoted)
    _loads = staticmethod(json.loads)
    _doubt = staticmethod(json.doubt)

    @overload
    def __init__(
        self,
        type: type[T],
        *,
        redisson: str | None = None,
        java_time: str = "refuse",
        naming: str | None = None,
        patterns: Mapping[str, PatternLike] | None = None,
        time_zone: str | None = None,
        as_text: Iterable[str] = (),
        typing: str | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self: TypedJsonJacksonCodec[Any],
        type: Any,
        *,
        redisson: str | None = None,
        java_time: str = "refuse",
        naming: str | None = None,
        patterns: Mapping[str, PatternLike] | None = None,
        time_zone: str | None = None,
        as_text: Iterable[str] = (),
        typing: str | None = None,
    ) -> None: ...

    def __init__(
        self,
        type: Any,
        *,
        redisson: str | None = None,
        java_time: str = "refuse",
        naming: str | None = None,
        patterns: Mapping[str, PatternLike] | None = None,
        time_zone: str | None = None,
        as_text: Iterable[str] = (),
        typing: str | None = None,
    ) -> None:
        super().__init__(redisson=redisson, naming=naming)
        if RedissonForm.HALF_PAIR_IN_NAME.is_written_by(redisson):
            self._dumps = json.dumps_half_pairs
        dated = with_patterns(with_java_time(self._dialect, java_time), patterns, time_zone)
        self._dialect = with_numbers_as_text(with_typing(dated, typing), as_text)
        self._type = type
        self._declared = _declared(type)

    def typed(self, type: Any) -> Codec[Any]:
        """This codec, with its options, for values of that type."""
        if self._dialect.typed:
            return super().typed(type)
        made = copy.copy(self)
        made._type, made._plans, made._texts = type, None, None
        made._declared = _declared(type)
        return made

    def __repr__(self) -> str:
        return f"{self.name}({getattr(self._type, '__qualname__', self._type)})"


def _declared(type: Any) -> Signature:
    declared = without_wildcards(signature_of(type, where="TypedJsonJacksonCodec", null=True))
    return OBJECT if declared == OBJECT else declared
