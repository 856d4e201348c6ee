"""Joins the dumps of several keys to one text of bytes, and parts it again."""

from __future__ import annotations

import struct

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError

__all__ = ["framed", "unframed"]

# The head of the dumps of several keys: a mark of ours, then the length of each dump.
_DUMP_MARK = b"redisson_dq 1\n"


def framed(dumps: list[bytes]) -> bytes | None:
    """One dump for all keys. A single key's dump is left as it is. None where no key has a dump."""
    if not any(dumps):
        return None
    if len(dumps) == 1:
        return dumps[0]
    lengths = struct.pack(f"<{len(dumps)}Q", *map(len, dumps))
    return b"".join((_DUMP_MARK, lengths, *dumps))


def unframed(state: bytes, count: int, name: str) -> list[bytes]:
    """One dump for each of this many keys. Raises ArgumentError for bytes that :func:`framed` did not give."""
    if not isinstance(state, (bytes, bytearray, memoryview)):
        raise ArgumentError(f"queue {name!r}: restore takes the bytes that dump() returned, not {shown(state)}")
    state = bytes(state)
    if count == 1:
        return [state]
    head = struct.Struct(f"<{count}Q")
    start = len(_DUMP_MARK) + head.size
    if state.startswith(_DUMP_MARK) and len(state) >= start:
        lengths = head.unpack_from(state, len(_DUMP_MARK))
        if start + sum(lengths) == len(state):
            dumps = []
            for length in lengths:
                dumps.append(state[start : start + length])
                start += length
            return dumps
    raise ArgumentError(f"queue {name!r}: restore takes the bytes that dump() of such a queue returned")
