"""What the library needs of redis-py beyond commands: pools of our own, made from the user's settings.

The library reads the settings of the user's client, and never sends through it. The user's pool may decode replies,
retry commands, or end blocking reads after ``socket_timeout``. If an offer's reply is lost, a retry would add the item
twice. So every connection is made from a copy of the settings with these three changed.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import re
import socket
import ssl
from collections.abc import Iterable
from typing import Any

import redis
import redis.asyncio
import redis.asyncio.retry
import redis.asyncio.sentinel
import redis.exceptions
import redis.retry
import redis.sentinel
from hiredis import pack_command
from redis.asyncio.connection import async_timeout  # type: ignore[attr-defined]
from redis.asyncio.sentinel import SentinelConnectionPool as AsyncSentinelConnectionPool
from redis.backoff import NoBackoff
from redis.sentinel import SentinelConnectionPool

from redisson_dq.errors import CrossSlotError, RedisConnectionError, RedisReplyError, RedissonDQError, ServerFullError

#: Says which client goes with which package, where the two kinds are mixed up.
WHICH_CLIENT = "redis.Redis goes with redisson_dq.Client, redis.asyncio.Redis with redisson_dq.aio.Client"

__all__ = [
    "WHICH_CLIENT",
    "async_cluster_ready",
    "async_hang_up",
    "async_may_send_aside",
    "async_node_pool",
    "async_pool_from",
    "async_read",
    "async_send",
    "async_send_aside",
    "cluster_ready",
    "connection_factory",
    "hang_up",
    "is_denied",
    "is_out_of_memory",
    "is_passing",
    "mark_clean",
    "may_send_aside",
    "node_pool",
    "pack",
    "passes",
    "pool_from",
    "read",
    "send",
    "send_aside",
    "translate",
    "without_password",
]

# A machine that does not answer for so many seconds counts as gone. The user may set another number.
_TIMEOUT = 10.0

# The pool's own limit raises an error. Connections lets callers wait instead.
_UNLIMITED = 2**31

# A connection that is silent for half a minute is checked. It is given up 15 s later.
_KEEPALIVE = {
    getattr(socket, name): value
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))
    if hasattr(socket, name)
}

# The errors of a Sentinel's pools when there is no node to connect to.
_NOT_FOUND = (
    redis.sentinel.MasterNotFoundError,
    redis.sentinel.SlaveNotFoundError,
    redis.asyncio.sentinel.MasterNotFoundError,
    redis.asyncio.sentinel.SlaveNotFoundError,
)

# What nearly every word of a command is.
_TEXTS = frozenset((str, bytes))

# Settings that redis-py makes for one pool or one protocol. A copy of them in another pool would be wrong.
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


class _Tidy:
    """A connection that reconnects if its last use was interrupted.

    A signal handler may raise while redis-py connects, sends or reads, and again during the cleanup. The next command
    would then read the late reply of the interrupted one.
    """

    #: Whether every reply was read. An interrupted use leaves it False.
    is_clean = True

    def connect(self: Any) -> None:
        if not self.is_clean:
            self.disconnect()
        elif self._sock is not None:
            return
        self.is_clean = False
        super().connect()  # type: ignore[misc]
        self.is_clean = True


@functools.cache
def _tidy(connection_class: type[Any]) -> type[Any]:
    return type(connection_class.__name__, (_Tidy, connection_class), {})


def mark_clean(connection: Any) -> None:
    """Notes that every reply has been read. With asyncio, nothing uses this note."""
    connection.is_clean = True


class _Lending:
    """A pool that lends connections, and does nothing besides.

    redis-py counts and tells of every connection that is lent. That takes longer than a PING of Redis.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        # One step of C code each takes a connection from here and puts one back.
        self._idle: list[Any] = []
        super().__init__(*args, **settings)

    def get_connection(self: Any) -> Any:
        connection = _last_of(self._idle) or self.make_connection()
        try:
            connection.connect()
            if not _is_fresh(connection):
                connection.disconnect()
                connection.connect()
        except BaseException:
            self.release(connection)
            raise
        return connection

    def release(self: Any, connection: Any) -> None:
        if self.owns_connection(connection):
            self._idle.append(connection)
        else:
            # A Sentinel has named another master since.
            connection.disconnect()

    def disconnect(self, inuse_connections: bool = True) -> None:
        """Closes those that nobody has. A Sentinel's pool calls this when there is another master."""
        while (connection := _last_of(self._idle)) is not None:
            connection.disconnect()


