"""Keys and elements that were made to have one hash: each takes as long to put into a dict as there are others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from redisson_dq.codecs.faults import Malformed

__all__ = ["FEW_KEYS", "MOST_OF_ONE_HASH", "SAME_HASH", "check_hashes"]

#: So many are not looked at.
FEW_KEYS = 1_000
#: Of more, so many may have one hash. Nobody knows those of texts beforehand; those of numbers and UUIDs, everybody.
MOST_OF_ONE_HASH = 200
SAME_HASH = "keys or elements of which too many have the same hash"


def check_hashes(keys: list[Any], pos: int) -> None:
    """Refuse keys of which too many have the same hash. Those that have none are no keys, and pass. O(n)."""
    if len(keys) <= FEW_KEYS:
        return
    try:
        hashes: Iterable[int] = list(map(hash, keys))
    except TypeError:
        return
    if max(Counter(hashes).values()) > MOST_OF_ONE_HASH:
        raise Malformed(SAME_HASH, pos)
