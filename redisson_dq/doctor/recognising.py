"""The families of codecs that a value may have been written by, told by its bytes alone."""

from __future__ import annotations

import json
from functools import cache

from redisson_dq.codecs import JsonJacksonCodec, Kryo5Codec, SerializationCodec
from redisson_dq.codecs.base import Codec
from redisson_dq.errors import DecodeError

__all__ = ["UNKNOWN", "codec_named", "families_of"]

#: The family of a value that none of the others reads.
UNKNOWN = "unknown"
_SERIALIZED = b"\xac\xed\x00\x05"


@cache
def codec_named(family: str) -> Codec | None:
    """The codec that reads values of a family, where it names classes."""
    makers = {"Kryo5Codec": Kryo5Codec, "JsonJacksonCodec": JsonJacksonCodec, "SerializationCodec": SerializationCodec}
    return makers[family]() if family in makers else None


def families_of(value: bytes) -> frozenset[str]:
    """The names of all codecs whose bytes these may be: one as a rule, several for short texts.

    >>> from redisson_dq.doctor.recognising import families_of
    >>> sorted(families_of(b'"order"'))
    ['JsonJacksonCodec', 'StringCodec']
    """
    if value.startswith(_SERIALIZED):
        return frozenset(("SerializationCodec",))
    found = set()
    try:
        text = value.decode()
        # A value in a binary codec begins with a control character, as a rule.
        if all(letter.isprintable() or letter in "\r\n\t" for letter in text):
            found.add("StringCodec")
            json.loads(text)
            found.add("JsonJacksonCodec")
    except ValueError:
        pass
    if not found and _is_kryo(value):
        found.add("Kryo5Codec")
    return frozenset(found or (UNKNOWN,))


def _is_kryo(value: bytes) -> bool:
    try:
        codec_named("Kryo5Codec").decode(value)  # type: ignore[union-attr]
    except DecodeError as error:
        return "is not declared" in str(error) or "cannot be read" in str(error)
    return True
