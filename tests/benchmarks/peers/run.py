"""Measures peers one after the other on one server, whose data is deleted.

Each part of the figures starts with an empty server and new processes; a worker has handled its warm-up before anything
counts. Only one peer runs at a time, and within it one part.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import attrs

from redisson_dq.embedded import EmbeddedServer
from tests.benchmarks.kept import Kept
from tests.benchmarks.peers import busy, figures, footprint, killed, ready, stopped, stored
from tests.benchmarks.peers.commands import watched
from tests.benchmarks.peers.figures import Drain, Lateness, PeerSettings
from tests.benchmarks.peers.killed import Killed
from tests.benchmarks.peers.peer import WORKERS, Peer
from tests.benchmarks.peers.processes import Background, PeerFailed, Producer
from tests.benchmarks.peers.results import PeerFigures
from tests.benchmarks.peers.stage import Say, Stage, far, now_ms, sleep_until

__all__ = ["measure"]

T = TypeVar("T")

# A counted pass is as dense as a lateness pass, and a quarter of it.
_COUNTED_SHARE = 0.25


def measure(server: Any, peers: Sequence[Peer], settings: PeerSettings, say: Say, kept: Kept) -> list[PeerFigures]:
    """Every peer in every repetition, on ``server``, an EmbeddedServer. Another one goes first each time.

    A peer that cannot be installed or does not run is reported with ``say``, and has no figures in that repetition.
    """
    found = []
    prepared = [peer for peer in peers if _is_prepared(peer, say)]
    for repetition in range(settings.repeat):
        first = repetition % max(1, len(prepared))
        for peer in [*prepared[first:], *prepared[:first]]:
            try:
                run = _Run(Stage(server.url, peer, settings, repetition, say))
                found.append(kept.of(f"{repetition} {peer.name}", run.figures))
            except PeerFailed as error:
                say(f"{peer.name} failed: {error}")
    if settings.held:
        workers = [peer for peer in prepared if peer.is_worker]
        names = " ".join(peer.name for peer in workers)
        deaths = kept.of(f"deaths {names}", lambda: _deaths(server, workers, settings, say))
        found = [attrs.evolve(one, killed=deaths.get(one.peer, [])) for one in found]
    return found


def _deaths(server: Any, peers: Sequence[Peer], settings: PeerSettings, say: Say) -> dict[str, list[Killed]]:
    """Once for each peer. Jobs of our workers come back within seconds, so these run one after the other. The other
    peers are waited for together, each on its own server."""

    def on_its_own(peer: Peer, supervised: bool) -> Killed | None:
        with EmbeddedServer(server.program) as own:
            stage = Stage(own.url, peer, settings, 0, say)
            return _tried(lambda: killed.measure(stage, supervised=supervised), say)

    deaths = [(peer, supervised) for peer in peers for supervised in (False, True) if peer.supervised or not supervised]
    found: dict[str, list[Killed]] = {peer.name: [] for peer in peers}
    rest = [(peer, supervised) for peer, supervised in deaths if peer.name not in WORKERS]
    with ThreadPoolExecutor(max(1, len(rest))) as pool:
        for peer, supervised in deaths:
            if peer.name in WORKERS and (one := on_its_own(peer, supervised)) is not None:
                found[peer.name].append(one)
        for (peer, _), other in zip(rest, pool.map(lambda death: on_its_own(*death), rest), strict=True):
            if other is not None:
                found[peer.name].append(other)
    return found


def _tried(measured: Callable[[], T], say: Say) -> T | None:
    """If one part fails, the other figures of the peer are kept."""
    try:
        return measured()
    except PeerFailed as error:
        say(f"left out: {error}")
        return None


def _is_prepared(peer: Peer, say: Callable[[str], None]) -> bool:
    try:
        peer.environment.prepare()
    except RuntimeError as error:
        say(f"{peer.name} is left out: {error}")
        return False
    return True


@attrs.frozen
class _Run:
    """One peer in one repetition."""

    stage: Stage

    @property
    def peer(self) -> Peer:
        return self.stage.peer

    @property
    def settings(self) -> PeerSettings:
        return self.stage.settings

    def figures(self) -> PeerFigures:
        settings = self.settings
        versions, pings, rate, bulk_rate = self._rates()
        to_enqueue, to_handle, idle = self._commands(rate)
        return PeerFigures(
            peer=self.peer.name,
            repetition=self.stage.repetition,
            versions=versions,
            pings=pings,
            enqueued=rate,
            enqueued_in_bulk=bulk_rate,
            lateness=self._lateness(rate, 0),
            lateness_under_load=self._lateness(rate, settings.load) if settings.load else None,
            commands_to_enqueue=to_enqueue,
            commands_to_handle=to_handle,
            idle=idle,
            drain=self._drain(bulk_rate or rate) if settings.drained else None,
            orphaned=self._orphaned() if settings.orphaned else None,
            ready=self._of_worker(ready.measure, settings.ready),
            commands_busy=self._of_worker(busy.measure, settings.busy),
            stopped=self._of_worker(stopped.measure, settings.stopped),
            footprint=self._of_worker(footprint.measure, settings.imports),
            stored=(_tried(lambda: stored.measure(self.stage), self.stage.say) or {}) if settings.stored else {},
        )

    def _of_worker(self, measured: Callable[[Stage], T], wanted: int) -> T | None:
        if not wanted or not self.peer.is_worker:
            return None
        return _tried(lambda: measured(self.stage), self.stage.say)

    # -- the parts ---------------------------------------------------------------------------------------------------

    def _rates(self) -> tuple[dict[str, str], float | None, float, float | None]:
        """Versions, and a second: PING, jobs one by one, jobs in bulk."""
        count = self.settings.enqueued
        with self.stage.part("enqueueing") as (admin, folder), Producer(self.peer, self.stage.url, folder) as producer:
            pings = self.settings.pings / producer.ping(self.settings.pings) if self.peer.pings else None
            rates = []
            for bulk in (False, True) if self.peer.bulk else (False,):
                producer.enqueue(far(self.settings.warm_up), bulk=bulk)
                admin.flushall()
                rates.append(count / producer.enqueue(far(count), bulk=bulk))
                admin.flushall()
            return producer.versions, pings, rates[0], rates[1] if self.peer.bulk else None

    def _lateness(self, rate: float, load: int) -> Lateness:
        jobs = self.settings.jobs
        label = f"lateness beside {load:,} commands a second" if load else "lateness"
        with self.stage.working(label) as (_, producer, worker):
            if not load:
                behind_ms = self.stage.handle_random(producer, worker, jobs, self.settings.seconds, rate)
                return figures.lateness(worker.marks(), jobs, behind_ms)
            with Background(self.stage.url, load) as background:
                # With half the machine: the load has the other half.
                behind_ms = self.stage.handle_random(producer, worker, jobs, self.settings.seconds, rate / 2)
            return figures.lateness(worker.marks(), jobs, behind_ms, background.reached)

    def _commands(self, rate: float) -> tuple[float, float, dict[str, float]]:
        """For a job: what the producer sends, what the worker sends; and by name what an idle worker sends a second."""
        settings = self.settings
        jobs = max(1, round(settings.jobs * _COUNTED_SHARE))
        with self.stage.working("commands") as (admin, producer, worker):
            with watched(admin) as sent:
                self.stage.handle_random(producer, worker, jobs, settings.seconds * _COUNTED_SHARE, rate)
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
        with self.stage.working("drain") as (_, producer, worker):
            # A whole second: some keep nothing finer.
            due_ms = math.ceil(time.time() + figures.lead_seconds(jobs, rate)) * 1000
            producer.enqueue([(number, due_ms) for number in range(jobs)], bulk=bool(self.peer.bulk))
            behind_ms = max(0, now_ms() - due_ms)
            self.stage.wait(worker, jobs, due_ms)
            return figures.drain(worker.marks(), jobs, behind_ms)

    def _orphaned(self) -> int:
        jobs = self.settings.orphaned
        with self.stage.working("a killed worker") as (_, producer, worker):
            due_ms = now_ms() + round(2 * self.settings.kill_seconds * 1000)
            producer.enqueue([(number, due_ms) for number in range(jobs)])
            sleep_until(due_ms - self.settings.kill_seconds * 1000)
            worker.kill()
            worker.start()
            self.stage.wait(worker, jobs, due_ms, self.settings.orphaned_seconds)
            return figures.lateness(worker.marks(), jobs).handled
