"""The replies on a connection of asyncio, read without redis-py's streams."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import hiredis
import redis.exceptions

__all__ = ["CLOSED", "MOST_AHEAD", "Replies"]

#: redis-py's words for the end of a connection.
CLOSED = "Connection closed by server."
_NONE_YET: Any = object()
#: After this many bytes that nobody has waited for, the server has to wait.
MOST_AHEAD = 1_000_000


class Replies(asyncio.Protocol):
    """Takes the bytes of a connection over from redis-py, once that has connected it.

    redis-py's own way makes two timeouts and passes ten coroutines for each reply. Here a read makes one future, and
    its time limit costs nothing: one timer for the connection goes on from one read to the next.
    """

    def __init__(self, transport: Any, parse_error: Callable[[str], Exception]) -> None:
        self._transport = transport
        self._streams = transport.get_protocol()
        self._loop = asyncio.get_running_loop()
        self._reader = hiredis.Reader(
            protocolError=redis.exceptions.InvalidResponse, replyError=parse_error, notEnoughData=_NONE_YET
        )
        #: Whether the server has closed the connection, or it was aborted here.
        self.is_over = False
        self._waiter: asyncio.Future[None] | None = None
        # When the time of the reader is over, and when its timer fires.
        self._until = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._fires_at = 0.0
        self._is_late = False
        # How many bytes have come while nobody waited.
        self._ahead = 0
        #: Whether the server has to wait until a reply is read.
        self.is_paused = False
        transport.set_protocol(self)

    async def next(self, within: float) -> Any:
        """The next reply, an error of Redis's too. Raises redis-py's TimeoutError after ``within`` seconds, and its
        ConnectionError at the end of the connection. There is one reader at a time.
        """
        self._is_late, self._until = False, 0.0
        while (reply := self._reader.gets()) is _NONE_YET:
            if self.is_over:
                raise redis.exceptions.ConnectionError(CLOSED)
            if self._is_late:
                raise redis.exceptions.TimeoutError(f"no reply within {within:g} s")
            self._resume()
            self._waiter = self._loop.create_future()
            # The whole reply has to come in this time, not only the next piece of it.
            self._until = self._until or self._loop.time() + within
            if self._timer is None or self._fires_at > self._until:
                self._watch()
            try:
                await self._waiter
            finally:
                self._waiter = None
        if self.is_paused and not self._reader.has_data():
            # Whoever has the connection next looks whether more has come, and whether it is still open.
            self._resume()
        return reply

    @property
    def are_all_read(self) -> bool:
        """Whether the connection is open, and every byte that came was read."""
        return not self.is_over and not self._reader.has_data()

    def _resume(self) -> None:
        self._ahead = 0
        if self.is_paused:
            self.is_paused = False
            self._transport.resume_reading()

    def _watch(self) -> None:
        """Sets the timer to the end of the reader's time."""
        if self._timer is not None:
            self._timer.cancel()
        self._fires_at = self._until
        self._timer = self._loop.call_at(self._until, self._time_is_over)

    def _time_is_over(self) -> None:
        # Reads may have begun and ended since the timer was set. A loop may fire it a little early, so the time is not
        # asked again.
        self._timer = None
        if self._waiter is None:
            return
        if self._fires_at < self._until:
            self._watch()
        elif not self._waiter.done():
            self._is_late = True
            self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # -- for the transport -------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        self._wake()
        if self._waiter is None:
            self._ahead += len(data)
            if self._ahead > MOST_AHEAD and not self.is_paused:
                self.is_paused = True
                self._transport.pause_reading()

    def eof_received(self) -> bool | None:
        self._end()
        return self._streams.eof_received()  # type: ignore[no-any-return]

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        self._streams.connection_lost(exc)

    def _end(self) -> None:
        self.is_over = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._wake()

    # The writer of redis-py's streams waits for these.

    def pause_writing(self) -> None:
        self._streams.pause_writing()

    def resume_writing(self) -> None:
        self._streams.resume_writing()
