"""A process that receives and ends its leases, until it is killed: ``python -m tests.workers.of_leases JSON``.

In its usual mode it goes on at random. Whatever it acks is noted in the list ``done`` by the same transaction, so each
value that is gone has one note. Everything else it does at random: nack, nack with a delay, hand back, reject, extend,
or nothing.
"""

from __future__ import annotations

import contextlib
import json
import random
import sys
from collections.abc import Callable
from typing import Any

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import LeaseLostError, RedissonDQError


def work(url: str, seed: int, visibility: float, envelope: Any = "current") -> None:
    chance = random.Random(seed)
    client = redisson_dq.connect(url, codec=StringCodec(), envelope=envelope)
    queue = client.blocking_queue("orders", delivery_limit=None)
    done = client.blocking_queue("done", transfer=False)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        try:
            batch = queue.receive(chance.choice((1, 1, 5, 50)), visibility_timeout=visibility)
        except RedissonDQError:
            continue
        for delivery in batch:
            step = chance.random()
            if step < 0.7:
                with contextlib.suppress(LeaseLostError), client.pipeline(transaction=True) as pipe:
                    pipe.add(delivery.requests.ack())
                    pipe.add(done.requests.add(delivery.value))
            elif step < 0.8:
                delivery.nack()
            elif step < 0.87:
                delivery.nack(delay=chance.random() * 0.05)
            elif step < 0.9:
                delivery.nack(count=False)
            elif step < 0.92:
                delivery.reject()
            elif step < 0.96:
                delivery.extend(visibility)


def hold(url: str, count: int, visibility: float) -> None:
    """Receives so many, says so, and does nothing more."""
    client = redisson_dq.connect(url, codec=StringCodec())
    queue = client.blocking_queue("orders")
    held: list[object] = []
    while len(held) < count:
        held += queue.receive(count - len(held), visibility_timeout=visibility)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()


STEPS: dict[str, Callable[[Any, list[Any]], object]] = {
    "receive": lambda queue, _: queue.receive(visibility_timeout=0.7),
    "receive many": lambda queue, _: queue.receive(10, visibility_timeout=0.7),
    "ack": lambda _, held: held[0].ack(),
    "ack_all": lambda queue, held: queue.ack_all(held),
    "nack": lambda _, held: held[0].nack(),
    "nack later": lambda _, held: held[0].nack(delay=0.3),
    "hand back": lambda _, held: held[0].nack(count=False),
    "reject": lambda _, held: held[0].reject(),
    "extend": lambda _, held: held[0].extend(0.7),
    "redrive": lambda queue, _: queue.redrive(),
    "purge_dead": lambda queue, _: queue.purge_dead(),
    "renew": lambda queue, _: queue.receive(visibility_timeout=0.7, renew=True),
}


def step(url: str, call: str, first: int) -> None:
    """Receives so many, says so, and makes one call when it is told to."""
    client = redisson_dq.connect(url, codec=StringCodec())
    queue = client.blocking_queue("orders", transfer=False)
    held = queue.receive(first, visibility_timeout=0.7) if first else []
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    kept = STEPS[call](queue, held)
    sys.stdout.write(f"done {kept}\n")
    sys.stdout.flush()
    sys.stdin.readline()


if __name__ == "__main__":
    arguments = json.loads(sys.argv[1])
    (step if "call" in arguments else hold if "count" in arguments else work)(**arguments)
