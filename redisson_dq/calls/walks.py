"""Calls on all that waits, as walks: several short requests, sent one after the other.

The scripts carry a walk out (``scripts/include/walk.lua``). Up to some 10,000 waiting values take a single request.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import TypeVar

from redisson_dq.errors import RedisConnectionError, RedisReplyError
from redisson_dq.wire import calls
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["Walk", "contained", "missing", "removed", "waiting"]

T = TypeVar("T")
U = TypeVar("U")

#: A generator: gives requests, is sent their results, and returns the result of the walk.
Walk = Generator[Request[calls.Walked[T]], calls.Walked[T], U]


def contained(keys: QueueKeys, values: Sequence[bytes]) -> Walk[list[int], bool]:
    """Whether each of the values waits."""
    return not (yield from missing(keys, values))


def missing(keys: QueueKeys, values: Iterable[bytes]) -> Walk[list[int], list[bytes]]:
    """Those of the values that do not wait."""
    left, cursor = list(dict.fromkeys(values)), b""
    while True:
        walked = yield calls.contains(keys, left, cursor)
        met, cursor = set(walked.result), walked.cursor
        left = [value for index, value in enumerate(left) if index not in met]
        if not left or not cursor:
            return left


def removed(keys: QueueKeys, which: str, values: Sequence[bytes], remember_ms: int) -> Walk[int, int]:
    """How many were taken out: the "first" that equals one of the values, "all" that do, or the "others"."""
    count, cursor = 0, b""
    while True:
        try:
            walked = yield calls.remove(keys, which, values, remember_ms, cursor)
        except (RedisConnectionError, RedisReplyError) as error:
            # Values that earlier requests of the walk took out stay out.
            error.maybe_done = error.maybe_done or count > 0
            raise
        count, cursor = count + walked.result, walked.cursor
        if not cursor:
            return count


def waiting(keys: QueueKeys) -> Walk[list[bytes], list[bytes]]:
    """All entries, each once."""
    members: dict[bytes, None] = {}
    cursor = b""
    while True:
        walked = yield calls.waiting_part(keys, cursor)
        members.update(dict.fromkeys(walked.result))
        cursor = walked.cursor
        if not cursor:
            return list(members)
