"""A user's class of connections keeps its say where a client reads replies."""

from __future__ import annotations

from typing import Any

import pytest
import redis
import redis.asyncio
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import ReadOnlyError

from redisson_dq.errors import RedisConnectionError
from tests.flavours import Flavour

DEMOTED = "the user's class has seen a replica"


class Watchful(redis.Connection):
    """Does what the connections of a Sentinel do at the reply of a replica."""

    def read_response(self, *args: Any, **options: Any) -> Any:
        try:
            return super().read_response(*args, **options)
        except ReadOnlyError:
            self.disconnect()  # type: ignore[no-untyped-call]
            raise Disconnected(DEMOTED) from None


class AsyncWatchful(redis.asyncio.Connection):
    async def read_response(self, *args: Any, **options: Any) -> Any:
        try:
            return await super().read_response(*args, **options)
        except ReadOnlyError:
            await self.disconnect()
            raise Disconnected(DEMOTED) from None


def test_a_class_of_connections_that_reads_in_its_own_way(flavour: Flavour, admin: Any, url: str) -> None:
    own = AsyncWatchful if flavour.name == "asyncio" else Watchful
    with flavour.client(url, redis_options={"connection_class": own}) as client:
        queue = client.blocking_queue("orders")
        assert queue.add("a")
        assert queue.take() == "a"
        admin.replicaof("127.0.0.1", 1)
        try:
            with pytest.raises(RedisConnectionError, match=DEMOTED):
                queue.add("b")
        finally:
            admin.replicaof("no", "one")
        assert queue.add("c")
        assert queue.take() == "c"
