"""The facts that a handler gets in addition to the value."""

from __future__ import annotations

import contextvars
import logging
from collections.abc import MutableMapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

from redisson_dq._async.leases.delivery import Delivery
from redisson_dq._concurrency.handler_pools import AsyncBridge, AsyncSettled
from redisson_dq.calls.delivery import DeliveryFacts, lease_of
from redisson_dq.scheduling.times import Delay
from redisson_dq.working.handling import EventFacts

if TYPE_CHECKING:
    LoggerAdapter = logging.LoggerAdapter[logging.Logger]
else:
    LoggerAdapter = logging.LoggerAdapter

__all__ = ["Event", "EventLogger", "Handled", "current_event", "current"]


class Handled(Protocol):
    """The handling that goes on in a thread or task. Few handlers ask for its event."""

    @property
    def events(self) -> Sequence[Event]: ...


current: contextvars.ContextVar[Handled | None] = contextvars.ContextVar("redisson_dq_event", default=None)


class Event(EventFacts):
    """One delivery as its handler sees it."""

    _delivery: Delivery[Any]

    def __init__(self, delivery: Delivery[Any], queue: str, bridge: AsyncBridge) -> None:
        self._delivery = delivery
        self._lease, self._value = lease_of(delivery), delivery.value
        self._queue = queue
        self._bridge = bridge

    def __reduce__(self) -> tuple[Any, ...]:
        lease = {name: getattr(self._lease, name) for name in _FACTS}
        return _restored, (self.value, {**lease, "is_cancelled": self.cancelled}, self._queue)

    @property
    def delivery(self) -> Delivery[Any]:
        """The delivery itself. A handler may end it, for example in a transaction with its effects."""
        return self._delivery

    def save(self, cursor: Any) -> AsyncSettled:
        """Notes how far the work has come, for the next attempt (:meth:`Delivery.save`).

        It goes with a renewal of the lease, so it costs one round trip. With asyncio it is awaited, except in a handler
        that is no coroutine function.
        """
        return self._bridge.call(lambda: self._delivery.save(cursor))

    def extend(self, visibility_timeout: Delay) -> AsyncSettled:
        """Moves the deadline to this many seconds (or a timedelta) from now.

        The worker does that by itself. It is for work that blocks the whole process for a long time. With asyncio it is
        awaited, except in a handler that is no coroutine function, which gets the outcome itself.
        """
        return self._bridge.call(lambda: self._delivery.extend(visibility_timeout))


# The facts of a lease that a copy of an event has.
_FACTS = ("id", "offer_id", "cursor", "crashes", "record", "deadline_ms", "leased")


class _Past(DeliveryFacts[Any]):
    """The facts of a delivery, in a copy of its event."""

    def __init__(self, value: Any, lease: Any) -> None:
        self._value, self._lease = value, lease

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"a copied or pickled event has only facts, and no {name}: the lease belongs to the "
            "process that received it"
        )


def _restored(value: Any, lease: dict[str, Any], queue: str) -> Event:
    """A copy of an event."""
    past: Any = _Past(value, SimpleNamespace(**lease))
    return Event(past, queue, past)


def current_event() -> Event | None:
    """The event of the handler that calls, also from functions that it calls; None outside of a handler."""
    handled = current.get()
    return None if handled is None else handled.events[0]


class EventLogger(LoggerAdapter):
    """A logger whose records name the value that is handled: ``queue``, ``delivery``, ``attempt`` and ``offer_id``, the
    ``id=`` of its offer or None.

    >>> import logging
    >>> log = EventLogger(logging.getLogger("shop"))
    >>> log.info("no event here, so nothing is added")
    """

    def __init__(self, logger: logging.Logger) -> None:
        super().__init__(logger, {})

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Adds them to ``extra``, and to the message."""
        event = current_event()
        if event is None:
            return msg, kwargs
        known = {"queue": event.queue, "delivery": event.id, "attempt": event.attempt, "offer_id": event.offer_id}
        kwargs["extra"] = {**known, **(kwargs.get("extra") or {})}
        named = "" if event.offer_id is None else f"{event.offer_id} "
        return f"[{event.queue} {named}{event.id} attempt {event.attempt}] {msg}", kwargs
