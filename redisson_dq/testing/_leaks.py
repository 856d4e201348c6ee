"""Leaks: things that a test leaves behind. They fail the test that made them."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

import redis

from redisson_dq.testing._claim import empty
from redisson_dq.testing._clients import clients_in, is_soon
from redisson_dq.testing._entered import entered
from redisson_dq.testing._server import ServerOfTests
from redisson_dq.wire.keys import QueueKeys

__all__ = ["LeakError", "leak_free", "look"]


class LeakError(AssertionError):
    """A test has left something behind."""


def _prefix(key: str) -> str:
    return key[: key.index("{")]


_KEYS = QueueKeys.of("any")
# The beginnings of keys, their types, and the meaning of their members.
_KINDS = (
    (_prefix(_KEYS.leases), "zset", "leases in hand"),
    (_prefix(_KEYS.undecodable), "list", "undecodable values"),
)

_watches: list[_LeakWatch] = []


@entered
@contextlib.contextmanager
def leak_free(server: ServerOfTests, *, log: bool = True) -> Iterator[None]:
    """A context manager around one test. At its end the database is emptied. Leaks raise LeakError.

    Leaks are leases in hand, undecodable values, clients that were not closed, and warnings of the library's log. Log
    lines about handlers are not leaks: a failing handler is part of many tests. ``log=False`` ignores the log. Create
    the clock and the clients of the test inside::

        stack.enter_context(leak_free(server))
        clock = stack.enter_context(TestClock(server.url))
    """
    watch = _LeakWatch(server.admin)
    _watches.append(watch)
    logger = logging.getLogger("redisson_dq")
    if log:
        logger.addHandler(watch)
    try:
        yield
        watch.end()
    finally:
        logger.removeHandler(watch)
        _watches.remove(watch)
        empty(server.admin)
    if watch.found:
        raise LeakError("the test has left behind: " + "; ".join(watch.found))


def look() -> None:
    """Records the leaks, before the database is emptied."""
    for watch in _watches:
        watch.look()


class _LeakWatch(logging.Handler):
    """The leaks of one test, in words."""

    def __init__(self, admin: redis.Redis) -> None:
        super().__init__(logging.WARNING)
        self.found: dict[str, None] = {}
        self._admin = admin
        self._before = self._clients()

    def emit(self, record: logging.LogRecord) -> None:
        if not hasattr(record, "happening"):
            self.found[f"a warning of the log: {record.getMessage()}"] = None

    def look(self) -> None:
        for key in self._admin.scan_iter():
            kind = self._admin.type(key)
            for prefix, type_, told in _KINDS:
                if key.startswith(prefix) and kind == type_:
                    count = self._admin.zcard(key) if kind == "zset" else self._admin.llen(key)
                    self.found[f"{count} {told} (key {key!r})"] = None

    def end(self) -> None:
        self.look()
        if not is_soon(lambda: self._clients() <= self._before):
            self.found[f"{len(self._clients() - self._before)} clients that were not closed"] = None

    def _clients(self) -> set[str]:
        return set(clients_in(self._admin).values())
