"""The call that tells all about a queue."""

from __future__ import annotations

from typing import Any

import attrs

from redisson_dq.scripts.script import load
from redisson_dq.wire.calls.leases import LeaseKeys, call_with_dead
from redisson_dq.wire.request import Request

__all__ = ["FoundKey", "Inspected", "inspect"]


@attrs.frozen(kw_only=True)
class FoundKey:
    """One key that is there. ``role`` is its name in QueueKeys or DeadKeys. ``expected`` is the type it has to have.

    ``vanishes_ms`` is None for a key without an end, and ``bytes`` where the user may not ask for its memory.
    """

    role: str
    key: str
    found: str
    expected: str
    size: int
    vanishes_ms: int | None
    bytes: int | None


@attrs.frozen(kw_only=True)
class Inspected:
    """The reply: the server's time, the keys that are there, and figures by their names in the script.

    A figure is missing where nothing tells it.
    """

    now_us: int
    keys: tuple[FoundKey, ...]
    figures: dict[str, Any]


def inspect(keys: LeaseKeys) -> Request[Inspected]:
    """How much is in a queue and where, what comes next, who moves it."""
    roles = load("inspect").keys
    names = [getattr(keys.dead if role.startswith("dead") else keys.queue, role) for role in roles]
    types = [
        "" if name in keys.queue.channels else keys.dead.types.get(name) or keys.queue.type_of(name) for name in names
    ]

    def parsed(reply: list[Any]) -> Inspected:
        now_us, rows, told = reply
        found = [
            FoundKey(
                role=roles[number - 1],
                key=names[number - 1],
                found=kind.decode(),
                expected=types[number - 1],
                size=size,
                vanishes_ms=None if vanishes_ms < 0 else vanishes_ms,
                bytes=None if memory < 0 else memory,
            )
            for number, kind, size, vanishes_ms, memory in rows
        ]
        figures = {name.decode(): figure for name, figure in zip(told[::2], told[1::2], strict=True)}
        return Inspected(now_us=now_us, keys=tuple(found), figures=figures)

    return call_with_dead("inspect", keys, types, parsed)
