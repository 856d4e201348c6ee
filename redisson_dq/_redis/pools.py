"""Pools of our own, made from the user's settings. They lend connections on which every reply has been read."""

from __future__ import annotations

import asyncio
import functools
import time
from typing import Any

import redis
import redis.asyncio
import redis.asyncio.retry
import redis.exceptions
import redis.retry
from redis.asyncio.sentinel import SentinelConnectionPool as AsyncSentinelConnectionPool
from redis.backoff import NoBackoff
from redis.sentinel import SentinelConnectionPool

from redisson_dq._redis.address import ServerAddress
from redisson_dq._redis.introducing import COMMANDS, Introduction, async_introduce, introduce
from redisson_dq._redis.sending import async_send, is_open
from redisson_dq._redis.settings import own_settings
from redisson_dq.scheduling.clock import client_parts, current

__all__ = [
    "OLD",
    "async_cluster_ready",
    "async_node_pool",
    "async_pool_from",
    "cluster_ready",
    "is_over",
    "node_pool",
    "pool_from",
]

# The pool's own limit raises an error. Connections lets callers wait instead.
_UNLIMITED = 2**31
# A connection of a pool is used for this many seconds. The name of a server may lead to another one, and a program that
# only reads would never notice it.
OLD = 120.0


class _Tidy:
    """A connection that reconnects if its last use was interrupted.

    A signal handler may raise while redis-py connects, sends or reads, and again during the cleanup. The next command
    would then read the late reply of the interrupted one.
    """

    #: Whether every reply was read. An interrupted use leaves it False.
    is_clean = True
    address: ServerAddress
    #: The number of the address when it was made, -1 before that, and the time.
    number = -1
    made_at = 0.0
    #: The names that its connections give themselves.
    introduction: Introduction
    role = COMMANDS
    queue = ""

    def connect(self: Any) -> None:
        if not self.is_clean:
            self.disconnect()
        elif self._sock is not None:
            return
        self.is_clean = False
        self.number, self.made_at = self.address.number, time.monotonic()
        try:
            super().connect()  # type: ignore[misc]
            introduce(self, super().connect)  # type: ignore[misc]
        except (redis.exceptions.RedisError, OSError) as error:
            self.address.failed(error)
            raise
        self.address.connected()
        self.is_clean = True

    def read_response(self: Any, *args: Any, **options: Any) -> Any:
        try:
            return super().read_response(*args, **options)  # type: ignore[misc]
        except redis.exceptions.RedisError as error:
            if (heard := self.address.heard(self.number, error)) is error:
                raise
            self.disconnect()
            raise heard from error


class _Cancellable:
    """A connection whose caller can be cancelled whenever it connects.

    redis-py sends the first commands with ``asyncio.wait_for``. Before Python 3.12 that may swallow the cancellation of
    its caller. A task that the end of the loop cancels would go on, and the loop would never end.
    """

    introduction: Introduction
    role = COMMANDS
    queue = ""
    address: ServerAddress
    #: The number of the address when it was made, -1 before that, and the time.
    number = -1
    made_at = 0.0

    async def connect(self: Any) -> None:
        if not self.is_connected:
            self.number, self.made_at = self.address.number, time.monotonic()
            try:
                await super().connect()  # type: ignore[misc]
                await async_introduce(self, super().connect)  # type: ignore[misc]
            except (redis.exceptions.RedisError, OSError) as error:
                self.address.failed(error)
                raise
            self.address.connected()

    async def read_response(self: Any, *args: Any, **options: Any) -> Any:
        try:
            return await super().read_response(*args, **options)  # type: ignore[misc]
        except redis.exceptions.RedisError as error:
            if (heard := self.address.heard(self.number, error)) is error:
                raise
            await self.disconnect(nowait=True)
            raise heard from error

    async def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        await async_send(self, [command] if isinstance(command, bytes) else list(command))


@functools.cache
def _with(how: type[Any], of: type[Any]) -> type[Any]:
    return type(of.__name__, (how, of), {})


def _connections(how: type[Any], of: type[Any]) -> type[Any]:
    """The class of connections of a client that is made now."""
    both: Any = how, of
    return client_parts(current()).connection_class(_with(*both))


class _Lending:
    """A pool that only lends connections.

    redis-py counts and reports every connection that is lent. That takes longer than a PING of Redis.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        # One step of C code each takes a connection from here and puts one back.
        self._idle: list[Any] = []
        super().__init__(*args, **settings)

    def make_connection(self: Any) -> Any:
        connection = super().make_connection()  # type: ignore[misc]
        connection.introduction, connection.address = self.introduction, self.address
        return connection

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
            if not is_open(connection):
                connection.disconnect()
                connection.connect()
        except BaseException:
            self.release(connection)
            raise
        return connection

    def open_connection(self: Any) -> Any:
        """A connection that needs no answer of the server's before it is used, or None."""
        connection = _last_of(self._idle)
        if connection is None or (connection.is_clean and not is_over(connection) and is_open(connection)):
            return connection
        self.release(connection)
        return None

    def release(self: Any, connection: Any) -> None:
        if not self.owns_connection(connection):
            # A Sentinel has named another master since.
            connection.disconnect()
            return
        over = connection.number not in (-1, connection.address.number)
        if over or time.monotonic() - connection.made_at > OLD:
            connection.disconnect()
        self._idle.append(connection)

    def disconnect(self, inuse_connections: bool = True) -> None:
        """Closes those that nobody has. A Sentinel's pool calls this when there is another master."""
        while (connection := _last_of(self._idle)) is not None:
            connection.disconnect()


