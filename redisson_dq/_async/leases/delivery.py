"""One value in a receiver's hands."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Any, TypeVar

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._common.texts import described
from redisson_dq._concurrency import async_finish
from redisson_dq._concurrency.blocks import AsyncWrongWith
from redisson_dq.calls.delivery import DeliveryFacts, lease_of, value_of
from redisson_dq.calls.lease import DeliveryRequests, Lease
from redisson_dq.durability import Durability
from redisson_dq.errors import RedissonDQError
from redisson_dq.items import SettleOutcome
from redisson_dq.observing.operations import OperationKind
from redisson_dq.scheduling.times import Delay
from redisson_dq.wire.request import Request

__all__ = ["Delivery", "is_of", "lease_of", "value_of"]

logger = logging.getLogger("redisson_dq")

T = TypeVar("T")


class Delivery(DeliveryFacts[T], AsyncWrongWith):
    """One received value, which is this receiver's until ``deadline``.

    ``queue.receive()`` gives it, and ``delayed.take_due(visibility_timeout=...)``.

    End it with :meth:`ack`, :meth:`nack` or :meth:`reject`. Without any of these calls by the deadline, or when this
    process has died, the value is ready again. As a context manager it acks at the end of the block, and nacks when the
    block raised. An interruption (KeyboardInterrupt, a cancelled task) hands the value back without counting it. If a
    call in the block has ended the lease, that end counts.
    """

    def __init__(self, connections: Connections, lease: Lease, value: T) -> None:
        self._connections = connections
        self._lease = lease
        self._value = value

    # -- its end -----------------------------------------------------------------------------------------------------

    async def ack(self, *, durable: Durability | None = None) -> SettleOutcome:
        """Ends the lease: the value is done and gone. LOST when the lease had ended before; nothing changes then.

        ``durable`` is the confirmation that this call waits for, in place of the client's. DurabilityError means that
        it was not confirmed in time; ``outcome`` says what was done.

        :Cost: O(log n); one round trip
        :Guarantee: atomic; never sent twice; the value may be received again when no reply came
        """
        return await self._settled("ack", DeliveryRequests(self).ack(durable=durable))

    async def nack(
        self,
        delay: Delay | None = None,
        count: bool = True,
        reason: str | None = None,
        *,
        durable: Durability | None = None,
    ) -> SettleOutcome:
        """Gives the value back: to the end of the ready list, or after ``delay`` (seconds or a timedelta).

        - ``count``: False for a delivery that does not count; the value goes back to the head
        - ``reason``: kept for the next delivery
        - ``durable``: as in :meth:`ack`

        After the queue's ``delivery_limit`` deliveries it goes to the dead-letter list instead. LOST when the lease had
        ended before; nothing changes then.

        :Cost: O(log n); one round trip
        :Guarantee: atomic; never sent twice
        """
        return await self._settled("nack", DeliveryRequests(self).nack(delay, count, reason, durable=durable))

    async def reject(self, reason: str | None = None, *, durable: Durability | None = None) -> SettleOutcome:
        """Puts the value into the dead-letter list. LOST when the lease had ended before; nothing changes then.

        :Cost: O(log n); one round trip
        :Guarantee: atomic; never sent twice
        """
        return await self._settled("reject", DeliveryRequests(self).reject(reason, durable=durable))

    async def extend(self, visibility_timeout: Delay, *, durable: Durability | None = None) -> SettleOutcome:
        """Moves the deadline to ``visibility_timeout`` (seconds or a timedelta) from now; ``deadline`` follows.

        LOST when the lease had ended before; nothing changes then.

        :Cost: O(log n); one round trip
        :Guarantee: atomic; may safely be repeated
        """
        return await self._connections.run(DeliveryRequests(self).extend(visibility_timeout, durable=durable))

    async def save(self, cursor: Any, *, durable: Durability | None = None) -> SettleOutcome:
        """Notes how far the work on the value has come. The next delivery has it in ``cursor``, in any process.

        ``cursor`` is a JSON value of at most 4 KB: a number, a text, a list. It goes with a renewal of the
        lease, which this call sends now: the deadline moves on, and the next renewal has time. LOST when the lease had
        ended before; nothing changes then. An ack removes it. A dead letter keeps it for its redrive.

        :Cost: O(log n); one round trip
        :Guarantee: atomic; may safely be repeated
        """
        return await self._connections.run(DeliveryRequests(self).save(cursor, durable=durable))

    async def _settled(self, call: str, request: Request[SettleOutcome]) -> SettleOutcome:
        lease = self._lease
        operations = self._connections.operations
        with operations.around(OperationKind.SETTLE, call, lease.settling.name, leases=[lease]) as settling:
            outcome = await self._connections.run(request)
            if settling is not None:
                settling.outcome = outcome.value
            return outcome

    async def __aenter__(self) -> Delivery[T]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lease.is_over:
            return
        if kind is None:
            if not await self.ack():
                self._lease.acked_too_late()
            return
        counts = error is not None and issubclass(kind, Exception)
        reason = described(error) if error is not None and counts else None
        try:
            await async_finish(self.nack(count=counts, reason=reason))
        except RedissonDQError as failure:
            # The block's own error is raised. A lease that still runs ends by its deadline.
            logger.warning(
                "queue %r: nack of %s because its block failed: %s", self._lease.name, self._lease.display_name, failure
            )


def is_of(delivery: Delivery[Any], connections: Connections) -> bool:
    """Whether the client with these connections has received it."""
    return delivery._connections is connections
