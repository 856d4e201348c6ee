"""Measures peers one after the other on one server, of whose data nothing is kept.

Each part of the figures starts with an empty server and new processes; a worker has handled its warm-up before anything
counts. Only one peer runs at a time, and within it one part.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import redis

from tests.benchmarks.peers import figures
from tests.benchmarks.peers.commands import connections, watched
from tests.benchmarks.peers.figures import Drain, Job, Lateness, PeerFigures, PeerSettings
from tests.benchmarks.peers.peer import Peer
from tests.benchmarks.peers.processes import Background, PeerFailed, Producer, Worker

__all__ = ["measure"]

# A worker may take so long to start and to handle its warm-up.
_START = 60.0
# A counted pass is as dense as a lateness pass, and a quarter of it.
_COUNTED_SHARE = 0.25
# Jobs that do not fall due while anything is measured.
_FAR_MS = 3_600_000


def measure(
    server: Any, peers: Sequence[Peer], settings: PeerSettings, say: Callable[[str], None]
) -> list[PeerFigures]:
    """Every peer in every repetition, on ``server``, an EmbeddedServer. Another one goes first each time.

    One that cannot be installed or does not run is told with ``say``, and has no figures in that repetition.
    """
    found = []
    ready = [peer for peer in peers if _is_prepared(peer, say)]
    for repetition in range(settings.repeat):
        first = repetition % max(1, len(ready))
        for peer in [*ready[first:], *ready[:first]]:
            try:
                found.append(_Run(server.url, peer, settings, repetition, say).figures())
            except PeerFailed as error:
                say(f"{peer.name} failed: {error}")
    return found


def _is_prepared(peer: Peer, say: Callable[[str], None]) -> bool:
    try:
        peer.prepare()
    except RuntimeError as error:
        say(f"{peer.name} is left out: {error}")
        return False
    return True


@attrs.frozen
class _Run:
    """One peer in one repetition."""

    url: str
    peer: Peer
    settings: PeerSettings
    repetition: int
    say: Callable[[str], None]

    def figures(self) -> PeerFigures:
        versions, pings, rate, bulk_rate = self._rates()
        to_enqueue, to_handle, idle = self._commands(rate)
        return PeerFigures(
            peer=self.peer.name,
            repetition=self.repetition,
            versions=versions,
            pings=pings,
            enqueued=rate,
            enqueued_in_bulk=bulk_rate,
            lateness=self._lateness(rate, 0),
            lateness_under_load=self._lateness(rate, self.settings.load) if self.settings.load else None,
            commands_to_enqueue=to_enqueue,
            commands_to_handle=to_handle,
            idle=idle,
            drain=self._drain(bulk_rate or rate) if self.settings.drained else None,
            orphaned=self._orphaned() if self.settings.orphaned else None,
        )

    # -- the parts

    def _rates(self) -> tuple[dict[str, str], float | None, float, float | None]:
        """Versions, and a second: PING, jobs one by one, jobs in bulk."""
        count = self.settings.enqueued
        with self._part("enqueueing") as (admin, folder), Producer(self.peer, self.url, folder) as producer:
            pings = self.settings.pings / producer.ping(self.settings.pings) if self.peer.pings else None
            rates = []
            for bulk in (False, True) if self.peer.bulk else (False,):
                producer.enqueue(_far(self.settings.warm_up), bulk=bulk)
                admin.flushall()
                rates.append(count / producer.enqueue(_far(count), bulk=bulk))
                admin.flushall()
            return producer.versions, pings, rates[0], rates[1] if self.peer.bulk else None

    def _lateness(self, rate: float, load: int) -> Lateness:
        jobs = self.settings.jobs
        label = f"lateness beside {load:,} commands a second" if load else "lateness"
        with self._working(label) as (_, producer, worker):
            if not load:
                behind_ms = self._handle_random(producer, worker, jobs, self.settings.seconds, rate)
                return figures.lateness(worker.marks(), jobs, behind_ms)
            with Background(self.url, load) as background:
                # With half the machine: the load has the other half.
                behind_ms = self._handle_random(producer, worker, jobs, self.settings.seconds, rate / 2)
            return figures.lateness(worker.marks(), jobs, behind_ms, background.reached)

    def _commands(self, rate: float) -> tuple[float, float, dict[str, float]]:
        """For a job: what the producer sends, what the worker sends; and by name what an idle worker sends a second."""
        settings = self.settings
        jobs = max(1, round(settings.jobs * _COUNTED_SHARE))
        with self._working("commands") as (admin, producer, worker):
            with watched(admin) as sent:
                self._handle_random(producer, worker, jobs, settings.seconds * _COUNTED_SHARE, rate)
            enqueueing = sum(count for (address, _), count in sent.items() if address in producer.addresses)
            handled = max(1, len({mark.number for mark in worker.marks() if mark.due_ms is not None}))
            time.sleep(settings.settle_seconds)
            with watched(admin) as resting:
                time.sleep(settings.idle_seconds)
        idle: Counter[str] = Counter()
        for (address, name), count in resting.items():
            if address not in producer.addresses:
                idle[name] += count
        return (
            enqueueing / jobs,
            (sent.total() - enqueueing) / handled,
            {name: count / settings.idle_seconds for name, count in idle.most_common()},
        )

    def _drain(self, rate: float) -> Drain:
        jobs = self.settings.drained
        with self._working("drain") as (_, producer, worker):
            # A whole second: some keep nothing finer.
            due_ms = math.ceil(time.time() + figures.lead_seconds(jobs, rate)) * 1000
            producer.enqueue([(number, due_ms) for number in range(jobs)], bulk=bool(self.peer.bulk))
            behind_ms = max(0, _now_ms() - due_ms)
            self._wait(worker, jobs, due_ms)
            return figures.drain(worker.marks(), jobs, behind_ms)

    def _orphaned(self) -> int:
        jobs = self.settings.orphaned
        with self._working("a killed worker") as (_, producer, worker):
            due_ms = _now_ms() + round(2 * self.settings.kill_seconds * 1000)
            producer.enqueue([(number, due_ms) for number in range(jobs)])
            _sleep_until(due_ms - self.settings.kill_seconds * 1000)
            worker.kill()
            worker.start()
            self._wait(worker, jobs, due_ms, self.settings.orphaned_seconds)
            return figures.lateness(worker.marks(), jobs).handled

    # -- what they have in common

    @contextmanager
    def _part(self, label: str) -> Iterator[tuple[redis.Redis, Path]]:
        """An empty server, and a folder for logs and marks."""
        self.say(f"peers {self.repetition + 1}/{self.settings.repeat}: {self.peer.name}, {label}")
        # MONITOR may be silent for longer than redis-py's own time limit.
        with redis.Redis.from_url(self.url, socket_timeout=None) as admin:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                admin.flushall()
                yield admin, Path(folder)

    @contextmanager
    def _working(self, label: str) -> Iterator[tuple[redis.Redis, Producer, Worker]]:
        """A producer, and a worker that has handled the warm-up and has one job to wait for."""
        count = max(1, self.settings.warm_up)
        with self._part(label) as (admin, folder), Producer(self.peer, self.url, folder) as producer:
            # With one job that waits all the while: some open a connection more for those.
            producer.enqueue([*_far(1), *((number, None) for number in range(count))])
            # The worker has none yet.
            producer.addresses = connections(admin)
            with Worker(self.peer, self.url, folder) as worker:
                deadline = time.monotonic() + _START
                while len({mark.number for mark in worker.marks()}) < count:
                    worker.check()
                    if time.monotonic() > deadline:
                        raise PeerFailed(f"{self.peer.name} did not handle its warm-up: {worker.last_words()}")
                    time.sleep(0.02)
                time.sleep(self.settings.after_seconds)
                yield admin, producer, worker

    def _handle_random(self, producer: Producer, worker: Worker, jobs: int, seconds: float, rate: float) -> int:
        """Has jobs enqueued and handled that fall due at random; by how many ms the first was due before the last
        one was enqueued, which is the producer's fault."""
        start_ms = _now_ms() + round(figures.lead_seconds(jobs, rate) * 1000)
        wanted = figures.due_within(start_ms, jobs, seconds, self.repetition)
        producer.enqueue(wanted)
        behind_ms = max(0, _now_ms() - start_ms)
        self._wait(worker, jobs, start_ms + round(seconds * 1000))
        return behind_ms

    def _wait(self, worker: Worker, jobs: int, due_ms: int, cap: float | None = None) -> None:
        """Until the jobs were handled, or for the cap after the last due time."""
        deadline_ms = due_ms + (self.settings.cap_seconds if cap is None else cap) * 1000
        while _now_ms() < deadline_ms:
            worker.check()
            if len({mark.number for mark in worker.marks() if mark.due_ms is not None}) == jobs:
                break
            time.sleep(0.25)
        time.sleep(self.settings.after_seconds)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _sleep_until(at_ms: float) -> None:
    time.sleep(max(0.0, at_ms / 1000 - time.time()))


def _far(count: int) -> list[Job]:
    due_ms = _now_ms() + _FAR_MS
    return [(number, due_ms) for number in range(count)]
