"""A worker that runs: its queues, its slots, and all that goes on in them."""

from __future__ import annotations

import contextvars
import logging
import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from typing import Any

from redisson_dq._async.client import Client
from redisson_dq._async.moving.arrivals import Arrivals
from redisson_dq._async.worker.event import Event, current
from redisson_dq._async.worker.fetching import Fetcher
from redisson_dq._async.worker.intake import Intake
from redisson_dq._async.worker.performing import RunningHandling
from redisson_dq._async.worker.progress import ProgressWatch
from redisson_dq._async.worker.repeating import Deadlines, Prober
from redisson_dq._async.worker.settling import Settler
from redisson_dq._concurrency import AsyncBackgroundTask, AsyncMutex, AsyncSwitch, async_finish
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool
from redisson_dq._concurrency.layers import Layer
from redisson_dq._redis.introducing import own_leases
from redisson_dq.calls.delivery import lease_of
from redisson_dq.items import Problem
from redisson_dq.scheduling.clock import client_parts
from redisson_dq.working.assigning import Assigner
from redisson_dq.working.handlers import Handler
from redisson_dq.working.handling import Setting
from redisson_dq.working.hooks import Hooks
from redisson_dq.working.order import Order
from redisson_dq.working.settings import QueueSettings

__all__ = ["LAST_STEPS", "Crew"]

logger = logging.getLogger("redisson_dq")

