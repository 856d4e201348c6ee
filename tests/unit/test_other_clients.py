"""Clients that look like those of redis-py, and settings of redis-py's that our connections cannot have."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import fakeredis
import pytest
import redis
import redis.asyncio
import redis.asyncio.multidb.client
import redis.asyncio.multidb.config
import redis.maint_notifications
import redis.multidb.client
import redis.multidb.config

import redisson_dq
import redisson_dq.aio
from redisson_dq._redis.pools import async_pool_from, pool_from
from redisson_dq.errors import ArgumentError

URL = "redis://127.0.0.1:1/0"
FLAVOURS: list[Any] = [redisson_dq, redisson_dq.aio]
#: redis-py warns of it: it may change.
pytestmark = pytest.mark.filterwarnings("ignore:.*experimental")


class FakeRedis:
    """A program's own."""


FAKES: dict[str, Callable[[], object]] = {
    "FakeRedis": fakeredis.FakeRedis,
    "FakeStrictRedis": fakeredis.FakeStrictRedis,
    "asyncio": fakeredis.FakeAsyncRedis,
    "its connections": lambda: redis.Redis(connection_pool=fakeredis.FakeRedis().connection_pool),
    "own": FakeRedis,
}


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("fake", FAKES)
def test_a_fake_is_refused_and_a_real_server_is_named(flavour: Any, fake: str) -> None:
    with pytest.raises(ArgumentError, match=r"has no server.*EmbeddedServer.*connect\(server\.url\)"):
        flavour.Client(FAKES[fake]())


@pytest.mark.parametrize("given", [None, 5, object(), URL, redis.ConnectionPool()])
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_another_object_is_refused(flavour: Any, given: Any) -> None:
    with pytest.raises(
        ArgumentError,
        match=r"a client needs a Redis or RedisCluster of redis-py, not "
        r".*connect\(url\)",
    ):
        flavour.Client(given)


def _several(of: Any) -> Any:
    databases = [of.config.DatabaseConfig(weight=weight, from_url=URL) for weight in (1.0, 0.5)]
    return of.client.MultiDBClient(of.config.MultiDbConfig(databases_config=databases))


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("of", [redis.multidb, redis.asyncio.multidb])
def test_a_client_of_several_databases_is_refused(flavour: Any, of: Any) -> None:
    with pytest.raises(ArgumentError, match=r"Client\(database\.client\) for database, weight in .*get_databases\(\)"):
        flavour.Client(_several(of))


def test_a_client_for_each_database_is_made_as_the_error_says() -> None:
    made = [redisson_dq.Client(database.client) for database, weight in _several(redis.multidb).get_databases()]
    assert [client.runtime.connections.where for client in made] == [URL, URL]


# -- maintenance -----------------------------------------------------------------------------------------------------

Config = redis.maint_notifications.MaintNotificationsConfig
_MADE: dict[str, Callable[[Any], Any]] = {
    "redis": lambda config: redisson_dq.Client(redis.Redis(protocol=3, maint_notifications_config=config)),
    "asyncio redis": lambda config: redisson_dq.aio.Client(
        redis.asyncio.Redis(protocol=3, maint_notifications_config=config)
    ),
    "asyncio cluster": lambda config: redisson_dq.aio.Client(
        redis.asyncio.RedisCluster(host="h", protocol=3, maint_notifications_config=config)
    ),
    "url": lambda config: redisson_dq.aio.connect("redis://h", maint_notifications_config=config),
    "url of a cluster": lambda config: redisson_dq.aio.connect("redis+cluster://h", maint_notifications_config=config),
}


@pytest.mark.parametrize("made", _MADE)
@pytest.mark.parametrize("enabled", [True, "auto", False])
def test_notifications_that_must_come_and_cannot_are_warned_of(
    made: str, enabled: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "redisson_dq"):
        _MADE[made](Config(enabled=enabled))
    warned = [line for line in caplog.messages if "maint_notifications_config" in line]
    assert len(warned) == (enabled is True)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_pool_in_maintenance_is_copied_with_the_settings_of_the_user(flavour: Any) -> None:
    of = redis if flavour is redisson_dq else redis.asyncio
    theirs: Any = of.Redis(
        host="10.0.0.1", protocol=3, socket_timeout=3, maint_notifications_config=Config(relaxed_timeout=77)
    )
    # As redis-py does when the server announces that it moves.
    theirs.connection_pool.update_connection_kwargs(
        host="10.0.0.9",
        socket_timeout=77,
        socket_connect_timeout=77,
        maintenance_state=redis.maint_notifications.MaintenanceState.MOVING,
        maintenance_notification_hash=5,
    )
    connections = flavour.Client(theirs).runtime.connections
    assert connections.address == ("10.0.0.1", 6379)
    copied: Any = pool_from if of is redis else async_pool_from
    ours: dict[str, Any] = copied(theirs.connection_pool, "c1").connection_kwargs
    assert ours["socket_timeout"] == 3
    assert ours["socket_connect_timeout"] != 77
    assert not [name for name in ours if "maint" in name or name.startswith("orig_")]
