"""Many processes on one queue: the commands for each item, and its lateness.

Every process both moves and takes, like real consumers. The items are those of the lateness pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from tests.benchmarks import lateness
from tests.benchmarks.lateness import Pass
from tests.benchmarks.measures import SYNC, Run
from tests.benchmarks.subjects import JavaConsumers, PythonCrowd, Subject
from tests.benchmarks.tables import Goal, Table, at_most

__all__ = ["goals", "measure", "tables"]

_MOST = 64


def measure(run: Run) -> list[Pass]:
    """Every number of processes, of this library and of Redisson."""
    sizes, found = run.settings.sizes, []
    crowds: list[Subject] = [JavaConsumers(run.peer, clients) for clients in sizes.redisson_clients] if run.peer else []
    crowds += [PythonCrowd(processes) for processes in sizes.processes]
    for crowd in crowds:
        # One crowd after the other, because 64 waiting processes would still be a load.
        with ExitStack() as stack:
            stack.callback(crowd.close)
            found += lateness.measure(run, [crowd], part=f"{crowd.processes} on one queue")
    return found


def tables(found: Sequence[Pass]) -> list[Table]:
    """One table, with a row for each number of processes."""
    return [
        Table(
            chart="herd",
            title="Many processes on one queue: commands an item, and lateness in ms",
            header=(
                *("consumers", "processes", "commands an item", "transfers an item", "server CPU an item, us"),
                *(*lateness.PERCENTILES, "early", "lost, twice"),
            ),
            rows=[
                (
                    one.subject,
                    f"{one.processes}",
                    one.commands_per_item.text(2),
                    one.transfers_per_item.text(2),
                    one.server_us_per_item.text(0),
                    *(one.lateness_ms[label].text(2) for label in lateness.PERCENTILES),
                    f"{one.early}",
                    f"{one.lost}, {one.twice}",
                )
                for one in lateness.summaries(found)
            ],
            note="Redisson's are clients of one JVM, each with connections of its own.",
        )
    ]


def goals(found: Sequence[Pass]) -> list[Goal]:
    """The cost that many processes may have."""
    ours = {one.processes: one for one in lateness.summaries(found) if one.subject == SYNC}
    most = ours.get(_MOST)
    text = f"{SYNC}: at most 3 commands an item with {_MOST} processes"
    return [at_most(text, most.commands_per_item if most else None, 3.0)]
