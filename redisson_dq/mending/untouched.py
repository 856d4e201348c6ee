"""Counts the entries that no action on items changes: torn entries, and entries of expired leases."""

from __future__ import annotations

import attrs

from redisson_dq.mending.queue import MendedQueue

__all__ = ["Untouched", "count_over", "count_untouched"]

# How many entries of each key are compared, as the doctor does.
_COMPARED = 400


@attrs.frozen(kw_only=True)
class Untouched:
    """How many waiting entries are in only one of the two keys, and how many are in no known format."""

    torn: int = 0
    unknown: int = 0


def count_untouched(queue: MendedQueue) -> Untouched:
    """Counts the waiting entries that a walk skips.

    One short script for each part. It reads the ends of a long queue, and the sizes of its keys say how many are torn.
    """
    found = [part.sample(_COMPARED, 0) for part in queue.parts]
    return Untouched(
        torn=sum(sum(each.torn) for each in found), unknown=sum(each.kinds.get("unknown", 0) for each in found)
    )


def count_over(queue: MendedQueue) -> int:
    """How many expired leases still have their values, which were not put back yet. No receiver holds these."""
    now_ms = queue.now_ms()
    return sum(part.leases_over(now_ms) for part in queue.parts)
