"""Calls on keys of any queue: exact contents that are read or moved, and the commands that a user may run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import attrs

from redisson_dq.scripts.script import load
from redisson_dq.wire.calls.base import call_on
from redisson_dq.wire.request import Request, Word

__all__ = ["DoneMark", "ExchangeStep", "exchange", "missing_rights", "page", "run_command", "unknown_commands"]

T = TypeVar("T")

#: The kind of a step, the key, and two words: a member and its score, a field and its value, or an element and nothing.
ExchangeStep = tuple[str, str, Word, Word]


@attrs.frozen(kw_only=True)
class DoneMark:
    """Where a script notes that it was carried out: a field of a hash, and a number that grows."""

    key: str
    name: str
    number: int


def exchange(
    types: dict[str, str],
    items: Sequence[Sequence[ExchangeStep]],
    *,
    mark: DoneMark | None = None,
    timeout: str = "",
    channel: str = "",
) -> Request[list[bool] | None]:
    """Whether each item was moved, or None where the mark shows that all of it was done before.

    ``types`` has every key of the steps. In it the list of envelopes follows its timeout zset.
    """
    places = {key: number for number, key in enumerate(types, 1)}
    words: list[Word] = [
        0 if mark is None else places[mark.key],
        places.get(timeout, 0),
        "" if mark is None else mark.name,
        0 if mark is None else mark.number,
        channel,
    ]
    for steps in items:
        words.append(len(steps))
        for kind, key, first, second in steps:
            words += (kind, places[key], first, second)
    return call_on("exchange", types, words, _done)


def _done(reply: bytes) -> list[bool] | None:
    return None if reply == b"done" else [each == 49 for each in reply]


def page(key: str, after: tuple[bytes, bytes] | None, most: int) -> Request[list[tuple[bytes, bytes]]]:
    """Members of a sorted set and their scores as Redis writes them, after a member that was read before."""
    words = (*(after or (b"", b"")), most)
    return call_on("page", {key: "zset"}, words, lambda reply: list(zip(reply[::2], reply[1::2], strict=True)))


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
