"""The numbers, lengths and texts of a river stream."""

from __future__ import annotations

import struct

from redisson_dq.codecs.faults import Malformed
from redisson_dq.codecs.serialization.contents import ContentReader
from redisson_dq.codecs.serialization.utf import decode_utf

__all__ = ["RiverBytes"]

_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")


class RiverBytes(ContentReader):
    """The bytes of a value, and the position in them."""

    __slots__ = ()

    def _counted_chars(self) -> str:
        return self._chars(self._int())

    def _chars(self, size: int) -> str:
        """A text of ``count`` UTF-16 units."""
        data, start = self.data, self.pos
        end = start + size
        if not 0 <= size <= len(data) - start:
            raise Malformed(f"a text of {size} characters is announced, {len(data) - start} bytes are there", start)
        if not data[start:end].isascii():
            end = start
            for _ in range(size):
                lead = data[end]
                end += 1 if lead < 0x80 else 2 if lead < 0xE0 else 3
        self.pos = start
        return decode_utf(self._next_bytes(end - start), start)

    def _count(self, form: int) -> int:
        """A length in 0, 1, 2 or 4 bytes, depending on which of the four ids of its kind was read."""
        if form == 3:
            count = self._int()
            if count <= 0:
                raise Malformed(f"a length of {count}", self.pos - 4)
            return count
        return 0 if form == 0 else self._unsigned(form) or 0x100**form

    def _unsigned(self, width: int) -> int:
        return int.from_bytes(self._next_bytes(width), "big")

    def _int(self) -> int:
        (found,) = _INT.unpack(self._next_bytes(4))
        return int(found)

    def _long(self) -> int:
        (found,) = _LONG.unpack(self._next_bytes(8))
        return int(found)
