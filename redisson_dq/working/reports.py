"""Reports to hooks and observers the values that no handling has: those that came, and those that no handler gets."""

from __future__ import annotations

from typing import Any

from redisson_dq.calls.delivery import DeliveryFacts
from redisson_dq.calls.endings import Bury
from redisson_dq.errors import DecodeError
from redisson_dq.items import SettleOutcome
from redisson_dq.working import happenings
from redisson_dq.working.handlers import Handler
from redisson_dq.working.handling import Setting

__all__ = ["ValueReports"]


class ValueReports:
    """For one worker."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._hooks = setting.hooks

    @property
    def hears_receipts(self) -> bool:
        """Whether values that came are reported to anybody."""
        return self._hooks.hears(happenings.Received, happenings.Recovered)

    def unreadable(self, queue: str, error: DecodeError) -> None:
        """Values came that the codec cannot read."""
        self._hooks.tell(happenings.Unreadable(queue=queue, count=len(error.undecodable), error=error))
        if error.kept_in is None:
            return
        for data in error.undecodable:
            self._hooks.tell(
                happenings.DeadLettered(queue=queue, id="", attempt=0, reason=f"undecodable: {error}", data=data)
            )

    def duplicate(self, queue: str, data: bytes) -> None:
        """A value was dropped that equals one handled before."""
        self._hooks.tell(happenings.Dropped(queue=queue, data=data))

    def received(self, queue: str, delivery: DeliveryFacts[Any], handler: Handler | None) -> None:
        """A value came."""
        known = self._known(queue, delivery, handler)
        lateness = None if delivery.due is None else delivery.received - delivery.due
        self._hooks.tell(happenings.Received(**known, lateness=lateness))
        if delivery.crashes:
            self._hooks.tell(happenings.Recovered(**known, crashes=delivery.crashes))

    def _known(self, queue: str, delivery: DeliveryFacts[Any], handler: Handler | None) -> dict[str, Any]:
        """The fields of a happening that has no handling yet."""
        name = "" if handler is None else handler.name
        event = self._setting.event_of(delivery, queue)
        return {"queue": queue, "id": delivery.id, "attempt": delivery.attempt, "handler": name, "event": event}

    def unhandled(self, queue: str, delivery: DeliveryFacts[Any]) -> None:
        """No handler takes a value. It becomes a dead letter."""
        kind = type(delivery.value)
        reason = f"no handler takes a {kind.__module__}.{kind.__qualname__}"
        known = self._known(queue, delivery, None)
        self._hooks.tell(happenings.Unhandled(**known, reason=reason))

        def then(outcome: SettleOutcome) -> None:
            if outcome is SettleOutcome.CANCELLED:
                self._hooks.tell(happenings.ItemCancelled(**known))
            elif outcome:
                self._hooks.tell(happenings.DeadLettered(**known, reason=reason, data=delivery.data))
            else:
                self._hooks.tell(happenings.Lost(**known))

        self._setting.settler.put(delivery, Bury(reason), then)

    def lost(self, queue: str, delivery: DeliveryFacts[Any], handler: Handler) -> None:
        """The lease of a value was lost while it waited for its batch."""
        self._hooks.tell(happenings.Lost(**self._known(queue, delivery, handler)))
