"""A process that works with this library, or loads the server, as a measurement tells it.

    python -m tests.workers.measured

One JSON object a line in: ``op`` and its arguments, which are those of the function of that name below. One JSON
line out for each, until standard input ends. An operation that goes on "until told" ends with the next line.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ClosedError
from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.worker import Worker

__all__ = ["main"]

_Arrivals = list[tuple[str, int]]

#: How often a second the background load is sent.
_TICKS = 50


def take(flavour: str, url: str, queue: str, count: int, timeout: float) -> None:
    """Takes so many values one by one: ``[[value, epoch us], ...]``, or what has come after ``timeout`` seconds."""
    if flavour == "asyncio":
        asyncio.run(_take_asyncio(url, queue, count, timeout))
        return
    arrivals: _Arrivals = []
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        with contextlib.suppress(ClosedError), _closed_after(timeout, client):
            handle = client.blocking_queue(queue)
            while len(arrivals) < count:
                value = handle.take()
                arrivals.append((value, _now_us()))
        # Before the client closes, so that what closing sends is not counted.
        _say(arrivals)


async def _take_asyncio(url: str, queue: str, count: int, timeout: float) -> None:
    arrivals: _Arrivals = []

    async def take_all() -> None:
        handle = client.blocking_queue(queue)
        while len(arrivals) < count:
            value = await handle.take()
            arrivals.append((value, _now_us()))

    async with redisson_dq.aio.connect(url, codec=StringCodec()) as client:
        taking = asyncio.create_task(take_all())
        done, _ = await asyncio.wait((taking,), timeout=timeout)
        if done:
            taking.result()
        _say(arrivals)
        taking.cancel()


def consume(url: str, queue: str, transfer: bool) -> None:
    """Takes one by one until told, and moves or not: ``[[value, epoch us], ...]``."""
    arrivals: _Arrivals = []

    def take_all() -> None:
        with contextlib.suppress(ClosedError):
            while True:
                value = handle.take()
                arrivals.append((value, _now_us()))

    with redisson_dq.connect(url, codec=StringCodec()) as client:
        handle = client.blocking_queue(queue, transfer=transfer)
        taking = threading.Thread(target=take_all)
        taking.start()
        _told()
        _say(arrivals)
    taking.join()


def drain(url: str, queue: str, count: int, timeout: float, limit: int, partitions: int | None = None) -> None:
    """Takes so many values, up to ``limit`` at once: ``[[[value, ...], epoch us], ...]``, one for each batch.

    With ``partitions`` the server is one of a cluster.
    """
    batches: list[tuple[list[str], int]] = []
    taken = 0
    with _client(url, partitions) as client:
        with contextlib.suppress(ClosedError), _closed_after(timeout, client):
            handle = client.blocking_queue(queue, **_partitioned(partitions))
            while taken < count:
                batch = handle.poll(limit, timeout=timeout)
                batches.append((batch, _now_us()))
                taken += len(batch)
        _say(batches)


def offer(url: str, queue: str, first: int, count: int, start_us: int, delay: float, partitions: int | None) -> None:
    """Offers so many numbers at a time of the clock, due within a second: the start and the end of it in epoch us."""
    chance = random.Random(first)
    items = [(f"{number}", delay + chance.random()) for number in range(first, first + count)]
    with _client(url, partitions) as client:
        handle = client.delayed_queue(queue, transfer=False, **_partitioned(partitions))
        # Opens the connections.
        handle.size()
        time.sleep(max(0.0, (start_us - _now_us()) / 1e6))
        started = _now_us()
        handle.offer_all(items)
        _say([started, _now_us()])


def hold(flavour: str, url: str, queues: list[str], tasks: int) -> None:
    """Opens queues, with so many tasks (or threads) waiting on the first one: resident memory in bytes, before.

    When told, closes them: resident memory in bytes, while they were open.
    """
    before = _resident()
    if flavour == "asyncio":
        asyncio.run(_hold_asyncio(url, queues, tasks, before))
        return

    def wait() -> None:
        with contextlib.suppress(ClosedError):
            handles[0].take()

    with redisson_dq.connect(url, codec=StringCodec()) as client:
        handles = [client.blocking_queue(name) for name in queues]
        for handle in handles:
            handle.poll()  # a handle that was only made moves nothing
        threads = [threading.Thread(target=wait) for _ in range(tasks)]
        for thread in threads:
            thread.start()
        _say(before)
        _told()
        _say(_resident())
    for thread in threads:
        thread.join()


async def _hold_asyncio(url: str, queues: list[str], tasks: int, before: int) -> None:
    async with redisson_dq.aio.connect(url, codec=StringCodec()) as client:
        handles = [client.blocking_queue(name) for name in queues]
        for handle in handles:
            await handle.poll()
        waiting = [asyncio.create_task(handles[0].take()) for _ in range(tasks)]
        _say(before)
        await asyncio.to_thread(_told)
        _say(_resident())
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


def serve(url: str, queues: list[str], how: str, partitions: int | None = None) -> None:
    """Takes what comes to the queues until told: by how many us each value was late, threads, and resident memory.

    A value is ``number due_ms`` and what else it needs for its size. ``how``: a thread (``take``) or a task
    (``asyncio``) in ``take()`` on each queue, a worker with 16 slots for all (``worker``) or with one for each queue
    (``handlers``).
    """
    late: list[tuple[int, int]] = []

    def note(value: str) -> None:
        now_us = _now_us()
        number, due_ms = value[:40].split()[:2]
        late.append((int(number), now_us - int(due_ms) * 1000))

    if how == "asyncio":
        asyncio.run(_serve_asyncio(url, queues, note))
    elif how == "take":
        _serve_threads(url, queues, note, partitions)
    else:
        _serve_worker(url, queues, note, how == "worker")
    _say({"late": late, **_held})


_held: dict[str, int] = {}


def _until_told() -> None:
    _told()
    # While all still wait.
    _held.update(threads=threading.active_count(), resident=_resident())


def _serve_threads(url: str, queues: list[str], note: Callable[[str], None], partitions: int | None) -> None:
    def take_all(handle: Any) -> None:
        with contextlib.suppress(ClosedError):
            while True:
                note(handle.take())

    with _client(url, partitions) as client:
        handles = [client.blocking_queue(name, **_partitioned(partitions)) for name in queues]
        threads = [threading.Thread(target=take_all, args=(handle,)) for handle in handles]
        for thread in threads:
            thread.start()
        _until_told()
    for thread in threads:
        thread.join()


async def _serve_asyncio(url: str, queues: list[str], note: Callable[[str], None]) -> None:
    async def take_all(handle: Any) -> None:
        while True:
            note(await handle.take())

    async with redisson_dq.aio.connect(url, codec=StringCodec()) as client:
        taking = [asyncio.create_task(take_all(client.blocking_queue(name))) for name in queues]
        await asyncio.to_thread(_until_told)
        for task in taking:
            task.cancel()
        await asyncio.gather(*taking, return_exceptions=True)


def _serve_worker(url: str, queues: list[str], note: Callable[[str], None], has_limit: bool) -> None:
    worker = Worker.connect(url, codec=StringCodec(), concurrency=16 if has_limit else None)
    for name in queues:
        worker.handler(name)(note)
    worker.start()
    try:
        _until_told()
    finally:
        worker.stop()


def load(url: str, queue: str, per_second: int) -> None:
    """Writes entries due in an hour at a steady pace until told, as offers do: how many, and the seconds it took."""
    keys, chance = QueueKeys.of(queue), random.Random(per_second)
    over = threading.Event()

    def listen() -> None:
        _told()
        over.set()

    threading.Thread(target=listen, daemon=True).start()
    written, start = 0, time.monotonic()
    with redis.Redis.from_url(url) as plain, plain.pipeline(transaction=False) as pipeline:
        while not over.wait(max(0.0, start + written / per_second - time.monotonic())):
            due_ms = _now_us() // 1000 + 3_600_000
            for _ in range(max(1, per_second // _TICKS)):
                member = wrap(Envelope.CURRENT, chance.randbytes(8), b"background %d" % written)
                pipeline.zadd(keys.timeout, {member: due_ms})
                pipeline.rpush(keys.envelopes, member)
                written += 1
            pipeline.execute()
    _say([written, time.monotonic() - start])


def _client(url: str, partitions: int | None) -> redisson_dq.Client:
    if partitions is None:
        return redisson_dq.connect(url, codec=StringCodec())
    return redisson_dq.Client(redis.RedisCluster.from_url(url), codec=StringCodec())


def _partitioned(partitions: int | None) -> dict[str, Any]:
    # One partition is the queue as it always was.
    return {} if partitions in (None, 1) else {"partitions": partitions}


@contextlib.contextmanager
def _closed_after(timeout: float, client: redisson_dq.Client) -> Any:
    watchdog = threading.Timer(timeout, client.close)
    watchdog.daemon = True
    watchdog.start()
    try:
        yield
    finally:
        watchdog.cancel()


def _now_us() -> int:
    return time.time_ns() // 1000


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _say(answer: Any) -> None:
    print(json.dumps(answer), flush=True)


def _told() -> None:
    sys.stdin.readline()


_OPERATIONS: dict[str, Callable[..., None]] = {
    operation.__name__: operation for operation in (take, consume, drain, offer, hold, serve, load)
}


def main() -> None:
    """Serves requests until standard input ends."""
    while line := sys.stdin.readline():
        request = json.loads(line)
        _OPERATIONS[request.pop("op")](**request)


if __name__ == "__main__":
    # Ctrl-C goes to every process of the terminal; the one that started this says so.
    with contextlib.suppress(KeyboardInterrupt):
        main()
