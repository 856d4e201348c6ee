"""A queue that is split into ordinary queues, its partitions, which a cluster spreads over its masters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from redisson_dq._async.connecting.asking import without_subscribers
from redisson_dq._async.queues.handle import Handle
from redisson_dq._async.runtime import Runtime
from redisson_dq._concurrency import async_finish
from redisson_dq._concurrency.blocks import AsyncWrongWith
from redisson_dq.calls.inspecting import figures_together, together
from redisson_dq.calls.parts import all_of
from redisson_dq.calls.routing import Routing
from redisson_dq.codecs.base import Codec
from redisson_dq.errors import RedissonDQError
from redisson_dq.inspection import QueueInspection
from redisson_dq.stats import QueueStats
from redisson_dq.wire.request import Request

__all__ = ["Partitioned"]

U = TypeVar("U")
AnyHandle = TypeVar("AnyHandle", bound=Handle[Any])
Self = TypeVar("Self", bound="Partitioned[Any]")


class Partitioned(AsyncWrongWith, Generic[AnyHandle]):
    """The partitions of one queue, opened together."""

    def __init__(self, runtime: Runtime, name: str, partitions: tuple[AnyHandle, ...], routing: Routing) -> None:
        self._runtime = runtime
        self._name = name
        self._partitions = partitions
        self._routing = routing

    @property
    def name(self) -> str:
        """The name as it was given: that of the whole, which no key has.

        :Cost: none
        """
        return self._name

    @property
    def codec(self) -> Codec:
        """The codec, which turns values into bytes.

        :Cost: none
        """
        return self._partitions[0].codec

    @property
    def partitions(self) -> tuple[AnyHandle, ...]:
        """The ordinary handles of the partitions, for every call that has no meaning over all of them.

        :Cost: none
        """
        return self._partitions

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r}, partitions={len(self._partitions)}, {self.codec!r})"

    def partition_for(self, key: str) -> AnyHandle:
        """The handle of the partition that a key (or an id) goes to: CRC32 of its UTF-8 bytes modulo their number.

        Raises ArgumentError for anything but a text.

        :Cost: none
        :Guarantee: the same in every process that has as many partitions
        """
        return self._partitions[self._routing.of_key(key)]

    async def size(self) -> int:
        """How many values there are in all partitions.

        :Cost: O(p), p partitions; one round trip for each node
        """
        return sum(await self._sizes())

    async def is_empty(self) -> bool:
        """Whether all partitions are empty.

        :Cost: O(p), p partitions; one round trip for each node
        """
        return not await self.size()

    async def stats(self) -> QueueStats:
        """The figures of all partitions together. Otherwise like the partitions' own ``stats()``.

        :Cost: O(p log n), p partitions; one round trip for each node
        """
        found = await self._ask(lambda partition: partition.requests.stats())
        return without_subscribers(figures_together(self._name, found), self._runtime.connections)

    async def inspect(self) -> QueueInspection:
        """All about the partitions together, and about each of them in ``partitions``.

        Otherwise like the partitions' own ``inspect()``.

        :Cost: O(p log n), p partitions; one round trip for each node
        """
        found = await self._ask(lambda partition: partition.requests.inspect())
        return together(self._name, [without_subscribers(each, self._runtime.connections) for each in found])

    async def start_moving(self) -> None:
        """Moves the due items of all partitions from now on. Otherwise like the partitions' own ``start_moving()``.

        :Cost: none; in the background one subscription, and one transfer for each partition
        :Guarantee: may safely be repeated
        """
        for partition in self._partitions:
            await partition.start_moving()

    async def destroy(self) -> None:
        """Closes the handles of all partitions; the data stays. May be called twice.

        Otherwise like the partitions' own ``destroy()``.

        :Cost: none; one round trip for each blocked pop that has to end
        :Guarantee: no data changes
        """
        # So a caller that is cancelled leaves no handle open.
        await async_finish(self._destroy_all())

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.destroy()

    # -- inside ------------------------------------------------------------------------------------------------------

    async def _destroy_all(self) -> None:
        for partition in self._partitions:
            await partition.destroy()

    def _check(self) -> None:
        for partition in self._partitions:
            partition._check()

    def _begin_taking(self) -> None:
        """Values come from any partition, so the client moves the due items of all of them."""
        for partition in self._partitions:
            partition._begin_taking()

    async def _sizes(self) -> list[int]:
        raise NotImplementedError

    async def _ask(
        self, request_of: Callable[[AnyHandle], Request[U]], partitions: Sequence[AnyHandle] | None = None
    ) -> list[U]:
        """Asks every partition, or some, the same. Raises an error when all have answered, as :func:`all_of`."""
        asked = self._partitions if partitions is None else partitions
        outcomes = await self._outcomes([(partition, request_of(partition)) for partition in asked])
        return all_of(outcomes)

    async def _pages(self, part_of: Callable[[AnyHandle, int], Request[tuple[list[U], int | None]]]) -> list[list[U]]:
        """A page of each partition, from index 0 on, in as many parts as it takes, as :meth:`Handle._page`."""
        found: dict[AnyHandle, list[U]] = {partition: [] for partition in self._partitions}
        at = dict.fromkeys(self._partitions, 0)
        while at:
            parts = await self._ask(lambda partition: part_of(partition, at[partition]), list(at))
            for partition, (part, following) in zip(list(at), parts, strict=True):
                found[partition] += part
                if following is None:
                    del at[partition]
                else:
                    at[partition] = following
        return list(found.values())

    async def _outcomes(self, asked: list[tuple[AnyHandle, Request[U]]]) -> list[U | RedissonDQError]:
        """Results, or the errors in their place. One round trip for each node."""
        for partition, _ in asked:
            partition._check()
        return await self._runtime.connections.run_many([request for _, request in asked], transaction=False)
