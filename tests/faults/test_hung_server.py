"""A hung server delays no caller beyond the caller's timeout."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from redisson_dq import partition_names
from redisson_dq.errors import DecodeError, RedisConnectionError
from redisson_dq.scripts.script import load
from redisson_dq.wire.keys import DeadKeys, QueueKeys
from tests.conftest import PATIENCE, by_night, eventually
from tests.faults.kit import FAULTS
from tests.faults.run import run
from tests.faults.world import World
from tests.flavours import AsyncioFlavour, Flavour

# Less than any socket timeout. A call that has not returned by then waits for the server.
_SOON = 4.0


@contextmanager
def standing_still(world: World) -> Iterator[None]:
    os.kill(world.server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(world.server.pid, signal.SIGCONT)


_WAITS: dict[str, Callable[[Any], Any]] = {
    "poll": lambda queue: queue.poll(timeout=1),
    "short poll": lambda queue: queue.poll(timeout=0.2),
    "poll many": lambda queue: queue.poll(10, timeout=1),
    "short poll many": lambda queue: queue.poll(10, timeout=0.2),
    "poll from any": lambda queue: queue.poll_from_any("other", timeout=0.2),
    "move": lambda queue: queue.move("other", timeout=0.2),
}


@pytest.mark.parametrize(
    ("wait", "partitions"), [*((wait, None) for wait in _WAITS), ("poll", 4), ("short poll", 4), ("poll many", 4)]
)
def test_a_wait_ends_in_its_time(flavour: Flavour, wait: str, partitions: int | None) -> None:
    options = {"partitions": partitions} if partitions else {}
    with World() as world, world.connect(flavour) as client, ThreadPoolExecutor(1) as thread:
        queue = client.blocking_queue("orders", **options)
        assert not queue.poll(timeout=0.6)
        with standing_still(world):
            waiting = thread.submit(_WAITS[wait], queue)
            # Nothing, or that the server could not be reached: both are answers.
            error = waiting.exception(_SOON)
            assert error is None or isinstance(error, RedisConnectionError)
        queue.add("after")
        assert queue.poll(timeout=PATIENCE) == "after"


@pytest.mark.parametrize("idle", ["is in use", by_night("was closed")])
def test_a_receive_that_expects_more_waits_for_no_connection(flavour: Flavour, idle: str) -> None:
    """Its own look at ready values needs a connection, which only a server that answers can give."""
    with World() as world, world.connect(flavour) as client, ThreadPoolExecutor(2) as threads:
        queue = client.blocking_queue("orders", transfer=False)
        queue.add_all(["one", "two", "three"])
        for _ in range(2):
            assert queue.receive().ack()
        if idle == "was closed":
            world.admin.client_kill_filter(_type="normal", skipme=True)
        with standing_still(world):
            other = threads.submit(queue.size) if idle == "is in use" else None
            time.sleep(0.1)
            waiting = threads.submit(queue.receive, timeout=0.5)
            error = waiting.exception(_SOON)
            assert error is None or isinstance(error, RedisConnectionError)
        delivery = eventually(lambda: queue.receive(timeout=1))
        assert (delivery.value, delivery.attempt) == ("three", 1)
        if other is not None:
            other.result(PATIENCE)


@pytest.mark.parametrize("partitions", [None, by_night(2)])
@pytest.mark.parametrize("call", ["poll", "receive"])
def test_a_value_that_cannot_be_read_delays_nobody(flavour: Flavour, call: str, partitions: int | None) -> None:
    """Redis hangs while the value is set aside. The other values come in time, and this one is still set aside."""
    name = "orders" if partitions is None else partition_names("orders", partitions)[0]
    with World() as world, world.connect(flavour) as client, ThreadPoolExecutor(1) as thread:
        queue = client.blocking_queue("orders", transfer=False, **({"partitions": partitions} if partitions else {}))
        world.admin.rpush(name, "good", b"\xff", "fine")
        for script in ("put_back", "reject"):
            world.admin.script_load(load(script).source)
            world.gate.trap(f"{script}.lua", "command", "freeze")
        options = {"visibility_timeout": 1} if call == "receive" else {}
        waiting = thread.submit(getattr(queue, call), 3, timeout=0.5, **options)
        error = waiting.exception(_SOON)
        assert isinstance(error, DecodeError)
        assert (error.undecodable, error.kept_in) == ([b"\xff"], None)
        assert isinstance(error.__cause__, RedisConnectionError)
        assert error.__cause__.maybe_done
        world.gate.clear()
        if call == "poll":
            assert error.decoded == ["good", "fine"]
            eventually(lambda: world.admin.lrange(QueueKeys.of(name).undecodable, 0, -1) == [b"\xff"])
        else:
            assert all(queue.ack_all(error.decoded))
            dead = DeadKeys.belonging_to(name).dead
            eventually(lambda: _comes_again(queue) or world.admin.llen(dead) == 1)
            assert world.admin.lrange(dead, 0, -1) == [b"\xff"]


def _comes_again(queue: Any) -> bool:
    with suppress(DecodeError):
        queue.receive(timeout=0.5)
    return False


@pytest.mark.parametrize("timeout", [None, 5.0, 0.2])
def test_a_cancelled_wait_ends_at_once(timeout: float | None) -> None:
    flavour = AsyncioFlavour()
    try:
        with World() as world, world.connect(flavour) as client:
            queue = client.blocking_queue("orders")
            assert not queue.poll(timeout=0.6)
            with standing_still(world):

                async def cancelled() -> Any:
                    call = queue.inner.take() if timeout is None else queue.inner.poll(timeout=timeout)
                    task = asyncio.ensure_future(call)
                    await asyncio.sleep(0.1)
                    task.cancel()
                    await asyncio.wait((task,), timeout=_SOON)
                    return task.done()

                assert flavour.run(cancelled()) is True
            queue.add("after")
            assert queue.poll(timeout=PATIENCE) == "after"
    finally:
        flavour.close()


def test_every_item_is_accounted_for() -> None:
    result = run(FAULTS["stop"], ["threads", "asyncio", "partitions"], seed=1, times=2)
    assert not result.all_findings, str(result)
