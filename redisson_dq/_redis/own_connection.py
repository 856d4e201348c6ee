"""The connections of our own pools: those of redis-py, which say their names, and can be ended from outside.

Both flavours are written by hand, side by side. The methods raise redis-py's errors.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import redis.exceptions
from hiredis import pack_command
from redis.asyncio.connection import async_timeout  # type: ignore[attr-defined]

from redisson_dq._redis.address import ServerAddress
from redisson_dq._redis.introducing import COMMANDS, Introduction, async_introduce, introduce
from redisson_dq._redis.replies import CLOSED, Replies

__all__ = ["AsyncOwnConnection", "OwnConnection", "pack"]

# A time limit of redis-py's ends this many seconds after ours, never before it.
_LATER = 3600.0
# The types of nearly all words of commands.
_TEXTS = frozenset((str, bytes))


def pack(words: Iterable[Any]) -> bytes:
    """The bytes of one command. hiredis packs in C in both flavours; redis-py's asyncio connection does it in Python.

    A word that is no text becomes one here, as late as possible.

    hiredis asks Python for the digits of a number, where a signal handler may run. When that raises, hiredis goes on
    without the digits, and the process crashes. So hiredis is given no numbers.
    """
    without_numbers: list[Any] = []
    for word in words:
        kind = type(word)
        without_numbers.append(word if kind in _TEXTS else str(word) if kind is int else _text(word))
    packed: bytes = pack_command(tuple(without_numbers))
    return packed


def _text(word: Any) -> Any:
    return word if isinstance(word, (str, bytes, bytearray, memoryview)) else str(word)


class _OwnBase:
    """What the connections of both flavours have."""

    address: ServerAddress
    #: The number of the address when it was made, -1 before that, and the time.
    number = -1
    made_at = 0.0
    #: The names that its connections give themselves.
    introduction: Introduction
    role = COMMANDS
    queue = ""

    @property
    def is_over(self) -> bool:
        """Whether new connections may lead to another server than this one."""
        return self.number not in (-1, self.address.number)

    def _begins(self) -> None:
        self.number, self.made_at = self.address.number, time.monotonic()


class OwnConnection(_OwnBase):
    """A connection that reconnects if its last use was interrupted.

    A signal handler may raise while redis-py connects, sends or reads, and again during the cleanup. The next command
    would then read the late reply of the interrupted one.
    """

    #: Whether every reply was read. An interrupted use leaves it False. With asyncio, nothing uses this note.
    is_clean = True

    # The time limit of the socket's reads, where it is not ``socket_timeout``.
    _limit: float | None = None
    # Whether the class below reads as redis-py's plain connections do. Those of a Sentinel do more at a reply.
    _reads_plainly = False

    def connect(self: Any) -> None:
        if not self.is_clean:
            self.disconnect()
        elif self._sock is not None:
            return
        self.is_clean = False
        self._limit = None
        self._reads_plainly = super().read_response.__func__ is redis.connection.AbstractConnection.read_response  # type: ignore[misc]
        self._begins()
        try:
            super().connect()  # type: ignore[misc]
            introduce(self, super().connect)  # type: ignore[misc]
        except (redis.exceptions.RedisError, OSError) as error:
            self.address.failed(error)
            raise
        self.address.connected()
        self.is_clean = True

    def send(self: Any, packed: list[bytes]) -> None:
        """Sends commands, and connects first if need be."""
        self.is_clean = False
        self.send_packed_command(packed, check_health=False)

    def send_words(self: Any, commands: Iterable[Iterable[Any]]) -> None:
        """Sends commands that are not packed yet, in one piece."""
        self.send([b"".join(map(pack, commands))])

    def read_response(
        self: Any, disable_decoding: bool = False, *, disconnect_on_error: bool = True, **_options: Any
    ) -> Any:
        """The next reply. It does what redis-py's does for connections that decode nothing, with fewer calls."""
        try:
            if self._reads_plainly:
                reply = self._parser.read_response(disable_decoding=True)
            else:
                reply = super().read_response(disable_decoding=True, disconnect_on_error=disconnect_on_error)  # type: ignore[misc]
        except BaseException as error:
            if disconnect_on_error and not isinstance(error, redis.exceptions.ResponseError):
                self.disconnect()
            if isinstance(error, redis.exceptions.RedisError):
                self._raise(error)
            if isinstance(error, OSError):
                text = f"error while reading from the socket: {error}"
                raise redis.exceptions.ConnectionError(text) from error
            raise
        if isinstance(reply, redis.exceptions.ResponseError):
            self._raise(reply)
        return reply

    def _raise(self: Any, error: redis.exceptions.RedisError) -> None:
        if (heard := self.address.heard(self.number, error)) is error:
            raise error
        self.disconnect()
        raise heard from error

    def read(self: Any, within: float | None = None, *, goes_on: bool = False) -> Any:
        """The next reply. Raises TimeoutError after ``within`` seconds, else after ``socket_timeout``.

        With ``goes_on`` an error leaves the connection open, and after a TimeoutError the reply may still be read. The
        next such read takes its time limit over: a connection that only waits changes it once.
        """
        sock = self._sock
        if sock is not None and within != self._limit:
            # Not by an argument of redis-py's, which 6.4 does not have.
            sock.settimeout(self.socket_timeout if within is None else within)
            self._limit = within
        try:
            return self.read_response(disconnect_on_error=not goes_on)
        finally:
            if not goes_on and self._limit is not None and self._sock is not None:
                self._sock.settimeout(self.socket_timeout)
                self._limit = None

    def exchange(
        self: Any,
        words: Iterable[Any],
        before_sending: Callable[[], object] | None = None,
        after_sending: Callable[[], object] | None = None,
        within: float | None = None,
    ) -> Any:
        """The reply to one command, which has to come ``within`` this number of seconds.

        ``before_sending`` is called when connection and bytes are ready, ``after_sending`` before the reply is read.
        """
        packed = pack(words)
        if before_sending is not None:
            before_sending()
        self.is_clean = False
        self.send_packed_command([packed], check_health=False)
        if after_sending is not None:
            after_sending()
        try:
            reply = self.read_response() if within is None else self.read(min(within, self.socket_timeout))
        except redis.exceptions.ResponseError:
            self.is_clean = True
            raise
        self.is_clean = True
        return reply

    def is_open(self: Any) -> bool:
        """Whether it is open, and nothing is left to be read on it. Sends nothing, and raises nothing."""
        try:
            return self._sock is not None and not self._parser.can_read(0)
        except (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError, OSError):
            return False

    # -- while another thread reads, which meets any error -----------------------------------------------------------

    @property
    def may_send_aside(self: Any) -> bool:
        """Whether :meth:`send_aside` may be called. That is not safe with TLS."""
        return not isinstance(self._sock, ssl.SSLSocket)

    def send_aside(self: Any, packed: bytes) -> None:
        """Sends a command."""
        sock = self._sock
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.sendall(packed)

    def hang_up(self: Any) -> None:
        """Ends the read, and leaves everything else to its thread."""
        # disconnect() would remove the parser that the other thread uses.
        if self._sock is not None:
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)

    def sends_no_more(self: Any) -> None:
        """Shuts the sending side down. The server then closes, and a reply that is on its way still comes."""
        if self._sock is not None:
            with contextlib.suppress(OSError):
                # With TLS that of the connection below: the one above would forget the keys that its reader needs.
                socket.socket.shutdown(self._sock, socket.SHUT_WR)


