"""Counts the entries that no action on items touches: torn ones, and those of leases that are over."""

from __future__ import annotations

from redisson_dq.mending.queue import MendedQueue
from redisson_dq.wire import calls, commands

__all__ = ["count_over", "count_torn"]

# So many entries of each key are compared, as the doctor does.
_COMPARED = 400


def count_torn(queue: MendedQueue) -> int:
    """How many entries stand in one of the two keys of the waiting side alone. A walk passes over them.

    One short script for each part. Of a long queue the sizes of the keys tell.
    """
    return sum(sum(queue.run(calls.sample(part.keys.queue, _COMPARED, 0)).torn) for part in queue.parts)


def count_over(queue: MendedQueue) -> int:
    """How many leases are over whose values were not given back yet. No receiver holds these."""
    now_ms = queue.now_ms()
    return sum(queue.run(commands.leases_over(part.keys.queue, now_ms)) for part in queue.parts)
