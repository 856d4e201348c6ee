"""Takes for many sources of one node: one background task, and two connections (``connecting/tracking.py``).

It goes in rounds. A round sends the commands of all sources that were called, in one piece. Then it reads the replies,
and hands out values as they come. ``waiting/watch_table.py`` says what is done for each source when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Union

from redis.asyncio import ConnectionPool
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import NoScriptError, RedisError, ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.tracking import Tracking, TrackingRefusedError, watch
from redisson_dq._async.receiving.shared_pump import SharedPump, SourcesOfLine
from redisson_dq._concurrency import (
    AsyncBackgroundTask,
    AsyncCancelled,
    AsyncInbox,
    AsyncMutex,
    AsyncSwitch,
    async_give_way,
)
from redisson_dq._log import Log
from redisson_dq._pauses import Pauses
from redisson_dq._redis import is_passing, pack, translate
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.observing import Sent
from redisson_dq.waiting.brake import Brake
from redisson_dq.waiting.watch_table import Trigger

__all__ = ["Lookout"]

logger = Log()

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
# How long it stays when nobody waits, so that a take() in a loop finds it.
_LINGER = 10.0
# How often it looks, without a command, whether its connection is open and sources are over.
_TICK = 1.0
# How often it asks a node of a cluster for the slots. Redis does not tell of an empty list whose slot has moved.
_SLOTS = 5.0
# How long its end waits for the last replies.
_LAST_REPLY = 2.0
_LAST_STEPS = 0.5

#: A source that was called; the end of a pair of connections; a key that has changed, or None for all of them.
_Event = Union[SharedPump, Tracking, "_Changed"]


class _Changed:
    """Redis has told of a change."""

    def __init__(self, key: bytes | None) -> None:
        self.key = key


class Lookout:
    """The wait for many sources of one node. It alone sends and reads on its connection for commands."""

    def __init__(self, connections: Connections, pool: ConnectionPool, refused: Callable[[Exception], object]) -> None:
        """``refused`` is called when Redis does not tell of changes."""
        self._connections = connections
        self._clock = connections.clock
        self._tick_seconds = self._clock.every(_TICK)
        self._pool = pool
        self._refused = refused
        self._place = f"lookout {id(self)}"
        self._bell: AsyncInbox[_Event] = AsyncInbox(self._clock)
        self._mutex = AsyncMutex()
        self._is_running = False
        self._closing = AsyncSwitch(self._clock)
        self._is_closing = False
        self._task: AsyncBackgroundTask | None = None
        self._tracking: Tracking | None = None
        # By key: the sources that have been called here.
        self._pumps: dict[bytes, dict[SharedPump, None]] = {}
        # Those that are to be asked in the next round, in the order of their calls.
        self._todo: dict[SharedPump, None] = {}
        # Scripts that the server does not know.
        self._unknown: set[str] = set()
        self._brake = Brake()
        self._has_braked = False
        self._waited_at = self._slots_at = self._ticked_at = self._probed_at = 0.0
        self._slots: object = None
        self._pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)

    # -- for others --------------------------------------------------------------------------------------------------

    def call(self, pump: SharedPump) -> None:
        """Comes to it in the next round."""
        self._bell.put(pump)
        with self._mutex:
            if not self._is_running:
                self._is_running = True
                self._task = AsyncBackgroundTask(self._run, "redisson_dq-lookout", shielded=True)

    async def hang_up(self) -> None:
        """Cuts the connections. Values in the replies on them are lost."""
        if (tracking := self._tracking) is not None:
            await tracking.hang_up()

    async def aclose(self) -> None:
        """Ends the background task. Its sources are closed already."""
        self._is_closing = True
        self._closing.on()
        with self._mutex:
            task = self._task if self._is_running else None
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
                await self._lost(error)
        self._connections.outage.gave_up(self._place)

    async def _next_round(self) -> bool:
        """Waits until there is something to do. False when the background task has to end."""
        while not self._todo:
            event = await self._bell.next(0 if self._is_closing else self._tick_seconds)
            while event is not None:
                self._note(event)
                event = self._bell.poll()
            # Other sources may be busy all the time.
            if not self._todo or self._clock.monotonic() - self._ticked_at >= self._tick_seconds:
                await self._tick()
            if not self._todo:
                with self._mutex:
                    if self._tracking is None and not self._bell.count and self._may_end():
                        self._is_running = False
                        return False
        return True

    def _note(self, event: _Event) -> None:
        if isinstance(event, SharedPump):
            if event.lookout is not self:
                # It was called before its key moved to another node, and is called there.
                return
            self._pumps.setdefault(event.source.key.encode(), {})[event] = None
            self._todo[event] = None
        elif isinstance(event, Tracking):
            if event is self._tracking:
                raise Disconnected("Redis tells of no changes any more")
        else:
            told = self._each() if event.key is None else list(self._pumps.get(event.key, ()))
            self._brake.told(len(told), self._clock.monotonic())
            for pump in told:
                with pump.line.mutex:
                    pump.feed(Trigger.CHANGED)

    def _each(self) -> list[SharedPump]:
        return [pump for pumps in self._pumps.values() for pump in pumps]

    async def _tick(self) -> None:
        """Looks for all that Redis tells nothing of."""
        self._ticked_at = now = self._clock.monotonic()
        for pump in self._each():
            if (pump.line.closed or pump.engine.is_replaced) and pump.is_at_rest:
                del self._pumps[pump.source.key.encode()][pump]
            elif pump.line.count and not pump.engine.is_replaced:
                self._waited_at = now
        tracking = self._tracking
        if tracking is None:
            return
        if not self._todo and self._may_end():
            # Redis watches nothing from here on, and nobody waits.
            self._tracking = None
            await tracking.aclose()
            self._lose_all()
        elif await tracking.is_cut():
            raise Disconnected("Redis has closed the connection of a lookout")
        elif now - self._probed_at >= self._connections.longest_block:
            self._probed_at = now
            if not await tracking.probe():
                raise Disconnected("the connection that tells of changes does not answer any more")
        elif self._connections.is_cluster and now - self._slots_at > _SLOTS:
            await self._look_at_slots(tracking)

    def _may_end(self) -> bool:
        return self._is_closing or self._clock.monotonic() - self._waited_at >= _LINGER

    async def _look_at_slots(self, tracking: Tracking) -> None:
        self._slots_at = self._clock.monotonic()
        await tracking.send([pack(("CLUSTER", "SLOTS"))])
        slots, self._slots = self._slots, await tracking.read()
        if slots is not None and slots != self._slots and not isinstance(self._slots, ResponseError):
            await self._connections.refresh()
            self._lose_all()

    async def _round(self) -> None:
        """Asks all sources that were called, in one round trip."""
        if seconds := self._brake.pause(len(self._pumps), self._clock.monotonic()):
            if not self._has_braked:
                self._has_braked = True
                logger.warning(
                    "Redis tells of changes though nothing has come, so waits for many queues are up to %.1f s late; "
                    "tracking-table-max-keys of the server may be too small for all keys that are watched",
                    seconds,
                )
            await self._closing.wait(seconds)
        called, self._todo = self._todo, {}
        lines = list(dict.fromkeys(pump.sources for pump in called))
        asked: dict[SourcesOfLine, Sequence[SharedPump]] = {}
        now = self._clock.monotonic()
        try:
            for sources in lines:
                with sources.line.mutex:
                    if pumps := sources.ask(called.keys(), now):
                        asked[sources] = pumps
            if asked:
                self._waited_at = now
                await self._exchange(asked)
                self._connections.outage.ended(self._place)
                self._pauses.reset()
        finally:
            for sources in asked:
                sources.free()
        # The callers that were given values go on first. They may be back in line already.
        await async_give_way()

    async def _exchange(self, asked: Mapping[SourcesOfLine, Sequence[SharedPump]]) -> None:
        tracking = self._tracking or await self._connect()
        observers = self._connections.observers
        if not observers.hear(Sent):
            await self._ask(tracking, asked, [])
            return
        requests = [pump.asking.commands.request for pumps in asked.values() for pump in pumps]
        told = [(request.name, request.keys) for request in requests if request is not None]
        with observers.exchange(told, self._clock) as errors:
            await self._ask(tracking, asked, errors)

    async def _ask(
        self,
        tracking: Tracking,
        asked: Mapping[SourcesOfLine, Sequence[SharedPump]],
        errors: list[BaseException | None],
    ) -> None:
        """Sends the commands of all sources, and handles the replies. ``errors`` has a place for each request."""
        await tracking.send([command for pumps in asked.values() for pump in pumps for command in self._commands(pump)])
        place = 0
        for sources, pumps in asked.items():
            for pump in pumps:
                reply = await self._collect(tracking, pump)
                if isinstance(reply, ResponseError) and errors:
                    errors[place] = reply
                place += pump.asking.commands.request is not None
            self._brake.came(sources.settle(pumps))

    async def _collect(self, tracking: Tracking, pump: SharedPump) -> Any:
        """Reads the replies to the commands of one source. Gives the one to its request."""
        request, length = pump.asking.commands.request, None
        reply = None if request is None else await tracking.read()
        if pump.asking.commands.watches:
            refusal, length = await tracking.read(), await tracking.read()
            length = refusal if isinstance(refusal, ResponseError) else length
        if isinstance(reply, NoScriptError) and request is not None and request.script is not None:
            self._unknown.add(request.script.sha)
        await pump.asking.collect(reply, length)
        return reply

    async def _connect(self) -> Tracking:
        tracking = Tracking(self._connections, self._pool, self._changed, self._bell.put)
        try:
            await tracking.connect()
        except BaseException:
            await tracking.aclose()
            raise
        self._tracking, self._slots, self._probed_at = tracking, None, self._clock.monotonic()
        if self._connections.is_cluster:
            # Before anything is watched: a slot that moves from here on shows.
            await self._look_at_slots(tracking)
        return tracking

    def _commands(self, pump: SharedPump) -> Iterator[bytes]:
        request = pump.asking.commands.request
        script = None if request is None else request.script
        if request is None:
            pass
        elif script is None:
            yield pack(request.words)
        elif script.sha in self._unknown:
            self._unknown.discard(script.sha)
            yield pack(("EVAL", script.source, *request.words))
        else:
            yield pack(("EVALSHA", script.sha, *request.words))
        if pump.asking.commands.watches:
            for words in watch(pump.source.key):
                yield pack(words)

    def _changed(self, key: bytes | None) -> None:
        self._bell.put(_Changed(key))

    # -- failures ----------------------------------------------------------------------------------------------------

    def _lose_all(self) -> None:
        """Redis watches nothing any more. Each source finds its node anew."""
        pumps, self._pumps, self._todo = self._pumps, {}, {}
        for pump in [pump for each in pumps.values() for pump in each]:
            with pump.line.mutex:
                pump.lose()
            pump.sources.free()

    async def _lost(self, error: BaseException) -> None:
        """The connections broke, or cannot be made. Pauses."""
        if isinstance(error, (RedisError, OSError, RedissonDQError, TrackingRefusedError, AsyncCancelled)):
            logger.debug("a lookout broke: %r", error)
        else:
            logger.error("a lookout broke", exc_info=error)
        tracking, self._tracking = self._tracking, None
        if tracking is not None:
            await tracking.aclose()
        pumps = self._each()
        if isinstance(error, TrackingRefusedError):
            self._refused(error)
            self._lose_all()
            return
        for pump in pumps:
            with pump.line.mutex:
                if pump.line.count:
                    pump.suffer(_reason(error, f"queue {pump.source.key!r}", sent=pump.may_have_taken))
        reason = _reason(error, "waiting for many queues")
        if isinstance(reason, RedisConnectionError):
            self._connections.outage.began(self._place, reason)
            await self._connections.refresh()
        seconds = self._pauses.next()
        logger.debug("a lookout: waiting again in %.2f s: %s", seconds, reason)
        await self._closing.wait(seconds)
        self._lose_all()


def _reason(error: BaseException, where: str, *, sent: bool = False) -> RedissonDQError:
    if not isinstance(error, Exception):
        # The loop ends, and has cancelled a connection that was being made.
        return RedisConnectionError(f"{where}: cancelled")
    if isinstance(error, ResponseError) and is_passing(error):
        made = RedisConnectionError(f"{where}: {error}")
        made.__cause__ = error
        return made
    return translate(error, where, sent=sent)
