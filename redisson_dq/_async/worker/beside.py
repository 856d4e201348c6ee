"""What is done for workers that run in other processes: a look at their queues, and the leases of one that has died."""

from __future__ import annotations

import attrs

from redisson_dq._async.client import Client
from redisson_dq._async.worker.intake import sides_of, timeout_of
from redisson_dq.items import SettleOutcome
from redisson_dq.requests.inner.settling import Settling
from redisson_dq.wire import calls, commands
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.lease_source import mark_of
from redisson_dq.working.settings import QueueSettings

__all__ = ["QueueReport", "is_paused", "report", "return_leases"]

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
    """Counts what is in a queue, and looks at the type of each of its keys."""
    connections = client.runtime.connections
    counts: dict[str, int] = dict.fromkeys(("ready", "waiting", "leased", "undecodable", "quarantined"), 0)
    wrong: list[str] = []
    # Partitions may share one list of dead letters.
    dead: dict[str, int] = {}
    paused = False
    for side in sides_of(name, settings, client.runtime.options):
        keys = side.keys
        types = dict(side.dead_keys.types)
        for field in attrs.fields(type(keys)):
            key = getattr(keys, field.name)
            if key not in keys.channels:
                types[key] = keys.type_of(key)
        for key, expected in types.items():
            found = await connections.run(commands.kind_of(key))
            if found not in (expected, "none"):
                wrong.append(f"key {key!r} holds a {found}, but this queue keeps a {expected} there")
        if wrong:
            continue
        leased = await connections.run(calls.in_flight_size(keys))
        counts["leased"] += leased
        counts["waiting"] += await connections.run(commands.waiting_size(keys)) - leased
        for count, key in {
            "ready": keys.ready,
            "undecodable": keys.undecodable,
            "quarantined": keys.quarantine,
        }.items():
            counts[count] += await connections.run(commands.length_of(key))
        dead[side.dead_keys.dead] = await connections.run(commands.length_of(side.dead_keys.dead))
        paused = paused or await _is_paused(client, keys)
    error = "; ".join(wrong) if wrong else None
    return QueueReport(name=name, dead=sum(dead.values()), is_paused=paused, error=error, **counts)


async def is_paused(client: Client, name: str, settings: QueueSettings) -> bool:
    """Whether delivery is paused, of one partition at least."""
    paused = [await _is_paused(client, side.keys) for side in sides_of(name, settings, client.runtime.options)]
    return any(paused)


async def _is_paused(client: Client, keys: QueueKeys) -> bool:
    paused = await client.runtime.connections.run(commands.get_field(keys.settings, "paused"))
    return bool(paused)


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
