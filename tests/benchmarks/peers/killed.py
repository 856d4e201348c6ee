"""kill -9 of a worker with jobs in hand: how many of them are handled again, and by when."""

from __future__ import annotations

import time
from collections.abc import Sequence

import attrs

from tests.benchmarks.peers.figures import Mark
from tests.benchmarks.peers.processes import Worker
from tests.benchmarks.peers.stage import START, Stage

__all__ = ["Killed", "again", "measure"]


@attrs.frozen(kw_only=True)
class Killed:
    """What became of the jobs that were in hand when the process was killed."""

    #: Whether its supervisor survived. If not, another worker was started at once.
    supervised: bool
    jobs: int
    handled: int
    #: From the kill until the last of them was begun again; None where none was.
    seconds: float | None
    #: How long it was waited for them.
    waited: float


def measure(stage: Stage, *, supervised: bool) -> Killed:
    """Kills the worker and starts another one, or kills what its supervisor has started."""
    settings, peer = stage.settings, stage.peer
    jobs = min(settings.held, peer.most_slots)
    label = f"{jobs} in hand{', supervised' if supervised else ''}"
    with stage.backlog(label, jobs) as (_, folder):
        hold = folder / "hold"
        hold.touch()
        told = {"BENCHMARK_HOLD": str(hold), "BENCHMARK_SLOTS": str(jobs)}
        programs = peer.supervised if supervised else peer.with_slots
        with Worker(peer, stage.url, folder, programs, slots=jobs, **told) as worker:
            worker.until(jobs, START)
            at_us = time.time_ns() // 1000
            if supervised:
                worker.kill_children()
            else:
                worker.kill()
            # Jobs that come again end at once.
            hold.unlink()
            if not supervised:
                worker.start()
            deadline = time.monotonic() + settings.held_seconds
            while len(again(worker.marks(), at_us)) < jobs and time.monotonic() < deadline:
                time.sleep(0.05)
            times = again(worker.marks(), at_us)
    return Killed(
        supervised=supervised,
        jobs=jobs,
        handled=len(times),
        seconds=max(times) if times else None,
        waited=settings.held_seconds,
    )


def again(marks: Sequence[Mark], at_us: int) -> list[float]:
    """After how many seconds each job was begun that was begun after a moment, for the first time."""
    first: dict[int, int] = {}
    for mark in marks:
        if mark.at_us > at_us:
            first.setdefault(mark.number, mark.at_us)
    return [(one - at_us) / 1e6 for one in first.values()]
