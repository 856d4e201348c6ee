"""The stage for one peer: an empty server, new processes, and the waits of a measurement.

A worker has handled its warm-up before anything counts, or has enough jobs before it that the first ones need not.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import redis

from tests.benchmarks.peers import figures
from tests.benchmarks.peers.commands import connections
from tests.benchmarks.peers.figures import Job, PeerSettings
from tests.benchmarks.peers.peer import Peer
from tests.benchmarks.peers.processes import Producer, Worker

__all__ = ["START", "Say", "Stage", "far", "now_ms", "sleep_until"]

#: A worker may take so long to start and to handle its warm-up.
START = 60.0
# Jobs that do not fall due while anything is measured.
_FAR_MS = 3_600_000

Say = Callable[[str], None]


@attrs.frozen
class Stage:
    """One peer in one repetition."""

    url: str
    peer: Peer
    settings: PeerSettings
    repetition: int
    say: Say

    @contextmanager
    def part(self, label: str) -> Iterator[tuple[redis.Redis, Path]]:
        """An empty server, and a folder for logs and marks."""
        self.say(f"peers {self.repetition + 1}/{self.settings.repeat}: {self.peer.name}, {label}")
        # MONITOR may be silent for longer than redis-py's own time limit.
        with redis.Redis.from_url(self.url, socket_timeout=None) as admin:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                admin.flushall()
                yield admin, Path(folder)

    @contextmanager
    def working(self, label: str) -> Iterator[tuple[redis.Redis, Producer, Worker]]:
        """A producer, and a worker that has handled the warm-up and has one job to wait for."""
        count = max(1, self.settings.warm_up)
        with self.part(label) as (admin, folder), Producer(self.peer, self.url, folder) as producer:
            # With a waiting job all the time, because some peers open a further connection for it.
            producer.enqueue([*far(1), *((number, None) for number in range(count))])
            # The worker has none yet.
            producer.addresses = connections(admin)
            with Worker(self.peer, self.url, folder) as worker:
                worker.until(count, START)
                time.sleep(self.settings.after_seconds)
                yield admin, producer, worker

    @contextmanager
    def backlog(self, label: str, jobs: int) -> Iterator[tuple[redis.Redis, Path]]:
        """With so many jobs that are ready, and no worker yet."""
        with self.part(label) as (admin, folder), Producer(self.peer, self.url, folder) as producer:
            producer.enqueue([(number, None) for number in range(jobs)], bulk=bool(self.peer.bulk))
            yield admin, folder

    def handle_random(self, producer: Producer, worker: Worker, jobs: int, seconds: float, rate: float) -> int:
        """Has jobs enqueued and handled that fall due at random; by how many ms the first was due before the last
        one was enqueued, which is the producer's fault."""
        start_ms = now_ms() + round(figures.lead_seconds(jobs, rate) * 1000)
        wanted = figures.due_within(start_ms, jobs, seconds, self.repetition)
        producer.enqueue(wanted)
        behind_ms = max(0, now_ms() - start_ms)
        self.wait(worker, jobs, start_ms + round(seconds * 1000))
        return behind_ms

    def wait(self, worker: Worker, jobs: int, due_ms: int, cap: float | None = None) -> None:
        """Until the jobs were handled, or for the cap after the last due time."""
        deadline_ms = due_ms + (self.settings.cap_seconds if cap is None else cap) * 1000
        while now_ms() < deadline_ms:
            worker.check()
            if len({mark.number for mark in worker.marks() if mark.due_ms is not None}) == jobs:
                break
            time.sleep(0.25)
        time.sleep(self.settings.after_seconds)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def sleep_until(at_ms: float) -> None:
    time.sleep(max(0.0, at_ms / 1000 - time.time()))


def far(count: int) -> list[Job]:
    due_ms = now_ms() + _FAR_MS
    return [(number, due_ms) for number in range(count)]
