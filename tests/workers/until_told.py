"""A process with a worker, until it is told to stop or is killed: ``python -m tests.workers.until_told JSON``.

Its handler notes each value that it has handled in the list ``done``, as ``value attempt``.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import threading
import time
from typing import Any

import redis

import redisson_dq
import redisson_dq.aio.worker
import redisson_dq.worker
from redisson_dq.codecs import StringCodec
from redisson_dq.worker import HandedBack, Happening, Retry, fixed


class Work:
    """What both flavours do with a value."""

    def __init__(self, url: str, seconds: float, failures: float, seed: int) -> None:
        self.redis = redis.Redis.from_url(url)
        self.seconds = seconds
        self.failures = failures
        self.chance = random.Random(seed)
        self._began = threading.Event()

    def pause(self) -> float:
        if not self._began.is_set():
            self._began.set()
            say("handling")
        return self.seconds

    def note(self, value: str, event: Any) -> None:
        if self.chance.random() < self.failures:
            raise ValueError("by chance")
        self.redis.rpush("done", f"{value} {event.attempt}")

    def hook(self, happening: Happening) -> None:
        if isinstance(happening, HandedBack):
            self.redis.incr("handed back")


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def in_threads(url: str, work: Work, handler: dict[str, Any], worker: dict[str, Any]) -> None:
    made = redisson_dq.worker.Worker.connect(url, codec=StringCodec(), **worker)
    made.on()(work.hook)

    @made.handler("orders", retry=Retry(limit=None, backoff=fixed(0.01)), crash_limit=None, **handler)
    def handle(value: Any, event: Any) -> None:
        time.sleep(work.pause())
        work.note(value, event)

    say("ready")
    made.run()


def in_a_loop(url: str, work: Work, handler: dict[str, Any], worker: dict[str, Any]) -> None:
    made = redisson_dq.aio.worker.Worker.connect(url, codec=StringCodec(), **worker)
    made.on()(work.hook)

    @made.handler("orders", retry=Retry(limit=None, backoff=fixed(0.01)), crash_limit=None, **handler)
    async def handle(value: Any, event: Any) -> None:
        await asyncio.sleep(work.pause())
        work.note(value, event)

    say("ready")
    asyncio.run(made.run())


def main(
    url: str,
    flavour: str,
    seconds: float = 0.0,
    failures: float = 0.0,
    seed: int = 0,
    handler: dict[str, Any] | None = None,
    worker: dict[str, Any] | None = None,
) -> None:
    work = Work(url, seconds, failures, seed)
    (in_threads if flavour == "sync" else in_a_loop)(url, work, handler or {}, worker or {})
    say("stopped")


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
