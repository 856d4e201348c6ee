"""A consumer process of this library: takes so many values and tells when each one arrived.

    python -m tests.benchmarks.consumer sync|asyncio

One JSON line in, ``{"url", "queue", "count", "timeout"}``, one out, ``[[value, epoch microseconds], ...]``, until
standard input ends. After ``timeout`` seconds it answers with what has come by then.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ClosedError

__all__ = ["main"]

_Arrivals = list[tuple[str, int]]


def _now_us() -> int:
    return time.time_ns() // 1000


def _say(arrivals: _Arrivals) -> None:
    print(json.dumps(arrivals), flush=True)


def _sync(url: str, queue: str, count: int, timeout: float) -> None:
    arrivals: _Arrivals = []
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        watchdog = threading.Timer(timeout, client.close)
        watchdog.daemon = True
        watchdog.start()
        handle = client.blocking_queue(queue)
        try:
            while len(arrivals) < count:
                value = handle.take()
                arrivals.append((value, _now_us()))
        except ClosedError:
            pass
        watchdog.cancel()
        # Before the client closes, so that what closing sends is not counted.
        _say(arrivals)


async def _take_all(client: redisson_dq.aio.Client, queue: str, count: int, arrivals: _Arrivals) -> None:
    handle = client.blocking_queue(queue)
    while len(arrivals) < count:
        value = await handle.take()
        arrivals.append((value, _now_us()))


async def _asyncio(url: str, queue: str, count: int, timeout: float) -> None:
    arrivals: _Arrivals = []
    async with redisson_dq.aio.connect(url, codec=StringCodec()) as client:
        taking = asyncio.create_task(_take_all(client, queue, count, arrivals))
        done, _ = await asyncio.wait((taking,), timeout=timeout)
        if done:
            taking.result()
        _say(arrivals)
        taking.cancel()


_FLAVOURS: dict[str, Callable[..., Any]] = {
    "sync": _sync,
    "asyncio": lambda *arguments: asyncio.run(_asyncio(*arguments)),
}


def main(flavour: str) -> None:
    """Serves requests until standard input ends."""
    run = _FLAVOURS[flavour]
    for line in sys.stdin:
        request = json.loads(line)
        run(request["url"], request["queue"], request["count"], request["timeout"])


if __name__ == "__main__":
    # Ctrl-C goes to every process of the terminal; the one that started this says so.
    with contextlib.suppress(KeyboardInterrupt):
        main(sys.argv[1])
