"""The end of a handling: which of several causes counts, and what happens to each of its values then.

:mod:`redisson_dq.working.handling_table` decides. This module carries that out. ``_async/worker/performing.py`` calls
the handler, and settles its values.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Protocol

import attrs

from redisson_dq.calls.delivery import DeliveryFacts, ValueFacts, lease_of
from redisson_dq.calls.endings import Ending, Nack
from redisson_dq.items import SettleOutcome
from redisson_dq.scheduling.clock import Clock
from redisson_dq.working import happenings
from redisson_dq.working.ends import EndsLeases
from redisson_dq.working.handlers import Handler
from redisson_dq.working.handling_table import Do, HandlingAction, HandlingTable, Trigger
from redisson_dq.working.hooks import Hooks
from redisson_dq.working.incoming import QueueIntake
from redisson_dq.working.outcomes import Outcomes
from redisson_dq.working.roster import Post

__all__ = ["EventFacts", "Handling", "HandlingEnds", "Setting"]

# Actions that the caller of ``happened`` carries out itself.
_FOR_CALLER = (Do.CONCLUDE, Do.CALL, Do.BURY)


class EventFacts(ValueFacts[Any]):
    """What the event of a handler says besides, in either flavour."""

    _delivery: DeliveryFacts[Any]
    _queue: str
    _cancelled = False

    def __repr__(self) -> str:
        return f"<Event {self.id!r} of {self.queue!r}, attempt {self.attempt}>"

    @property
    def queue(self) -> str:
        """The name of the queue."""
        return self._queue

    @property
    def lateness(self) -> timedelta | None:
        """How long after :attr:`due` it was received for the first time."""
        return None if self.due is None else self._delivery.first_received - self.due

    @property
    def cancelled(self) -> bool:
        """Whether the handler should stop: its time is over, its lease is lost, or the worker stops.

        Or the item was cancelled (``delayed.cancel(id)``), as a renewal of the lease reports. A long handler
        checks it, and returns.
        """
        return self._cancelled or self._lease.is_cancelled


class HandlingEnds(Protocol):
    """Is notified of the ends of handlings."""

    def ended(self, handling: Handling, now: float, *, frees: bool = True, is_last: bool = True) -> None:
        """It frees its slot. Nothing is left to do for it, if that ``is_last``."""


@attrs.frozen(kw_only=True)
class Setting:
    """The parts that all handlings of a worker share."""

    #: The pool of the flavour, and the layers around a handler.
    pool: Any
    layers: Callable[[Handler], Sequence[Any]]
    settler: EndsLeases
    #: Makes the event of a delivery, by its queue.
    event_of: Callable[[Any, str], Any]
    given: dict[str, Any]
    hooks: Hooks
    chance: random.Random
    clock: Clock
    report: HandlingEnds


class Handling:
    """A handler at work on one value, or on a batch: its values, and how they end."""

    def __init__(
        self, setting: Setting, intake: QueueIntake, post: Post, deliveries: Sequence[DeliveryFacts[Any]], now: float
    ) -> None:
        self.setting = setting
        self.intake = intake
        self.post = post
        self.handler = post.handler
        self.deliveries = deliveries
        #: What has been decided. The mutex guards it.
        self.table = HandlingTable(len(deliveries))
        # Guards the table and the events.
        self._mutex = threading.RLock()
        self._events: list[Any] | None = None
        #: When it began, by the client's clock.
        self.began = now
        #: When its time is over, if it has one.
        self.deadline: float | None = None
        #: The thread or task in which the handler or the conclusion runs.
        self.where: object = None

    @property
    def events(self) -> list[Any]:
        """The events of its values. They are made when somebody asks for one."""
        if self._events is None:
            with self._mutex:
                if self._events is None:
                    event_of = self.setting.event_of
                    self._events = [event_of(delivery, self.intake.name) for delivery in self.deliveries]
        return self._events

    @property
    def holds_slot(self) -> bool:
        """Whether it occupies a slot of its handler."""
        return self.table.holds_slot

    # -- in its thread or task, by the flavour -----------------------------------------------------------------------

    @staticmethod
    def is_called_here(handler: Handler) -> bool:
        """Whether the thread or task of a handling calls its function, and not another one."""
        raise NotImplementedError

    def perform(self) -> Any:
        """Calls the handler, and settles its values."""
        raise NotImplementedError

    def returned(self, outcomes: Outcomes) -> Any:
        """The handler has ended, or is not called: settles its values."""
        raise NotImplementedError

    def conclude_apart(self) -> Any:
        """The time is over: settles its values beside the handler."""
        raise NotImplementedError

    def start(self, start: Callable[[Callable[[], Any]], object], error: BaseException | None = None) -> None:
        """Begins by ``start``. With an ``error`` the handler is not called: it counts as having raised that."""
        self.began = self.setting.clock.monotonic()
        start(self.perform if error is None else lambda: self.returned([error]))

    # -- what ends it ------------------------------------------------------------------------------------------------

    def expire(self) -> None:
        """Its time is over."""
        self.happened(Trigger.EXPIRED)

    def lose(self, delivery: DeliveryFacts[Any]) -> None:
        """A lease of it is lost."""
        place = next(place for place, each in enumerate(self.deliveries) if each is delivery)
        with self._mutex:
            actions = self.table.lost(place)
        self._carry_out(actions)

    def hand_back(self) -> list[EventFacts]:
        """The worker stops, and waits no more: neither for a handler nor for ``on_failed``.

        Returns the events of the values that go back. A handling whose outcomes are being settled goes on. A second
        call hands back those of its values that are not settled yet.
        """
        actions = self.happened(Trigger.STOPPED)
        return [self.events[place] for action in actions if action.do is Do.HAND_BACK for place in action.places]

    def happened(self, trigger: Trigger, place: int = 0) -> Sequence[HandlingAction]:
        """Carries out the actions. Returns them, as some are for the thread that called."""
        with self._mutex:
            actions = self.table.happened(trigger, place)
        self._carry_out(actions)
        return actions

    def _carry_out(self, actions: Iterable[HandlingAction]) -> None:
        for action in actions:
            if action.do in (Do.FREE, Do.FORGET):
                frees, now = action.do is Do.FREE, self.setting.clock.monotonic()
                self.setting.report.ended(self, now, frees=frees, is_last=not frees)
            elif action.do not in _FOR_CALLER:
                self._end_early(action, [self.events[place] for place in action.places])

    def _end_early(self, action: HandlingAction, events: Sequence[EventFacts]) -> None:
        """Carries out an action that no handler's return leads to."""
        if action.do in (Do.VOID, Do.CANCEL):
            for event in events:
                event._cancelled = True
            if action.do is Do.CANCEL:
                self.setting.pool.cancel(self.where)
        elif action.do is Do.TELL_LATE:
            for event in events:
                self.tell(happenings.TimedOut, event, timeout=timedelta(seconds=self.handler.timeout or 0))
        elif action.do is Do.TELL_LOST:
            for event in events:
                self.tell(happenings.Lost, event)
        elif action.do is Do.CONCLUDE_APART:
            # The handler's own thread may never come back.
            self.setting.pool.start(self.conclude_apart)
        elif action.do is Do.HAND_BACK:
            for event in reversed(events):
                self._put(event, Nack(0, counted=False), partial(self.tell, happenings.HandedBack, event))
        elif action.do is Do.LET_EXPIRE:
            for event in events:
                # Renewed no more.
                lease_of(event).begin_ending()

    def _timeout(self) -> TimeoutError:
        return TimeoutError(
            f"{self.handler.name} has not returned within {timedelta(seconds=self.handler.timeout or 0)}"
        )

    # -- outcomes ----------------------------------------------------------------------------------------------------

    def _settles(self, place: int) -> bool:
        """Notes that a value is settled. False where it was settled or handed back before."""
        with self._mutex:
            return self.table.settles(place)

    def _settle(self, place: int, how: Ending, done: Callable[[], object]) -> None:
        """Ends a lease, unless the value was handed back meanwhile. ``done`` reports that Redis has done it."""
        with self._mutex:
            # In one step: a stop that finds the value settled ends the settler after the last handling.
            if self.table.settles(place):
                self._put(self.events[place], how, done)

    def _put(self, event: EventFacts, how: Ending, done: Callable[[], object]) -> None:
        self.setting.settler.put(event._delivery, how, partial(self._settled, event, done), self.intake.acked)

    def _settled(self, event: EventFacts, done: Callable[[], object], outcome: SettleOutcome) -> None:
        """Reports to hooks and observers how the lease of a value ended."""
        if outcome is SettleOutcome.LOST:
            self.tell(happenings.Lost, event)
        elif outcome is SettleOutcome.CANCELLED:
            self.tell(happenings.ItemCancelled, event)
        else:
            done()

    def tell(self, kind: type[happenings.OfValue], event: EventFacts, **more: Any) -> None:
        """Reports to hooks and observers what happened to a value."""
        if not self.setting.hooks.hears(kind):
            return
        self.setting.hooks.tell(
            kind(
                queue=self.intake.name,
                id=event.id,
                attempt=event.attempt,
                handler=self.handler.name,
                event=event,
                **more,
            )
        )
