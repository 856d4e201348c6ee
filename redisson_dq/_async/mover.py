"""Drives the engines of one client: feeds them what happens, carries out what they decide."""

from __future__ import annotations

import logging
import time
from typing import Union

import attrs

from .._pairs import AsyncInbox, AsyncWorker
from ..engine import Action, Do, Engine, State
from ..errors import ClosedError, RedisConnectionError, RedissonDQError
from ..scripts import calls
from ..timer import Timer
from ..wire import commands
from ..wire.keys import QueueKeys
from .connections import Connections
from .subscription import Subscription

__all__ = ["Mover"]

logger = logging.getLogger("redisson_dq")

_PROBE = "probe"

# The least that passes between the time an alarm is set for and the first line of the script it leads to: waking
# two threads, one send. A transfer that still comes early costs a round trip, never an early delivery.
_HEAD_START_US = 200

# How long close() waits for the answer of a transfer that is under way.
_LAST_ANSWER = 2.0


@attrs.define
class _Task:
    """One queue's transfer task."""

    keys: QueueKeys
    handles: int = 0
    engine: Engine = attrs.field(factory=Engine)


@attrs.frozen
class _Attach:
    keys: QueueKeys


@attrs.frozen
class _Detach:
    keys: QueueKeys


@attrs.frozen
class _Subscribed:
    channel: str


@attrs.frozen
class _Announced:
    channel: str
    due_ms: int


@attrs.frozen
class _Fired:
    task: _Task


@attrs.frozen
class _Transfer:
    task: _Task


@attrs.frozen
class _Probe:
    pass


@attrs.frozen
class _Stop:
    pass


_TaskEvent = Union[_Subscribed, _Announced, _Fired, _Transfer]
_Event = Union[_Attach, _Detach, _Probe, _TaskEvent]


def _now_us() -> int:
    return time.monotonic_ns() // 1000


def warn_of_quarantine(keys: QueueKeys, count: int) -> None:
    """Says once what was set aside, by whoever did it."""
    logger.warning(
        "queue %r: %d members that are in no envelope format were moved to the list %r",
        keys.ready,
        count,
        keys.quarantine,
    )


class Mover:
    """The transfer tasks of one client: one per queue name, all run by one worker.

    Everything that happens goes through one inbox, so an engine is only ever called from the worker. A
    transfer goes through it too: queues with much to move take turns, one call each.
    """

    def __init__(self, connections: Connections, *, batch: int, probe_interval: float) -> None:
        self._connections = connections
        self._batch = batch
        self._probe_us = int(probe_interval * 1_000_000)
        self._timer = Timer()
        self._inbox: AsyncInbox[_Event | _Stop] = AsyncInbox()
        self._subscription = Subscription(connections, self._on_subscribed, self._on_announced)
        self._tasks: dict[str, _Task] = {}
        self._closing = False
        self._worker = AsyncWorker(self._run, "redisson_dq-mover")

    def attach(self, keys: QueueKeys) -> None:
        """Counts one more handle; the first one starts the queue's transfer task."""
        self._inbox.put(_Attach(keys))

    def detach(self, keys: QueueKeys) -> None:
        """Counts one handle less; the last one ends the queue's transfer task."""
        self._inbox.put(_Detach(keys))

    async def aclose(self) -> None:
        """Ends the subscription, the timer and the worker. The data stays as it is."""
        self._closing = True
        self._timer.close()
        self._inbox.put(_Stop())
        await self._worker.stop(_LAST_ANSWER)
        # Last, as the worker may just have been starting it.
        await self._subscription.aclose()

    def _on_subscribed(self, channel: str) -> None:
        self._inbox.put(_Subscribed(channel))

    def _on_announced(self, channel: str, due_ms: int) -> None:
        self._inbox.put(_Announced(channel, due_ms))

    async def _run(self) -> None:
        while True:
            event = await self._inbox.get()
            # What was put in before _Stop does not hold up close().
            if self._closing or isinstance(event, _Stop):
                return
            try:
                await self._handle(event)
            except Exception:
                # A defect must not end the delivery of every other queue.
                logger.exception("unexpected error while handling %r", event)

    async def _handle(self, event: _Event) -> None:
        if isinstance(event, _Attach):
            await self._attach(event.keys)
        elif isinstance(event, _Detach):
            await self._detach(event.keys)
        elif isinstance(event, _Probe):
            await self._probe()
        else:
            await self._handle_task_event(event)

    async def _handle_task_event(self, event: _TaskEvent) -> None:
        # A channel means the queue as it is now; a timer or a transfer means the task that asked for it.
        if isinstance(event, (_Subscribed, _Announced)):
            current = self._tasks.get(event.channel)
            if current is None:
                return
            if isinstance(event, _Subscribed):
                self._carry_out(current, current.engine.subscribed())
            else:
                self._carry_out(current, current.engine.announced(event.due_ms, _now_us()))
        elif isinstance(event, _Fired):
            self._carry_out(event.task, event.task.engine.fired())
        elif event.task.engine.state is not State.CLOSED:
            await self._transfer(event.task)

    def _carry_out(self, task: _Task, actions: tuple[Action, ...]) -> None:
        channel = task.keys.channel
        for action in actions:
            if action.do is Do.TRANSFER:
                self._inbox.put(_Transfer(task))
            elif action.do is Do.ARM:
                delay_us = max(0, action.delay_us - _HEAD_START_US)
                self._timer.arm(channel, delay_us, lambda: self._inbox.put(_Fired(task)))
            else:
                self._timer.disarm(channel)

    async def _attach(self, keys: QueueKeys) -> None:
        task = self._tasks.get(keys.channel)
        if task is None:
            if not self._tasks:
                self._timer.arm(_PROBE, self._probe_us, lambda: self._inbox.put(_Probe()))
            task = self._tasks[keys.channel] = _Task(keys)
            await self._subscription.add(keys.channel)
        task.handles += 1

    async def _detach(self, keys: QueueKeys) -> None:
        task = self._tasks[keys.channel]
        task.handles -= 1
        if task.handles == 0:
            del self._tasks[keys.channel]
            self._carry_out(task, task.engine.close())
            if not self._tasks:
                self._timer.disarm(_PROBE)
            await self._subscription.remove(keys.channel)

    async def _transfer(self, task: _Task) -> None:
        sent_us = _now_us()
        try:
            result = await self._connections.run(calls.transfer(task.keys, self._batch))
        except ClosedError:
            return
        except RedissonDQError as error:
            logger.warning("queue %r: a transfer failed, it will be tried again: %s", task.keys.ready, error)
            await self._connections.refresh()
            self._carry_out(task, task.engine.failed(_now_us()))
            return
        if result.set_aside:
            warn_of_quarantine(task.keys, result.set_aside)
        actions = task.engine.transferred(result.next_ms, result.now_us, sent_us, _now_us())
        self._carry_out(task, actions)

    async def _probe(self) -> None:
        """Two commands for a client with one queue: a PING on the subscription, a look at each queue's head."""
        if not self._tasks:
            return
        await self._subscription.probe()
        for task in list(self._tasks.values()):
            try:
                due_ms = await self._connections.run(commands.head(task.keys))
            except RedissonDQError as error:
                logger.warning("queue %r: the liveness probe failed: %s", task.keys.ready, error)
                if self._closing or isinstance(error, RedisConnectionError):
                    break
                continue
            if due_ms is not None:
                self._carry_out(task, task.engine.announced(due_ms, _now_us()))
        self._timer.arm(_PROBE, self._probe_us, lambda: self._inbox.put(_Probe()))
