"""``client.health()``: asks Redis in the background, so that the caller waits no longer than it wants to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import attrs

from redisson_dq._async.connecting.asking import outcomes, timed
from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.runtime import Attachment, Runtime
from redisson_dq._concurrency import AsyncBackgroundTask, AsyncMutex
from redisson_dq.calls.inspecting import figures
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.health import ClientHealth, QueueHealth
from redisson_dq.observing import Observers
from redisson_dq.scheduling.times import from_us
from redisson_dq.stats import QueueStats
from redisson_dq.wire import commands
from redisson_dq.wire.keys import DeadKeys, LeaseKeys

__all__ = ["Checkup"]

# Its name in an outage.
_PART = "health"


@attrs.define
class _Question:
    """One look at Redis: how the clock is, and the figures of some queues by the keys of their ready lists."""

    connections: Connections
    queues: Sequence[Attachment]
    #: When an observer asks, the look is not reported to observers: they would ask again, and wait for themselves.
    observers: Observers
    is_of_observer: bool
    began_us: int
    is_answered: bool = False
    error: RedissonDQError | None = None
    round_trip_us: int | None = None
    ahead_us: int | None = None
    found: dict[str, QueueStats] = attrs.field(factory=dict)

    async def ask(self) -> None:
        if self.is_of_observer:
            # Only in threads, and this one ends with the look.
            self.observers.hush()
        try:
            await self._ask_for_time()
        except RedissonDQError as error:
            self.error = error
        # The other nodes of a cluster may be up.
        if self.connections.is_cluster or not isinstance(self.error, RedisConnectionError):
            try:
                await self._ask_for_figures()
            except RedissonDQError as error:
                self.error = self.error or error
        self.is_answered = True

    async def _ask_for_time(self) -> None:
        key = self.queues[0].keys.ready if self.queues else ""
        server_us, self.round_trip_us = await timed(self.connections, commands.server_time_us(key))
        # The server read its clock about half a round trip ago.
        self.ahead_us = server_us - self.connections.clock.calendar_us() + self.round_trip_us // 2

    async def _ask_for_figures(self) -> None:
        requests = [
            figures(each.name, LeaseKeys(queue=each.keys, dead=DeadKeys.belonging_to(each.keys.ready)))
            for each in self.queues
        ]
        for queue, outcome in zip(self.queues, await outcomes(self.connections, requests), strict=True):
            if isinstance(outcome, RedissonDQError):
                # Of several errors, prefer one that says that Redis cannot be reached.
                if self.error is None or isinstance(outcome, RedisConnectionError):
                    self.error = outcome
            else:
                self.found[queue.keys.ready] = outcome


class Checkup:
    """Looks at Redis for one client, once at a time, however many callers ask."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._mutex = AsyncMutex()
        # The look that was begun last, for observers and for all others.
        self._current: dict[bool, tuple[_Question, AsyncBackgroundTask]] = {}
        # Why a look has failed, and when the first of the looks that failed in succession did so.
        self._failed: tuple[BaseException, int] | None = None
        self._fails = False

    async def aclose(self) -> None:
        """Lets go of a look that is under way."""
        with self._mutex:
            current = list(self._current.values())
        for _, task in current:
            await task.stop(0)

    async def health(self, timeout: float) -> ClientHealth:
        """The health of the client. Returns within ``timeout`` seconds."""
        question, task = self._asked()
        await task.join(timeout)
        error = question.error
        if not question.is_answered:
            error = RedisConnectionError(f"Redis has not answered within {timeout:g} s")
        is_away = isinstance(error, RedisConnectionError)
        last = self._last_error(error if is_away else None, question)
        driver = self._runtime.transfer_driver
        queues = [self._of_queue(each, question.found.get(each.keys.ready)) for each in _opened(self._runtime)]
        moved = [] if driver is None else list(driver.tasks.values())
        return ClientHealth(
            client=self._runtime.connections.client,
            connected=not is_away,
            round_trip=_span(question.round_trip_us),
            clock_difference=_span(question.ahead_us),
            subscribed=all(driver.hears(each.keys.channel) for each in moved) if driver and moved else None,
            last_error=None if last is None else last[0],
            last_error_since=None if last is None else from_us(last[1]),
            problems=self._runtime.connections.refusals.problems,
            queues={each.name: each for each in queues},
        )

    def _asked(self) -> tuple[_Question, AsyncBackgroundTask]:
        """The look that is under way, or a new one. One that Redis does not answer stays the only one."""
        observers, connections = self._runtime.options.observers, self._runtime.connections
        is_of_observer = observers.is_telling_here
        with self._mutex:
            current = self._current.get(is_of_observer)
            if current is None or current[0].is_answered:
                opened, now_us = _opened(self._runtime), connections.clock.calendar_us()
                question = _Question(connections, opened, observers, is_of_observer, now_us)
                current = question, AsyncBackgroundTask(question.ask, "redisson_dq-health")
                self._current[is_of_observer] = current
            return current

    def _last_error(self, error: BaseException | None, question: _Question) -> tuple[BaseException, int] | None:
        """The error by which Redis cannot be reached, and since when; else those of the last outage."""
        outage = self._runtime.connections.outage
        with self._mutex:
            if error is None:
                self._fails = False
            elif not self._fails and not outage.is_going_on:
                self._failed, self._fails = (error, question.began_us), True
        if error is None:
            outage.ended(_PART)
        errors = ((outage.last, outage.is_going_on), (self._failed, self._fails))
        present = [each for each, goes_on in errors if each is not None and goes_on]
        if present:
            return min(present, key=_since)
        return max((each for each, _ in errors if each is not None), key=_since, default=None)

    def _of_queue(self, queue: Attachment, found: QueueStats | None) -> QueueHealth:
        driver = self._runtime.transfer_driver
        task = None if driver is None else driver.tasks.get(queue.keys.channel)
        return QueueHealth(
            name=queue.name,
            role=task.engine.role if task is not None and task.has_role else None,
            subscribed=driver is not None and task is not None and driver.hears(queue.keys.channel),
            overdue=None if found is None else found.overdue,
            late_by=None if found is None else found.late_by,
            is_paused=None if found is None else found.is_paused,
        )


def _opened(runtime: Runtime) -> list[Attachment]:
    """One attachment of each queue that is open."""
    return [attachments[0] for attachments in list(runtime.attachments.values()) if attachments]


def _since(error: tuple[BaseException, int]) -> int:
    return error[1]


def _span(us: int | None) -> timedelta | None:
    return None if us is None else timedelta(microseconds=us)
