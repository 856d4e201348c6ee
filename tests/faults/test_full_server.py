"""A server without memory: calls that free memory go on, and calls that need memory are refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from redisson_dq.errors import ClosedError, RedisReplyError
from redisson_dq.items import Outcome
from tests.conftest import PATIENCE, eventually
from tests.faults.kit import FAULTS
from tests.faults.run import run
from tests.faults.world import World
from tests.flavours import Flavour


@pytest.mark.parametrize("lean", [False, True])
def test_what_waits_is_delivered_and_offers_are_refused(flavour: Flavour, lean: bool) -> None:
    with World() as world, world.connect(flavour) as client:
        queue = client.blocking_queue("orders")
        delayed = client.delayed_queue(queue, lean=lean)
        delayed.offer_all((f"item-{i}", 0.3) for i in range(500))
        known = delayed.offer("by its id", delay=0.3, id="known")
        item = delayed.offer("cancelled", delay=60)
        world.admin.config_set("maxmemory", 1)
        with pytest.raises(RedisReplyError, match=r"maxmemory|OOM"):
            delayed.offer("refused", delay=0)
        assert item.cancel() is Outcome.CANCELLED
        taken: list[Any] = []

        def all_are_here() -> bool:
            taken.extend(queue.poll(100, timeout=0.5))
            return len(taken) >= 501

        eventually(all_are_here, within=PATIENCE / 2)
        assert sorted(taken) == sorted(["by its id", *(f"item-{i}" for i in range(500))])
        assert known.cancel() is Outcome.DELIVERED
        world.admin.config_set("maxmemory", 0)
        delayed.offer("accepted", delay=0)
        assert queue.poll(timeout=PATIENCE) == "accepted"


@pytest.mark.parametrize("name", ["one", "any"])
def test_waits_go_on_when_a_transaction_is_refused(
    flavour: Flavour, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Redis 7.0 queues nothing in a transaction then, and a pop that may not block is one."""
    with World() as world, ThreadPoolExecutor(1) as thread, world.connect(flavour) as client:
        queue = client.blocking_queue("orders")

        def poll(timeout: float) -> Any:
            return queue.poll_from_any("other", timeout=timeout) if name == "any" else queue.poll(timeout=timeout)

        world.admin.rpush("orders", "a", "b")
        client.delayed_queue(queue).offer("due", 1.0)
        world.admin.config_set("maxmemory", 1)
        # On a busy machine a poll of a millisecond may be over before its pop is answered.
        assert [eventually(lambda: poll(0.001)), eventually(lambda: poll(0.0015))] == ["a", "b"]
        waiting = thread.submit(poll, PATIENCE)
        eventually(lambda: _blocked(world) == 1)
        # Another connection begins with a pop that does not block.
        world.admin.client_kill_filter(_type="normal", skipme=True)
        assert waiting.result(PATIENCE) == "due"
        patient = thread.submit(queue.take_from_any, "other") if name == "any" else thread.submit(queue.take)
        eventually(lambda: _blocked(world) == 1)
        client.close()
        with pytest.raises(ClosedError):
            patient.result(PATIENCE)
        eventually(lambda: _blocked(world) == 0)
    assert "closing its connection" not in caplog.text


def _blocked(world: World) -> int:
    return int(world.admin.info("clients")["blocked_clients"])


def test_every_item_is_accounted_for() -> None:
    result = run(FAULTS["full"], ["threads", "lean", "recurring"], seed=1, times=2)
    assert not result.all_findings, str(result)