#: How long the end waits for outcomes that are decided, for cancelled handlings, and for the last answers.
LAST_STEPS = 5.0
# The name of the fetcher for many queues.
_MANY = ""
# How many queues have a fetcher each, which sends acks along with the next receive.
_FEW = 4


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
        stalled_after: float = 300.0,
    ) -> None:
        """``settings`` of a queue are complete. ``total`` is how many handlings may go on at a time, None: any."""
        self._client = client
        self._clock = client.runtime.clock
        self._total = total
        self._owner = owner
        own_leases(client.runtime.connections.client, owner)
        self._order = order
        self._settings = settings
        self._hooks = hooks
        self._mutex = AsyncMutex()
        self._intakes: dict[str, Intake] = {}
        #: By the queue's name; one fetcher for many queues is under an empty name.
        self._fetchers: dict[str, Fetcher] = {}
        # Tasks that close fetchers and queues, until they have done that.
        self._closings: list[AsyncBackgroundTask] = []
        # Fetchers in whose place others are, until nothing more comes from them.
        self._replaced: set[Fetcher] = set()
        self._stops = False
        # Not the event of a handler that starts a worker.
        context = contextvars.copy_context()
        context.run(current.set, None)
        self._pool = AsyncHandlerPool("handler", self._clock, context)
        #: The arrivals of queues that this client opened with ``transfer=False``.
        self._arrivals: dict[str, list[Arrivals]] = {}
        self._prober: Prober | None = None
        # A client has these for all its leases. So they may begin though the rest of a crew cannot.
        client.runtime.renewal.start(calls_back=True)
        self._settler = Settler(client.runtime.connections, hooks)
        setting = partial(
            Setting,
            pool=self._pool,
            settler=self._settler,
            layers=layers,
            given=given,
            hooks=hooks,
            chance=chance,
            clock=self._clock,
            event_of=partial(Event, bridge=self._pool.bridge),
        )
        # On when a handling has ended while the worker stops.
        self._ended = AsyncSwitch(self._clock)
        changed = AsyncSwitch(self._clock)
        self._assigner = Assigner(total, setting, RunningHandling, changed.on, self._ended.on)
        with ExitStack() as begun:
            # Where the system gives no thread for one of them, those before it end.
            begun.callback(self._settler.abandon)
            self._deadlines = Deadlines(changed, self._assigner.look)
            begun.callback(self._deadlines.abandon)
            self._watch = ProgressWatch(client.runtime, self._assigner, self._pool, self._open_intakes, stalled_after)
            begun.pop_all()
        client.runtime.connections.outage.hooks.append(hooks.call)

    def _open_intakes(self) -> list[Intake]:
        with self._mutex:
            return list(self._intakes.values())

    # -- queues and handlers -----------------------------------------------------------------------------------------

    def employ(self, handlers: Iterable[Handler]) -> None:
        """Opens the queues of these handlers, and closes those that no handler is for any more.

        Does nothing once the crew stops, which closes the queues that are open by then.
        """
        by_queue: dict[str, list[Handler]] = {}
        for handler in handlers:
            by_queue.setdefault(handler.queue, []).append(handler)
        with self._mutex:
            if not self._stops:
                self._employ(by_queue)

    def _employ(self, by_queue: dict[str, list[Handler]]) -> None:
        for name, chosen in by_queue.items():
            if name not in self._intakes:
                opened = self._intakes[name] = Intake(
                    self._client.runtime,
                    name,
                    self._settings(name),
                    self._assigner.is_passed,
                    self._assigner.reports.duplicate,
                    self._settler.look_again,
                    self._owner,
                )
                if not self._settings(name).transfer:
                    self._arrivals[name] = [Arrivals(side.keys) for side in opened.sides]
            self._intakes[name].employ(chosen)
            self._assigner.employ(self._intakes[name], chosen)
        closed = [self._intakes.pop(name) for name in list(self._intakes) if name not in by_queue]
        for intake in closed:
            self._arrivals.pop(intake.name, None)
        wanted = {name: [intake] for name, intake in self._intakes.items()}
        if len(wanted) > (_FEW if self._total is None else 1):
            wanted = {_MANY: list(self._intakes.values())}
        gone = [self._fetchers.pop(name) for name in list(self._fetchers) if name not in wanted]
        for name, intakes in wanted.items():
            fetcher = self._fetchers.get(name)
            if fetcher is None:
                fetcher = self._fetcher(name)
                fetcher.set_intakes(intakes)
                try:
                    fetcher.start()
                except BaseException:
                    fetcher.end()
                    raise
                self._fetchers[name] = fetcher
            else:
                fetcher.set_intakes(intakes)
        if self._arrivals and self._prober is None:
            runtime = self._client.runtime
            interval = client_parts(self._clock).housekeeping(runtime.options.tuning.probe_interval)
            self._prober = Prober(runtime.connections, interval, self._probed)
        self._replaced.update(gone)
        for fetcher in gone:
            fetcher.end()
        if gone or closed:
            self._closings.append(AsyncBackgroundTask(lambda: self._close(gone, closed), "redisson_dq-closing"))

    def _probed(self) -> list[Arrivals]:
        with self._mutex:
            return [each for some in self._arrivals.values() for each in some]

    def _fetcher(self, name: str) -> Fetcher:
        return Fetcher(
            self._client.runtime, self._assigner, self._order, self._pool, self._settler, is_alone=name != _MANY
        )

    async def _close(self, fetchers: Sequence[Fetcher], intakes: Sequence[Intake]) -> None:
        for fetcher in fetchers:
            await fetcher.has_ended()
            self._replaced.discard(fetcher)
        # A stop that finds no batch of these queues any more ends the settler soon.
        with self._mutex:
            for intake in intakes:
                intake.forget_limits()
                self._assigner.close_queue(intake)
        await self._detach(intakes)
        with self._mutex:
            self._closings = [closing for closing in self._closings if not closing.is_current]

    async def _detach(self, intakes: Iterable[Intake]) -> None:
        """Closes queues, all at once, as each close may have to wait for a server that hangs."""
        attachments = [attachment for intake in intakes for attachment in intake.attachments]
        # It goes on to its end. Otherwise a cancelled caller would leave waits that nobody can end any more.
        await async_finish(self._client.runtime.detach(*attachments))

    @property
    def is_consuming(self) -> bool:
        """Whether values that are ready are received, or would be when a slot is free."""
        fetchers = list(self._fetchers.values())
        return (
            not self._stops
            and not self._client.runtime.connections.outage.is_going_on
            and all(fetcher.is_well for fetcher in fetchers)
            and all(problem.only_late for problem in self.problems)
        )

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The tasks that cannot be done at present for its queues, and the handlers that make no progress."""
        queues = {side.keys.ready for intake in self._open_intakes() for side in intake.sides}
        return (*(each for each in self._client.problems if each.queue in queues), *self._watch.stalls)

    @property
    def handling_for(self) -> dict[str, timedelta]:
        """For how long the oldest handling of each queue has gone on."""
        now, found = self._clock.monotonic(), dict[str, timedelta]()
        for handling in self._assigner.holding:
            found.setdefault(handling.intake.name, timedelta(seconds=now - handling.began))
        return found

    @property
    def running(self) -> int:
        """How many handlings go on."""
        return self._assigner.running

    # -- the end -----------------------------------------------------------------------------------------------------

    def check_end(self) -> None:
        """Lets :meth:`aclose` check again whether the grace is cut short."""
        self._ended.on()

    async def aclose(self, grace: float, hurries: Callable[[], bool]) -> None:
        """Fetches no more, lets handlers end within the grace, and hands the rest back, uncounted."""
        deadline = self._clock.monotonic() + grace
        with self._mutex:
            self._stops = True
            self._assigner.stop()
            fetchers, replaced = list(self._fetchers.values()), list(self._replaced)
            intakes = list(self._intakes.values())
        for fetcher in fetchers:
            fetcher.end()
        # Where Redis hangs, that may not have been noticed yet.
        answers = True
        for fetcher in (*replaced, *fetchers):
            answers = await fetcher.has_ended() and answers
        with self._mutex:
            self._assigner.return_batches()
        await self._wait_for_end(deadline, hurries)
        count = sum(bool(handling.hand_back()) for handling in reversed(self._assigner.handlings))
        if count:
            logger.warning("worker: stopping; %d handlers have not returned, and their values are put back", count)
        left = 0.0 if hurries() else max(0.0, deadline - self._clock.monotonic())
        last = self._clock.monotonic() + LAST_STEPS
        # The outcomes of handlers that have returned are on their way to Redis then.
        await self._wait_for_end(last, lambda: False)
        for handling in reversed(self._assigner.handlings):
            if back := handling.hand_back():
                logger.warning(
                    "queue %r: %s has returned, but a hook or its backoff has not: the worker stops and puts back %s",
                    handling.intake.name,
                    handling.handler.name,
                    ", ".join(lease_of(event).display_name for event in back),
                )
        await self._settler.aclose(max(0.0, last - self._clock.monotonic()) if answers else left, left)
        await self._deadlines.aclose()
        await self._watch.aclose()
        if self._prober is not None:
            await self._prober.aclose()
        await self._pool.aclose(LAST_STEPS)
        for closing in list(self._closings):
            await closing.join(LAST_STEPS)
        await self._detach(intakes)
        self._client.runtime.connections.outage.hooks.remove(self._hooks.call)

    async def _wait_for_end(self, deadline: float, hurries: Callable[[], bool]) -> None:
        """Waits until all handlings have ended, until the deadline, or until ``hurries`` cuts that short."""
        while not hurries():
            self._ended.off()
            wait = deadline - self._clock.monotonic()
            if not self._assigner.handlings or wait <= 0 or hurries():
                break
            await self._ended.wait(wait)