class _AsyncLending:
    """The same for asyncio."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        self._idle: list[Any] = []
        super().__init__(*args, **settings)

    async def get_connection(self: Any) -> Any:
        connection = _last_of(self._idle) or self.make_connection()
        try:
            await self.ensure_connection(connection)
        except BaseException:
            await self.release(connection)
            raise
        return connection

    async def release(self, connection: Any) -> None:
        self._idle.append(connection)

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


def _is_fresh(connection: Any) -> bool:
    """Whether a connection is open, and nothing is left to be read on it."""
    try:
        return not connection.can_read()
    except (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError, OSError):
        return False


@functools.cache
def _lending(how: type[Any], pool_class: type[Any]) -> type[Any]:
    return type(pool_class.__name__, (how, pool_class), {})


def pool_from(pool: redis.ConnectionPool) -> redis.ConnectionPool:
    """A pool of our own with the settings of ``pool``, which may be a Sentinel's."""
    settings = _settings(pool.connection_kwargs, redis.retry.Retry(NoBackoff(), 0))
    if isinstance(pool, SentinelConnectionPool):
        own: redis.ConnectionPool = _lending(_Lending, SentinelConnectionPool)(
            pool.service_name,
            pool.sentinel_manager,
            connection_class=_tidy(pool.connection_class),
            max_connections=_UNLIMITED,
            is_master=pool.is_master,
            **settings,
        )
        return own
    own = _lending(_Lending, redis.ConnectionPool)(
        connection_class=_tidy(pool.connection_class), max_connections=_UNLIMITED, **settings
    )
    return own


def async_pool_from(pool: redis.asyncio.ConnectionPool) -> redis.asyncio.ConnectionPool:
    """A pool of our own with the settings of ``pool``, which may be a Sentinel's."""
    settings = _settings(pool.connection_kwargs, redis.asyncio.retry.Retry(NoBackoff(), 0))
    if isinstance(pool, AsyncSentinelConnectionPool):
        own: redis.asyncio.ConnectionPool = _lending(_AsyncLending, AsyncSentinelConnectionPool)(
            pool.service_name,
            pool.sentinel_manager,
            connection_class=pool.connection_class,
            max_connections=_UNLIMITED,
            is_master=pool.is_master,
            **settings,
        )
        return own
    own = _lending(_AsyncLending, redis.asyncio.ConnectionPool)(
        connection_class=pool.connection_class, max_connections=_UNLIMITED, **settings
    )
    return own


def node_pool(cluster: redis.RedisCluster, node: Any) -> redis.ConnectionPool:
    """A pool of our own to one node of a cluster."""
    return pool_from(cluster.get_redis_connection(node).connection_pool)


def async_node_pool(cluster: redis.asyncio.RedisCluster, node: Any) -> redis.asyncio.ConnectionPool:
    """A pool of our own to one node of a cluster."""
    settings = _settings(node.connection_kwargs, redis.asyncio.retry.Retry(NoBackoff(), 0))
    own: redis.asyncio.ConnectionPool = _lending(_AsyncLending, redis.asyncio.ConnectionPool)(
        connection_class=node.connection_class, max_connections=_UNLIMITED, **settings
    )
    return own


def hang_up(connection: Any) -> None:
    """Ends a read that another thread is blocked in, and leaves everything else to that thread."""
    # disconnect() would remove the parser that the other thread uses.
    if connection._sock is not None:
        with contextlib.suppress(OSError):
            connection._sock.shutdown(socket.SHUT_RDWR)


