"""The channels of the queues that a client moves, and the meaning of messages on them."""

from __future__ import annotations

import logging
from collections.abc import Callable

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.dedicated import NOBODYS_CHANNEL
from redisson_dq._async.connecting.subscription import Subscription
from redisson_dq.wire.keys import QueueKeys

__all__ = ["Channels"]

logger = logging.getLogger("redisson_dq")

# The keyspace events after which a sorted set may have another head that is due sooner.
_ADDING = frozenset(
    {b"zadd", b"zincr", b"zunionstore", b"zinterstore", b"zdiffstore", b"zrangestore"}
    | {b"rename_to", b"restore", b"copy_to", b"move_to"}
)


class Channels:
    """One channel for each queue. With ``keyspace`` also the channel of the keyspace events of its timeout set.

    The callables get a queue's channel. ``subscribed`` is called when the server has confirmed it, and ``refused`` when
    it has refused it. ``announced`` is called with the due time of a new head, ``changed`` when the head may be
    another one. They are called by the background task of the subscription, and ``changed`` by any caller.
    """

    def __init__(
        self,
        connections: Connections,
        *,
        keyspace: bool,
        subscribed: Callable[[str], None],
        refused: Callable[[str], None],
        announced: Callable[[str, int], None],
        changed: Callable[[str], None],
    ) -> None:
        self._subscribed = subscribed
        self._refused = refused
        self._announced = announced
        self._changed = changed
        self._keyspace = f"__keyspace@{connections.database}__:" if keyspace else None
        # The channels of the queues, by those of their keyspace events.
        self._watched: dict[str, str] = {}
        self._subscription = Subscription(
            connections,
            self._on_subscribed,
            self._on_published,
            self._on_refused,
            changed,
            role="subscription",
            late="offers of other clients may be moved",
        )
        #: Sends a PING, or drops a connection that did not answer the last one.
        self.probe = self._subscription.probe
        #: Whether the server has confirmed a queue's channel, as far as is known.
        self.hears = self._subscription.hears
        #: Ends the subscription.
        self.aclose = self._subscription.aclose

    async def add(self, keys: QueueKeys) -> None:
        """Subscribes the channels of one more queue."""
        await self._subscription.add(keys.channel, keys.ready)
        if self._keyspace is not None:
            self._watched[self._keyspace + keys.timeout] = keys.channel
            await self._subscription.add(self._keyspace + keys.timeout, keys.ready)

    async def remove(self, keys: QueueKeys) -> None:
        """Ends the subscription of one queue's channels."""
        await self._subscription.remove(keys.channel)
        if self._keyspace is not None and self._watched.pop(self._keyspace + keys.timeout, None) is not None:
            await self._subscription.remove(self._keyspace + keys.timeout)

    def _on_refused(self, channel: str) -> None:
        if channel not in self._watched:
            self._refused(channel)

    def _on_subscribed(self, channel: str) -> None:
        if channel in self._watched:
            self._changed(self._watched[channel])
        else:
            self._subscribed(channel)

    def _on_published(self, channel: str, body: bytes) -> None:
        watched = self._watched.get(channel)
        if watched is not None:
            if body in _ADDING:
                self._changed(watched)
            return
        if channel == NOBODYS_CHANNEL:
            # The end of a blocked pop is published there. A subscription without queues holds that channel.
            return
        try:
            due_ms = int(body)
        except ValueError:
            logger.warning("channel %r: ignored a message that is not a due time: %.60r", channel, body)
            return
        # A message below zero is for Redisson (``scripts/include/waking.lua``).
        if due_ms >= 0:
            self._announced(channel, due_ms)
