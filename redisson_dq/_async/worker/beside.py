"""What is done for workers that run in other processes: a look at their queues, and the leases of one that has died."""

from __future__ import annotations

from typing import TypeVar

import attrs

from redisson_dq._async.client import Client
from redisson_dq._async.worker.intake import sides_of, timeout_of
from redisson_dq.errors import RedissonDQError
from redisson_dq.items import SettleOutcome
from redisson_dq.requests.inner.inspecting import inspection, together
from redisson_dq.requests.inner.settling import Settling
from redisson_dq.wire import calls, commands
from redisson_dq.wire.lease_source import mark_of
from redisson_dq.wire.request import Request
from redisson_dq.working.settings import QueueSettings

__all__ = ["QueueReport", "is_paused", "report", "return_leases"]

T = TypeVar("T")

# One script call ends so many.
_AT_ONCE = 1000


@attrs.frozen(kw_only=True)
class QueueReport:
    """What :meth:`Worker.check` finds of a queue. ``error`` says what keeps it from being used, else None.

    ``ready``, ``waiting`` and ``leased`` count its values, of all its partitions. ``dead`` counts its dead letters,
    ``undecodable`` and ``quarantined`` what no codec could read and entries in no known format. ``is_paused`` is true
    when delivery is paused, of one partition at least.
    """

    name: str
    ready: int = 0
    waiting: int = 0
    leased: int = 0
    dead: int = 0
    undecodable: int = 0
    quarantined: int = 0
    is_paused: bool = False
    error: str | None = None


async def report(client: Client, name: str, settings: QueueSettings) -> QueueReport:
    """Counts what is in a queue, and looks at the type of each of its keys. One round trip for each node."""
    sides = sides_of(name, settings, client.runtime.options)
    found = together(name, await _asked(client, [inspection(side.name, side.lease_keys) for side in sides]))
    return QueueReport(
        name=name,
        ready=found.ready,
        waiting=found.waiting,
        leased=found.in_flight,
        dead=found.dead,
        undecodable=found.undecodable,
        quarantined=found.quarantined,
        is_paused=found.is_paused,
        error="; ".join(map(str, found.wrong_types)) or None,
    )


async def is_paused(client: Client, name: str, settings: QueueSettings) -> bool:
    """Whether delivery is paused, of one partition at least. One round trip for each node."""
    sides = sides_of(name, settings, client.runtime.options)
    paused = await _asked(client, [commands.get_field(side.keys.settings, "paused") for side in sides])
    return any(paused)


async def _asked(client: Client, requests: list[Request[T]]) -> list[T]:
    """The results. Raises the first error when all have been answered."""
    connections = client.runtime.connections
    if len(requests) == 1:
        return [await connections.run(requests[0])]
    outcomes = await connections.run_many(list(requests), transaction=False)
    for outcome in outcomes:
        if isinstance(outcome, RedissonDQError):
            raise outcome
    return outcomes


async def return_leases(client: Client, name: str, settings: QueueSettings, owner: bytes) -> int:
    """Ends the leases of a process that has died; tells how many. A lease that has ended by now is left alone."""
    connections = client.runtime.connections
    count = 0
    for side in sides_of(name, settings, client.runtime.options):
        source = side.lease_source(timeout_of(settings))
        mark = mark_of(owner, source.envelope)
        held = await connections.run(commands.leases_held(side.keys))
        mine = [each for each in held if each.startswith(mark)]
        settling = Settling(source, name)
        for start in range(0, len(mine), _AT_ONCE):
            outcomes = await connections.run(settling.crashed(mine[start : start + _AT_ONCE]))
            count += sum(outcome is not SettleOutcome.LOST for outcome in outcomes)
        # What had come for it, and what it was killed before it could lease.
        arrived = await connections.run(commands.length_of(side.keys.arrivals))
        if arrived:
            await connections.run(calls.return_arrivals(side.keys, arrived))
    return count
