"""The client's one subscription connection: every queue's channel, read by one background task."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from functools import partial

import attrs
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError, ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.dedicated import NOBODYS_CHANNEL, Dedicated
from redisson_dq._concurrency import AsyncBackgroundTask, AsyncMutex, AsyncSendLock, AsyncSwitch
from redisson_dq._redis import is_passing
from redisson_dq.errors import RedissonDQError
from redisson_dq.scheduling.pauses import Pauses

__all__ = ["Subscription"]

logger = logging.getLogger("redisson_dq")

_FIRST_PAUSE = 0.05
# The name under which it reports an outage.
_PART = "subscription"
_LONGEST_PAUSE = 2.0
# After this many connections in a row that were closed at SUBSCRIBE, the server is taken not to know the command.
_CLOSED_AT_ONCE = 3
# The longest pause between connections that such a server closes.
_PAUSE_WHEN_REFUSED = 30.0
# How long close() waits for the background task.
_LAST_WORD = 2.0


@attrs.frozen(eq=False)
class _Conversation:
    """One connection."""

    dedicated: Dedicated
    #: The channels that each command without a reply subscribes.
    asked: deque[set[str]] = attrs.field(factory=deque)


class Subscription:
    """Keeps any number of channels subscribed for as long as it is open.

    ``subscribed(channel)`` is called whenever the server confirms a channel: at first, and again after every reconnect.
    ``published(channel, body)`` is called for every message, and ``refused(channel)`` when the server refuses a
    channel, which is one of the client's problems then. The others go on, and :meth:`probe` asks for that one again.
    While a channel is not subscribed, ``changed(channel)`` is called when a call of this client has announced something
    there. The background task starts with the first channel.
    """

    def __init__(
        self,
        connections: Connections,
        subscribed: Callable[[str], None],
        published: Callable[[str, bytes], None],
        refused: Callable[[str], None],
        changed: Callable[[str], None],
        *,
        role: str,
        late: str,
        is_over: Callable[[str], bool] = lambda channel: False,
    ) -> None:
        """``role`` and the queues at that moment are reported to the server when it connects.

        ``late`` is a part of the warning about a channel that cannot be subscribed to: "``late`` up to 30 s late".
        ``is_over(channel)`` returns whether nobody needs the channel any more.
        """
        self._connections = connections
        self._role, self._late, self._is_over = role, late, is_over
        self._subscribed = subscribed
        self._published = published
        self._refused = refused
        self._changed = changed
        self._mutex = AsyncMutex()
        self._sending = AsyncSendLock()
        self._closing = AsyncSwitch(connections.clock)
        self._closed = False
        # The channels, each with the key of its queue's list.
        self._channels: dict[str, str] = {}
        self._current: _Conversation | None = None
        self._unanswered = False
        # The channels that the server has confirmed on this connection, and those that it has refused.
        self._heard: set[str] = set()
        self._without: set[str] = set()
        self._task: AsyncBackgroundTask | None = None

    async def add(self, channel: str, queue: str) -> None:
        """Subscribes one more channel, of the queue with this key."""
        with self._mutex:
            self._channels[channel] = queue
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
            self._channels.pop(channel, None)
            self._without.discard(channel)
            current = self._current
        self._connections.unheard.pop(channel, None)
        self._connections.refusals.ended((self._role, channel))
        if current is not None:
            await self._send(current, "UNSUBSCRIBE", channel)

    def hears(self, channel: str) -> bool:
        """Whether the server has confirmed the channel, as far as is known."""
        return channel in self._heard

    async def probe(self) -> None:
        """Sends a PING; drops the connection when the PING before it was never answered. One command.

        One more for each channel that the server has refused.
        """
        with self._mutex:
            current, dead = self._current, self._unanswered
            self._unanswered = True
            refused = sorted(self._without)
        if current is None:
            return
        if dead:
            logger.warning("the subscription no longer answers; subscribing again")
            await current.dedicated.hang_up()
        else:
            await self._send(current, "PING")
            for channel in refused:
                await self._send(current, "SUBSCRIBE", channel)

    async def aclose(self) -> None:
        """Ends the background task and its connection."""
        self._closed = True
        self._closing.on()
        with self._mutex:
            task, current = self._task, self._current
        if current is not None:
            await current.dedicated.hang_up()
        if task is not None:
            await task.stop(_LAST_WORD)

    async def _send(self, current: _Conversation, word: str, *channels: str) -> None:
        try:
            async with self._sending:
                current.asked.append(set(channels) if word == "SUBSCRIBE" else set())
                await current.dedicated.send(word, *channels)
        except (RedisError, OSError) as error:
            # The background task's read fails as well. It then subscribes all channels again.
            logger.debug("%s on the subscription: %s", word, error)

    async def _run(self) -> None:
        pauses, fruitless = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE), 0
        while not self._closed:
            tried = self._connections.clock.monotonic()
            try:
                current = await self._connections.connected("", self._role, self._queues())
            except RedissonDQError as error:
                if self._closed:
                    break
                self._connections.outage.began(_PART, error, tried)
                logger.debug("cannot subscribe, next try in %.2f s: %s", pauses.coming, error)
            else:
                self._connections.outage.ended(_PART)
                failure = await self._served(current)
                lasted = self._connections.clock.monotonic() - tried
                # A reply to another part of the client may have ended it, before any channel was confirmed.
                passes = current.is_over or (isinstance(failure, ResponseError) and is_passing(failure))
                fruitless = 0 if self._heard or passes or lasted > _PAUSE_WHEN_REFUSED else fruitless + 1
                if self._heard:
                    pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
                elif fruitless == _CLOSED_AT_ONCE:
                    pauses = Pauses(pauses.coming, _PAUSE_WHEN_REFUSED)
                if failure is not None and not self._closed:
                    if fruitless >= _CLOSED_AT_ONCE:
                        self._is_refused(set(self._channels), failure)
                    # A broken connection is replaced at once, or is part of an outage, which is logged once.
                    level = logging.DEBUG if isinstance(failure, (Disconnected, OSError)) else logging.WARNING
                    logger.log(
                        level, "the subscription was lost; subscribing again in %.2f s: %s", pauses.coming, failure
                    )
                await self._connections.refresh()
            self._hears_nothing()
            if await self._closing.wait(pauses.next()):
                break
        self._connections.outage.gave_up(_PART)

    async def _served(self, dedicated: Dedicated) -> Exception | None:
        """Hears until the connection ends. Returns the error that has ended it."""
        try:
            await self._serve(_Conversation(dedicated))
        except Exception as error:
            return error
        finally:
            with self._mutex:
                self._current = None
            await dedicated.aclose()
        return None

    async def _serve(self, current: _Conversation) -> None:
        with self._mutex:
            channels = sorted(self._channels)
            self._current = current
            self._unanswered = False
            self._without.clear()
        # Never empty. So the connection is in subscribed mode, where the answer to a PING is an array.
        await self._send(current, "SUBSCRIBE", *(channels or [NOBODYS_CHANNEL]))
        while not self._closed:
            try:
                reply = await current.dedicated.hear()
            except ResponseError as error:
                if is_passing(error) or not current.asked:
                    raise
                await self._was_refused(current, error)
                continue
            # Where nothing is subscribed, the answer to a PING is a word.
            if self._heard and not isinstance(reply, list):
                raise Disconnected("the connection is not subscribed any more, as after RESET")
            kind, *rest = reply if isinstance(reply, list) else (reply,)
            self._unanswered = False
            if kind == b"message":
                self._published(rest[0].decode(), rest[1])
                continue
            channel = rest[0].decode() if rest else ""
            if current.asked:
                current.asked[0].discard(channel)
                if not current.asked[0]:
                    current.asked.popleft()
            if kind == b"subscribe":
                self._heard.add(channel)
                self._without.discard(channel)
                self._connections.unheard.pop(channel, None)
                self._connections.refusals.ended((self._role, channel))
                self._subscribed(channel)
            elif kind == b"unsubscribe":
                self._heard.discard(channel)

    async def _was_refused(self, current: _Conversation, error: ResponseError) -> None:
        self._unanswered = False
        channels = current.asked.popleft()
        if len(channels) == 1:
            self._is_refused(channels, error)
        # Redis refuses all of them for one.
        for channel in sorted(channels) if len(channels) > 1 else ():
            await self._send(current, "SUBSCRIBE", channel)

    def _is_refused(self, channels: set[str], error: Exception) -> None:
        with self._mutex:
            refused = {channel: queue for channel, queue in self._channels.items() if channel in channels}
            self._without.update(refused)
        for channel, queue in refused.items():
            self._misses(channel)
            what = f"{self._late} up to 30 s late, because this client cannot subscribe to the channel {channel!r}"
            part, is_over = (self._role, channel), partial(self._is_over, channel)
            if self._connections.refusals.began(part, queue, what, error, is_over, only_late=True):
                logger.warning("queue %r: %s: %s", queue, what, error)
            self._refused(channel)

    def _hears_nothing(self) -> None:
        """Notes that the connection has ended, or could not be made."""
        self._heard.clear()
        with self._mutex:
            channels = list(self._channels)
        for channel in channels:
            self._misses(channel)

    def _queues(self) -> str:
        """One queue, or the first of several and the number of the others."""
        with self._mutex:
            first, *others = dict.fromkeys(self._channels.values()) or [""]
        return f"{first}+{len(others)}" if others else first

    def _misses(self, channel: str) -> None:
        self._connections.unheard[channel] = partial(self._changed, channel)
        if channel not in self._channels:
            # It was removed meanwhile.
            self._connections.unheard.pop(channel, None)
