"""What a Python process of its own does in a test: ``python -m tests.workers.taking take|exchange JSON``.

It reports on stdout, one JSON text a line.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from typing import Any

import redisson_dq
from redisson_dq._redis.tuning import tuned
from redisson_dq.errors import ClosedError


def report(line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def take(url: str, queue: str, count: int) -> None:
    """A consumer that does nothing but consume."""
    with tuned(probe_interval=3600), redisson_dq.connect(url) as client:
        ready = client.blocking_queue(queue)
        for _ in range(count):
            report(ready.take())


async def take_async(url: str, queue: str, count: int) -> None:
    with tuned(probe_interval=3600):
        opening = redisson_dq.aio.connect(url)
    async with opening as client:
        ready = client.blocking_queue(queue)
        for _ in range(count):
            report(await ready.take())


def exchange(url: str, queue: str, items: list[tuple[int, float]]) -> None:
    """Takes all the time, and offers when it gets a line. Ends at the end of stdin."""
    client = redisson_dq.connect(url)
    ready = client.blocking_queue(queue)

    def consume() -> None:
        while True:
            try:
                value = ready.take()
            except ClosedError:
                return
            report(value)

    consumer = threading.Thread(target=consume)
    consumer.start()
    report("ready")
    sys.stdin.readline()
    delayed = client.delayed_queue(ready)
    half = len(items) // 2
    for value, delay in items[:half]:
        delayed.offer(value, delay)
    delayed.offer_all(items[half:])
    report("offered")
    sys.stdin.read()
    client.close()
    consumer.join()


async def exchange_async(url: str, queue: str, items: list[tuple[int, float]]) -> None:
    client = await redisson_dq.aio.connect(url).open()
    ready = client.blocking_queue(queue)

    async def consume() -> None:
        while True:
            try:
                value = await ready.take()
            except ClosedError:
                return
            report(value)

    consumer = asyncio.create_task(consume())
    report("ready")
    await asyncio.to_thread(sys.stdin.readline)
    delayed = client.delayed_queue(ready)
    half = len(items) // 2
    for value, delay in items[:half]:
        await delayed.offer(value, delay)
    await delayed.offer_all(items[half:])
    report("offered")
    await asyncio.to_thread(sys.stdin.read)
    await client.close()
    await consumer


def main() -> None:
    work, flavour, arguments = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    if flavour == "sync":
        (take if work == "take" else exchange)(**arguments)
    else:
        asyncio.run((take_async if work == "take" else exchange_async)(**arguments))


if __name__ == "__main__":
    main()
