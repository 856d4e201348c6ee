"""The delayed side of a queue in partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from redisson_dq._async.queues.delayed import DelayedQueue
from redisson_dq._async.queues.delayed_calls import DelayedCalls
from redisson_dq._async.queues.delayed_item import DelayedItem, due_of, items_of
from redisson_dq._async.queues.partitioned import Partitioned
from redisson_dq._async.runtime import Runtime
from redisson_dq._common.signatures import with_options_of
from redisson_dq.calls.checks import check_function
from redisson_dq.calls.delayed import DelayedRequests
from redisson_dq.calls.offers import OfferOptions
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.partitioned import DelayedRouting, PartitionedDelayedRequests, most_telling
from redisson_dq.durability import Durability
from redisson_dq.errors import ArgumentError
from redisson_dq.items import Outcome, entry_id
from redisson_dq.scheduling.times import Delay
from redisson_dq.wire.request import Request

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["PartitionedDelayedQueue"]

T = TypeVar("T")


class PartitionedDelayedQueue(Partitioned[DelayedQueue[T]], DelayedCalls[T]):  # pyright: ignore[reportGeneralTypeIssues]
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
        shares: dict[DelayedQueue[T], list[tuple[T, Delay]]] = {}
        for pair in self._side.collected(values_and_delays):
            shares.setdefault(self._partition_of_pair(pair, key), []).append(pair)
        return await self._offer_shares(shares, context, durable)

    # -- looking -----------------------------------------------------------------------------------------------------

    async def items(self, start: int = 0, stop: int = 99) -> list[DelayedItem[T]]:
        """One page of the items that wait in all partitions, in the order of due times.

        From index ``start`` to ``stop``, both included, of the first 10,000.

        :Cost: O(p (log n + s)), p partitions, s the index ``stop``: each partition may have the whole page. One round
            trip for each node, and for each 1 MB of a partition
        """
        # Refuses indexes that are no page, as each partition is asked from index 0 on.
        self.partitions[0].requests.items(start, stop)
        return await self._page(partial(items_of, stop=stop), start, stop, due_of)

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

    # -- single items ------------------------------------------------------------------------------------------------

    async def cancel(self, id: str, key: str | None = None) -> Outcome:
        """Like :meth:`DelayedQueue.cancel`; finds the item's partition as :meth:`find` does.

        An item's own ``cancel()`` needs no search. All partitions are asked for the fate of an item that does not wait
        any more.

        :Cost: that of :meth:`find` and of the partition's cancel; with ``key`` one round trip
        :Guarantee: atomic; may safely be repeated
        """
        return await self._of_item(id, key, lambda partition: partition.requests.cancel(id))

    async def reschedule(
        self, id: str, delay: Delay | None = None, at: datetime | None = None, *, key: str | None = None
    ) -> Outcome:
        """Like :meth:`DelayedQueue.reschedule`; finds the item's partition as :meth:`find` does.

        :Cost: that of :meth:`find`, and O(log n); with ``key`` one round trip
        :Guarantee: atomic
        """
        return await self._of_item(id, key, lambda partition: partition.requests.reschedule(id, delay, at))

    async def run_now(self, id: str, key: str | None = None) -> Outcome:
        """Makes one waiting item due at once. Otherwise like :meth:`reschedule`.

        :Cost: that of :meth:`find`, and O(log n); with ``key`` one round trip
        :Guarantee: atomic
        """
        return await self.reschedule(id, 0, key=key)

    # -- inside ------------------------------------------------------------------------------------------------------

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

    async def _of_item(
        self, id: str, key: str | None, request_of: Callable[[DelayedQueue[T]], Request[Outcome]]
    ) -> Outcome:
        """Asks the key's partition, or the one where the item waits; else all of them."""
        if key is not None:
            asked: Sequence[DelayedQueue[T]] = [self.partition_for(key)]
        else:
            found = await self._sought(id)
            asked = self.partitions if found is None else [found[0]]
        return most_telling(await self._ask(request_of, asked))

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
