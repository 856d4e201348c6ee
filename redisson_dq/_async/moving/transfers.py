"""One call of ``transfer.lua``: sends it, takes in its answer, and asks the engine for the next actions."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.moving.task import Decided, Departure, Task
from redisson_dq._concurrency import async_give_way
from redisson_dq._redis import refusal_of
from redisson_dq._redis.options import Options
from redisson_dq.calls.due import tell_undelivered
from redisson_dq.calls.recurring import following
from redisson_dq.errors import RedissonDQError
from redisson_dq.items import TransferCounts
from redisson_dq.scheduling.engine import Role, State
from redisson_dq.scheduling.pauses import jittered
from redisson_dq.scheduling.server_clock import HeadStart
from redisson_dq.wire import calls, commands
from redisson_dq.wire.calls import Transferred
from redisson_dq.wire.forms import tell_newer

__all__ = ["Transfers"]

logger = logging.getLogger("redisson_dq")

# A refused transfer, and the question which rights are missing.
_COMMANDS_OF_A_TRY = 3


class Transfers:
    """The transfers of one client. Only the driver's background task uses it."""

    def __init__(
        self, connections: Connections, options: Options, counts: TransferCounts, hears: Callable[[str], bool]
    ) -> None:
        """``hears`` says whether the client hears a channel."""
        self._connections = connections
        self._clock = connections.clock
        self._options = options
        self._observers = options.observers
        self._counts = counts
        self._hears = hears
        self._head_start = HeadStart(busy_wait=options.tuning.busy_wait)

    def plan(self, task: Task, departs_us: int, fire: Callable[[], None]) -> int:
        """Plans a departure where the time of the next transfer is known. Returns in how many us the timer is to fire.

        ``fire`` fires it before its time, at the end of a refusal.
        """
        delay_us = departs_us - self._clock.now_us()
        task.departure = None
        if task.engine.state is State.PAUSING:
            pause = jittered(delay_us) / 1_000_000
            pause = self._connections.tries.refused(task, task.refusal, pause, fire, _COMMANDS_OF_A_TRY)
            delay_us = int(pause * 1_000_000)
        # A pause needs no head start, and a reserve is to be late.
        if task.engine.state is State.ARMED and task.engine.role is not Role.RESERVE:
            delay_us -= self._head_start.us
            alarm_us = departs_us - self._head_start.us if delay_us > 0 else None
            task.departure = Departure(self._clock, departs_us, alarm_us, busy_wait=self._options.tuning.busy_wait)
        return max(0, delay_us)

    async def run(self, task: Task, departure: Departure) -> Decided:
        """Makes one call, and takes in its answer. All errors are raised."""
        request = calls.transfer(
            task.keys,
            self._options.tuning.transfer_batch,
            self._options.remember_ms,
            self._connections.client,
            cluster=self._connections.is_cluster,
            listens=self._hears(task.keys.channel),
            slowness=task.pace.slowness,
            step=task.hints.words(),
        )
        await self._connections.check_pause(task.keys.ready)
        result = await self._connections.run(request, before_sending=departure.wait, after_sending=departure.stand_back)
        read_us = self._clock.now_us()
        # Callers get the delivered values before this client works on the answer.
        await async_give_way()
        next_ms = await self._next_ms(task, result)
        tell_undelivered(self._observers, task.name, task.keys, result.set_aside, result.expired)
        for name, form in result.newer:
            tell_newer(task.keys.ready, getattr(task.keys, name), name, form)
        if task.answered(read_us - departure.sent_us, result.moved, result.step):
            await self._measure_way(task)
        if departure.way_us is not None:
            self._head_start.learn(departure.way_us)
        actions = task.engine.transferred(next_ms, Role(result.role), result.now_us, departure.sent_us, read_us)
        task.report(self._observers, result.moved, read_us - departure.sent_us)
        if task.engine.role is not Role.RESERVE:
            # Records of moved or offered items may stay for a while.
            task.tidying.moved()
        self._counts.sent += 1
        self._counts.early += task.engine.was_early
        return Decided(actions, read_us)

    async def failed(self, task: Task, error: Exception, tried: float) -> Decided:
        """Takes in that a transfer has failed that began at ``tried``. The next one follows after a pause."""
        task.refusal = refusal_of(error)
        if task.failed(error, tried):
            self._head_start = HeadStart(busy_wait=self._options.tuning.busy_wait)
        await self._connections.refresh()
        at_us = self._clock.now_us()
        return Decided(task.engine.failed(at_us), at_us)

    async def hand_over(self, tasks: Iterable[Task]) -> None:
        """Lets others take over at once the queues that this client is the mover of. At most one round trip."""
        requests = [calls.hand_over(task.keys, self._connections.client) for task in tasks if task.engine.led]
        if requests:
            try:
                await self._connections.run_many(requests)
            except RedissonDQError as error:
                # Without this call they take over by themselves, a little later.
                logger.debug("cannot hand %d queues over: %s", len(requests), error)

    async def _next_ms(self, task: Task, result: Transferred) -> int | None:
        """Offers the next occurrences of recurring offers. Returns when the next transfer has something to do."""
        offers = 0
        for come in result.recurring:
            request = following(self._options, task.name, task.keys, come, result.now_us)
            if request is not None:
                await self._connections.run(request)
                offers += 1
        if offers and len(result.recurring) == self._options.tuning.transfer_batch:
            # There may be more occurrences than one reply holds.
            return result.now_us // 1000
        return result.next_ms

    async def _measure_way(self, task: Task) -> None:
        """Long transfers mean a slow server, or a long way to it. A call without work shows only the way."""
        sent_us = self._clock.now_us()
        await self._connections.run(commands.server_time_us(task.keys.timeout))
        task.pace.way_took(self._clock.now_us() - sent_us)
