"""Calls on all that waits, as walks: several short requests, sent one after the other.

The scripts carry a walk out (``scripts/include/walk.lua``). Up to some 10,000 waiting values take a single request.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import Any, Generic, TypeVar

import attrs

from redisson_dq.errors import RedisConnectionError, RedisReplyError
from redisson_dq.wire.calls.base import call
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["WHOLE", "Walk", "Walked", "contained", "contains", "missing", "remove", "removed", "waiting"]

T = TypeVar("T")
U = TypeVar("U")

#: The cursor of a call that walks all of it, however long that takes.
WHOLE = b"whole"


@attrs.frozen
class Walked(Generic[T]):
    """The result of one call of a walk. ``cursor`` is for the next call, and empty at the end."""

    cursor: bytes
    result: T


#: A generator: gives requests, is sent their results, and returns the result of the walk.
Walk = Generator[Request[Walked[T]], Walked[T], U]


# -- one call of a walk ----------------------------------------------------------------------------------------------


def contains(keys: QueueKeys, values: Sequence[bytes], cursor: bytes) -> Request[Walked[list[int]]]:
    """The indexes of those of these values that wait; no value twice."""
    return call("contains", keys, (cursor, *values), _walked)


def remove(
    keys: QueueKeys, which: str, values: Sequence[bytes], remember_ms: int, cursor: bytes
) -> Request[Walked[int]]:
    """``which`` is "first", "all" or "others"; gives how many waiting values were taken out."""
    return call("remove", keys, (cursor, which, remember_ms, *values), _walked)


def _waiting_part(keys: QueueKeys, cursor: bytes) -> Request[Walked[list[bytes]]]:
    """Entries in the order of ``poll``."""
    return call("waiting_part", keys, (cursor,), _walked)


def _walked(reply: list[Any]) -> Walked[Any]:
    cursor, result = reply
    return Walked(cursor, result)


# -- walks -----------------------------------------------------------------------------------------------------------


def contained(keys: QueueKeys, values: Sequence[bytes]) -> Walk[list[int], bool]:
    """Whether each of the values waits."""
    return not (yield from missing(keys, values))


def missing(keys: QueueKeys, values: Iterable[bytes]) -> Walk[list[int], list[bytes]]:
    """Those of the values that do not wait."""
    left, cursor = list(dict.fromkeys(values)), b""
    while True:
        walked = yield contains(keys, left, cursor)
        met, cursor = set(walked.result), walked.cursor
        left = [value for index, value in enumerate(left) if index not in met]
        if not left or not cursor:
            return left


def removed(keys: QueueKeys, which: str, values: Sequence[bytes], remember_ms: int) -> Walk[int, int]:
    """How many were taken out: the "first" that equals one of the values, "all" that do, or the "others"."""
    count, cursor = 0, b""
    while True:
        try:
            walked = yield remove(keys, which, values, remember_ms, cursor)
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
        walked = yield _waiting_part(keys, cursor)
        members.update(dict.fromkeys(walked.result))
        cursor = walked.cursor
        if not cursor:
            return list(members)
