"""Runs inside the environment of a peer, each with its own redis-py: a plain script, not checked by mypy.

What all workers and producers have in common: ``handled`` is the job, and ``serve`` lets the driver have jobs enqueued.
Everything comes from the environment: ``BENCHMARK_URL``, ``BENCHMARK_MARKS``, and where a job is to take its time
``BENCHMARK_SECONDS``, or ``BENCHMARK_HOLD``: as long as that file is there. ``BENCHMARK_SLOTS`` is the number of jobs
that a process may have in hand, if no option sets it.
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

_SECONDS = float(os.environ.get("BENCHMARK_SECONDS", "0"))
_HOLD = os.environ.get("BENCHMARK_HOLD")


def slots(default):
    """How many jobs one process may have in hand."""
    return int(os.environ.get("BENCHMARK_SLOTS", default))


def handled(number, due_ms, attempt=None):
    """The job. ``attempt`` is its number according to the library, if known."""
    mark(number, due_ms)
    if _SECONDS or _HOLD:
        for pause in _pauses():
            time.sleep(pause)
        _end(number, attempt)


async def handled_asyncio(number, due_ms, attempt=None):
    """The job where libraries want coroutines."""
    mark(number, due_ms)
    if _SECONDS or _HOLD:
        for pause in _pauses():
            await asyncio.sleep(pause)
        _end(number, attempt)


def _pauses():
    yield _SECONDS
    while _HOLD and os.path.exists(_HOLD):
        yield 0.05


def mark(number, due_ms):
    """Appends ``number due now`` to the file of marks: no command to Redis, and one write, so lines never mix."""
    now_us = time.time_ns() // 1000
    os.write(_opened(""), f"{number} {due_ms} {now_us}\n".encode())


def _end(number, attempt):
    """Appends ``number attempt`` to the file of ends."""
    os.write(_opened(".ends"), f"{number} {attempt}\n".encode())


@functools.cache
def _opened(suffix):
    return os.open(os.environ["BENCHMARK_MARKS"] + suffix, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)


def versions(*packages):
    return {name: metadata.version(name) for name in packages}


def serve(versions, enqueue, enqueue_all=None, *, ping):
    """Answers requests until standard input ends.

    ``versions`` says what is measured. ``enqueue`` and ``enqueue_all`` get a list of (number, due time in epoch
    milliseconds; None: at once), one job after the other or in bulk. They may be coroutines, and may return the seconds
    they took where a clock around them would count more than the enqueueing. ``ping(count)`` is one of the two below,
    or None.
    """
    # Output that a library prints must not mix with the answers.
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
