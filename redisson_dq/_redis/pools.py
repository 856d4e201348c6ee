"""Pools of our own, made from the user's settings. They lend connections on which every reply has been read."""

from __future__ import annotations

import asyncio
import functools
import time
from typing import Any

import attrs
import redis
import redis.asyncio
import redis.asyncio.retry
import redis.retry
from redis.asyncio.sentinel import SentinelConnectionPool as AsyncSentinelConnectionPool
from redis.backoff import NoBackoff
from redis.sentinel import SentinelConnectionPool

from redisson_dq._redis.address import ServerAddress
from redisson_dq._redis.introducing import Introduction
from redisson_dq._redis.own_connection import AsyncOwnConnection, OwnConnection
from redisson_dq._redis.settings import own_settings
from redisson_dq.scheduling.clock import client_parts, current

__all__ = [
    "OLD",
    "async_cluster_ready",
    "async_node_pool",
    "async_pool_from",
    "cluster_ready",
    "node_pool",
    "pool_from",
]

# The pool's own limit raises an error. Connections lets callers wait instead.
_UNLIMITED = 2**31
# A connection of a pool is used for this many seconds. The name of a server may lead to another one, and a program that
# only reads would never notice it.
OLD = 120.0


@functools.cache
def _with(how: type[Any], of: type[Any]) -> type[Any]:
    return type(of.__name__, (how, of), {})


def _connections(how: type[Any], of: type[Any]) -> type[Any]:
    """The class of connections of a client that is made now."""
    both: Any = how, of
    return client_parts(current()).connection_class(_with(*both))


class _IdlePool:
    """A pool that only lends connections.

    redis-py counts and reports every connection that is lent. That takes longer than a PING of Redis.
    """

    introduction: Introduction
    address: ServerAddress
    #: Whether Sentinels say which server it leads to.
    is_of_sentinels: bool

    def __init__(self, *args: Any, **settings: Any) -> None:
        # One step of C code each takes a connection from here and puts one back.
        self._idle: list[Any] = []
        super().__init__(*args, **settings)

    def make_connection(self) -> Any:
        connection = super().make_connection()  # type: ignore[misc]
        connection.introduction, connection.address = self.introduction, self.address
        return connection

    def _last(self) -> Any:
        # Another thread may take the last one between a look and a step.
        try:
            return self._idle.pop()
        except IndexError:
            return None


class _Lending(_IdlePool):
    """A pool for threads."""

    def get_connection(self: Any) -> Any:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self.make_connection()
        try:
            if connection.number not in (-1, connection.address.number):
                connection.disconnect()
            if connection._sock is None or not connection.is_clean:
                connection.connect()
            if not connection.is_open():
                connection.disconnect()
                connection.connect()
        except BaseException:
            self.release(connection)
            raise
        return connection

    def open_connection(self: Any) -> Any:
        """A connection that needs no answer of the server's before it is used, or None."""
        connection = self._last()
        if connection is None or (connection.is_clean and not connection.is_over and connection.is_open()):
            return connection
        self.release(connection)
        return None

    def release(self: Any, connection: Any) -> None:
        if self.is_of_sentinels and not self.owns_connection(connection):
            # A Sentinel has named another master since.
            connection.disconnect()
            return
        over = connection.number not in (-1, connection.address.number)
        if over or time.monotonic() - connection.made_at > OLD:
            connection.disconnect()
        self._idle.append(connection)

    def disconnect(self, inuse_connections: bool = True) -> None:
        """Closes those that nobody has. A Sentinel's pool calls this when there is another master."""
        while (connection := self._last()) is not None:
            connection.disconnect()


