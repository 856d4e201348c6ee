"""Receiving values under a lease, so that none is lost in a receiver's hands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from typing import Any, Generic, TypeVar

from redisson_dq._async.connecting.asking import without_subscribers
from redisson_dq._async.queues.any_queue import AnyQueue
from redisson_dq._async.queues.handle import Handle
from redisson_dq._async.queues.lease_calls import LeaseCalls
from redisson_dq._async.queues.leaser import Leaser
from redisson_dq._async.queues.partitioned import Partitioned
from redisson_dq._async.runtime import Runtime
from redisson_dq.calls.leases import DeadLetter, InFlight, LeaseRequests
from redisson_dq.calls.open_queue import LeaseTerms, OpenQueue
from redisson_dq.errors import ArgumentError
from redisson_dq.items import Redriven

__all__ = ["Leasing", "LeasingQueue", "terms_of"]

T = TypeVar("T")

# Dead letters that another program put into the list come first, as their times are unknown.
_LONG_AGO = datetime.min.replace(tzinfo=timezone.utc)


class _LeasingPart(Handle[T]):
    """A queue, or one partition."""

    requests: LeaseRequests[T]
    _side: OpenQueue[T]


class Leasing(LeaseCalls[T], AnyQueue[_LeasingPart[T]]):
    """The calls about leases of a queue, or of one in partitions, and about its dead letters."""

    # -- looking -----------------------------------------------------------------------------------------------------

    async def in_flight(self, start: int = 0, stop: int = 99) -> list[InFlight[T]]:
        """The values that receivers hold, those whose deadline is next first, from index ``start`` to ``stop``.

        With partitions, of the first 1,000.

        :Cost: O(s + k log n), s the first index, k the length of the page; one round trip for 1 MB. With partitions
            that of the whole page in each, and one round trip for each node and each 1 MB of a partition
        :Guarantee: reads only; each round trip at a moment of its own
        """
        # Refuses indexes that are no page, as partitions are asked from index 0 on.
        self._parts[0].requests.in_flight(start, stop)
        return await self._page(
            lambda part, at: part.requests.in_flight_part(at, stop, part=True), start, stop, lambda held: held.deadline
        )

    async def in_flight_size(self) -> int:
        """How many values receivers hold.

        :Cost: O(log n); one round trip, with partitions one for each node
        """
        return sum(await self._ask(lambda part: part.requests.in_flight_size()))

    # -- dead letters ------------------------------------------------------------------------------------------------

    async def dead_letters(self, start: int = 0, stop: int = 99) -> list[DeadLetter[T]]:
        """The queue's dead letters, oldest first, from index ``start`` to ``stop``.

        They stay until :meth:`redrive` or :meth:`purge_dead`, or until they are taken from the list like from any
        queue. With partitions the indexes are those of the first 1,000.

        :Cost: O(s + k log d), s the first index, k the length of the page, d dead letters; one round trip. With
            partitions that of the whole page in each, and one round trip for each node
        """
        self._parts[0].requests.dead_letters(start, stop)
        return await self._page(
            lambda part, at: part.requests.dead_letters(at, stop).then(lambda found: (found, None)),
            *(start, stop, lambda letter: letter.died or _LONG_AGO, self._with_dead_letters),
        )

    async def redrive(
        self,
        ids: Iterable[str | DeadLetter[T]] | None = None,
        limit: int | None = None,
        to: str | LeasingQueue[T] | None = None,
    ) -> Redriven:
        """Makes dead letters ready again, as attempt 1: in this queue, or in another one.

        ``ids`` chooses some of :meth:`dead_letters`; else they are the oldest. No more than ``limit`` are moved, and
        1,000 without it. Returns how many were moved, how many are left, and how many clients have the queue open. On a
        cluster the number of clients is unknown.

        ``to`` is the other queue or its name, which is the name of one list. No list has the name of a queue in
        partitions, so ``to`` is one of its partitions there. On a cluster the other queue needs the same hash tag.
        Raises CrossSlotError.

        With partitions each goes to its own one. ``clients`` is that of the partition that the fewest have open. With
        ``limit`` only letters with an id are moved. With ``dead_letter=`` the partitions have one list; only letters
        that came from them are moved then. Ids are looked for among the first 1,000 letters.

        :Cost: O(k log d), k moved, d dead letters; O(k d) by ids; one round trip. With partitions one for each node, or
            two with ``limit`` or ``dead_letter=``
        :Guarantee: atomic in each partition; never sent twice
        """
        if isinstance(to, Partitioned):
            raise ArgumentError(
                f"queue {self.name!r}: {to.name!r} is in partitions, and to= takes one of them: partition_for(key)"
            )
        return await self._redriven(ids, limit, to.name if isinstance(to, LeasingQueue) else to)

    async def purge_dead(self, ids: Iterable[str | DeadLetter[T]] | None = None, limit: int | None = None) -> int:
        """Removes dead letters for good, chosen as for :meth:`redrive`; returns how many.

        :Cost: O(k log d), k removed, d dead letters; O(k d) by ids; one round trip. With partitions one for each node,
            or two with ``limit``
        :Guarantee: atomic in each partition
        """
        chosen = await self._chosen(ids, limit)
        return sum(await self._ask(lambda part: part.requests.purge_dead(*chosen), self._with_dead_letters))

    # -- inside ------------------------------------------------------------------------------------------------------

    @property
    def _with_dead_letters(self) -> Sequence[_LeasingPart[T]]:
        """One part for each list of dead letters."""
        return self._parts

    async def _chosen(
        self, ids: Iterable[str | DeadLetter[T]] | None, limit: int | None
    ) -> tuple[Iterable[str | DeadLetter[T]] | None, int | None]:
        """The arguments by which each part knows the dead letters that a call means."""
        return ids, limit

    async def _redriven(self, ids: Iterable[str | DeadLetter[T]] | None, limit: int | None, to: str | None) -> Redriven:
        raise NotImplementedError


class LeasingQueue(Leasing[T], _LeasingPart[T], Generic[T]):
    """A queue whose values can be received under a lease."""

    def __init__(self, runtime: Runtime, side: OpenQueue[T], requests: LeaseRequests[T], transfer: bool) -> None:
        super().__init__(runtime, side, requests, transfer)
        self._leaser = Leaser(runtime, [side], self._check)

    async def _redriven(self, ids: Iterable[str | DeadLetter[T]] | None, limit: int | None, to: str | None) -> Redriven:
        return without_subscribers(await self._run(self.requests.redrive(ids, limit, to)), self._runtime.connections)


def terms_of(queue: LeasingQueue[Any]) -> LeaseTerms:
    """The terms of a handle's leases, as they were given."""
    return queue._side.terms
