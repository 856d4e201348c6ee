"""Calls on all keys of a queue's side: on one key or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import attrs

from redisson_dq.scripts.script import load
from redisson_dq.wire.calls.base import call_on
from redisson_dq.wire.request import Request

__all__ = [
    "copy",
    "dump",
    "expire",
    "memory",
    "missing_rights",
    "persist",
    "rename",
    "restore",
    "unknown_commands",
]
__all__ += ["run_command", "time_to_live"]

T = TypeVar("T")


def expire(types: dict[str, str], kind: str, ms: int, when: str) -> Request[bool]:
    """``kind`` is "in" or "at", ``when`` "always", "set", "not_set", "greater" or "less"."""
    return call_on("expire", types, (kind, ms, when), bool)


def persist(types: dict[str, str]) -> Request[bool]:
    """Whether any key had a time to live."""
    return call_on("persist", types, (), bool)


def run_command(request: Request[T]) -> Request[T]:
    """Runs a plain command by a script, which looks for the fence of a transaction first."""
    keys = [key for key in request.types if key]
    return attrs.evolve(request, script=load("run_command"), words=(len(keys), *keys, *request.words))


def time_to_live(types: dict[str, str]) -> Request[tuple[int, int]]:
    """The time to live in ms (-1: for ever, -2: no key), and its end in epoch ms."""
    return call_on("time_to_live", types, (), lambda reply: (reply[0], reply[1]))


def memory(types: dict[str, str]) -> Request[int]:
    """How many bytes of memory the keys take."""
    return call_on("memory", types, (), int)


def rename(types: dict[str, str], when: str, channel: str) -> Request[int]:
    """``types`` has the old keys, then as many new ones. 1 if renamed, 0 if a name is taken, -1 if nothing is there."""
    return call_on("rename", types, (when, channel), int)


def copy(types: dict[str, str], when: str, channel: str) -> Request[bool]:
    """``types`` has the old keys, then as many new ones."""
    return call_on("copy", types, (when, channel), bool)


def dump(types: dict[str, str]) -> Request[list[bytes]]:
    """One dump for each key, empty for one that is not there."""
    return call_on("dump", types, (), list)


def restore(types: dict[str, str], when: str, ttl_ms: int, channel: str, dumps: Sequence[bytes]) -> Request[bool]:
    """``types`` has the keys, then as many names that are used meanwhile."""
    return call_on("restore", types, (when, ttl_ms, channel, *dumps), bool)


def missing_rights(keys: Sequence[str], commands: Sequence[str]) -> Request[list[str]]:
    """Those of the commands that the user may not run; all of them on Redis 6.2, which cannot be asked."""
    return call_on("missing_rights", dict.fromkeys(keys, ""), commands, lambda reply: [name.decode() for name in reply])


def unknown_commands(keys: Sequence[str], commands: Sequence[str]) -> Request[list[str]]:
    """Those of the commands that the server does not know. Subcommands are left out."""
    words = sorted({command.partition(" ")[0] for command in commands})
    return call_on("unknown_commands", dict.fromkeys(keys, ""), words, lambda reply: [name.decode() for name in reply])
