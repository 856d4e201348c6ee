"""The settings of a run, and the arithmetic of its figures."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

import attrs

from redisson_dq.embedded import EmbeddedServer
from tests.benchmarks.kept import Kept
from tests.peer import JavaPeer

__all__ = [
    "ASYNCIO",
    "DEFAULT",
    "JAVA_ENTRIES",
    "LEAN",
    "LONG_GROWTH",
    "Many",
    "QUICK",
    "REDISSON",
    "SYNC",
    "Run",
    "Settings",
    "Sizes",
    "Spread",
    "percentile",
    "ratios",
]

#: The three main subjects, as named in every table and the JSON.
REDISSON = "Redisson"
SYNC = "redisson_dq"
ASYNCIO = "redisson_dq.aio"
#: This library on entries that are not in the envelope list, and on entries written by Redisson.
LEAN = "redisson_dq lean"
JAVA_ENTRIES = "redisson_dq, Java's entries"


@attrs.frozen(kw_only=True)
class Many:
    """The number of queues in a process, in a worker and with a thread on each."""

    worker: tuple[int, ...]
    threads: tuple[int, ...]


@attrs.frozen(kw_only=True)
class Sizes:
    """The sizes of the measurements of scale."""

    #: Drained items, the most that Redisson drains, and the seconds that each drain may take.
    drains: tuple[int, ...]
    redisson_drains: int
    drain_limit: float
    #: A few due items among many: the due ones and the waiting ones.
    due: int
    waiting: tuple[int, ...]
    #: Due items with a backlog: the waiting ones, those just offered, and those that fall due one by one.
    backlogs: tuple[int, ...]
    fresh: int
    old: int
    #: Processes on one queue, Redisson clients on one queue, and for the takeover, processes and kills.
    processes: tuple[int, ...]
    redisson_clients: tuple[int, ...]
    movers: int
    kills: int
    #: Background items a second while lateness is measured.
    background: int
    #: Items in the server and the bytes of their values; queues and waiting tasks in one client.
    stored: int
    value_bytes: tuple[int, ...]
    queues: tuple[int, ...]
    tasks: int
    #: Partitions of a queue, items offered and drained there.
    partitions: tuple[int, ...]
    partitioned: int
    #: By the name of a curve of growth.py: its sizes.
    growth: Mapping[str, tuple[int, ...]]
    many: Many
    #: The seconds that an idle client is watched: there is one probe of its subscription each half minute.
    idle: float


DEFAULT = Sizes(
    drains=(5_000, 50_000, 200_000),
    redisson_drains=50_000,
    drain_limit=60.0,
    due=100,
    waiting=(10_000, 100_000, 1_000_000),
    backlogs=(0, 100_000, 1_000_000),
    fresh=1000,
    old=250,
    processes=(1, 4, 16, 64),
    redisson_clients=(1, 4),
    movers=8,
    kills=20,
    background=5_000,
    stored=200_000,
    value_bytes=(16, 100, 1_000),
    queues=(1, 1_000, 10_000),
    tasks=5_000,
    partitions=(1, 2, 4, 8),
    partitioned=50_000,
    growth={
        "backlog": (1_000, 10_000, 100_000),
        "queues": (1, 10, 100),
        "worker": (1, 10, 100),
        "processes": (1, 4, 16),
        "value size": (10, 1_000, 100_000),
        "rate": (10, 100, 1_000),
        "partitions": (1, 4, 16),
    },
    many=Many(worker=(1, 100, 300), threads=(1, 500)),
    idle=30.0,
)

#: The curves of ``--full``, which take an hour and some 20 GB.
LONG_GROWTH = {
    "backlog": (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
    "queues": (1, 10, 100, 500, 1_000),
    "worker": (1, 10, 100, 300),
    "processes": (1, 4, 16, 64),
    "value size": (10, 1_000, 100_000, 1_000_000, 10_000_000),
    "rate": (10, 100, 1_000, 5_000, 20_000),
    "partitions": (1, 4, 16, 64),
}

QUICK = Sizes(
    drains=(300,),
    redisson_drains=300,
    drain_limit=20.0,
    due=10,
    waiting=(1_000,),
    backlogs=(0, 1_000),
    fresh=20,
    old=10,
    processes=(1, 2),
    redisson_clients=(1, 2),
    movers=2,
    kills=1,
    background=500,
    stored=2_000,
    value_bytes=(16,),
    queues=(1, 20),
    tasks=50,
    partitions=(1, 2),
    partitioned=500,
    growth={
        "backlog": (100, 1_000),
        "queues": (1, 3),
        "worker": (1, 3),
        "processes": (1, 2),
        "value size": (10, 1_000),
        "rate": (20, 40),
        "partitions": (1, 2),
    },
    many=Many(worker=(1, 3), threads=(1, 3)),
    idle=1.0,
)


@attrs.frozen(kw_only=True)
class Settings:
    """The amounts to measure."""

    #: Items of one lateness pass, the seconds over which they are spread, and the uncounted items before it.
    items: int
    seconds: float
    warm_up: int
    #: Passes of each subject. Rates are measured three times as often, because each takes a fraction of a second.
    repeat: int
    #: Calls of one slice of single offers, items of one bulk slice, items of one slice of Redisson's offers.
    offers: int
    bulk: int
    redisson_offers: int
    #: The seconds of a codec for one value in one direction, in each round.
    slice_ms: int
    java: bool
    sizes: Sizes
    #: The folder of a checkout that is measured alternating with this one.
    against: str | None = None

    @property
    def rounds(self) -> int:
        """The number of measurements of each rate."""
        return 3 * self.repeat


@attrs.frozen(kw_only=True)
class Run:
    """The resources of a measurement: a server whose data may be deleted, and a JVM with Redisson unless left out."""

    server: EmbeddedServer
    peer: JavaPeer | None
    settings: Settings
    say: Callable[[str], None]
    kept: Kept


@attrs.frozen(kw_only=True)
class Spread:
    """Repetitions of a figure: median, minimum and maximum."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> Spread:
        return cls(median=statistics.median(figures), low=min(figures), high=max(figures))

    def text(self, digits: int) -> str:
        """``0.53 (0.50 to 0.61)``."""
        if self.low == self.high:
            return f"{self.median:,.{digits}f}"
        return f"{self.median:,.{digits}f} ({self.low:,.{digits}f} to {self.high:,.{digits}f})"


def percentile(figures: Sequence[float], share: float) -> float:
    """The nearest rank: the smallest figure that at least ``share`` percent of all do not exceed."""
    ordered = sorted(figures)
    return ordered[max(0, math.ceil(share / 100 * len(ordered)) - 1)]


def ratios(figures: Sequence[float], beside: Sequence[float]) -> Spread:
    """The ratio in each round, so that a slow second of the machine affects both sides."""
    return Spread.of([mine / theirs for mine, theirs in zip(figures, beside, strict=True)])
