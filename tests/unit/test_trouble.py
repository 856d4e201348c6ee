"""Trouble that ends while a caller asks for it. A background task ends it without the mutex. No server is asked."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from redisson_dq import Client
from redisson_dq._concurrency import Inbox
from redisson_dq._sync.receiving.receiver import Receiver
from redisson_dq.errors import RedisConnectionError
from redisson_dq.wire.blocking import Pop

AWAY = RedisConnectionError("Redis is away")


class EndingAtOnce(Receiver):
    """A receiver whose trouble is over after one look at it."""

    times = 0

    @property
    def trouble(self) -> RedisConnectionError | None:
        self.times += 1
        return AWAY if self.times == 1 else None


def test_a_caller_gets_the_trouble_that_it_has_seen() -> None:
    connections = Client(redis.Redis()).runtime.connections
    notices: Inbox[Any] = Inbox(connections.clock)
    receiver = EndingAtOnce(connections, notices, [Pop(("orders",), "first")])
    with pytest.raises(RedisConnectionError) as raised:
        receiver.receive(0.0)
    assert (raised.value, receiver.times) == (AWAY, 1)
