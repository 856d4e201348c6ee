"""Drives the engines of one client: feeds them triggers, and carries out their actions."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.moving.channels import Channels
from redisson_dq._async.moving.probe import Probe, look
from redisson_dq._async.moving.task import Decided, Departure, Task, Tidying
from redisson_dq._async.moving.transfers import Transfers
from redisson_dq._concurrency import AsyncBackgroundTask, AsyncInbox, AsyncWork
from redisson_dq._redis.options import Options
from redisson_dq.errors import ClosedError, NoThreadError, RedisConnectionError
from redisson_dq.items import TransferCounts
from redisson_dq.observing import Subscribed
from redisson_dq.scheduling.clock import client_parts
from redisson_dq.scheduling.engine import RESERVE_US, Do, Engine, State
from redisson_dq.scheduling.server_clock import ServerClock
from redisson_dq.scheduling.timer import Timer
from redisson_dq.wire.keys import QueueKeys

__all__ = ["TransferDriver"]

logger = logging.getLogger("redisson_dq")

# How soon after a transfer expired records are looked for, in seconds.
_TIDY = 30.0

# The pause before a step is tried again for which the system gave no thread.
_PAUSE_WHEN_SHORT = 0.2

# How long aclose() waits for the answer of a transfer that is under way, and for handing over its queues.
_LAST_ANSWER = 2.0

# Processes in reserve step in one after the other, within this many us. So the first of them is the next mover.
_STAGGER_US = 15_000


class TransferDriver:
    """The transfer tasks of one client: one per queue name, all run by one background task.

    Everything that happens becomes a step in one inbox, so an engine is only ever called from the background task. A
    transfer is a step too: queues with much to move take turns, one call each.
    """

    def __init__(
        self, connections: Connections, options: Options, receives: Callable[[str], bool], counts: TransferCounts
    ) -> None:
        """``counts`` are the client's counts of transfers."""
        self._connections = connections
        self._clock = connections.clock
        self._observers = options.observers
        # Says whether this client receives from the list with this key.
        self._receives = receives
        self._reserve_us = RESERVE_US + random.randrange(_STAGGER_US)
        # The clock of the one server, where it is not a cluster.
        self.server_clock = self._server_clock()
        parts = client_parts(connections.clock)
        self._timer = parts.timer(Timer, connections.clock)
        self._steps: AsyncInbox[AsyncWork] = AsyncInbox(connections.clock)
        # Steps for which the system gave no thread.
        self._short: list[AsyncWork] = []
        #: The tasks of the queues that it moves, by the channel.
        self.tasks: dict[str, Task] = {}
        self._channels = Channels(
            connections,
            keyspace=options.wakeups == "keyspace",
            subscribed=lambda channel: self._steps.put(lambda: self._subscribed(channel)),
            refused=lambda channel: self._steps.put(lambda: self._begun(channel)),
            announced=lambda channel, due_ms: self._steps.put(lambda: self._announced(channel, due_ms)),
            changed=self._on_changed,
        )
        connections.untold = self._on_untold
        interval = options.tuning.probe_interval
        interval_us = int(parts.housekeeping(interval) * 1_000_000)
        self._tidy_us = int(parts.housekeeping(min(_TIDY, interval)) * 1_000_000)
        self._probe = Probe(
            connections,
            self._timer,
            interval_us,
            ring=lambda: self._steps.put(self._probed),
            ping=self._channels.probe,
            look=self._look_at_all,
        )
        #: Whether the server has confirmed a queue's channel, as far as is known.
        self.hears = self._channels.hears
        self._transfers = Transfers(connections, options, counts, self.hears)
        self._closing = False
        self._task = AsyncBackgroundTask(self._run, "redisson_dq-mover")

    def attach(self, keys: QueueKeys, name: str, holder: object) -> None:
        """Moves the queue's due items as long as it has a holder. The first one starts its transfer task.

        May be called twice with one holder: a caller that was interrupted does not know whether it has called.
        """
        self._steps.put(lambda: self._attached(keys, name, holder))

    def detach(self, keys: QueueKeys, holder: object) -> None:
        """Lets a holder go, if it is one. The last one ends the queue's transfer task."""
        self._steps.put(lambda: self._detached(keys, holder))

    def later(self, name: str, delay_us: int, work: AsyncWork) -> None:
        """Does something short once, between two transfers. Nothing happens after :meth:`aclose`."""
        # The mover arms the timer. A signal handler may close the client in the middle of a call, and the close takes
        # the timer's lock.
        self._steps.put(lambda: self._armed(name, delay_us, work))

    def end(self) -> None:
        """Ends the timer and, after its step, the background task."""
        self._closing = True
        self._timer.close()
        # Wakes the background task, which ends before it takes this step.
        self._steps.put(self._probed)

    async def aclose(self) -> None:
        """Ends the subscription, the timer and the background task. The data stays as it is."""
        self.end()
        await self._task.stop(_LAST_ANSWER)
        # Last, as the background task may just have been starting it.
        await self._channels.aclose()

    async def _run(self) -> None:
        while True:
            step = await self._next()
            if step is None:
                continue
            # Steps from before aclose() do not hold it up.
            if self._closing:
                await self._transfers.hand_over(self.tasks.values())
                return
            try:
                await step()
            except NoThreadError as error:
                logger.debug("a step waits for a thread: %s", error)
                self._short.append(step)
            except Exception:
                # A defect in one queue must not stop the delivery of all others.
                logger.exception("unexpected error in the transfer driver")

    async def _next(self) -> AsyncWork | None:
        """The next step. None where steps or the timer have to be tried again, as the system gave no thread."""
        if not self._short and not self._timer.is_short():
            return await self._steps.get()
        step = await self._steps.next(_PAUSE_WHEN_SHORT)
        if step is None:
            short, self._short = self._short, []
            for each in short:
                self._steps.put(each)
        return step

    def _carry_out(self, task: Task, decided: Decided, departure: Departure | None = None) -> None:
        """Carries out the engine's decision."""
        for action in decided.actions:
            if action.do is Do.TRANSFER:
                self._steps.put(partial(self._transfer, task, departure or Departure(self._clock)))
            elif action.do is Do.ARM:
                fire = partial(self._steps.put, partial(self._fired, task))
                delay_us = self._transfers.plan(task, decided.at_us + action.delay_us, fire)
                self._timer.arm(task.keys.channel, delay_us, fire)
            else:
                self._timer.disarm(task.keys.channel)

    # -- which queues ------------------------------------------------------------------------------------------------

    async def _attached(self, keys: QueueKeys, name: str, holder: object) -> None:
        task = self.tasks.get(keys.channel)
        if task is None:
            if not self.tasks:
                self._probe.start()
            task = self.tasks[keys.channel] = self._made(keys, name)
            try:
                await self._channels.add(keys)
            except NoThreadError:
                del self.tasks[keys.channel]
                raise
        task.holders.add(holder)

    def _made(self, keys: QueueKeys, name: str) -> Task:
        def ring() -> None:
            self._steps.put(lambda: self._tidied(task))

        # The nodes of a cluster have a clock each.
        clock = self._server_clock() if self._connections.is_cluster else self.server_clock
        connections, engine = self._connections, Engine(self._reserve_us, clock)
        tidying = Tidying(keys, connections, self._timer, self._tidy_us, ring)
        task = Task(keys, name, engine, connections.outage, connections.refusals, connections.tries, tidying)
        return task

    def _server_clock(self) -> ServerClock:
        return ServerClock(drifts=self._clock.drifts)

    async def _armed(self, name: str, delay_us: int, work: AsyncWork) -> None:
        self._timer.arm(name, delay_us, lambda: self._steps.put(work))

    async def _detached(self, keys: QueueKeys, holder: object) -> None:
        task = self.tasks.get(keys.channel)
        if task is None or holder not in task.holders:
            return
        task.holders.discard(holder)
        if not task.holders:
            del self.tasks[keys.channel]
            task.closed()
            self._carry_out(task, Decided(task.engine.close()))
            if not self.tasks:
                self._probe.stop()
            await self._channels.remove(keys)
            await self._transfers.hand_over([task])

    # -- triggers of the subscription. A channel stands for the queue as it is now -----------------------------------

    async def _subscribed(self, channel: str) -> None:
        task = self.tasks.get(channel)
        if task is not None:
            if self._observers.heard[Subscribed]:
                self._observers.tell(Subscribed(queue=task.name, channel=channel))
            self._carry_out(task, Decided(task.engine.subscribed(), self._clock.now_us()))

    async def _begun(self, channel: str) -> None:
        """Moves a queue without its channel: the items that are there, and those that this client offers."""
        task = self.tasks.get(channel)
        if task is not None and task.engine.state is State.DETACHED:
            self._carry_out(task, Decided(task.engine.subscribed(), self._clock.now_us()))

    async def _announced(self, channel: str, due_ms: int) -> None:
        task, at_us = self.tasks.get(channel), self._clock.now_us()
        if task is not None:
            self._carry_out(task, Decided(task.engine.announced(due_ms, at_us), at_us))

    def _on_untold(self, channel: str, due_ms: int) -> None:
        task = self.tasks.get(channel)
        if task is not None and not task.engine.knows(due_ms):
            self._steps.put(lambda: self._announced(channel, due_ms))

    def _on_changed(self, channel: str) -> None:
        task = self.tasks.get(channel)
        # However many events come meanwhile, one look that is not sent yet covers all of them.
        if task is not None and not task.looking:
            task.looking = True
            self._steps.put(lambda: self._changed(task))

    async def _changed(self, task: Task) -> None:
        task.looking = False
        if task.engine.state is not State.CLOSED:
            with suppress(RedisConnectionError):
                self._carry_out(task, await look(self._connections, task))

    # -- triggers of the timer. An alarm belongs to the task that asked for it ---------------------------------------

    async def _fired(self, task: Task) -> None:
        at_us = self._clock.now_us()
        departure, task.departure = task.departure, None
        if task.engine.state is State.PAUSING:
            self._connections.tries.begins(task)
        self._carry_out(task, Decided(task.engine.fired(at_us), at_us), departure)

    async def _tidied(self, task: Task) -> None:
        if task.engine.state is State.PAUSING:
            task.tidying.postpone()
        elif task.engine.state is not State.CLOSED:
            await task.tidying.tidy()

    async def _probed(self) -> None:
        if self.tasks:
            await self._probe.run()

    async def _look_at_all(self) -> None:
        """Looks at the queues one by one. Raises RedisConnectionError at the first that cannot be reached."""
        await self._connections.check_server(next(iter(self.tasks.values())).keys.ready)
        for task in list(self.tasks.values()):
            self._carry_out(task, await look(self._connections, task))
            if self._receives(task.keys.ready):
                error = await task.arrivals.look(self._connections)
                if error is not None:
                    raise error

    # -- transfers ---------------------------------------------------------------------------------------------------

    async def _transfer(self, task: Task, departure: Departure) -> None:
        if task.engine.state is State.CLOSED:
            return
        tried = self._clock.monotonic()
        try:
            decided = await self._transfers.run(task, departure)
        except ClosedError:
            return
        except Exception as error:
            # Every error counts: an engine that is not notified of the transfer's end would move nothing any more.
            decided = await self._transfers.failed(task, error, tried)
        self._carry_out(task, decided)
