"""The end of a handling: which of several causes counts, and what happens to each of its values then.

:mod:`redisson_dq.working.handling_table` decides. This module carries that out; :mod:`.performing` calls the handler.
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

from redisson_dq._async.leases.delivery import Delivery, lease_of
from redisson_dq._async.worker.event import Event, cancel, current
from redisson_dq._async.worker.intake import Intake
from redisson_dq._async.worker.settling import Settler
from redisson_dq._common.texts import described
from redisson_dq._concurrency import AsyncCancelled, AsyncMutex, async_here
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool
from redisson_dq._concurrency.layers import Layer, async_perform
from redisson_dq.calls.endings import Ack, Bury, Ending, Nack
from redisson_dq.items import SettleOutcome
from redisson_dq.scheduling.clock import Clock
from redisson_dq.working import happenings
from redisson_dq.working.crashes import Crashed
from redisson_dq.working.handlers import Handler, is_async
from redisson_dq.working.handling_table import Do, HandlingAction, HandlingTable, Trigger
from redisson_dq.working.hooks import Hooks
from redisson_dq.working.outcomes import Outcomes, done_first, outcome_of
from redisson_dq.working.retries import Again, GiveUp, Reject, Verdict, verdict
from redisson_dq.working.roster import Post

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
    """A handler at work on one value, or on a batch: its values, and how they end."""

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
        #: When its time is over, if it has one.
        self.deadline: float | None = None
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
                self._put(event, Nack(0, counted=False), partial(self.tell, happenings.HandedBack, event))
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

    # -- outcomes ----------------------------------------------------------------------------------------------------

    def _settles(self, place: int) -> bool:
        """Notes that a value is settled. False where it was settled or handed back before."""
        with self._mutex:
            return self.table.settles(place)

    def _settle(self, place: int, how: Ending, done: Callable[[], object]) -> None:
        """Ends a lease, unless the value was handed back meanwhile. ``done`` reports that Redis has done it."""
        with self._mutex:
            # In one step: a stop that finds the value settled ends the settler after the last handling.
            if self.table.settles(place):
                self._put(self.events[place], how, done)

    def _put(self, event: Event, how: Ending, done: Callable[[], object]) -> None:
        self.setting.settler.put(event.delivery, how, partial(self._settled, event, done), self.intake.acked)

    def _settled(self, event: Event, done: Callable[[], object], outcome: SettleOutcome) -> None:
        """Reports to hooks and observers how the lease of a value ended."""
        if outcome is SettleOutcome.LOST:
            self.tell(happenings.Lost, event)
        elif outcome is SettleOutcome.CANCELLED:
            self.tell(happenings.ItemCancelled, event)
        else:
            done()

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

    # -- the conclusion ----------------------------------------------------------------------------------------------

    async def _conclude_apart(self) -> None:
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
        event = self.events[place]
        chosen = self._verdict(event, error)
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
            self.tell(happenings.DeadLettered, event, reason=reason, data=event.delivery.data)

        self._settle(place, Bury(reason), buried)

    def _verdict(self, event: Event, error: BaseException) -> Verdict:
        if isinstance(error, Crashed):
            return GiveUp(str(error))
        delivery = event.delivery
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


def _shown(event: Event) -> str:
    return lease_of(event.delivery).display_name
