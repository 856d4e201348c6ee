"""Where the demo runs: a server of its own or the user's, and a queue name nobody else has."""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Iterator

import attrs
import redis

from redisson_dq import connect
from redisson_dq._redis import translate, without_password
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.commands import server_time_us
from redisson_dq.wire.keys import QueueKeys

__all__ = ["Sandbox", "sandbox"]


@attrs.frozen
class Sandbox:
    """The server, and the name of the queue. ``own`` is the server that was started for the demo."""

    url: str
    name: str
    own: EmbeddedServer | None
    _redis: redis.Redis

    def time_us(self) -> int:
        """The server's clock, in epoch microseconds."""
        request = server_time_us(self.name)
        try:
            return request.parse(self._redis.execute_command(*request.words))
        except redis.RedisError as error:
            raise translate(error, f"Redis at {self.shown_url}") from error

    @property
    def shown_url(self) -> str:
        """The URL without user name, password and options."""
        return re.sub(r"(?<=//)\*+@", "", str(without_password(self.url)))

    def lines(self) -> list[str]:
        """The server's product and version, where it runs, and the keys of the queue."""
        keys, fate = QueueKeys.of(self.name), "gone with the server" if self.own else "deleted on exit"
        return [
            f"server    {self._product()}",
            f"in Redis  ({fate})",
            f"  {keys.ready}  list: values that are due, for BLPOP",
            f"  {keys.timeout}  sorted set: waiting values by due time",
            f"  {keys.envelopes}  list: the same in the order of their offers",
            f"  {keys.channel}  channel: a new earliest due time",
        ]

    def _product(self) -> str:
        if self.own is not None:
            program = self.own.program
            origin = program.source if program.source.startswith("redisson-dq") else program.path
            return f"{self.own.name} {self.own.version}, started for this demo from {origin}"
        try:
            info = self._redis.info("server")
        except redis.RedisError:  # the user may not ask
            return f"at {self.shown_url}"
        product = f"Valkey {info['valkey_version']}" if "valkey_version" in info else f"Redis {info['redis_version']}"
        return f"{product} at {self.shown_url}"


@contextlib.contextmanager
def sandbox(url: str | None) -> Iterator[Sandbox]:
    """On exit the queue's keys are deleted, or the server is stopped if it is ours.

    ``url`` None starts a server. Raises ServerNotFoundError, ArgumentError for a URL that is none,
    RedisConnectionError, RedisReplyError.
    """
    name = f"redisson-dq-demo-{secrets.token_hex(4)}"
    with contextlib.ExitStack() as stack:
        own = stack.enter_context(EmbeddedServer()) if url is None else None
        address = own.url if own else str(url)
        client = stack.enter_context(connect(address))
        if own is None:
            queue = client.blocking_queue(name, transfer=False)
            for side in (queue, client.delayed_queue(queue)):
                stack.callback(side.delete)
        yield Sandbox(address, name, own, stack.enter_context(redis.Redis.from_url(address, socket_timeout=10)))