class _AsyncLending:
    """A pool for asyncio."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        self._idle: list[Any] = []
        super().__init__(*args, **settings)

    def make_connection(self: Any) -> Any:
        connection = super().make_connection()  # type: ignore[misc]
        connection.introduction, connection.address = self.introduction, self.address
        return connection

    async def get_connection(self: Any) -> Any:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self.make_connection()
        try:
            if connection.number not in (-1, connection.address.number):
                await connection.disconnect(nowait=True)
            await self.ensure_connection(connection)
        except BaseException:
            await self.release(connection)
            raise
        return connection

    async def open_connection(self: Any) -> Any:
        """A connection that needs no answer of the server's before it is used, or None."""
        connection = _last_of(self._idle)
        if connection is None or (
            connection.is_connected and not is_over(connection) and not connection._reader.at_eof()
        ):
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


def _last_of(idle: list[Any]) -> Any:
    # Another thread may take the last one between a look and a step.
    try:
        return idle.pop()
    except IndexError:
        return None


def is_over(connection: Any) -> bool:
    """Whether new connections may lead to another server than this one."""
    return bool(connection.number not in (-1, connection.address.number))


def pool_from(pool: redis.ConnectionPool, client: str, *, is_node: bool = False) -> redis.ConnectionPool:
    """A pool of our own with the settings of ``pool``, which may be a Sentinel's. The server is given the name
    ``client``.
    """
    introduction = Introduction(pool.connection_kwargs, client)
    settings = own_settings(pool.connection_kwargs, redis.retry.Retry(NoBackoff(), 0), introduction)
    theirs: Any = pool.connection_class
    connection_class = _connections(_Tidy, theirs)
    if isinstance(pool, SentinelConnectionPool):
        own: Any = _with(_Lending, SentinelConnectionPool)(
            pool.service_name,
            pool.sentinel_manager,
            connection_class=connection_class,
            max_connections=_UNLIMITED,
            is_master=pool.is_master,
            **settings,
        )
    else:
        own = _with(_Lending, redis.ConnectionPool)(
            connection_class=connection_class, max_connections=_UNLIMITED, **settings
        )
    own.introduction, own.address = introduction, ServerAddress(is_node=is_node)
    return own  # type: ignore[no-any-return]


def async_pool_from(pool: redis.asyncio.ConnectionPool, client: str) -> redis.asyncio.ConnectionPool:
    """A pool of our own with the settings of ``pool``, which may be a Sentinel's. The server is given the name
    ``client``.
    """
    if not isinstance(pool, AsyncSentinelConnectionPool):
        return _async_pool(pool.connection_class, pool.connection_kwargs, client, is_node=False)
    introduction = Introduction(pool.connection_kwargs, client)
    theirs: Any = pool.connection_class
    own: Any = _with(_AsyncLending, AsyncSentinelConnectionPool)(
        pool.service_name,
        pool.sentinel_manager,
        connection_class=_connections(_Cancellable, theirs),
        max_connections=_UNLIMITED,
        is_master=pool.is_master,
        **own_settings(pool.connection_kwargs, redis.asyncio.retry.Retry(NoBackoff(), 0), introduction),
    )
    own.introduction, own.address = introduction, ServerAddress(is_node=False)
    return own  # type: ignore[no-any-return]


def _async_pool(connection_class: Any, settings: Any, client: str, *, is_node: bool) -> redis.asyncio.ConnectionPool:
    introduction = Introduction(settings, client)
    own: Any = _with(_AsyncLending, redis.asyncio.ConnectionPool)(
        connection_class=_connections(_Cancellable, connection_class),
        max_connections=_UNLIMITED,
        **own_settings(settings, redis.asyncio.retry.Retry(NoBackoff(), 0), introduction),
    )
    own.introduction, own.address = introduction, ServerAddress(is_node=is_node)
    return own  # type: ignore[no-any-return]


def node_pool(cluster: redis.RedisCluster, node: Any, client: str) -> redis.ConnectionPool:
    """A pool of our own to one node of a cluster."""
    return pool_from(cluster.get_redis_connection(node).connection_pool, client, is_node=True)


def async_node_pool(cluster: redis.asyncio.RedisCluster, node: Any, client: str) -> redis.asyncio.ConnectionPool:
    """A pool of our own to one node of a cluster."""
    return _async_pool(node.connection_class, node.connection_kwargs, client, is_node=True)


def cluster_ready(cluster: redis.RedisCluster) -> None:
    """Asks for the cluster's nodes, if that has not been done yet."""
    # A client of the user's has done so when it was made, and one of ours (urls.py) does so now.
    _ = cluster.nodes_manager


async def async_cluster_ready(cluster: redis.asyncio.RedisCluster) -> None:
    """Asks for the cluster's nodes, if that has not been done yet."""
    await cluster.initialize()
