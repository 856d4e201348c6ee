"""Where the demo runs: a server of our own or the user's, and a queue name nobody else has."""

from __future__ import annotations

import contextlib
import secrets
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import attrs
import redis

from redisson_dq._redis import translate
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError, EnvelopeError
from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.keys import QueueKeys

__all__ = ["Sandbox", "shown_url"]

_TIMEOUT = 10.0  # seconds


class Sandbox:
    """A context manager. On exit the queue's keys are deleted and the server, if it is ours, is stopped.

    ``url`` None starts a server. Raises ServerNotFoundError, ArgumentError for a URL that is none,
    RedisConnectionError, RedisReplyError.
    """

    def __init__(self, url: str | None) -> None:
        self.name = f"redisson-dq-demo-{secrets.token_hex(4)}"
        self.keys = QueueKeys.of(self.name)
        self.server: EmbeddedServer | None = None
        self._url = url
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Sandbox:
        with contextlib.ExitStack() as stack:
            if self._url is None:
                self.server = stack.enter_context(EmbeddedServer())
            self._redis = stack.enter_context(_open(self.url))
            self._asked(self._redis.ping)
            if self.server is None:
                stack.callback(self._delete_keys)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @property
    def url(self) -> str:
        """The URL that is connected to."""
        if self._url is not None:
            return self._url
        assert self.server is not None
        return self.server.url

    @property
    def key_names(self) -> list[str]:
        """Every key the queue can have."""
        return [name for field, name in attrs.asdict(self.keys).items() if field != "channel"]

    def time(self) -> tuple[int, int]:
        """The server's clock: seconds and microseconds."""
        seconds, micros = self._asked(self._redis.time)
        return int(seconds), int(micros)

    def due_times(self) -> dict[str, float]:
        """The value and due time (epoch ms) of every item that waits. One round trip."""
        due = {}
        for member, score in self._asked(lambda: self._redis.zrange(self.keys.timeout, 0, -1, withscores=True)):
            with contextlib.suppress(EnvelopeError, UnicodeDecodeError):
                due[unwrap(member)[1].decode()] = float(score)
        return due

    def describe(self) -> str:
        """The server's product and version, and where it runs."""
        if self.server is not None:
            program = self.server.program
            product = f"{self.server.name} {self.server.version}"
            origin = program.source if program.source.startswith("redisson-dq") else program.path
            return f"{product}, started for this demo from {origin}"
        try:
            info = self._redis.info("server")
        except redis.RedisError:
            return f"at {shown_url(self.url)}"
        product = f"Valkey {info['valkey_version']}" if "valkey_version" in info else f"Redis {info['redis_version']}"
        return f"{product} at {shown_url(self.url)}"

    def _asked(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except (redis.RedisError, OSError) as error:
            raise translate(error, f"Redis at {shown_url(self.url)}") from error

    def _delete_keys(self) -> None:
        try:
            self._redis.unlink(*self.key_names)
        except redis.RedisError as error:
            names = ", ".join(self.key_names)
            print(f"redisson-dq: could not delete the demo's keys {names}: {error}", file=sys.stderr)


def shown_url(url: str) -> str:
    """The URL without user name, password and options."""
    with contextlib.suppress(ValueError):
        parts = urlsplit(url)
        if "://" in url:
            return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    return url.rpartition("@")[2]


def _open(url: str) -> contextlib.AbstractContextManager[redis.Redis]:
    try:
        return redis.Redis.from_url(url, socket_timeout=_TIMEOUT, socket_connect_timeout=_TIMEOUT)
    except ValueError as error:
        raise ArgumentError(f"not a Redis URL: {shown_url(url)!r}: {error}") from error
