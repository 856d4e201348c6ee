"""The one interface every codec has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    #: The type of a codec's values. A bare ``Codec`` carries anything.
    T = TypeVar("T", default=Any)
else:
    from typing import TypeVar

    T = TypeVar("T")

__all__ = ["Codec", "T", "check_codec"]


class Codec(ABC, Generic[T]):
    """Turns a value into the bytes that are in Redis, and back.

    A codec holds no state that changes, so one object serves any number of queues and threads. To write your own codec,
    derive from this class, or from ``Codec[Order]`` if it carries one type. For type checkers a queue with such a codec
    is a ``BlockingQueue[Order]``. Raise :class:`~redisson_dq.errors.EncodeError` and
    :class:`~redisson_dq.errors.DecodeError`, nothing else.
    """

    @property
    def name(self) -> str:
        """The name in error messages: Redisson's class name."""
        return type(self).__name__

    @abstractmethod
    def encode(self, value: T) -> bytes:
        """The bytes of ``value``. Raises EncodeError if the codec cannot encode it. O(size)."""

    @abstractmethod
    def decode(self, data: bytes) -> T:
        """The value of ``data``. Raises DecodeError for any bytes that are not one whole value. O(size)."""

    def sought(self, value: T) -> bytes:
        """The bytes to search for. Raises EncodeError if equal values have different bytes."""
        return self.encode(value)

    def of_queue(self, name: str) -> Codec[T]:
        """This codec for the queue whose ready list has the key ``name``. Most codecs are the same for all queues."""
        return self

    @property
    def wants_type(self) -> bool:
        """Whether a queue should declare the type of its values: see :meth:`typed`."""
        return False

    def typed(self, type: Any) -> Codec[Any]:
        """This codec for a queue whose values are of ``type``, an annotation: see ``type=`` of ``blocking_queue``.

        Raises ArgumentError if the codec itself decides the type of its values.
        """
        raise ArgumentError(
            f"type= goes with a codec of Java's values or with JsonCodec(); {self.name} itself says what its values "
            f"are, so leave type={shown(type)} out"
        )

    def memory_of(self, data: bytes) -> int:
        """An upper estimate of the memory that the value of ``data`` takes, in bytes, without decoding it.

        A codec that compresses calls this on its inner codec before decoding. The default suits formats in which a
        value may take one byte. O(size).
        """
        return 16 * len(data)

    def __repr__(self) -> str:
        return f"{self.name}()"


def check_codec(codec: object, what: str) -> None:
    """Raises ArgumentError for anything but a Codec, such as a class of one. ``what`` begins its message."""
    if not isinstance(codec, Codec):
        raise ArgumentError(f"{what} must be a redisson_dq.codecs.Codec, such as StringCodec(), not {shown(codec)}")
