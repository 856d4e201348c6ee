"""Calls about commands: whether the user may run them, and one that runs in a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import attrs

from redisson_dq.scripts.script import load
from redisson_dq.wire.calls.base import call_on
from redisson_dq.wire.request import Request

__all__ = ["missing_rights", "run_command", "unknown_commands"]

T = TypeVar("T")


def run_command(request: Request[T]) -> Request[T]:
    """Runs a plain command by a script, which looks for the fence of a transaction first."""
    keys = [key for key in request.types if key]
    return attrs.evolve(request, script=load("run_command"), words=(len(keys), *keys, *request.words))


def missing_rights(keys: Sequence[str], commands: Sequence[str]) -> Request[list[str]]:
    """Those of the commands that the user may not run; all of them on Redis 6.2, which cannot be asked."""
    return call_on("missing_rights", dict.fromkeys(keys, ""), commands, lambda reply: [name.decode() for name in reply])


def unknown_commands(keys: Sequence[str], commands: Sequence[str]) -> Request[list[str]]:
    """Those of the commands that the server does not know. Subcommands are left out."""
    words = sorted({command.partition(" ")[0] for command in commands})
    return call_on("unknown_commands", dict.fromkeys(keys, ""), words, lambda reply: [name.decode() for name in reply])
