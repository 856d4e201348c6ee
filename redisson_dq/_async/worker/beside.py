"""Calls for workers that run in other processes: a report on their queues, and the leases of one that has died."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, TypeVar

from redisson_dq._async.client import Client
from redisson_dq._async.connecting.asking import answers, without_subscribers
from redisson_dq.calls.inspecting import figures, figures_together, inspection, together
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.settling import Settling
from redisson_dq.inspection import QueueInspection
from redisson_dq.items import SettleOutcome
from redisson_dq.stats import QueueStats
from redisson_dq.wire import calls, commands
from redisson_dq.wire.lease_source import mark_of
from redisson_dq.wire.request import Request
from redisson_dq.working.incoming import sides_of, timeout_of
from redisson_dq.working.settings import QueueSettings

__all__ = ["figures_of", "inspections", "return_leases"]

Stats = TypeVar("Stats", bound=QueueStats)

# One script call ends this many.
_AT_ONCE = 1000


async def inspections(client: Client, queues: Mapping[str, QueueSettings]) -> list[QueueInspection]:
    """All about each queue. One round trip for each node."""
    found = await _asked(client, queues, lambda side: inspection(side.name, side.lease_keys))
    return [together(name, parts) if settings.partitions else parts[0] for name, settings, parts in found]


async def figures_of(client: Client, queues: Mapping[str, QueueSettings]) -> dict[str, QueueStats]:
    """The figures of each queue. One round trip for each node."""
    found = await _asked(client, queues, lambda side: figures(side.name, side.lease_keys))
    return {name: figures_together(name, parts) if settings.partitions else parts[0] for name, settings, parts in found}


async def _asked(
    client: Client, queues: Mapping[str, QueueSettings], request_of: Callable[[OpenQueue[Any]], Request[Stats]]
) -> list[tuple[str, QueueSettings, list[Stats]]]:
    """The results for the partitions of each queue. Raises the first error when all have been answered."""
    sides = [(name, each, sides_of(name, each, client.runtime.options)) for name, each in queues.items()]
    connections = client.runtime.connections
    found = await answers(connections, [request_of(side) for _, _, of_queue in sides for side in of_queue])
    left = iter([without_subscribers(each, connections) for each in found])
    return [(name, settings, list(islice(left, len(of_queue)))) for name, settings, of_queue in sides]


async def return_leases(client: Client, name: str, settings: QueueSettings, owner: bytes) -> int:
    """Ends the leases of a process that has died; says how many. A lease that has ended by now is not touched."""
    connections = client.runtime.connections
    count = 0
    for side in sides_of(name, settings, client.runtime.options):
        source = side.lease_source(timeout_of(settings))
        mark = mark_of(owner, source.envelope)
        held = await connections.run(commands.members_of(side.keys.leases))
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
