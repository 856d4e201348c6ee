"""The due times of the items of queues, and the lateness of overdue items."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import attrs

from redisson_dq.admin import Admin

if TYPE_CHECKING:
    from redisson_dq import Client

__all__ = ["SPANS", "DueTimes", "due_times"]

#: The ends of the spans, counted from now.
SPANS = (
    *(timedelta(seconds=1), timedelta(seconds=10), timedelta(minutes=1), timedelta(minutes=10)),
    *(timedelta(hours=1), timedelta(days=1), timedelta(days=7)),
)


@attrs.frozen(kw_only=True)
class DueTimes:
    """How many items are due: ``overdue``, ``within`` each of SPANS but not the previous one, and ``later``.

    ``late`` is the lateness of overdue items at 50, 90, 99 and 100 percent. For partitions, each is the largest value.
    """

    overdue: int
    within: tuple[int, ...]
    later: int
    late: tuple[timedelta, ...]


def due_times(client: Client, queue: str, partitions: int | None = None) -> DueTimes:
    """The due times of the items of a queue. The script only counts ranges, so its time does not depend on the number
    of items.

    One round trip for each partition. Raises ArgumentError, RedisConnectionError, RedisReplyError, WrongTypeError.
    """
    spans = [round(span.total_seconds() * 1000) for span in SPANS]
    found = [part.due_times(spans) for part in Admin(client).parts(queue, partitions)]
    sums = [sum(each) for each in zip(*(one.counts for one in found), strict=True)]
    late = zip(*(one.late_ms for one in found if one.late_ms), strict=True)
    return DueTimes(
        overdue=sums[0],
        within=tuple(sums[1:-1]),
        later=sums[-1],
        late=tuple(timedelta(milliseconds=max(each)) for each in late),
    )
