"""The values of one queue: to bytes and back, with errors that name the queue."""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Generic, NoReturn, TypeVar

import attrs

from redisson_dq._common.texts import described, shown
from redisson_dq._redis.options import Options
from redisson_dq.codecs.base import Codec, check_codec
from redisson_dq.codecs.marks import has_no_room, other_bytes
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError, QueueEmptyError
from redisson_dq.observing import Skipped, Undecodable, ValuesTaken
from redisson_dq.wire.keys import QueueKeys

__all__ = ["OtherType", "QueueValues", "warn_of_other_types"]

logger = logging.getLogger("redisson_dq")
T = TypeVar("T")
U = TypeVar("U")
#: How many bytes of a value an error shows.
_SHOWN = 40


def warn_of_other_types(errors: Iterable[EncodeError]) -> None:
    """For a call that has removed other values."""
    for error in errors:
        logger.warning("%s", error)


@attrs.frozen
class OtherType(Generic[T]):
    """A ``value`` and its ``own`` bytes, and the ``data`` of an equal one whose type in Java is ``name``."""

    value: T
    own: bytes
    name: str
    data: bytes


class QueueValues(Generic[T]):
    """Name and codec of one queue: values on their way to Redis and back."""

    keys: QueueKeys

    def __init__(self, name: str, codec: Codec | None, options: Options) -> None:
        if codec is not None:
            check_codec(codec, f"queue {name!r}: codec=")
        self.options = options
        self.codec = options.codec if codec is None else codec
        self.name = name
        #: Whether context variables that a class sets when it is made stay there, and are not the caller's.
        self.decodes_apart = False

    # -- to bytes ----------------------------------------------------------------------------------------------------

    def encode(self, value: T) -> bytes:
        """The bytes of a value that is added. Raises EncodeError, and ArgumentError for None."""
        if value is None:
            self._refuse_none()
        try:
            return self.codec.encode(value)
        except Exception as error:
            self._refuse(error)

    def encode_to_compare(self, value: T) -> bytes:
        """Like :meth:`encode`, for bytes that those of an equal value are compared with."""
        if value is None:
            self._refuse_none()
        return self._sought(value)

    def encode_all(self, values: Iterable[T]) -> list[bytes]:
        """Raises EncodeError, and ArgumentError for None and for an object that is no collection of values."""
        collected = self.collected(values)
        if any(value is None for value in collected):
            self._refuse_none()
        return self._encoded(collected)

    def _refuse_none(self) -> NoReturn:
        raise ArgumentError(
            f"queue {self.name!r}: None cannot be added: poll() returns it when there is nothing; add a value "
            'that means nothing, such as "" or a dict'
        )

    def _encoded(self, values: Iterable[T]) -> list[bytes]:
        encode = self.codec.encode
        try:
            return [encode(value) for value in values]
        except Exception as error:
            self._refuse(error)

    def _refuse(self, error: Exception) -> NoReturn:
        if isinstance(error, EncodeError):
            error.args = (f"queue {self.name!r}: {error}",)
            raise error
        raise EncodeError(f"queue {self.name!r}: {self.codec.name}: {error!r}", codec=self.codec.name) from error

    def encode_sought(self, value: T) -> bytes:
        """The bytes by which a value is looked for.

        Raises EncodeError, also for a value that was read from other bytes.
        """
        why = other_bytes(value)
        if why:
            message = (
                f"queue {self.name!r}: {self.codec.name}: the value was read from bytes that differ from how it is "
                f"written, so it cannot be found by its bytes: {why}. A copy of it is searched for as it is written"
            )
            raise EncodeError(message, codec=self.codec.name)
        return self._sought(value)

    def _sought(self, value: T) -> bytes:
        try:
            return self.codec.sought(value)
        except Exception as error:
            self._refuse(error)

    def encode_all_sought(self, values: Iterable[T]) -> list[bytes]:
        """The bytes of many such values. Raises ArgumentError for an object that is no collection of values."""
        return [self.encode_sought(value) for value in self.collected(values)]

    def of_other_types(self, values: Iterable[T]) -> list[OtherType[T]]:
        """The values that are equal to one of these in Python, and of another type in Java."""
        # Imported late, so that codecs of plain texts load no Java types.
        from redisson_dq.java.equal_values import equal_values

        found = []
        for value in values:
            own = None
            for name, other in equal_values(value):
                own = own or self._encoded([value])[0]
                with suppress(EncodeError):
                    data = self._encoded([other])[0]
                    if data != own:
                        found.append(OtherType(value, own, name, data))
        return found

    def without_room(self, values: Iterable[T]) -> list[T]:
        """Those of the values that could not carry a note of the bytes that they were read from."""
        return [value for value in values if has_no_room(value)]

    def check_bytes(self, found: Iterable[bytes], sought: Sequence[T]) -> None:
        """Raises EncodeError if one of the values in the queue equals a sought one, and has other bytes."""
        for data in dict.fromkeys(found):
            values, _ = self.decoded([data])
            for value in sought:
                if not values or type(values[0]) is not type(value) or values[0] != value:
                    continue
                own = self._encoded([value])[0]
                if data != own:
                    raise EncodeError(
                        f"queue {self.name!r}: {self.codec.name}: {shown(value)} is stored with other bytes, "
                        f"{data[:_SHOWN]!r}, than it is written to, {own[:_SHOWN]!r}, and a {type(value).__name__} "
                        "cannot carry them: remove_if() compares values, and receive() gives a delivery, "
                        "which has the bytes in data and ends without them",
                        codec=self.codec.name,
                    )

    def other_type(self, other: OtherType[T], beside: bool = False) -> EncodeError:
        """The error for a value that is there as one of another type, and ``beside`` that as it was given too."""
        missing = "is there" if beside else "is not there"
        # A queue of a kind of list takes each kind of it.
        is_a_kind = isinstance(other.value, (list, tuple, dict)) and "[" not in other.name
        opened = "" if is_a_kind else f", or open the queue with type={other.name}"
        return EncodeError(
            f"queue {self.name!r}: {self.codec.name}: {shown(other.value)} {missing} as {type(other.value).__name__}, "
            f"{'and' if beside else 'but'} an equal {other.name} is, which has other bytes: search for that{opened}",
            codec=self.codec.name,
        )

    def other_types(self, others: list[OtherType[T]], there: Collection[bytes], before: bool) -> list[EncodeError]:
        """The errors for those of the others whose bytes are there. If the value as it was given is there too, only a
        call that takes the rest away confuses them, and asks ``before``.
        """
        return [
            self.other_type(other, other.own in there)
            for other in others
            if other.data in there and (before or other.own not in there)
        ]

    def collected(self, values: Iterable[U], of: str = "values") -> list[U]:
        """Raises ArgumentError for an object that is no collection. A text is refused: it would be a collection of
        letters. So is a mapping, whose values would be lost.
        """
        if isinstance(values, (str, bytes, bytearray, Mapping)) or not isinstance(values, Iterable):
            raise ArgumentError(f"queue {self.name!r}: expected a collection of {of}, not {shown(values)}")
        return list(values)

    # -- and back ----------------------------------------------------------------------------------------------------

    def popped(self, found: list[bytes], key: str | None = None) -> list[T]:
        """Decodes values that exist nowhere else any more. Raises one DecodeError for all that cannot be read.

        ``key`` is that of the list they came from, where it may be another queue's.
        """
        values, error = self.decoded(found)
        observers = self.options.observers
        if observers.heard[ValuesTaken]:
            name = self.name if key in (None, self.keys.ready) else str(key)
            if values:
                texts = observers.texts(ValuesTaken, values)
                observers.tell(ValuesTaken(queue=name, count=len(values), values=texts))
            if error is not None:
                self.tell_undecodable(error, name)
        if error is not None:
            raise error
        return values

    def popped_one(self, data: bytes | None) -> T | None:
        return None if data is None else self.popped([data])[0]

    def tell_undecodable(self, error: DecodeError, name: str) -> None:
        """Notifies observers of values that cannot be read and have left the queue of that name."""
        if self.options.observers:
            self.options.observers.tell(Undecodable(queue=name, count=len(error.undecodable), error=error))

    def tell_offered(self, count: int) -> None:
        """Notifies observers that count of values that were added."""
        if count:
            for tally in self.options.observers.tallies:
                tally.offered(self.name, count)

    def skip(self, error: DecodeError) -> bool:
        """Whether the client leaves out values that cannot be read, once they are kept somewhere. Notifies
        observers.
        """
        if error.kept_in is None or self.options.undecodable != "skip":
            return False
        self.options.observers.tell(Skipped(queue=self.name, count=len(error.undecodable), error=error))
        return True

    def in_place(self, found: list[bytes], kept_in: str) -> list[T]:
        """Decodes values that stay in Redis, under the key ``kept_in``. Raises DecodeError like :meth:`popped`."""
        values, error = self.decoded(found)
        if error is not None:
            error.kept_in = kept_in
            raise error
        return values

    def chosen(self, found: list[bytes], kept_in: str, condition: Callable[[T], bool]) -> list[bytes]:
        """The distinct bytes of the values that the condition is true for. Raises like :meth:`in_place`."""
        values = self.in_place(found, kept_in)
        return list(dict.fromkeys(data for data, value in zip(found, values, strict=True) if condition(value)))

    def decoded(self, found: list[bytes]) -> tuple[list[T], DecodeError | None]:
        """The values that could be read, and one error for all the others."""
        if self.decodes_apart:
            return contextvars.copy_context().run(self._decoded, found)
        return self._decoded(found)

    def _decoded(self, found: list[bytes]) -> tuple[list[T], DecodeError | None]:
        values: list[T] = []
        first: DecodeError | None = None
        undecodable: list[bytes] = []
        for data in found:
            try:
                values.append(self.codec.decode(data))
            except BaseException as error:
                fault = error if isinstance(error, Exception) else self._fault_of_value(error, data)
                undecodable.append(data)
                if first is None:
                    first = self._decode_error(fault, data)
        if first is not None:
            first.data = undecodable[0]
            first.decoded, first.undecodable = list(values), undecodable
        return values, first

    def _fault_of_value(self, error: BaseException, data: bytes) -> Exception:
        """The fault of a value whose making raises something other than an Exception, SystemExit for example.

        Raises the ``error`` again where it is an interruption. A signal does not come a second time.
        """
        try:
            self.codec.decode(data)
        except Exception as failure:
            return failure
        except BaseException as failure:
            if type(failure) is not type(error):
                raise
            message = f"{self.codec.name}: the value cannot be made: {described(failure)}"
            made = DecodeError(message, codec=self.codec.name, data=data)
            made.__cause__ = failure
            return made
        raise error

    def _decode_error(self, error: Exception, data: bytes) -> DecodeError:
        if isinstance(error, DecodeError):
            return error
        made = DecodeError(f"{self.codec.name}: {described(error)}", codec=self.codec.name, data=data)
        made.__cause__ = error
        return made

    def there(self, found: U | None) -> U:
        """Raises QueueEmptyError when there is nothing."""
        if found is None:
            raise QueueEmptyError(f"queue {self.name!r}: it is empty")
        return found
