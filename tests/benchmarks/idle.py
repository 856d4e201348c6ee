"""Commands that a client sends while nothing happens: one item is due in an hour, and one consumer waits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack

import attrs
import redis

from redisson_dq.wire.keys import QueueKeys
from tests.benchmarks import entries
from tests.benchmarks.measures import ASYNCIO, SYNC, Run
from tests.benchmarks.subjects import JavaConsumers, PythonConsumer, Subject
from tests.benchmarks.tables import Goal, Table
from tests.benchmarks.watching import command_stats, eventually, grown, subscribers

__all__ = ["Idle", "goals", "measure", "tables"]

_QUEUE = "benchmark"
#: Seconds after the subscription until the commands of opening have been sent.
_SETTLING = 1.0
#: The commands of this module.
_OWN = ("info", "pubsub|numsub")


@attrs.frozen(kw_only=True)
class Idle:
    """The commands that Redis counted within ``seconds``."""

    subject: str
    seconds: float
    calls: dict[str, int]

    @property
    def per_second(self) -> float:
        return sum(count for name, count in self.calls.items() if name not in _OWN) / self.seconds


def measure(run: Run) -> list[Idle]:
    """Every consumer once."""
    sizes, keys, found = run.settings.sizes, QueueKeys.of(_QUEUE), []
    with ExitStack() as stack:
        admin = stack.enter_context(redis.Redis.from_url(run.server.url))
        listening = sizes.idle + 2 * _SETTLING
        subjects: list[Subject] = [JavaConsumers(run.peer, idle_ms=round(listening * 1000))] if run.peer else []
        subjects += [PythonConsumer(SYNC, "sync"), PythonConsumer(ASYNCIO, "asyncio")]
        for subject in subjects:
            stack.callback(subject.close)
            run.say(f"idle {sizes.idle:g} s: {subject.name}")
            admin.flushall()
            entries.java(run.server.url, _QUEUE, 1)
            subject.listen(run.server.url, _QUEUE, 1, listening)
            eventually(lambda: subscribers(admin, keys) == 1, "the consumer did not subscribe")
            time.sleep(_SETTLING)
            before = command_stats(admin, "calls")
            time.sleep(sizes.idle)
            calls = grown(before, command_stats(admin, "calls"))
            found.append(Idle(subject=subject.name, seconds=sizes.idle, calls=calls))
            subject.arrivals()
            subject.leave()
            eventually(lambda: subscribers(admin, keys) == 0, "the consumer did not leave")
        admin.flushall()
    return found


# -- report ----------------------------------------------------------------------------------------------------------


def tables(found: Sequence[Idle]) -> list[Table]:
    """One table, with a row for each consumer."""
    return [
        Table(
            title="Idle: commands a second with one item pending",
            header=("consumer", "seconds", "commands a second", "which"),
            rows=[
                (
                    one.subject,
                    f"{one.seconds:g}",
                    f"{one.per_second:.2f}",
                    ", ".join(f"{count} {name}" for name, count in one.calls.items() if name not in _OWN) or "none",
                )
                for one in found
            ],
        )
    ]


def goals(found: Sequence[Idle]) -> list[Goal]:
    """None: the figure speaks for itself."""
    return []
