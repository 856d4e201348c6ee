"""The calls of a delayed queue that one in partitions has too: due times, pauses, the history, recurring offers."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any, TypeVar

from redisson_dq._async.queues.any_queue import AnyQueue
from redisson_dq._async.queues.waiting import WaitingQueue
from redisson_dq.calls.history import Kept, history_of
from redisson_dq.calls.offers import note_offered
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.parts import failure_of
from redisson_dq.calls.recurring import offered_again
from redisson_dq.durability import Durability
from redisson_dq.errors import RedissonDQError
from redisson_dq.items import ItemEvent, OfferOutcome, Overdue
from redisson_dq.observing.operations import OperationKind
from redisson_dq.scheduling.times import Delay
from redisson_dq.wire import commands

__all__ = ["DelayedCalls"]

T = TypeVar("T")


class DelayedCalls(AnyQueue[WaitingQueue[T]]):
    """A handle of the waiting side, of one queue or of its partitions."""

    _side: OpenQueue[T]

    # -- when items are delivered ------------------------------------------------------------------------------------

    async def next_due(self) -> datetime | None:
        """When the next item is due, in UTC; None when nothing waits.

        :Cost: O(1); one round trip, with partitions one for each node
        """
        dues = await self._ask(lambda part: part.requests.next_due())
        return min((due for due in dues if due is not None), default=None)

    async def overdue(self) -> Overdue:
        """How many items are due and have not been moved, and for how long the first of them.

        :Cost: O(log n); one round trip, with partitions one for each node
        """
        found = await self._ask(lambda part: part.requests.overdue())
        return Overdue(count=sum(each.count for each in found), late_by=max(each.late_by for each in found))

    async def pause(self) -> bool:
        """Stops delivery: no process with this library moves due items until :meth:`resume`. False when it is already.

        A ready value can be taken. Redisson's own processes ignore it and deliver.

        :Cost: O(1); one round trip, with partitions one for each node
        :Guarantee: atomic in each partition; seen by the next transfer of every process; may safely be repeated
        """
        found = await self._ask(lambda part: part.requests.pause())
        return any(found)

    async def resume(self) -> bool:
        """Ends a pause; items that fell due meanwhile are delivered at once. False when there was none.

        :Cost: O(1); one round trip, with partitions one for each node
        :Guarantee: atomic in each partition; every process is notified; may safely be repeated
        """
        found = await self._ask(lambda part: part.requests.resume())
        return any(found)

    async def is_paused(self) -> bool:
        """Whether delivery is paused, in all partitions.

        :Cost: O(1); one round trip, with partitions one for each node
        """
        found = await self._ask(lambda part: part.requests.is_paused())
        return all(found)

    # -- the history -------------------------------------------------------------------------------------------------

    async def set_history(self, keep: Kept | None) -> None:
        """Begins a history of what happens to the items of this queue, which :meth:`history` reads; None ends it.

        - ``keep``: a number keeps the events of about that many items (8 for each), for 30 days at most. A timedelta
          keeps those of that time, 50,000 at most

        The scripts of all processes with this version note what they do, wherever they run. Earlier versions and
        Redisson note nothing. Values are not stored. An event takes some 150 bytes, 1 KB at most.

        >>> await delayed.set_history(1000)

        :Cost: O(n), n events that are dropped; one round trip, with partitions one for each node. Then each act on an
            item costs O(1) more in its script
        :Guarantee: atomic in each partition; seen by the next call of every process; may safely be repeated
        """
        await self._ask(lambda part: part.requests.set_history(keep))

    async def history(
        self,
        id: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        what: str | None = None,
        limit: int = 1000,
    ) -> list[ItemEvent]:
        """What happened to one item, or to all, oldest first; the last ``limit`` events.

        - ``id``: yours, or one that an offer made. Without it, the events of all items
        - ``since``, ``until``: aware datetimes
        - ``what``: only events of this kind, as ``"dead"``: see :class:`ItemEvent`

        Empty where the queue keeps no history (:meth:`set_history`). An item with an id of yours that is nowhere, and
        whose last event does not say why, has ``"gone"`` at the end: another client or ``take()`` has taken it. Without
        such an id an item that has been moved is known by its value only, and equal values share their events.

        >>> await delayed.set_history(1000)
        >>> item = await delayed.offer("order", delay=60, id="order-71")
        >>> [event.what for event in await delayed.history("order-71")]
        ['offered']

        :Cost: O(n), n events of the queue; one round trip for 500 of them, and two for each partition
        :Guarantee: reads only; each round trip at a moment of its own
        """
        found = [
            await self._walk_on(part, history_of(part._side, id, since, until, what, limit)) for part in self._parts
        ]
        return list(heapq.merge(*found, key=lambda event: event.time))[-limit:]

    async def history_kept(self) -> tuple[int, timedelta] | None:
        """How many events the history keeps at most, and for how long; None without a history.

        Of partitions that of the first one with a history.

        :Cost: O(1); one round trip, with partitions one for each node
        """
        found = await self._ask(lambda part: part.requests.history_kept())
        return next((kept for kept in found if kept is not None), None)

    # -- recurring offers --------------------------------------------------------------------------------------------

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
        """Offers the value again and again. One occurrence waits at any time.

        - ``id``: your name for it. The same declaration again changes nothing (KEPT), another replaces it (REPLACED)
        - ``every``: seconds or a timedelta
        - ``cron``: five fields (``"0 9 * * mon-fri"``), instead of ``every``, or a shorthand like ``@daily``
        - ``timezone``: the zone of ``cron``, by its name
        - ``start``, ``end``: aware datetimes
        - ``missed``: for occurrences whose time passed while no process moved the queue. ``"one"``: one late delivery
          replaces them all. ``"all"``: each is delivered. ``"skip"``: none; one that is a minute late, or later than
          the next one's time, is dropped as with ``expires=``
        - ``missed_limit``: with ``"all"``, how many at most, the last ones (100; up to 1,000)

        >>> await delayed.offer_recurring("report", "daily", cron="30 9 * * mon-fri", timezone="Europe/Berlin")
        <OfferOutcome.OFFERED: 'offered'>
        >>> await delayed.offer_recurring("report", "daily", cron="30 9 * * mon-fri", timezone="Europe/Berlin")
        <OfferOutcome.KEPT: 'kept'>
        >>> [offer.id for offer in await delayed.recurring()]
        ['daily']

        With partitions it is in that of the id. Raises ArgumentError, EncodeError. More: docs/offers.md, "Recurring
        offers".

        :Cost: O(log n); O(n) to replace one that is not lean; two round trips, or three with partitions
        :Guarantee: atomic in each partition; may safely be repeated
        """
        home = self._home_of(id)
        from redisson_dq.scheduling.recurrence import Recurrence

        recurrence = Recurrence.checked(
            home.name,
            every=every,
            cron=cron,
            timezone=timezone,
            start=start,
            end=end,
            missed=missed,
            missed_limit=missed_limit,
        )
        # Made once before the clock is asked, so that nothing is sent for an item that cannot be offered.
        offered_again(home._side, value, id, recurrence, 0)
        now_us = await self._run_on(home, commands.server_time_us(home.keys.timeout))
        first_ms = recurrence.first_ms(-(-now_us // 1000))
        with self._runtime.operations.around(OperationKind.SEND, "offer_recurring", home.name, id=id):
            outcome = await self._run_on(home, offered_again(home._side, value, id, recurrence, first_ms))
        others = [part for part in self._parts if part is not home]
        if outcome is OfferOutcome.OFFERED and others:
            ended = await self._ask(lambda part: part.requests.cancel_recurring(id), others)
            return OfferOutcome.REPLACED if any(ended) else outcome
        return outcome

    async def cancel_recurring(self, id: str) -> bool:
        """Ends a recurring offer and removes the waiting occurrence; False if there is none with that id.

        :Cost: O(log n) of a lean one; of any other O(log n + p), p the place of its occurrence; one round trip, with
            partitions one for each node
        :Guarantee: atomic in each partition; may safely be repeated
        """
        ended = await self._ask(lambda part: part.requests.cancel_recurring(id))
        return any(ended)

    async def _offer_shares(
        self,
        shares: Mapping[Any, list[tuple[T, Delay]]],
        context: Mapping[str, str] | None,
        durable: Durability | None,
    ) -> int:
        """Offers each part its share, a batch of each at a time. Returns the number of all values."""
        wanted, offered = sum(map(len, shares.values())), 0
        with self._runtime.operations.around(
            OperationKind.SEND, "offer_all", self.name, context=context, carries=True, count=wanted
        ) as sending:
            context = context if sending is None else sending.context
            batches = [
                [(part, request) for request in part.requests.offer_all(share, context=context, durable=durable)]
                for part, share in shares.items()
            ]
            for under_way in zip_longest(*batches):
                try:
                    outcomes = await self._outcomes([batch for batch in under_way if batch is not None])
                except RedissonDQError as error:
                    outcomes = [error]
                offered += sum(outcome for outcome in outcomes if isinstance(outcome, int))
                if (failure := failure_of(outcomes)) is not None:
                    # In partitions batches of the same round may be in as well.
                    before = " before" if self in shares else ""
                    note_offered(failure, f"{offered} of {wanted} values were offered{before}", offered)
                    raise failure
        return offered

    def _home_of(self, id: str) -> WaitingQueue[T]:
        """The queue itself, or the partition of the id."""
        raise NotImplementedError
