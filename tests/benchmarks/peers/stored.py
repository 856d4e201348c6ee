"""Server memory of each job that waits: MEMORY USAGE of all keys of the library, in each layout that it has."""

from __future__ import annotations

from typing import Any

from tests.benchmarks.peers.figures import Job
from tests.benchmarks.peers.processes import Producer
from tests.benchmarks.peers.stage import Stage, now_ms

__all__ = ["bytes_each", "measure"]

# The jobs fall due from here on, a second apart.
_FIRST_MS = 3_600_000


def measure(stage: Stage) -> dict[str, float]:
    """By layout: bytes a job. What the first job makes once and for all counts with the others."""
    return {layout: _measure(stage, layout) for layout in stage.peer.layouts}


def _measure(stage: Stage, layout: str) -> float:
    jobs, start_ms = stage.settings.stored, now_ms() + _FIRST_MS
    wanted: list[Job] = [(number, start_ms + 1000 * number) for number in range(jobs)]
    with stage.part(" ".join(("bytes of waiting jobs", layout)).strip()) as (admin, folder):
        with Producer(stage.peer, stage.url, folder, BENCHMARK_LAYOUT=layout) as producer:
            producer.enqueue(wanted, bulk=bool(stage.peer.bulk))
            return bytes_each(admin, jobs)


def bytes_each(admin: Any, jobs: int) -> float:
    """The memory of all keys, every element counted, divided by the jobs."""
    keys = list(admin.scan_iter(count=1000))
    with admin.pipeline(transaction=False) as asking:
        for key in keys:
            asking.memory_usage(key, samples=0)
        return sum(found or 0 for found in asking.execute()) / jobs
