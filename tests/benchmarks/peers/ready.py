"""How many jobs a second a worker handles. The jobs do nothing, and all are ready before it starts."""

from __future__ import annotations

import time
from collections.abc import Sequence

import attrs

from tests.benchmarks.peers.figures import Mark
from tests.benchmarks.peers.peer import Programs
from tests.benchmarks.peers.processes import Worker
from tests.benchmarks.peers.stage import START, Stage

__all__ = ["SLOTS", "Ready", "measure", "rate"]

#: Of one process.
SLOTS = (8, 100)
# The first ones come while other processes still start.
_STARTING = 0.1


@attrs.frozen(kw_only=True)
class Ready:
    """Jobs a second, of one process and of two; and of one process by its slots."""

    one: float
    two: float
    slots: dict[int, float] = attrs.field(factory=dict)


def measure(stage: Stage) -> Ready:
    """Of all jobs, or of those that were handled until the time was over."""
    peer = stage.peer
    return Ready(
        one=_rate(stage, "ready jobs, one process", peer.one_process),
        two=_rate(stage, "ready jobs, two processes", peer.two_processes),
        slots={
            slots: _rate(stage, f"ready jobs, {slots} slots", peer.with_slots, slots, BENCHMARK_SLOTS=str(slots))
            for slots in SLOTS
            if slots <= peer.most_slots
        },
    )


def _rate(stage: Stage, label: str, programs: Programs, slots: int = 8, **environment: str) -> float:
    jobs = stage.settings.ready
    with (
        stage.backlog(label, jobs) as (_, folder),
        Worker(stage.peer, stage.url, folder, programs, slots=slots, **environment) as worker,
    ):
        worker.until(1, START)
        deadline = time.monotonic() + stage.settings.ready_seconds
        while len(marks := worker.marks()) < jobs and time.monotonic() < deadline:
            worker.check()
            time.sleep(0.25)
        return rate(marks)


def rate(marks: Sequence[Mark]) -> float:
    """Jobs a second between two of the marks: the last one, and one after the start."""
    times = sorted(mark.at_us for mark in marks)
    first = round(len(times) * _STARTING)
    return 1e6 * (len(times) - 1 - first) / max(1, times[-1] - times[first])
