"""The plain commands a queue needs, one typed function each. What takes more than one command is a script."""

from __future__ import annotations

from typing import Any, Literal

from .keys import QueueKeys
from .request import Request

__all__ = [
    "End",
    "head",
    "keep_undecodable",
    "peek",
    "ping",
    "pop",
    "pop_many",
    "put_back",
    "slice_of",
    "length_of",
]

#: The end of a list that values are taken from.
End = Literal["first", "last"]


def _as_is(reply: Any) -> Any:
    return reply


def ping() -> Request[Any]:
    return Request(words=("PING",), types={"": ""}, parse=_as_is)


def length_of(key: str) -> Request[int]:
    return Request(words=("LLEN", key), types={key: "list"}, parse=int)


def slice_of(key: str, start: int = 0, stop: int = -1) -> Request[list[bytes]]:
    return Request(words=("LRANGE", key, start, stop), types={key: "list"}, parse=list)


def peek(key: str) -> Request[bytes | None]:
    return Request(words=("LINDEX", key, 0), types={key: "list"}, parse=_as_is)


def pop(key: str, end: End) -> Request[bytes | None]:
    return Request(words=("LPOP" if end == "first" else "RPOP", key), types={key: "list"}, parse=_as_is)


def pop_many(key: str, end: End, limit: int) -> Request[list[bytes]]:
    words = ("LPOP" if end == "first" else "RPOP", key, limit)
    return Request(words=words, types={key: "list"}, parse=lambda reply: reply or [])


def put_back(key: str, end: End, values: list[bytes]) -> Request[int]:
    """Returns popped values to the end they came from; the one popped last goes back first."""
    words = ("LPUSH" if end == "first" else "RPUSH", key, *reversed(values))
    return Request(words=words, types={key: "list"}, parse=int)


def keep_undecodable(keys: QueueKeys, values: list[bytes]) -> Request[int]:
    return Request(words=("RPUSH", keys.undecodable, *values), types={keys.undecodable: "list"}, parse=int)


def head(keys: QueueKeys) -> Request[int | None]:
    """The due time of the next entry in epoch ms, or None."""
    words = ("ZRANGE", keys.timeout, 0, 0, "WITHSCORES")
    return Request(words=words, types={keys.timeout: "zset"}, parse=_head_score)


def _head_score(reply: list[bytes]) -> int | None:
    return whole_ms(reply[1]) if reply else None


def whole_ms(score: bytes) -> int | None:
    """A score as whole milliseconds, rounded up; None for one that never comes (infinity)."""
    number = float(score)
    if number in (float("inf"), float("-inf")):
        return None if number > 0 else 0
    return -int(-number // 1)
