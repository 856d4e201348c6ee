"""Protostuff's bytes: protobuf's tags, numbers and texts, with every message as a group.

A field is a tag and the bytes that follow it. The tag is the field's number and one of five wire types. A message is
enclosed by the tags that start and end its group. The whole value is the content of a group, without these tags.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from redisson_dq.codecs.budget import COUNTED_FROM, counting_budget
from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Malformed, Unencodable
from redisson_dq.codecs.hashes import Hashes

__all__ = ["BYTES", "END", "FIXED32", "FIXED64", "START", "VARINT", "Reader", "delimited", "tag", "utf8", "varint"]

VARINT, FIXED64, BYTES, START, END, FIXED32 = range(6)

_NAMES = ("a varint", "64 bits", "bytes", "a group's start", "a group's end", "32 bits")
_MAX_VARINT = 10  # the longest varint, of 64 bits
_MASK = (1 << 64) - 1
_LARGEST_TAG = (1 << 32) - 1
_DOUBLE = struct.Struct("<d")
_FLOAT = struct.Struct("<f")


def varint(number: int) -> bytes:
    """A number in groups of seven bits, lowest first. A negative number is written as 64 bits. O(1)."""
    number &= _MASK
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def tag(number: int, wire: int) -> bytes:
    """The tag of a field. O(1)."""
    return varint(number << 3 | wire)


def delimited(data: bytes) -> bytes:
    """Bytes, preceded by their length. O(length)."""
    return varint(len(data)) + data


def utf8(text: str) -> bytes:
    """A text in UTF-8. Raises Unencodable for a lone surrogate, which Java reads as U+FFFD. O(length)."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        pass
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le").encode()
    except UnicodeDecodeError as error:
        raise Unencodable("a text with half of a surrogate pair, which Java does not read back") from error


#: The memory of an empty object or collection, and of the slot that holds it.
_FOR_EACH_GROUP = 320


class Reader:
    """Iterates over the fields of a message and of the groups in it.

    ``number`` and ``wire`` belong to the field whose value is next. ``start`` is the position of its tag. Reading past
    the end raises IndexError or struct.error. Anything else that is wrong raises Malformed.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._pos = 0
        self._open: list[int] = []
        self.hashes = Hashes()
        self._budget = counting_budget(data) if len(data) >= COUNTED_FROM else None
        self.start = 0
        self.number = 0
        self.wire = VARINT

    @property
    def left(self) -> int:
        """The number of bytes that are not read yet."""
        return len(self._data) - self._pos

    def next(self) -> int:
        """The number of the next field. 0 at the end of the group, or at the end of the bytes if no group is open."""
        self.start = self._pos
        if not self._open and self._pos == len(self._data):
            return 0
        found = self._varint()
        self.number, self.wire = found >> 3, found & 7
        if self.wire > FIXED32 or not self.number or found > _LARGEST_TAG:
            raise self.fault("no tag of a field")
        if self.wire == END:
            if not self._open or self._open.pop() != self.number:
                raise self.fault(f"the end of a group {self.number} that is not open")
            return 0
        return self.number

    def fields(self) -> Iterator[int]:
        """The numbers of the fields up to the end of the group. The caller reads each value before it continues."""
        while number := self.next():
            yield number

    def enter(self) -> None:
        """Begin to read the field as a group."""
        self._expect(START)
        if len(self._open) == MAX_DEPTH:
            raise self.fault(TOO_DEEP)
        self._open.append(self.number)
        if self._budget is not None:
            self._budget.spend(_FOR_EACH_GROUP, self.start)

    def leave(self) -> None:
        """Read the end of the group."""
        if self.next():
            raise self.fault("a group with more than its value")

    def skip(self) -> None:
        """Skip the value of a field."""
        if self.wire == VARINT:
            self._varint()
        elif self.wire == BYTES:
            self.bytes_()
        elif self.wire == START:
            self.enter()
            for _ in self.fields():
                self.skip()
        else:
            self._next_bytes(8 if self.wire == FIXED64 else 4)

    def signed(self, bits: int, least: int, most: int) -> int:
        """A number in two's complement, from ``least`` to ``most``."""
        self._expect(VARINT)
        found = self._varint()
        if found >> bits - 1:
            found -= 1 << bits
        if not least <= found <= most:
            raise self.fault(f"a number that is not {least} to {most}")
        return found

    def fixed64(self) -> int:
        """A signed number of 64 bits, lowest byte first."""
        self._expect(FIXED64)
        return int.from_bytes(self._next_bytes(8), "little", signed=True)

    def double(self) -> float:
        self._expect(FIXED64)
        found: float = _DOUBLE.unpack(self._next_bytes(8))[0]
        return found

    def float(self) -> float:
        self._expect(FIXED32)
        found: float = _FLOAT.unpack(self._next_bytes(4))[0]
        return found

    def bytes_(self) -> bytes:
        self._expect(BYTES)
        size = self._varint()
        if size > self.left:
            raise self.fault(f"{size} bytes announced, {self.left} left")
        return self._next_bytes(size)

    def text(self) -> str:
        """Bytes that are UTF-8."""
        data = self.bytes_()
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise self.fault(f"a text's bytes are not UTF-8: {error.reason}") from error

    def fault(self, message: str) -> Malformed:
        """The fault to raise if something is wrong with the field."""
        return Malformed(message, self.start)

    def _expect(self, wire: int) -> None:
        if self.wire != wire:
            raise self.fault(f"{_NAMES[self.wire]} where {_NAMES[wire]} should be")

    def _next_bytes(self, size: int) -> bytes:
        end = self._pos + size
        if end > len(self._data):
            raise IndexError
        data = self._data[self._pos : end]
        self._pos = end
        return data

    def _varint(self) -> int:
        found = 0
        for shift in range(0, 7 * _MAX_VARINT, 7):
            byte = self._data[self._pos]
            self._pos += 1
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                return found & _MASK
        raise self.fault("a number of more than 64 bits")
