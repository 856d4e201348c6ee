"""Recurring offers: values that are offered again and again."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

from redisson_dq._async.queues.waiting import WaitingQueue
from redisson_dq.calls.delayed import DelayedRequests
from redisson_dq.calls.offers import offered_again
from redisson_dq.items import OfferOutcome, RecurringOffer
from redisson_dq.observing.operations import OperationKind
from redisson_dq.scheduling.times import Delay
from redisson_dq.wire import commands

__all__ = ["RecurringOffers"]

T = TypeVar("T")


class RecurringOffers(WaitingQueue[T]):
    """The calls about recurring offers."""

    requests: DelayedRequests[T]

    async def offer_recurring(
        self,
        value: T,
        id: str,
        *,
        every: Delay | None = None,
        cron: str | None = None,
        timezone: str = "UTC",
        start: datetime | None = None,
        end: datetime | None = None,
        missed: str = "one",
        missed_limit: int | None = None,
    ) -> OfferOutcome:
        """Offers the value again and again. One occurrence waits at any time. When it is moved, the next is offered.

        - ``id``: your name for it. The same declaration again changes nothing (KEPT), another replaces it (REPLACED)
        - ``every``: seconds or a timedelta
        - ``cron``: five fields (``"0 9 * * mon-fri"``), instead of ``every``, or a shorthand like ``@daily``
        - ``timezone``: the name of the time zone of ``cron``
        - ``start``, ``end``: aware datetimes
        - ``missed``: how to handle occurrences whose time passed while no process moved the queue. ``"one"``: one late
          delivery replaces them all. ``"all"``: each of them is delivered. ``"skip"``: none; one that is a minute late,
          or later than the next one's time, is dropped as with ``expires=``
        - ``missed_limit``: with ``"all"``, how many of them at most, the last ones (100; up to 1,000)

        >>> await delayed.offer_recurring("report", "daily", cron="30 9 * * mon-fri", timezone="Europe/Berlin")
        <OfferOutcome.OFFERED: 'offered'>
        >>> await delayed.offer_recurring("report", "daily", cron="30 9 * * mon-fri", timezone="Europe/Berlin")
        <OfferOutcome.KEPT: 'kept'>
        >>> [offer.id for offer in await delayed.recurring()]
        ['daily']

        Raises ArgumentError, EncodeError. More: docs/offers.md, "Recurring offers".

        :Cost: O(log n); O(n) to replace one that is not lean; two round trips
        :Guarantee: atomic; may safely be repeated
        """
        self._check()
        from redisson_dq.scheduling.recurrence import Recurrence

        recurrence = Recurrence.checked(
            self.name,
            every=every,
            cron=cron,
            timezone=timezone,
            start=start,
            end=end,
            missed=missed,
            missed_limit=missed_limit,
        )
        # Made once before the clock is asked, so that nothing is sent for an item that cannot be offered.
        offered_again(self._side, value, id, recurrence, 0)
        now_us = await self._runtime.connections.run(commands.server_time_us(self.keys.timeout))
        first_ms = recurrence.first_ms(-(-now_us // 1000))
        with self._runtime.operations.around(OperationKind.SEND, "offer_recurring", self.name, id=id):
            return await self._run(offered_again(self._side, value, id, recurrence, first_ms))

    async def cancel_recurring(self, id: str) -> bool:
        """Ends a recurring offer and removes the waiting occurrence; False if there is none with that id.

        :Cost: O(log n) of a lean one; of any other O(log n + p), p the place of its occurrence; one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.cancel_recurring(id))

    async def recurring(self, start: int = 0, stop: int = 99) -> list[RecurringOffer]:
        """One page of the recurring offers, in the order in which they come next.

        :Cost: O(log r + k), r recurring offers, k in the page; one round trip
        """
        return await self._run(self.requests.recurring(start, stop))
