"""One lease as this client holds it: its deadline, how it ended, and the requests that end it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Generic, TypeVar

from redisson_dq import observing
from redisson_dq._common.bound import Bound
from redisson_dq.calls.settling import Settling
from redisson_dq.durability import Durability
from redisson_dq.items import SettleOutcome
from redisson_dq.observing.operations import Operations
from redisson_dq.scheduling.times import Delay
from redisson_dq.wire.leases import Leased, LeaseRecord
from redisson_dq.wire.request import Fence, Request

__all__ = ["DeliveryRequests", "Lease", "batches_of", "settled_all"]

T = TypeVar("T")

_NO_CONTEXT: Mapping[str, str] = {}


class Lease:
    """A lease's state, which a delivery shows, and which renewals and acks change."""

    def __init__(self, settling: Settling, leased: Leased, observers: observing.Observers) -> None:
        self.settling = settling
        self._observers = observers
        self.leased = leased
        self.deadline_ms = leased.deadline_ms
        #: The outcome of the last call on it; None before the first.
        self.outcome: SettleOutcome | None = None
        #: True when a call to end it was sent, or it is lost. It is no longer renewed then.
        self.is_ending = False
        #: Its renewal failed for too long.
        self.is_given_up = False
        #: A renewal has reported that the item was cancelled.
        self.is_cancelled = False
        #: A callback for the delivery whose lease is lost.
        self.on_lost: Any = None
        #: A callback for a deadline that a call has brought forward.
        self.on_sooner: Callable[[], None] | None = None
        self._clock = settling.source.clock
        #: Until when the value is the receiver's, in seconds of the client's clock.
        self.until = (leased.read_us + leased.deadline_ms * 1000 - leased.now_us) / 1_000_000
        #: The cursor that this receiver has saved, if any.
        self.saved: tuple[Any, ...] = ()
        self._record: LeaseRecord | None = None
        self._is_told_lost = False
        #: A note of an interceptor about the handling of the value.
        self.handling: Any = None

    @property
    def id(self) -> bytes:
        return self.leased.id

    @property
    def name(self) -> str:
        """The queue's."""
        return self.settling.name

    @property
    def visible(self) -> float:
        """For how many seconds it was made."""
        return self.settling.source.visible

    @property
    def record(self) -> LeaseRecord:
        """The record of the value. It is read at the first use, as most receivers never ask."""
        if self._record is None:
            self._record = self.leased.record
        return self._record

    @property
    def crashes(self) -> int:
        """How many deliveries of the value before ended by their deadline."""
        # Most values are new, and have no record to read.
        return self.record.crashes if self.leased.text else 0

    @property
    def offer_id(self) -> str | None:
        """The ``id=`` of the offer, or None."""
        return self.record.offer_id if self.leased.text else None

    @property
    def attempt(self) -> int:
        """The number of this delivery of the value, starting at 1."""
        return self.record.attempt if self.leased.text else 1

    @property
    def context(self) -> Mapping[str, str]:
        """The ``context=`` of the offer, else empty."""
        return self.record.context if self.leased.text else _NO_CONTEXT

    @property
    def cursor(self) -> Any:
        """How far the work on the value has come, as it was last saved. None where nothing was."""
        return self.saved[0] if self.saved else self.record.cursor if self.leased.text else None

    @property
    def operations(self) -> Operations:
        """The interceptors, which are called around operations on it."""
        return self._observers.operations

    @property
    def display_name(self) -> str:
        """The delivery's id, and that of the offer, for log lines."""
        return self.id.hex() if self.offer_id is None else f"{self.id.hex()} (offered as {self.offer_id!r})"

    @property
    def left(self) -> float:
        """How many seconds from now until the deadline; below zero when that has passed."""
        return self.until - self._clock.monotonic()

    @property
    def remaining(self) -> timedelta:
        """The time until the deadline; negative when that has passed."""
        return timedelta(seconds=self.left)

    @property
    def is_over(self) -> bool:
        """Whether a call has ended it, or found that it had ended."""
        return self.outcome not in (None, SettleOutcome.EXTENDED)

    @property
    def is_lost(self) -> bool:
        """Whether its receiver has lost it without ending it.

        A call said so, the deadline has passed, or the renewal has failed and the deadline is near.
        """
        if self.outcome is None or self.outcome is SettleOutcome.EXTENDED:
            return self.is_given_up or self.until <= self._clock.monotonic()
        return self.outcome is SettleOutcome.LOST

    def begun(self, value: object) -> None:
        """Notifies observers that the lease of this value has begun."""
        record = self.record
        due_ms, received_ms = record.due_ms, record.received_ms or self.leased.now_us // 1000
        lateness = None if due_ms is None else timedelta(milliseconds=received_ms - due_ms)
        values = self._observers.texts(observing.LeaseBegan, (value,))
        self._observers.tell(
            observing.LeaseBegan(**self._known, lateness=lateness, context=record.context, values=values)
        )

    def begin_ending(self) -> None:
        self.is_ending = True

    def settled(self, outcome: SettleOutcome) -> SettleOutcome:
        """Notes how a call ended the lease. The first end counts."""
        if outcome is not SettleOutcome.LOST or not self.is_over:
            self.outcome = outcome
            self._tell(outcome)
        return outcome

    def _tell(self, outcome: SettleOutcome) -> None:
        if outcome is SettleOutcome.LOST:
            self.lost()
            return
        if outcome is SettleOutcome.EXTENDED:
            return
        for tally in self._observers.tallies:
            tally.settled(self.name, outcome)
        if self._observers.heard[observing.Settled]:
            held = timedelta(microseconds=self._clock.now_us() - self.leased.read_us)
            self._observers.tell(observing.Settled(**self._known, outcome=outcome, held=held))

    def acked_too_late(self) -> None:
        """Notifies observers that its ack found no lease."""
        self._observers.tell(observing.AckedTooLate(**self._known))

    def lost(self) -> None:
        """Notifies observers, once, that the receiver has lost it."""
        if not self._is_told_lost:
            self._is_told_lost = True
            for tally in self._observers.tallies:
                tally.settled(self.name, SettleOutcome.LOST)
            if self._observers.heard[observing.LeaseLost]:
                self._observers.tell(observing.LeaseLost(**self._known))

    @property
    def _known(self) -> dict[str, Any]:
        return {"queue": self.name, "id": self.id.hex(), "offer_id": self.offer_id, "attempt": self.record.attempt}

    def extended(self, outcome: SettleOutcome, deadline_ms: int, now_us: int) -> SettleOutcome:
        """Notes another deadline."""
        if outcome is SettleOutcome.CANCELLED:
            self.is_cancelled, outcome = True, SettleOutcome.EXTENDED
        if outcome:
            is_sooner = deadline_ms < self.deadline_ms
            self.deadline_ms, self.until = deadline_ms, (self._clock.now_us() + deadline_ms * 1000 - now_us) / 1_000_000
            if is_sooner and self.on_sooner is not None:
                self.on_sooner()
        return self.settled(outcome)


