"""The points of the growth curves as tables, with the growth of each figure, and the goals for many queues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from tests.benchmarks.curves import shape
from tests.benchmarks.measures import LEAN, SYNC, percentile
from tests.benchmarks.tables import Goal, Table

__all__ = ["FIGURES", "HANDLERS", "SAID", "WORKER", "Point", "goals", "tables"]

#: The subjects with a goal for the longest script. Java's entries have random ids; docs/limits.md has their cost.
_OURS = (SYNC, LEAN)
#: A worker for all queues with 16 slots, and one with slots for each of its handlers.
WORKER, HANDLERS = "Worker(concurrency=16)", "Worker()"


@attrs.frozen(kw_only=True)
class Point:
    """The figures of one case. ``lateness_us`` is in order of arrival."""

    curve: str
    size: int
    subject: str
    items: int
    lateness_us: list[int]
    lost: int
    twice: int
    #: Commands of the clients for the items, and the CPU seconds of the servers meanwhile.
    commands: int
    cpu_s: float
    longest_script_us: int
    #: Commands a second before the first item was due, by all consumers.
    idle: float
    connections: int
    #: Of all processes, if they use this library.
    threads: int
    client_bytes: int
    #: Of the servers, while all items waited.
    server_bytes: int


#: The figures of a point: name, value, digits, and the difference that is ignored.
FIGURES: Sequence[tuple[str, Callable[[Any], float], int, float]] = (
    ("p50, ms", lambda one: percentile(one["lateness_us"], 50) / 1000 if one["lateness_us"] else 0.0, 2, 0.5),
    ("p99, ms", lambda one: percentile(one["lateness_us"], 99) / 1000 if one["lateness_us"] else 0.0, 2, 2.0),
    ("commands an item", lambda one: one["commands"] / one["items"], 2, 0.5),
    ("server us an item", lambda one: 1e6 * one["cpu_s"] / one["items"], 0, 50.0),
    ("longest script, ms", lambda one: one["longest_script_us"] / 1000, 1, 2.0),
    ("idle commands a second", lambda one: one["idle"], 1, 3.0),
    ("connections", lambda one: one["connections"], 0, 2.0),
    ("threads", lambda one: one["threads"], 0, 4.0),
    ("client MB", lambda one: one["client_bytes"] / 2**20, 1, 10.0),
    ("server MB", lambda one: one["server_bytes"] / 2**20, 1, 2.0),
)


def tables(found: Sequence[Point]) -> list[Table]:
    """A table for each curve, with a row for each point, and the growth of each figure below the points of a
    subject."""
    made = []
    for curve in dict.fromkeys(one.curve for one in found):
        rows, brief = [], []
        for subject in dict.fromkeys(one.subject for one in found if one.curve == curve):
            points = [attrs.asdict(one) for one in found if (one.curve, one.subject) == (curve, subject)]
            for one in points:
                told = (f"{value(one):,.{digits}f}" for _, value, digits, _ in FIGURES)
                rows.append((subject, f"{one['size']:,}", *told, f"{one['lost']}", f"{one['twice']}"))
            shapes = (shape({one["size"]: value(one) for one in points}, slack=slack) for _, value, _, slack in FIGURES)
            grows = (subject, "grows", *shapes, "", "")
            brief += [rows[-1], grows]
            rows.append(grows)
        made.append(
            Table(
                chart=f"growth-{curve.replace(' ', '-')}",
                title=f"Growth by {SAID.get(curve, curve)}",
                header=("consumer", curve, *(name for name, *_ in FIGURES), "lost", "twice"),
                rows=rows,
                brief=brief,
            )
        )
    return made


SAID = {
    "backlog": "the items that wait",
    "queues": "the queues, with a thread or task in take() on each",
    "worker": "the queues of one worker",
    "processes": "the processes on one queue",
    "value size": "the bytes of a value",
    "rate": "the items a second",
    "partitions": "the partitions over three masters",
}


def goals(found: Sequence[Point]) -> list[Goal]:
    """No item may be lost, and many queues in one process may cost little more than one."""
    wrong = sum(one.lost + one.twice for one in found)
    made = [
        Goal(
            text="growth: no item lost or twice",
            found=f"{wrong}" if found else "",
            met=not wrong if found else None,
        )
    ]
    for most, size in ((10, 1_000_000), (60, 10_000_000)):
        ours = [one for one in found if one.curve == "backlog" and one.subject in _OURS and one.size <= size]
        longest = max(ours, key=lambda one: one.longest_script_us, default=None)
        text = f"growth: no script above {most} ms up to {size:,} waiting"
        made.append(_at_most(text, longest, lambda one: one.longest_script_us / 1000, most))
    for subject in (WORKER, HANDLERS):
        many = _largest(found, "worker", subject)
        one = next((one for one in found if (one.curve, one.subject, one.size) == ("worker", subject, 1)), None)
        text = f"{subject} over {_size(many)} queues"
        beside = 3 * _p50_ms(one) + 2 if one is not None else 0.0
        made += [
            _at_most(f"{text}: p50 at most 3 times that of one queue and 2 ms", many, _p50_ms, beside),
            _at_most(f"{text}: at most 3 commands a second, idle", many, lambda one: one.idle, 3),
            _at_most(f"{text}: at most 12 connections", many, lambda one: one.connections, 12),
        ]
    many = _largest(found, "queues", SYNC)
    text = f"take() on {_size(many)} queues"
    made += [
        _at_most(f"{text}: at most 20 threads beside those in it", many, lambda one: one.threads - one.size, 20),
        _at_most(f"{text}: at most 20 connections", many, lambda one: one.connections, 20),
    ]
    return made


def _largest(found: Sequence[Point], curve: str, subject: str) -> Point | None:
    points = [one for one in found if (one.curve, one.subject) == (curve, subject)]
    return max(points, key=lambda one: one.size, default=None)


def _size(one: Point | None) -> str:
    return "many" if one is None else f"{one.size:,}"


def _p50_ms(one: Point) -> float:
    return percentile(one.lateness_us, 50) / 1000 if one.lateness_us else 0.0


def _at_most(text: str, one: Point | None, figure: Callable[[Point], float], most: float) -> Goal:
    if one is None:
        return Goal(text=text, found="", met=None)
    return Goal(text=text, found=f"{figure(one):,.2f}", met=figure(one) <= most)
