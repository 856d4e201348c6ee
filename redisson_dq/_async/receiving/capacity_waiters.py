"""Callers that wait for room in bounded queues, and the messages that wake them."""

from __future__ import annotations

import logging
from functools import partial

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.subscription import Subscription
from redisson_dq._concurrency import AsyncMutex, AsyncPromise
from redisson_dq.errors import ClosedError
from redisson_dq.wire.keys import QueueKeys

__all__ = ["CapacityWaiters"]

logger = logging.getLogger("redisson_dq")

# With the channel, its name among the problems.
_PART = "room"


class CapacityWaiters:
    """Callers that wait for room in bounded queues. Every release is announced on the queue's channel."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._mutex = AsyncMutex()
        self._clock = connections.clock
        self._waiting: dict[str, list[AsyncPromise[None]]] = {}
        self._confirmed: set[str] = set()
        # The keys of the queues' lists, by their channels.
        self._ready: dict[str, str] = {}
        self._closed = False
        self._subscription = Subscription(
            connections,
            self._subscribed,
            lambda channel, body: self.wake(channel),
            self._refused,
            self.wake,
            role="capacity",
            queues=lambda: list(self._waiting),
        )

    async def enter(self, keys: QueueKeys) -> AsyncPromise[None]:
        """Joins those who wait. The promise is filled at the next release, and when the subscription is confirmed.

        Raises ClosedError when the client is closed.
        """
        channel = keys.capacity_channel
        released: AsyncPromise[None] = AsyncPromise(self._clock)
        with self._mutex:
            if self._closed:
                raise ClosedError("the client was closed while a value waited for room")
            self._waiting.setdefault(channel, []).append(released)
            self._ready[channel] = keys.ready
        if channel not in self._confirmed:
            try:
                # The caller that came first may have been interrupted before this line.
                await self._subscription.add(channel)
            except BaseException:
                self.leave(channel, released)
                raise
        return released

    def leave(self, channel: str, released: AsyncPromise[None]) -> None:
        """The channel stays subscribed: a caller that waited once will wait again."""
        with self._mutex:
            if released in self._waiting[channel]:
                self._waiting[channel].remove(released)

    async def aclose(self) -> None:
        """Ends every wait with ClosedError."""
        with self._mutex:
            self._closed = True
            channels = list(self._waiting)
        for channel in channels:
            self.wake(channel)
        await self._subscription.aclose()

    def _refused(self, channel: str, error: Exception) -> None:
        self._confirmed.discard(channel)
        what = (
            "callers that wait for room may get it up to 30 s late, because this client cannot subscribe to the "
            f"channel {channel!r}"
        )
        ready, is_over = self._ready[channel], partial(self._is_idle, channel)
        if self._connections.refusals.began((_PART, channel), ready, what, error, is_over, only_late=True):
            logger.warning("queue %r: %s: %s", ready, what, error)

    def _is_idle(self, channel: str) -> bool:
        return not self._waiting.get(channel)

    def _subscribed(self, channel: str) -> None:
        self._connections.refusals.ended((_PART, channel))
        self._confirmed.add(channel)
        self.wake(channel)

    def wake(self, channel: str) -> None:
        """Lets everybody who waits there look again."""
        with self._mutex:
            waiting = self._waiting.get(channel, [])
            while waiting:
                waiting.pop().fill(None)
