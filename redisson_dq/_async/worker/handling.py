"""One handling, from the receipt of its values to what came of them."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from redisson_dq._async.leases.delivery import Delivery, lease_of
from redisson_dq._async.worker.event import Event, cancel, current, is_void
from redisson_dq._async.worker.intake import Intake
from redisson_dq._async.worker.settling import Ack, Bury, Ending, Nack, Settler
from redisson_dq._async.worker.starting import Starts
from redisson_dq._concurrency import AsyncCancelled, AsyncMutex
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool, AsyncRunning
from redisson_dq._concurrency.layers import Layer, async_perform
from redisson_dq._texts import described, shown
from redisson_dq.items import SettleOutcome
from redisson_dq.working import happenings
from redisson_dq.working.handlers import Handler
from redisson_dq.working.retries import Again, GiveUp, Reject, Verdict, verdict

__all__ = ["Crashed", "Handling", "Outcomes", "Setting"]

logger = logging.getLogger("redisson_dq")

#: An error of each value, None for those that are done.
Outcomes = Sequence["BaseException | None"]


class Crashed(Exception):
    """A value was delivered too often to receivers that died, or stood still, with it."""


class Setting:
    """What all handlings of a worker share."""

    def __init__(
        self,
        *,
        pool: AsyncHandlerPool,
        settler: Settler,
        layers: Callable[[Handler], Sequence[Layer]],
        given: dict[str, Any],
        tell: Callable[[happenings.Happening], object],
        hears: Callable[..., bool],
        chance: random.Random,
        ended: Callable[[Handling], object],
        concludes: Callable[[Handling, bool], object],
    ) -> None:
        """``tell`` passes a happening to the hooks, ``hears`` says whether there is one for it; ``ended`` frees a
        handling's slot. ``concludes`` is told when one that has no slot any more begins to conclude, and when it ends.
        """
        self.pool = pool
        self.settler = settler
        self.layers = layers
        self.given = given
        self.tell = tell
        self.hears = hears
        self.chance = chance
        self.ended = ended
        self.concludes = concludes


class Handling:
    """A handler at work on one value, or on a batch.

    Whoever decides first what came of it (the handler's end, its timeout, the loss of its lease, the end of the
    worker) decides alone.
    """

    def __init__(self, setting: Setting, intake: Intake, handler: Handler, deliveries: Sequence[Delivery[Any]]) -> None:
        self._setting = setting
        self.intake = intake
        self.handler = handler
        self.events = [Event(delivery, intake.name) for delivery in deliveries]
        self._mutex = AsyncMutex()
        self._decided = False
        # Whether its time was over, whether on_failed runs, and the ids of the deliveries that have an end.
        self._is_late = False
        self._persists = False
        self._ended: set[str] = set()
        self._free = False
        self._running: AsyncRunning | None = None
        self._began = time.monotonic()
        #: When its time is over, on the monotonic clock.
        self.deadline: float | None = None

    def start(self, starter: Starts, error: BaseException | None = None) -> None:
        """Begins. With an ``error`` the handler is not called: it counts as having raised that."""
        self._began = time.monotonic()
        if self.handler.timeout is not None and error is None:
            self.deadline = self._began + self.handler.timeout
        work = self._perform if error is None else lambda: self._fail(error)
        self._running = starter.start(work)

    # -- who decides -------------------------------------------------------------------------------------------------

    def expire(self) -> None:
        """Its time is over."""
        if not self._decide():
            return
        timeout = timedelta(seconds=self.handler.timeout or 0)
        self._cancel()
        for event in self.events:
            logger.error(
                "queue %r: %s has not handled %s within %s", self.intake.name, self.handler.name, _told(event), timeout
            )
            self._tell(happenings.TimedOut, event, timeout=timeout)
        error = TimeoutError(f"{self.handler.name} has not returned within {timeout}")
        self._is_late = True
        self._setting.concludes(self, True)
        # Not in the handler's thread, which may never come back.
        self._running = self._setting.pool.start(lambda: self._conclude_late(error))
        self._release()

    def lose(self, delivery: Delivery[Any]) -> None:
        """A lease of it is lost."""
        with self._mutex:
            for event in self.events:
                if event.delivery is delivery and not self._decided:
                    cancel(event)
            if not all(is_void(event) for event in self.events):
                return
        if self._decide():
            self._cancel()
            for event in self.events:
                self._tell(happenings.Lost, event)
            self._release()

    def hand_back(self) -> None:
        """The worker stops, and waits no more: neither for a handler nor for ``on_failed``."""
        if not self._decide() and not self._persists and not self._is_late:
            return
        self._cancel()
        for event in self.events:
            self._settle(event, Nack(0, counted=False), happenings.HandedBack, {})
        self._release()

    def _decide(self) -> bool:
        """Whether the caller is the first."""
        with self._mutex:
            first, self._decided = not self._decided, True
        return first

    def _cancel(self) -> None:
        for event in self.events:
            cancel(event)
        if self._running is not None:
            self._running.cancel()

    def _release(self) -> None:
        with self._mutex:
            first, self._free = not self._free, True
        if first:
            self._setting.ended(self)

    # -- the handler -------------------------------------------------------------------------------------------------

    async def _perform(self) -> None:
        if self._decided:
            # Its time was over, or it was handed back, while it waited for a thread.
            return
        try:
            outcomes = await self._called()
        except AsyncCancelled:
            # Who cancelled it has decided, or the loop ends. In that case the leases end by their deadlines.
            self._decide()
            self._release()
            raise
        if self._decide():
            try:
                await self._conclude(outcomes)
            finally:
                self._release()

    async def _called(self) -> Outcomes:
        """Calls the handler; gives what it raised."""
        handler, setting = self.handler, self._setting
        single = handler.batch is None
        event: Any = self.events[0] if single else self.events
        placed: list[Any] = [self.events[0].value] if single else [[each.value for each in self.events]]
        if handler.shape.takes_event:
            placed.append(event)
        current.set(self.events[0])
        try:
            result = await async_perform(
                setting.pool,
                handler.function,
                placed,
                event,
                handler.shape.needs,
                setting.layers(handler),
                setting.given,
            )
            return [None] if single else _outcomes(result, len(self.events))
        except BaseException as error:
            if isinstance(error, AsyncCancelled) and (self._decided or setting.settler.is_torn_away):
                raise
            # Also where the handler has cancelled itself, or awaited what was cancelled.
            return [error] * len(self.events)

    async def _fail(self, error: BaseException) -> None:
        if self._decide():
            try:
                await self._conclude([error])
            finally:
                self._release()

    async def _conclude_late(self, error: BaseException) -> None:
        try:
            await self._conclude([error] * len(self.events))
        finally:
            self._setting.concludes(self, False)

    # -- what comes of it --------------------------------------------------------------------------------------------

    async def _conclude(self, outcomes: Outcomes) -> None:
        duration = timedelta(seconds=time.monotonic() - self._began)
        # What is done comes first: it waits for no on_failed.
        for event, error in sorted(zip(self.events, outcomes, strict=True), key=lambda each: each[1] is not None):
            outcome = event.delivery.outcome
            if event.id in self._ended:
                # Handed back while on_failed of another one ran.
                continue
            if event.delivery.lost:
                self._tell(happenings.Lost, event)
                continue
            if outcome not in (None, SettleOutcome.EXTENDED):
                # The handler has ended the lease itself, and what it did stands.
                if error is not None:
                    logger.error(
                        "queue %r: %s failed after the end of the lease of %s",
                        self.intake.name,
                        self.handler.name,
                        _told(event),
                        exc_info=error,
                    )
                elif outcome is SettleOutcome.ACKED:
                    self._tell(happenings.Succeeded, event, duration=duration)
                continue
            if error is None:
                self._settle(event, Ack(), happenings.Succeeded, {"duration": duration})
            else:
                await self._failed(event, error, duration)

    async def _failed(self, event: Event, error: BaseException, duration: timedelta) -> None:
        self._tell(happenings.Failed, event, error=error, duration=duration)
        chosen = self._verdict(event, error)
        reason = described(error)
        if isinstance(chosen, Again):
            how = Nack(chosen.delay, chosen.counted, reason)
            told = {"delay": timedelta(seconds=chosen.delay), "error": error}
            logger.warning(
                "queue %r: %s failed, and %s comes again in %.1f s: %s",
                self.intake.name,
                self.handler.name,
                _told(event),
                chosen.delay,
                reason,
            )
            self._settle(event, how, happenings.Retried, told)
            return
        logger.error(
            "queue %r: %s is given up: %s: %s", self.intake.name, _told(event), chosen.why, reason, exc_info=error
        )
        if not await self._persisted(event, error):
            return
        reason = (error.reason or "rejected") if isinstance(error, Reject) else f"{chosen.why}: {reason}"
        self._settle(
            event,
            Bury(reason),
            happenings.DeadLettered,
            {"reason": reason, "data": event.delivery.data},
            before=lambda: self._tell(happenings.GivenUp, event, why=chosen.why, error=error),
        )

    def _verdict(self, event: Event, error: BaseException) -> Verdict:
        if isinstance(error, Crashed):
            return GiveUp(str(error))
        delivery = event.delivery
        age = delivery.deadline - delivery.remaining - delivery.first_received
        try:
            return verdict(self.handler.retry, error, failures=delivery.failures, age=age, chance=self._setting.chance)
        except BaseException:
            logger.exception(
                "queue %r: the backoff of %s for %s failed", self.intake.name, self.handler.name, _told(event)
            )
            return Again(60.0)

    async def _persisted(self, event: Event, error: BaseException) -> bool:
        """Calls ``on_failed``. When that fails the value stays leased, and comes again at its deadline."""
        if self.handler.on_failed is None:
            return True
        self._persists = True
        try:
            placed = (event.value, event, error)
            await async_perform(self._setting.pool, self.handler.on_failed, placed, event, (), (), {})
        except BaseException as failure:
            if isinstance(failure, AsyncCancelled) and self._setting.settler.is_torn_away:
                raise
            if event.id in self._ended:
                return False
            logger.exception(
                "queue %r: on_failed of %s failed; %s stays leased and comes again",
                self.intake.name,
                self.handler.name,
                _told(event),
            )
            # Renewed no more.
            lease_of(event.delivery).begin_ending()
            return False
        finally:
            self._persists = False
        return True

    def _settle(
        self,
        event: Event,
        how: Ending,
        kind: type[happenings.OfValue],
        told: dict[str, Any],
        before: Callable[[], object] | None = None,
    ) -> None:
        """Ends a lease, unless it was handed back while on_failed ran."""
        with self._mutex:
            if event.id in self._ended:
                return
            self._ended.add(event.id)

        def then(outcome: SettleOutcome) -> None:
            if outcome is SettleOutcome.LOST:
                self._tell(happenings.Lost, event)
                return
            if outcome is SettleOutcome.CANCELLED:
                self._tell(happenings.ItemCancelled, event)
                return
            if before is not None:
                before()
            self._tell(kind, event, **told)

        self._setting.settler.put(event.delivery, how, then, self.intake.along)

    def _tell(self, kind: type[happenings.OfValue], event: Event, **more: Any) -> None:
        if not self._setting.hears(kind):
            return
        self._setting.tell(
            kind(
                queue=self.intake.name,
                id=event.id,
                attempt=event.attempt,
                handler=self.handler.name,
                event=event,
                **more,
            )
        )


def _told(event: Event) -> str:
    return lease_of(event.delivery).told_as


def _outcomes(result: Any, count: int) -> Outcomes:
    """What a batch handler gave for each value: nothing for all done, or a sequence of None and exceptions."""
    if result is None:
        return [None] * count
    if not isinstance(result, (list, tuple)) or len(result) != count:
        error = TypeError(f"a batch handler gives None, or a list of {count} outcomes, not {shown(result)}")
        return [error] * count
    return [
        each
        if each is None or isinstance(each, BaseException)
        else TypeError(f"an outcome of a batch is None or an exception, not {shown(each)}")
        for each in result
    ]
