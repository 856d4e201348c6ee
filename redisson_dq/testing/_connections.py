"""redis-py's connections, for threads and for asyncio, over the lines of a test's clock."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import socket
import threading
from typing import Any

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ResponseError

from redisson_dq._redis import pack
from redisson_dq.testing._claim import NotForTestsError
from redisson_dq.testing._lines import TimedLine, TimedLines
from redisson_dq.testing._scripts import OWNER_KEY

__all__ = ["over"]

# Each connection reads its own id, and the owner of its database.
_QUESTIONS = pack(("CLIENT", "ID")) + pack(("GET", OWNER_KEY))


class _Wrapped:
    """An object whose writes are translated."""

    def __init__(self, inner: Any, line: TimedLine) -> None:
        self._inner = inner
        self._line = line

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Socket(_Wrapped):
    def sendall(self, data: bytes) -> None:
        with self._line.writing:
            self._inner.sendall(self._line.translated(bytes(data)))
            self._line.written()


class _Writer(_Wrapped):
    def write(self, data: bytes) -> None:
        self._inner.write(self._line.translated(bytes(data)))
        self._line.written()

    def writelines(self, data: Any) -> None:
        self.write(b"".join(data))


class _Timed:
    """A connection of the threads' client."""

    lines: TimedLines
    line: TimedLine | None = None

    def connect(self: Any) -> None:
        if self._sock is not None:
            super().connect()  # type: ignore[misc]
            return
        line = self.lines.open(self)
        line.reader = threading.get_ident()
        try:
            super().connect()  # type: ignore[misc]
            self.send_packed_command([_QUESTIONS], check_health=False)
            line.id, owner = super().read_response(disable_decoding=True), None  # type: ignore[misc]
            with contextlib.suppress(ResponseError):
                owner = super().read_response(disable_decoding=True)  # type: ignore[misc]
            self.lines.check(self, owner)
        except NotForTestsError:
            line.close()
            self.disconnect()
            raise
        except BaseException:
            line.close()
            raise
        self.line, self._sock = line, _Socket(self._sock, line)
        line.connected()

    def local_address(self: Any) -> object:
        with contextlib.suppress(OSError, AttributeError):
            return self._sock.getsockname()
        return None

    def break_off(self: Any) -> None:
        with contextlib.suppress(OSError, AttributeError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def read_response(self: Any, *args: Any, **kwargs: Any) -> Any:
        line = self.line
        if line is None or not isinstance(self._sock, _Socket):
            return super().read_response(*args, **kwargs)  # type: ignore[misc]
        line.reader = threading.get_ident()
        self.lines.alarms.happened()
        try:
            while True:
                try:
                    reply = super().read_response(*args, **kwargs)  # type: ignore[misc]
                except Exception as error:
                    line.read(error)
                    raise
                if line.read(reply):
                    return reply
        finally:
            line.reader = None

    def send_barrier(self: Any, packed: bytes) -> None:
        sock = self._sock
        if isinstance(sock, _Socket):
            with sock._line.writing:
                sock._inner.sendall(packed)

    def disconnect(self: Any, *args: Any, **kwargs: Any) -> None:
        line, self.line = self.line, None
        try:
            super().disconnect(*args, **kwargs)  # type: ignore[misc]
        finally:
            if line is not None:
                line.close()


class _AsyncTimed:
    """A connection of the asyncio client."""

    lines: TimedLines
    line: TimedLine | None = None

    async def connect(self: Any) -> None:
        if self.is_connected:
            return
        line = self.lines.open(self)
        self.loop = asyncio.get_running_loop()
        self.lines.alarms.loops.add(self.loop)
        try:
            await super().connect()  # type: ignore[misc]
            self._writer.write(_QUESTIONS)
            line.id, owner = await super().read_response(disable_decoding=True), None  # type: ignore[misc]
            with contextlib.suppress(ResponseError):
                owner = await super().read_response(disable_decoding=True)  # type: ignore[misc]
            self.lines.check(self, owner)
        except NotForTestsError:
            line.close()
            await self.disconnect()
            raise
        except BaseException:
            line.close()
            raise
        self.line, self._writer = line, _Writer(self._writer, line)
        line.connected()

    def local_address(self: Any) -> object:
        writer = self._writer
        return None if writer is None else writer.get_extra_info("sockname")

    def break_off(self: Any) -> None:
        writer = self._writer
        if writer is not None:
            with contextlib.suppress(RuntimeError):
                self.loop.call_soon_threadsafe(writer.transport.abort)

    async def read_response(self: Any, *args: Any, **kwargs: Any) -> Any:
        line = self.line
        if line is None or not isinstance(self._writer, _Writer):
            return await super().read_response(*args, **kwargs)  # type: ignore[misc]
        while True:
            try:
                reply = await super().read_response(*args, **kwargs)  # type: ignore[misc]
            except Exception as error:
                line.read(error)
                raise
            if line.read(reply):
                return reply

    def send_barrier(self: Any, packed: bytes) -> None:
        writer = self._writer
        if isinstance(writer, _Writer):
            with contextlib.suppress(RuntimeError):
                self.loop.call_soon_threadsafe(writer._inner.write, packed)

    async def disconnect(self: Any, *args: Any, **kwargs: Any) -> None:
        line, self.line = self.line, None
        try:
            await super().disconnect(*args, **kwargs)  # type: ignore[misc]
        finally:
            if line is not None:
                line.close()


def over(connection_class: type[Any], lines: TimedLines) -> type[Any]:
    """A class of connections whose server keeps the time of a test."""
    made: Any = _made
    return made(connection_class, lines)  # type: ignore[no-any-return]


@functools.cache
def _made(connection_class: type[Any], lines: TimedLines) -> type[Any]:
    how = _AsyncTimed if issubclass(connection_class, AbstractConnection) else _Timed
    return type(connection_class.__name__, (how, connection_class), {"lines": lines})
