"""The client's one subscription connection: every queue's channel, read by one background task."""

from __future__ import annotations

import logging
from collections.abc import Callable

from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import NoPermissionError, RedisError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.dedicated import NOBODYS_CHANNEL, Dedicated
from redisson_dq._concurrency import AsyncBackgroundTask, AsyncMutex, AsyncSendLock, AsyncSwitch
from redisson_dq._log import Log
from redisson_dq._pauses import Pauses
from redisson_dq.errors import RedissonDQError

__all__ = ["Subscription"]

logger = Log()

_FIRST_PAUSE = 0.05
# The name under which it reports an outage.
_PART = "subscription"
_LONGEST_PAUSE = 2.0
# The pause after a refused SUBSCRIBE. Rights are seldom given while a program runs.
_PAUSE_WITHOUT_PERMISSION = 30.0
# How long close() waits for the background task.
_LAST_WORD = 2.0


class Subscription:
    """Keeps any number of channels subscribed for as long as it is open.

    ``subscribed(channel)`` is called whenever the server confirms a channel: at first, and again after every
    reconnect. ``published(channel, body)`` is called for every message. The background task starts with the first
    channel.
    """

    def __init__(
        self,
        connections: Connections,
        subscribed: Callable[[str], None],
        published: Callable[[str, bytes], None],
        *,
        role: str,
        queues: Callable[[], list[str]],
    ) -> None:
        """``role`` and the ``queues`` at that moment are told to the server when it connects."""
        self._connections = connections
        self._role = role
        self._queues = queues
        self._subscribed = subscribed
        self._published = published
        self._mutex = AsyncMutex()
        self._sending = AsyncSendLock()
        self._closing = AsyncSwitch(connections.clock)
        self._closed = False
        self._channels: set[str] = set()
        self._current: Dedicated | None = None
        self._unanswered = False
        # The channels that the server has confirmed on this connection.
        self._heard: set[str] = set()
        self._task: AsyncBackgroundTask | None = None

    async def add(self, channel: str) -> None:
        """Subscribes one more channel."""
        with self._mutex:
            self._channels.add(channel)
            current = self._current
            is_first = self._task is None
            if is_first:
                # Made under the mutex, or aclose() may miss a background task that runs already.
                self._task = AsyncBackgroundTask(self._run, "redisson_dq-subscription")
        if current is not None and not is_first:
            await self._send(current, "SUBSCRIBE", channel)

    async def remove(self, channel: str) -> None:
        """Ends the subscription of one channel."""
        with self._mutex:
            self._channels.discard(channel)
            current = self._current
        if current is not None:
            await self._send(current, "UNSUBSCRIBE", channel)

    def hears(self, channel: str) -> bool:
        """Whether the server has confirmed the channel, as far as is known."""
        return channel in self._heard

    async def probe(self) -> None:
        """Sends a PING; drops the connection when the PING before it was never answered. One command."""
        with self._mutex:
            current, dead = self._current, self._unanswered
            self._unanswered = True
        if current is None:
            return
        if dead:
            logger.warning("the subscription does not answer any more; subscribing anew")
            await current.hang_up()
        else:
            await self._send(current, "PING")

    async def aclose(self) -> None:
        """Ends the background task and its connection."""
        self._closed = True
        self._closing.on()
        with self._mutex:
            task, current = self._task, self._current
        if current is not None:
            await current.hang_up()
        if task is not None:
            await task.stop(_LAST_WORD)

    async def _send(self, current: Dedicated, *words: str) -> None:
        try:
            async with self._sending:
                await current.send(*words)
        except (RedisError, OSError) as error:
            # The background task's read fails as well. It then subscribes all channels anew.
            logger.debug("%s on the subscription: %s", words[0], error)

    async def _run(self) -> None:
        pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        while not self._closed:
            tried = self._connections.clock.monotonic()
            try:
                current = await self._connections.connected("", self._role, _together(self._queues()))
            except RedissonDQError as error:
                self._connections.outage.began(_PART, error, tried)
                logger.debug("cannot subscribe, next try in %.2f s: %s", pauses.coming, error)
            else:
                self._connections.outage.ended(_PART)
                try:
                    await self._serve(current)
                except Exception as error:
                    if isinstance(error, NoPermissionError):
                        pauses = Pauses(_PAUSE_WITHOUT_PERMISSION, _PAUSE_WITHOUT_PERMISSION)
                    if not self._closed:
                        # A broken connection is replaced at once, or is part of an outage, which is logged once.
                        level = logging.DEBUG if isinstance(error, (Disconnected, OSError)) else logging.WARNING
                        logger.log(
                            level, "the subscription broke, subscribing anew in %.2f s: %s", pauses.coming, error
                        )
                finally:
                    with self._mutex:
                        self._current = None
                    await current.aclose()
                if self._heard:
                    pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
                    self._heard.clear()
                await self._connections.refresh()
            if await self._closing.wait(pauses.next()):
                break
        self._connections.outage.gave_up(_PART)

    async def _serve(self, current: Dedicated) -> None:
        with self._mutex:
            channels = sorted(self._channels)
            self._current = current
            self._unanswered = False
        # Never empty. So the connection is in subscribed mode, where the answer to a PING is an array.
        await self._send(current, "SUBSCRIBE", *(channels or [NOBODYS_CHANNEL]))
        while not self._closed:
            kind, *rest = await current.hear()
            self._unanswered = False
            if kind == b"subscribe":
                self._heard.add(rest[0].decode())
                self._subscribed(rest[0].decode())
            elif kind == b"unsubscribe":
                self._heard.discard(rest[0].decode())
            elif kind == b"message":
                self._published(rest[0].decode(), rest[1])


def _together(queues: list[str]) -> str:
    """One queue, or the first of several and how many there are besides."""
    return queues[0] + (f"+{len(queues) - 1}" if len(queues) > 1 else "") if queues else ""
