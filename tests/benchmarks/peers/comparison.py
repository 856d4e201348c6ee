"""The table of README.md: this library compared with task queues.

The features of each queue are written here, with the place in its own documentation. The figures come from the run.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks.measures import percentile
from tests.benchmarks.peers.results import PeerFigures
from tests.benchmarks.tables import Table

__all__ = ["README", "comparison"]

README = Path(__file__).resolve().parents[3] / "README.md"

_NONE = "-"

#: The columns of the table, and the peer of each that is measured.
_COLUMNS = {
    "redisson-dq": "redisson_dq.worker",
    "celery": "celery",
    "arq": "arq",
    "dramatiq": "dramatiq",
    "BullMQ": "bullmq",
    "RReliableQueue": None,
}

#: RReliableQueue is part of Redisson PRO: its documentation is public, its code is not, so nothing of it is measured.
_ABILITIES: dict[str, tuple[str, ...]] = {
    "shares queues with Java": ("yes", "no", "no", "no", "no", "Java only"),
    "learns that a job is due": ("by a timer", "by a timer", "polls", "polls", "by a timer", "unknown"),
    "waiting jobs are": ("in Redis", "in a worker", "in Redis", "in a worker", "in Redis", "in Redis"),
    "results, workflows": ("no", "yes", "results", "yes", "yes", "no"),
    "source": ("open", "open", "open", "open", "open", "closed"),
}


def comparison(figures: Sequence[PeerFigures], day: datetime.date) -> str:
    """The table as Markdown, with the day on which it was measured."""
    measured: dict[str, Callable[[PeerFigures], str]] = {
        "late by, p50 / p99 in ms": _lateness,
        "jobs a second, 8 slots": _rate,
        "bytes of a waiting job": _bytes,
    }
    first = {one.peer: one for one in reversed(figures)}
    rows: list[tuple[str, ...]] = [(ability, *cells) for ability, cells in _ABILITIES.items()]
    rows[3:3] = [
        (title, *(shown(first[peer]) if peer in first else _NONE for peer in _COLUMNS.values()))
        for title, shown in measured.items()
    ]
    table = Table(title="", header=("", *_COLUMNS), rows=rows).markdown()
    lines = "\n".join(line for line in table.splitlines() if line.startswith("|"))
    return f"{lines}\n\nMeasured on {day} on two cores: [the benchmarks](docs/benchmarks.md#beside-the-task-queues)."


def _lateness(one: PeerFigures) -> str:
    late = one.lateness.lateness_us
    return " / ".join(_ms(percentile(late, share)) for share in (50.0, 99.0)) if late else _NONE


def _ms(us: float) -> str:
    return f"{us / 1000:,.0f}" if us >= 10_000 else f"{us / 1000:.2g}"


def _rate(one: PeerFigures) -> str:
    rate = one.ready.slots.get(8) if one.ready is not None else None
    return f"{rate:,.0f}" if rate is not None else _NONE


def _bytes(one: PeerFigures) -> str:
    return f"{min(one.stored.values()):,.0f}" if one.stored else _NONE
