"""The settings and the results of a run of peers, and the arithmetic between them. All values become JSON."""

from __future__ import annotations

import random
from collections.abc import Sequence

import attrs

__all__ = [
    "Drain",
    "Job",
    "Lateness",
    "Mark",
    "PeerSettings",
    "drain",
    "due_within",
    "lateness",
    "lead_seconds",
    "parse_ends",
    "parse_marks",
]

#: A job's number and when it is due, in epoch milliseconds; None: at once.
Job = tuple[int, "int | None"]

_SEED = 20240501


@attrs.frozen(kw_only=True)
class PeerSettings:
    """The amounts to measure for each peer."""

    #: Jobs of a lateness pass, and the seconds they fall due within.
    jobs: int = 2000
    seconds: float = 8.0
    #: Jobs at once before anything is timed.
    warm_up: int = 100
    #: Commands a second beside the loaded lateness pass; 0 leaves that pass out.
    load: int = 5000
    #: Seconds of the idle window, and seconds before it in which a worker comes to rest.
    idle_seconds: float = 5.0
    settle_seconds: float = 3.0
    #: Seconds in which a worker may still send or repeat something, after the last job and before the first one.
    after_seconds: float = 1.0
    #: Jobs that are enqueued for the rates, one by one and in bulk.
    enqueued: int = 2000
    pings: int = 2000
    #: Jobs due at one moment; 0 leaves the drain out.
    drained: int = 10_000
    #: Jobs that fall due after the worker was killed (0 leaves that out), and the seconds in which they may be handled.
    orphaned: int = 50
    orphaned_seconds: float = 20.0
    #: Empty jobs that are ready before a worker starts, and the seconds that it may handle them. 0: not measured.
    ready: int = 10_000
    ready_seconds: float = 5.0
    #: Jobs that wait while their bytes are counted; 0: not measured.
    stored: int = 10_000
    #: Jobs that are handled by 8 slots while commands are counted; 0: not measured.
    busy: int = 1000
    #: Jobs before a worker that is asked to stop, and the seconds that the next worker has for the rest. 0: not
    #: measured.
    stopped: int = 60
    stopped_seconds: float = 20.0
    #: Jobs in hand of a worker that is killed, and the seconds to wait for them. 0: not measured.
    held: int = 50
    held_seconds: float = 60.0
    #: How often the imports of a program are timed. 0: neither imports nor the memory of a worker are measured.
    imports: int = 5
    #: From enqueueing to the kill, and from the kill to the due time.
    kill_seconds: float = 3.0
    #: The seconds after the last due time that a peer may continue.
    cap_seconds: float = 30.0
    repeat: int = 1


@attrs.frozen
class Mark:
    """One time that one job was handled. A warm-up job has no due time."""

    number: int
    due_ms: int | None
    at_us: int


@attrs.frozen(kw_only=True)
class Lateness:
    """One pass: the lateness of each job when it was first handled, in order of handling."""

    jobs: int
    lateness_us: list[int]
    #: Handled before the due time; not handled within the cap; handled more than once.
    early: int
    lost: int
    twice: int
    #: Seconds from the first due time to the last enqueueing. More than 0 means that the machine was too slow.
    behind_ms: int
    #: The rate that the load beside it reached, in commands a second.
    load: float

    @property
    def handled(self) -> int:
        return len(self.lateness_us)


@attrs.frozen(kw_only=True)
class Drain:
    """Many jobs due at one moment: when the first and the last one were handled, counted from that moment."""

    jobs: int
    handled: int
    early: int
    twice: int
    #: As in a lateness pass.
    behind_ms: int
    first_ms: float | None
    last_ms: float | None


def parse_marks(text: str) -> list[Mark]:
    """The lines ``number due now`` of the workers. The last line may be on its way and is left out then."""
    marks = []
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            number, due_ms, at_us = line.split()
            marks.append(Mark(int(number), None if due_ms == "None" else int(due_ms), int(at_us)))
    return marks


def parse_ends(text: str) -> list[tuple[int, int | None]]:
    """The lines ``number attempt`` of the workers. The last line may be on its way and is left out then."""
    words = [line.split() for line in text.splitlines(keepends=True) if line.endswith("\n")]
    return [(int(number), None if attempt == "None" else int(attempt)) for number, attempt in words]


def lateness(marks: Sequence[Mark], jobs: int, behind_ms: int = 0, load: float = 0.0) -> Lateness:
    """Of the marks that have a due time."""
    first: dict[int, int] = {}
    times = 0
    for mark in marks:
        if mark.due_ms is not None:
            first.setdefault(mark.number, mark.at_us - mark.due_ms * 1000)
            times += 1
    late = list(first.values())
    return Lateness(
        jobs=jobs,
        lateness_us=late,
        early=sum(one < 0 for one in late),
        lost=jobs - len(late),
        twice=times - len(late),
        behind_ms=behind_ms,
        load=load,
    )


def drain(marks: Sequence[Mark], jobs: int, behind_ms: int = 0) -> Drain:
    """Of marks that have all the same due time."""
    found = lateness(marks, jobs)
    return Drain(
        jobs=jobs,
        handled=found.handled,
        early=found.early,
        twice=found.twice,
        behind_ms=behind_ms,
        first_ms=min(found.lateness_us) / 1000 if found.lateness_us else None,
        last_ms=max(found.lateness_us) / 1000 if found.lateness_us else None,
    )


def due_within(start_ms: int, jobs: int, seconds: float, repetition: int) -> list[Job]:
    """Jobs that fall due at random in the seconds after ``start_ms``: the same offsets for every peer."""
    chance = random.Random(_SEED + repetition)
    return [(number, start_ms + chance.randint(1, round(seconds * 1000))) for number in range(jobs)]


def lead_seconds(jobs: int, rate: float) -> float:
    """What a producer of that rate is given before the first of so many jobs falls due: twice as long, and a second."""
    return 1.0 + 2.0 * jobs / rate
