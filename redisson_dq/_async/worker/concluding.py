"""The end of a handling: what happens to each of its values when the handler has returned, or its time is over."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence
from datetime import timedelta
from operator import attrgetter
from typing import Any, Protocol

from redisson_dq._async.leases.delivery import Delivery, lease_of
from redisson_dq._async.worker.event import Event
from redisson_dq._async.worker.intake import Intake
from redisson_dq._async.worker.settling import Settler
from redisson_dq._common.texts import described
from redisson_dq._concurrency import AsyncCancelled
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool
from redisson_dq._concurrency.layers import async_perform
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

__all__ = ["conclude"]

logger = logging.getLogger("redisson_dq")

_ACK = Ack()
_DO = attrgetter("do")


class _PartsOfWorker(Protocol):
    @property
    def pool(self) -> AsyncHandlerPool: ...

    @property
    def settler(self) -> Settler: ...

    @property
    def hooks(self) -> Hooks: ...

    @property
    def chance(self) -> random.Random: ...

    @property
    def clock(self) -> Clock: ...


class _EndingHandling(Protocol):
    """The handling that ends."""

    handler: Handler
    intake: Intake
    deliveries: Sequence[Delivery[Any]]
    table: HandlingTable
    began: float

    @property
    def setting(self) -> _PartsOfWorker: ...

    @property
    def events(self) -> list[Event]: ...

    def happened(self, trigger: Trigger, place: int = 0) -> Sequence[HandlingAction]: ...

    def settles(self, place: int) -> bool: ...

    def settle(
        self,
        place: int,
        how: Ending,
        kind: type[happenings.OfValue],
        told: dict[str, Any],
        before: Callable[[], object] | None = None,
    ) -> None: ...

    def tell(self, kind: type[happenings.OfValue], event: Event, **more: Any) -> None: ...


async def conclude(handling: _EndingHandling, outcomes: Outcomes) -> None:
    """Settles each value, or finds that it is settled."""
    seconds = handling.setting.clock.monotonic() - handling.began
    for tally in handling.setting.hooks.observers.tallies:
        tally.handled(handling.intake.name, handling.handler.name, seconds, outcomes.count(None) < len(outcomes))
    duration = timedelta(seconds=seconds)
    try:
        for place in done_first(outcomes):
            if place in handling.table.unsettled:
                await _deal_with(handling, place, outcomes[place], duration)
    except BaseException:
        handling.happened(Trigger.BROKEN_OFF)
        raise
    handling.happened(Trigger.CONCLUDED)


async def _deal_with(handling: _EndingHandling, place: int, error: BaseException | None, duration: timedelta) -> None:
    event, lease = handling.events[place], lease_of(handling.deliveries[place])
    outcome = lease.outcome
    if lease.is_lost:
        if handling.settles(place):
            handling.tell(happenings.Lost, event)
    elif outcome is not None and outcome is not SettleOutcome.EXTENDED:
        # The handler has ended the lease itself, and that end counts.
        if not handling.settles(place):
            return
        if error is not None:
            logger.error(
                "queue %r: %s failed after the end of the lease of %s",
                handling.intake.name,
                handling.handler.name,
                _told(event),
                exc_info=error,
            )
        elif outcome is SettleOutcome.ACKED:
            handling.tell(happenings.Succeeded, event, duration=duration)
    elif error is None:
        handling.settle(place, _ACK, happenings.Succeeded, {"duration": duration})
    else:
        await _failed(handling, place, error, duration)


async def _failed(handling: _EndingHandling, place: int, error: BaseException, duration: timedelta) -> None:
    event = handling.events[place]
    chosen = _verdict(handling, event, error)
    reason = described(error)
    if isinstance(chosen, Again):
        told = {"delay": timedelta(seconds=chosen.delay), "error": error}
        handling.tell(happenings.Failed, event, **told, duration=duration)
        handling.settle(place, Nack(chosen.delay, chosen.counted, reason), happenings.Retried, told)
        return
    handling.tell(happenings.Failed, event, error=error, duration=duration, why=chosen.why)
    if not await _may_bury(handling, place, error):
        return
    reason = (error.reason or "rejected") if isinstance(error, Reject) else f"{chosen.why}: {reason}"
    handling.settle(
        place,
        Bury(reason),
        happenings.DeadLettered,
        {"reason": reason, "data": event.delivery.data},
        before=lambda: handling.tell(happenings.GivenUp, event, why=chosen.why, error=error),
    )


def _verdict(handling: _EndingHandling, event: Event, error: BaseException) -> Verdict:
    if isinstance(error, Crashed):
        return GiveUp(str(error))
    delivery = event.delivery
    age = delivery.deadline - delivery.remaining - delivery.first_received
    try:
        return verdict(
            handling.handler.retry, error, failures=delivery.failures, age=age, chance=handling.setting.chance
        )
    except BaseException:
        logger.exception(
            "queue %r: the backoff of %s for %s failed", handling.intake.name, handling.handler.name, _told(event)
        )
        return Again(60.0)


async def _may_bury(handling: _EndingHandling, place: int, error: BaseException) -> bool:
    """Calls ``on_failed``. Returns whether the value is to become a dead letter.

    When ``on_failed`` fails the value stays leased, and comes again at its deadline.
    """
    if handling.handler.on_failed is None:
        return True
    if Do.CALL not in map(_DO, handling.happened(Trigger.GIVEN_UP, place)):
        return False
    event = handling.events[place]
    try:
        placed = (event.value, event, error)
        on_failed = handling.handler.on_failed
        result = await async_perform(handling.setting.pool, on_failed, is_async(on_failed), placed, event, (), (), {})
        if (refused := outcome_of(result)[0]) is not None:
            raise refused
    except BaseException as failure:
        if isinstance(failure, AsyncCancelled) and handling.setting.settler.is_torn_away:
            raise
        if Do.LET_EXPIRE in map(_DO, handling.happened(Trigger.ON_FAILED_RAISED, place)):
            logger.exception(
                "queue %r: on_failed of %s failed; %s stays leased and is delivered again",
                handling.intake.name,
                handling.handler.name,
                _told(event),
            )
        return False
    return Do.BURY in map(_DO, handling.happened(Trigger.ON_FAILED_RETURNED, place))


def _told(event: Event) -> str:
    return lease_of(event.delivery).display_name
