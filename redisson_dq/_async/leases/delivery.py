"""One value in a receiver's hands."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from operator import attrgetter
from types import TracebackType
from typing import Any, Generic, NoReturn, TypeVar

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._common.texts import described
from redisson_dq._concurrency import async_finish
from redisson_dq._concurrency.blocks import AsyncWrongWith, Bound
from redisson_dq.calls.lease import Lease
from redisson_dq.durability import Durability
from redisson_dq.errors import RedissonDQError
from redisson_dq.items import SettleOutcome
from redisson_dq.observing.operations import OperationKind
from redisson_dq.scheduling.times import Delay, from_ms, from_optional_ms
from redisson_dq.wire.request import Fence, Request

__all__ = ["Delivery", "DeliveryRequests", "is_of", "lease_of", "value_of"]

logger = logging.getLogger("redisson_dq")

T = TypeVar("T")


class DeliveryRequests(Bound, Generic[T]):
    """The calls of one delivery as requests that are not sent, for a :class:`Pipeline`."""

    def __init__(self, delivery: Delivery[T]) -> None:
        # A request holds this object, and so the delivery, whose lease is renewed as long as somebody has it.
        self._delivery = delivery
        self._lease = lease = delivery._lease
        self._settling, self._ids = lease.settling, [lease.leased.id]

    def ack(self, *, durable: Durability | None = None) -> Request[SettleOutcome]:
        """:meth:`Delivery.ack` as a request."""
        return self._settled(self._settling.ack(self._ids), durable)

    def nack(
        self,
        delay: Delay | None = None,
        count: bool = True,
        reason: str | None = None,
        *,
        durable: Durability | None = None,
    ) -> Request[SettleOutcome]:
        """:meth:`Delivery.nack` as a request."""
        return self._settled(self._settling.nack(self._ids, delay, count, reason), durable)

    def reject(self, reason: str | None = None, *, durable: Durability | None = None) -> Request[SettleOutcome]:
        """:meth:`Delivery.reject` as a request."""
        return self._settled(self._settling.reject(self._ids, reason), durable)

    def extend(self, visibility_timeout: Delay, *, durable: Durability | None = None) -> Request[SettleOutcome]:
        """:meth:`Delivery.extend` as a request."""

        def extended(reply: tuple[int, int, list[SettleOutcome]]) -> SettleOutcome:
            now_us, deadline_ms, outcomes = reply
            return self._lease.extended(outcomes[0], deadline_ms, now_us)

        confirmation = self._settling.confirmation(durable)
        request = self._settling.extend(self._ids, visibility_timeout)
        return request.then(extended, fence=self._fence_of_extend, durable=confirmation)

    def save(self, cursor: Any, *, durable: Durability | None = None) -> Request[SettleOutcome]:
        """:meth:`Delivery.save` as a request."""
        lease, confirmation = self._lease, self._settling.confirmation(durable)

        def saved(reply: tuple[int, int, list[SettleOutcome]]) -> SettleOutcome:
            now_us, deadline_ms, outcomes = reply
            if outcomes[0]:
                lease.saved = (cursor,)
            return lease.extended(outcomes[0], deadline_ms, now_us)

        # A save is a renewal. It never brings the deadline forward.
        request = self._settling.extend(self._ids, max(lease.left, lease.visible), self._settling.cursor_text(cursor))
        return request.then(saved, fence=self._fence_of_extend, durable=confirmation)

    def _settled(self, request: Request[list[SettleOutcome]], durable: Durability | None) -> Request[SettleOutcome]:
        lease = self._lease
        return request.then(
            lambda outcomes: lease.settled(outcomes[0]),
            fence=self._fence,
            on_sending=lease.begin_ending,
            durable=self._settling.durable if durable is None else self._settling.confirmation(durable),
        )

    def _fence(self) -> Fence:
        return self._settling.fence(self._ids[0], [0, [b"lost"]])

    def _fence_of_extend(self) -> Fence:
        return self._settling.fence(self._ids[0], [0, 0, [b"lost"]])


class Delivery(AsyncWrongWith, Generic[T]):
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

    def __repr__(self) -> str:
        state = f"until {self.deadline}" if self.outcome is None else self.outcome.value
        named = "" if self.offer_id is None else f"{self.offer_id!r}, "
        return f"<Delivery {self.id!r} of {self._lease.name!r}, {named}attempt {self.attempt}, {state}>"

    def __reduce__(self) -> NoReturn:
        # A copy would not learn how the lease ends.
        raise TypeError(
            f"queue {self._lease.name!r}: a delivery belongs to the client that received it, and cannot be pickled "
            "or copied: pass its value on, and settle it here"
        )

    # -- facts -------------------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The name of this delivery, in hexadecimal. Another delivery of the same value has another id."""
        return self._lease.id.hex()

    @property
    def offer_id(self) -> str | None:
        """The ``id=`` of the offer, or None. It is the same for all deliveries of the item."""
        return self._lease.offer_id

    @property
    def cancelled(self) -> bool:
        """Whether the item was cancelled, as the last renewal or :meth:`extend` has reported. It is not delivered
        again.

        An ack still counts. No round trip.
        """
        return self._lease.is_cancelled

    @property
    def value(self) -> T:
        """The value."""
        return self._value

    @property
    def data(self) -> bytes:
        """The value's bytes as they were received."""
        return self._lease.leased.data

    @property
    def attempt(self) -> int:
        """The number of this delivery of the value, starting at 1."""
        return self._lease.record.attempt

    @property
    def failures(self) -> int:
        """How many earlier deliveries ended with :meth:`nack`."""
        return self._lease.record.failures

    @property
    def crashes(self) -> int:
        """How many earlier deliveries ended at their deadline."""
        return self._lease.crashes

    @property
    def reason(self) -> str:
        """The reason of the last :meth:`nack`, or an empty str."""
        return self._lease.record.reason

    @property
    def first_received(self) -> datetime:
        """When the value was received for the first time, in UTC on the server's clock."""
        return self.received if self._lease.record.first_ms is None else from_ms(self._lease.record.first_ms)

    @property
    def received(self) -> datetime:
        """When this delivery was received."""
        return from_ms(self._lease.record.received_ms or self._lease.leased.now_us // 1000)

    @property
    def offered(self) -> datetime | None:
        """When it was offered. Known if the offer had a ``context=``, else None."""
        return from_optional_ms(self._lease.record.offered_ms)

    @property
    def due(self) -> datetime | None:
        """When it was due. Known if the offer had a ``context=``, else None."""
        return from_optional_ms(self._lease.record.due_ms)

    @property
    def context(self) -> dict[str, str]:
        """The ``context=`` of the offer, else empty."""
        return dict(self._lease.record.context)

    @property
    def cursor(self) -> Any:
        """The last argument of :meth:`save`, in this delivery or one before it. None if there was no call."""
        return self._lease.cursor

    @property
    def deadline(self) -> datetime:
        """When the lease ends, in UTC on the server's clock."""
        return from_ms(self._lease.deadline_ms)

    @property
    def remaining(self) -> timedelta:
        """The time until the deadline; negative when it has passed. No round trip."""
        return self._lease.remaining

    @property
    def outcome(self) -> SettleOutcome | None:
        """The outcome of the last call on this delivery; None before the first."""
        return self._lease.outcome

    @property
    def lost(self) -> bool:
        """Whether this receiver has lost the lease without ending it.

        A call said so, the deadline has passed, or the renewal has failed and the deadline is near.
        """
        return self._lease.is_lost

    @property
    def requests(self) -> DeliveryRequests[T]:
        """This delivery's calls as requests that are not sent, for a :class:`Pipeline`."""
        return DeliveryRequests(self)

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


#: The lease that a delivery shows, for those who renew it or end it.
lease_of: Callable[[Delivery[Any]], Lease] = attrgetter("_lease")
#: Its value, without a function in between.
value_of: Callable[[Delivery[Any]], Any] = attrgetter("_value")


def is_of(delivery: Delivery[Any], connections: Connections) -> bool:
    """Whether the client with these connections has received it."""
    return delivery._connections is connections
