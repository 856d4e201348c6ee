"""What we need of redis-py beyond commands: pools of our own, made from the user's settings.

The user's client is read, never used: its pool may decode replies, retry commands (an offer whose reply was lost
would be offered twice) or end blocking reads after ``socket_timeout``. So every connection is made from a copy of
its settings with those three changed.
"""

from __future__ import annotations

import contextlib
import re
import socket
from typing import Any

import redis
import redis.asyncio
import redis.asyncio.retry
import redis.exceptions
import redis.retry
from redis.asyncio.sentinel import SentinelConnectionPool as AsyncSentinelConnectionPool
from redis.backoff import NoBackoff
from redis.sentinel import SentinelConnectionPool

from .errors import CrossSlotError, RedisConnectionError, RedisReplyError, RedissonDQError

#: What goes with what, where the two kinds of client are mixed up.
WHICH_CLIENT = "redis.Redis goes with redisson_dq.Client, redis.asyncio.Redis with redisson_dq.aio.Client"

__all__ = [
    "WHICH_CLIENT",
    "async_cluster_ready",
    "async_hang_up",
    "async_node_pool",
    "async_pool_from",
    "cluster_ready",
    "connection_factory",
    "hang_up",
    "is_transient",
    "node_pool",
    "pool_from",
    "translate",
    "without_password",
]

# Seconds until a machine that does not answer counts as gone, unless the user set another number.
_TIMEOUT = 10.0

# The pool's own limit raises an error; Connections lets callers wait for their turn instead.
_UNLIMITED = 2**31

# When a connection that is silent for half a minute is checked, and given up 15 s later.
_KEEPALIVE = {
    getattr(socket, name): value
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))
    if hasattr(socket, name)
}

# Made by redis-py for one pool or one protocol; a copy of them in another pool would be wrong.
_POOL_BOUND = (
    "connection_pool",
    "event_dispatcher",
    "himport_registry",
    "legacy_responses",
    "maint_notifications_config",
    "maint_notifications_pool_handler",
    "oss_cluster_maint_notifications_handler",
)


def _settings(settings: Any, retry: Any) -> dict[str, Any]:
    ours = {name: value for name, value in settings.items() if name not in _POOL_BOUND}
    for timeout in ("socket_connect_timeout", "socket_timeout"):
        if ours.get(timeout) is None:
            ours[timeout] = _TIMEOUT
    if "path" not in ours:
        ours["socket_keepalive"] = True
        if not isinstance(ours.get("socket_keepalive_options"), dict):
            ours["socket_keepalive_options"] = _KEEPALIVE
    # RESP2 everywhere: one shape of replies, and pub/sub messages come as plain replies.
    ours.update(
        encoding="utf-8",
        encoding_errors="strict",
        decode_responses=False,
        protocol=2,
        retry=retry,
        retry_on_timeout=False,
        retry_on_error=[],
    )
    return ours


def pool_from(pool: redis.ConnectionPool) -> redis.ConnectionPool:
    """A pool of our own with the settings of ``pool``, which may be a Sentinel's."""
    settings = _settings(pool.connection_kwargs, redis.retry.Retry(NoBackoff(), 0))
    if isinstance(pool, SentinelConnectionPool):
        own: redis.ConnectionPool = SentinelConnectionPool(
            pool.service_name,
            pool.sentinel_manager,
            connection_class=pool.connection_class,
            max_connections=_UNLIMITED,
            is_master=pool.is_master,
            **settings,
        )
        return own
    return redis.ConnectionPool(connection_class=pool.connection_class, max_connections=_UNLIMITED, **settings)


