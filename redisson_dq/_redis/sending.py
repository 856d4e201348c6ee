"""Sending packed commands on a connection, and reading replies: while another reader waits, and ended from outside."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import redis.exceptions
from hiredis import pack_command
from redis.asyncio.connection import async_timeout  # type: ignore[attr-defined]

__all__ = [
    "async_exchange",
    "async_hang_up",
    "async_is_open",
    "async_may_send_aside",
    "async_read",
    "async_send",
    "async_send_aside",
    "async_sends_no_more",
    "exchange",
    "hang_up",
    "is_open",
    "mark_clean",
    "may_send_aside",
    "pack",
    "read",
    "send",
    "send_aside",
    "sends_no_more",
]

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
        if not connection._writer.transport.get_write_buffer_size():
            # All is sent, so this does not wait. A timeout would cost more than the rest.
            await connection._writer.drain()
            return
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


def read(connection: Any, within: float | None = None, *, goes_on: bool = False) -> Any:
    """The next reply. Raises redis-py's errors: TimeoutError after ``within`` seconds, else after ``socket_timeout``.

    With ``goes_on`` an error leaves the connection open, and after a TimeoutError the reply may still be read.
    """
    if within is None or connection._sock is None:
        return connection.read_response(disable_decoding=True, disconnect_on_error=not goes_on)
    # Not by an argument of redis-py's, which 6.4 does not have.
    connection._sock.settimeout(within)
    try:
        return connection.read_response(disable_decoding=True, disconnect_on_error=not goes_on)
    finally:
        if connection._sock is not None:
            connection._sock.settimeout(connection.socket_timeout)


async def async_read(connection: Any, within: float | None = None, *, goes_on: bool = False) -> Any:
    """The next reply. Raises redis-py's errors: TimeoutError after ``within`` seconds, else after ``socket_timeout``.

    With ``goes_on`` an error leaves the connection open, and after a TimeoutError the reply may still be read.
    """
    if within is None:
        return await connection.read_response(disable_decoding=True, disconnect_on_error=not goes_on)
    try:
        async with async_timeout(within):
            # At the end of a time limit that it is given, redis-py returns None, like a nil of Redis.
            return await connection.read_response(
                disable_decoding=True, timeout=within + _LATER, disconnect_on_error=not goes_on
            )
    except asyncio.TimeoutError:
        raise redis.exceptions.TimeoutError(f"no reply within {within:g} s") from None


def exchange(
    connection: Any,
    words: Iterable[Any],
    before_sending: Callable[[], object] | None = None,
    after_sending: Callable[[], object] | None = None,
    within: float | None = None,
) -> Any:
    """The reply to one command, which has to come ``within`` this number of seconds. Raises redis-py's errors.

    ``before_sending`` is called when connection and bytes are ready, ``after_sending`` before the reply is read.
    """
    packed = pack(words)
    if before_sending is not None:
        before_sending()
    connection.is_clean = False
    connection.send_packed_command([packed], check_health=False)
    if after_sending is not None:
        after_sending()
    try:
        if within is None:
            reply = connection.read_response(disable_decoding=True)
        else:
            reply = read(connection, min(within, connection.socket_timeout))
    except redis.exceptions.ResponseError:
        connection.is_clean = True
        raise
    connection.is_clean = True
    return reply


async def async_exchange(
    connection: Any,
    words: Iterable[Any],
    before_sending: Callable[[], Awaitable[object]] | None = None,
    after_sending: Callable[[], Awaitable[object]] | None = None,
    within: float | None = None,
) -> Any:
    """The reply to one command, which has to come ``within`` this number of seconds. Raises redis-py's errors.

    ``before_sending`` is called when connection and bytes are ready, ``after_sending`` before the reply is read.
    """
    packed = pack(words)
    if before_sending is not None:
        await before_sending()
    await async_send(connection, [packed])
    if after_sending is not None:
        await after_sending()
    if within is None:
        return await connection.read_response(disable_decoding=True)
    return await async_read(connection, min(within, connection.socket_timeout))


def mark_clean(connection: Any) -> None:
    """Notes that every reply has been read. With asyncio, nothing uses this note."""
    connection.is_clean = True


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


def hang_up(connection: Any) -> None:
    """Ends a read that another thread is blocked in, and leaves everything else to that thread."""
    # disconnect() would remove the parser that the other thread uses.
    if connection._sock is not None:
        with contextlib.suppress(OSError):
            connection._sock.shutdown(socket.SHUT_RDWR)


def async_hang_up(connection: Any) -> None:
    """Ends a blocking read of another task. That task does everything else."""
    if connection._writer is not None:
        connection._writer.transport.abort()


def sends_no_more(connection: Any) -> None:
    """Shuts the sending side down, while another thread reads a reply. The server then closes.

    A reply that is on its way still comes.
    """
    if connection._sock is not None:
        with contextlib.suppress(OSError):
            # With TLS that of the connection below: the one above would forget the keys that its reader needs.
            socket.socket.shutdown(connection._sock, socket.SHUT_WR)


def async_sends_no_more(connection: Any) -> None:
    """Shuts the sending side down, while another task reads a reply. The server then closes.

    A reply that is on its way still comes.
    """
    if connection._writer is None:
        return
    try:
        if connection._writer.can_write_eof():
            connection._writer.write_eof()
        else:
            connection._writer.transport.get_extra_info("socket").shutdown(socket.SHUT_WR)
    except (OSError, RuntimeError, TypeError):
        # Another loop than asyncio's own may not let go of its socket.
        connection._writer.transport.abort()


def is_open(connection: Any) -> bool:
    """Whether a connection is open, and nothing is left to be read on it. Sends nothing."""
    try:
        return connection._sock is not None and not connection.can_read()
    except (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError, OSError):
        return False


async def async_is_open(connection: Any) -> bool:
    """Whether a connection is open. Sends nothing."""
    return bool(connection.is_connected and not connection._reader.at_eof())
