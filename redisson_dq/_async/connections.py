"""Carries requests to Redis and brings back results or our errors. Nothing is ever sent twice in silence."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from hiredis import pack_command
from redis.asyncio import ConnectionPool
from redis.exceptions import (
    AskError,
    ClusterDownError,
    MovedError,
    NoScriptError,
    RedisError,
    ResponseError,
    TryAgainError,
)

from .._pairs import AsyncSemaphore, async_finish, async_sleep
from .._redis import async_hang_up, connection_factory, translate
from ..errors import (
    ClosedError,
    DecodeError,
    RedisConnectionError,
    RedisReplyError,
    RedissonDQError,
    ServerSettingError,
    WrongTypeError,
)
from ..wire import commands
from ..wire.request import Request
from .servers import ClusterServers, Servers

__all__ = ["Connections", "Dedicated"]

T = TypeVar("T")

logger = logging.getLogger("redisson_dq")

# A slot under migration answers at the second try; more are for one that moves on meanwhile.
_REDIRECTIONS = 8
_PAUSE_WHILE_MIGRATING = 0.05


class Connections:
    """Runs requests, each on a pooled connection of our own."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._turns = AsyncSemaphore(servers.max_connections)
        self._closed = False

    @property
    def database(self) -> int:
        """The number of the database that the keys are in."""
        return self._servers.database

    @property
    def is_cluster(self) -> bool:
        """Whether keys live on several nodes."""
        return isinstance(self._servers, ClusterServers)

    async def run(self, request: Request[T]) -> T:
        """One round trip (two when the server does not know the script yet).

        Raises RedisConnectionError, WrongTypeError, RedisReplyError, ClosedError.
        """
        try:
            return request.parse(await self._run(request))
        except ResponseError as error:
            raise await self._explained(request, error) from error

    async def run_many(self, requests: list[Request[Any]], *, transaction: bool) -> list[Any]:
        """Results, or the errors in their place, in the order of the requests. One round trip, whatever the number of
        nodes: all of them work at the same time.

        Raises what keeps everything from being sent: RedisConnectionError, ClosedError, CrossSlotError.
        """
        places_of: dict[int, tuple[ConnectionPool, list[int]]] = {}
        for place, request in enumerate(requests):
            pool = await self._pool_of(request.key)
            places_of.setdefault(id(pool), (pool, []))[1].append(place)
        if transaction and len(places_of) > 1:
            raise translate(ResponseError("CROSSSLOT"), "a transaction")
        replies: list[Any] = [None] * len(requests)
        if transaction and requests:
            replies = await self._transact(requests)
        else:
            batches = [_Batch(pool, _packed(requests[i] for i in places)) for pool, places in places_of.values()]
            await self._exchange_many(batches, "a pipeline")
            unsent = [batch.error for batch in batches if batch.error and not batch.sent]
            if unsent and len(unsent) == len(batches):
                raise unsent[0]
            for batch, (_, places) in zip(batches, places_of.values(), strict=True):
                # What another node has answered stands, and may be values that exist nowhere else any more.
                for i, place in enumerate(places):
                    replies[place] = batch.replies[i] if i < len(batch.replies) else batch.error
        return [
            await self._outcome(request, reply, transaction) for request, reply in zip(requests, replies, strict=True)
        ]

    async def _outcome(self, request: Request[Any], reply: Any, transaction: bool) -> Any:
        try:
            if isinstance(reply, (AskError, TryAgainError, ClusterDownError, NoScriptError)) and not transaction:
                # It was not carried out there; alone it finds its way. (The call that brought its script's text
                # along was of another slot, and was redirected.)
                return await self.run(request)
            if isinstance(reply, ResponseError):
                return await self._explained(request, reply)
            return reply if isinstance(reply, Exception) else request.parse(reply)
        except RedissonDQError as error:
            return error

    async def _explained(self, request: Request[Any], error: ResponseError) -> RedissonDQError:
        """Our error for one of Redis's, with the key that has the wrong type."""
        wrong = await self._wrong_type(request) if str(error).startswith("WRONGTYPE") else None
        made = wrong or translate(error, _subject(request))
        made.__cause__ = error
        return made

    async def _transact(self, requests: list[Request[Any]]) -> list[Any]:
        """The replies, or errors in their place. One that was redirected did nothing, and follows its slot."""
        attempt = 0
        while True:
            replies = await self._transact_once(requests)
            moved = any(isinstance(reply, (AskError, TryAgainError, ClusterDownError)) for reply in replies)
            if not moved or attempt == _REDIRECTIONS:
                return replies
            await async_sleep(_PAUSE_WHILE_MIGRATING * attempt)
            await self.refresh()
            attempt += 1

    async def _transact_once(self, requests: list[Request[Any]]) -> list[Any]:
        batch = _Batch(await self._pool_of(requests[0].key), [("MULTI",), *_packed(requests), ("EXEC",)])
        await self._exchange_many([batch], "a transaction")
        if batch.error is not None:
            raise batch.error
        done = batch.replies[-1]
        if isinstance(done, ResponseError):
            # Redis refused a command when it came, or all of them at the end (CROSSSLOT), and carried out none.
            reasons = [*(reply for reply in batch.replies[1:-1] if isinstance(reply, ResponseError)), done]
            return [reply if isinstance(reply, ResponseError) else reasons[0] for reply in batch.replies[1:-1]]
        return list(done)

    async def _exchange_many(self, batches: list[_Batch], what: str) -> None:
        """Sends all of them before it reads the replies of any. Each has its replies then, or its error."""
        # One turn, however many nodes: callers that each had some turns and waited for more would wait for ever.
        async with self._turns:
            try:
                for batch in batches:
                    await self._send(batch, what)
                for batch in batches:
                    await self._read(batch, what)
                await self._put_away(batches)
            except BaseException:
                # Cancelled or interrupted. To its end, or a connection would be missing for ever.
                await async_finish(self._put_away(batches))
                raise

    async def _send(self, batch: _Batch, what: str) -> None:
        try:
            batch.connection = await self._connection(batch.pool)
            batch.sent = True
            packed = [pack_command(words) for words in batch.commands]
            await batch.connection.send_packed_command(packed, check_health=False)
        except RedissonDQError as error:
            batch.error = error
        except (RedisError, OSError) as error:
            batch.error = await self._broken(error, what, sent=True)
            batch.error.__cause__ = error

    async def _read(self, batch: _Batch, what: str) -> None:
        try:
            while batch.error is None and len(batch.replies) < len(batch.commands):
                try:
                    batch.replies.append(await batch.connection.read_response(disable_decoding=True))
                except ResponseError as error:
                    batch.replies.append(error)
        except (RedisError, OSError) as error:
            batch.error = await self._broken(error, what, sent=True)
            batch.error.__cause__ = error

    async def _put_away(self, batches: list[_Batch]) -> None:
        """Gives the connections back, those closed whose replies were not read: a reply that comes yet would be taken
        for that of the next request.
        """
        for batch in batches:
            connection, batch.connection = batch.connection, None
            if connection is None:
                continue
            try:
                if len(batch.replies) < len(batch.commands):
                    await connection.disconnect()
            finally:
                await self._give_back(batch.pool, connection)

    async def keep_aside(self, error: DecodeError, key: str) -> None:
        """Puts what could not be decoded, and exists nowhere else any more, into the list ``key``.

        Raises the error itself when Redis does not take it.
        """
        try:
            # A cancelled caller has nobody to give the bytes to, so they are put away in any case.
            await async_finish(self.run(commands.keep_undecodable(key, error.undecodable)))
        except RedissonDQError as failure:
            raise error from failure
        error.kept_in = key

    async def check_keyspace_events(self) -> None:
        """Raises ServerSettingError unless the server publishes keyspace events of sorted sets. One round trip.

        Where CONFIG is forbidden, only a warning is logged.
        """
        if isinstance(self._servers, ClusterServers):
            raise ServerSettingError(
                'wakeups="keyspace" is for one server: each node of a cluster tells of its own keys only'
            )
        request = Request(words=("CONFIG", "GET", "notify-keyspace-events"), types={"": ""}, parse=list)
        try:
            found = await self.run(request)
        except RedisReplyError as error:
            logger.warning("cannot look whether the server publishes keyspace events: %s", error)
            return
        flags = found[1].decode() if len(found) > 1 else ""
        if "K" not in flags or not ("z" in flags or "A" in flags):
            raise ServerSettingError(
                f'the server\'s notify-keyspace-events is {flags!r}; wakeups="keyspace" needs K and z in it: '
                "CONFIG SET notify-keyspace-events Kz"
            )

    async def _run(self, request: Request[Any]) -> Any:
        asking = False
        pool = await self._pool_of(request.key)
        for attempt in range(_REDIRECTIONS):
            try:
                async with self._turns:
                    return await self._once(pool, request, asking)
            except AskError as error:
                # The node that answered does not serve the slot any more (MOVED) or this key (ASK): nothing was done.
                asking = not isinstance(error, MovedError)
                pool = await self._pool_at(error, request.key)
            except (TryAgainError, ClusterDownError):
                if attempt == _REDIRECTIONS - 1:
                    raise
                await async_sleep(_PAUSE_WHILE_MIGRATING * (attempt + 1))
                await self.refresh()
                pool = await self._pool_of(request.key)
                asking = False
            except RedisConnectionError as error:
                if error.maybe_done:
                    raise
                # Nothing was sent. After a failover another node has the slot.
                gone, pool = pool, await self._pool_of(request.key)
                if pool is gone:
                    raise
                asking = False
        raise ResponseError("the cluster redirected the request too often")

    async def _pool_of(self, key: str) -> ConnectionPool:
        try:
            return await self._servers.pool_of(key)
        except Exception as error:
            raise await self._broken(error, f"key {key!r}") from error

    async def _pool_at(self, error: AskError, key: str) -> ConnectionPool:
        try:
            if isinstance(error, MovedError):
                await self._servers.refresh()
            return await self._servers.pool_at(error.host, error.port)
        except Exception as failure:
            raise translate(failure, f"key {key!r}") from failure

    async def _once(self, pool: ConnectionPool, request: Request[Any], asking: bool) -> Any:
        connection = await self._connection(pool)
        try:
            if asking:
                await self._exchange(connection, ("ASKING",))
            if request.script is None:
                return await self._exchange(connection, request.words)
            try:
                return await self._exchange(connection, ("EVALSHA", request.script.sha, *request.words))
            except NoScriptError:
                # It did not run. EVAL brings the text along, so a flush in between does not matter.
                if asking:
                    await self._exchange(connection, ("ASKING",))
                return await self._exchange(connection, ("EVAL", request.script.source, *request.words))
        except ResponseError:
            raise
        except (RedisError, OSError) as error:
            raise await self._broken(error, _subject(request), sent=True) from error
        except BaseException:
            # Cancelled or interrupted: a reply that comes yet would be taken for that of the next request.
            await connection.disconnect()
            raise
        finally:
            await self._give_back(pool, connection)

    async def _connection(self, pool: ConnectionPool) -> Any:
        if self._closed:
            raise ClosedError("the client is closed; make a new one with connect()")
        try:
            return await pool.get_connection()
        except (RedisError, OSError) as error:
            raise await self._broken(error, "cannot connect to Redis") from error

    async def _broken(self, error: Exception, where: str, *, sent: bool = False) -> RedissonDQError:
        """Our error for a connection that broke, after a look for who owns its slots now."""
        await self.refresh()
        return translate(error, where, sent=sent)

    async def _give_back(self, pool: ConnectionPool, connection: Any) -> None:
        if self._closed:
            # close() left it to us, so that the reply could still come.
            await connection.disconnect()
        await pool.release(connection)

    async def _exchange(self, connection: Any, words: tuple[Any, ...]) -> Any:
        # hiredis packs in C in both flavours; redis-py's asyncio connection would do it in Python.
        await connection.send_packed_command([pack_command(words)], check_health=False)
        return await connection.read_response(disable_decoding=True)

    async def _wrong_type(self, request: Request[Any]) -> WrongTypeError | None:
        """Finds the key that made Redis answer WRONGTYPE."""
        for key, expected in request.types.items():
            probe = Request(words=("TYPE", key), types={key: ""}, parse=bytes.decode)
            found = await self.run(probe)
            if found not in (expected, "none"):
                return WrongTypeError(
                    f"key {key!r} holds a {found}, but this queue keeps a {expected} there; "
                    "something else uses the same name: rename the queue or the other key",
                    key=key,
                    expected=expected,
                    found=found,
                )
        return None

    async def dedicated(self, key: str) -> Dedicated:
        """Opens a connection of its own to the key's node, for reads that block. The caller closes it."""
        if self._closed:
            raise ClosedError("the client is closed; make a new one with connect()")
        pool = await self._pool_of(key)
        connection = connection_factory(pool)
        try:
            await connection.connect()
        except (RedisError, OSError) as error:
            raise await self._broken(error, "cannot connect to Redis") from error
        return Dedicated(connection, pool)

    async def refresh(self) -> None:
        """Looks again for who owns which slot, after a connection broke. Never raises."""
        try:
            await self._servers.refresh()
        except Exception as error:
            logger.debug("cannot refresh the cluster's slots: %s", error)

    async def aclose(self) -> None:
        """Closes the pooled connections: those at rest now, those in use when their reply has come."""
        self._closed = True
        await self._servers.aclose()


