"""The calls that tell about a queue: all, or the figures alone."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import attrs

from redisson_dq.scripts.script import load
from redisson_dq.wire.calls.leases import LeaseKeys, call_with_dead
from redisson_dq.wire.request import Request

__all__ = ["FoundKey", "Inspected", "inspect", "stats"]


@attrs.frozen(kw_only=True)
class FoundKey:
    """One key that is there. ``role`` is its name in QueueKeys or DeadKeys. ``expected`` is the type it has to have.

    ``vanishes_ms`` is None for a key without an end, and ``bytes`` where the user may not ask for its memory. The
    figures alone come without both.
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
    return _asked("inspect", keys)


def stats(keys: LeaseKeys) -> Request[Inspected]:
    """How much is in a queue, how long it is overdue, who moves it."""
    return _asked("stats", keys)


@lru_cache(maxsize=4096)
def _keys(script: str, keys: LeaseKeys) -> tuple[tuple[str, ...], list[str], list[str]]:
    """The roles, names and types of the script's keys. The channel has no type."""
    roles = load(script).keys
    names = [getattr(keys.dead if role.startswith("dead") else keys.queue, role) for role in roles]
    types = [
        "" if name in keys.queue.channels else keys.dead.types.get(name) or keys.queue.type_of(name) for name in names
    ]
    return roles, names, types


def _asked(script: str, keys: LeaseKeys) -> Request[Inspected]:
    roles, names, types = _keys(script, keys)

    def parsed(reply: list[Any]) -> Inspected:
        now_us, rows, told = reply
        found = [
            FoundKey(
                role=roles[number - 1],
                key=names[number - 1],
                found=kind.decode(),
                expected=types[number - 1],
                size=size,
                **_more(*more),
            )
            for number, kind, size, *more in rows
        ]
        figures = {name.decode(): figure for name, figure in zip(told[::2], told[1::2], strict=True)}
        return Inspected(now_us=now_us, keys=tuple(found), figures=figures)

    return call_with_dead(script, keys, types, parsed)


def _more(vanishes_ms: int = -1, memory: int = -1) -> dict[str, int | None]:
    return {"vanishes_ms": None if vanishes_ms < 0 else vanishes_ms, "bytes": None if memory < 0 else memory}
