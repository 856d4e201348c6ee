"""The figures of one process: an observer that counts. It does not depend on prometheus_client."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta

from redisson_dq.items import SettleOutcome
from redisson_dq.observing import (
    Expired,
    Happening,
    Moved,
    OfQueue,
    Role,
    Subscribed,
    Tally,
    Undecodable,
    ValuesTaken,
)
from redisson_dq.wire.keys import NameMapper
from redisson_dq.wire.partitions import whole_of

__all__ = [
    "HANDLING",
    "LATENESS",
    "MOST_HANDLERS",
    "MOST_QUEUES",
    "OTHER",
    "TRANSFER_LATENESS",
    "Counts",
    "Histogram",
    "OfOneQueue",
]

#: The upper bounds of the buckets, in seconds: for lateness, from 1 ms to a day.
LATENESS = (0.001, 0.01, 0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 86400.0)
TRANSFER_LATENESS = (0.001, 0.01, 0.1, 1.0, 60.0, 3600.0)
HANDLING = (0.01, 0.1, 0.5, 2.5, 10.0, 60.0)
#: How many handlers of a queue, and how many queues, have their own figures. All others count as ``OTHER``.
MOST_HANDLERS = 3
MOST_QUEUES = 100
OTHER = "other"


class Histogram:
    """The number of amounts in each bucket, and their sum. The last bucket has no upper bound."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.buckets = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, amount: float) -> None:
        self.buckets[bisect_left(self.bounds, amount)] += 1
        self.sum += amount

    def add(self, other: Histogram) -> None:
        self.buckets = [mine + theirs for mine, theirs in zip(self.buckets, other.buckets, strict=True)]
        self.sum += other.sum


class OfOneQueue:
    """The figures of one queue."""

    def __init__(self) -> None:
        #: Plain counts, by the names of the metrics.
        self.counts: Counter[str] = Counter()
        self.settled: Counter[str] = Counter()
        self.lateness = Histogram(LATENESS)
        self.transfer_lateness = Histogram(TRANSFER_LATENESS)
        self.handling = Histogram(HANDLING)
        #: For each handler: how many of its calls succeeded, how many failed, how many seconds they took.
        self.handlers: dict[str, list[float]] = {}
        self.transfers = 0
        self.transfer_seconds = 0.0
        #: Whether this process moves the queue, or one of its partitions. None if it does not have the queue open.
        self.moves: bool | None = None
        #: How many seconds the oldest handling has gone on. None if no worker of this process has the queue.
        self.handling_oldest: float | None = None
        #: How many seconds a handler has made no progress. None if no worker of this process has the queue.
        self.stalled: float | None = None

    def handler(self, name: str) -> list[float]:
        """The figures of a handler."""
        found = self.handlers.get(name)
        if found is None:
            if len(self.handlers) >= MOST_HANDLERS:
                name = OTHER
            found = self.handlers.setdefault(name, [0, 0, 0.0])
        return found

    def add(self, other: OfOneQueue) -> None:
        """Adds the figures of another client to these."""
        self.counts.update(other.counts)
        self.settled.update(other.settled)
        for mine, theirs in (
            (self.lateness, other.lateness),
            (self.transfer_lateness, other.transfer_lateness),
            (self.handling, other.handling),
        ):
            mine.add(theirs)
        for name, figures in other.handlers.items():
            mine_of = self.handler(name)
            mine_of[:] = [mine + theirs for mine, theirs in zip(mine_of, figures, strict=True)]
        self.transfers += other.transfers
        self.transfer_seconds += other.transfer_seconds