class DeliveryRequests(Bound, Generic[T]):
    """The calls of one delivery as requests that are not sent, for a :class:`Pipeline`."""

    def __init__(self, delivery: Any) -> None:
        # A request holds this object, and so the delivery, whose lease is renewed as long as somebody has it.
        self._delivery = delivery
        lease: Lease = delivery._lease
        self._lease = lease
        self._settling, self._ids = lease.settling, [lease.leased.id]

    def ack(self, *, durable: Durability | None = None) -> Request[SettleOutcome]:
        """``delivery.ack`` as a request."""
        return self._settled(self._settling.ack(self._ids), durable)

    def nack(
        self,
        delay: Delay | None = None,
        count: bool = True,
        reason: str | None = None,
        *,
        durable: Durability | None = None,
    ) -> Request[SettleOutcome]:
        """``delivery.nack`` as a request."""
        return self._settled(self._settling.nack(self._ids, delay, count, reason), durable)

    def reject(self, reason: str | None = None, *, durable: Durability | None = None) -> Request[SettleOutcome]:
        """``delivery.reject`` as a request."""
        return self._settled(self._settling.reject(self._ids, reason), durable)

    def extend(self, visibility_timeout: Delay, *, durable: Durability | None = None) -> Request[SettleOutcome]:
        """``delivery.extend`` as a request."""
        return self._extended(self._settling.extend(self._ids, visibility_timeout), durable)

    def save(self, cursor: Any, *, durable: Durability | None = None) -> Request[SettleOutcome]:
        """``delivery.save`` as a request."""
        lease, text = self._lease, self._settling.cursor_text(cursor)
        # A save is a renewal. It never brings the deadline forward.
        request = self._settling.extend(self._ids, max(lease.left, lease.visible), text)
        return self._extended(request, durable, (cursor,))

    def _extended(
        self,
        request: Request[tuple[int, int, list[SettleOutcome]]],
        durable: Durability | None,
        saved: tuple[Any, ...] = (),
    ) -> Request[SettleOutcome]:
        lease = self._lease

        def extended(reply: tuple[int, int, list[SettleOutcome]]) -> SettleOutcome:
            now_us, deadline_ms, outcomes = reply
            if outcomes[0]:
                lease.saved = saved or lease.saved
            return lease.extended(outcomes[0], deadline_ms, now_us)

        def fence() -> Fence:
            return self._settling.fence(self._ids[0], [0, 0, [b"lost"]])

        return request.then(extended, fence=fence, durable=self._settling.confirmation(durable))

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


def settled_all(leases: list[Lease], outcomes: list[SettleOutcome]) -> list[SettleOutcome]:
    """Notes how one call ended many leases."""
    return [each.settled(outcome) for each, outcome in zip(leases, outcomes, strict=True)]


def batches_of(leases: Sequence[Lease]) -> list[tuple[Settling, list[Lease]]]:
    """The leases in parts of 1,000, each of one queue and kind. A lease that is given twice counts once."""
    by_settling: dict[Settling, dict[int, Lease]] = {}
    for each in leases:
        by_settling.setdefault(each.settling, {})[id(each)] = each
    return [
        (settling, list(chosen.values())[start : start + 1000])
        for settling, chosen in by_settling.items()
        for start in range(0, len(chosen), 1000)
    ]
