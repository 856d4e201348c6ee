"""Receiving values under a lease, so that none is lost in a receiver's hands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import attrs

from redisson_dq._async.queues.handle import Handle
from redisson_dq._async.queues.lease_calls import LeaseCalls
from redisson_dq._async.queues.leaser import Leaser
from redisson_dq._async.queues.partitioned import Partitioned
from redisson_dq._async.runtime import Runtime
from redisson_dq.calls.leases import DeadLetter, InFlight, LeaseRequests
from redisson_dq.calls.open_queue import LeaseTerms, OpenQueue
from redisson_dq.errors import ArgumentError
from redisson_dq.items import Redriven

__all__ = ["LeasingQueue", "target_name", "terms_of"]

T = TypeVar("T")
U = TypeVar("U")


class LeasingQueue(LeaseCalls[T], Handle[T], Generic[T]):
    """A queue whose values can be received under a lease."""

    requests: LeaseRequests[T]
    _side: OpenQueue[T]

    def __init__(self, runtime: Runtime, side: OpenQueue[T], requests: LeaseRequests[T], transfer: bool) -> None:
        super().__init__(runtime, side, requests, transfer)
        self._leaser = Leaser(runtime, [side], self._check)

    # -- looking -----------------------------------------------------------------------------------------------------

    async def in_flight(self, start: int = 0, stop: int = 99) -> list[InFlight[T]]:
        """The values that receivers hold, those whose deadline is next first, from index ``start`` to ``stop``.

        :Cost: O(s + k log n), s the first index, k the length of the page; one round trip for 1 MB
        :Guarantee: reads only; each round trip at a moment of its own
        """
        return await self._page(lambda at: self.requests.in_flight_part(at, stop, part=True), start)

    async def in_flight_size(self) -> int:
        """How many values receivers hold.

        :Cost: O(log n); one round trip
        """
        return await self._run(self.requests.in_flight_size())

    # -- dead letters ------------------------------------------------------------------------------------------------

    async def dead_letters(self, start: int = 0, stop: int = 99) -> list[DeadLetter[T]]:
        """The queue's dead letters, oldest first, from index ``start`` to ``stop``.

        They stay until :meth:`redrive` or :meth:`purge_dead`, or until they are taken from the list like from any
        queue.

        :Cost: O(s + k log d), s the first index, k the length of the page, d dead letters; one round trip
        """
        return await self._run(self.requests.dead_letters(start, stop))

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

        :Cost: O(k log d), k moved, d dead letters; O(k d) by ids; one round trip
        :Guarantee: atomic; never sent twice
        """
        done = await self._run(self.requests.redrive(ids, limit, target_name(to, self.name)))
        # A node of a cluster knows only its own subscribers.
        return attrs.evolve(done, clients=None) if self._runtime.connections.is_cluster else done

    async def purge_dead(self, ids: Iterable[str | DeadLetter[T]] | None = None, limit: int | None = None) -> int:
        """Removes dead letters for good, chosen as for :meth:`redrive`; returns how many.

        :Cost: O(k log d), k removed, d dead letters; O(k d) by ids; one round trip
        :Guarantee: atomic
        """
        return await self._run(self.requests.purge_dead(ids, limit))


def terms_of(queue: LeasingQueue[Any]) -> LeaseTerms:
    """The terms of a handle's leases, as they were given."""
    return queue._side.terms


def target_name(to: str | LeasingQueue[Any] | None, name: str) -> str | None:
    """The name of the queue that is given as ``to=``. ``name`` is the queue whose dead letters go there."""
    if isinstance(to, Partitioned):
        raise ArgumentError(
            f"queue {name!r}: {to.name!r} is in partitions, and to= takes one of them: partition_for(key)"
        )
    return to.name if isinstance(to, LeasingQueue) else to
