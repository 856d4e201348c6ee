"""Which partition a call of a queue in partitions goes to, and the calls, each as a request to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from zlib import crc32

from redisson_dq._common.signatures import with_options_of
from redisson_dq.calls.delayed import DelayedRequests
from redisson_dq.calls.items import WaitingItem, checked_id
from redisson_dq.calls.offers import OfferOptions
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.parts import Routing
from redisson_dq.calls.ready import QueueRequests
from redisson_dq.calls.whole import WholeRequests
from redisson_dq.errors import ArgumentError
from redisson_dq.items import Outcome, entry_id
from redisson_dq.scheduling.times import Delay
from redisson_dq.wire.request import Request

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "DelayedRouting",
    "PartitionedDelayedRequests",
    "PartitionedQueueRequests",
    "most_telling",
    "shares_of",
]

T = TypeVar("T")
AnyRequests = TypeVar("AnyRequests", bound=WholeRequests[Any])


class DelayedRouting(Routing, Generic[T]):
    """The partitions of one queue for offers, and for items by their ids."""

    def __init__(self, partitions: int, side: OpenQueue[T]) -> None:
        """``side`` is that of any partition."""
        super().__init__(partitions)
        self._side = side

    def of_id(self, id: str) -> int:
        """The partition of an id of the caller's, unless the item was offered under a key. Raises ArgumentError."""
        return self.of_key(checked_id(self._side, id))

    def of_offer(self, value: T, key: str | None, id: str | None, *, by_payload: bool) -> int:
        """The partition of the key, else of the id, else where equal values meet, else the next."""
        if key is not None:
            return self.of_key(key)
        if id is not None:
            return self.of_id(id)
        return crc32(self._side.encode_to_compare(value)) % self.partitions if by_payload else self.next()


class _PartitionedRequests(Generic[AnyRequests]):
    def __init__(self, partitions: Sequence[AnyRequests], routing: Routing) -> None:
        self._partitions = partitions
        self._routing = routing

    def partition_for(self, key: str) -> AnyRequests:
        """The requests of the partition that a key (or an id) goes to, for every other call."""
        return self._partitions[self._routing.of_key(key)]


class PartitionedQueueRequests(_PartitionedRequests[QueueRequests[T]], Generic[T]):
    """The ready side of a queue in partitions. Each method gives a request to one partition; nothing is sent."""

    def add(self, value: T, key: str | None = None) -> Request[bool]:
        return self._partitions[self._routing.of_key_or_next(key)].add(value)

    def offer(self, value: T, key: str | None = None) -> Request[bool]:
        return self.add(value, key)


class PartitionedDelayedRequests(_PartitionedRequests[DelayedRequests[T]], Generic[T]):
    """The delayed side of a queue in partitions. Each method gives a request to one partition; nothing is sent.

    The partition is that of ``key``, or without a key that of the id. An item that was offered under a key needs that
    key.
    """

    _routing: DelayedRouting[T]

    def __init__(self, partitions: Sequence[DelayedRequests[T]], routing: DelayedRouting[T], name: str) -> None:
        super().__init__(partitions, routing)
        self._name = name

    @with_options_of(DelayedRequests.offer)
    def offer(
        self,
        value: T,
        delay: Delay | None = None,
        at: datetime | None = None,
        *,
        key: str | None = None,
        **options: Unpack[OfferOptions],
    ) -> Request[WaitingItem[T]]:
        by_payload = options.get("deduplicate_for") is not None
        place = self._routing.of_offer(value, key, options.get("id"), by_payload=by_payload)
        return self._partitions[place].offer(value, delay, at, **options)

    def cancel(self, id: str, key: str | None = None) -> Request[Outcome]:
        return self._partition_with(id, key).cancel(id)

    def reschedule(
        self, id: str, delay: Delay | None = None, at: datetime | None = None, *, key: str | None = None
    ) -> Request[Outcome]:
        return self._partition_with(id, key).reschedule(id, delay, at)

    def find(self, id: str, key: str | None = None) -> Request[WaitingItem[T] | None]:
        return self._partition_with(id, key).find(id)

    def _partition_with(self, id: str, key: str | None) -> DelayedRequests[T]:
        if key is not None:
            return self._partitions[self._routing.of_key(key)]
        place = self._routing.of_id(id)
        if entry_id(id) is not None:
            raise ArgumentError(
                f"queue {self._name!r}: the id {id!r} was generated and does not name its partition; pass key=, or "
                "call the queue itself, which asks all partitions"
            )
        return self._partitions[place]


def shares_of(sizes: Sequence[int], limit: int) -> list[int]:
    """How many to take of each.

    The shares add up to the limit if there are this many values. They are as even as possible.
    """
    shares = [0] * len(sizes)
    while limit and (more := [i for i, size in enumerate(sizes) if shares[i] < size]):
        level = max(1, limit // len(more))
        for i in more:
            share = min(sizes[i] - shares[i], level, limit)
            shares[i] += share
            limit -= share
    return shares


def most_telling(outcomes: list[Outcome]) -> Outcome:
    """The outcome that all partitions together know of an item."""
    # DELIVERED comes last. Any partition concludes it from an id that was made, as such an id holds the due time.
    telling = (Outcome.CANCELLED, Outcome.RESCHEDULED, Outcome.EXPIRED, Outcome.DELIVERED)
    return next((outcome for outcome in telling if outcome in outcomes), Outcome.UNKNOWN)
