"""A proxy swallows replies, and the connection stays open, so keepalive notices nothing. Each wait goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.errors import RedisConnectionError
from tests.conftest import PATIENCE, eventually
from tests.faults.gate import Trap
from tests.faults.world import World
from tests.flavours import Flavour
from tests.workers.handlers import Ledger, running

# More queues than have connections of their own.
_MANY = [f"orders-{number}" for number in range(12)]


@pytest.fixture
def world() -> Iterator[World]:
    with World() as made:
        yield made


def connected(flavour: Flavour, world: World) -> Any:
    return flavour.connect(f"{world.gate.url}?socket_timeout=0.5", codec=StringCodec(), probe_interval=0.5)


def swallows(world: World, command: str) -> Trap:
    """Loses the next reply, and all that follow on its connection. New connections are made before."""
    # The gate cannot distinguish the messages of a connection that subscribes.
    trap = world.gate.trap(command, "command" if command == "SUBSCRIBE" else "reply", "freeze")
    world.gate.cut()
    return trap


def insisted(call: Callable[[], Any]) -> None:
    """A call of the test's own may lose its reply."""
    while True:
        try:
            call()
            return
        except RedisConnectionError:
            pass


def goes_on(world: World, trap: Trap, queues: list[Any], delayed: Any, came: list[Any]) -> None:
    """Values arrive while replies are lost, and after that."""
    for number in range(100):
        values = [f"{number}-{place}" for place in range(number % 5 + 1)]
        world.admin.rpush(queues[number % len(queues)].name, *values)
        eventually(lambda values=values: set(values) <= set(came))  # type: ignore[misc]
        if trap.sprung.is_set() and number >= len(queues):
            break
    assert trap.sprung.is_set()
    insisted(lambda: delayed.offer("late", delay=0.01, id="late", on_duplicate="keep"))
    eventually(lambda: "late" in came)
    for queue in queues:
        world.admin.rpush(queue.name, f"last of {queue.name}")
    eventually(lambda: {f"last of {queue.name}" for queue in queues} <= set(came))


@pytest.mark.parametrize(
    "command",
    ["SUBSCRIBE", "CLIENT", "BLMOVE", "receive.lua", "ack_and_receive.lua", "ack.lua", "transfer.lua"],
)
def test_a_worker_goes_on(flavour: Flavour, world: World, command: str) -> None:
    with connected(flavour, world) as client:
        worker, ledger = flavour.worker(client, visibility_timeout=1), Ledger()
        worker.handler("orders")(ledger.handle)
        with running(worker):
            trap = swallows(world, command)
            goes_on(world, trap, [client.blocking_queue("orders")], client.delayed_queue("orders"), ledger.values)


@pytest.mark.parametrize("command", ["SUBSCRIBE", "CLIENT", "LLEN", "receive.lua"])
def test_a_worker_of_many_queues_goes_on(flavour: Flavour, world: World, command: str) -> None:
    with connected(flavour, world) as client:
        worker, ledger = flavour.worker(client, visibility_timeout=1), Ledger()
        for name in _MANY:
            worker.handler(name)(ledger.handle)
        with running(worker):
            trap = swallows(world, command)
            queues = [client.blocking_queue(name) for name in _MANY]
            goes_on(world, trap, queues, client.delayed_queue(_MANY[0]), ledger.values)


@pytest.mark.parametrize("command", ["CLIENT", "BLPOP"])
def test_a_take_goes_on(flavour: Flavour, world: World, command: str) -> None:
    with connected(flavour, world) as client, ThreadPoolExecutor(1) as thread:
        queue = client.blocking_queue("orders", transfer=False)
        trap = swallows(world, command)
        taking = thread.submit(queue.take)
        assert trap.sprung.wait(PATIENCE)
        # At most once: the value of a lost reply is gone.
        sent = 0
        while not taking.done():
            world.admin.rpush("orders", str(sent))
            sent += 1
            eventually(lambda: taking.done() or not world.admin.llen("orders"))
        assert int(taking.result()) < sent
