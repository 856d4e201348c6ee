"""Threads and connections that the system temporarily refuses."""

from __future__ import annotations

import _thread
import errno
import threading
from collections.abc import Callable
from typing import Any

import pytest
import redis.asyncio.connection
import redis.connection

__all__ = ["OPENS", "Shortage", "of_descriptors", "of_threads"]

#: redis-py's method that opens a socket.
OPENS = "_connect"


class Shortage:
    """``failures`` starts fail, beginning with the one of this number."""

    def __init__(self, number: int, failures: int) -> None:
        self.number, self.failures = number, failures
        self._mutex = threading.Lock()
        self._count = 0
        self.has_failed = False

    def strikes(self) -> bool:
        with self._mutex:
            self._count += 1
            struck = self.number <= self._count < self.number + self.failures
            self.has_failed = self.has_failed or struck
            return struck


def of_threads(patch: pytest.MonkeyPatch, shortage: Shortage) -> None:
    begin, start = _thread.start_new_thread, threading.Thread.start

    def begun(function: Callable[..., Any], *arguments: Any) -> int:
        if "redisson_dq" in getattr(function, "__module__", "") and shortage.strikes():
            raise RuntimeError("can't start new thread")
        return begin(function, *arguments)

    def started(thread: threading.Thread) -> None:
        if thread.name.startswith("redisson_dq") and shortage.strikes():
            raise RuntimeError("can't start new thread")
        start(thread)

    patch.setattr(_thread, "start_new_thread", begun)
    patch.setattr(threading.Thread, "start", started)


def of_descriptors(patch: pytest.MonkeyPatch, shortage: Shortage) -> None:
    connect: Any = getattr(redis.connection.Connection, OPENS)
    async_connect: Any = getattr(redis.asyncio.connection.Connection, OPENS)

    def connected(connection: Any) -> Any:
        if shortage.strikes():
            raise OSError(errno.EMFILE, "Too many open files")
        return connect(connection)

    async def async_connected(connection: Any) -> Any:
        if shortage.strikes():
            raise OSError(errno.EMFILE, "Too many open files")
        return await async_connect(connection)

    patch.setattr(redis.connection.Connection, OPENS, connected)
    patch.setattr(redis.asyncio.connection.Connection, OPENS, async_connected)
