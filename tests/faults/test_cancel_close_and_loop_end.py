"""A cancelled wait, a closed client and an ending loop, in any order: every value is taken or still in Redis.

``REDISSON_DQ_FAULT_RUNS`` is how often each of them is tried; 1 unless set.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import redisson_dq.aio
from redisson_dq.codecs import LongCodec, StringCodec
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import eventually
from tests.integration.whereabouts import whereabouts

RUNS = int(os.environ.get("REDISSON_DQ_FAULT_RUNS", "1"))
COUNT = 30
VALUES = [f"v{number:02}" for number in range(COUNT)]
PARTS = ["parts:0-46", "parts:1-61"]

CALLS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "take": lambda queues: queues["plain"].take(),
    "short poll": lambda queues: queues["plain"].poll(timeout=0.2),
    "short batch": lambda queues: queues["plain"].poll(100, timeout=0.2),
    "long batch": lambda queues: queues["plain"].poll(100, timeout=30),
    "last": lambda queues: queues["deque"].poll_last(3, timeout=0.2),
    "from any": lambda queues: queues["plain"].poll_from_any("other", timeout=0.2),
    "move": lambda queues: queues["plain"].move("moved", timeout=0.2),
    "bounded": lambda queues: queues["bounded"].poll(10, timeout=0.2),
    "partitions": lambda queues: queues["parts"].take(),
    "partitions batch": lambda queues: queues["parts"].poll(100, timeout=0.2),
    "partitions at once": lambda queues: queues["parts"].poll(limit=3),
    # Nothing is acked: the values that a caller got are leased, and all others are ready.
    "receive": lambda queues: queues["plain"].receive(visibility_timeout=600),
    "receive batch": lambda queues: queues["plain"].receive(100, timeout=0.2, visibility_timeout=600),
    "receive at once": lambda queues: queues["plain"].receive(3, timeout=0, visibility_timeout=600),
    "renewed": lambda queues: queues["plain"].receive(3, timeout=5, visibility_timeout=600, renew=True),
    "partitions receive": lambda queues: queues["parts"].receive(visibility_timeout=600),
    "partitions receive batch": lambda queues: queues["parts"].receive(9, timeout=0.2, visibility_timeout=600),
    # None of them is a number, so all of them are set aside.
    "undecodable": lambda queues: queues["numbers"].poll(timeout=0.2),
    "undecodable batch": lambda queues: queues["numbers"].poll(10, timeout=0.2),
    "partitions undecodable": lambda queues: queues["numbers in parts"].poll(10, timeout=0.2),
}


async def run(url: str, call: str, ending: str, chance: random.Random, got: list[str]) -> None:
    client = redisson_dq.aio.connect(url, codec=StringCodec())
    queues: dict[str, Any] = {
        "plain": client.blocking_queue("orders", transfer=False),
        "deque": client.blocking_deque("orders", transfer=False),
        "bounded": client.bounded_blocking_queue("orders", transfer=False),
        "parts": client.blocking_queue("parts", transfer=False, partitions=2),
    }
    numbers = redisson_dq.aio.connect(url, codec=LongCodec(), undecodable="skip")
    queues["numbers"] = numbers.blocking_queue("orders", transfer=False)
    queues["numbers in parts"] = numbers.blocking_queue("parts", transfer=False, partitions=2)

    async def consume() -> None:
        while len(got) < COUNT:
            found = await CALLS[call](queues)
            values = found if isinstance(found, list) else [found] if found else []
            got.extend(value if isinstance(value, str) else value.value for value in values)

    async with contextlib.AsyncExitStack() as stack:
        if "close" in ending:
            await stack.enter_async_context(client)
            await stack.enter_async_context(numbers)
        await queues["bounded"].try_set_capacity(100 + COUNT)
        if call.startswith("partitions"):
            for value in VALUES:
                await queues["parts"].add(value)
        else:
            # A bounded queue counts only its own values.
            await queues["bounded" if call == "bounded" else "plain"].add_all(VALUES)
        task = asyncio.create_task(consume())
        for _ in range(chance.randrange(30)):
            await asyncio.sleep(0)
        await asyncio.sleep(chance.choice((0, 0, 0.0003, 0.001, 0.002)))
        if ending != "loop end":
            task.cancel()
        if ending == "cancel, await, close":
            await asyncio.wait((task,))


@pytest.fixture(autouse=True)
def _nothing_is_left_for_the_next_test() -> Iterator[None]:
    """Objects freed at the end of a test are collected while its warning filters are active."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
    gc.collect()


# The clients that nobody closes leave their sockets to the end of the loop.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("ending", ["cancel, await, close", "cancel, close", "cancel, loop end", "loop end"])
@pytest.mark.parametrize("call", CALLS)
def test_every_value_is_taken_or_there(admin: Any, url: str, call: str, ending: str) -> None:
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for _ in range(RUNS):
        gc.collect()
        admin.flushall()
        got: list[str] = []
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(run(url, call, ending, chance, got))

        def all_of_them() -> list[str]:
            # A value that has just arrived for a receiver that is gone is in the list of arrivals.
            keys = [QueueKeys.of(name) for name in ("orders", *PARTS)]
            lists = [key for each in keys for key in (each.ready, each.arrivals, each.undecodable)]
            left = [value.decode() for key in lists for value in admin.lrange(key, 0, -1)]
            # A moved value is at its destination, whether its caller knows it or not.
            taken = [value.decode() for value in admin.lrange("moved", 0, -1)] if call == "move" else got  # noqa: B023
            return sorted(taken + left)

        eventually(lambda: all_of_them() == VALUES)
        if "receive" in call or call == "renewed":
            found = sum((whereabouts(admin, name).leased for name in ("orders", *PARTS)), Counter())
            assert found == Counter(value.encode() for value in got)
        if call == "bounded":
            eventually(lambda: int(admin.get(QueueKeys.of("orders").capacity)) == 100 + len(got))  # noqa: B023
    gc.collect()
