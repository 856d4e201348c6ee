"""The waits of a test end, whatever goes wrong: in tasks that a test makes, and beside handlers that never return."""

from __future__ import annotations

import asyncio
import threading
import time
from datetime import timedelta
from typing import Any

import pytest

import redisson_dq.aio
from redisson_dq.codecs import JsonJacksonCodec, StringCodec
from redisson_dq.errors import DecodeError
from redisson_dq.testing import NoRestError, TestClock, run_until_idle
from tests.conftest import PATIENCE
from tests.flavours import Flavour

DAY = timedelta(days=1)


def idle(flavour: Flavour, worker: Any, clock: TestClock) -> None:
    if flavour.name == "sync":
        run_until_idle(worker, clock=clock)
        return

    async def called() -> None:
        await run_until_idle(worker.inner, clock=clock)

    flavour.run(called())  # type: ignore[attr-defined]


def test_auto_jumps_for_tasks_that_the_test_makes(url: str, clock: TestClock) -> None:
    """The outermost frame of such a task is a call of the library, as in the library's own tasks."""

    async def main() -> list[Any]:
        async with redisson_dq.aio.connect(url) as client:
            queue = client.blocking_queue("orders")
            await client.delayed_queue(queue).offer_all([(number, (number + 1) * DAY) for number in range(4)])
            with clock.auto():
                together = await asyncio.wait_for(asyncio.gather(queue.take(), queue.take()), PATIENCE)
                task = asyncio.create_task(queue.take())
                return [*together, await asyncio.wait_for(task, PATIENCE), await queue.take()]

    began = clock.now
    assert sorted(asyncio.run(main())) == [0, 1, 2, 3]
    assert clock.now - began == 4 * DAY


def test_a_value_that_cannot_be_read_is_raised(flavour: Flavour, url: str, clock: TestClock, delayed: Any) -> None:
    """As of a producer with another codec. Otherwise it would be a dead letter that nobody looks for."""
    with flavour.connect(url, codec=JsonJacksonCodec()) as client:
        handled: list[Any] = []
        worker = flavour.worker(client)
        worker.handler("orders")(handled.append)
        delayed.offer_all([("{", 60), ("1", 30)])
        with pytest.raises(DecodeError, match="the bytes are not JSON"):
            idle(flavour, worker, clock)
    assert handled == [1]


def test_a_handler_that_does_not_return_is_named_and_not_waited_for(flavour: Flavour, url: str) -> None:
    gate = threading.Event()

    async def waits(value: str) -> None:
        await asyncio.Event().wait()

    def stands(value: str) -> None:
        gate.wait(PATIENCE)

    with TestClock(url, patience=0.3) as clock, flavour.connect(url, codec=StringCodec()) as client:
        worker, queue = flavour.worker(client), client.blocking_queue("orders")
        worker.handler("orders")(waits if flavour.name == "asyncio" else stands)
        queue.add("a")
        began = time.monotonic()
        with pytest.raises(NoRestError, match=r"a handler awaits wait|'redisson_dq-handler' runs"):
            idle(flavour, worker, clock)
        assert time.monotonic() - began < PATIENCE / 2
        # It is handed back.
        assert queue.read_all() == ["a"]
        gate.set()
