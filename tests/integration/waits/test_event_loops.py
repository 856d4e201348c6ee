"""An asyncio client belongs to one event loop, and says so where it is used without one or in another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from redisson_dq import aio
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ArgumentError


@pytest.fixture
def client(url: str) -> aio.Client:
    """Made outside a loop, as at the top of a module. What runs in a loop closes it there."""
    return aio.connect(url, codec=StringCodec())


OPENINGS: list[Callable[[aio.Client], Any]] = [
    lambda client: client.blocking_queue("orders"),
    lambda client: client.blocking_deque("orders"),
    lambda client: client.bounded_blocking_queue("orders"),
    lambda client: client.delayed_queue("orders"),
    lambda client: client.delayed_queue("orders", lean=True),
    lambda client: client.blocking_queue("orders", partitions=3),
    lambda client: client.delayed_queue("orders", partitions=3),
]


@pytest.mark.parametrize("opening", OPENINGS)
def test_a_handle_is_opened_anywhere(client: aio.Client, admin: Any, opening: Callable[[aio.Client], Any]) -> None:
    """Opening starts nothing, so it needs no loop. The handle belongs to the loop of its first call."""
    opened = opening(client)

    async def main() -> Any:
        async with client:
            await client.delayed_queue("orders", transfer=False).offer("a", 0)
            await opened.start_moving()
            if isinstance(opened, aio.DelayedQueue):
                return await client.blocking_queue("orders", transfer=False).take()
            if isinstance(opened, aio.BlockingQueue):
                return await opened.take()
            return "a" if await opened.is_empty() else "in no partition"

    assert asyncio.run(main()) == "a"


def test_a_call_needs_a_running_loop(client: aio.Client, admin: Any) -> None:
    call = client.blocking_queue("orders").take()
    with pytest.raises(ArgumentError, match=r"'orders' *: an asyncio client .* inside a running event loop"):
        call.send(None)

    async def close() -> None:
        await client.close()

    asyncio.run(close())


def test_a_client_is_not_used_in_a_second_loop(client: aio.Client, admin: Any) -> None:
    async def first() -> aio.BlockingQueue[Any]:
        queue = client.blocking_queue("orders")
        await queue.add("a")
        return queue

    async def second(queue: aio.BlockingQueue[Any]) -> None:
        for call in (queue.take, queue.size, queue.poll, client.open):
            with pytest.raises(ArgumentError, match="another event loop"):
                await call()
        with pytest.raises(ArgumentError, match="another event loop"):
            await client.delayed_queue("orders").offer("b", 0)

    loop = asyncio.new_event_loop()
    queue = loop.run_until_complete(first())
    asyncio.run(second(queue))
    loop.run_until_complete(client.close())
    loop.close()
    assert admin.llen("orders") == 1


def test_an_offer_does_not_block_the_loop(client: aio.Client, admin: Any) -> None:
    """While Redis does not answer, everything else in the loop goes on."""

    async def main() -> int:
        async with client:
            delayed = client.delayed_queue("orders", transfer=False)
            await delayed.offer("order-42", delay=60)
            admin.client_pause(300)
            offer = asyncio.ensure_future(delayed.offer("order-43", delay=60))
            steps = 0
            while not offer.done():
                await asyncio.sleep(0.001)
                steps += 1
            assert await delayed.size() == 2
            return steps

    assert asyncio.run(main()) > 10


def test_a_call_that_is_cancelled_while_it_connects_ends(url: str) -> None:
    async def cancelled_after(turns: int) -> bool:
        async with aio.connect(url) as client:
            call = asyncio.ensure_future(client.blocking_queue("orders", transfer=False).size())
            for _ in range(turns):
                await asyncio.sleep(0)
            if call.done():
                return False
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            return True

    async def main() -> int:
        turns = 0
        while await cancelled_after(turns):
            turns += 1
        return turns

    assert asyncio.run(main())
