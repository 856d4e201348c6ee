"""Calls the handler of a handling in the thread or task that it gets, and settles its values."""

from __future__ import annotations

import logging
from datetime import timedelta
from functools import partial
from operator import attrgetter
from typing import Any

from redisson_dq._async.worker.event import current
from redisson_dq._common.texts import described
from redisson_dq._concurrency import AsyncCancelled, async_here
from redisson_dq._concurrency.layers import async_called, async_perform, checked_result
from redisson_dq.calls.delivery import DeliveryFacts, lease_of, value_of
from redisson_dq.calls.endings import Ack, Bury, Nack
from redisson_dq.items import SettleOutcome
from redisson_dq.observing.operations import OperationKind, Operations, Under
from redisson_dq.working import happenings
from redisson_dq.working.crashes import Crashed
from redisson_dq.working.ends import Settlement
from redisson_dq.working.handlers import Handler, is_async
from redisson_dq.working.handling import EventFacts, Handling
from redisson_dq.working.handling_table import Do, State, Trigger
from redisson_dq.working.outcomes import DONE, Outcomes, done_first, outcome_of, outcomes_of
from redisson_dq.working.retries import Again, GiveUp, Reject, Verdict, verdict

__all__ = ["RunningHandling"]

logger = logging.getLogger("redisson_dq")

_ACK = Ack()
_DO = attrgetter("do")


