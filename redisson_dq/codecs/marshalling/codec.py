"""The codec itself: one value of the river protocol, and every fault as one error."""

from __future__ import annotations

from typing import Any, Literal

from redisson_dq._common.texts import shown
from redisson_dq.codecs.base import Codec
from redisson_dq.codecs.faults import Malformed, decode_error, encode_error
from redisson_dq.codecs.marks import marked
from redisson_dq.codecs.marshalling.reader import RiverReader
from redisson_dq.codecs.marshalling.writer import RiverWriter
from redisson_dq.codecs.serialization.decoder import Decoder
from redisson_dq.codecs.serialization.encoder import Encoder
from redisson_dq.codecs.typed import TypedCodec
from redisson_dq.errors import ArgumentError

__all__ = ["MarshallingCodec"]


class MarshallingCodec(Codec):
    """JBoss Marshalling, ``org.redisson.codec.MarshallingCodec``: Redisson's default codec from 3.13 to 3.18.

    The types are those of SerializationCodec (docs/codecs.md). A class of your own needs a declaration
    (``java_class``), and to be written, its ``serial_version_uid``. With ``unknown="generic"``, objects of undeclared
    classes come back as a JavaObject, which is written unchanged::

        client = redisson_dq.connect("redis://localhost:6379/0", codec=MarshallingCodec(), envelope="legacy")

    Redisson up to 3.21.0 also has another envelope: see ``envelope`` of ``connect``. Redisson 4.1 removed
    MarshallingCodec.

    Raises EncodeError and DecodeError; ArgumentError for another ``unknown``. The bytes cannot make it run or load any
    code. Time and memory are O(size of the value or of the bytes).
    """

    def __init__(self, *, unknown: Literal["refuse", "generic"] = "refuse") -> None:
        if unknown not in ("refuse", "generic"):
            raise ArgumentError(f"unknown must be 'refuse' or 'generic', not {shown(unknown)}")
        self._unknown = unknown

    def encode(self, value: Any) -> bytes:
        """The bytes of ``value``. Raises EncodeError. O(size)."""
        try:
            writer = RiverWriter()
            writer.write(Encoder().content(value))
            return b"".join(writer.out)
        except Exception as error:
            raise encode_error(error, self.name) from error

    def decode(self, data: bytes) -> Any:
        """The value of ``data``. Raises DecodeError. O(size)."""
        data = bytes(data)
        try:
            reader = RiverReader(data)
            content = reader.object()
            if reader.pos != len(data):
                raise Malformed(f"{len(data) - reader.pos} bytes too many after the value", reader.pos)
            decoder = Decoder(len(data), generic=self._unknown == "generic")
            value = decoder.value(content)
        except (Exception, SystemExit) as error:
            raise decode_error(error, self.name, data) from error
        other = decoder.other or reader.other
        return marked(value, other) if other else value

    def typed(self, type: Any) -> Codec[Any]:
        """This codec for values of that type: see :class:`~redisson_dq.codecs.typed.TypedCodec`."""
        return TypedCodec(self, type)

    def __repr__(self) -> str:
        return f"{self.name}()" if self._unknown == "refuse" else f"{self.name}(unknown={self._unknown!r})"
