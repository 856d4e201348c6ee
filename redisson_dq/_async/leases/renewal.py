"""Keeps leases alive while their values are worked on. One background task does it for all leases of a client."""

from __future__ import annotations

import logging
import math
import weakref
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
from redisson_dq.calls.settling import Settling
from redisson_dq.errors import ClosedError, RedisConnectionError, RedissonDQError
from redisson_dq.items import SettleOutcome
from redisson_dq.scheduling.clock import Clock

__all__ = ["Renewal"]

logger = logging.getLogger("redisson_dq")

# A lease is renewed when a third of its time has passed, tried again at this share of it, and given up at this share.
_RENEW, _AGAIN, _GIVE_UP = 2 / 3, 1 / 12, 1 / 6
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

    async def wait(self, pause: float | None) -> None:
        """Waits after a look. None: there is nothing to do."""
        if pause is not None:
            self._next = self._clock.monotonic() + pause
        await self._switch.wait(pause)


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
        # In the order in which they were received.
        self._deliveries: weakref.WeakKeyDictionary[Delivery[Any], None] = weakref.WeakKeyDictionary()
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
            self._deliveries.update(dict.fromkeys(deliveries))
        visible = leases[0].visible
        left = min([lease.left for lease in leases])
        self._renewing.bring_forward(left - _RENEW * visible)
        self._watching.bring_forward(left - _GIVE_UP * visible)

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
            due, pause = self._due(tried)
            for settling, deliveries in due.items():
                tried[settling] = self._clock.monotonic()
                if await self._renew(settling, deliveries):
                    del tried[settling]
                deliveries = []
            # The background task must not hold the last reference to the deliveries.
            due.clear()
            if self._refused:
                self._allowed(self._refused - {lease_of(each).settling.source.key for each in self._living()})
            if pause is None:
                # Nothing is left to renew, so no later answer would end the outage.
                self._connections.outage.gave_up(_PART)
            await self._renewing.wait(pause)

    async def _watch(self) -> None:
        while not self._closed:
            self._watching.reset()
            await self._watching.wait(self._tell_in_time())

    def _tell_in_time(self) -> float | None:
        """Gives up the leases whose renewal has hung for too long, and says how long until the next look."""
        pause: float | None = None
        for delivery in self._living():
            lease = lease_of(delivery)
            asked_at = self._asked_at
            # An answer that was asked for only now may still come: a loop that was blocked begins with both tasks.
            hung = 0.0 if asked_at is None else self._clock.monotonic() - asked_at
            wait = max(lease.left - _GIVE_UP * lease.visible, _AGAIN * lease.visible - hung)
            if wait <= 0:
                lease.is_given_up = True
                self._tell(delivery)
            else:
                pause = wait if pause is None else min(pause, wait)
        return pause

    def _living(self) -> list[Delivery[Any]]:
        """The leases that are still to be renewed."""
        with self._mutex:
            for delivery in list(self._deliveries):
                if lease_of(delivery).is_ending:
                    self._deliveries.pop(delivery, None)
            return list(self._deliveries)

    def _due(self, tried: dict[Settling, float]) -> tuple[dict[Settling, list[Delivery[Any]]], float | None]:
        """The leases to renew now, and the time until the next renewal."""
        due: dict[Settling, list[Delivery[Any]]] = {}
        pause: float | None = None
        for delivery in self._living():
            lease = lease_of(delivery)
            visible = lease.visible
            wait = lease.left - _RENEW * visible
            again = tried.get(lease.settling, -math.inf) + _AGAIN * visible - self._clock.monotonic()
            wait = max(wait, again)
            # Renewals that are due a little later are sent along.
            if wait <= _AGAIN * visible and again <= 0:
                due.setdefault(lease.settling, []).append(delivery)
                wait = _AGAIN * visible
            pause = wait if pause is None else min(pause, wait)
        return due, None if pause is None else max(pause, 0.001)

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
                self._give_up(batch, settling.source.visible)
                return False
            finally:
                self._asked_at = None
            self._connections.outage.ended(_PART)
            self._allowed({settling.source.key})
            for each, outcome in zip(batch, outcomes, strict=True):
                if lease_of(each).is_ending:
                    continue
                lease_of(each).extended(outcome, deadline_ms, now_us)
                if outcome is SettleOutcome.LOST:
                    self._tell(each)
        return True

    def _allowed(self, queues: set[str]) -> None:
        """The leases of these queues are renewed, or there are none any more."""
        for key in queues:
            self._refused.discard(key)
            self._connections.refusals.ended((_PART, key))

    def _give_up(self, deliveries: list[Delivery[Any]], visible: float) -> None:
        for each in deliveries:
            lease = lease_of(each)
            if lease.left <= _GIVE_UP * visible and not lease.is_ending:
                lease.is_given_up = True
                self._tell(each)

    def _tell(self, delivery: Delivery[Any]) -> None:
        lease = lease_of(delivery)
        with self._mutex:
            told, lease.is_ending = lease.is_ending, True
        if not told:
            lease.lost()
        if not told and lease.on_lost is not None:
            self._lost.put(delivery)

    async def _call_back(self) -> None:
        while isinstance(delivery := await self._lost.get(), Delivery):
            await self._call_back_with(delivery)
            # The background task must not hold the last reference to the delivery.
            del delivery

    async def _call_back_with(self, delivery: Delivery[Any]) -> None:
        lease = lease_of(delivery)
        assert lease.on_lost is not None
        try:
            await async_call(lease.on_lost, delivery)
        except Exception:
            logger.exception("queue %r: the on_lost= callback for %s failed", lease.name, lease.display_name)
