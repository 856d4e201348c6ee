"""Memory and connections of one client process, with many waiting items, many open queues or many tasks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import attrs
import redis

from redisson_dq.wire.keys import QueueKeys
from tests.benchmarks import entries
from tests.benchmarks.measures import ASYNCIO, SYNC, Run
from tests.benchmarks.processes import Worker
from tests.benchmarks.tables import Goal, Table
from tests.benchmarks.watching import eventually

__all__ = ["Held", "goals", "measure", "tables"]

_FLAVOURS = {SYNC: "sync", ASYNCIO: "asyncio"}


@attrs.frozen(kw_only=True)
class Held:
    """A client that moves the items of its open queues. Memory is the resident memory of the process, in bytes."""

    flavour: str
    queues: int
    #: Items that wait in the first queue, and tasks that wait for an item.
    waiting: int
    tasks: int
    before: int
    after: int
    connections: int


def measure(run: Run) -> list[Held]:
    """Every flavour with many queues, with many items and, in asyncio, with many tasks."""
    sizes, found = run.settings.sizes, []
    cases = [(flavour, queues, 0, 0) for flavour in _FLAVOURS for queues in sizes.queues]
    cases += [(flavour, 1, max(sizes.waiting), 0) for flavour in _FLAVOURS]
    cases.append((ASYNCIO, 1, 0, sizes.tasks))
    with ExitStack() as stack:
        admin = stack.enter_context(redis.Redis.from_url(run.server.url))
        stack.callback(admin.flushall)
        for flavour, queues, waiting, tasks in cases:
            run.say(f"client, {queues:,} queues, {waiting:,} waiting, {tasks:,} tasks: {flavour}")
            admin.flushall()
            found.append(_held(run, admin, flavour, queues, waiting, tasks))
    return found


def _held(run: Run, admin: redis.Redis, flavour: str, queues: int, waiting: int, tasks: int) -> Held:
    names = [f"queue-{number}" for number in range(queues)]
    if waiting:
        entries.java(run.server.url, names[0], waiting)
    others = len(_connections(admin))
    with Worker() as worker:
        worker.send("hold", flavour=_FLAVOURS[flavour], url=run.server.url, queues=names, tasks=tasks)
        before = worker.answer()
        channels = {QueueKeys.of(name).channel.encode() for name in names}
        eventually(
            lambda: channels <= set(_channels(admin)), f"{flavour} did not subscribe to {queues:,} queues", 60_000
        )
        if tasks:
            eventually(lambda: any(one["cmd"] == "blpop" for one in _connections(admin)), "no task waits")
        connections = len(_connections(admin)) - others
        worker.tell()
        after = worker.answer()
    return Held(
        flavour=flavour,
        queues=queues,
        waiting=waiting,
        tasks=tasks,
        before=before,
        after=after,
        connections=connections,
    )


def _connections(admin: redis.Redis) -> list[dict[str, Any]]:
    found: Any = admin.client_list()
    return list(found)


def _channels(admin: redis.Redis) -> list[bytes]:
    found: Any = admin.pubsub_channels()
    return list(found)


# -- report ----------------------------------------------------------------------------------------------------------


def tables(found: Sequence[Held]) -> list[Table]:
    """One table, with a row for each case."""
    return [
        Table(
            title="One client process: resident memory in MB, and connections",
            header=("client", "queues open", "items waiting", "tasks waiting", "before", "with it", "connections"),
            rows=[
                (
                    one.flavour,
                    f"{one.queues:,}",
                    f"{one.waiting:,}",
                    f"{one.tasks:,}",
                    f"{one.before / 1e6:.1f}",
                    f"{one.after / 1e6:.1f}",
                    f"{one.connections}",
                )
                for one in found
            ],
            note="Before: the interpreter with this library imported and no client.",
        )
    ]


def goals(found: Sequence[Held]) -> list[Goal]:
    """None: these figures are for planning processes."""
    return []
