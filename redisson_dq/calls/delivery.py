"""One value in a receiver's hands: what is known of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Generic, NoReturn, TypeVar

from redisson_dq.calls.lease import DeliveryRequests, Lease
from redisson_dq.items import SettleOutcome
from redisson_dq.scheduling.times import from_ms, from_optional_ms

__all__ = ["DeliveryFacts", "ValueFacts", "lease_of", "value_of"]

T = TypeVar("T")


class ValueFacts(Generic[T]):
    """What a delivery and the event of a handler say of a value, without a round trip."""

    _lease: Lease
    _value: T

    @property
    def id(self) -> str:
        """The name of this delivery, in hexadecimal. Another delivery of the same value has another id."""
        return self._lease.id.hex()

    @property
    def offer_id(self) -> str | None:
        """The ``id=`` of the offer, or None. It is the same for all deliveries of the item."""
        return self._lease.offer_id

    @property
    def value(self) -> T:
        """The value."""
        return self._value

    @property
    def attempt(self) -> int:
        """The number of this delivery of the value, starting at 1."""
        return self._lease.record.attempt

    @property
    def failures(self) -> int:
        """How many earlier deliveries ended with ``nack``, or failed in a worker."""
        return self._lease.record.failures

    @property
    def crashes(self) -> int:
        """How many earlier deliveries ended at their deadline, as the process had died or hung."""
        return self._lease.crashes

    @property
    def reason(self) -> str:
        """The reason of the last ``nack`` or failure, or an empty str."""
        return self._lease.record.reason

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
        """The last argument of ``save``, in this delivery or one before it. None if there was no call."""
        return self._lease.cursor

    @property
    def deadline(self) -> datetime:
        """When the lease ends, in UTC on the server's clock. A renewal moves it on."""
        return from_ms(self._lease.deadline_ms)


class DeliveryFacts(ValueFacts[T]):
    """What a ``Delivery`` of either flavour says besides."""

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

    @property
    def cancelled(self) -> bool:
        """Whether the item was cancelled, as the last renewal or ``extend`` has reported. It is not delivered
        again.

        An ack still counts. No round trip.
        """
        return self._lease.is_cancelled

    @property
    def data(self) -> bytes:
        """The value's bytes as they were received."""
        return self._lease.leased.data

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


#: The lease that a delivery shows, for those who renew it or end it.
lease_of: Callable[[ValueFacts[Any]], Lease] = attrgetter("_lease")
#: Its value, without a function in between.
value_of: Callable[[ValueFacts[Any]], Any] = attrgetter("_value")
