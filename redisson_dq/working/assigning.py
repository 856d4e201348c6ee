"""Gives received values to handlers: begins handlings, gathers batches, parks values that have to wait.

:mod:`redisson_dq.working.roster` decides. This module carries that out, and knows the handlings that go on.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

from redisson_dq.calls.delivery import DeliveryFacts, lease_of
from redisson_dq.calls.endings import Nack
from redisson_dq.items import SettleOutcome
from redisson_dq.working.crashes import DANGEROUS, fault_of, pause_apart, waits_apart
from redisson_dq.working.handlers import Handler
from redisson_dq.working.handling import Handling, Setting
from redisson_dq.working.incoming import Fetching, QueueIntake
from redisson_dq.working.reports import ValueReports
from redisson_dq.working.roster import Post, Roster
from redisson_dq.working.routing import Unroutable, choose

__all__ = ["Assigner"]

#: Begins a handling, in the pool or in the fetcher's own turn.
_Start = Callable[[Callable[[], Any]], object]
_Deliveries = Sequence[DeliveryFacts[Any]]


class Assigner:
    """Knows each value from its receipt to the end of its handling."""

    def __init__(
        self,
        total: int | None,
        setting: Callable[..., Setting],
        handling: type[Handling],
        changed: Callable[[], object],
        ended: Callable[[], object],
    ) -> None:
        """``setting`` makes the parts that handlings share. It gets ``report=``. ``handling`` is that of the flavour.

        ``changed`` is called when :meth:`look` is to be called sooner, ``ended`` when a handling has ended while the
        worker stops.
        """
        self._roster = Roster(total)
        self._setting = setting(report=self)
        self._handling = handling
        #: Notifies hooks of values that no handling has.
        self.reports = ValueReports(self._setting)
        self._clock = self._setting.clock
        # Guards the roster and the fields here.
        self._mutex = threading.RLock()
        # The queues that have handlers, or handlings that go on.
        self._intakes: dict[str, QueueIntake] = {}
        # The one that got its handlers last. Where slots are limited over all queues, its fetcher is the only one.
        self._latest: QueueIntake | None = None
        self._handlings: dict[Handling, None] = {}
        self._of_delivery: dict[int, Handling] = {}
        self._stops = False
        self._ended = ended
        self._changed = changed
        # When something is due next: a handling's time is over, or a batch begins.
        self._next = math.inf

    # -- for the crew ------------------------------------------------------------------------------------------------

    def employ(self, intake: QueueIntake, handlers: Sequence[Handler]) -> None:
        """These handlers take the values of a queue from now on."""
        with self._mutex:
            self._intakes[intake.name] = self._latest = intake
            self._roster.employ(intake.name, handlers, self._clock.monotonic())
            for handler in handlers:
                self._roster.post(handler).is_plain = self._is_plain(handler)
                self._arm(self._roster.post(handler))

    def _is_plain(self, handler: Handler) -> bool:
        is_inside = bool(handler.shape.needs or self._setting.layers(handler))
        return self._handling.is_called_here(handler) and handler.batch is None and not is_inside

    def close_queue(self, intake: QueueIntake) -> None:
        """Returns the values of a queue that wait for their batches. Nothing more comes from it."""
        with self._mutex:
            dropped = self._roster.close(intake.name, intake.reception.handlers, self._clock.monotonic())
            known = self._roster.queues
            self._intakes = {name: each for name, each in self._intakes.items() if name in known}
        self._return(dropped, 0)

    def return_batches(self) -> None:
        """Returns all values that wait for their batches, also those of queues that were closed before they came."""
        with self._mutex:
            dropped = self._roster.drop(self._clock.monotonic())
        self._return(dropped, 0)

    def is_passed(self, handler: Handler) -> bool:
        """Whether a handler has been full for a while, so that the others of its queue go on."""
        with self._mutex:
            # A handler that is declared just now has no post yet, and gets it here.
            return self._roster.post(handler).is_passed

    @property
    def running(self) -> int:
        """How many handlings hold a slot."""
        with self._mutex:
            return self._roster.running

    def stop(self) -> None:
        """Begins no handling from now on. Values that still come are given back."""
        with self._mutex:
            self._stops = True

    @property
    def handlings(self) -> list[Handling]:
        """All that something is left to do for, in the order in which they began."""
        with self._mutex:
            return list(self._handlings)

    @property
    def holding(self) -> list[Handling]:
        """The handlings that hold a slot, in the order in which they began."""
        return [handling for handling in self.handlings if handling.holds_slot]

    # -- for the fetchers --------------------------------------------------------------------------------------------

    @property
    def is_limited(self) -> bool:
        """Whether slots are limited over all queues."""
        return self._roster.is_limited

    @property
    def free(self) -> int | None:
        """How many handlings more may begin over all queues; None: any number."""
        with self._mutex:
            return self._roster.free

    def wanted(self, intake: QueueIntake) -> int:
        """How many values of a queue are wanted now."""
        with self._mutex:
            return self._roster.wanted(intake.name)

    def accept(self, intake: QueueIntake, deliveries: _Deliveries, start: _Start) -> None:
        """Gives each value to its handler, or to the dead letters. ``start`` begins a handling."""
        tells = self.reports.hears_receipts
        begun = () if tells else self._begun_at_once(intake, deliveries)
        for handling in begun:
            start(handling.perform)
            if handling.deadline is not None:
                self._add(handling.deadline)
        if len(begun) < len(deliveries):
            self._accept(intake, deliveries[len(begun) :], start, tells=tells)

    def _begun_at_once(self, intake: QueueIntake, deliveries: _Deliveries) -> Sequence[Handling]:
        """The handlings of the first values, as far as nothing has to be asked about these, and slots are free."""
        handler, begun = intake.reception.only, list[Handling]()
        if handler is None:
            return begun
        with self._mutex:
            post, now = self._roster.post(handler), self._clock.monotonic()
            if self._stops or not post.is_alone or self._intakes.get(intake.name) is not intake:
                return begun
            for delivery in deliveries:
                lease = lease_of(delivery)
                # A value with a record may have crashes.
                if lease.leased.text or lease.until <= now or not post.takes(now):
                    break
                handling = self._handling(self._setting, intake, post, [delivery], now)
                self._handlings[handling] = None
                self._of_delivery[id(delivery)] = handling
                if handler.timeout is not None:
                    handling.deadline = now + handler.timeout
                begun.append(handling)
        return begun

    def _accept(self, intake: QueueIntake, deliveries: _Deliveries, start: _Start, *, tells: bool) -> None:
        parked: dict[Handler, list[DeliveryFacts[Any]]] = {}
        back: set[DeliveryFacts[Any]] = set()
        apart: list[DeliveryFacts[Any]] = []
        crashed = {delivery: crashes for delivery in deliveries if (crashes := delivery.crashes)}
        for delivery in deliveries:
            if self._stops:
                back.add(delivery)
            elif delivery in crashed and self._waits_apart(intake, delivery, len(crashed)):
                apart.append(delivery)
            else:
                self._route(intake, delivery, parked, start, crashes=crashed.get(delivery, 0), tells=tells)
        with self._mutex:
            # Not before: a look in between would begin a batch that lacks the rest of these values.
            for post in self._roster.gathering(intake.name):
                post.wait_for_more(self._clock.monotonic())
                self._arm(post)
        for handler, some in parked.items():
            with self._mutex:
                post = self._roster.post(handler)
                pause = post.parked(len(some), self._clock.monotonic())
                self._arm(post)
            if pause:
                self._return(some, pause)
            else:
                back.update(some)
        self._return([delivery for delivery in deliveries if delivery in back], 0)
        for place, delivery in enumerate(apart):
            # So that they come one by one.
            self._return([delivery], pause_apart(place, self._setting.chance))

    def _waits_apart(self, intake: QueueIntake, delivery: DeliveryFacts[Any], suspects: int) -> bool:
        recent = self._clock.monotonic() - DANGEROUS
        with self._mutex:
            is_one_tried = any(
                each.crashes for handling in self._handlings if handling.began > recent for each in handling.deliveries
            )
        return waits_apart(intake.reception.handlers, delivery.crashes, is_one_tried=is_one_tried or suspects > 1)

    def lose(self, delivery: DeliveryFacts[Any]) -> None:
        """A lease is lost."""
        with self._mutex:
            handling = self._of_delivery.get(id(delivery))
        if handling is not None:
            handling.lose(delivery)

    # -- a value -----------------------------------------------------------------------------------------------------

    def _route(
        self,
        intake: QueueIntake,
        delivery: DeliveryFacts[Any],
        parked: dict[Handler, list[DeliveryFacts[Any]]],
        start: _Start,
        *,
        crashes: int,
        tells: bool,
    ) -> None:
        """Values that find no free slot, or were let past a limit, go to ``parked``. ``tells``: receipts are
        reported.
        """
        error: BaseException | None = None
        reception = intake.reception
        try:
            handler = choose(reception.handlers, delivery.value)
        except Unroutable as failure:
            handler, error = failure.handler, failure
        if handler is None:
            if tells:
                self.reports.received(intake.name, delivery, None)
            self.reports.unhandled(intake.name, delivery)
            return
        with self._mutex:
            post = self._roster.post(handler)
        # A slot that is freed from here on is for another value. The roster decides again, under the mutex.
        is_admitted = (not reception.sees_first or intake.admitting.admits(delivery.id)) and post.has_room
        if is_admitted:
            if tells:
                self.reports.received(intake.name, delivery, handler)
            error = fault_of(handler, delivery.value, delivery.data, crashes, error)
        with self._mutex:
            # A hook may have taken the handler off, and its post and its queue with it.
            post = self._roster.post(handler)
            self._intakes.setdefault(intake.name, intake)
            values = post.came(delivery, self._clock.monotonic(), fails=error is not None) if is_admitted else None
            self._arm(post)
            handling = self._made(post, values, error) if values else None
        if values is None:
            parked.setdefault(handler, []).append(delivery)
        elif handling is not None:
            self._begin(handling, values, start, error)

    def _return(self, deliveries: _Deliveries, pause: float) -> None:
        for delivery in deliveries if pause else reversed(deliveries):
            self._setting.settler.put(delivery, Nack(pause, counted=False), _nothing)

    # -- what follows ------------------------------------------------------------------------------------------------

    def _arm(self, post: Post) -> None:
        if post.moment is not None:
            self._add(post.moment)

    def _fetcher(self, queue: str) -> Fetching | None:
        """The fetcher for a queue's slots. One that has not begun asks by itself."""
        # A slot that is free may be for any queue, also where its own has been taken off.
        intake = self._latest if self._roster.is_limited else self._intakes.get(queue)
        return None if intake is None else intake.fetcher

    def _made(self, post: Post, values: _Deliveries, error: BaseException | None) -> Handling:
        """A handling that begins. It is made under the mutex, so that a stop finds it."""
        handler = post.handler
        leased = [delivery for delivery in values if not delivery.lost]
        handling = self._handling(self._setting, self._intakes[handler.queue], post, leased, self._clock.monotonic())
        self._handlings[handling] = None
        for delivery in leased:
            self._of_delivery[id(delivery)] = handling
        if leased and error is None and handler.timeout is not None:
            handling.deadline = handling.began + handler.timeout
        return handling

    def _begin(self, handling: Handling, values: _Deliveries, start: _Start, error: BaseException | None) -> None:
        """``start`` begins a handling. With an ``error`` its handler is not called."""
        if len(handling.deliveries) < len(values):
            # While they waited for their batch.
            leased = {id(delivery) for delivery in handling.deliveries}
            for delivery in (each for each in values if id(each) not in leased):
                self.reports.lost(handling.intake.name, delivery, handling.handler)
        if not handling.deliveries:
            self.ended(handling, self._clock.monotonic())
        elif self._stops:
            handling.hand_back()
        else:
            handling.start(start, error)
            if handling.deadline is not None:
                self._add(handling.deadline)

    # -- for handlings -----------------------------------------------------------------------------------------------

    def ended(self, handling: Handling, now: float, *, frees: bool = True, is_last: bool = True) -> None:
        """A handling frees its slot. Nothing is left to do for it, if that ``is_last``."""
        queue = handling.handler.queue
        with self._mutex:
            if frees:
                handling.post.freed(now, now - handling.began)
            if is_last:
                self._handlings.pop(handling, None)
                for delivery in handling.deliveries:
                    self._of_delivery.pop(id(delivery), None)
        if frees:
            intake = self._latest if self._roster.is_limited else self._intakes.get(queue)
            if intake is not None and intake.fetcher is not None:
                intake.fetcher.freed(queue)
        if is_last and self._stops:
            # Otherwise nobody waits for the end of handlings.
            self._ended()

    # -- times -------------------------------------------------------------------------------------------------------

    def _add(self, moment: float) -> None:
        """Notes a moment. Most are later than the next one, and cost nothing."""
        if moment < self._next:
            self._changed()

    def look(self) -> float | None:
        """Does what is due. Returns after how many seconds something else is; None: nothing is."""
        # Until it is known, whatever is added asks for another look.
        self._next = math.inf
        with self._mutex:
            deadlines = [each.deadline for each in self._handlings if each.deadline is not None]
            moments = [*deadlines, *self._roster.moments()]
        self._next = min(moments, default=math.inf)
        now = self._clock.monotonic()
        if self._next <= now:
            self._due(now)
            return 0.0
        return None if self._next == math.inf else self._next - now

    def _due(self, now: float) -> None:
        with self._mutex:
            late = [each for each in self._handlings if each.deadline is not None and each.deadline <= now]
            for handling in late:
                handling.deadline = None
            posts = [(post, post.due(now)) for post in self._roster.due(now)]
            begun = [(self._made(post, values, None), values) for post, values in posts if values]
            for post, _ in posts:
                self._arm(post)
        for handling in late:
            handling.expire()
        for made, values in begun:
            self._begin(made, values, self._setting.pool.start, None)
        for post, values in posts:
            if (fetcher := self._fetcher(post.handler.queue)) is not None:
                # Who receives may wait for as many values as the batch lacked.
                fetcher.recount() if values else fetcher.freed(post.handler.queue)


def _nothing(outcome: SettleOutcome) -> None:
    """Nothing is notified."""
