"""Tasks are cancelled and not awaited while their client is closed. Their values are not lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import redis

import redisson_dq.aio
from redisson_dq.codecs import StringCodec
from redisson_dq.wire.keys import QueueKeys
from tests.faults.gate import Gate
from tests.faults.world import World

_WAITS: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "take": lambda queue: queue.take(),
    "poll": lambda queue: queue.poll(timeout=5),
    "short poll": lambda queue: queue.poll(timeout=0.2),
    "poll many": lambda queue: queue.poll(100, timeout=5),
    "short poll many": lambda queue: queue.poll(100, timeout=0.2),
    "short poll from any": lambda queue: queue.poll_from_any("other", timeout=0.2),
}


async def _cancel_and_leave(url: str, wait: str, partitions: int | None, steps: int, taken: list[str]) -> None:
    """Leaves the client's block with a task that was cancelled after ``steps`` rounds of the loop."""

    async def waiter(queue: Any) -> None:
        value = await _WAITS[wait](queue)
        taken.extend(value if isinstance(value, list) else [] if value is None else [value])

    async with redisson_dq.aio.connect(url, codec=StringCodec()) as client:
        options: dict[str, Any] = {"partitions": partitions} if partitions else {}
        queue: Any = client.blocking_queue("orders", transfer=False, **options)
        task = asyncio.ensure_future(waiter(queue))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()


@pytest.mark.parametrize("partitions", [None, 4])
@pytest.mark.parametrize("wait", _WAITS)
def test_nothing_is_lost(wait: str, partitions: int | None) -> None:
    if partitions and wait == "short poll from any":
        wait = "short poll"
    name = "orders" if partitions is None else redisson_dq.partition_names("orders", partitions)[0]
    with World() as world:
        for steps in range(40):
            world.admin.flushall()
            values = [f"item:leave:{i}" for i in range(5)]
            world.admin.rpush(name, *values)
            taken: list[str] = []
            asyncio.run(_cancel_and_leave(world.gate.url, wait, partitions, steps, taken))
            left = [value.decode() for value in world.admin.lrange(name, 0, -1)]
            assert sorted(taken + left) == values, f"cancelled after {steps} rounds of the loop"


@pytest.mark.parametrize("wait", ["short poll many", "poll many", "take"])
def test_nothing_is_lost_behind_a_slow_network(wait: str) -> None:
    """The pop is on its way when the task is cancelled, and answered when the client is being closed."""
    with World() as world:
        cancelled = 0
        while cancelled < 10:
            world.admin.flushall()
            world.admin.rpush("orders", "item:leave:1", "item:leave:2")
            taken: list[str] = []
            for command in ("LPOP", "BLPOP"):
                world.gate.trap(command, "reply", "delay", seconds=0.05)
            cancelled += asyncio.run(_cancelled_on_its_way(world.gate, world.admin, wait, taken))
            left = [value.decode() for value in world.admin.lrange("orders", 0, -1)]
            assert sorted(taken + left) == ["item:leave:1", "item:leave:2"]


async def _cancelled_on_its_way(gate: Gate, admin: redis.Redis, wait: str, taken: list[str]) -> bool:
    """Whether the task was cancelled in time. On a busy machine, a short poll may have ended before."""

    async def waiter(queue: Any) -> None:
        value = await _WAITS[wait](queue)
        taken.extend(value if isinstance(value, list) else [value])

    async with redisson_dq.aio.connect(gate.url, codec=StringCodec()) as client:
        task = asyncio.ensure_future(waiter(client.blocking_queue("orders", transfer=False)))
        while not task.done() and admin.llen(QueueKeys.of("orders").ready) == 2:
            await asyncio.sleep(0.001)
        return task.cancel()