class Counts(Tally):
    """The figures of one client, by queue. Any thread may update and read them.

    Values are counted as a :class:`Tally`, as an object for each of them would cost more than the counting.
    """

    kinds = (ValuesTaken, Undecodable, Expired, Moved, Subscribed)

    def __init__(self) -> None:
        #: The client's name mapper, which decides the names of partitions.
        self.name_mapper: NameMapper | None = None
        # Garbage collection may end a handle, which calls this observer while this thread holds the lock.
        self._lock = threading.RLock()
        #: By the reported name, which may be that of a partition.
        self._of: dict[str, OfOneQueue] = {}
        self._queues: dict[str, OfOneQueue] = {}
        self._subscribed: set[str] = set()

    # -- from the client ---------------------------------------------------------------------------------------------

    def offered(self, queue: str, count: int) -> None:
        with self._lock:
            self._queue(queue).counts["offers"] += count

    def transferred(self, queue: str, seconds: float, was_early: bool) -> None:
        with self._lock:
            found = self._queue(queue)
            found.transfers += 1
            found.transfer_seconds += seconds
            found.counts["early_arrivals"] += was_early

    def leased(self, queue: str, count: int, repeated: int, late_ms: Sequence[int]) -> None:
        with self._lock:
            found = self._queue(queue)
            found.counts["deliveries"] += count
            found.counts["redeliveries"] += repeated
            for late in late_ms:
                found.lateness.observe(max(0, late) / 1000)

    def settled(self, queue: str, outcome: SettleOutcome) -> None:
        with self._lock:
            found = self._of.get(queue) or self._queue(queue)
            # Hashing the enum member itself would take a call.
            found.settled[outcome._value_] += 1

    def handled(self, queue: str, handler: str, seconds: float, failed: bool) -> None:
        with self._lock:
            found = self._of.get(queue) or self._queue(queue)
            # This runs for each value of a worker, so it makes as few calls as possible.
            found.handling.buckets[bisect_left(HANDLING, seconds)] += 1
            found.handling.sum += seconds
            of_handler = found.handlers.get(handler) or found.handler(handler)
            of_handler[failed] += 1
            of_handler[2] += seconds

    def __call__(self, happening: Happening) -> None:
        assert isinstance(happening, OfQueue)
        with self._lock:
            found = self._queue(happening.queue)
            counts = found.counts
            if isinstance(happening, ValuesTaken):
                counts["deliveries"] += happening.count
            elif isinstance(happening, Undecodable):
                counts["undecodable"] += happening.count
            elif isinstance(happening, Expired):
                counts["expired_here"] += happening.count
            elif isinstance(happening, Moved):
                counts["moved"] += happening.count
                if happening.late_by is not None:
                    found.transfer_lateness.observe(max(timedelta(0), happening.late_by).total_seconds())
            elif isinstance(happening, Subscribed):
                counts["resubscriptions"] += happening.queue in self._subscribed
                if len(self._subscribed) < MOST_QUEUES * MOST_QUEUES:
                    self._subscribed.add(happening.queue)

    # -- for a page --------------------------------------------------------------------------------------------------

    def add_to(self, page: dict[str, OfOneQueue], roles: Mapping[str, Role]) -> None:
        """Adds the figures to those of other clients. ``roles`` are the current roles of this client."""
        with self._lock:
            for name, figures in self._queues.items():
                _bounded(page, name).add(figures)
            for name, role in roles.items():
                found = _bounded(page, self._whole(name))
                found.moves = bool(found.moves) or role is not Role.RESERVE

    def _whole(self, name: str) -> str:
        """The name of the queue that a partition with this name belongs to, else the name itself."""
        found = whole_of(name, self.name_mapper)
        return name if found is None else found[0]

    def _queue(self, name: str) -> OfOneQueue:
        found = self._of.get(name)
        if found is None:
            found = _bounded(self._queues, self._whole(name))
            # The number of names has no limit. A name that is not remembered is looked up again.
            if len(self._of) < MOST_QUEUES * MOST_QUEUES:
                self._of[name] = found
        return found


def _bounded(queues: dict[str, OfOneQueue], name: str) -> OfOneQueue:
    """The figures of a queue, or those shared by all queues beyond the limit."""
    if name not in queues and len(queues) >= MOST_QUEUES:
        name = OTHER
    return queues.setdefault(name, OfOneQueue()) if name not in queues else queues[name]
