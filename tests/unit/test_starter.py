"""Where the handling of a value begins that a task has received."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from redisson_dq._concurrency.handler_pools import AsyncHandlerPool, AsyncStarter


def test_the_first_handling_begins_before_all_that_waits_for_its_turn() -> None:
    begun: list[str] = []

    async def handle(name: str) -> None:
        begun.append(name)
        await asyncio.sleep(0)

    async def receive(handlings: list[Callable[[], Awaitable[None]]]) -> bool:
        starter = AsyncStarter(AsyncHandlerPool("test"))
        for each in handlings:
            starter.start(each)  # type: ignore[arg-type]
        return await starter.run_first(lambda: begun.append("somebody else receives"))

    async def main() -> None:
        asyncio.get_running_loop().call_soon(begun.append, "what had come before")
        assert await receive([partial(handle, name) for name in "abc"])
        await asyncio.sleep(0)
        assert not await receive([])

    asyncio.run(main())
    assert begun == ["somebody else receives", "a", "what had come before", "b", "c"]
