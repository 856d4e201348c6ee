"""The connections of one client: finds the node of a key, lends connections, closes them at the end."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

from redis.asyncio import ConnectionPool
from redis.exceptions import AskError, MovedError, RedisError, ResponseError

from redisson_dq._async.connecting.dedicated import Dedicated
from redisson_dq._async.connecting.servers import AsyncAnyRedis, ClusterServers, Servers
from redisson_dq._concurrency import AsyncSemaphore
from redisson_dq._redis import (
    async_close_client,
    cannot_connect,
    dedicated_connection,
    is_denied,
    translate,
    was_closed,
)
from redisson_dq.errors import ClosedError, RedissonDQError
from redisson_dq.observing import Observers
from redisson_dq.observing.outage import Outage
from redisson_dq.observing.refusals import Refusals
from redisson_dq.scheduling.clock import Clock
from redisson_dq.scheduling.tries import Tries

__all__ = ["Pools"]

logger = logging.getLogger("redisson_dq")


class Pools:
    """Lends connections of our own, one for each exchange."""

    def __init__(self, servers: Servers, clock: Clock, observers: Observers, longest_block: float = 30.0) -> None:
        self._servers = servers
        #: The observers, which get all happenings of the client.
        self.observers = observers
        #: The name by which the server and the scripts distinguish this client from others.
        self.client = servers.client
        #: The number of the database that the keys are in.
        self.database = servers.database
        #: Whether keys live on several nodes.
        self.is_cluster = isinstance(servers, ClusterServers)
        #: The client's clock, for all that waits or reads the time.
        self.clock = clock
        #: How many seconds a command blocks in Redis. Then it is sent again, which shows that Redis answers.
        self.longest_block = longest_block
        #: Whether the parts of the client can reach Redis.
        self.outage = Outage(clock, observers)
        #: The tasks that these parts cannot do although Redis can be reached.
        self.refusals = Refusals(clock)
        #: When the parts that Redis refuses try again.
        self.tries = Tries(clock)
        #: The interceptors, which are called around operations on messages.
        self.operations = observers.operations
        #: Lets this many callers have connections at once.
        self.permits = AsyncSemaphore(servers.max_connections)
        #: The redis-py client that this client has made for itself, whose nodes it asks.
        self.own: AsyncAnyRedis | None = None
        #: For the texts of errors (``explaining.py``).
        self.serves_keys = False
        self._closed = False
        self._process = os.getpid()

    def check(self) -> None:
        """Raises ClosedError when the client is closed, or was made before this process was forked."""
        if self._process != os.getpid():
            raise ClosedError(
                f"the client was made in process {self._process}, and this is process {os.getpid()}; "
                "make a new one with connect() after fork()"
            )
        if self._closed:
            raise ClosedError("the client is closed; make a new one with connect()")

    @property
    def is_of_this_process(self) -> bool:
        """Whether the client was made in this process, and not before a fork."""
        return self._process == os.getpid()

    @property
    def address(self) -> tuple[str, int | None] | None:
        """Host and port of the server, or the path of its socket. None where neither is known before it is asked."""
        return self._servers.address

    @property
    def where(self) -> str:
        """The address as a URL, without user and password."""
        return self._servers.where

    async def pool_of(self, key: str) -> ConnectionPool:
        if self._servers.only is not None:
            return self._servers.only
        try:
            return await self._servers.pool_of(key)
        except Exception as error:
            raise await self.broken(error, f"key {key!r}" if key else "the server") from error

    async def check_pause(self, key: str) -> None:
        """For tries that nobody has asked for. Soon after a failed connection to the key's node it raises that
        error.
        """
        pool = await self.pool_of(key)
        try:
            pool.address.check_pause()  # type: ignore[attr-defined]
        except (RedisError, OSError) as error:
            raise translate(error, cannot_connect(pool, error)) from error

    def try_at_once(self) -> None:
        """A user has called: the next try to connect follows without a pause."""
        only = self._servers.only
        for pool in self._servers.pools if only is None else (only,):
            address = pool.address  # type: ignore[attr-defined]
            if address.failure is not None:
                address.try_at_once()

    async def masters(self) -> list[ConnectionPool]:
        """The pools to all nodes that have keys."""
        try:
            return await self._servers.masters()
        except Exception as error:
            raise await self.broken(error, "the masters of the cluster") from error

    async def pool_at(self, error: AskError, key: str) -> ConnectionPool:
        if not self.is_cluster:
            # The server is a node of a cluster, and the user's client does not know that.
            raise error
        try:
            if isinstance(error, MovedError):
                await self._servers.refresh()
            return await self._servers.pool_at(error.host, error.port)
        except Exception as failure:
            raise translate(failure, f"key {key!r}") from failure

    async def borrow(self, pool: ConnectionPool) -> Any:
        try:
            return await pool.get_connection()
        except (RedisError, OSError) as error:
            raise await self.broken(error, cannot_connect(pool, error)) from error

    async def broken(self, error: Exception, where: str, *, sent: bool = False) -> RedissonDQError:
        """Our error for a connection that broke. Asks the cluster first who owns its slots now."""
        await self.refresh()
        return translate(error, where, sent=sent)

    async def give_back(self, pool: ConnectionPool, connection: Any) -> None:
        if self._closed:
            # aclose() left this connection open, so that the reply could still come.
            await connection.disconnect()
        await pool.release(connection)

    async def dedicated(self, key: str, role: str, queue: str) -> Dedicated:
        """A connection of its own to the key's node, for reads that block. The caller connects and closes it.

        It reports its ``role`` to the server, and the ``queue`` that it is for.
        """
        self.check()
        return self.dedicated_at(await self.pool_of(key), role, queue)

    def dedicated_at(self, pool: ConnectionPool, role: str, queue: str) -> Dedicated:
        """Like :meth:`dedicated`, to the node of a pool."""
        return Dedicated(dedicated_connection(pool, role, queue), pool, self, self.clock, self.observers)

    async def connected(self, key: str, role: str, queue: str) -> Dedicated:
        """Like :meth:`dedicated`, and connects it."""
        self.check()
        pool = await self.pool_of(key)
        dedicated = self.dedicated_at(pool, role, queue)
        try:
            await dedicated.connect()
        except (RedisError, OSError) as error:
            raise await self.broken(error, cannot_connect(pool, error)) from error
        return dedicated

    async def is_cut_by(self, key: str, words: Sequence[Any]) -> bool:
        """Whether the server, or a proxy before it, answers a read and then closes the connection at a command.

        It is asked only where connections were closed at CLIENT: it costs a connection and two commands.
        """
        pool = await self.pool_of(key)
        if not pool.introduction.is_cut:  # type: ignore[attr-defined]
            return False
        dedicated = await self.connected(key, "receiver", key)
        try:
            await dedicated.send("LLEN", key)
            await dedicated.read()
            await dedicated.send(*words)
            await dedicated.read()
        except ResponseError:
            return False
        except (RedisError, OSError) as error:
            return was_closed(error)
        finally:
            await dedicated.aclose()
        return False

    async def may_send(self, key: str, words: Sequence[Any]) -> bool:
        """Whether the user may send a command. Redis queues it in a transaction, which is dropped.

        True where Redis does not say. Three round trips. Raises RedisConnectionError.
        """
        pool = await self.pool_of(key)
        connection = await self.borrow(pool)
        is_allowed = True
        try:
            await connection.exchange(("MULTI",))
            try:
                await connection.exchange(words)
            except ResponseError as error:
                is_allowed = not is_denied(error)
            await connection.exchange(("DISCARD",))
            return is_allowed
        except ResponseError:
            await connection.disconnect()
            return is_allowed
        except (RedisError, OSError) as error:
            raise await self.broken(error, f"key {key!r}", sent=True) from error
        except BaseException:
            await connection.disconnect()
            raise
        finally:
            await self.give_back(pool, connection)

    async def refresh(self) -> None:
        """Asks the cluster again who owns which slot, after a connection broke. Never raises."""
        try:
            await self._servers.refresh()
        except Exception as error:
            logger.debug("cannot refresh the cluster's slots: %s", error)

    async def aclose(self) -> None:
        """Closes the pooled connections: idle ones now, those in use when their reply has come."""
        self._closed = True
        await self._servers.aclose()
        if self.own is not None:
            await async_close_client(self.own)