class RunningHandling(Handling):
    """A handling that calls its handler. Most end at once: the handler returns, and its only value is acked."""

    @staticmethod
    def is_called_here(handler: Handler) -> bool:
        is_here = handler.awaits
        # sync: is_here = True
        return is_here

    async def perform(self) -> None:
        if self.table.state is not State.RUNNING:
            # Its time was over, or it was handed back, while it waited for a thread.
            return
        setting, handler = self.setting, self.handler
        where = self.where = async_here()
        current.set(self)
        try:
            try:
                if self.post.is_plain and not setting.hooks.observers.operations:
                    value = value_of(self.deliveries[0])
                    placed = (value, self.events[0]) if handler.shape.takes_event else (value,)
                    result = await async_called(handler.function, placed, setting.given, ())
                    outcomes = DONE if result is None else outcome_of(checked_result(result))
                else:
                    outcomes = await self._outcomes()
            except BaseException as error:
                decided = self.table.state is not State.RUNNING
                if isinstance(error, AsyncCancelled) and (decided or setting.settler.is_torn_away):
                    # Something else has decided, or the loop ends. In that case the leases end by their deadlines.
                    self.happened(Trigger.CANCELLED)
                    raise
                # Also where the handler has cancelled itself, or awaited something that was cancelled.
                outcomes = [error] * len(self.deliveries)
            if outcomes is not DONE or not self._finishes():
                await self.returned(outcomes)
        finally:
            # The thread or task goes on with other handlings. Another one may have the conclusion.
            current.set(None)
            if self.where is where:
                self.where = None

    def _finishes(self) -> bool:
        """The only value is done, and acked. False where something else has come between, which is looked at then."""
        setting, lease = self.setting, lease_of(self.deliveries[0])
        now = setting.clock.monotonic()
        if lease.outcome is not None or lease.is_given_up or lease.until <= now:
            return False
        with self._mutex:
            # In one step: a stop that finds the value settled ends the settler after the last handling.
            if not self.table.finishes():
                return False
            for tally in setting.hooks.observers.tallies:
                tally.handled(self.intake.name, self.handler.name, now - self.began, False)
            lease.is_ending = True
            acked = self.intake.acked or setting.settler.send
            acked(Settlement(lease, _ACK, partial(self._acked, now - self.began)))
        setting.report.ended(self, now)
        return True

    def _acked(self, seconds: float, outcome: SettleOutcome) -> None:
        event = self.events[0]
        done = partial(self.tell, happenings.Succeeded, event, duration=timedelta(seconds=seconds))
        self._settled(event, done, outcome)

    async def returned(self, outcomes: Outcomes) -> None:
        if Do.CONCLUDE in map(_DO, self.happened(Trigger.RETURNED)):
            await self.conclude(outcomes)

    async def _outcomes(self) -> Outcomes:
        """Calls the handler inside of its layers and of an operation."""
        operations = self.setting.hooks.observers.operations
        if not operations:
            return await self._results()
        with self._operation(operations) as processing:
            try:
                outcomes = await self._results()
                processing.error = next(filter(None, outcomes), None)
                return outcomes
            finally:
                if self.table.is_late:
                    processing.error = self._timeout()

    async def _results(self) -> Outcomes:
        handler, setting = self.handler, self.setting
        single = handler.batch is None
        event: Any = self.events[0] if single else self.events
        placed: list[Any] = [self.deliveries[0].value] if single else [[each.value for each in self.deliveries]]
        if handler.shape.takes_event:
            placed.append(event)
        result = await async_perform(
            setting.pool,
            handler.function,
            handler.awaits,
            placed,
            event,
            handler.shape.needs,
            setting.layers(handler),
            setting.given,
        )
        if single:
            return DONE if result is None else outcome_of(result)
        return outcomes_of(result, len(self.deliveries))

    def _operation(self, operations: Operations) -> Under:
        return operations.begin(
            OperationKind.PROCESS,
            "process",
            self.intake.name,
            handler=self.handler.name,
            leases=[lease_of(delivery) for delivery in self.deliveries],
            count=None if self.handler.batch is None else len(self.deliveries),
            of_worker=True,
        )

    # -- the conclusion ----------------------------------------------------------------------------------------------

    async def conclude_apart(self) -> None:
        where = self.where = async_here()
        try:
            await self.conclude([self._timeout()] * len(self.events))
        finally:
            # The thread or task goes on with other handlings. Another one may have the conclusion.
            current.set(None)
            if self.where is where:
                self.where = None

    async def conclude(self, outcomes: Outcomes) -> None:
        """Settles each value, or finds that it is settled."""
        seconds = self.setting.clock.monotonic() - self.began
        for tally in self.setting.hooks.observers.tallies:
            tally.handled(self.intake.name, self.handler.name, seconds, outcomes.count(None) < len(outcomes))
        duration = timedelta(seconds=seconds)
        try:
            for place in done_first(outcomes):
                if place in self.table.unsettled:
                    await self._deal_with(place, outcomes[place], duration)
        except BaseException:
            self.happened(Trigger.BROKEN_OFF)
            raise
        self.happened(Trigger.CONCLUDED)

    async def _deal_with(self, place: int, error: BaseException | None, duration: timedelta) -> None:
        event, lease = self.events[place], lease_of(self.deliveries[place])
        outcome = lease.outcome
        if lease.is_lost:
            if self._settles(place):
                self.tell(happenings.Lost, event)
        elif outcome is not None and outcome is not SettleOutcome.EXTENDED:
            # The handler has ended the lease itself, and that end counts.
            if not self._settles(place):
                return
            if error is not None:
                logger.error(
                    "queue %r: %s failed after the end of the lease of %s",
                    self.intake.name,
                    self.handler.name,
                    _shown(event),
                    exc_info=error,
                )
            elif outcome is SettleOutcome.ACKED:
                self.tell(happenings.Succeeded, event, duration=duration)
        elif error is None:
            self._settle(place, _ACK, partial(self.tell, happenings.Succeeded, event, duration=duration))
        else:
            await self._failed(place, error, duration)

    async def _failed(self, place: int, error: BaseException, duration: timedelta) -> None:
        event, delivery = self.events[place], self.deliveries[place]
        chosen = self._verdict(event, delivery, error)
        reason = described(error)
        if isinstance(chosen, Again):
            delay = timedelta(seconds=chosen.delay)
            self.tell(happenings.Failed, event, delay=delay, error=error, duration=duration)
            retried = partial(self.tell, happenings.Retried, event, delay=delay, error=error)
            self._settle(place, Nack(chosen.delay, chosen.counted, reason), retried)
            return
        self.tell(happenings.Failed, event, error=error, duration=duration, why=chosen.why)
        if not await self._may_bury(place, error):
            return
        reason = (error.reason or "rejected") if isinstance(error, Reject) else f"{chosen.why}: {reason}"

        def buried() -> None:
            self.tell(happenings.GivenUp, event, why=chosen.why, error=error)
            self.tell(happenings.DeadLettered, event, reason=reason, data=delivery.data)

        self._settle(place, Bury(reason), buried)

    def _verdict(self, event: EventFacts, delivery: DeliveryFacts[Any], error: BaseException) -> Verdict:
        if isinstance(error, Crashed):
            return GiveUp(str(error))
        age = delivery.deadline - delivery.remaining - delivery.first_received
        try:
            return verdict(self.handler.retry, error, failures=delivery.failures, age=age, chance=self.setting.chance)
        except BaseException:
            logger.exception(
                "queue %r: the backoff of %s for %s failed", self.intake.name, self.handler.name, _shown(event)
            )
            return Again(60.0)

    async def _may_bury(self, place: int, error: BaseException) -> bool:
        """Calls ``on_failed``. Returns whether the value is to become a dead letter.

        When ``on_failed`` fails the value stays leased, and comes again at its deadline.
        """
        if self.handler.on_failed is None:
            return True
        if Do.CALL not in map(_DO, self.happened(Trigger.GIVEN_UP, place)):
            return False
        event = self.events[place]
        try:
            placed = (event.value, event, error)
            on_failed = self.handler.on_failed
            result = await async_perform(self.setting.pool, on_failed, is_async(on_failed), placed, event, (), (), {})
            if (refused := outcome_of(result)[0]) is not None:
                raise refused
        except BaseException as failure:
            if isinstance(failure, AsyncCancelled) and self.setting.settler.is_torn_away:
                raise
            if Do.LET_EXPIRE in map(_DO, self.happened(Trigger.ON_FAILED_RAISED, place)):
                logger.exception(
                    "queue %r: on_failed of %s failed; %s stays leased and is delivered again",
                    self.intake.name,
                    self.handler.name,
                    _shown(event),
                )
            return False
        return Do.BURY in map(_DO, self.happened(Trigger.ON_FAILED_RETURNED, place))


def _shown(event: EventFacts) -> str:
    return lease_of(event).display_name
