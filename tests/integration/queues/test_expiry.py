"""Times to live are compared to the millisecond, also where Redis cannot tell a key's end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from tests.flavours import Flavour

END = datetime(2100, 1, 1, tzinfo=timezone.utc)
STEP = timedelta(milliseconds=1)


@pytest.fixture(params=["+@all", "+@all -pexpiretime"], ids=["Redis 7", "Redis 6.2"])
def expiring(
    request: pytest.FixtureRequest, flavour: Flavour, server: EmbeddedServer, admin: redis.Redis
) -> Iterator[Any]:
    """A queue of a user who may, or may not, ask for PEXPIRETIME, which Redis 6.2 does not have."""
    admin.execute_command("ACL", "SETUSER", "someone", "on", "nopass", "~*", "&*", *request.param.split())
    with flavour.client(
        server.url, redis_options={"username": "someone", "password": ""}, codec=StringCodec()
    ) as client:
        queue = client.blocking_queue("orders", transfer=False)
        queue.add("a")
        yield queue
    admin.execute_command("ACL", "DELUSER", "someone")


def test_the_same_moment_is_neither_earlier_nor_later(expiring: Any) -> None:
    assert expiring.expire_at(END)
    # Often, as a clock that is read twice shows two times only now and then.
    for _ in range(200):
        assert not expiring.expire_if_greater(END)
        assert not expiring.expire_if_less(END)
        assert expiring.expire_time() == END
    assert expiring.expire_if_greater(END + STEP)
    assert expiring.expire_time() == END + STEP
    assert expiring.expire_if_less(END)
    assert expiring.expire_time() == END
