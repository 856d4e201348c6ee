"""Keeps leases alive while their values are worked on. One background task does it for all leases of a client."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any, Literal

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.leases.delivery import Delivery, lease_of
from redisson_dq._concurrency import (
    AsyncBackgroundTask,
    AsyncCallback,
    AsyncInbox,
    AsyncMutex,
    AsyncSwitch,
    async_call,
)
from redisson_dq.calls.renewing import GIVE_UP, RENEW, KeptLeases, extended, give_up_near_end
from redisson_dq.calls.settling import Settling
from redisson_dq.errors import ClosedError, RedisConnectionError, RedissonDQError
from redisson_dq.scheduling.clock import Clock

__all__ = ["Renewal"]

logger = logging.getLogger("redisson_dq")

# The name under which it reports an outage.
_PART = "renewal"
# How long close() waits for an answer that is under way.
_LAST_ANSWER = 2.0


class _Alarm:
    """Ends a wait before its time, when something has to be done sooner."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._switch = AsyncSwitch(clock)
        # By the clock. A lease that comes before the time is known wakes the task.
        self._next = math.inf

    def bring_forward(self, pause: float) -> None:
        """Notes that something has to be done after this pause. Mostly the next look comes earlier, and this costs
        nothing.
        """
        if self._clock.monotonic() + pause < self._next:
            self._switch.on()

    def reset(self) -> None:
        """Begins a look at the leases. A lease that comes from now on wakes the task."""
        self._switch.off()
        self._next = math.inf

    async def wait(self, pause: float) -> None:
        """Waits after a look. Infinity: there is nothing to do."""
        self._next = self._clock.monotonic() + pause
        await self._switch.wait(None if pause == math.inf else pause)


