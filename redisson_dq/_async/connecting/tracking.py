"""Two connections to one node over which Redis reports changes of keys: ``CLIENT TRACKING`` with ``REDIRECT``.

One carries commands. A key that is read after ``CLIENT CACHING YES`` is watched from then on. Redis reports its next
change by any client, and then forgets it. The other connection hears that, as messages on a channel. So it works with
RESP2, and a reader never waits for a writer.

Redis also reports a key when it has no room to remember it (``tracking-table-max-keys``), and of all keys when the
database was emptied.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Sequence
from typing import Any

from redis.asyncio import ConnectionPool
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError, ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._concurrency import AsyncBackgroundTask
from redisson_dq._redis import is_passing

__all__ = ["WATCH", "Tracking", "TrackingRefusedError", "watch"]

logger = logging.getLogger("redisson_dq")

_CHANNEL = "__redis__:invalidate"
#: How many replies the commands of :func:`watch` have.
WATCH = 2


def watch(key: str) -> tuple[tuple[str, ...], ...]:
    """The commands by which Redis watches a list. The last reply is the list's length."""
    return ("CLIENT", "CACHING", "YES"), ("LLEN", key)


class TrackingRefusedError(Exception):
    """Redis, or something between, does not let this user watch keys."""


class Tracking:
    """The two connections. One caller sends and reads commands; a background task receives the changes."""

    def __init__(
        self,
        connections: Connections,
        pool: ConnectionPool,
        changed: Callable[[bytes | None], object],
        broke: Callable[[Tracking], object],
    ) -> None:
        """``changed`` is called with a key, or with None for all of them. ``broke`` is called at the end of hearing."""
        self._commands = connections.dedicated_at(pool, "lookout", "")
        self._hearing = connections.dedicated_at(pool, "lookout", "")
        self._changed = changed
        self._broke = broke
        self._task: AsyncBackgroundTask | None = None
        # Whether a PING has had no answer yet.
        self._is_unanswered = False

    async def connect(self) -> None:
        """Connects both. Raises redis-py's errors, OSError and TrackingRefusedError."""
        await self._hearing.connect()
        await self._hearing.learn_id()
        if not self._hearing.client_id:
            raise TrackingRefusedError("the server does not report the id of a connection (CLIENT ID)")
        try:
            await self._hearing.send("SUBSCRIBE", _CHANNEL)
            await self._hearing.read()
            await self._commands.connect()
            on = "CLIENT", "TRACKING", "ON", "REDIRECT", self._hearing.client_id, "OPTIN"
            # The last command shows that the second one is allowed, whose effect lasts for one command.
            for words in (on, ("CLIENT", "CACHING", "YES"), ("PING",)):
                await self._commands.send(*words)
                await self._commands.read()
        except ResponseError as error:
            if is_passing(error):
                raise
            await self._check_hearing()
            raise TrackingRefusedError(str(error)) from error
        try:
            self._task = AsyncBackgroundTask(self._hear, "redisson_dq-lookout-hears", shielded=True)
        except RuntimeError as error:
            # It passes, as a connection that cannot be made.
            raise OSError(f"the system cannot start a thread: {error}") from error

    async def _check_hearing(self) -> None:
        """Raises redis-py's error where the connection that hears was cut.

        Redis then does not know that connection any more, and refuses to report changes to it, though the user may
        watch keys.
        """
        with contextlib.suppress(ResponseError):
            await self._hearing.send("PING")
            await self._hearing.read()

    async def send(self, commands: Sequence[bytes]) -> None:
        """Sends packed commands together. Raises redis-py's errors."""
        await self._commands.send_packed(b"".join(commands))

    async def read(self) -> Any:
        """The next reply, or an error reply of Redis. Raises redis-py's other errors."""
        try:
            return await self._commands.read()
        except ResponseError as error:
            return error

    def is_cut(self) -> bool:
        """Whether Redis has closed the connection for commands. Sends nothing.

        Nobody reads there between two exchanges, and Redis forgets all keys then.
        """
        return self._commands.is_over or not self._commands.is_open()

    async def probe(self) -> bool:
        """Sends a PING to the connection that hears. False where the PING before it was never answered."""
        if self._is_unanswered:
            return False
        self._is_unanswered = True
        await self._hearing.send("PING")
        return True

    async def hang_up(self) -> None:
        """Cuts both connections."""
        await self._commands.hang_up()
        await self._hearing.hang_up()

    async def aclose(self) -> None:
        """Closes both connections. Never raises."""
        if self._task is None:
            await self._hearing.aclose()
        else:
            # Its reader closes it.
            await self._hearing.hang_up()
        await self._commands.aclose()

    async def _hear(self) -> None:
        try:
            while True:
                message = await self._hearing.hear()
                if not isinstance(message, list):
                    # The answer to a PING of a connection without subscriptions: a proxy may have sent RESET.
                    raise Disconnected("the connection that reports changes is not subscribed any more")
                kind, *rest = message
                self._is_unanswered = False
                if kind == b"message":
                    for key in rest[-1] or (None,):
                        self._changed(key)
        except (RedisError, OSError, ValueError) as error:
            logger.debug("a lookout no longer receives anything: %s", error)
        finally:
            await self._hearing.aclose()
            self._broke(self)
