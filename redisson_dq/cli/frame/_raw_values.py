"""The codec of a command's client if the command needs none: raw bytes, so that no other codec is loaded."""

from __future__ import annotations

from redisson_dq.codecs.base import Codec

__all__ = ["RawValues"]


class RawValues(Codec[bytes]):
    """Bytes as they are."""

    def encode(self, value: bytes) -> bytes:
        return value

    def decode(self, data: bytes) -> bytes:
        return data
