"""The calls that receive values under a lease and end their leases, of a queue and of one in partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar, overload

from redisson_dq._async.leases.delivery import Delivery, is_of, lease_of
from redisson_dq._async.queues.leaser import Leaser, Receiving
from redisson_dq._async.runtime import Runtime
from redisson_dq._common.signatures import with_options_of
from redisson_dq._common.texts import shown
from redisson_dq._concurrency import AsyncCallback
from redisson_dq.calls.lease import Lease, batches_of, settled_all
from redisson_dq.calls.parts import all_of
from redisson_dq.calls.settling import Settling
from redisson_dq.durability import Durability
from redisson_dq.errors import ArgumentError
from redisson_dq.items import SettleOutcome
from redisson_dq.observing.operations import OperationKind
from redisson_dq.scheduling.times import Delay
from redisson_dq.wire.request import Request

__all__ = ["LeaseCalls"]

T = TypeVar("T")
U = TypeVar("U")

if TYPE_CHECKING:
    # Type checkers know this module even when it is not installed.
    from typing_extensions import TypedDict, Unpack

    class ReceiveOptions(TypedDict, Generic[T], total=False):
        """How ``receive`` leases. Their defaults are in :class:`Receiving`."""

        visibility_timeout: Delay
        renew: bool
        on_lost: AsyncCallback[Delivery[T]] | None


class LeaseCalls(Generic[T]):
    """A handle, of one queue or of its partitions, whose values can be received under a lease."""

    _runtime: Runtime
    _leaser: Leaser[T]

    # -- receiving ---------------------------------------------------------------------------------------------------

    @overload
    async def receive(self, **options: Unpack[ReceiveOptions[T]]) -> Delivery[T]: ...

    @overload
    async def receive(self, *, timeout: Delay | None, **options: Unpack[ReceiveOptions[T]]) -> Delivery[T] | None: ...

    @overload
    async def receive(
        self, limit: int, *, timeout: Delay | None = None, **options: Unpack[ReceiveOptions[T]]
    ) -> list[Delivery[T]]: ...

    @with_options_of(Receiving)
    async def receive(
        self, limit: int | None = None, *, timeout: Delay | None = None, **options: Unpack[ReceiveOptions[T]]
    ) -> Delivery[T] | list[Delivery[T]] | None:
        """Waits for the next value and leases it: it is delivered again unless it is acked in time.

        - ``limit``: gives a list of up to N deliveries, at most 1,000 or 1 MB, once any value is ready
        - ``timeout``: seconds or a timedelta (0: at once); then None, or an empty list
        - ``visibility_timeout``: how long the lease runs: seconds or a timedelta
        - ``renew``: extends the lease until the delivery is ended
        - ``on_lost``: called with the delivery when a renewal fails

        >>> await queue.add("order-42")
        True
        >>> delivery = await queue.receive(timeout=5)
        >>> delivery.value, delivery.attempt
        ('order-42', 1)
        >>> await delivery.ack()
        <SettleOutcome.ACKED: 'acked'>

        Raises DecodeError, with other deliveries in ``decoded``. More: docs/delivery.md.

        :Cost: O(k log n), k received; one round trip when something is ready, else one more and one blocking command.
            Of partitions like ``take()``; with ``timeout=0`` one round trip for each
        :Guarantee: at least once; a lost reply gives the same deliveries again
        """
        # Python checks for signals after a call with ``**``. Values that are received must not be in hand there.
        how = Receiving(**options)
        return await self._leaser.receive(limit, timeout, how)

    async def ack_all(
        self, deliveries: Iterable[Delivery[T]], *, durable: Durability | None = None
    ) -> list[SettleOutcome]:
        """Ends the leases of many deliveries: their values are done. Returns one outcome for each, in their order.

        :Cost: O(k log n), k deliveries; one round trip, with partitions one for each node
        :Guarantee: atomic for each 1,000 of one queue or partition; never sent twice
        """
        return await self._settle_all("ack_all", deliveries, lambda settling, ids: settling.ack(ids), durable)

    async def nack_all(
        self,
        deliveries: Iterable[Delivery[T]],
        delay: Delay | None = None,
        count: bool = True,
        reason: str | None = None,
        *,
        durable: Durability | None = None,
    ) -> list[SettleOutcome]:
        """Gives the values of many deliveries back, like :meth:`Delivery.nack`. One outcome for each, in their order.

        :Cost: O(k log n), k deliveries; one round trip, with partitions one for each node
        :Guarantee: atomic for each 1,000 of one queue or partition; never sent twice
        """
        return await self._settle_all(
            "nack_all",
            deliveries,
            lambda settling, ids: settling.nack(ids, delay, count, reason),
            durable,
            to_head=count is False,
        )

    async def reject_all(
        self, deliveries: Iterable[Delivery[T]], reason: str | None = None, *, durable: Durability | None = None
    ) -> list[SettleOutcome]:
        """Puts the values of many deliveries into the dead-letter list. One outcome for each, in their order.

        :Cost: O(k log n), k deliveries; one round trip, with partitions one for each node
        :Guarantee: atomic for each 1,000 of one queue or partition; never sent twice
        """
        return await self._settle_all(
            "reject_all", deliveries, lambda settling, ids: settling.reject(ids, reason), durable
        )

    async def extend_all(
        self, deliveries: Iterable[Delivery[T]], visibility_timeout: Delay, *, durable: Durability | None = None
    ) -> list[SettleOutcome]:
        """Moves the deadlines of many deliveries, like :meth:`Delivery.extend`. One outcome for each, in their order.

        :Cost: O(k log n), k deliveries; one round trip, with partitions one for each node
        :Guarantee: atomic for each 1,000 of one queue or partition; may safely be repeated
        """

        def extended(batch: list[Lease], reply: tuple[int, int, list[SettleOutcome]]) -> list[SettleOutcome]:
            now_us, deadline_ms, found = reply
            return [each.extended(outcome, deadline_ms, now_us) for each, outcome in zip(batch, found, strict=True)]

        return await self._run_all(
            self._leases(deliveries),
            lambda settling, ids: settling.extend(ids, visibility_timeout),
            extended,
            durable,
        )

    # -- inside ------------------------------------------------------------------------------------------------------

    async def _settle_all(
        self,
        call: str,
        deliveries: Iterable[Delivery[T]],
        request_of: Callable[[Settling, list[bytes]], Request[list[SettleOutcome]]],
        durable: Durability | None,
        *,
        to_head: bool = False,
    ) -> list[SettleOutcome]:
        chosen = self._leases(deliveries)
        for each in chosen:
            each.begin_ending()
        with self._runtime.operations.around(
            OperationKind.SETTLE, call, self._leaser.name, leases=chosen, count=len(chosen)
        ):
            return await self._run_all(chosen, request_of, settled_all, durable, to_head=to_head)

    def _leases(self, deliveries: Iterable[Delivery[T]]) -> list[Lease]:
        side = self._leaser.sides[0]
        chosen = side.collected(deliveries, "deliveries")
        for each in chosen:
            if not isinstance(each, Delivery):
                raise ArgumentError(f"queue {side.name!r}: expected a collection of deliveries, not {shown(each)}")
            if not is_of(each, self._runtime.connections):
                raise ArgumentError(
                    f"queue {side.name!r}: {shown(each)} belongs to another client: settle it with its own methods"
                )
        return [lease_of(each) for each in chosen]

    async def _run_all(
        self,
        leases: list[Lease],
        request_of: Callable[[Settling, list[bytes]], Request[U]],
        noted: Callable[[list[Lease], U], list[SettleOutcome]],
        durable: Durability | None,
        *,
        to_head: bool = False,
    ) -> list[SettleOutcome]:
        """One outcome for each lease, in one round trip. Raises an error when all have been answered.

        ``to_head``: values go to the head of their queues, so the last part goes first. ``noted`` notes the outcomes of
        some leases. That is part of reading the reply, so they are known whatever happens to the others and to the
        confirmation.
        """
        batches = batches_of(leases)
        if to_head:
            batches.reverse()
        confirmation = self._leaser.sides[0].confirmation(durable)
        requests = [
            request_of(settling, [each.id for each in batch]).then(partial(noted, batch), durable=confirmation)
            for settling, batch in batches
        ]
        if len(requests) == 1:
            results = [await self._runtime.connections.run(requests[0])]
        else:
            results = await self._runtime.connections.run_many(requests)
        outcomes: dict[int, SettleOutcome] = {}
        for (_, batch), found in zip(batches, all_of(results), strict=True):
            outcomes.update(zip(map(id, batch), found, strict=True))
        return [outcomes[id(each)] for each in leases]
