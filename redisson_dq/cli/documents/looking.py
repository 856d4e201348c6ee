"""``queues``, ``stats``, ``watch``, ``list``, ``show`` and ``peek``."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from redisson_dq.browsing.recognising import Candidate
from redisson_dq.browsing.rows import SeenIn
from redisson_dq.cli.documents.common import ItemFields
from redisson_dq.cli.documents.of import Of
from redisson_dq.inspection import QueueInspection
from redisson_dq.items import ItemEvent
from redisson_dq.stats import QueueStats

__all__ = [
    "DueCounts",
    "HistoryDocument",
    "Lateness",
    "ListDocument",
    "PeekDocument",
    "QueueRow",
    "QueuesDocument",
    "RefusedRow",
    "ShowDocument",
    "StatsDocument",
    "WatchDocument",
    "WatchedRow",
]


class QueueRow(TypedDict):
    """One queue."""

    name: str
    partitions: int | None
    """How many partitions were found, if the queue is in partitions."""
    stats: QueueStats | None
    """Its figures, or null if it could not be read."""
    error: str | None
    """Why figures are missing."""


class QueuesDocument(TypedDict):
    """The queues that were found, sorted by name."""

    queues: list[QueueRow]


class RefusedRow(TypedDict):
    """A queue that could not be read, while others could."""

    name: str
    error: str
    """Why it could not be read."""


class StatsDocument(TypedDict):
    """The queues in the order of the arguments."""

    queues: list[Annotated[dict[str, Any], Of(QueueInspection, "error")] | RefusedRow]


class Lateness(TypedDict):
    """The lateness of overdue items in seconds. Null if none is overdue."""

    p50: float | None
    p90: float | None
    p99: float | None
    max: float | None


_Spans = TypedDict("_Spans", {"1s": int, "10s": int, "1m": int, "10m": int, "1h": int, "1d": int, "7d": int})


class DueCounts(_Spans):
    """How many items are due in each span. A span begins where the previous one ends."""

    due: int
    """How many are overdue."""
    later: int
    """How many are due later than in seven days."""


class WatchedRow(TypedDict):
    """One queue in one reading. If it has an error, its figures may be null."""

    name: str
    error: str | None
    """Why it has no figures, or not all."""
    stats: QueueStats | None
    waiting_change: float | None
    """The change of waiting items per second since the previous reading."""
    ready_change: float | None
    """The change of ready values per second since the previous reading."""
    late_seconds: Lateness | None
    due: DueCounts | None


class WatchDocument(TypedDict):
    """One look."""

    error: str | None
    """Why there are no figures, for example because Redis is away. The list of queues is empty then."""
    queues: list[WatchedRow]


class ListDocument(TypedDict):
    """One page of items."""

    queue: str
    state: SeenIn
    count: int
    """How many items are in this state, whether they match the filter or not."""
    looked: int
    """How many items were examined."""
    items: list[ItemFields]
    next: str | None
    """The cursor for --after, or null at the end."""


class ShowDocument(TypedDict):
    """One item. The exit code is 1 if there is none."""

    item: ItemFields | None
    candidates: list[Candidate]
    """The codecs that may have written the value, the most certain first."""


class HistoryDocument(TypedDict):
    """The history of items. The exit code is 1 if the queue keeps no history."""

    queue: str
    kept_events: int | None
    """The most events that are kept in each partition. Null if the queue keeps no history."""
    events: list[ItemEvent]
    """The latest events, oldest first."""


class PeekDocument(TypedDict):
    """The values that will be delivered next, in order."""

    queue: str
    items: list[ItemFields]
