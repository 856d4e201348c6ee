"""The plain commands a queue needs, one typed function each. An operation of several commands is a script.

A move of values needs no more memory in all, but the command that adds them does. Where Redis refuses the command, a
script does it (``when_full``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import attrs

from redisson_dq.errors import RedisReplyError
from redisson_dq.scripts.script import load
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = [
    "End",
    "POP",
    "PUSH",
    "SIDES",
    "add",
    "channels",
    "count_keys",
    "get_field",
    "get_number",
    "has_field",
    "head",
    "leases_over",
    "length_of",
    "members_of",
    "move",
    "peek",
    "ping",
    "pop_many",
    "scan",
    "score_of",
    "server_time_us",
    "set_aside",
    "set_field",
    "slice_of",
    "unset_field",
    "whole_ms",
    "write_nothing",
]

#: The end of a list that values are taken from.
End = Literal["first", "last"]

#: How a command on a list calls its ends.
SIDES: dict[End, str] = {"first": "LEFT", "last": "RIGHT"}
POP: dict[End, str] = {"first": "LPOP", "last": "RPOP"}
#: How values are taken from each end, and pushed to it.
PUSH: dict[End, str] = {"first": "LPUSH", "last": "RPUSH"}


def _as_is(reply: Any) -> Any:
    return reply


def ping() -> Request[Any]:
    return Request(words=("PING",), types={"": ""}, parse=_as_is)


def server_time_us(key: str) -> Request[int]:
    """The clock of the key's server, in epoch microseconds."""
    return Request(words=("TIME",), types={key: ""}, parse=lambda reply: int(reply[0]) * 1_000_000 + int(reply[1]))


def scan(cursor: int, pattern: str, count: int) -> Request[tuple[int, list[bytes]]]:
    """The keys of one node from a cursor on, and the next cursor. Redis looks at some ``count`` keys."""
    words = ("SCAN", cursor, "MATCH", pattern, "COUNT", count)
    return Request(words=words, types={"": ""}, parse=lambda reply: (int(reply[0]), reply[1]))


def channels(pattern: str) -> Request[list[bytes]]:
    """The channels that somebody hears through one node."""
    return Request(words=("PUBSUB", "CHANNELS", pattern), types={"": ""}, parse=_as_is)


# -- one list --------------------------------------------------------------------------------------------------------


def leases_over(keys: QueueKeys, now_ms: int) -> Request[int]:
    """How many leases have a deadline that is over."""
    return Request(words=("ZCOUNT", keys.leases, "-inf", now_ms), types={keys.leases: "zset"}, parse=int)


def length_of(key: str) -> Request[int]:
    return Request(words=("LLEN", key), types={key: "list"}, parse=int)


def slice_of(key: str, start: int = 0, stop: int = -1) -> Request[list[bytes]]:
    return Request(words=("LRANGE", key, start, stop), types={key: "list"}, parse=list)


def peek(key: str, index: int = 0) -> Request[bytes | None]:
    return Request(words=("LINDEX", key, index), types={key: "list"}, parse=_as_is)


def add(key: str, end: End, values: list[bytes]) -> Request[int]:
    """Adds values to that end, one after the other. Returns the new length."""
    return Request(words=(PUSH[end], key, *values), types={key: "list"}, parse=int)


def pop_many(key: str, end: End, limit: int) -> Request[list[bytes]]:
    return Request(words=(POP[end], key, limit), types={key: "list"}, parse=lambda reply: reply or [])


def move(source: str, destination: str, from_end: End, to_end: End) -> Request[bytes | None]:
    words = (source, destination, SIDES[from_end], SIDES[to_end])
    types = {source: "list", destination: "list"}
    script: Request[bytes | None] = Request(script=load("move"), words=(2, *words), types=types, parse=_as_is)
    return Request(words=("LMOVE", *words), types=types, parse=_as_is, when_full=script)


def set_aside(key: str, values: list[bytes]) -> Request[int]:
    """Puts values that were taken, and that the codec could not read, into the list ``key``."""
    request = add(key, "last", values)
    script = Request(script=load("push"), words=(1, key, PUSH["last"], *values), types=request.types, parse=int)
    return attrs.evolve(request, when_full=script)


def members_of(key: str) -> Request[list[bytes]]:
    """All members of a zset."""
    return Request(words=("ZRANGE", key, 0, -1), types={key: "zset"}, parse=list)


# -- any number of keys of any type ----------------------------------------------------------------------------------


def count_keys(keys: Iterable[str]) -> Request[int]:
    """How many of the keys exist."""
    return Request(words=("EXISTS", *keys), types=dict.fromkeys(keys, ""), parse=int)


# -- the queue's other keys ------------------------------------------------------------------------------------------


def get_number(key: str) -> Request[int]:
    """The number in a string, 0 when there is none."""
    return Request(words=("GET", key), types={key: "string"}, parse=lambda reply: _number(reply or b"0", key))


def get_field(key: str, field: str) -> Request[int | None]:
    """The number in a field of a hash."""
    return Request(
        words=("HGET", key, field),
        types={key: "hash"},
        parse=lambda reply: None if reply is None else _number(reply, f"{key} {field}"),
    )


def score_of(key: str, member: bytes) -> Request[int | None]:
    """The score of a member of a zset in whole milliseconds, or None where it is no member."""
    return Request(
        words=("ZSCORE", key, member),
        types={key: "zset"},
        parse=lambda reply: None if reply is None else whole_ms(reply),
    )


def has_field(key: str, field: bytes) -> Request[bool]:
    """Whether a hash has a field."""
    return Request(words=("HGET", key, field), types={key: "hash"}, parse=lambda reply: reply is not None)


def _number(reply: bytes, where: str) -> int:
    try:
        return int(reply)
    except ValueError:
        raise RedisReplyError(
            f"key {where!r} holds {reply!r:.60}, which is not a number; something else wrote it"
        ) from None


def set_field(key: str, field: str, number: int) -> Request[bool]:
    """Whether the field was not there before."""
    return Request(words=("HSET", key, field, number), types={key: "hash"}, parse=bool)


def unset_field(key: str, field: str) -> Request[bool]:
    """Whether the field was there."""
    return Request(words=("HDEL", key, field), types={key: "hash"}, parse=bool)


def write_nothing(key: str) -> Request[object]:
    """A write to a list that changes nothing. A replica refuses it."""
    return Request(words=("LPOP", key, 0), types={key: "list"}, parse=lambda reply: reply)


def head(keys: QueueKeys) -> Request[int | None]:
    """The due time of the next entry in epoch ms, or None."""
    words = ("ZRANGE", keys.timeout, 0, 0, "WITHSCORES")
    return Request(words=words, types={keys.timeout: "zset"}, parse=lambda reply: whole_ms(reply[1]) if reply else None)


def whole_ms(score: bytes) -> int | None:
    """A score as whole milliseconds, rounded up; None for one that never comes (infinity)."""
    number = float(score)
    if number in (float("inf"), float("-inf")):
        return None if number > 0 else 0
    return -int(-number // 1)
