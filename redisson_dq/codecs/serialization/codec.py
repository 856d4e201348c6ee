"""The codec itself: a whole stream with one object in it, and every fault as one error."""

from __future__ import annotations

from typing import Any, Literal

from redisson_dq._common.texts import shown
from redisson_dq.codecs.base import Codec
from redisson_dq.codecs.faults import Malformed, decode_error, encode_error
from redisson_dq.codecs.marks import marked
from redisson_dq.codecs.serialization.embedded import ReadState, WriteState, read_object, write_object
from redisson_dq.codecs.serialization.straight_reader import UNREAD, read
from redisson_dq.codecs.serialization.straight_writer import written
from redisson_dq.codecs.typed import TypedCodec
from redisson_dq.errors import ArgumentError

__all__ = ["SerializationCodec"]


class SerializationCodec(Codec):
    """Java's own serialization, ``org.redisson.codec.SerializationCodec``.

    The types are those of docs/codecs.md. A class of your own needs a declaration (``java_class``), and to be written,
    its ``serial_version_uid``. With ``unknown="generic"``, objects of a class that is not declared, or that writes more
    than its fields, come back as a JavaObject, which is written unchanged.

    As in Java, an object that occurs several times in a value is still one object when it comes back. Lists, dicts and
    objects may contain themselves. Equal texts made in Python are written as one object, numbers and dates never. A
    value that was read is written as Java had it (docs/codecs.md, The same bytes).

    Raises EncodeError and DecodeError; ArgumentError for another ``unknown``. The bytes cannot make it run or load any
    code. Time and memory are O(size of the value or of the bytes).
    """

    def __init__(self, *, unknown: Literal["refuse", "generic"] = "refuse") -> None:
        if unknown not in ("refuse", "generic"):
            raise ArgumentError(f"unknown must be 'refuse' or 'generic', not {shown(unknown)}")
        self._unknown = unknown

    def encode(self, value: Any) -> bytes:
        """The bytes of ``value``. Raises EncodeError. O(size)."""
        data = written(value)
        if data is not None:
            return data
        try:
            return write_object(value, WriteState())
        except Exception as error:
            raise encode_error(error, self.name) from error

    def decode(self, data: bytes) -> Any:
        """The value of ``data``. Raises DecodeError. O(size)."""
        if type(data) is not bytes:
            data = bytes(data)
        found = read(data, generic=self._unknown == "generic")
        if found is not UNREAD:
            return found
        try:
            state = ReadState(generic=self._unknown == "generic")
            value, end = read_object(data, 0, state)
            if end != len(data):
                raise Malformed(f"{len(data) - end} bytes too many after the value", end)
        except (Exception, SystemExit) as error:
            raise decode_error(error, self.name, data) from error
        return marked(value, state.other) if state.other else value

    def typed(self, type: Any) -> Codec[Any]:
        """This codec for values of that type: see :class:`~redisson_dq.codecs.typed.TypedCodec`."""
        return TypedCodec(self, type)

    def __repr__(self) -> str:
        return f"{self.name}()" if self._unknown == "refuse" else f"{self.name}(unknown={self._unknown!r})"
