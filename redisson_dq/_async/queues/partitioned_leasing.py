"""Receiving values of a queue in partitions under a lease, and its dead letters."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from typing import Generic, TypeVar

from redisson_dq._async.queues.blocking import BlockingQueue
from redisson_dq._async.queues.lease_calls import LeaseCalls
from redisson_dq._async.queues.leaser import Leaser
from redisson_dq._async.queues.leasing import LeasingQueue, target_name
from redisson_dq._async.queues.partitioned import Partitioned
from redisson_dq._async.runtime import Runtime
from redisson_dq.calls.checks import check_count
from redisson_dq.calls.leases import DeadLetter, InFlight
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.routing import Routing
from redisson_dq.items import Redriven

__all__ = ["PartitionedLeasingQueue"]

T = TypeVar("T")

# Dead letters that another program put into the list come first, as their times are unknown.
_LONG_AGO = datetime.min.replace(tzinfo=timezone.utc)
# How many dead letters are moved or removed at most where a limit is given.
_MOST = 1000


class PartitionedLeasingQueue(LeaseCalls[T], Partitioned[BlockingQueue[T]], Generic[T]):
    """A queue in partitions whose values can be received under a lease."""

    def __init__(
        self,
        runtime: Runtime,
        name: str,
        partitions: tuple[BlockingQueue[T], ...],
        sides: Sequence[OpenQueue[T]],
        routing: Routing,
    ) -> None:
        """``sides`` are those of the partitions."""
        super().__init__(runtime, name, partitions, routing)
        self._sides = sides
        self._leaser = Leaser(runtime, sides, self._check, name)

    # -- looking -----------------------------------------------------------------------------------------------------

    async def in_flight(self, start: int = 0, stop: int = 99) -> list[InFlight[T]]:
        """The values that receivers hold in all partitions, the nearest deadlines first.

        From index ``start`` to ``stop``, both included, of the first 1,000.

        :Cost: O(p (log n + s)), p partitions, s the index ``stop``; one round trip for each node, and for
            each 1 MB of a partition
        """
        # Refuses indexes that are no page. Each partition is asked from index 0 on, as the page may be in one
        # partition.
        self.partitions[0].requests.in_flight(start, stop)
        pages = await self._pages(lambda partition, at: partition.requests.in_flight_part(at, stop, part=True))
        return list(itertools.islice(heapq.merge(*pages, key=lambda held: held.deadline), start, stop + 1))

    async def in_flight_size(self) -> int:
        """How many values receivers hold, in all partitions.

        :Cost: O(p log n), p partitions; one round trip for each node
        """
        return sum(await self._ask(lambda partition: partition.requests.in_flight_size()))

    # -- dead letters ------------------------------------------------------------------------------------------------

    async def dead_letters(self, start: int = 0, stop: int = 99) -> list[DeadLetter[T]]:
        """The dead letters of all partitions, oldest first: from index ``start`` to ``stop`` of the first 1,000.

        :Cost: O(p (s + k log d)), p partitions, s the index ``stop``, d dead letters; one round trip for each node
        """
        self.partitions[0].requests.dead_letters(start, stop)
        pages = await self._ask(lambda partition: partition.requests.dead_letters(0, stop), self._with_dead_letters)
        return list(itertools.islice(heapq.merge(*pages, key=lambda letter: letter.died or _LONG_AGO), start, stop + 1))

    async def redrive(
        self,
        ids: Iterable[str | DeadLetter[T]] | None = None,
        limit: int | None = None,
        to: str | LeasingQueue[T] | None = None,
    ) -> Redriven:
        """Makes dead letters ready again, each in its partition. Otherwise like :meth:`BlockingQueue.redrive`.

        With ``limit`` only dead letters with an id are moved. ``clients`` is that of the partition that the fewest have
        open. With ``to`` all go to that queue. With ``dead_letter=`` the partitions have one list of letters. Only
        letters that came from the partitions are moved then. Ids are looked for among the first 1,000 letters.

        :Cost: O(k log d), k moved, d dead letters. By ids or with ``limit`` O(k d). One round trip for each node, or
            two with ``limit`` or ``dead_letter=``
        :Guarantee: atomic in each partition; never sent twice
        """
        target = target_name(to, self.name)
        lists = self._with_dead_letters
        if target is None and len(lists) < len(self.partitions):
            homes = await self._homes(ids, limit)
            done = await self._ask(lambda partition: partition.requests.redrive(homes[partition.keys.ready]))
            left = min(each.left for each in done)
        else:
            chosen = await self._chosen(ids, limit)
            done = await self._ask(lambda partition: partition.requests.redrive(chosen, to=target), lists)
            left = sum(each.left for each in done)
        clients = [each.clients for each in done if each.clients is not None]
        return Redriven(
            count=sum(each.count for each in done),
            left=left,
            clients=min(clients) if len(clients) == len(done) and not self._runtime.connections.is_cluster else None,
        )

    async def purge_dead(self, ids: Iterable[str | DeadLetter[T]] | None = None, limit: int | None = None) -> int:
        """Removes dead letters of all partitions for good; returns how many. Chosen as for :meth:`redrive`.

        :Cost: O(k log d), k removed, d dead letters. By ids or with ``limit`` O(k d). One round trip for each node, or
            two with ``limit``
        :Guarantee: atomic in each partition
        """
        chosen = await self._chosen(ids, limit)
        return sum(await self._ask(lambda partition: partition.requests.purge_dead(chosen), self._with_dead_letters))

    # -- inside ------------------------------------------------------------------------------------------------------

    @property
    def _with_dead_letters(self) -> list[BlockingQueue[T]]:
        """One partition for each list of dead letters."""
        return list(
            {
                side.dead_keys.dead: partition for side, partition in zip(self._sides, self.partitions, strict=True)
            }.values()
        )

    async def _homes(
        self, ids: Iterable[str | DeadLetter[T]] | None, limit: int | None
    ) -> dict[str, list[DeadLetter[T]]]:
        """Which dead letters of the one list go to which partition, by its key."""
        chosen = None if ids is None else self._sides[0].collected(ids, "ids")
        named = chosen and {each.id if isinstance(each, DeadLetter) else each for each in chosen}
        homes: dict[str, list[DeadLetter[T]]] = {partition.keys.ready: [] for partition in self.partitions}
        found = [each for each in await self.dead_letters(0, _MOST - 1) if each.source in homes]
        wanted = found if named is None else [each for each in found if each.id in named]
        for letter in wanted[: _MOST if limit is None else check_count(limit, self.name)]:
            homes[letter.source].append(letter)
        return homes

    async def _chosen(
        self, ids: Iterable[str | DeadLetter[T]] | None, limit: int | None
    ) -> Sequence[str | DeadLetter[T]] | None:
        """The dead letters that a call means, no more than ``limit``. None for all."""
        chosen = None if ids is None else self._sides[0].collected(ids, "ids")
        if limit is None:
            return chosen
        most = min(check_count(limit, self.name), _MOST)
        return (await self.dead_letters(0, most - 1) if chosen is None else chosen)[:most]
