"""Clients are paused while a wait ends, or while a client is closed. Both end in time, and no item is lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, by_night, eventually, thinned
from tests.faults.kit import FAULTS
from tests.faults.run import run
from tests.faults.world import World
from tests.flavours import Flavour

_WAITS: dict[str, Callable[[Any], Any]] = {
    "poll": lambda queue: queue.poll(timeout=0.6),
    "short poll": lambda queue: queue.poll(timeout=0.1),
    "poll many": lambda queue: queue.poll(10, timeout=0.6),
    "poll from any": lambda queue: queue.poll_from_any("other", timeout=0.6),
    "poll last": lambda queue: queue.poll_last_and_offer_first_to("other", timeout=0.6),
}


@pytest.mark.parametrize("program", ["redis", by_night("valkey")])
@pytest.mark.parametrize(("wait", "what"), thinned(_WAITS, ["WRITE", "ALL"], of=2))
def test_a_wait_that_ends_while_clients_are_paused(flavour: Flavour, program: str, what: str, wait: str) -> None:
    with World(program=program) as world, world.connect(flavour) as client:
        queue = client.blocking_queue("orders")
        assert queue.poll(timeout=0.6) is None
        world.admin.execute_command("CLIENT", "PAUSE", 1500, what)
        assert not _WAITS[wait](queue)
        eventually(lambda: world.alive and world.admin.ping())
        # Later offers reach the waiting callers, and nobody else.
        client.delayed_queue(queue).offer("after", delay=0)
        assert queue.poll(timeout=PATIENCE) == "after"


@ONE_FLAVOUR_BY_DAY
@pytest.mark.parametrize("end", ["close", "destroy"])
@pytest.mark.parametrize("what", ["WRITE", by_night("ALL")])
def test_a_client_that_is_closed_while_clients_are_paused(flavour: Flavour, what: str, end: str) -> None:
    with World() as world:
        client = world.connect(flavour)
        queue = client.blocking_queue("orders")
        assert queue.poll(timeout=0.6) is None
        world.admin.execute_command("CLIENT", "PAUSE", 1000, what)
        assert queue.poll(timeout=0.5) is None
        (client.close if end == "close" else queue.destroy)()
        client.close()
        time.sleep(1.2)
        assert world.alive
        world.admin.rpush("orders", "stays")
        assert world.admin.lrange("orders", 0, -1) == [b"stays"]


@pytest.mark.parametrize("fault", ["pause-writes", "pause-all"])
@pytest.mark.parametrize("times", [1, by_night(3)])
def test_every_item_is_accounted_for(fault: str, times: int) -> None:
    result = run(FAULTS[fault], ["threads", "asyncio", "partitions"], seed=1, times=times)
    assert not result.all_findings, str(result)
