"""Runs inside the environment of a peer, where redis-py is another one for each: a plain script, not checked by mypy.

What all workers and producers have in common: ``mark`` for a job that is handled, and ``serve``, which lets the
driver have jobs enqueued. Everything comes from the environment: ``BENCHMARK_URL`` and ``BENCHMARK_MARKS``.
"""

import asyncio
import functools
import inspect
import json
import os
import sys
import time
from importlib import metadata

URL = os.environ["BENCHMARK_URL"]
IN_FLIGHT = 100


def mark(number, due_ms):
    """Appends ``number due now`` to the file of marks: no command to Redis, and one write, so lines never mix."""
    now_us = time.time_ns() // 1000
    os.write(_marks(), f"{number} {due_ms} {now_us}\n".encode())


@functools.cache
def _marks():
    return os.open(os.environ["BENCHMARK_MARKS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)


def versions(*packages):
    return {name: metadata.version(name) for name in packages}


def serve(versions, enqueue, enqueue_all=None, *, ping):
    """Answers requests until standard input ends.

    ``versions`` says what is measured. ``enqueue`` and ``enqueue_all`` get a list of (number, due time in epoch
    milliseconds; None: at once), one job after the other or in bulk. They may be coroutines, and may return the seconds
    they took where a clock around them would count more than the enqueueing. ``ping(count)`` is one of the two below,
    or None.
    """
    # A library that prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    loop = asyncio.new_event_loop()
    operations = {"enqueue": enqueue, "enqueue_all": enqueue_all, "ping": ping}
    print(json.dumps({"versions": versions}), file=answers)
    for line in sys.stdin:
        request = json.loads(line)
        start = time.perf_counter()
        taken = operations[request["op"]](request["argument"])
        if inspect.isawaitable(taken):
            taken = loop.run_until_complete(taken)
        seconds = time.perf_counter() - start if taken is None else taken
        print(json.dumps({"seconds": seconds}), file=answers)


def ping(count):
    """Round trips of the same redis-py."""
    import redis

    with redis.Redis.from_url(URL) as client:
        client.ping()
        start = time.perf_counter()
        for _ in range(count):
            client.ping()
        return time.perf_counter() - start


async def ping_asyncio(count):
    """Round trips of the same redis-py, its asyncio half."""
    import redis.asyncio

    client = redis.asyncio.Redis.from_url(URL)
    await client.ping()
    start = time.perf_counter()
    for _ in range(count):
        await client.ping()
    seconds = time.perf_counter() - start
    await client.aclose()
    return seconds


async def gathered(calls):
    """Awaits all of them, so many at a time: what a library without a bulk call of its own leaves its callers."""
    calls = list(calls)
    for first in range(0, len(calls), IN_FLIGHT):
        await asyncio.gather(*(call() for call in calls[first : first + IN_FLIGHT]))
