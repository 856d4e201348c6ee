"""The codecs that a value may have been written by, told by its bytes: those of ``browsing``, tried where cheap."""

from __future__ import annotations

from functools import cache

from redisson_dq import codecs
from redisson_dq.browsing import recognise
from redisson_dq.codecs.base import Codec
from redisson_dq.errors import DecodeError

__all__ = ["UNKNOWN", "families_of", "reader_of"]

#: The family of a value that no codec is recognised for.
UNKNOWN = "unknown"

_WITH_CLASSES = frozenset(("Kryo5Codec", "JsonJacksonCodec", "SerializationCodec"))


@cache
def reader_of(family: str) -> Codec | None:
    """The codec of that name, where it is one that names classes in its values."""
    # A codec is imported when the first bytes of it are met.
    return getattr(codecs, family)() if family in _WITH_CLASSES else None


def families_of(value: bytes) -> frozenset[str]:
    """The names of all codecs whose bytes these may be: one as a rule, several for short texts.

    >>> from redisson_dq.doctor.recognising import families_of
    >>> sorted(families_of(b'{"id": 4}'))
    ['JsonJacksonCodec', 'StringCodec', 'TypedJsonJacksonCodec']
    """
    found = recognise(value)
    if found and found[0].sure == "certain":
        return frozenset((found[0].codec,))
    # Many bytes may begin a value of Kryo, and few go on as one.
    names = {each.codec for each in found if each.codec != "Kryo5Codec" or _is_kryo(value)}
    return frozenset(names or (UNKNOWN,))


def _is_kryo(value: bytes) -> bool:
    try:
        codecs.Kryo5Codec().decode(value)
    except DecodeError as error:
        return "is not declared" in str(error) or "cannot be read" in str(error)
    return True
