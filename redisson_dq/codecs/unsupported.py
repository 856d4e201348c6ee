"""Redisson's codecs that have no counterpart here, and a guess at which codec wrote unreadable bytes.

A frequent reason for a DecodeError is that the two sides of a queue have different codecs. The first bytes often show
which codec wrote them. If they do not, the message names no codec.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from redisson_dq.errors import ArgumentError

__all__ = ["ForyCodec", "FstCodec", "FuryCodec", "KryoCodec", "hint", "looks_like"]

_TEXT = "text"

# By name


def _refused(name: str) -> Callable[..., NoReturn]:
    """A placeholder for one of Redisson's codecs. It takes the arguments of Java's constructors, and raises
    ArgumentError."""

    def refuse(*arguments: Any, **options: Any) -> NoReturn:
        raise ArgumentError(_no_counterpart(name))

    return refuse


#: Fast-serialization: Redisson's default from 3.10 to 3.12, removed in 4.1.
FstCodec = _refused("FstCodec")
#: Kryo 4. Its bytes cannot be distinguished from those of Kryo5Codec.
KryoCodec = _refused("KryoCodec")
#: Apache Fury: since Redisson 3.35, removed in 4.1.
FuryCodec = _refused("FuryCodec")
#: Apache Fory, as Fury is called now: since Redisson 3.52.
ForyCodec = _refused("ForyCodec")


def _no_counterpart(name: str) -> str:
    return (
        f"{name} has no counterpart in Python. Give both sides another codec, such as Kryo5Codec(), the default, "
        "or JsonJacksonCodec(); what Java has already written has to be taken from the queue by Java"
    )


# By their bytes


class _Fingerprint(NamedTuple):
    name: str
    #: Patterns for the start of the bytes. If a pattern has a group ``size``, exactly this many bytes follow the match.
    #: ``re`` compiles them at their first use, because most programs never need them.
    pattern: bytes


def _fingerprint(name: str, *patterns: bytes) -> _Fingerprint:
    return _Fingerprint(name, b"|".join(patterns))


# A class in a package. A pattern remembers each repetition, so their number is limited.
_NAME = rb"(?:[A-Za-z_$][\w$]*\.){1,60}[A-Za-z_$][\w$]*"

_FINGERPRINTS = (
    _fingerprint("SerializationCodec", rb"\xac\xed\x00\x05"),
    _fingerprint("SmileJacksonCodec", rb":\)\n"),
    _fingerprint("ZStdCodec", rb".{4}\x28\xb5\x2f\xfd"),
    _fingerprint(
        "MarshallingCodec",
        rb"\x04\x04[\x07-\x0d\x38](?:\x3e.|\x00\x00..)" + _NAME,  # an object
        rb"\x04\x53.[\x5a-\x78].",  # a collection
        rb"\x04[\x3d\x50\x51]\Z|\x04\x4d..\Z",  # an empty text, a Boolean, a letter
        rb"\x04\x42.[\x20-\x27](?!.\Z)",  # an array of numbers; five bytes may be a Float of Kryo5
        # A text that is not all ASCII, in modified UTF-8.
        rb"\x04\x3e.(?=....)(?:[\x01-\x7f]|[\xc0-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}){2,256}\Z",
        rb"\x04[\x4b\x4e].{4}\Z|\x04[\x4c\x4f].{8}\Z",  # a number
        rb"\x04\x3e(?P<size>[\x02-\xff])",  # a text
    ),
    _fingerprint(
        "FstCodec",
        rb"[\x00\xfa]\x01[\x04-\x7f]" + _NAME,  # an object
        rb"\x00[\x0f\x10][\x01-\x7f][\xf0-\xff].",  # a HashMap, an ArrayList
        rb"(?:\xfc|\xfb\x24)(?P<size>[\x01-\x7f])",  # a text, a byte[]
        rb"[\xf6\xf7](?:[\x01-\x7f]|\x80..|\x81.{4}|\x82.{8})\Z",  # a Long, an Integer
        rb"\x00\x0c[\x01-\x7f]\Z|\x00\x09.{8}\Z",  # a letter, a Double
    ),
    # The third byte of a Kryo5 int with these first bytes would be its last, or above 7f. Also of Fory 1, which
    # Redisson has since 4.7. A compressed value with such a length is larger.
    _fingerprint("ForyCodec", rb"\x02\xff[\x00-\x7f].", rb"\xd4\x62[\x06\x07]", rb"\x00\xff[\x01-\xff].{1,60000}\Z"),
    _fingerprint(
        "Kryo5Codec",
        rb"\x01\x00" + _NAME + rb"[\xa4-\xff]",
        rb"\x01\x00\[[\xc2-\xda]",
        rb"\x03[ -~]{1,31}[\xa0-\xfe]\Z",
    ),
    _fingerprint(
        "MsgPackJacksonCodec",
        rb"(?:[\x80-\x8f]|\xde..|\xdf.{4})\xa6@class",
        rb"\x92(?:[\xa0-\xbf]|\xd9.)" + _NAME,
    ),
    _fingerprint("CborJacksonCodec", rb"\xbf\x66@class", rb"[\x82\x9f](?:[\x60-\x77]|\x78.)" + _NAME),
    _fingerprint("IonJacksonCodec", rb"'" + _NAME + rb"'::", rb"\xe0\x01\x00\xea"),
    _fingerprint("JsonJacksonCodec", rb'\{"@class":"', rb'\["' + _NAME + rb'",'),
)


#: The number of characters that decide whether bytes are a text.
_LOOKED_AT = 10_000
#: Parts of the names of codecs that write bytes which look like those of another codec.
_KIN = {
    _TEXT: ("String", "Long", "Integer", "Double", "Json", "Ion", "Protobuf"),
    "JsonJacksonCodec": ("Json", "Protobuf"),  # ProtobufCodec writes JSON for a class that is not a message
}


def looks_like(data: bytes) -> str | None:
    """Redisson's name for the codec that seems to have written ``data``, or ``"text"``, or None. O(size).

    For bytes of Fury the answer is Fory. For JSON it is JsonJacksonCodec, and only if the JSON names Java types.
    """
    for fingerprint in _FINGERPRINTS:
        found = re.match(fingerprint.pattern, data, re.DOTALL)
        if found is not None:
            size = found.groupdict().get("size")
            if size is None or len(data) - found.end() == size[0]:
                return fingerprint.name
    return _TEXT if _is_text(data) else None


def hint(codec: str, data: bytes) -> str:
    """The text to add to the message when ``codec`` cannot read ``data``: a semicolon and advice, or nothing."""
    name = looks_like(data)
    if name is None or _is_kin(name, codec.partition("(")[0]):
        return ""
    if name == _TEXT:
        return "; the bytes look like text, which StringCodec() or one of the codecs for JSON reads"
    if name in __all__:
        return f"; the bytes look like those of Java's {name}. {_no_counterpart(name)}"
    return f"; the bytes look like those of {name}: give the queue the same codec"


def _is_kin(name: str, codec: str) -> bool:
    """Whether ``codec`` can or should be able to read bytes that look like those of ``name``."""
    parts = _KIN.get(name, (name.removesuffix("Codec").removesuffix("Jackson"),))
    return any(part in codec for part in parts)


def _is_text(data: bytes) -> bool:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    if len(data) < 3 or text[0].isspace() or not "".join(text[:_LOOKED_AT].split()).isprintable():
        return False
    # In CBOR, Snappy and Avro, the length before a text may look like a printable character.
    left = len(data) - 1
    return data[0] not in (left, left - 1, 2 * left, left + 0x60) and data[1] != left - 1
