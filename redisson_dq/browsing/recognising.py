"""Which of Redisson's codecs may have written some bytes, and how sure that is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Literal

import attrs

from redisson_dq.codecs.encrypted import key_id_of
from redisson_dq.codecs.unsupported import looks_like
from redisson_dq.errors import DecodeError, RedissonDQError

__all__ = ["Candidate", "Sureness", "codec_named", "recognise"]

Sureness = Literal["certain", "likely", "possible"]

# No other codec's values begin like these forms. The other forms resemble bytes that any program may write.
_CERTAIN = frozenset(("SerializationCodec", "SmileJacksonCodec", "ZStdCodec", "IonJacksonCodec", "ForyCodec"))
_RANK: dict[Sureness, int] = {"certain": 0, "likely": 1, "possible": 2}
_WHOLE = re.compile(rb"-?\d{1,19}")
_DECIMAL = re.compile(rb"-?\d+\.\d+(?:E-?\d+)?|NaN|-?Infinity")
# The first bytes of a Kryo value: registered classes have these numbers; 1 means a class by name.
_KRYO_CLASS = re.compile(rb"\x01\x00(?:[A-Za-z_$][\w$]*\.)")
_KRYO = re.compile(rb"[\x01-\x3f]")


@attrs.frozen
class Candidate:
    """A codec that may have written the bytes. ``codec`` is Redisson's name, ``why`` the reason in the bytes."""

    codec: str
    sure: Sureness
    why: str


def recognise(data: bytes, *, is_whole: bool = True) -> list[Candidate]:
    """The codecs that may have written ``data``, the most certain first. Empty if none fits. O(size).

    ``is_whole`` is false if ``data`` is the beginning of a longer value. Example::

        >>> from redisson_dq.browsing import recognise
        >>> [(each.codec, each.sure) for each in recognise(b'{"@class":"com.acme.Order","id":1}')]
        [('JsonJacksonCodec', 'certain'), ('TypedJsonJacksonCodec', 'likely'), ('StringCodec', 'possible')]
    """
    found: dict[str, Candidate] = {}
    for each in _candidates(data, is_whole):
        found.setdefault(each.codec, each)
    return sorted(found.values(), key=lambda each: _RANK[each.sure])


def _candidates(data: bytes, is_whole: bool) -> Iterator[Candidate]:
    if not data:
        yield Candidate("StringCodec", "possible", "no bytes at all: an empty text")
        return
    if (key := key_id_of(data)) is not None:
        yield Candidate("EncryptedCodec", "certain", f"encrypted, key {key}")
        return
    name = looks_like(data)
    if name == "JsonJacksonCodec":
        yield Candidate(name, "certain", "JSON that names Java classes")
    elif name is not None and name != "text":
        is_sure = name in _CERTAIN or _KRYO_CLASS.match(data)
        yield Candidate(name, "certain" if is_sure else "likely", "the bytes begin as this codec writes them")
    if _WHOLE.fullmatch(data):
        yield Candidate("LongCodec", "likely", "a whole number in digits")
        yield Candidate("StringCodec", "possible", "text")
        yield Candidate("JsonJacksonCodec", "possible", "a number of JSON")
        return
    if _DECIMAL.fullmatch(data):
        yield Candidate("DoubleCodec", "likely", "a number in digits")
    if _is_json(data, is_whole):
        yield Candidate("TypedJsonJacksonCodec", "likely", "JSON without names of Java classes")
        yield Candidate("JsonJacksonCodec", "possible", "JSON")
    if name == "text" or _is_text(data, is_whole):
        sure: Sureness = "possible" if data[:1] in b'{["' else "likely"
        yield Candidate("StringCodec", sure, "text in UTF-8")
    if is_whole and data[:1] == b"\x00" and len(data) > 5:  # a length of four bytes in front
        yield from _compressed(data, ("LZ4Codec", "LZ4CodecV2", "ZStdCodec", "SnappyCodec"), "likely")
    if (_KRYO.match(data) or data == b"\x00") and name in (None, "text"):
        yield Candidate("Kryo5Codec", "possible", "the first byte is the number of a class that Kryo knows")
    if is_whole and name is None:
        yield from _compressed(data, ("SnappyCodecV2",), "possible")
        if data[0] >= 0x80:
            yield Candidate("MsgPackJacksonCodec", "possible", "the first byte is one of MsgPack's")
            yield Candidate("CborJacksonCodec", "possible", "the first byte is one of CBOR's")


def _compressed(data: bytes, names: Iterable[str], sure: Sureness) -> Iterator[Candidate]:
    from redisson_dq import codecs

    for name in names:
        try:
            inside = getattr(codecs, name)(codecs.ByteArrayCodec()).decode(data)
        except DecodeError:
            continue
        except (RedissonDQError, ModuleNotFoundError):
            yield Candidate(name, "possible", "without cramjam nothing more is known")
            return
        yield Candidate(name, sure, f"{len(inside)} bytes once decompressed")


def _is_json(data: bytes, is_whole: bool) -> bool:
    if data[:1] not in (b"{", b"[", b'"') and data not in (b"true", b"false", b"null"):
        return False
    if not is_whole:
        return True
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def _is_text(data: bytes, is_whole: bool) -> bool:
    try:
        text = data.decode("utf-8", "strict" if is_whole else "ignore")
    except UnicodeDecodeError:
        return False
    return bool(text) and all(each.isprintable() or each in "\r\n\t" for each in text[:10_000])


def codec_named(name: str) -> str | None:
    """The full name of a codec, given its full name or a short form such as ``json`` or ``kryo5``. None for any other
    text.
    """
    from redisson_dq import codecs

    every = [each for each in codecs.__all__ if each != "Codec"]
    known = {each.lower().replace("codec", ""): each for each in every}
    known |= {"json": "JsonJacksonCodec", "kryo": "Kryo5Codec", "java": "SerializationCodec", "bytes": "ByteArrayCodec"}
    known |= {"msgpack": "MsgPackJacksonCodec", "cbor": "CborJacksonCodec", "smile": "SmileJacksonCodec"}
    return known.get(name.lower().replace("-", "").replace("_", "").replace("codec", ""))