class _AsyncLending(_IdlePool):
    """A pool for asyncio."""

    async def get_connection(self: Any) -> Any:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self.make_connection()
        try:
            if connection.number not in (-1, connection.address.number):
                await connection.disconnect(nowait=True)
            if not connection.reads_itself:
                await self.ensure_connection(connection)
            elif not connection.is_open():
                await connection.disconnect(nowait=True)
                await connection.connect()
        except BaseException:
            await self.release(connection)
            raise
        return connection

    async def open_connection(self: Any) -> Any:
        """A connection that needs no answer of the server's before it is used, or None."""
        connection = self._last()
        if connection is None or (not connection.is_over and connection.is_open()):
            return connection
        await self.release(connection)
        return None

    async def release(self, connection: Any) -> None:
        self._idle.append(connection)
        over = connection.number not in (-1, connection.address.number)
        if over or time.monotonic() - connection.made_at > OLD:
            await connection.disconnect(nowait=True)

    async def disconnect(self, inuse_connections: bool = True) -> None:
        """Closes those that nobody has. A Sentinel's pool calls this when there is another master."""
        # A background task that puts values back may take one of them meanwhile. It finds that it is closed, and has
        # another try, while one that connects when the loop ends is cancelled.
        await asyncio.gather(*(connection.disconnect() for connection in self._idle))


@attrs.frozen
class _PoolKinds:
    """Our class of connections and of pools, and the classes of redis-py below."""

    connection: Any
    lending: Any
    pool: Any
    sentinels: Any
    retry: Any


_THREADS = _PoolKinds(OwnConnection, _Lending, redis.ConnectionPool, SentinelConnectionPool, redis.retry.Retry)
_ASYNCIO = _PoolKinds(
    AsyncOwnConnection,
    _AsyncLending,
    redis.asyncio.ConnectionPool,
    AsyncSentinelConnectionPool,
    redis.asyncio.retry.Retry,
)


def _pool(of: _PoolKinds, theirs: Any, client: str, *, is_node: bool = False) -> Any:
    """``theirs`` is a pool, or a node of a cluster, with the class and the settings of its connections."""
    introduction = Introduction(theirs.connection_kwargs, client)
    settings = {
        "connection_class": _connections(of.connection, theirs.connection_class),
        "max_connections": _UNLIMITED,
        **own_settings(theirs.connection_kwargs, of.retry(NoBackoff(), 0), introduction),
    }
    if isinstance(theirs, of.sentinels):
        made = _with(of.lending, of.sentinels)
        own = made(theirs.service_name, theirs.sentinel_manager, is_master=theirs.is_master, **settings)
    else:
        own = _with(of.lending, of.pool)(**settings)
    own.introduction, own.address = introduction, ServerAddress(is_node=is_node)
    own.is_of_sentinels = isinstance(theirs, of.sentinels)
    return own


def pool_from(pool: redis.ConnectionPool, client: str) -> redis.ConnectionPool:
    """A pool of our own with the settings of ``pool``, which may be a Sentinel's. The server is given the name
    ``client``.
    """
    return _pool(_THREADS, pool, client)  # type: ignore[no-any-return]


def async_pool_from(pool: redis.asyncio.ConnectionPool, client: str) -> redis.asyncio.ConnectionPool:
    """As with threads."""
    return _pool(_ASYNCIO, pool, client)  # type: ignore[no-any-return]


def node_pool(cluster: redis.RedisCluster, node: Any, client: str) -> redis.ConnectionPool:
    """A pool of our own to one node of a cluster."""
    pool = cluster.get_redis_connection(node).connection_pool
    return _pool(_THREADS, pool, client, is_node=True)  # type: ignore[no-any-return]


def async_node_pool(cluster: redis.asyncio.RedisCluster, node: Any, client: str) -> redis.asyncio.ConnectionPool:
    """A pool of our own to one node of a cluster."""
    return _pool(_ASYNCIO, node, client, is_node=True)  # type: ignore[no-any-return]


def cluster_ready(cluster: redis.RedisCluster) -> None:
    """Asks for the cluster's nodes, if that has not been done yet."""
    # A client of the user's has done so when it was made, and one of ours (urls.py) does so now.
    _ = cluster.nodes_manager


async def async_cluster_ready(cluster: redis.asyncio.RedisCluster) -> None:
    """Asks for the cluster's nodes, if that has not been done yet."""
    await cluster.initialize()
