"""Taking values that wait by their due times."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import TypeVar, overload

from redisson_dq._async.leases.delivery import Delivery, lease_of
from redisson_dq._async.queues.leaser import Leaser
from redisson_dq._async.queues.waiting import WaitingQueue
from redisson_dq._concurrency import async_finish_or_undo
from redisson_dq.calls.due import due_range, taken_due, tell_undelivered
from redisson_dq.calls.recurring import following
from redisson_dq.errors import RedissonDQError
from redisson_dq.scheduling.times import Delay
from redisson_dq.wire.calls import Due, DueRange

__all__ = ["DueTaking"]

logger = logging.getLogger("redisson_dq")

# For this many seconds a call that leases is sent again when its reply was lost.
_SENT_AGAIN = 2.0

T = TypeVar("T")


class DueTaking(WaitingQueue[T]):
    """The calls that take, or lease, values out of the waiting side."""

    _leaser: Leaser[T]

    @overload
    async def take_due(
        self,
        until: datetime | None = None,
        since: datetime | None = None,
        offset: int = 0,
        limit: int = 100,
        *,
        visibility_timeout: None = None,
    ) -> list[T]: ...

    @overload
    async def take_due(
        self,
        until: datetime | None = None,
        since: datetime | None = None,
        offset: int = 0,
        limit: int = 100,
        *,
        visibility_timeout: Delay,
    ) -> list[Delivery[T]]: ...

    async def take_due(
        self,
        until: datetime | None = None,
        since: datetime | None = None,
        offset: int = 0,
        limit: int = 100,
        *,
        visibility_timeout: Delay | None = None,
    ) -> list[T] | list[Delivery[T]]:
        """Takes the values that are due, in the order of their due times. For queues that nobody moves.

        - ``until``: takes items that are due by then, an aware datetime; else now
        - ``since``: takes items that are due from then on
        - ``offset``: how many of them to skip
        - ``limit``: at most this many, and at most 1,000
        - ``visibility_timeout``: leases the values for this long (seconds or a timedelta), and gives deliveries

        >>> await delayed.offer_all([("later", 20), ("sooner", 10)])
        2
        >>> first = await delayed.next_due()
        >>> await delayed.take_due(), await delayed.take_due(until=first)
        ([], ['sooner'])

        One call takes 1 MB at most, or one value. More: ``docs/queues.md#taking-what-is-due``.

        :Cost: O(k log n), k taken, of lean items and in the order of offers; else O(k log n + n); one round trip
        :Guarantee: atomic, at most once; leased at least once, and a lost reply gives the same deliveries again
        """
        wanted = due_range(self._side, until, since, offset, limit)
        if visibility_timeout is not None:
            return await self._lease_due(wanted, visibility_timeout)
        told: list[Due] = []
        values = await self._run_taking(taken_due(self._side, wanted, told.append), "take_due", many=True)
        await self._go_on(told)
        return values

    async def _lease_due(self, wanted: DueRange, visibility_timeout: Delay) -> list[Delivery[T]]:
        self._begin_taking()
        with self._runtime.operations.receiving("take_due", self.name, count=0) as receipt:
            source = self._side.lease_source(visibility_timeout)
            request = self._side.told_if_long(source.lease_due(wanted, self._side.options.remember_ms), "take_due()")
            due = await async_finish_or_undo(
                self._leaser.run_again(request, source.visible, _SENT_AGAIN),
                lambda due: self._leaser.hand_back(source, list(due.leased)),
            )
            tell_undelivered(self._side.options.observers, self.name, self.keys, due.set_aside, due.expired)
            await self._go_on([due])
            deliveries = await self._leaser.opened([source], due.leased)
            receipt.took(len(deliveries), leases=map(lease_of, deliveries))
            return deliveries

    async def _go_on(self, told: list[Due]) -> None:
        """Offers the next occurrences of recurring offers. Taken values are returned also when these offers fail."""
        for due in told:
            for come in due.recurring:
                try:
                    request = following(self._side.options, self.name, self.keys, come, due.now_us)
                    if request is not None:
                        await self._runtime.connections.run(request)
                except RedissonDQError as error:
                    logger.warning(
                        "queue %r: the recurring offer %r goes on with a later call: %s", self.name, come[0], error
                    )
