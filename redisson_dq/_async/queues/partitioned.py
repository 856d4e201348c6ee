"""A queue that is split into ordinary queues, its partitions, which a cluster spreads over its masters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from redisson_dq._async.queues.any_queue import AnyQueue
from redisson_dq._async.queues.collected import CollectedQueue
from redisson_dq._async.runtime import Runtime
from redisson_dq._concurrency import async_finish
from redisson_dq.calls.parts import Routing
from redisson_dq.codecs.base import Codec

__all__ = ["Partitioned"]

U = TypeVar("U")
AnyHandle = TypeVar("AnyHandle", bound=CollectedQueue[Any])


class Partitioned(AnyQueue[AnyHandle], Generic[AnyHandle]):
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
        return sum(await self._ask(lambda partition: partition.requests.size()))

    async def is_empty(self) -> bool:
        """Whether all partitions are empty.

        :Cost: O(p), p partitions; one round trip for each node
        """
        return not await self.size()

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

    # -- inside ------------------------------------------------------------------------------------------------------

    async def _destroy_all(self) -> None:
        for partition in self._partitions:
            await partition.destroy()

    def _check(self) -> None:
        for partition in self._partitions:
            partition._check()

    def _begin_taking(self) -> None:
        for partition in self._partitions:
            partition._begin_taking()

    @property
    def _parts(self) -> Sequence[AnyHandle]:
        return self._partitions
