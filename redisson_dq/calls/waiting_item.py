"""One waiting item, as the reply to a request describes it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

import attrs

from redisson_dq._common.bound import Bound
from redisson_dq.items import ItemState, OfferOutcome
from redisson_dq.scheduling.clock import Clock
from redisson_dq.scheduling.times import from_ms
from redisson_dq.wire.calls import Target

__all__ = ["ItemFacts", "WaitingItem"]

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class WaitingItem(Generic[T]):
    """One waiting item, as it was when the call that returned it was answered.

    ``id`` is the caller's, or one that was made. ``due`` is on the server's clock, None for an entry that has lost
    its due time. ``outcome`` says what an offer did; it is None for an item that was looked up. ``state`` says where it
    is, ``attempts`` how often it was delivered.
    """

    id: str
    due_ms: int | None
    data: bytes
    target: Target
    outcome: OfferOutcome | None = None
    state: ItemState = ItemState.WAITING
    attempts: int = 0
    _now_us: int = attrs.field(alias="now_us")
    _clock: Clock = attrs.field(alias="clock", eq=False, repr=False)
    _read_us: int = attrs.field(alias="read_us")
    _decode: Callable[[bytes], T] = attrs.field(alias="decode")

    @property
    def due(self) -> datetime | None:
        """When it is due, in UTC."""
        return None if self.due_ms is None else from_ms(self.due_ms)

    @property
    def remaining(self) -> timedelta | None:
        """How long from now until it is due, below zero when that has passed. No round trip: computed from the server's
        time in the reply and the time that has passed here since then.
        """
        if self.due_ms is None:
            return None
        passed_us = self._clock.now_us() - self._read_us
        return timedelta(microseconds=self.due_ms * 1000 - self._now_us - passed_us)

    @property
    def value(self) -> T:
        """The value. Raises DecodeError (with the bytes, which stay in Redis) when the codec cannot read it."""
        return self._decode(self.data)

    def moved(self, due_ms: int, now_us: int) -> WaitingItem[T]:
        """This item with the due time that Redis has reported just now."""
        read_us = self._clock.now_us()
        return attrs.evolve(
            self, due_ms=due_ms, now_us=now_us, read_us=read_us, target=attrs.evolve(self.target, due_ms=due_ms)
        )


class ItemFacts(Bound, Generic[T]):
    """What a ``DelayedItem`` of either flavour says of its item, without a round trip."""

    _state: WaitingItem[T]

    @property
    def id(self) -> str:
        """The caller's id, or a generated one. ``cancel(id)`` and the like take it, in any process."""
        return self._state.id

    @property
    def state(self) -> ItemState:
        """Where it was when the call that gave it was answered. An item that has just been offered waits."""
        return self._state.state

    @property
    def attempts(self) -> int:
        """How often it had been delivered by then."""
        return self._state.attempts

    @property
    def due(self) -> datetime | None:
        """When it is due, in UTC, on the server's clock. None for an entry that has lost its due time."""
        return self._state.due

    @property
    def remaining(self) -> timedelta | None:
        """How long from now until it is due; below zero when that has passed. No round trip."""
        return self._state.remaining

    @property
    def value(self) -> T:
        """The value. Raises DecodeError (with the bytes, which stay in Redis) when the codec cannot read it."""
        return self._state.value

    @property
    def outcome(self) -> OfferOutcome | None:
        """The outcome of the offer; None for an item that was looked up."""
        return self._state.outcome