async def async_hang_up(connection: Any) -> None:
    """Ends a blocking read of another task. That task does everything else."""
    if connection._writer is not None:
        connection._writer.transport.abort()


def pack(words: Iterable[Any]) -> bytes:
    """The bytes of one command. hiredis packs in C in both flavours; redis-py's asyncio connection does it in Python.

    hiredis asks Python for the digits of a number, where a signal handler may run. When that raises, hiredis goes on
    without the digits, and the process crashes. So hiredis is given no numbers.
    """
    without_numbers: Any = tuple([word if type(word) in _TEXTS else _text(word) for word in words])
    packed: bytes = pack_command(without_numbers)
    return packed


def _text(word: Any) -> Any:
    return str(word) if isinstance(word, (int, float)) else word


def send(connection: Any, packed: list[bytes]) -> None:
    """Sends commands, and connects first if need be. Raises redis-py's errors."""
    connection.is_clean = False
    connection.send_packed_command(packed, check_health=False)


async def async_send(connection: Any, packed: list[bytes]) -> None:
    """Sends commands, and connects first if need be. Raises redis-py's errors.

    redis-py itself makes a task of each command. The end of the loop cancels all tasks. It would also cancel a command
    by which a background task puts values back.
    """
    if not connection.is_connected:
        await connection.connect()
    try:
        connection._writer.writelines(packed)
        async with async_timeout(connection.socket_timeout):
            await connection._writer.drain()
    except asyncio.TimeoutError:
        await connection.disconnect(nowait=True)
        raise redis.exceptions.TimeoutError("timeout while writing to the socket") from None
    except OSError as error:
        await connection.disconnect(nowait=True)
        raise redis.exceptions.ConnectionError(f"error while writing to the socket: {error}") from error
    except BaseException:
        await connection.disconnect(nowait=True)
        raise


def read(connection: Any, within: float | None) -> Any:
    """The next reply. Raises redis-py's errors: TimeoutError after ``within`` seconds or the connection's timeout."""
    if within is None:
        return connection.read_response(disable_decoding=True)
    return connection.read_response(disable_decoding=True, timeout=min(within, connection.socket_timeout))


async def async_read(connection: Any, within: float | None) -> Any:
    """The next reply. Raises redis-py's errors: TimeoutError after ``within`` seconds or the connection's timeout."""
    if within is None:
        return await connection.read_response(disable_decoding=True)
    try:
        async with async_timeout(within):
            return await connection.read_response(disable_decoding=True)
    except asyncio.TimeoutError:
        raise redis.exceptions.TimeoutError("timeout reading from socket") from None


def may_send_aside(connection: Any) -> bool:
    """Whether one thread may send while another one reads. That is not safe with TLS."""
    return not isinstance(connection._sock, ssl.SSLSocket)


def async_may_send_aside(connection: Any) -> bool:
    """Whether one task may send while another one reads."""
    return True


def send_aside(connection: Any, packed: bytes) -> None:
    """Sends a command while another thread reads. The reader meets any error."""
    sock = connection._sock
    if sock is not None:
        with contextlib.suppress(OSError):
            sock.sendall(packed)


async def async_send_aside(connection: Any, packed: bytes) -> None:
    """Sends a command while another task reads. The reader meets any error."""
    if connection._writer is not None:
        connection._writer.write(packed)


def without_password(url: object) -> object:
    """A URL without its password, for error messages."""
    if not isinstance(url, str):
        return url
    # A text that is no URL may hold a password as well. So everything before the last @ is left out.
    return re.sub(r"(?s)^((?:rediss?|unix)://)?.*@", r"\1***@", url).partition("?")[0]


def cluster_ready(cluster: redis.RedisCluster) -> None:
    """A synchronous cluster client knows its nodes from the start."""


