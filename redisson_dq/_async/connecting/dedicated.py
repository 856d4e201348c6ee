"""A connection of its own for reads that block, and the way to end such a read from outside."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from redis.asyncio import ConnectionPool
from redis.exceptions import NoScriptError, RedisError, ResponseError
from redis.exceptions import TimeoutError as LateReply

from redisson_dq._redis import is_out_of_memory, is_passing, pack
from redisson_dq.observing import Observers, Sent
from redisson_dq.scheduling.clock import Clock
from redisson_dq.wire.request import Request

__all__ = ["NOBODYS_CHANNEL", "Dedicated", "HungUpError", "Lender"]

logger = logging.getLogger("redisson_dq")

#: A channel that nobody publishes anything to.
NOBODYS_CHANNEL = "redisson_dq:none"
_A_DAY = 86400.0


class HungUpError(ConnectionError):
    """This client has ended the connection itself, so nothing is wrong with the server."""


class Lender(Protocol):
    """Takes back a connection that was used to end a blocking read."""

    async def give_back(self, pool: ConnectionPool, connection: Any) -> None:
        """Lets others have it, or closes it when the client is closed."""


class Dedicated:
    """One connection with blocking reads, and the way to end such a read from outside."""

    def __init__(
        self, connection: Any, pool: ConnectionPool, lender: Lender, clock: Clock, observers: Observers
    ) -> None:
        self.connection = connection
        self._timeout: float = connection.socket_timeout
        self._clock = clock
        self._observers = observers
        self._pool = pool
        self._lender = lender
        #: The server's id of this connection, once :meth:`learn_id` has asked for it. 0 where the server gives none.
        self.client_id = 0
        # Why the server gives none.
        self._no_id: ResponseError | None = None
        self._closed = False
        #: Whether new connections may lead to another server than this one.
        self.is_over = False
        # Whether somebody reads a message.
        self._hears = False
        #: Whether somebody reads the reply to a command that blocks.
        self.blocks = False
        # The command that blocked last, which is often the next one too.
        self._words: Sequence[Any] = ()
        self._packed = b""
        connection.address.add(self)

    async def connect(self) -> None:
        """Connects. Raises redis-py's errors; :meth:`hang_up` ends it.

        Soon after a try that failed, by whatever part of the client, that error is raised and no other try is made.
        """
        self.connection.address.check_pause()
        self.is_over = False
        await self.connection.connect()

    async def send(self, *words: Any) -> None:
        """Sends one command. Raises redis-py's errors."""
        await self.send_packed(pack(words))

    async def send_packed(self, packed: bytes) -> None:
        """Sends commands that are bytes already. Raises redis-py's errors."""
        if self._closed:
            # redis-py would connect again, to a session that knows neither subscriptions nor our client id.
            raise HungUpError("the connection was closed")
        if self.is_over:
            raise ConnectionError("the connection leads to the wrong server now")
        await self.connection.send([packed])

    async def read(self, seconds: float = 0.0) -> Any:
        """The next reply. Redis has it ready ``seconds`` from now at the latest. Raises redis-py's errors.

        A server that hangs answers later, and its reply may be a value that exists nowhere else. So the wait goes on
        until Redis has answered a PING of another connection, and for ``socket_timeout`` more. A reply that has not
        come by then was lost on the way, on a connection that is still open.
        """
        timeout, has_answered = self._timeout, False
        while True:
            try:
                return await self.connection.read(seconds + timeout, goes_on=True)
            except LateReply as error:
                if has_answered:
                    raise
                logger.debug("a reply is late: %s", error)
            except (RedisError, OSError) as error:
                if self._closed and not isinstance(error, ResponseError):
                    raise HungUpError("the connection was closed") from error
                raise
            seconds, has_answered = 0.0, await self._answers_others()

    async def hear(self) -> Any:
        """The next message, whenever it comes. A PING shows whether any can come. Raises redis-py's errors."""
        self._hears = True
        if self.is_over:
            raise ConnectionError("the connection leads to the wrong server now")
        while True:
            with contextlib.suppress(LateReply):
                return await self.connection.read(_A_DAY, goes_on=True)

    async def exchange(self, request: Request[Any]) -> Any:
        """Sends one request and reads its reply. Raises redis-py's errors."""
        if not self._observers.heard[Sent]:
            return await self._exchange(request)
        with self._observers.exchange([(request.name, request.keys)], self._clock):
            return await self._exchange(request)

    async def _exchange(self, request: Request[Any]) -> Any:
        if request.script is None:
            await self.send(*request.words)
            return await self.read()
        try:
            await self.send("EVALSHA", request.script.sha, *request.words)
            return await self.read()
        except NoScriptError:
            await self.send("EVAL", request.script.source, *request.words)
            return await self.read()

    async def block(
        self,
        words: Sequence[Any],
        keys: tuple[str, ...],
        behind: Request[Any] | None,
        sent: Callable[[], None],
        seconds: float,
    ) -> Any:
        """Sends a command that blocks, and a request after it, in one piece; returns the command's reply.

        Redis ends it after this many ``seconds``. ``sent`` is called when both are sent, and :meth:`read_behind` reads
        the other reply. Raises redis-py's errors.
        """
        if words is not self._words:
            self._words, self._packed = words, pack(words)
        packed = self._packed
        if behind is not None:
            script = behind.script
            packed += pack(behind.words if script is None else ("EVALSHA", script.sha, *behind.words))
        if not self._observers.heard[Sent]:
            return await self._block(packed, sent, seconds)
        with self._observers.exchange([(words[0], keys)], self._clock, waits=True):
            return await self._block(packed, sent, seconds)

    async def _block(self, packed: bytes, sent: Callable[[], None], seconds: float) -> Any:
        await self.send_packed(packed)
        sent()
        self.blocks = True
        try:
            if self.is_over:
                self.address_left()
            return await self.read(seconds)
        finally:
            self.blocks = False

    async def read_behind(self, request: Request[Any]) -> Any:
        """The reply to a request that was sent after a command. Raises redis-py's errors.

        It is reported to observers here, as Redis has only now begun to carry it out.
        """
        if not self._observers.heard[Sent]:
            return await self.read()
        with self._observers.exchange([(request.name, request.keys)], self._clock):
            return await self.read()

    async def try_without_blocking(self, words: Sequence[Any], keys: tuple[str, ...]) -> Any:
        """Sends a command that would block, in a transaction; gives its reply. Raises redis-py's errors."""
        if not self._observers.heard[Sent]:
            return await _transact(self.connection, [words], self.read)
        with self._observers.exchange([(words[0], keys)], self._clock):
            return await _transact(self.connection, [words], self.read)

    async def learn_id(self) -> None:
        """Asks for the server's id of this connection, which only :meth:`unblock` needs. One round trip.

        Some services and proxies do not know the command. Then nothing can be unblocked, and all else works.
        """
        if self.connection.introduction.is_cut:
            self._no_id = ResponseError("the server closes a connection at CLIENT")
            return
        await self.send("CLIENT", "ID")
        try:
            self.client_id = await self.read()
        except ResponseError as error:
            if is_passing(error):
                raise
            self._no_id = error

    async def _answers_others(self) -> bool:
        """Whether Redis answers on another connection. Never raises its errors."""
        connection: Any = None
        try:
            connection = await self._pool.get_connection()
            await connection.send_words([("PING",)])
            await connection.read()
            connection.is_clean = True
            return True
        except ResponseError:
            connection.is_clean = True
            return True
        except (RedisError, OSError) as error:
            logger.debug("Redis does not answer on another connection either: %s", error)
            return False
        except BaseException:
            if connection is not None:
                await connection.disconnect()
            raise
        finally:
            if connection is not None:
                await self._lender.give_back(self._pool, connection)

    async def unblock(self) -> bool:
        """Makes a blocked command of this connection answer nil. False when none was blocked. One round trip.

        Redis 7.0 panics when it unblocks a client whose command is postponed by CLIENT PAUSE. A pause postpones a
        PUBLISH too, and so the whole transaction. When the transaction runs, no command is postponed any more.

        Raises redis-py's errors, for a server without ids the error with which it refused to give one.
        """
        if self._no_id is not None:
            raise self._no_id
        connection: Any = await self._pool.get_connection()
        try:
            if self.is_over:
                # Another server has this id for another client.
                self.address_left()
                return True
            unblock = ("CLIENT", "UNBLOCK", self.client_id)
            both = [("PUBLISH", NOBODYS_CHANNEL, ""), unblock]
            unblocked = bool(await _transact(connection, both, connection.read))
            connection.is_clean = True
            return unblocked
        except BaseException:
            await connection.disconnect()
            raise
        finally:
            await self._lender.give_back(self._pool, connection)

    def address_left(self) -> None:
        """The server is the wrong one now. Ends a wait. Any other reply comes soon. Never raises.

        The reply to a command that blocks may be on its way, with a value that exists nowhere else. So only the sending
        side is shut down: the server closes the connection after that reply.
        """
        # First the note, then the look: a reader notes that it reads, and looks after that.
        self.is_over = True
        if self._hears:
            self.connection.hang_up()
        elif self.blocks:
            self.connection.sends_no_more()

    def is_open(self) -> bool:
        """Whether the connection is open and nothing is left to be read on it. Sends nothing. Never raises."""
        return bool(self.connection.is_open())

    @property
    def may_send_aside(self) -> bool:
        """Whether :meth:`send_aside` may be called while another caller reads."""
        return bool(self.connection.may_send_aside)

    def send_aside(self, packed: bytes) -> None:
        """Sends a command while another caller reads, who meets any error. Never raises."""
        self.connection.send_aside(packed)

    async def hang_up(self) -> None:
        """Ends a read that another caller is blocked in. That caller closes the connection. Never raises.

        It gets :class:`HungUpError`.
        """
        self._closed = True
        self.connection.hang_up()

    def sends_no_more(self) -> None:
        """As :meth:`hang_up`, but a reply that is on its way still comes, and the server may not answer at all."""
        self._closed = True
        self.connection.sends_no_more()

    async def aclose(self) -> None:
        """Closes the connection. Called by the caller that reads. Never raises."""
        self._closed = True
        try:
            await self.connection.disconnect()
        except (RedisError, OSError) as error:
            logger.debug("closing a connection: %s", error)


async def _transact(connection: Any, commands: Sequence[Sequence[Any]], read: Callable[[], Any]) -> Any:
    begun, *queued, done = await _replies(connection, [("MULTI",), *commands, ("EXEC",)], read)
    refusal = next((reply for reply in queued if isinstance(reply, ResponseError)), None)
    if isinstance(begun, ResponseError):
        # The user has no right to MULTI. Redis has carried out the commands one by one.
        reply = queued[-1]
    elif refusal is not None and is_out_of_memory(refusal):
        # Redis 7.0 and older queue no command while their memory is full, and do not refuse a single one of them.
        reply = (await _replies(connection, commands, read))[-1]
    elif isinstance(done, ResponseError):
        reply = refusal or done
    else:
        reply = done[-1]
    if isinstance(reply, ResponseError):
        raise reply
    return reply


async def _replies(connection: Any, commands: Sequence[Sequence[Any]], read: Callable[[], Any]) -> list[Any]:
    """Sends commands together, and reads each reply. Returns the replies, errors of Redis's among them."""
    await connection.send_words(commands)
    replies: list[Any] = []
    for _ in commands:
        try:
            replies.append(await read())
        except ResponseError as error:
            replies.append(error)
    return replies