class AsyncOwnConnection(_OwnBase):
    """A connection whose caller can be cancelled whenever it connects.

    redis-py sends the first commands with ``asyncio.wait_for``. Before Python 3.12 that may swallow the cancellation of
    its caller. A task that the end of the loop cancels would go on, and the loop would never end.
    """

    is_clean = True
    # Its replies, once redis-py has connected it, unless the class below reads in another way than redis-py's plain
    # connections. Those of a Sentinel do more at a reply.
    _replies: Replies | None = None

    async def connect(self: Any) -> None:
        if not self.is_connected:
            self._begins()
            self._replies = None
            try:
                await super().connect()  # type: ignore[misc]
                await async_introduce(self, super().connect)  # type: ignore[misc]
                if super().read_response.__func__ is redis.asyncio.connection.AbstractConnection.read_response:  # type: ignore[misc]
                    await self._take_over()
            except (redis.exceptions.RedisError, OSError) as error:
                self.address.failed(error)
                raise
            self.address.connected()

    async def _take_over(self: Any) -> None:
        # redis-py 6.4 has only the other name.
        can_read = getattr(self._parser, "can_read", None) or self._parser.can_read_destructive
        if await can_read():
            await self.disconnect(nowait=True)
            raise redis.exceptions.ConnectionError("the server has sent more than it was asked for")
        self._replies = Replies(self._writer.transport, self._parser.parse_error)

    async def send(self: Any, packed: list[bytes]) -> None:
        """Sends commands, and connects first if need be.

        redis-py itself makes a task of each command. The end of the loop cancels all tasks. It would also cancel a
        command by which a background task puts values back.
        """
        if self._writer is None:
            await self.connect()
        writer: Any = self._writer
        replies = self._replies
        try:
            if replies is not None and replies.is_over:
                raise redis.exceptions.ConnectionError(CLOSED)
            writer.write(packed[0] if len(packed) == 1 else b"".join(packed))
            if writer.transport.get_write_buffer_size():
                async with async_timeout(self.socket_timeout):
                    await writer.drain()
        except asyncio.TimeoutError:
            await self.disconnect(nowait=True)
            raise redis.exceptions.TimeoutError("timeout while writing to the socket") from None
        except OSError as error:
            await self.disconnect(nowait=True)
            raise redis.exceptions.ConnectionError(f"error while writing to the socket: {error}") from error
        except BaseException:
            await self.disconnect(nowait=True)
            raise

    async def send_words(self: Any, commands: Iterable[Iterable[Any]]) -> None:
        """Sends commands that are not packed yet, in one piece."""
        await self.send([b"".join(map(pack, commands))])

    async def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        await self.send([command] if isinstance(command, bytes) else list(command))

    async def read_response(
        self: Any,
        disable_decoding: bool = False,
        timeout: float | None = None,
        *,
        disconnect_on_error: bool = True,
        **_options: Any,
    ) -> Any:
        """The next reply. Raises TimeoutError after ``timeout`` seconds, else after ``socket_timeout``."""
        within = self.socket_timeout if timeout is None else timeout
        try:
            if self._writer is None:
                raise redis.exceptions.ConnectionError(CLOSED)
            if self._replies is None:
                async with async_timeout(within):
                    # At the end of a time limit that it is given, redis-py returns None, like a nil of Redis.
                    return await super().read_response(  # type: ignore[misc]
                        disable_decoding=True, timeout=within + _LATER, disconnect_on_error=disconnect_on_error
                    )
            reply = await self._replies.next(within)
            # As redis-py does for threads: such an error in an array is about the connection.
            first = reply[0] if isinstance(reply, list) and reply else None
            if isinstance(reply, redis.exceptions.RedisError):
                raise reply
            if isinstance(first, redis.exceptions.ConnectionError):
                raise first
            return reply
        except asyncio.TimeoutError:
            raise redis.exceptions.TimeoutError(f"no reply within {within:g} s") from None
        except BaseException as error:
            if disconnect_on_error and not isinstance(error, redis.exceptions.ResponseError):
                await self.disconnect(nowait=True)
            if (
                isinstance(error, redis.exceptions.RedisError)
                and (heard := self.address.heard(self.number, error)) is not error
            ):
                await self.disconnect(nowait=True)
                raise heard from error
            if isinstance(error, OSError):
                text = f"error while reading from the socket: {error}"
                raise redis.exceptions.ConnectionError(text) from error
            raise

    async def read(self: Any, within: float | None = None, *, goes_on: bool = False) -> Any:
        """As with threads."""
        return await self.read_response(timeout=within, disconnect_on_error=not goes_on)

    async def exchange(
        self: Any,
        words: Iterable[Any],
        before_sending: Callable[[], Awaitable[object]] | None = None,
        after_sending: Callable[[], Awaitable[object]] | None = None,
        within: float | None = None,
    ) -> Any:
        """As with threads."""
        packed = pack(words)
        if before_sending is not None:
            await before_sending()
        await self.send([packed])
        if after_sending is not None:
            await after_sending()
        return await self.read_response(timeout=None if within is None else min(within, self.socket_timeout))

    def is_open(self: Any) -> bool:
        """Whether it is open, and nothing is left to be read on it, where that is known. Sends nothing."""
        if self._replies is not None:
            return self._writer is not None and self._replies.are_all_read
        return bool(self.is_connected and not self._reader.at_eof())

    @property
    def reads_itself(self) -> bool:
        """Whether :meth:`is_open` knows what is left to be read."""
        return self._replies is not None

    # -- while another task reads, which meets any error -------------------------------------------------------------

    may_send_aside = True

    def send_aside(self: Any, packed: bytes) -> None:
        """Sends a command."""
        if self._writer is not None:
            self._writer.write(packed)

    def hang_up(self: Any) -> None:
        """Ends the read, and leaves everything else to its task."""
        if self._writer is not None:
            self._writer.transport.abort()

    def sends_no_more(self: Any) -> None:
        """Shuts the sending side down. The server then closes, and a reply that is on its way still comes."""
        if self._writer is None:
            return
        try:
            if self._writer.can_write_eof():
                self._writer.write_eof()
            else:
                self._writer.transport.get_extra_info("socket").shutdown(socket.SHUT_WR)
        except (OSError, RuntimeError, TypeError):
            # Another loop than asyncio's own may not let go of its socket.
            self._writer.transport.abort()
