"""The server's clock is set forward while items wait: a probe notices it, however far ahead they were."""

from __future__ import annotations

import time

import pytest

from tests.conftest import eventually
from tests.faults.world import World
from tests.flavours import Flavour

pytestmark = pytest.mark.nightly

_PROBE = 2.0


@pytest.mark.parametrize("ahead", [5.0, 700.0])
def test_an_item_comes_by_the_next_probe(flavour: Flavour, ahead: float) -> None:
    with World(clock=True) as world, flavour.connect(world.server.url, probe_interval=_PROBE) as client:
        queue = client.blocking_queue("orders")
        delayed = client.delayed_queue(queue)
        delayed.offer("far", delay=3600)
        delayed.offer("soon", delay=ahead)
        # The next occurrence of a probe is up to an interval away, whenever the clock is set.
        eventually(lambda: world.admin.info("commandstats").get("cmdstat_time", {"calls": 0})["calls"] >= 1)
        began = time.monotonic()
        world.step_clock(ahead + 60)
        assert queue.poll(timeout=30) == "soon"
        if ahead > 60:
            assert time.monotonic() - began < ahead / 10
        world.step_clock(3700)
        assert queue.poll(timeout=30) == "far"