async def async_cluster_ready(cluster: redis.asyncio.RedisCluster) -> None:
    """Asks for the cluster's nodes, if that has not been done yet."""
    await cluster.initialize()


def connection_factory(pool: Any) -> Any:
    """A connection outside the pool whose reads wait for ever. TCP keepalive notices when it is dead."""
    settings = {**pool.connection_kwargs, "socket_timeout": None, "health_check_interval": 0}
    return pool.connection_class(**settings)


#: Error replies, by first word or class, whose condition passes. Such conditions are a failover, a migrating slot, a
#: start, a long script, a lack of memory or replicas. A blocking call goes on waiting meanwhile.
_PASSING_WORDS = ("BUSY ", "LOADING", "MISCONF", "NOREPLICAS", "UNBLOCKED")
_PASSING_ERRORS = (
    redis.exceptions.AskError,  # MOVED too
    redis.exceptions.ClusterDownError,  # MASTERDOWN too
    redis.exceptions.OutOfMemoryError,
    redis.exceptions.ReadOnlyError,
    redis.exceptions.TryAgainError,
)


# Redis 6.2 puts a text of its own in front of these, where it refused a command of a script.
_PASSING_IN_A_SCRIPT = re.compile(r"(?s)Error running script .*-(MASTERDOWN|MISCONF|NOREPLICAS|OOM|READONLY) ")


def is_passing(error: redis.exceptions.ResponseError) -> bool:
    """Whether the condition behind an error reply ends by itself."""
    text = str(error)
    if isinstance(error, _PASSING_ERRORS) or text.startswith(_PASSING_WORDS):
        return True
    return _PASSING_IN_A_SCRIPT.search(text) is not None


def passes(error: RedissonDQError) -> bool:
    """Whether the condition behind one of our errors passes without anybody's help."""
    cause = error.__cause__
    return isinstance(error, RedisConnectionError) or (
        isinstance(cause, redis.exceptions.ResponseError) and is_passing(cause)
    )


def is_out_of_memory(error: redis.exceptions.ResponseError) -> bool:
    """Whether Redis refused a write because it has reached its maxmemory."""
    # Redis 6.2 puts a text of its own before the reply to a script's command.
    return isinstance(error, redis.exceptions.OutOfMemoryError) or "-OOM command not allowed" in str(error)


def is_denied(error: redis.exceptions.ResponseError) -> bool:
    """Whether Redis refused a command because the user lacks a right. The words differ between 6.2, 7.0 and later."""
    in_a_script = ("The user executing the script can't", "ACL failure in script")
    return isinstance(error, redis.exceptions.NoPermissionError) or any(text in str(error) for text in in_a_script)


def _shorten(error: Exception) -> None:
    """Removes the settings of every connection from a Sentinel's error, where redis-py puts them."""
    failed = re.findall(r"\bhost=([^,]*),port=(\d+)", str(error))
    what = str(error).partition(" : ")[0]
    if failed:
        asked = ", ".join(dict.fromkeys(f"{host}:{port}" for host, port in failed))
        what += f"; sentinels that could not be asked: {asked}"
    error.args = (what,)


def translate(error: Exception, where: str, *, sent: bool = False) -> RedissonDQError:
    """Our error for one of redis-py's. ``where`` says what was being done, ``sent`` whether it had been sent."""
    if isinstance(error, RedissonDQError):
        return error
    if isinstance(error, _NOT_FOUND):
        _shorten(error)
    if isinstance(error, redis.exceptions.BusyLoadingError):
        # To redis-py this is a broken connection. In fact Redis has answered, and has refused the command.
        sent = False
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
    if isinstance(error, redis.exceptions.ResponseError) and is_out_of_memory(error):
        return ServerFullError(
            f"{where}: Redis has reached its maxmemory and takes nothing more; nothing was done; raise maxmemory, or "
            f"try again when items have been taken ({error})"
        )
    return RedisReplyError(f"{where}: {error}")
