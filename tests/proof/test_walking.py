"""All orders of the real scripts lead where the model says, and answer what it says."""

from __future__ import annotations

import redis

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PROGRAMS
from tests.proof.walking import Walk


def test_scripts_in_every_order() -> None:
    with EmbeddedServer(program=PROGRAMS["redis"]()) as server, redis.Redis.from_url(server.url) as admin:
        walk = Walk(admin, items=1, ticks=2)
        walk.run()
        # Each call was made, and each kind of receipt was over at some time.
        assert set(walk.made) == {
            *("offer", "move", "take", "receive", "ack", "nack", "reject", "extend", "cancel", "reschedule", "redrive")
        }
