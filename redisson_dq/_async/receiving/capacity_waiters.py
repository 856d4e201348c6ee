"""Callers that wait for room in bounded queues, and the messages that wake them."""

from __future__ import annotations

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.subscription import Subscription
from redisson_dq._concurrency import AsyncMutex, AsyncPromise
from redisson_dq.errors import ClosedError
from redisson_dq.wire.keys import QueueKeys

__all__ = ["CapacityWaiters"]


class CapacityWaiters:
    """Callers that wait for room in bounded queues. Every release is announced on the queue's channel."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._mutex = AsyncMutex()
        self._clock = connections.clock
        self._waiting: dict[str, list[AsyncPromise[None]]] = {}
        self._closed = False
        self._subscription = Subscription(
            connections,
            self.wake,
            lambda channel, body: self.wake(channel),
            lambda channel: None,
            self.wake,
            role="capacity",
            late="callers that wait for room may get it",
            is_over=lambda channel: not self._waiting.get(channel),
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
        if not self._subscription.hears(channel):
            try:
                # The caller that came first may have been interrupted before this line.
                await self._subscription.add(channel, keys.ready)
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

    def wake(self, channel: str) -> None:
        """Lets everybody who waits there look again."""
        with self._mutex:
            waiting = self._waiting.get(channel, [])
            while waiting:
                waiting.pop().fill(None)
