"""How much memory a compressed value may take: one number for all its layers.

The bytes of each layer after decompression count, and so does the value that the innermost codec makes of its bytes.
The outermost codec sets the number. The reader of a page allows less.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from redisson_dq.codecs.faults import Malformed

__all__ = ["Budget", "budget_of", "memory_of_text"]

_current: ContextVar[Budget | None] = ContextVar("redisson_dq_budget", default=None)
#: The memory of a value in a text such as JSON, for each comma and bracket. ``[]`` and ``{}`` take most.
_FOR_EACH_PART = 80


class Budget:
    """The memory that is left for a value, of ``size`` bytes."""

    __slots__ = ("left", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.left = size

    def check(self, cost: int, offset: int | None = None) -> None:
        """Raises Malformed where the value takes more memory than is left."""
        if cost > self.left:
            raise Malformed(
                f"some {self.size - self.left + cost} bytes of memory after decompression, {self.size} are allowed: "
                "the max_size of the codec, or less where a value is only shown",
                offset,
            )


@contextmanager
def budget_of(size: int) -> Iterator[Budget]:
    """The budget of the value that is being read or written, or a new one of ``size`` bytes."""
    found = _current.get()
    if found is not None:
        yield found
        return
    found = Budget(size)
    token = _current.set(found)
    try:
        yield found
    finally:
        _current.reset(token)


def memory_of_text(data: bytes) -> int:
    """About how many bytes of memory the lists, dicts and scalars of a JSON text take, at most. O(size)."""
    return 2 * len(data) + _FOR_EACH_PART * (data.count(b",") + data.count(b"[") + data.count(b"{"))
