"""Modified UTF-8, the form of every text in a stream: DataOutput.writeUTF.

Each UTF-16 unit is written separately, in one to three bytes. So a character beyond U+FFFF takes six bytes. U+0000
takes two bytes, C0 80.
"""

from __future__ import annotations

import re

from redisson_dq.codecs.faults import Malformed

__all__ = ["decode_utf", "encode_utf", "join_surrogates"]

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_FOUR_BYTES = re.compile(rb"[\xf0-\xff]")


def encode_utf(text: str) -> bytes:
    """The bytes of a text, without their length. O(length)."""
    if not text.isascii():
        text = _ASTRAL.sub(_surrogates, text)
    return text.encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")


def _surrogates(match: re.Match[str]) -> str:
    offset = ord(match[0]) - 0x10000
    return chr(0xD800 | offset >> 10) + chr(0xDC00 | offset & 0x3FF)


def decode_utf(raw: bytes, offset: int) -> str:
    """The text of these bytes, which are at ``offset`` in the stream. Raises Malformed. O(length)."""
    if raw.isascii():
        return raw.decode("ascii")
    # UTF-8 has characters of four bytes. Modified UTF-8 has none.
    bad = _FOUR_BYTES.search(raw)
    if bad is not None:
        raise Malformed("a byte that begins no UTF-16 unit", offset + bad.start())
    try:
        return join_surrogates(raw.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError as error:
        raise Malformed(f"a text's bytes are not modified UTF-8: {error.reason}", offset + error.start) from error


def join_surrogates(text: str) -> str:
    """The text with each pair of a high and a low surrogate as the one character they make. O(length)."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