class Dedicated:
    """One connection with blocking reads, and the way to end such a read from outside."""

    def __init__(self, connection: Any, pool: ConnectionPool) -> None:
        self.connection = connection
        self._pool = pool
        self._client_id = 0
        self._closed = False

    async def send(self, *words: Any) -> None:
        """Sends one command. Raises redis-py's errors."""
        if self._closed:
            # redis-py would connect anew, to a session that knows neither subscriptions nor our client id.
            raise ConnectionError("the connection was closed")
        await self.connection.send_command(*words, check_health=False)

    async def read(self) -> Any:
        """The next reply, waiting for ever. Raises redis-py's errors."""
        return await self.connection.read_response(disable_decoding=True)

    async def learn_id(self) -> None:
        """Asks for the server's id of this connection, which :meth:`unblock` needs. One round trip."""
        await self.send("CLIENT", "ID")
        self._client_id = await self.read()

    async def unblock(self) -> bool:
        """Makes a blocked command of this connection answer nil. False when none was blocked. One round trip."""
        connection = await self._pool.get_connection()
        try:
            await connection.send_command("CLIENT", "UNBLOCK", self._client_id)
            return bool(await connection.read_response(disable_decoding=True))
        finally:
            await self._pool.release(connection)

    async def hang_up(self) -> None:
        """Ends a read that somebody else is blocked in; that one closes the connection. Never raises."""
        self._closed = True
        await async_hang_up(self.connection)

    async def aclose(self) -> None:
        """Closes the connection. Called by the one who reads. Never raises."""
        self._closed = True
        try:
            await self.connection.disconnect()
        except (RedisError, OSError) as error:
            logger.debug("closing a connection: %s", error)


class _Batch:
    """Commands for one node, and what has become of them."""

    def __init__(self, pool: ConnectionPool, commands: Iterable[tuple[Any, ...]]) -> None:
        self.pool = pool
        self.commands = list(commands)
        self.connection: Any = None
        self.sent = False
        #: Those that have come, errors of Redis's among them.
        self.replies: list[Any] = []
        #: Why there are no more.
        self.error: RedissonDQError | None = None


def _packed(requests: Iterable[Request[Any]]) -> Iterator[tuple[Any, ...]]:
    """The commands. The first call of a script brings its text along, so the server knows it for the others."""
    known: set[str] = set()
    for request in requests:
        script = request.script
        if script is None:
            yield request.words
        elif script.sha in known:
            yield ("EVALSHA", script.sha, *request.words)
        else:
            known.add(script.sha)
            yield ("EVAL", script.source, *request.words)


def _subject(request: Request[Any]) -> str:
    what = request.script.name if request.script else str(request.words[0])
    return f"{what} on {request.key!r}" if request.key else what