class Renewal:
    """Extends leases, those of one queue with one call, as long as somebody has the delivery and has not ended it.

    When a lease cannot be renewed, ``lost`` becomes true and the callback is called before the deadline. A second
    background task watches the time, as a call to a server that hangs does not return. A third one makes the callbacks,
    one after the other, so that none of them holds up a renewal. A delivery without references is not renewed any more.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._clock = connections.clock
        self._mutex = AsyncMutex()
        self._kept: KeptLeases[Delivery[Any]] = KeptLeases(self._clock, self._mutex)
        self._renewing, self._watching = _Alarm(self._clock), _Alarm(self._clock)
        # Deliveries whose callbacks have to be called. "end": no more come.
        self._lost: AsyncInbox[Delivery[Any] | Literal["end"]] = AsyncInbox(self._clock)
        self._tasks: dict[str, AsyncBackgroundTask] = {}
        # Since when an answer has been waited for.
        self._asked_at: float | None = None
        self._closed = False
        #: Queues whose leases Redis refuses to renew.
        self._refused: set[str] = set()

    def start(self, *, calls_back: bool) -> None:
        """Starts those background tasks that do not run yet, the third one only for callbacks.

        The first lease that needs them does so too. By then the system may have no threads left.
        """
        with self._mutex:
            if self._closed:
                return
            works = {"renewal": self._run, "watch": self._watch, **({"lost": self._call_back} if calls_back else {})}
            for name, work in works.items():
                # Each is noted once it has begun: the system may give no thread for the next one.
                if name not in self._tasks:
                    self._tasks[name] = AsyncBackgroundTask(work, f"redisson_dq-{name}")

    def add(self, deliveries: Sequence[Delivery[Any]], on_lost: AsyncCallback[Any] | None) -> None:
        """Keeps these until they are ended. ``on_lost`` is called with each that cannot be kept."""
        self.start(calls_back=on_lost is not None)
        leases = [lease_of(each) for each in deliveries]
        for lease in leases:
            lease.on_lost, lease.on_sooner = on_lost, self._look
        with self._mutex:
            if self._closed:
                return
            self._kept.deliveries.update(dict.fromkeys(deliveries))
        visible = leases[0].visible
        left = min([lease.left for lease in leases])
        self._renewing.bring_forward(left - RENEW * visible)
        self._watching.bring_forward(left - GIVE_UP * visible)

    async def aclose(self) -> None:
        """Ends the background tasks, once callbacks have run for the leases lost by now. Leases run on until their
        deadlines.
        """
        with self._mutex:
            self._closed = True
            tasks = dict(self._tasks)
        self._look()
        # The first two report lost leases to the third one.
        calls_back = tasks.pop("lost", None)
        for task in tasks.values():
            await task.stop(_LAST_ANSWER)
        self._lost.put("end")
        if calls_back is not None:
            await calls_back.stop(_LAST_ANSWER)

    def _look(self) -> None:
        """Lets both background tasks look at the leases now."""
        for alarm in (self._renewing, self._watching):
            alarm.bring_forward(-math.inf)

    async def _run(self) -> None:
        tried: dict[Settling, float] = {}
        while not self._closed:
            self._renewing.reset()
            due, pause = self._kept.due(tried)
            for settling, deliveries in due.items():
                tried[settling] = self._clock.monotonic()
                if await self._renew(settling, deliveries):
                    del tried[settling]
                deliveries = []
            # The background task must not hold the last reference to the deliveries.
            due.clear()
            if self._refused:
                self._allowed(self._refused - self._kept.queues())
            if pause == math.inf:
                # Nothing is left to renew, so no later answer would end the outage.
                self._connections.outage.gave_up(_PART)
            await self._renewing.wait(pause)

    async def _watch(self) -> None:
        while not self._closed:
            self._watching.reset()
            await self._watching.wait(self._tell_in_time())

    def _tell_in_time(self) -> float:
        """Gives up the leases whose renewal has hung for too long, and says how long until the next look."""
        given_up, pause = self._kept.hung(self._asked_at)
        self._tell(given_up)
        return pause

    async def _renew(self, settling: Settling, deliveries: list[Delivery[Any]]) -> bool:
        """False when it has to be tried again soon."""
        for start in range(0, len(deliveries), 1000):
            batch = deliveries[start : start + 1000]
            request = settling.extend([lease_of(each).id for each in batch], settling.source.visible)
            self._asked_at = asked_at = self._clock.monotonic()
            try:
                await self._connections.check_pause(settling.source.key)
                now_us, deadline_ms, outcomes = await self._connections.run(request)
            except ClosedError:
                return True
            except RedissonDQError as error:
                if isinstance(error, RedisConnectionError):
                    self._connections.outage.began(_PART, error, asked_at)
                    logger.debug("queue %r: %d leases are not renewed yet: %s", settling.name, len(batch), error)
                else:
                    logger.warning("queue %r: %d leases are not renewed yet: %s", settling.name, len(batch), error)
                    key = settling.source.key
                    self._refused.add(key)
                    self._connections.refusals.began((_PART, key), key, "leases are not renewed", error)
                self._tell([each for each in batch if give_up_near_end(lease_of(each))])
                return False
            finally:
                self._asked_at = None
            self._connections.outage.ended(_PART)
            self._allowed({settling.source.key})
            self._tell(extended(batch, outcomes, deadline_ms, now_us))
        return True

    def _allowed(self, queues: set[str]) -> None:
        """The leases of these queues are renewed, or there are none any more."""
        for key in queues:
            self._refused.discard(key)
            self._connections.refusals.ended((_PART, key))

    def _tell(self, lost: Sequence[Delivery[Any]]) -> None:
        for delivery in lost:
            if self._kept.lose(delivery) and lease_of(delivery).on_lost is not None:
                self._lost.put(delivery)

    async def _call_back(self) -> None:
        while isinstance(delivery := await self._lost.get(), Delivery):
            lease = lease_of(delivery)
            assert lease.on_lost is not None
            try:
                await async_call(lease.on_lost, delivery)
            except Exception:
                logger.exception("queue %r: the on_lost= callback for %s failed", lease.name, lease.display_name)
            # The background task must not hold the last reference to the delivery.
            del delivery
