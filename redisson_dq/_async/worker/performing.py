"""Calls the handler of a handling, in the thread or task that it gets."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from operator import attrgetter
from typing import Any

from redisson_dq._async.leases.delivery import lease_of, value_of
from redisson_dq._async.worker.event import current
from redisson_dq._async.worker.handling import Handling
from redisson_dq._async.worker.settling import Settlement
from redisson_dq._concurrency import AsyncCancelled, async_here
from redisson_dq._concurrency.handler_pools import AsyncPoolWork
from redisson_dq._concurrency.layers import async_called, async_perform, checked_result
from redisson_dq.calls.endings import Ack
from redisson_dq.items import SettleOutcome
from redisson_dq.observing.operations import OperationKind, Operations, Under
from redisson_dq.working import happenings
from redisson_dq.working.handling_table import Do, State, Trigger
from redisson_dq.working.outcomes import DONE, Outcomes, outcome_of, outcomes_of

__all__ = ["RunningHandling"]

_ACK = Ack()
_DO = attrgetter("do")


class RunningHandling(Handling):
    """A handling that calls its handler. Most end at once: the handler returns, and its only value is acked."""

    def start(self, start: Callable[[AsyncPoolWork], object], error: BaseException | None = None) -> None:
        """Begins by ``start``. With an ``error`` the handler is not called: it counts as having raised that."""
        self.began = self.setting.clock.monotonic()
        start(self.perform if error is None else lambda: self._returned([error]))

    async def perform(self) -> None:
        """Calls the handler, and settles its values."""
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
                await self._returned(outcomes)
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
        setting.report.finished(self, now)
        return True

    def _acked(self, seconds: float, outcome: SettleOutcome) -> None:
        event = self.events[0]
        done = partial(self.tell, happenings.Succeeded, event, duration=timedelta(seconds=seconds))
        self._settled(event, done, outcome)

    async def _returned(self, outcomes: Outcomes) -> None:
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
