"""What one repetition found of one peer. All values become JSON."""

from __future__ import annotations

import attrs

from tests.benchmarks.peers.figures import Drain, Lateness
from tests.benchmarks.peers.footprint import Footprint
from tests.benchmarks.peers.killed import Killed
from tests.benchmarks.peers.ready import Ready
from tests.benchmarks.peers.stopped import Stopped

__all__ = ["PeerFigures"]


@attrs.frozen(kw_only=True)
class PeerFigures:
    """What one repetition found of one peer. A part that was not measured is None, or zero where it is a rate."""

    peer: str
    repetition: int
    versions: dict[str, str]
    #: PING round trips and jobs a second.
    pings: float | None
    enqueued: float
    enqueued_in_bulk: float | None
    lateness: Lateness
    lateness_under_load: Lateness | None
    #: Commands that clients sent, for each job: the producer, and the worker from the first job to the last.
    commands_to_enqueue: float
    commands_to_handle: float
    #: Commands a second of a worker with nothing to do but wait for one job, by name, the most frequent first.
    idle: dict[str, float]
    drain: Drain | None
    #: How many of the jobs were handled that fell due after the worker was killed and started again.
    orphaned: int | None
    #: The rest is of workers alone.
    ready: Ready | None = None
    commands_busy: float | None = None
    stopped: Stopped | None = None
    killed: list[Killed] = attrs.field(factory=list)
    footprint: Footprint | None = None
    #: Bytes of each waiting job, by layout. Of all peers.
    stored: dict[str, float] = attrs.field(factory=dict)
