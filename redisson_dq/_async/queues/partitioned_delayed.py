"""The delayed side of a queue in partitions."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, TypeVar

from redisson_dq._async.queues.delayed import DelayedQueue
from redisson_dq._async.queues.delayed_item import DelayedItem
from redisson_dq._async.queues.partitioned import Partitioned
from redisson_dq._async.runtime import Runtime
from redisson_dq._common.signatures import with_options_of
from redisson_dq.calls.checks import check_function
from redisson_dq.calls.delayed import DelayedRequests
from redisson_dq.calls.history import Kept
from redisson_dq.calls.items import page_of_items
from redisson_dq.calls.offers import OfferOptions, note_offered
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.partitioned import PartitionedDelayedRequests
from redisson_dq.calls.parts import failure_of
from redisson_dq.calls.routing import DelayedRouting
from redisson_dq.durability import Durability
from redisson_dq.errors import ArgumentError, RedissonDQError
from redisson_dq.items import ItemEvent, OfferOutcome, Outcome, Overdue, entry_id
from redisson_dq.observing.operations import OperationKind
from redisson_dq.scheduling.times import Delay

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["PartitionedDelayedQueue"]

T = TypeVar("T")


class PartitionedDelayedQueue(Partitioned[DelayedQueue[T]]):
    """A delayed queue over many partitions. Made by ``client.delayed_queue(name, partitions=16)``.

    Each partition is a delayed queue of its own. Within it items leave in due order, and each call on it is atomic.
    Over all of them nothing is atomic: a call that only looks sees each partition at a moment of its own. An offer goes
    to the partition of its ``key=``. Without a key it goes to that of its ``id=``, or of its payload with
    ``deduplicate_for=``, so that duplicates meet. All other offers go to the partitions in turn.

    Calls raise the errors of :class:`DelayedQueue`.
    """

    #: Calls as requests that are not sent, each to one partition, for a :class:`Pipeline`.
    requests: PartitionedDelayedRequests[T]
    _routing: DelayedRouting[T]

    def __init__(
        self, runtime: Runtime, name: str, partitions: tuple[DelayedQueue[T], ...], side: OpenQueue[T]
    ) -> None:
        """``side`` is that of any partition."""
        routing = DelayedRouting(len(partitions), side)
        super().__init__(runtime, name, partitions, routing)
        self._side = side
        self.requests = PartitionedDelayedRequests([each.requests for each in partitions], routing, name)

    # -- offering ----------------------------------------------------------------------------------------------------

    @with_options_of(DelayedRequests.offer)
    async def offer(
        self,
        value: T,
        delay: Delay | None = None,
        at: datetime | None = None,
        *,
        key: str | None = None,
        **options: Unpack[OfferOptions],
    ) -> DelayedItem[T]:
        """Like :meth:`DelayedQueue.offer`; values with an equal ``key`` go to one partition, and stay in order.

        A duplicate is one within its partition: the same ``id`` under two keys may be two items. Returns the handle
        that the partition's own offer gives.

        :Cost: O(log n); O(n) to replace; one round trip
        :Guarantee: atomic; never sent twice; with an id (and the same key) it may safely be repeated
        """
        by_payload = options.get("deduplicate_for") is not None
        place = self._routing.of_offer(value, key, options.get("id"), by_payload=by_payload)
        return await self.partitions[place].offer(value, delay, at, **options)

    async def offer_all(
        self,
        values_and_delays: Iterable[tuple[T, Delay]],
        key: Callable[[T], str] | None = None,
        *,
        context: Mapping[str, str] | None = None,
        durable: Durability | None = None,
    ) -> int:
        """Like :meth:`DelayedQueue.offer_all`; ``key(value)`` gives the key of a value, without it they go in turn.

        Everything is checked and encoded before anything is sent, then a batch of each partition at a time. After an
        error no more are sent, and its message says how many values were offered; which of them is unknown. With
        ``maybe_done`` a batch of some partition may be in as well; it is also true when other batches are in.

        :Cost: O(k log n), k values; one round trip to each node for 1,000 values (or 1 MB) of each partition
        :Guarantee: each batch atomic; never sent twice
        """
        if key is not None:
            check_function(key, self.name)
        pairs = self._side.collected(values_and_delays)
        shares: dict[DelayedQueue[T], list[tuple[T, Delay]]] = {}
        for pair in pairs:
            shares.setdefault(self._partition_of_pair(pair, key), []).append(pair)
        with self._runtime.operations.around(
            OperationKind.SEND, "offer_all", self.name, context=context, carries=True, count=len(pairs)
        ) as sending:
            return await self._offer_shares(shares, context if sending is None else sending.context, durable)

    # -- looking -----------------------------------------------------------------------------------------------------

    async def items(self, start: int = 0, stop: int = 99) -> list[DelayedItem[T]]:
        """One page of the items that wait in all partitions, in the order of due times.

        From index ``start`` to ``stop``, both included, of the first 10,000.

        :Cost: O(p (log n + s)), p partitions, s the index ``stop``: each partition may have the whole page. One round
            trip for each node, and for each 1 MB of a partition
        """
        # Refuses indexes that are no page. Each partition is asked from index 0 on, as the page may be in one
        # partition.
        self.partitions[0].requests.items(start, stop)
        self.partitions[0].requests.items(0, stop)
        found = await self._pages(lambda partition, at: page_of_items(partition._side, at, stop, "due", part=True))
        pages = [[(partition, state) for state in page] for partition, page in zip(self.partitions, found, strict=True)]
        merged = heapq.merge(*pages, key=lambda pair: pair[1].due_ms or 0)
        return [DelayedItem(partition, state) for partition, state in islice(merged, start, stop + 1)]

    async def find(self, id: str, key: str | None = None) -> DelayedItem[T] | None:
        """The item with that id, or None when it is settled, as :meth:`DelayedQueue.find` says.

        With ``key`` it is looked for in that key's partition; without it in that of the id, then in all others.
        Raises ArgumentError when it is in more than one of those: offered under different keys.

        :Cost: O(log n) in each partition asked; one round trip, and one for each node where all are asked
        """
        if key is not None:
            return await self.partition_for(key).find(id)
        found = await self._sought(id)
        return None if found is None else found[1]

    async def next_due(self) -> datetime | None:
        """When the next item of any partition is due, in UTC; None when nothing waits.

        :Cost: O(p), p partitions; one round trip for each node
        """
        dues = await self._ask(lambda partition: partition.requests.next_due())
        return min((due for due in dues if due is not None), default=None)

    async def overdue(self) -> Overdue:
        """How many items of all partitions are due and have not been moved, and how long the first of them has been.

        :Cost: O(p log n), p partitions; one round trip for each node
        """
        found = await self._ask(lambda partition: partition.requests.overdue())
        return Overdue(count=sum(each.count for each in found), late_by=max(each.late_by for each in found))

    # -- single items ------------------------------------------------------------------------------------------------

    async def cancel(self, id: str, key: str | None = None) -> Outcome:
        """Like :meth:`DelayedQueue.cancel`; finds the item's partition as :meth:`find` does.

        An item's own ``cancel()`` needs no search. All partitions are asked for the fate of an item that does not wait
        any more.

        :Cost: that of :meth:`find` and of the partition's cancel; with ``key`` one round trip
        :Guarantee: atomic; may safely be repeated
        """
        partition = await self._partition_with(id, key)
        if partition is not None:
            return await partition.cancel(id)
        return _most_telling(await self._ask(lambda each: each.requests.cancel(id)))

    async def reschedule(
        self, id: str, delay: Delay | None = None, at: datetime | None = None, *, key: str | None = None
    ) -> Outcome:
        """Like :meth:`DelayedQueue.reschedule`; finds the item's partition as :meth:`find` does.

        :Cost: that of :meth:`find`, and O(log n); with ``key`` one round trip
        :Guarantee: atomic
        """
        partition = await self._partition_with(id, key)
        if partition is not None:
            return await partition.reschedule(id, delay, at)
        return _most_telling(await self._ask(lambda each: each.requests.reschedule(id, delay, at)))

    async def run_now(self, id: str, key: str | None = None) -> Outcome:
        """Makes one waiting item due at once. Otherwise like :meth:`reschedule`.

        :Cost: that of :meth:`find`, and O(log n); with ``key`` one round trip
        :Guarantee: atomic
        """
        return await self.reschedule(id, 0, key=key)

    # -- the whole of it ---------------------------------------------------------------------------------------------

    async def pause(self) -> bool:
        """Like :meth:`DelayedQueue.pause`, for all partitions; False when all of them are paused already.

        :Cost: O(p), p partitions; one round trip for each node
        :Guarantee: atomic in each partition; may safely be repeated
        """
        paused = await self._ask(lambda partition: partition.requests.pause())
        return any(paused)

    async def resume(self) -> bool:
        """Like :meth:`DelayedQueue.resume`, for all partitions; False when none was paused.

        :Cost: O(p), p partitions; one round trip for each node
        :Guarantee: atomic in each partition; may safely be repeated
        """
        resumed = await self._ask(lambda partition: partition.requests.resume())
        return any(resumed)

    async def is_paused(self) -> bool:
        """Whether delivery is paused in all partitions.

        :Cost: O(p), p partitions; one round trip for each node
        """
        paused = await self._ask(lambda partition: partition.requests.is_paused())
        return all(paused)

    async def set_history(self, keep: Kept | None) -> None:
        """Like :meth:`DelayedQueue.set_history`, for each partition.

        :Cost: O(n), n events that are dropped; one round trip for each node
        :Guarantee: atomic in each partition; may safely be repeated
        """
        await self._ask(lambda partition: partition.requests.set_history(keep))

    async def history(
        self,
        id: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        what: str | None = None,
        limit: int = 1000,
    ) -> list[ItemEvent]:
        """Like :meth:`DelayedQueue.history`, of all partitions, by the times of the events.

        :Cost: O(n), n events of all partitions; one round trip for 500 of them, and two for each partition
        """
        found = [
            await partition.history(id, since=since, until=until, what=what, limit=limit)
            for partition in self.partitions
        ]
        return list(heapq.merge(*found, key=lambda event: event.time))[-limit:]

    async def history_kept(self) -> tuple[int, timedelta] | None:
        """Like :meth:`DelayedQueue.history_kept`, of the first partition that keeps one.

        :Cost: O(p), p partitions; one round trip for each node
        """
        found = await self._ask(lambda partition: partition.requests.history_kept())
        return next((kept for kept in found if kept is not None), None)

    async def clear(self) -> None:
        """Takes everything that waits out for good, in all partitions. Pauses and recurring offers stay.

        :Cost: O(n); one round trip for each node
        :Guarantee: atomic in each partition; may safely be repeated
        """
        await self._ask(lambda partition: partition.requests.clear())

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
        """Like :meth:`DelayedQueue.offer_recurring`, in the partition of the id.

        The first declaration ends an older one under the same id in another partition, made when there were fewer
        partitions.

        :Cost: O(log n); O(n) to replace; two round trips, the first time one more for each node
        :Guarantee: atomic in each partition; may safely be repeated
        """
        home = self._home_of(id)
        outcome = await home.offer_recurring(
            value,
            id,
            every=every,
            cron=cron,
            timezone=timezone,
            start=start,
            end=end,
            missed=missed,
            missed_limit=missed_limit,
        )
        if outcome is OfferOutcome.OFFERED:
            others = [partition for partition in self.partitions if partition is not home]
            ended = await self._ask(lambda partition: partition.requests.cancel_recurring(id), others)
            return OfferOutcome.REPLACED if any(ended) else outcome
        return outcome

    async def cancel_recurring(self, id: str) -> bool:
        """Like :meth:`DelayedQueue.cancel_recurring`, in whatever partition it is.

        :Cost: O(p), and that of the partition's call; one round trip for each node
        :Guarantee: atomic in each partition; may safely be repeated
        """
        ended = await self._ask(lambda partition: partition.requests.cancel_recurring(id))
        return any(ended)

    # -- inside ------------------------------------------------------------------------------------------------------

    async def _offer_shares(
        self,
        shares: Mapping[DelayedQueue[T], list[tuple[T, Delay]]],
        context: Mapping[str, str] | None,
        durable: Durability | None,
    ) -> int:
        """Offers each partition its share, a batch of each at a time. Returns the number of all values."""
        wanted = sum(map(len, shares.values()))
        batches = [
            [(partition, request) for request in partition.requests.offer_all(share, context=context, durable=durable)]
            for partition, share in shares.items()
        ]
        offered = 0
        for under_way in zip_longest(*batches):
            try:
                outcomes = await self._outcomes([batch for batch in under_way if batch is not None])
            except RedissonDQError as error:
                outcomes = [error]
            offered += sum(outcome for outcome in outcomes if isinstance(outcome, int))
            if (failure := failure_of(outcomes)) is not None:
                note_offered(failure, f"{offered} of {wanted} values were offered", offered)
                raise failure
        return offered

    async def _sizes(self) -> list[int]:
        return await self._ask(lambda partition: partition.requests.size())

    def _home_of(self, id: str) -> DelayedQueue[T]:
        return self.partitions[self._routing.of_id(id)]

    def _partition_of_pair(self, pair: tuple[T, Delay], key: Callable[[T], str] | None) -> DelayedQueue[T]:
        if key is None:
            return self.partitions[self._routing.next()]
        try:
            value, _ = pair
        except (TypeError, ValueError):
            # The first partition refuses anything but a pair.
            return self.partitions[0]
        return self.partition_for(key(value))

    async def _partition_with(self, id: str, key: str | None) -> DelayedQueue[T] | None:
        """The key's partition, or the one where the item waits."""
        if key is not None:
            return self.partition_for(key)
        found = await self._sought(id)
        return None if found is None else found[0]

    async def _sought(self, id: str) -> tuple[DelayedQueue[T], DelayedItem[T]] | None:
        """The waiting item with that id, and its partition. Raises ArgumentError when several partitions have one."""
        home = self._home_of(id)
        # An id that was made for an item says nothing of its partition.
        if entry_id(id) is None and (item := await home.find(id)) is not None:
            return home, item
        states = await self._ask(lambda partition: partition.requests.find(id))
        found = [(each, state) for each, state in zip(self.partitions, states, strict=True) if state is not None]
        if len(found) > 1:
            raise ArgumentError(
                f"queue {self.name!r}: items with the id {id!r} wait in {len(found)} partitions; give the key= of one"
            )
        return (found[0][0], DelayedItem(*found[0])) if found else None


def _most_telling(outcomes: list[Outcome]) -> Outcome:
    """The outcome that all partitions together know of an item."""
    # DELIVERED comes last. Any partition concludes it from an id that was made, as such an id holds the due time.
    telling = (Outcome.CANCELLED, Outcome.RESCHEDULED, Outcome.EXPIRED, Outcome.DELIVERED)
    return next((outcome for outcome in telling if outcome in outcomes), Outcome.UNKNOWN)
