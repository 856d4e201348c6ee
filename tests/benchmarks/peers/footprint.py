"""The cost of an idle worker: the time of its imports, and its memory."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence

import attrs

from tests.benchmarks.peers.environments import INSIDE
from tests.benchmarks.peers.processes import Worker, environment
from tests.benchmarks.peers.stage import START, Stage

__all__ = ["Footprint", "measure"]

_JOBS = 20


@attrs.frozen(kw_only=True)
class Footprint:
    """The footprint of a process with one worker, and of the processes that the worker starts."""

    import_seconds: float
    #: Of all its processes, shared pages counted once.
    bytes: int


def measure(stage: Stage) -> Footprint:
    """Imports what a program imports, and looks at a worker that has handled a few jobs."""
    peer = stage.peer
    with stage.backlog("imports and memory", _JOBS) as (_, folder):
        importing = _seconds(stage, peer.import_command()) - _seconds(stage, peer.environment.bare())
        with Worker(peer, stage.url, folder, peer.one_process) as worker:
            worker.until(_JOBS, START)
            time.sleep(stage.settings.after_seconds)
            return Footprint(import_seconds=importing, bytes=worker.memory())


def _seconds(stage: Stage, command: Sequence[str]) -> float:
    # The minimum, because other load only makes it longer.
    found = []
    for _ in range(stage.settings.imports):
        began = time.perf_counter()
        subprocess.run(command, check=True, cwd=INSIDE, env=environment(stage.peer, stage.url))
        found.append(time.perf_counter() - began)
    return min(found)
