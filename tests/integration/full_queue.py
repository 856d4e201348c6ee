"""A queue with contents of each kind, and the contents of its keys."""

from __future__ import annotations

from typing import Any

import redis

import redisson_dq
from redisson_dq.codecs import Codec, StringCodec
from redisson_dq.wire.envelope import Envelope, wrap

__all__ = ["contents", "fill"]

HOUR = 3600


def contents(admin: redis.Redis, name: str = "orders") -> dict[str, Any]:
    """All keys of the queue of that name with their contents, except short-lived notes about clients."""
    found: dict[str, Any] = {}
    for text in sorted(key.decode() for key in admin.scan_iter("*")):
        if not (text == name or f"{{{name}}}" in text) or text.split(":")[0] in (
            "redisson_dq_mover",
            "redisson_dq_alarm",
        ):
            continue
        kind = admin.type(text)
        if kind == b"list":
            found[text] = admin.lrange(text, 0, -1)
        elif kind == b"zset":
            found[text] = admin.zrange(text, 0, -1, withscores=True)
        elif kind == b"hash":
            found[text] = admin.hgetall(text)
        else:
            found[text] = admin.get(text)
    return found


def fill(url: str, admin: redis.Redis, name: str = "orders", *, count: int = 5, codec: Codec | None = None) -> None:
    """Puts ``count`` items of each kind in."""
    codec = codec or StringCodec()
    with (
        redisson_dq.connect(url, codec=codec) as client,
        redisson_dq.connect(url, codec=codec, envelope="legacy") as old,
    ):
        delayed = client.delayed_queue(name, transfer=False)
        lean = client.delayed_queue(name, transfer=False, lean=True)
        queue = client.blocking_queue(name, transfer=False)
        for number in range(count):
            queue.add_all([f"lease {number}", f"retry {number}", f"dead {number}", f"again {number}"])
        for delivery in queue.receive(4 * count, timeout=5, visibility_timeout=HOUR):
            kind = delivery.value.partition(" ")[0]
            if kind == "retry":
                delivery.nack(delay=HOUR, reason="later")
            elif kind == "dead":
                delivery.reject("no such order")
            elif kind == "again":
                delivery.nack(reason="once more")
        for number in range(count):
            delayed.offer(f"plain {number}", HOUR - number)
            lean.offer(f"lean {number}", HOUR - number)
            old.delayed_queue(name, transfer=False).offer(f"legacy {number}", HOUR - number)
            delayed.offer(f"named {number}", HOUR, id=f"id {number}")
            delayed.offer(f"payload {number}", HOUR, deduplicate_for=2 * HOUR)
            delayed.offer(f"context {number}", HOUR, context={"trace": str(number)})
            delayed.offer(f"late {number}", HOUR, expires=HOUR)
            delayed.offer(f"cancelled {number}", HOUR, id=f"gone {number}").cancel()
            delayed.offer_recurring(f"recurring {number}", f"rule {number}", every=HOUR)
            queue.add(f"ready {number}")
            queue.add("equal")
    tag = f"{{{name}}}"
    for number in range(count):
        admin.rpush(f"redisson_dq_undecodable:{tag}", b"\xff%d" % number)
        admin.rpush(f"redisson_dq_expired:{tag}", b"1795256046475 expired %d" % number)
        admin.rpush(f"redisson_dq_quarantine:{tag}", b"1795256046475 \x01junk %d" % number)
        admin.zadd(f"redisson_dq_newer:{tag}", {b"\x0c" + b"k" * 12 + b"\x01\0\0\0\0\0\0\0%d" % number: 1795256046475})
    # An entry of Java's has a random id.
    for number in range(count):
        member = wrap(Envelope.CURRENT, bytes([255 - number] * 8), b"java %d" % number)
        admin.rpush(f"redisson_delay_queue:{tag}", member)
        admin.zadd(f"redisson_delay_queue_timeout:{tag}", {member: 4_000_000_000_000 + number})