def async_pool_from(pool: redis.asyncio.ConnectionPool) -> redis.asyncio.ConnectionPool:
    """A pool of our own with the settings of ``pool``, which may be a Sentinel's."""
    settings = _settings(pool.connection_kwargs, redis.asyncio.retry.Retry(NoBackoff(), 0))
    if isinstance(pool, AsyncSentinelConnectionPool):
        own: redis.asyncio.ConnectionPool = AsyncSentinelConnectionPool(
            pool.service_name,
            pool.sentinel_manager,
            connection_class=pool.connection_class,
            max_connections=_UNLIMITED,
            is_master=pool.is_master,
            **settings,
        )
        return own
    return redis.asyncio.ConnectionPool(connection_class=pool.connection_class, max_connections=_UNLIMITED, **settings)


def node_pool(cluster: redis.RedisCluster, node: Any) -> redis.ConnectionPool:
    """A pool of our own to one node of a cluster."""
    return pool_from(cluster.get_redis_connection(node).connection_pool)


def async_node_pool(cluster: redis.asyncio.RedisCluster, node: Any) -> redis.asyncio.ConnectionPool:
    """A pool of our own to one node of a cluster."""
    settings = _settings(node.connection_kwargs, redis.asyncio.retry.Retry(NoBackoff(), 0))
    return redis.asyncio.ConnectionPool(connection_class=node.connection_class, max_connections=_UNLIMITED, **settings)


def hang_up(connection: Any) -> None:
    """Ends a read that another thread is blocked in, and leaves everything else to that thread."""
    # disconnect() would take the parser away under it.
    if connection._sock is not None:
        with contextlib.suppress(OSError):
            connection._sock.shutdown(socket.SHUT_RDWR)


async def async_hang_up(connection: Any) -> None:
    """Ends a read that another task is blocked in, and leaves everything else to that task."""
    if connection._writer is not None:
        connection._writer.transport.abort()


def without_password(url: object) -> object:
    """A URL as it may stand in an error message."""
    return re.sub(r"//.*@", "//***@", url).partition("?")[0] if isinstance(url, str) else url


def cluster_ready(cluster: redis.RedisCluster) -> None:
    """A synchronous cluster client knows its nodes from the start."""


async def async_cluster_ready(cluster: redis.asyncio.RedisCluster) -> None:
    """Asks for the nodes, if that has not been done yet."""
    await cluster.initialize()


def connection_factory(pool: Any) -> Any:
    """A connection outside the pool whose reads wait for ever. TCP keepalive notices when it is dead."""
    settings = {**pool.connection_kwargs, "socket_timeout": None, "health_check_interval": 0}
    return pool.connection_class(**settings)


def is_transient(error: redis.exceptions.ResponseError) -> bool:
    """Whether an error reply says that the server's role changes: a failover, a slot on its way, a restart."""
    changing = (
        redis.exceptions.AskError,
        redis.exceptions.ClusterDownError,
        redis.exceptions.ReadOnlyError,
        redis.exceptions.TryAgainError,
    )
    return isinstance(error, changing) or str(error).startswith(("UNBLOCKED", "BUSY"))


def translate(error: Exception, where: str, *, sent: bool = False) -> RedissonDQError:
    """Our error for one of redis-py's. ``where`` says what was being done, ``sent`` whether it had been sent."""
    if isinstance(error, RedissonDQError):
        return error
    denied = (redis.exceptions.AuthenticationError, redis.exceptions.AuthorizationError)
    if isinstance(error, denied):
        return RedisReplyError(f"{where}: Redis refused the login: {error}; check the user name and password")
    lost = (
        redis.exceptions.ConnectionError,
        redis.exceptions.TimeoutError,
        redis.exceptions.RedisClusterException,
        OSError,
    )
    if isinstance(error, lost):
        doubt = "; the command was sent and may have been carried out" if sent else ""
        return RedisConnectionError(f"{where}: {error or type(error).__name__}{doubt}", maybe_done=sent)
    if isinstance(error, redis.exceptions.ClusterCrossSlotError) or "CROSSSLOT" in str(error):
        return CrossSlotError(
            f"{where}: the keys are on different nodes of the cluster; "
            "give the names of all queues in one call the same hash tag, as in {shop}orders and {shop}done"
        )
    return RedisReplyError(f"{where}: {error}")
