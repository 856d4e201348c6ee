"""Many queues in one process: lateness, idle commands, threads and connections, beside one queue.

``--against DIR`` also measures the library of another checkout, alternating with this one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from tests.benchmarks.growth import Case, point
from tests.benchmarks.growth_report import HANDLERS, WORKER, Point
from tests.benchmarks.measures import SYNC, Run, Spread, percentile
from tests.benchmarks.tables import Goal, Table, at_most

__all__ = ["NOW", "Turn", "goals", "measure", "tables"]

#: The library of this checkout, or the one of ``--against``.
NOW, BEFORE = "this checkout", "the other one"
_SAID = {WORKER: WORKER, HANDLERS: HANDLERS, SYNC: "a thread in take() on each"}


@attrs.frozen(kw_only=True)
class Turn:
    """The figures of one load in one repetition."""

    code: str
    point: Point

    @property
    def load(self) -> tuple[str, int]:
        return self.point.subject, self.point.size


def measure(run: Run) -> list[Turn]:
    """Every load in every repetition, alternating between both libraries if another one is given."""
    sizes = run.settings.sizes.many
    cases = [
        *(Case.of("worker", size, subject) for subject in (WORKER, HANDLERS) for size in sizes.worker),
        *(Case.of("queues", size, SYNC) for size in sizes.threads),
    ]
    found = []
    for repetition in range(run.settings.repeat):
        for case in cases:
            for code, checkout in ((NOW, None), (BEFORE, run.settings.against)):
                if code == NOW or checkout is not None:
                    name = f"many {repetition} {case.subject} {case.size} {code}"
                    run.say(f"many {repetition + 1}/{run.settings.repeat}: {case.subject}, {case.size:,}, {code}")
                    found.append(Turn(code=code, point=run.kept.of(name, _measured(case, run, checkout))))
    return found


def _measured(case: Case, run: Run, checkout: str | None) -> Callable[[], Point]:
    return lambda: point(case, run, checkout=checkout)


def _spread(turns: Sequence[Turn], figure: Callable[[Point], float]) -> Spread:
    return Spread.of([figure(one.point) for one in turns])


def _ms(share: float) -> Callable[[Point], float]:
    return lambda one: percentile(one.lateness_us, share) / 1000 if one.lateness_us else 0.0


def tables(found: Sequence[Turn]) -> list[Table]:
    """One row for each load and library."""
    rows = []
    for load in dict.fromkeys(one.load for one in found):
        for code in (NOW, BEFORE):
            turns = [one for one in found if (one.load, one.code) == (load, code)]
            if turns:
                rows.append(
                    (
                        _SAID[load[0]],
                        f"{load[1]:,}",
                        code,
                        _spread(turns, _ms(50)).text(2),
                        _spread(turns, _ms(99)).text(2),
                        _spread(turns, lambda one: one.idle).text(1),
                        _spread(turns, lambda one: one.threads).text(0),
                        _spread(turns, lambda one: one.connections).text(0),
                        f"{sum(one.point.lost + one.point.twice for one in turns)}",
                    )
                )
    header = ("load", "queues", "code", "p50, ms", "p99, ms", "idle, commands a second", "threads", "connections")
    return [Table(title="Many queues in one process", header=(*header, "lost, twice"), rows=rows)]


def goals(found: Sequence[Turn]) -> list[Goal]:
    """The cost that many queues may have, compared with one."""
    ours = [one for one in found if one.code == NOW]
    made = []
    for subject in (WORKER, HANDLERS):
        one, many = _smallest(ours, subject), _largest(ours, subject)
        most = 3 * _spread(one, _ms(50)).median + 2 if one else 0.0
        text = f"many queues, {_SAID[subject]}"
        made += [
            at_most(
                f"{text}: p50 at most 3 times that of one queue and 2 ms", _or_none(many, _ms(50)), most, unit="ms"
            ),
            at_most(f"{text}: at most 3 commands a second, idle", _or_none(many, lambda one: one.idle), 3),
            at_most(f"{text}: at most 20 connections", _or_none(many, lambda one: one.connections), 20),
        ]
    many, text = _largest(ours, SYNC), f"many queues, {_SAID[SYNC]}"
    made += [
        at_most(f"{text}: at most 20 threads more", _or_none(many, lambda one: one.threads - one.size), 20),
        at_most(f"{text}: at most 20 connections", _or_none(many, lambda one: one.connections), 20),
    ]
    return made


def _or_none(turns: Sequence[Turn], figure: Callable[[Point], float]) -> Spread | None:
    return _spread(turns, figure) if turns else None


def _largest(turns: Sequence[Turn], subject: str) -> list[Turn]:
    sizes = [one.point.size for one in turns if one.point.subject == subject]
    return [one for one in turns if one.load == (subject, max(sizes, default=0))]


def _smallest(turns: Sequence[Turn], subject: str) -> list[Turn]:
    sizes = [one.point.size for one in turns if one.point.subject == subject]
    return [one for one in turns if one.load == (subject, min(sizes, default=0))]
