"""The codec that holds three codecs. A queue uses only the one for values."""

from __future__ import annotations

from typing import Any

from redisson_dq._common.texts import shown
from redisson_dq.codecs.base import Codec, T
from redisson_dq.errors import ArgumentError

__all__ = ["CompositeCodec"]


class CompositeCodec(Codec[T]):
    """The counterpart of ``org.redisson.codec.CompositeCodec``, with its arguments in its order.

    A queue has no map keys or map values. So the bytes and the errors are those of ``value_codec``. Without a
    ``value_codec``, Java's queues throw a NullPointerException. Here the constructor raises ArgumentError.
    """

    def __init__(
        self, map_key_codec: Codec | None, map_value_codec: Codec | None, value_codec: Codec[T] | None = None
    ) -> None:
        for name, codec in (("map_key_codec", map_key_codec), ("map_value_codec", map_value_codec)):
            if codec is not None and not isinstance(codec, Codec):
                raise ArgumentError(f"{name} must be a redisson_dq.codecs.Codec or None, not {shown(codec)}")
        if not isinstance(value_codec, Codec):
            raise ArgumentError(
                f"value_codec must be a redisson_dq.codecs.Codec, such as StringCodec(), not {shown(value_codec)}: "
                "it is the one that a queue uses"
            )
        self._codecs = (map_key_codec, map_value_codec, value_codec)
        self._value = value_codec

    def encode(self, value: T) -> bytes:
        """The bytes that ``value_codec`` makes. Raises its EncodeError."""
        return self._value.encode(value)

    def decode(self, data: bytes) -> T:
        """The value that ``value_codec`` reads. Raises its DecodeError."""
        return self._value.decode(data)

    def sought(self, value: T) -> bytes:
        """The bytes that ``value_codec`` uses to search for a value. Raises its EncodeError."""
        return self._value.sought(value)

    def of_queue(self, name: str) -> Codec[T]:
        """This codec, with its ``value_codec`` for the values of the queue."""
        return CompositeCodec(*self._codecs[:2], self._value.of_queue(name))

    def typed(self, type: Any) -> Codec[Any]:
        """This codec for values of that type, if its ``value_codec`` takes one."""
        return CompositeCodec(*self._codecs[:2], self._value.typed(type))

    def memory_of(self, data: bytes) -> int:
        """The memory that ``value_codec`` needs."""
        return self._value.memory_of(data)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self._codecs))})"
