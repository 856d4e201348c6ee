"""The settings of our own connections, made from the user's. There is no server: no connection is opened."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import pytest
import redis
import redis.asyncio

from redisson_dq._redis.pools import async_pool_from, pool_from

URL = "redis://localhost:1"
POOLS: list[Any] = [
    lambda **options: pool_from(redis.Redis.from_url(URL, **options).connection_pool),
    lambda **options: async_pool_from(redis.asyncio.Redis.from_url(URL, **options).connection_pool),
]


@pytest.mark.parametrize("made", POOLS)
def test_redis_py_looks_its_version_up_once(made: Any) -> None:
    pool = made()
    first, second = pool.make_connection(), pool.make_connection()
    if hasattr(redis, "driver_info"):
        # Each tells the server of the same version, which took longer to look up than to connect.
        assert first.driver_info is second.driver_info
        first = first.driver_info
    assert first.lib_version == metadata.version("redis")


@pytest.mark.parametrize("made", POOLS)
def test_what_the_user_says_about_the_driver_is_told(made: Any) -> None:
    name = "driver_info" if hasattr(redis, "driver_info") else "lib_version"
    assert getattr(made(**{name: None}).make_connection(), name) is None
