"""Takes for many sources of one node: one background task, and two connections (``node_link.py``).

It goes in rounds. A round sends the commands of all sources that were called, in one piece. Then it reads the replies,
and hands out values as they come. ``waits/watched.py`` decides what is done for each source, and when.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Union

from redis.asyncio import ConnectionPool
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.receiving.beginning import Beginner, Begun
from redisson_dq._async.receiving.node_link import NodeLink, TrackingRefusedError
from redisson_dq._concurrency import AsyncCancelled, AsyncInbox, AsyncMutex, AsyncSwitch, async_give_way
from redisson_dq.calls.explaining import reason_of
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.scheduling.clock import client_parts
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.waits.brake import Brake
from redisson_dq.waits.rotation import CalledSources, SharedSources
from redisson_dq.waits.watched import WatchedSource

__all__ = ["Lookout"]

logger = logging.getLogger("redisson_dq")

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
# How long it stays when nobody waits, so that a take() in a loop finds it.
_LINGER = 10.0
# How often it checks, without a command, whether its connection is open and sources are over.
_TICK = 1.0
# How long its end waits for the last replies.
_LAST_REPLY = 2.0
_LAST_STEPS = 0.5

#: A source that was called; the end of a pair of connections; a key that has changed, or None for all of them.
_Event = Union[WatchedSource, NodeLink, "_Changed"]


class _Changed:
    """Redis has reported a change."""

    def __init__(self, key: bytes | None) -> None:
        self.key = key


class Lookout:
    """The wait for many sources of one node. Only the lookout sends and reads on its connection for commands."""

    def __init__(
        self, connections: Connections, pool: ConnectionPool, beginner: Beginner, refused: Callable[[Exception], object]
    ) -> None:
        """``refused`` is called when Redis refuses to report changes."""
        self._connections = connections
        self._clock = connections.clock
        self._beginner = beginner
        self._refused = refused
        # The name under which it reports an outage.
        self._part = f"lookout {id(self)}"
        self._bell: AsyncInbox[_Event] = AsyncInbox(self._clock)
        self._pool = pool
        self._link: NodeLink | None = None
        self._sources = CalledSources()
        self._brake = Brake()
        self._pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        # When somebody has waited last, and when it has made its last check without a command.
        self._waited_at = self._ticked_at = 0.0
        # When the last round began. A connection that breaks between two rounds was well by then.
        self._tried = 0.0
        self._tick_seconds = client_parts(self._clock).housekeeping(_TICK)
        self._mutex = AsyncMutex()
        self._is_running = self._is_gone = False
        self._closing = AsyncSwitch(self._clock)
        self._task: Begun | None = None

    # -- for others --------------------------------------------------------------------------------------------------

    def call(self, pump: WatchedSource) -> bool:
        """Comes to it in the next round. False once its node has gone."""
        self._bell.put(pump)
        with self._mutex:
            if self._is_gone:
                return False
            if not self._is_running:
                self._is_running = True
                self._task = self._beginner.begin(self._run, "redisson_dq-lookout")
        return True

    def leave(self) -> bool:
        """Its node has gone. False while it still has something to do."""
        with self._mutex:
            self._is_gone = not self._is_running
            return self._is_gone

    async def hang_up(self) -> None:
        """Cuts the connections. Values in the replies on them are lost."""
        if (link := self._link) is not None:
            await link.hang_up()

    async def aclose(self) -> None:
        """Ends the background task. Its sources are closed already."""
        self._closing.on()
        with self._mutex:
            task = self._task.task if self._task is not None and self._is_running else None
        if task is None:
            return
        # A change of no key wakes it.
        self._bell.put(_Changed(b""))
        if not await task.join(_LAST_REPLY):
            await self.hang_up()
            await task.join(_LAST_STEPS)

    # -- the background task -----------------------------------------------------------------------------------------

    async def _run(self) -> None:
        self._waited_at = self._clock.monotonic()
        while True:
            try:
                if not await self._next_round():
                    break
                await self._round()
            except (Exception, AsyncCancelled) as error:
                await self._failed(error)

    async def _next_round(self) -> bool:
        """Waits until there is something to do. False when the background task has to end."""
        while not self._sources.are_waiting:
            event = await self._bell.next(0 if self._closing.is_on else self._tick_seconds)
            while event is not None:
                self._note(event)
                event = self._bell.poll()
            # Other sources may be busy all the time.
            if not self._sources.are_waiting or self._clock.monotonic() - self._ticked_at >= self._tick_seconds:
                await self._tick()
            if not self._sources.are_waiting:
                with self._mutex:
                    if self._link is None and not self._bell.count and self._may_end():
                        # The next task, which may begin from here on, reports its troubles under the same name.
                        self._connections.outage.gave_up(self._part)
                        self._is_running = False
                        return False
        return True

    def _note(self, event: _Event) -> None:
        if isinstance(event, WatchedSource):
            # Once the mutex is free, the other sources that are called together with it are in the bell. A round of the
            # first ones would take from them out of turn, and more than their shares.
            with event.line.mutex:
                # One that was called before its key moved to another node is called there.
                if event.lookout is self:
                    self._sources.add(event)
        elif isinstance(event, NodeLink):
            if event is self._link:
                raise Disconnected("Redis no longer reports changes")
        else:
            changed = self._sources.of(event.key)
            self._brake.told(len(changed), self._clock.monotonic())
            for pump in changed:
                with pump.line.mutex:
                    pump.changes(self)

    async def _tick(self) -> None:
        """Checks everything that Redis does not report."""
        self._ticked_at = now = self._clock.monotonic()
        for pump in self._sources.of(None):
            is_over = (pump.line.closed or pump.is_replaced) and pump.is_at_rest
            # One whose key lives elsewhere now is called there. It calls here again when its key comes back.
            if is_over or pump.lookout is not self:
                self._sources.forget(pump)
            elif pump.line.count and not pump.is_replaced:
                self._waited_at = now
        if self._link is None:
            return
        if not self._sources.are_waiting and self._may_end():
            # Nobody waits.
            await self._disconnect()
            self._forget_watches()
        elif await self._link.have_slots_moved():
            await self._find_nodes()

    def _may_end(self) -> bool:
        return self._closing.is_on or self._clock.monotonic() - self._waited_at >= _LINGER

    async def _round(self) -> None:
        """Asks all sources that were called, in one round trip."""
        if seconds := self._brake.pause(self._sources.keys, self._clock.monotonic()):
            if self._brake.is_new():
                logger.warning(
                    "Redis reports changes although nothing has arrived, so waits for many queues are up to %.1f s "
                    "late; "
                    "tracking-table-max-keys of the server may be too small for all watched keys",
                    seconds,
                )
            await self._closing.wait(seconds)
        called = self._sources.take_next()
        asked: dict[SharedSources, Sequence[WatchedSource]] = {}
        have_slots_moved = False
        now = self._clock.monotonic()
        try:
            for sources in dict.fromkeys(pump.sources for pump in called):
                with sources.line.mutex:
                    if pumps := sources.ask(called, now):
                        asked[sources] = pumps
            if asked:
                self._waited_at = self._tried = now
                link = self._link or await self._connect()
                have_slots_moved = await link.exchange(asked, self._brake.came)
                self._connections.outage.ended(self._part)
                self._pauses.reset()
        finally:
            for sources in asked:
                sources.free()
        if have_slots_moved:
            await self._find_nodes()
        # The callers that were given values go on first. They may be back in line already.
        await async_give_way()

    async def _connect(self) -> NodeLink:
        link = NodeLink(self._connections, self._pool, lambda key: self._bell.put(_Changed(key)), self._bell.put)
        try:
            await link.connect()
        except BaseException:
            await link.aclose()
            raise
        self._link = link
        return link

    async def _disconnect(self) -> None:
        """Closes the connections. Redis watches nothing from here on. Never raises."""
        link, self._link = self._link, None
        if link is not None:
            await link.aclose()

    async def _find_nodes(self) -> None:
        """Keys may live on other nodes now."""
        await self._connections.refresh()
        self._forget_watches()

    # -- failures ----------------------------------------------------------------------------------------------------

    def _forget_watches(self) -> None:
        """Redis watches nothing any more. Each source looks for its node again."""
        for pump in self._sources.forget_all():
            with pump.line.mutex:
                pump.lose_at(self)
            pump.sources.free()

    async def _failed(self, error: BaseException) -> None:
        """The connections broke, or cannot be made. Pauses."""
        if isinstance(error, (RedisError, OSError, RedissonDQError, TrackingRefusedError, AsyncCancelled)):
            logger.debug("a lookout broke: %r", error)
        else:
            logger.error("a lookout broke", exc_info=error)
        link = self._link
        await self._disconnect()
        if link is not None and link.is_hung_up:
            # Another task has cut them, which waits for that. Nothing is wrong with Redis.
            self._forget_watches()
            return
        if isinstance(error, TrackingRefusedError):
            self._refused(error)
            self._forget_watches()
            return
        client = self._connections
        for pump in self._sources.of(None):
            with pump.line.mutex:
                if pump.lookout is self and pump.line.count:
                    pump.suffer(reason_of(client, error, f"queue {pump.source.key!r}", sent=pump.may_have_taken))
        reason = reason_of(client, error, "waiting for many queues", sent=False)
        if isinstance(reason, RedisConnectionError):
            client.outage.began(self._part, reason, self._tried)
            await client.refresh()
        seconds = self._pauses.next()
        logger.debug("a lookout: waiting again in %.2f s: %s", seconds, reason)
        await self._closing.wait(seconds)
        self._forget_watches()
