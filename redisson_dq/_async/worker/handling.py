"""One handling, from the receipt of its values to their outcomes.

:mod:`redisson_dq.working.handling_table` decides which of its ends counts. This module carries that out.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from operator import attrgetter
from typing import Any, Protocol

import attrs

from redisson_dq._async.leases.delivery import Delivery, lease_of, value_of
from redisson_dq._async.worker.concluding import conclude
from redisson_dq._async.worker.event import Event, cancel, current
from redisson_dq._async.worker.intake import Intake
from redisson_dq._async.worker.settling import Settlement, Settler
from redisson_dq._concurrency import AsyncCancelled, AsyncMutex, async_here
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool, AsyncPoolWork
from redisson_dq._concurrency.layers import Layer, async_called, async_perform, checked_result
from redisson_dq.calls.endings import Ack, Ending, Nack
from redisson_dq.items import SettleOutcome
from redisson_dq.observing.operations import OperationKind, Operations, Under
from redisson_dq.scheduling.clock import Clock
from redisson_dq.working import happenings
from redisson_dq.working.handlers import Handler
from redisson_dq.working.handling_table import Do, HandlingAction, HandlingTable, State, Trigger
from redisson_dq.working.hooks import Hooks
from redisson_dq.working.outcomes import DONE, Outcomes, outcome_of, outcomes_of
from redisson_dq.working.post import Post

__all__ = ["Handling", "HandlingEnds", "Setting"]

logger = logging.getLogger("redisson_dq")

_ACK = Ack()

_DO = attrgetter("do")
# Actions that the caller of ``happened`` carries out itself.
_FOR_CALLER = (Do.CONCLUDE, Do.CALL, Do.BURY)


class HandlingEnds(Protocol):
    """Is notified of the ends of handlings."""

    def freed(self, handling: Handling) -> None:
        """It has freed its slot."""

    def forget(self, handling: Handling) -> None:
        """Nothing is left to do for it."""

    def finished(self, handling: Handling, now: float) -> None:
        """Both at once."""


@attrs.frozen(kw_only=True)
class Setting:
    """The parts that all handlings of a worker share."""

    pool: AsyncHandlerPool
    settler: Settler
    layers: Callable[[Handler], Sequence[Layer]]
    given: dict[str, Any]
    hooks: Hooks
    chance: random.Random
    clock: Clock
    report: HandlingEnds


class Handling:
    """A handler at work on one value, or on a batch."""

    def __init__(
        self, setting: Setting, intake: Intake, post: Post, deliveries: Sequence[Delivery[Any]], now: float
    ) -> None:
        self.setting = setting
        self.intake = intake
        self.post = post
        self.handler = post.handler
        self.deliveries = deliveries
        #: What has been decided. The mutex guards it.
        self.table = HandlingTable(len(deliveries))
        # Guards the table and the events.
        self._mutex = AsyncMutex()
        self._events: list[Event] | None = None
        #: When it began, by the client's clock.
        self.began = now
        #: The thread or task in which the handler or the conclusion runs.
        self.where: object = None

    @property
    def events(self) -> list[Event]:
        """The events of its values. They are made when somebody asks for one."""
        if self._events is None:
            with self._mutex:
                if self._events is None:
                    bridge = self.setting.pool.bridge
                    self._events = [Event(delivery, self.intake.name, bridge) for delivery in self.deliveries]
        return self._events

    def start(self, start: Callable[[AsyncPoolWork], object], error: BaseException | None = None) -> None:
        """Begins by ``start``. With an ``error`` the handler is not called: it counts as having raised that."""
        self.began = self.setting.clock.monotonic()
        start(self.perform if error is None else lambda: self._returned([error]))

    @property
    def holds_slot(self) -> bool:
        """Whether it occupies a slot of its handler."""
        return self.table.holds_slot

    # -- what ends it ------------------------------------------------------------------------------------------------

    def expire(self) -> None:
        """Its time is over."""
        self.happened(Trigger.EXPIRED)

    def lose(self, delivery: Delivery[Any]) -> None:
        """A lease of it is lost."""
        place = next(place for place, each in enumerate(self.deliveries) if each is delivery)
        with self._mutex:
            actions = self.table.lost(place)
        self._carry_out(actions)

    def hand_back(self) -> list[Event]:
        """The worker stops, and waits no more: neither for a handler nor for ``on_failed``.

        Returns the events of the values that go back. A handling whose outcomes are being settled goes on. A second
        call hands back those of its values that are not settled yet.
        """
        actions = self.happened(Trigger.STOPPED)
        return [self.events[place] for action in actions if action.do is Do.HAND_BACK for place in action.places]

    def happened(self, trigger: Trigger, place: int = 0) -> Sequence[HandlingAction]:
        """Carries out the actions. Returns them, as some are for the thread that called."""
        with self._mutex:
            actions = self.table.happened(trigger, place)
        self._carry_out(actions)
        return actions

    def _carry_out(self, actions: Iterable[HandlingAction]) -> None:
        for action in actions:
            if action.do is Do.FREE:
                self.setting.report.freed(self)
            elif action.do is Do.FORGET:
                self.setting.report.forget(self)
            elif action.do not in _FOR_CALLER:
                self._end_early(action, [self.events[place] for place in action.places])

    def _end_early(self, action: HandlingAction, events: Sequence[Event]) -> None:
        """Carries out an action that no handler's return leads to."""
        if action.do in (Do.VOID, Do.CANCEL):
            for event in events:
                cancel(event)
            if action.do is Do.CANCEL:
                self.setting.pool.cancel(self.where)
        elif action.do is Do.TELL_LATE:
            self._tell_late()
        elif action.do is Do.TELL_LOST:
            for event in events:
                self.tell(happenings.Lost, event)
        elif action.do is Do.CONCLUDE_APART:
            # The handler's own thread may never come back.
            self.setting.pool.start(self._conclude_apart)
        elif action.do is Do.HAND_BACK:
            for event in reversed(events):
                self._put(event, Nack(0, counted=False), happenings.HandedBack, {})
        elif action.do is Do.LET_EXPIRE:
            for event in events:
                # Renewed no more.
                lease_of(event.delivery).begin_ending()

    def _timeout(self) -> TimeoutError:
        return TimeoutError(
            f"{self.handler.name} has not returned within {timedelta(seconds=self.handler.timeout or 0)}"
        )

    def _tell_late(self) -> None:
        timeout = timedelta(seconds=self.handler.timeout or 0)
        for event in self.events:
            self.tell(happenings.TimedOut, event, timeout=timeout)

    # -- the handler -------------------------------------------------------------------------------------------------

    async def perform(self) -> None:
        """Calls the handler, and settles its values."""
        if self.table.state is not State.RUNNING:
            # Its time was over, or it was handed back, while it waited for a thread.
            return
        where = self.where = async_here()
        try:
            try:
                outcomes = await self._called()
            except AsyncCancelled:
                # Something else has decided, or the loop ends. In that case the leases end by their deadlines.
                self.happened(Trigger.CANCELLED)
                raise
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
        told = {"duration": timedelta(seconds=seconds)}
        self._settled(self.events[0], happenings.Succeeded, told, None, outcome)

    async def _conclude_apart(self) -> None:
        where = self.where = async_here()
        try:
            await conclude(self, [self._timeout()] * len(self.events))
        finally:
            # The thread or task goes on with other handlings. Another one may have the conclusion.
            current.set(None)
            if self.where is where:
                self.where = None

    async def _returned(self, outcomes: Outcomes) -> None:
        if Do.CONCLUDE in map(_DO, self.happened(Trigger.RETURNED)):
            await conclude(self, outcomes)

    async def _called(self) -> Outcomes:
        """Calls the handler; returns its error."""
        setting, handler = self.setting, self.handler
        current.set(self)
        operations = setting.hooks.observers.operations
        try:
            if not operations:
                if not self.post.is_plain:
                    return await self._results()
                value = value_of(self.deliveries[0])
                placed = (value, self.events[0]) if handler.shape.takes_event else (value,)
                result = await async_called(handler.function, placed, setting.given, ())
                return DONE if result is None else outcome_of(checked_result(result))
            with self._operation(operations) as processing:
                try:
                    outcomes = await self._results()
                    processing.error = next(filter(None, outcomes), None)
                    return outcomes
                finally:
                    if self.table.is_late:
                        processing.error = self._timeout()
        except BaseException as error:
            decided = self.table.state is not State.RUNNING
            if isinstance(error, AsyncCancelled) and (decided or self.setting.settler.is_torn_away):
                raise
            # Also where the handler has cancelled itself, or awaited something that was cancelled.
            return [error] * len(self.events)

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
        return outcomes_of(result, len(self.events))

    def _operation(self, operations: Operations) -> Under:
        return operations.begin(
            OperationKind.PROCESS,
            "process",
            self.intake.name,
            handler=self.handler.name,
            leases=[lease_of(delivery) for delivery in self.deliveries],
            count=None if self.handler.batch is None else len(self.events),
            of_worker=True,
        )

    # -- outcomes ----------------------------------------------------------------------------------------------------

    def settles(self, place: int) -> bool:
        """Notes that a value is settled. False where it was settled or handed back before."""
        with self._mutex:
            return self.table.settles(place)

    def settle(
        self,
        place: int,
        how: Ending,
        kind: type[happenings.OfValue],
        told: dict[str, Any],
        before: Callable[[], object] | None = None,
    ) -> None:
        """Ends a lease, unless the value was handed back meanwhile."""
        with self._mutex:
            # In one step: a stop that finds the value settled ends the settler after the last handling.
            if self.table.settles(place):
                self._put(self.events[place], how, kind, told, before)

    def _put(
        self,
        event: Event,
        how: Ending,
        kind: type[happenings.OfValue],
        told: dict[str, Any],
        before: Callable[[], object] | None = None,
    ) -> None:
        then = partial(self._settled, event, kind, told, before)
        self.setting.settler.put(event.delivery, how, then, self.intake.acked)

    def _settled(
        self,
        event: Event,
        kind: type[happenings.OfValue],
        told: dict[str, Any],
        before: Callable[[], object] | None,
        outcome: SettleOutcome,
    ) -> None:
        """Reports to hooks and observers how the lease of a value ended."""
        if outcome is SettleOutcome.LOST:
            self.tell(happenings.Lost, event)
            return
        if outcome is SettleOutcome.CANCELLED:
            self.tell(happenings.ItemCancelled, event)
            return
        if before is not None:
            before()
        self.tell(kind, event, **told)

    def tell(self, kind: type[happenings.OfValue], event: Event, **more: Any) -> None:
        """Reports to hooks and observers what happened to a value."""
        if not self.setting.hooks.hears(kind):
            return
        self.setting.hooks.tell(
            kind(
                queue=self.intake.name,
                id=event.id,
                attempt=event.attempt,
                handler=self.handler.name,
                event=event,
                **more,
            )
        )
