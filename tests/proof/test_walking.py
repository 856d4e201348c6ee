"""All orders of the real scripts lead where the model says, and answer what it says."""

from __future__ import annotations

import pytest
import redis

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PROGRAMS
from tests.proof.walking import Walk

_LONG = [pytest.param(*sizes, marks=pytest.mark.nightly) for sizes in ((2, 2), (1, 4), (2, 3), (3, 2))]


@pytest.mark.parametrize(("items", "ticks"), [(1, 2), *_LONG])
def test_scripts_in_every_order(items: int, ticks: int) -> None:
    with EmbeddedServer(program=PROGRAMS["redis"]()) as server, redis.Redis.from_url(server.url) as admin:
        walk = Walk(admin, items, ticks)
        walk.run()
        # Each call was made, and each kind of receipt was over at some time.
        assert set(walk.made) == {
            *("offer", "move", "take", "receive", "ack", "nack", "reject", "extend", "cancel", "reschedule", "redrive")
        }
