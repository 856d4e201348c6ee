"""A worker process whose values have keys, until it is killed: ``python -m tests.workers.in_turns JSON``.

It notes each value in the list ``log`` when it begins with it, and fails at random.
"""

from __future__ import annotations

import json
import random
import sys

import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.worker import Retry, Worker, fixed


def work(url: str, seed: int, visibility: float, failing: float) -> None:
    chance = random.Random(seed)
    worker = Worker.connect(url, codec=StringCodec(), visibility_timeout=visibility)
    log = redis.Redis.from_url(url)

    @worker.handler(
        "orders",
        concurrency=4,
        key=lambda value: value.partition("-")[0],
        retry=Retry(limit=None, backoff=fixed(0.005)),
        crash_limit=None,
    )
    def handle(value: str) -> None:
        log.rpush("log", value)
        if chance.random() < failing:
            raise ValueError("again")

    worker.start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    worker.stop()


if __name__ == "__main__":
    work(**json.loads(sys.argv[1]))
