"""The bytes that Redis needs for waiting entries, as Redis 7 lays it out and jemalloc rounds it.

A waiting entry is a member of a sorted set: a text, a node of the skip list, an entry of the dictionary. A mirrored
entry is also an element of a list, in a block of some 8 KB that it shares, or alone.
"""

from __future__ import annotations

from redisson_dq.planning.constants import (
    BLOCK_BYTES,
    BLOCK_NODE_BYTES,
    LEAN_ENVELOPE_BYTES,
    MEMBER_BYTES,
    MIRRORED_ENVELOPE_BYTES,
)

__all__ = ["allocated", "entry_bytes", "list_bytes", "member_bytes"]


def entry_bytes(size: int, waiting: int, *, lean: bool) -> float:
    """Redis's memory for one waiting value of ``size`` bytes, where ``waiting`` values wait in one queue.

    >>> round(entry_bytes(100, 1_000_000, lean=True)), round(entry_bytes(100, 1_000_000, lean=False))
    (222, 343)
    """
    if lean:
        return member_bytes(size + LEAN_ENVELOPE_BYTES, waiting)
    text = size + MIRRORED_ENVELOPE_BYTES
    return member_bytes(text, waiting) + list_bytes(text)


def member_bytes(length: int, waiting: int) -> float:
    """A member of so many bytes of a sorted set. The dictionary's table has a power of two of places of 8 bytes."""
    places = 1 << max(2, (max(1, waiting) - 1).bit_length())
    header = 4 if length < 2**8 else 6 if length < 2**16 else 10
    return MEMBER_BYTES + allocated(length + header) + 8 * places / max(1, waiting)


def list_bytes(length: int) -> float:
    """An element of so many bytes of a list. Its own length stands before and behind it."""
    head = 1 if length < 64 else 2 if length < 4096 else 5
    behind = next(count for count in range(1, 6) if head + length < 1 << 7 * count)
    element = head + length + behind
    shared = max(1, BLOCK_BYTES // element)
    return (allocated(shared * element + 7) + BLOCK_NODE_BYTES) / shared


def allocated(size: int) -> int:
    """The bytes that jemalloc takes for ``size`` bytes: steps of 16 up to 128, then four steps between powers of two.

    >>> [allocated(size) for size in (8, 100, 129, 5000)]
    [16, 112, 160, 5120]
    """
    if size <= 128:
        return max(16, -(-size // 16) * 16)
    step = 1 << ((size - 1).bit_length() - 3)
    return -(-size // step) * step
