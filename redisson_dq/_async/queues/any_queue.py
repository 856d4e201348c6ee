"""A queue as one client has it open, whether it is one queue or several partitions."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Generator, Sequence
from typing import Any, Generic, TypeVar

from redisson_dq._async.connecting.asking import outcomes, without_subscribers
from redisson_dq._async.connecting.explaining import walked
from redisson_dq._async.runtime import Runtime
from redisson_dq._concurrency.blocks import AsyncWrongWith
from redisson_dq.calls.inspecting import figures_together, together
from redisson_dq.calls.parts import all_of
from redisson_dq.errors import RedissonDQError
from redisson_dq.inspection import QueueInspection
from redisson_dq.stats import QueueStats
from redisson_dq.wire.request import Request

__all__ = ["AnyQueue"]

U = TypeVar("U")
V = TypeVar("V")
#: The handle of each part: of the queue itself, or of a partition.
Part = TypeVar("Part", bound="AnyQueue[Any]")
Self = TypeVar("Self", bound="AnyQueue[Any]")


class AnyQueue(AsyncWrongWith, Generic[Part]):
    """The calls that a queue and a queue in partitions have in common."""

    _runtime: Runtime
    requests: Any

    @property
    def name(self) -> str:
        raise NotImplementedError

    async def stats(self) -> QueueStats:
        """The figures of the queue, both its sides: how much is where, how late it is, who moves it.

        They are those of :meth:`inspect` that are fast, however much is in the queue. Ask for them each second.
        ``client.stats(*names)`` asks for many queues at once.

        >>> await queue.add("order-42")
        True
        >>> figures = await queue.stats()
        >>> figures.ready, figures.overdue
        (1, 0)

        :Cost: O(log n), and the size of two entries at most. One round trip, with partitions one for each node
        :Guarantee: reads only, all keys at one moment; each partition at a moment of its own
        """
        found = await self._ask(lambda part: part.requests.stats())
        return without_subscribers(figures_together(self.name, found), self._runtime.connections)

    async def inspect(self) -> QueueInspection:
        """All about the queue, both its sides: how much is where, what comes next, who moves it, which key is wrong.

        A key of another type is reported, and nothing fails. Of a queue in partitions also all about each of them.
        ``client.inspect(name)`` needs no handle.

        >>> found = await queue.inspect()
        >>> found.waiting, found.is_paused
        (0, False)

        :Cost: O(log n), and the size of the first entry, of two of the list and of the first ready value. One round
            trip, with partitions one for each node
        :Guarantee: reads only, all keys at one moment; each partition at a moment of its own
        """
        found = await self._ask(lambda part: part.requests.inspect())
        return together(self.name, [without_subscribers(each, self._runtime.connections) for each in found])

    async def clear(self) -> None:
        """Removes every value for good: those that are ready, or that wait. The rest of the queue stays.

        So do a pause, the largest size and recurring offers.

        :Redisson: ``RQueue.clear()``, ``RDelayedQueue.clear()``
        :Cost: O(n); one round trip, with partitions one for each node
        :Guarantee: atomic in each partition; may safely be repeated
        """
        await self._ask(lambda part: part.requests.clear())

    async def destroy(self) -> None:
        raise NotImplementedError

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.destroy()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        """Raises ClosedError for a handle that was destroyed."""
        raise NotImplementedError

    def _begin_taking(self) -> None:
        """Values are taken from here on, so the client moves the queue's due items."""
        raise NotImplementedError

    @property
    def _parts(self) -> Sequence[Part]:
        """The queue itself, or its partitions."""
        raise NotImplementedError

    async def _run_on(self, part: Part, request: Request[U]) -> U:
        part._check()
        return await self._runtime.connections.run(request)

    async def _walk_on(self, part: Part, walk: Generator[Request[U], U, V]) -> V:
        """Sends the requests of a walk to a part, one after the other; gives its result."""
        return await walked(self._runtime.connections, walk, part._check)

    async def _ask(self, request_of: Callable[[Part], Request[U]], parts: Sequence[Part] | None = None) -> list[U]:
        """Asks every part, or some, the same. Raises an error when all have answered, as :func:`all_of`."""
        asked = self._parts if parts is None else parts
        found = await self._outcomes([(part, request_of(part)) for part in asked])
        return all_of(found)

    async def _page(
        self,
        part_of: Callable[[Part, int], Request[tuple[list[U], int | None]]],
        start: int,
        stop: int,
        key: Callable[[U], Any],
        parts: Sequence[Part] | None = None,
    ) -> list[U]:
        """One page of all parts, or of some, in the order of ``key``.

        ``part_of`` asks for the beginning of a page from an index on, and gives the index of the rest too.
        """
        asked = self._parts if parts is None else parts
        is_whole = asked[0] is self
        # Of several the page may be in one, so each is asked from index 0 on.
        at = dict.fromkeys(asked, start if is_whole else 0)
        found: dict[Part, list[U]] = {part: [] for part in asked}
        while at:
            answers = await self._ask(lambda part: part_of(part, at[part]), list(at))
            for part, (some, following) in zip(list(at), answers, strict=True):
                found[part] += some
                if following is None:
                    del at[part]
                else:
                    at[part] = following
        merged = heapq.merge(*found.values(), key=key)
        return found[asked[0]] if is_whole else list(itertools.islice(merged, start, stop + 1))

    async def _outcomes(self, asked: list[tuple[Part, Request[U]]]) -> list[U | RedissonDQError]:
        """Results, or the errors in their place. One round trip for each node."""
        for part, _ in asked:
            part._check()
        return await outcomes(self._runtime.connections, [request for _, request in asked])
