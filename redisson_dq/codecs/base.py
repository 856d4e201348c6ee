"""The one interface every codec has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

__all__ = ["Codec"]


class Codec(ABC):
    """Turns a value into the bytes that stand in Redis, and back.

    A codec holds no state that changes, so one object serves any number of queues and threads. To write
    one of your own, derive from this class; raise :class:`~redisson_dq.errors.EncodeError` and
    :class:`~redisson_dq.errors.DecodeError`, nothing else.
    """

    @property
    def name(self) -> str:
        """The name in error messages: Redisson's class name."""
        return type(self).__name__

    @abstractmethod
    def encode(self, value: Any) -> bytes:
        """The bytes of ``value``. Raises EncodeError when the codec has none for it. O(size)."""

    @abstractmethod
    def decode(self, data: bytes) -> Any:
        """The value of ``data``. Raises DecodeError for any bytes that are not one whole value. O(size)."""

    def __repr__(self) -> str:
        return f"{self.name}()"
