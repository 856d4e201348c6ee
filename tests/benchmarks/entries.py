"""Puts many entries into a queue, as each kind of producer writes them, and gives them their due times.

Entries are written an hour ahead, each with its number as its value. Then ZADD sets the due times of the measurement.
So every kind has the same due times, to the millisecond, however long the writing took.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.keys import QueueKeys

__all__ = ["java", "lean", "make_due", "mirrored", "number_of", "numbered"]

_HOUR = 3_600.0
_BATCH = 1000
_SEED = 20240302


def mirrored(url: str, queue: str, count: int, size: int = 0) -> None:
    """By ``offer_all`` of this library: in the zset and in the list, with ids that grow.

    Like the others, it takes the server's URL, the queue's name, the number of entries, and the minimum bytes of a
    value.
    """
    _offer_all(url, queue, count, size, is_lean=False)


def lean(url: str, queue: str, count: int, size: int = 0) -> None:
    """By ``offer_all`` of this library with ``lean=True``: only in the zset."""
    _offer_all(url, queue, count, size, is_lean=True)


def java(url: str, queue: str, count: int, size: int = 0) -> None:
    """The bytes that Redisson writes: in the zset and in the list, with random ids. Uses pipelined plain commands."""
    keys, chance = QueueKeys.of(queue), random.Random(_SEED)
    now_ms = time.time_ns() // 1_000_000
    with redis.Redis.from_url(url) as plain, plain.pipeline(transaction=False) as pipeline:
        for first in range(0, count, _BATCH):
            numbers = range(first, min(first + _BATCH, count))
            members = [wrap(Envelope.CURRENT, chance.randbytes(8), _value(number, size).encode()) for number in numbers]
            due_ms = [now_ms + round(_far(chance) * 1000) for _ in members]
            pipeline.zadd(keys.timeout, dict(zip(members, due_ms, strict=True)))
            pipeline.rpush(keys.envelopes, *members)
            pipeline.execute()


def numbered(admin: redis.Redis, keys: QueueKeys) -> list[bytes]:
    """All members of the zset in the order of their offers."""
    members: list[bytes] = admin.zrange(keys.timeout, 0, -1)  # type: ignore[assignment]
    return sorted(members, key=number_of)


def number_of(member: bytes) -> int:
    """The value of an entry in the current envelope, whatever the length of its id."""
    return int(member[member[0] + 9 :])


def make_due(admin: redis.Redis, keys: QueueKeys, members: Sequence[bytes], offsets_ms: Sequence[int]) -> int:
    """Sets each member's due time by its offset, and notifies the consumers. Returns the start of the offsets, in epoch
    ms."""
    for patience in (1, 2, 4):
        start_ms = time.time_ns() // 1_000_000 + patience * (500 + len(members) // 40)
        with admin.pipeline(transaction=False) as pipeline:
            for first in range(0, len(members), _BATCH):
                batch = slice(first, first + _BATCH)
                due_ms = (start_ms + offset for offset in offsets_ms[batch])
                pipeline.zadd(keys.timeout, dict(zip(members[batch], due_ms, strict=True)))
            pipeline.execute()
        first_ms = start_ms + min(offsets_ms)
        # Otherwise the first was due before the last one had its due time. Nobody was notified yet, so all are set
        # again.
        if time.time_ns() // 1_000_000 < first_ms:
            admin.publish(keys.channel, first_ms)
            return start_ms
    raise RuntimeError("the machine is too slow: items were due before the last one had its due time")


def _offer_all(url: str, queue: str, count: int, size: int, *, is_lean: bool) -> None:
    chance = random.Random(_SEED)
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        delayed = client.delayed_queue(queue, transfer=False, lean=is_lean)
        delayed.offer_all((_value(number, size), _far(chance)) for number in range(count))


def _value(number: int, size: int) -> str:
    return f"{number:0{size}}"


def _far(chance: random.Random) -> float:
    # Random, so that the order of the zset is not that of the list.
    return chance.uniform(_HOUR, 2 * _HOUR)
