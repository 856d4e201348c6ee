"""How many commands a worker sends for each job while all its slots are busy."""

from __future__ import annotations

from tests.benchmarks.peers.commands import watched
from tests.benchmarks.peers.processes import Worker
from tests.benchmarks.peers.stage import START, Stage

__all__ = ["SLOTS", "measure"]

SLOTS = 8
# How long one job takes: short enough for many, and longer than what comes between two of them.
_SECONDS = 0.005
# What is handled before and after does not count: the start, and slots that are free at the end.
_EDGE = 0.2


def measure(stage: Stage) -> float:
    """Commands of all clients but the one that watches, while the middle of the jobs is handled."""
    jobs = stage.settings.busy
    edge = round(jobs * _EDGE)
    with stage.backlog(f"{SLOTS} busy slots", jobs) as (admin, folder):
        told = {"BENCHMARK_SECONDS": str(_SECONDS), "BENCHMARK_SLOTS": str(SLOTS)}
        with Worker(stage.peer, stage.url, folder, stage.peer.with_slots, slots=SLOTS, **told) as worker:
            worker.until(edge, START)
            with watched(admin) as sent:
                first = len(worker.marks())
                worker.until(jobs - edge, START)
                last = len(worker.marks())
    # ECHO ends the watch itself.
    return sum(count for (_, name), count in sent.items() if name != "ECHO") / (last - first)
