"""Many commands in one exchange with each node: all are sent before the replies of any are read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from redis.asyncio import ConnectionPool
from redis.exceptions import BusyLoadingError, RedisError, ResponseError

from redisson_dq._async.connecting.pools import Pools
from redisson_dq._concurrency import async_finish
from redisson_dq._redis import pack
from redisson_dq.durability import Confirmed, Durability
from redisson_dq.errors import RedisConnectionError, RedissonDQError

__all__ = ["Batch", "exchange_many"]


class Batch:
    """Commands for one node, and the outcome of each."""

    def __init__(
        self, pool: ConnectionPool, commands: Iterable[tuple[Any, ...]], durable: Durability | None = None
    ) -> None:
        self.pool = pool
        self.commands = list(commands)
        #: The confirmation that the batch needs, and the one that it got.
        self.durable = durable
        self.confirmed: Confirmed | Exception | None = None
        self.connection: Any = None
        self.sent = False
        #: The replies that have come. An error of Redis's is one of them.
        self.replies: list[Any] = []
        #: Why no more replies come.
        self.error: RedissonDQError | None = None


async def exchange_many(pools: Pools, batches: list[Batch], what: str) -> None:
    """Sends all of them before it reads the replies of any. Each has its replies then, or its error."""
    # One permit, however many nodes. Callers that each held some permits and waited for more would wait for ever.
    async with pools.permits:
        try:
            for batch in batches:
                await _send(pools, batch, what)
            for batch in batches:
                await _read(pools, batch, what)
            await _put_away(pools, batches)
        except BaseException:
            # Cancelled or interrupted. This goes on to its end, or the pool would miss a connection for ever.
            await async_finish(_put_away(pools, batches))
            raise


async def _send(pools: Pools, batch: Batch, what: str) -> None:
    try:
        batch.connection = await pools.borrow(batch.pool)
        batch.sent = True
        data = [pack(words) for words in batch.commands]
        if batch.durable is not None:
            data.append(pack(batch.durable.words))
        await batch.connection.send(data)
    except RedissonDQError as error:
        batch.error = error
    except (RedisError, OSError) as error:
        batch.error = await pools.broken(error, what, sent=True)
        batch.error.__cause__ = error


async def _read(pools: Pools, batch: Batch, what: str) -> None:
    try:
        while batch.error is None and len(batch.replies) < len(batch.commands):
            try:
                batch.replies.append(await batch.connection.read_response(disable_decoding=True))
            except ResponseError as error:
                batch.replies.append(error)
        if batch.error is None and batch.durable is not None:
            try:
                reply = await batch.connection.read_response(disable_decoding=True)
                batch.confirmed = batch.durable.confirmed(reply)
            except (ResponseError, BusyLoadingError) as error:
                batch.confirmed = error
    except (RedisError, OSError) as error:
        batch.error = await pools.broken(error, what, sent=True)
        batch.error.__cause__ = error
        if isinstance(batch.error, RedisConnectionError):
            # This error is about one command. The replies to the commands after it were not read.
            batch.error.maybe_done = True


async def _put_away(pools: Pools, batches: list[Batch]) -> None:
    """Gives the connections back, and closes those whose replies were not read. A late reply would be taken for that of
    the next request.
    """
    for batch in batches:
        connection, batch.connection = batch.connection, None
        if connection is None:
            continue
        try:
            if len(batch.replies) < len(batch.commands) or (batch.durable and batch.confirmed is None):
                await connection.disconnect()
            else:
                connection.is_clean = True
        finally:
            await pools.give_back(batch.pool, connection)
