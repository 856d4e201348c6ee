"""The codecs that may have written a value, recognised as in ``browsing``, and tried if that is cheap."""

from __future__ import annotations

from functools import cache

from redisson_dq import codecs
from redisson_dq.browsing import recognise
from redisson_dq.codecs.base import Codec
from redisson_dq.errors import DecodeError

__all__ = ["UNKNOWN", "families_of", "reader_of"]

#: The family of a value for which no codec is recognised.
UNKNOWN = "unknown"

_WITH_CLASSES = frozenset(("Kryo5Codec", "JsonJacksonCodec", "SerializationCodec"))


@cache
def reader_of(family: str) -> Codec | None:
    """The codec of that name, if its values name classes."""
    # A codec is imported when its first value is found.
    return getattr(codecs, family)() if family in _WITH_CLASSES else None


def families_of(value: bytes) -> frozenset[str]:
    """The names of all codecs that may have written these bytes: usually one, several for short texts.

    >>> from redisson_dq.doctor.recognising import families_of
    >>> sorted(families_of(b'{"id": 4}'))
    ['JsonJacksonCodec', 'StringCodec', 'TypedJsonJacksonCodec']
    """
    found = recognise(value)
    if found and found[0].sure == "certain":
        return frozenset((found[0].codec,))
    # Many bytes may begin a Kryo value, but few continue as one.
    names = {each.codec for each in found if each.codec != "Kryo5Codec" or _is_kryo(value)}
    return frozenset(names or (UNKNOWN,))


def _is_kryo(value: bytes) -> bool:
    try:
        codecs.Kryo5Codec().decode(value)
    except DecodeError as error:
        return "is not declared" in str(error) or "cannot be read" in str(error)
    return True
