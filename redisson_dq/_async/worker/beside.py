"""Calls for workers that run in other processes: a look at their queues, and the leases of one that has died."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, TypeVar

import attrs

from redisson_dq._async.client import Client
from redisson_dq._async.worker.intake import sides_of, timeout_of
from redisson_dq.errors import RedissonDQError
from redisson_dq.inspection import QueueInspection
from redisson_dq.items import SettleOutcome
from redisson_dq.requests.inner.inspecting import inspection, together
from redisson_dq.requests.inner.ready_side import ReadySide
from redisson_dq.requests.inner.settling import Settling
from redisson_dq.wire import calls, commands
from redisson_dq.wire.lease_source import mark_of
from redisson_dq.wire.request import Request
from redisson_dq.working.settings import QueueSettings

__all__ = ["QueueReport", "paused_among", "report", "return_leases"]

T = TypeVar("T")

# One script call ends so many.
_AT_ONCE = 1000


@attrs.frozen(kw_only=True)
class QueueReport:
    """The findings of :meth:`Worker.check` on a queue. ``error`` says why it cannot be used, else None.

    ``ready``, ``waiting`` and ``leased`` count its values, of all its partitions. ``dead`` counts its dead letters,
    ``undecodable`` counts values that no codec could read, ``quarantined`` entries in no known format. ``is_paused`` is
    true when delivery is paused, of one partition at least.
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


async def report(client: Client, queues: Mapping[str, QueueSettings]) -> list[QueueReport]:
    """Counts the values of each queue, and looks at the type of each of its keys. One round trip for each node."""
    found = await _asked(client, queues, lambda side: inspection(side.name, side.lease_keys))
    return [_reported(together(name, parts)) for name, parts in found.items()]


def _reported(found: QueueInspection) -> QueueReport:
    return QueueReport(
        name=found.name,
        ready=found.ready,
        waiting=found.waiting,
        leased=found.in_flight,
        dead=found.dead,
        undecodable=found.undecodable,
        quarantined=found.quarantined,
        is_paused=found.is_paused,
        error="; ".join(map(str, found.wrong_types)) or None,
    )


async def paused_among(client: Client, queues: Mapping[str, QueueSettings]) -> list[str]:
    """The queues whose delivery is paused, of one partition at least. One round trip for each node."""
    found = await _asked(client, queues, lambda side: commands.get_field(side.keys.settings, "paused"))
    return [name for name, parts in found.items() if any(parts)]


async def _asked(
    client: Client, queues: Mapping[str, QueueSettings], request_of: Callable[[ReadySide[Any]], Request[T]]
) -> dict[str, list[T]]:
    """By queue the results for its partitions. Raises the first error when all have been answered."""
    sides = {name: sides_of(name, settings, client.runtime.options) for name, settings in queues.items()}
    requests = [request_of(side) for each in sides.values() for side in each]
    connections = client.runtime.connections
    if len(requests) == 1:
        outcomes = [await connections.run(requests[0])]
    else:
        outcomes = await connections.run_many(list(requests), transaction=False)
    for outcome in outcomes:
        if isinstance(outcome, RedissonDQError):
            raise outcome
    left = iter(outcomes)
    return {name: list(islice(left, len(each))) for name, each in sides.items()}


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
        # Values that had come for it, and that it was killed before it could lease.
        arrived = await connections.run(commands.length_of(side.keys.arrivals))
        if arrived:
            await connections.run(calls.return_arrivals(side.keys, arrived))
    return count
