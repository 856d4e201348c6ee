"""Calls that offer values, take them before their time, look them up by their bytes, and remove them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import attrs

from redisson_dq.wire.calls.base import call, call_to
from redisson_dq.wire.calls.leases import LeaseKeys, call_with_dead
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request, Word

__all__ = [
    "WHOLE",
    "Added",
    "Walked",
    "clear",
    "contains",
    "offer",
    "offer_all",
    "offer_in_context",
    "offer_item",
    "poll",
    "poll_last_to",
    "read_waiting",
    "remove",
    "size",
    "waiting_part",
    "written",
]

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class Added:
    """The result of an offer. ``outcome`` is the script's word, ``count`` how many values are in.

    Of a duplicate, ``fate`` is the state of the item that has the id, ``value`` its value if it is not settled.
    """

    outcome: str
    count: int
    entry: bytes
    due_ms: int
    now_us: int
    fate: str = ""
    value: bytes | None = None


def offer(keys: QueueKeys, envelope: Envelope, due: Word, value: bytes, *, lean: bool = False) -> Request[Added]:
    """``due`` is a word of ``_times.due_word``."""
    return call("offer", keys, (written(envelope, lean), due, value), _offered)


def offer_all(
    keys: QueueKeys, envelope: Envelope, delays: Sequence[float], values: Sequence[bytes], *, lean: bool = False
) -> Request[Added]:
    """At most 1,000 encoded values with their delays in seconds."""
    return call("offer_all", keys, (written(envelope, lean), _doubles(delays), *values), _offered)


def offer_in_context(
    keys: QueueKeys,
    envelope: Envelope,
    delays: Sequence[float],
    values: Sequence[bytes],
    context: bytes,
    *,
    lean: bool = False,
) -> Request[Added]:
    """Like :func:`offer_all`, with a context (JSON) for each value."""
    return call("offer_in_context", keys, (written(envelope, lean), context, _doubles(delays), *values), _offered)


def _doubles(numbers: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(numbers)}d", *numbers)


def _offered(reply: list[Any]) -> Added:
    count, entry, due_ms, now_us = reply
    return Added(outcome="offered" if count else "full", count=count, entry=entry, due_ms=due_ms, now_us=now_us)


def offer_item(
    keys: LeaseKeys,
    envelope: Envelope,
    due: Word,
    value: bytes,
    *,
    key: Word,
    on_duplicate: str,
    lateness_ms: int | None,
    duplicate_us: int,
    remember_ms: int,
    context: bytes = b"",
    lean: bool = False,
) -> Request[Added]:
    """``key`` is "i" and an id of the caller's, "h" and a hash of the payload, or empty."""
    lateness = "" if lateness_ms is None else lateness_ms
    args = (written(envelope, lean), due, value, key, on_duplicate, lateness, duplicate_us, remember_ms, context)
    return call_with_dead("offer_item", keys, args, _offered_item)


def _offered_item(reply: list[Any]) -> Added:
    outcome, entry, due_ms, now_us, *duplicate = reply
    return Added(
        outcome=outcome.decode(),
        count=int(outcome in (b"offered", b"replaced")),
        entry=entry,
        due_ms=due_ms,
        now_us=now_us,
        fate=duplicate[0].decode() if duplicate else "",
        value=duplicate[1] if len(duplicate) > 1 else None,
    )


def written(envelope: Envelope, lean: bool) -> str:
    """The format that a script writes. Lean entries have the current envelope."""
    return "lean" if lean else envelope.value


def size(keys: QueueKeys) -> Request[int]:
    """How many values wait."""
    return call("size", keys, (), int)


def clear(keys: QueueKeys) -> Request[None]:
    """Takes out everything that waits."""
    return call("clear", keys, (), lambda reply: None)


def poll(keys: QueueKeys, limit: int) -> Request[tuple[list[bytes], int]]:
    """At most ``limit`` values, in offer order and then the lean ones; how many members were set aside on the way."""
    return call("poll", keys, (limit,), lambda reply: (reply[0], reply[1]))


def poll_last_to(keys: QueueKeys, destination: str) -> Request[tuple[bytes | None, int]]:
    """The last value in that order, now first in ``destination``; how many members were set aside on the way."""
    return call_to(
        "poll_last_to", keys, destination, (), lambda reply: (reply[1] if len(reply) > 1 else None, reply[0])
    )


def read_waiting(keys: QueueKeys, start: int, stop: int, *, part: bool = False) -> Request[list[bytes]]:
    """The entries from index ``start`` to ``stop`` (-1: to the end), in the order of ``poll``.

    With ``part`` they are some 1 MB at most, and one at least.
    """
    return call("read_waiting", keys, (start, stop, "part" if part else ""), list)


@attrs.frozen
class Walked(Generic[T]):
    """The result of one call of a walk over waiting items. ``cursor`` is for the next call, and empty at the end."""

    cursor: bytes
    result: T


#: The cursor of a call that walks all of it, however long that takes.
WHOLE = b"whole"


def contains(keys: QueueKeys, values: Sequence[bytes], cursor: bytes) -> Request[Walked[list[int]]]:
    """The indexes of those of these values that wait; no value twice."""
    return call("contains", keys, (cursor, *values), _walked)


def remove(
    keys: QueueKeys, which: str, values: Sequence[bytes], remember_ms: int, cursor: bytes
) -> Request[Walked[int]]:
    """``which`` is "first", "all" or "others"; gives how many waiting values were taken out."""
    return call("remove", keys, (cursor, which, remember_ms, *values), _walked)


def waiting_part(keys: QueueKeys, cursor: bytes) -> Request[Walked[list[bytes]]]:
    """Entries in the order of ``poll``."""
    return call("waiting_part", keys, (cursor,), _walked)


def _walked(reply: list[Any]) -> Walked[Any]:
    cursor, result = reply
    return Walked(cursor, result)
