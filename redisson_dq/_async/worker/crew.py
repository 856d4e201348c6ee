"""A worker that runs: its queues, its slots, and all that goes on in them."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from redisson_dq._async.client import Client
from redisson_dq._async.leases.delivery import Delivery, lease_of
from redisson_dq._async.moving.arrivals import Arrivals
from redisson_dq._async.worker.event import Event
from redisson_dq._async.worker.fetching import Fetcher
from redisson_dq._async.worker.handling import Crashed, Handling, Setting
from redisson_dq._async.worker.intake import Intake
from redisson_dq._async.worker.probing import Prober
from redisson_dq._async.worker.settling import Bury, Nack, Settler
from redisson_dq._async.worker.starting import Starts
from redisson_dq._async.worker.watching import Watch
from redisson_dq._concurrency import AsyncBackgroundTask, AsyncMutex, AsyncSwitch
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool
from redisson_dq._concurrency.layers import Layer
from redisson_dq.errors import DecodeError
from redisson_dq.items import Problem, SettleOutcome
from redisson_dq.working import happenings
from redisson_dq.working.handlers import Handler
from redisson_dq.working.handling_table import Do
from redisson_dq.working.hooks import Hooks
from redisson_dq.working.order import Order
from redisson_dq.working.routing import Unroutable, choose
from redisson_dq.working.settings import QueueSettings

__all__ = ["LAST_STEPS", "Crew"]

logger = logging.getLogger("redisson_dq")

#: How long the end waits for what was cancelled, and for the last answers.
LAST_STEPS = 5.0


class Crew:
    """Fetches, handles and settles, from :meth:`employ` to :meth:`aclose`."""

    def __init__(
        self,
        client: Client,
        *,
        total: int | None,
        order: Order,
        settings: Callable[[str], QueueSettings],
        layers: Callable[[Handler], Sequence[Layer]],
        given: dict[str, Any],
        hooks: Hooks,
        chance: random.Random,
        owner: bytes = b"",
    ) -> None:
        """``settings`` of a queue are complete. ``total`` is how many handlings may go on at a time, None: any."""
        self._client = client
        self._total = total
        self._owner = owner
        self._order = order
        self._settings = settings
        self._hooks = hooks
        self._mutex = AsyncMutex()
        self._intakes: dict[str, Intake] = {}
        #: By the queue's name; with a total limit one fetcher has all queues, under an empty name.
        self._fetchers: dict[str, Fetcher] = {}
        self._ending: list[AsyncBackgroundTask] = []
        #: All that something is left to do for, and how many of them hold a slot.
        self._handlings: set[Handling] = set()
        self._running = 0
        self._of_delivery: dict[int, Handling] = {}
        #: When each batch that is being gathered is to be handled, on the monotonic clock.
        self._gathering: dict[Handler, float] = {}
        self._changed = AsyncSwitch()
        self._stops = False
        self._pool = AsyncHandlerPool("handler")
        self._settler = Settler(client.runtime.connections)
        self._watch = Watch(self._moments, self._due)
        #: Of the parts of queues whose due items others move.
        self._arrivals: dict[str, list[Arrivals]] = {}
        self._prober: Prober | None = None
        client.runtime.renewal.start(calls_back=True)
        client.runtime.connections.outage.hooks.append(hooks.call)
        self._setting = Setting(
            pool=self._pool,
            settler=self._settler,
            layers=layers,
            given=given,
            hooks=hooks,
            chance=chance,
            report=self._report,
        )

    # -- queues and handlers -----------------------------------------------------------------------------------------

    def employ(self, handlers: Iterable[Handler]) -> None:
        """Opens the queues of these handlers, and closes those that no handler is for any more.

        Does nothing once the crew stops, which closes what is open by then.
        """
        by_queue: dict[str, list[Handler]] = {}
        for handler in handlers:
            by_queue.setdefault(handler.queue, []).append(handler)
        with self._mutex:
            if not self._stops:
                self._employ(by_queue)

    def _employ(self, by_queue: dict[str, list[Handler]]) -> None:
        held: list[float | None] = []
        for name, chosen in by_queue.items():
            if name not in self._intakes:
                opened = Intake(self._client.runtime, name, self._settings(name), self._owner)
                self._intakes[name] = opened
                if not self._settings(name).transfer:
                    self._arrivals[name] = [Arrivals(side.keys) for side in opened.leaser.sides]
            self._intakes[name].employ(chosen)
            held += [self._holds_until(self._intakes[name], handler) for handler in chosen]
        closed = [self._intakes.pop(name) for name in list(self._intakes) if name not in by_queue]
        for intake in closed:
            self._arrivals.pop(intake.name, None)
        wanted = {"": list(self._intakes.values())} if self._total is not None else {}
        if self._total is None:
            wanted = {name: [intake] for name, intake in self._intakes.items()}
        gone = [self._fetchers.pop(name) for name in list(self._fetchers) if name not in wanted]
        for name, intakes in wanted.items():
            fetcher = self._fetchers.get(name)
            if fetcher is None:
                fetcher = self._fetchers[name] = self._fetcher()
                fetcher.set_intakes(intakes)
                fetcher.start()
            else:
                fetcher.set_intakes(intakes)
        for moment in held:
            if moment is not None:
                self._watch.added(moment)
        if self._arrivals and self._prober is None:
            runtime = self._client.runtime
            self._prober = Prober(runtime.connections, runtime.options.probe_interval, self._probed)
        for fetcher in gone:
            fetcher.end()
        if closed:
            self._ending.append(AsyncBackgroundTask(lambda: self._close(gone, closed), "redisson_dq-closing"))

    def _probed(self) -> list[Arrivals]:
        with self._mutex:
            return [each for some in self._arrivals.values() for each in some]

    def _fetcher(self) -> Fetcher:
        return Fetcher(
            self._client.runtime,
            wanted=self._wanted,
            order=self._order,
            pool=self._pool,
            settler=self._settler,
            take=self._accept,
            unreadable=self._unreadable,
            duplicate=self._duplicate,
            on_lost=self._lost,
        )

    async def _close(self, fetchers: Sequence[Fetcher], intakes: Sequence[Intake]) -> None:
        for fetcher in fetchers:
            await fetcher.has_ended()
        for intake in intakes:
            self._return_gathered(intake)
            await intake.aclose()

    # -- slots -------------------------------------------------------------------------------------------------------

    def _wanted(self, intake: Intake) -> int:
        with self._mutex:
            if self._total is None:
                return intake.wanted(1 << 30)
            return intake.wanted(self._total - self._running - len(self._gathering))

    def _report(self, handling: Handling, do: Do) -> None:
        """A handling frees its slot, or nothing is left to do for it."""
        with self._mutex:
            if do is Do.FREE:
                self._running -= 1
                handling.handler.running -= 1
                if not handling.handler.is_full:
                    handling.handler.parking.end()
            else:
                self._handlings.discard(handling)
                for event in handling.events:
                    self._of_delivery.pop(id(event.delivery), None)
        if do is Do.FREE:
            self._freed(handling.intake)
        else:
            self._changed.on()

    def _freed(self, intake: Intake) -> None:
        with self._mutex:
            fetchers = list(self._fetchers.values()) if self._total is not None else []
            own = self._fetchers.get(intake.name)
        for fetcher in fetchers or ([own] if own else []):
            fetcher.freed(intake)

    def _begin(
        self,
        intake: Intake,
        handler: Handler,
        deliveries: list[Delivery[Any]],
        error: BaseException | None,
        starter: Starts,
    ) -> None:
        handling = Handling(self._setting, intake, handler, deliveries)
        with self._mutex:
            stops = self._stops
            self._running += 1
            handler.running += 1
            holds_until = self._holds_until(intake, handler)
            self._handlings.add(handling)
            for delivery in deliveries:
                self._of_delivery[id(delivery)] = handling
        if stops:
            handling.hand_back()
            return
        handling.start(starter, error)
        for moment in (handling.deadline, holds_until):
            if moment is not None:
                self._watch.added(moment)

    def _holds_until(self, intake: Intake, handler: Handler) -> float | None:
        """Until when a full handler holds up the others of its queue. None: not at all, or until it is free."""
        if handler.is_full and len(intake.handlers) > 1:
            handler.parking.begin(time.monotonic())
        return handler.parking.moment

    # -- what comes --------------------------------------------------------------------------------------------------

    def _accept(self, came: tuple[Intake, list[Delivery[Any]], Starts]) -> None:
        """Gives each value to its handler, or to the dead letters."""
        intake, deliveries, starter = came
        parked: dict[Handler, list[Delivery[Any]]] = {}
        for delivery in deliveries:
            if self._stops:
                self._settler.put(delivery, Nack(0, counted=False), _nothing)
                continue
            self._route(intake, delivery, parked, starter)
        for handler, some in parked.items():
            self._park(handler, some)

    def _route(
        self,
        intake: Intake,
        delivery: Delivery[Any],
        parked: dict[Handler, list[Delivery[Any]]],
        starter: Starts,
    ) -> None:
        """Values that find no free slot, or were let past one, go to ``parked``."""
        error: BaseException | None = None
        try:
            handler = choose(intake.handlers, delivery.value)
        except Unroutable as failure:
            handler, error = failure.handler, failure
        if handler is not None and not (intake.admitted(delivery) and self._has_slot(intake, handler)):
            parked.setdefault(handler, []).append(delivery)
            return
        self._tell_received(intake, delivery, handler)
        if handler is None:
            kind = type(delivery.value)
            reason = f"no handler takes a {kind.__module__}.{kind.__qualname__}"
            logger.error("queue %r: %s goes to the dead letters: %s", intake.name, lease_of(delivery).told_as, reason)
            self._bury(intake, delivery, reason)
            return
        if handler.admission is not None and error is None:
            error = handler.admission.fault_of(delivery.value, delivery.data)
        if handler.crash_limit is not None and delivery.crashes >= handler.crash_limit:
            error = Crashed(f"its receivers died, or stood still, {delivery.crashes} times")
        if handler.batch is None or error is not None:
            self._begin(intake, handler, [delivery], error, starter)
        else:
            self._gather(intake, handler, delivery, starter)

    def _has_slot(self, intake: Intake, handler: Handler) -> bool:
        with self._mutex:
            return bool(intake.gathered.get(handler)) or not handler.is_full

    def _park(self, handler: Handler, deliveries: list[Delivery[Any]]) -> None:
        now = time.monotonic()
        with self._mutex:
            how = Nack(handler.parking.park(len(deliveries), now), counted=False)
            moment = handler.parking.moment
        for delivery in deliveries:
            self._settler.put(delivery, how, _nothing)
        if moment is not None:
            self._watch.added(moment)

    def _tell_received(self, intake: Intake, delivery: Delivery[Any], handler: Handler | None) -> None:
        if not self._hooks.hears(happenings.Received, happenings.Recovered):
            return
        event = Event(delivery, intake.name)
        known = self._known(intake, delivery, handler, event)
        lateness = None if delivery.due is None else delivery.received - delivery.due
        self._hooks.tell(happenings.Received(**known, lateness=lateness))
        if delivery.crashes:
            self._hooks.tell(happenings.Recovered(**known, crashes=delivery.crashes))

    def _known(self, intake: Intake, delivery: Delivery[Any], handler: Handler | None, event: Event) -> dict[str, Any]:
        name = "" if handler is None else handler.name
        return {"queue": intake.name, "id": delivery.id, "attempt": delivery.attempt, "handler": name, "event": event}

    def _bury(self, intake: Intake, delivery: Delivery[Any], reason: str) -> None:
        known = self._known(intake, delivery, None, Event(delivery, intake.name))

        def then(outcome: SettleOutcome) -> None:
            if outcome is SettleOutcome.CANCELLED:
                self._hooks.tell(happenings.ItemCancelled(**known))
            elif outcome:
                self._hooks.tell(happenings.DeadLettered(**known, reason=reason, data=delivery.data))
            else:
                self._hooks.tell(happenings.Lost(**known))

        self._settler.put(delivery, Bury(reason), then)

    def _unreadable(self, intake: Intake, error: DecodeError) -> None:
        logger.error("queue %r: %d values cannot be read: %s", intake.name, len(error.undecodable), error)
        if error.kept_in is None:
            return
        for data in error.undecodable:
            self._hooks.tell(
                happenings.DeadLettered(queue=intake.name, id="", attempt=0, reason=f"undecodable: {error}", data=data)
            )

    def _duplicate(self, intake: Intake, data: bytes) -> None:
        self._hooks.tell(happenings.Dropped(queue=intake.name, data=data))

    # -- batches -----------------------------------------------------------------------------------------------------

    def _gather(
        self,
        intake: Intake,
        handler: Handler,
        delivery: Delivery[Any],
        starter: Starts,
    ) -> None:
        with self._mutex:
            gathered = intake.gathered.get(handler, [])
            has_slot = bool(gathered) or not handler.is_full
            if has_slot:
                intake.gathered[handler] = gathered
                gathered.append(delivery)
            if len(gathered) == 1:
                self._gathering[handler] = time.monotonic() + handler.within
            full = len(gathered) >= (handler.batch or 1)
            moment = self._gathering.get(handler, 0.0)
        if not has_slot:
            # It was asked for when it was to fill a batch whose time was over meanwhile.
            self._settler.put(delivery, Nack(0, counted=False), _nothing)
        elif full:
            self._begin_batch(intake, handler, starter)
        else:
            self._watch.added(moment)

    def _begin_batch(self, intake: Intake, handler: Handler, starter: Starts) -> None:
        with self._mutex:
            gathered = intake.gathered.pop(handler, [])
            self._gathering.pop(handler, None)
        kept = [delivery for delivery in gathered if not delivery.lost]
        for delivery in gathered:
            if delivery.lost:
                self._hooks.tell(
                    happenings.Lost(**self._known(intake, delivery, handler, Event(delivery, intake.name)))
                )
        if kept:
            self._begin(intake, handler, kept, None, starter)

    def _return_gathered(self, intake: Intake) -> None:
        with self._mutex:
            gathered = [delivery for some in intake.gathered.values() for delivery in some]
            for handler in intake.gathered:
                self._gathering.pop(handler, None)
            intake.gathered.clear()
        for delivery in gathered:
            self._settler.put(delivery, Nack(0, counted=False), _nothing)

    # -- times -------------------------------------------------------------------------------------------------------

    def _employed(self) -> list[Handler]:
        return [handler for intake in self._intakes.values() for handler in intake.handlers]

    def _moments(self) -> list[float]:
        with self._mutex:
            moments = [each.deadline for each in self._handlings if each.deadline is not None]
            moments += [each.parking.moment for each in self._employed() if each.parking.moment is not None]
            return moments + list(self._gathering.values())

    def _due(self, now: float) -> None:
        with self._mutex:
            late = [each for each in self._handlings if each.deadline is not None and each.deadline <= now]
            full = [
                (intake, handler)
                for intake in self._intakes.values()
                for handler in intake.gathered
                if self._gathering.get(handler, now + 1) <= now
            ]
            passable = [
                intake
                for intake in self._intakes.values()
                if any(handler.parking.reach(now) for handler in intake.handlers)
            ]
        for handling in late:
            handling.deadline = None
            handling.expire()
        for intake, handler in full:
            self._begin_batch(intake, handler, self._pool)
            for fetcher in list(self._fetchers.values()):
                fetcher.recount()
        for intake in passable:
            self._freed(intake)

    async def _lost(self, delivery: Delivery[Any]) -> None:
        with self._mutex:
            handling = self._of_delivery.get(id(delivery))
        if handling is not None:
            handling.lose(delivery)

    @property
    def is_consuming(self) -> bool:
        """Whether values that are ready are received, or would be when a slot is free."""
        fetchers = list(self._fetchers.values())
        return (
            not self._stops
            and not self._client.runtime.connections.outage.is_going_on
            and all(fetcher.is_well for fetcher in fetchers)
            and not self.problems
        )

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What cannot be done at present for its queues."""
        with self._mutex:
            queues = {side.keys.ready for intake in list(self._intakes.values()) for side in intake.leaser.sides}
        return tuple(each for each in self._client.problems if each.queue in queues)

    @property
    def running(self) -> int:
        """How many handlings go on."""
        with self._mutex:
            return self._running

    # -- the end -----------------------------------------------------------------------------------------------------

    async def aclose(self, grace: float, hurries: Callable[[], bool], changed: AsyncSwitch) -> None:
        """Fetches no more, lets handlers end within the grace, and hands the rest back, uncounted."""
        self._changed = changed
        deadline = time.monotonic() + grace
        with self._mutex:
            self._stops = True
            fetchers = list(self._fetchers.values())
            intakes = list(self._intakes.values())
        for fetcher in fetchers:
            fetcher.end()
        for fetcher in fetchers:
            await fetcher.has_ended()
        for intake in intakes:
            self._return_gathered(intake)
        while not hurries():
            changed.off()
            with self._mutex:
                left = len(self._handlings)
            wait = deadline - time.monotonic()
            if not left or wait <= 0 or hurries():
                break
            await changed.wait(wait)
        with self._mutex:
            rest = list(self._handlings)
        if rest:
            logger.warning("worker: stops; %d handlers have not returned, their values go back", len(rest))
        for handling in rest:
            handling.hand_back()
        await self._settler.aclose(LAST_STEPS, 0.0 if hurries() else max(0.0, deadline - time.monotonic()))
        await self._watch.aclose()
        if self._prober is not None:
            await self._prober.aclose()
        await self._pool.aclose(LAST_STEPS)
        for closing in self._ending:
            await closing.join(LAST_STEPS)
        for intake in intakes:
            await intake.aclose()
        self._client.runtime.connections.outage.hooks.remove(self._hooks.call)


def _nothing(outcome: SettleOutcome) -> None:
    """Nobody is told."""
