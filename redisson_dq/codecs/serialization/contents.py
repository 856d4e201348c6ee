"""The common part of the readers of Java's streams: the bytes, the position in them, and the depth of the content."""

from __future__ import annotations

from redisson_dq.codecs.budget import COUNTED_FROM, counting_budget
from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Malformed

__all__ = ["ContentReader"]

#: The memory of an object of a stream, and of the value made from it.
_FOR_EACH_OBJECT = 600


class ContentReader:
    """``pos`` is the position of the next content, and ``depth`` its depth.

    ``other`` says why the objects would be written to other bytes. Empty if they would not.
    """

    __slots__ = ("_budget", "data", "depth", "other", "pos", "texts")

    def __init__(self, data: bytes, pos: int) -> None:
        self.data = data
        self.pos = pos
        self.depth = 0
        self.texts: set[str] = set()
        self.other = ""
        self._budget = counting_budget(data) if len(data) >= COUNTED_FROM else None

    def _next_bytes(self, size: int) -> bytes:
        begin = self.pos
        end = begin + size
        if end > len(self.data):
            raise IndexError
        self.pos = end
        return self.data[begin:end]

    def _enter(self, start: int) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Malformed(TOO_DEEP, start)
        if self._budget is not None:
            self._budget.spend(_FOR_EACH_OBJECT, start)
