"""SIGTERM while jobs are handled: lost jobs, interrupted jobs, and counted attempts."""

from __future__ import annotations

import time
from collections import Counter

import attrs

from tests.benchmarks.peers.busy import SLOTS
from tests.benchmarks.peers.processes import Worker
from tests.benchmarks.peers.stage import START, Stage

__all__ = ["Stopped", "measure"]

# How long one job takes, and how many have begun when the signal comes.
_SECONDS = 0.25
_BEGUN = 2 * SLOTS
# How long a worker may take to stop.
_GRACE = 30.0


@attrs.frozen(kw_only=True)
class Stopped:
    """What became of the jobs, when the next worker had its time."""

    jobs: int
    #: Whether it ended by itself, and after how many seconds.
    in_time: bool
    seconds: float
    #: Jobs that never finished, and jobs that began without finishing.
    lost: int
    cut: int
    #: Of how many the library says that the attempt that came to its end was not the first; None where it says nothing.
    counted: int | None


def measure(stage: Stage) -> Stopped:
    """Stops a worker with ``SLOTS`` slots, starts the next one, whose jobs take no time, and waits for all of them."""
    settings, jobs = stage.settings, stage.settings.stopped
    with stage.backlog("SIGTERM", jobs) as (_, folder):
        slow = {"BENCHMARK_SECONDS": str(_SECONDS), "BENCHMARK_SLOTS": str(SLOTS)}
        with Worker(stage.peer, stage.url, folder, stage.peer.with_slots, slots=SLOTS, **slow) as worker:
            worker.until(min(_BEGUN, jobs // 2), START)
            began = time.monotonic()
            in_time = worker.terminate(_GRACE)
            seconds = time.monotonic() - began
        # Not quite 0 seconds, because their ends are noted too.
        quick = {**slow, "BENCHMARK_SECONDS": "0.001"}
        with Worker(stage.peer, stage.url, folder, stage.peer.with_slots, slots=SLOTS, **quick) as worker:
            deadline = time.monotonic() + settings.stopped_seconds
            while len({number for number, _ in worker.ends()}) < jobs and time.monotonic() < deadline:
                time.sleep(0.1)
            time.sleep(settings.after_seconds)
            ends, begun = worker.ends(), Counter(mark.number for mark in worker.marks())
    attempts = [attempt for _, attempt in ends if attempt is not None]
    return Stopped(
        jobs=jobs,
        in_time=in_time,
        seconds=seconds,
        lost=jobs - len({number for number, _ in ends}),
        cut=begun.total() - len(ends),
        counted=sum(attempt > 1 for attempt in attempts) if attempts else None,
    )
