"""A server without memory: calls that free memory go on, and calls that need memory are refused."""

from __future__ import annotations

from typing import Any

import pytest

from redisson_dq.errors import RedisReplyError
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


def test_every_item_is_accounted_for() -> None:
    result = run(FAULTS["full"], ["threads", "lean", "recurring"], seed=1, times=2)
    assert not result.all_findings, str(result)
