"""This library as one of the peers, in either flavour: a plain script, not checked by mypy.

Run with ``sync`` or ``asyncio`` it is a worker. See serving.py.
"""

import asyncio
import functools
import os
import sys
import time
from datetime import datetime, timezone

from serving import URL, mark, ping, ping_asyncio, serve, versions

import redisson_dq
from redisson_dq.codecs import StringCodec

_QUEUE = "benchmark"


def _versions():
    return {"redisson_dq": redisson_dq.__version__, **versions("redis")}


def _value(number, due_ms):
    return f"{number} {due_ms}"


def _due(due_ms):
    return None if due_ms is None else datetime.fromtimestamp(due_ms / 1000, timezone.utc)


def _pairs(jobs):
    """What is ready at once, and what is due, with its delay."""
    now_ms = time.time_ns() / 1e6
    ready = [_value(number, due_ms) for number, due_ms in jobs if due_ms is None]
    later = [(_value(number, due_ms), (due_ms - now_ms) / 1000) for number, due_ms in jobs if due_ms is not None]
    return ready, [(value, max(0.0, delay)) for value, delay in later]


def work():
    with redisson_dq.connect(URL, codec=StringCodec()) as client:
        queue = client.blocking_queue(_QUEUE)
        while True:
            mark(*queue.take().split())


async def work_asyncio():
    async with redisson_dq.aio.connect(URL, codec=StringCodec()) as client:
        queue = client.blocking_queue(_QUEUE)
        while True:
            mark(*(await queue.take()).split())


def produce():
    # A producer: it moves nothing.
    client = redisson_dq.connect(URL, codec=StringCodec())
    queue = client.delayed_queue(_QUEUE, transfer=False, lean=os.environ.get("BENCHMARK_LAYOUT") == "lean")

    def enqueue(jobs):
        for number, due_ms in jobs:
            queue.offer(_value(number, due_ms), 0 if due_ms is None else None, _due(due_ms))

    def enqueue_all(jobs):
        ready, later = _pairs(jobs)
        if ready:
            client.blocking_queue(_QUEUE, transfer=False).add_all(ready)
        if later:
            queue.offer_all(later)

    serve(_versions(), enqueue, enqueue_all, ping=ping)


def produce_asyncio():
    @functools.cache
    def opened():
        client = redisson_dq.aio.connect(URL, codec=StringCodec())
        return client.delayed_queue(_QUEUE, transfer=False), client.blocking_queue(_QUEUE, transfer=False)

    async def enqueue(jobs):
        queue, _ = opened()
        for number, due_ms in jobs:
            await queue.offer(_value(number, due_ms), 0 if due_ms is None else None, _due(due_ms))

    async def enqueue_all(jobs):
        queue, ready_queue = opened()
        ready, later = _pairs(jobs)
        if ready:
            await ready_queue.add_all(ready)
        if later:
            await queue.offer_all(later)

    serve(_versions(), enqueue, enqueue_all, ping=ping_asyncio)


if __name__ == "__main__":
    work() if sys.argv[1] == "sync" else asyncio.run(work_asyncio())
