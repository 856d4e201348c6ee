# Generated from redisson_dq/_async/mover.py by .ci/unasync.py. Do not edit: edit that file and run it.

"""Drives the engines of one client: feeds them what happens, carries out what they decide."""

from __future__ import annotations

import logging
import random
import secrets
import time
from typing import Union

import attrs

from .._options import Options
from .._pairs import Inbox, Worker
from ..engine import RESERVE_US, Action, Do, Engine, Role, State
from ..errors import ArgumentError, ClosedError, RedisConnectionError, RedissonDQError
from ..recurrence import Recurrence
from ..requests.delayed import warn_of_quarantine
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

# The keyspace events after which a sorted set may have another head that is due sooner.
_ADDING = frozenset(
    {b"zadd", b"zincr", b"zunionstore", b"zinterstore", b"zdiffstore", b"zrangestore"}
    | {b"rename_to", b"restore", b"copy_to", b"move_to"}
)

# How long close() waits for the answer of a transfer that is under way, and for handing its queues over.
_LAST_ANSWER = 2.0

# Processes in reserve step in one after the other, so that the first of them is the next mover: within so many us.
_STAGGER_US = 15_000


@attrs.define
class _Task:
    """One queue's transfer task."""

    keys: QueueKeys
    engine: Engine
    handles: int = 0
    #: Whether a look at the head is on its way to the worker already.
    looking: bool = False


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
class _Look:
    task: _Task


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


_TaskEvent = Union[_Subscribed, _Announced, _Look, _Fired, _Transfer]
_Event = Union[_Attach, _Detach, _Probe, _TaskEvent]


def _now_us() -> int:
    return time.monotonic_ns() // 1000


class Mover:
    """The transfer tasks of one client: one per queue name, all run by one worker.

    Everything that happens goes through one inbox, so an engine is only ever called from the worker. A
    transfer goes through it too: queues with much to move take turns, one call each.
    """

    def __init__(self, connections: Connections, options: Options) -> None:
        self._connections = connections
        self._options = options
        self._probe_us = int(options.probe_interval * 1_000_000)
        # By what the scripts know this client among others that move the same queue.
        self._id = secrets.token_hex(8)
        self._reserve_us = RESERVE_US + random.randrange(_STAGGER_US)
        self._timer = Timer()
        self._inbox: Inbox[_Event | _Stop] = Inbox()
        self._subscription = Subscription(connections, self._on_subscribed, self._on_published)
        self._tasks: dict[str, _Task] = {}
        # The same tasks by the channel of the keyspace events of their timeout set, where those are listened to.
        self._watched: dict[str, _Task] = {}
        self._closing = False
        self._worker = Worker(self._run, "redisson_dq-mover")

    def attach(self, keys: QueueKeys) -> None:
        """Counts one more handle; the first one starts the queue's transfer task."""
        self._inbox.put(_Attach(keys))

    def detach(self, keys: QueueKeys) -> None:
        """Counts one handle less; the last one ends the queue's transfer task."""
        self._inbox.put(_Detach(keys))

    def close(self) -> None:
        """Ends the subscription, the timer and the worker. The data stays as it is."""
        self._closing = True
        self._timer.close()
        self._inbox.put(_Stop())
        self._worker.stop(_LAST_ANSWER)
        # Last, as the worker may just have been starting it.
        self._subscription.close()

    def _on_subscribed(self, channel: str) -> None:
        if channel in self._watched:
            self._look_at(self._watched[channel])
        else:
            self._inbox.put(_Subscribed(channel))

    def _on_published(self, channel: str, body: bytes) -> None:
        watched = self._watched.get(channel)
        if watched is not None:
            if body in _ADDING:
                self._look_at(watched)
            return
        try:
            due_ms = int(body)
        except ValueError:
            logger.warning("channel %r: a message that is no due time was ignored: %.60r", channel, body)
            return
        self._inbox.put(_Announced(channel, due_ms))

    def _look_at(self, task: _Task) -> None:
        # However many events come meanwhile, one look that is yet to be sent sees what all of them did.
        if not task.looking:
            task.looking = True
            self._inbox.put(_Look(task))

    def _run(self) -> None:
        while True:
            event = self._inbox.get()
            # What was put in before _Stop does not hold up close().
            if self._closing or isinstance(event, _Stop):
                self._hand_over(list(self._tasks.values()))
                return
            try:
                self._handle(event)
            except Exception:
                # A defect must not end the delivery of every other queue.
                logger.exception("unexpected error while handling %r", event)

    def _handle(self, event: _Event) -> None:
        if isinstance(event, _Attach):
            self._attach(event.keys)
        elif isinstance(event, _Detach):
            self._detach(event.keys)
        elif isinstance(event, _Probe):
            self._probe()
        else:
            self._handle_task_event(event)

    def _handle_task_event(self, event: _TaskEvent) -> None:
        # A channel means the queue as it is now; a timer or a transfer means the task that asked for it.
        if isinstance(event, (_Subscribed, _Announced)):
            current = self._tasks.get(event.channel)
            if current is None:
                return
            if isinstance(event, _Subscribed):
                self._carry_out(current, current.engine.subscribed())
            else:
                self._carry_out(current, current.engine.announced(event.due_ms, _now_us()))
        elif isinstance(event, _Look):
            event.task.looking = False
            if event.task.engine.state is not State.CLOSED:
                self._look(event.task)
        elif isinstance(event, _Fired):
            self._carry_out(event.task, event.task.engine.fired(_now_us()))
        elif event.task.engine.state is not State.CLOSED:
            self._transfer(event.task)

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

    def _attach(self, keys: QueueKeys) -> None:
        task = self._tasks.get(keys.channel)
        if task is None:
            if not self._tasks:
                self._timer.arm(_PROBE, self._probe_us, lambda: self._inbox.put(_Probe()))
            task = self._tasks[keys.channel] = _Task(keys, Engine(self._reserve_us))
            self._subscription.add(keys.channel)
            if self._options.wakeups == "keyspace":
                self._watched[self._keyspace_channel(keys)] = task
                self._subscription.add(self._keyspace_channel(keys))
        task.handles += 1

    def _detach(self, keys: QueueKeys) -> None:
        task = self._tasks[keys.channel]
        task.handles -= 1
        if task.handles == 0:
            del self._tasks[keys.channel]
            self._carry_out(task, task.engine.close())
            if not self._tasks:
                self._timer.disarm(_PROBE)
            self._subscription.remove(keys.channel)
            self._hand_over([task])
            if self._watched.pop(self._keyspace_channel(keys), None) is not None:
                self._subscription.remove(self._keyspace_channel(keys))

    def _keyspace_channel(self, keys: QueueKeys) -> str:
        return f"__keyspace@{self._connections.database}__:{keys.timeout}"

    def _hand_over(self, tasks: list[_Task]) -> None:
        """Lets others go on at once with the queues that this client is the mover of. One round trip, if any."""
        requests = [calls.hand_over(task.keys, self._id) for task in tasks if task.engine.led]
        if requests:
            try:
                self._connections.run_many(requests, transaction=False)
            except RedissonDQError as error:
                # They step in on their own, a little later.
                logger.debug("cannot hand %d queues over: %s", len(requests), error)

    def _transfer(self, task: _Task) -> None:
        request = calls.transfer(
            task.keys,
            self._options.transfer_batch,
            self._options.remember_ms,
            self._id,
            cluster=self._connections.is_cluster,
        )
        sent_us = _now_us()
        try:
            result = self._connections.run(request)
            read_us = _now_us()
            advanced = [self._advance(task.keys, *come, result.now_us // 1000) for come in result.recurring]
        except ClosedError:
            return
        except Exception as error:
            # Whatever it is: an engine that hears of no end would move nothing any more.
            unexpected = not isinstance(error, RedissonDQError)
            logger.warning(
                "queue %r: a transfer failed, it will be tried again: %s", task.keys.ready, error, exc_info=unexpected
            )
            self._connections.refresh()
            self._carry_out(task, task.engine.failed(_now_us()))
            return
        warn_of_quarantine(task.keys, result.set_aside)
        if result.expired:
            logger.warning(
                "queue %r: %d items were too late to be delivered; they are in the list %r",
                task.keys.ready,
                result.expired,
                task.keys.expired,
            )
        next_ms = result.next_ms
        if len(advanced) == self._options.transfer_batch and any(advanced):
            # There may be more of them than one reply tells of.
            next_ms = result.now_us // 1000
        self._carry_out(task, task.engine.transferred(next_ms, Role(result.role), result.now_us, sent_us, read_us))

    def _advance(self, keys: QueueKeys, name: str, definition: str, come_ms: int, now_ms: int) -> bool:
        """Offers the next occurrence of a recurring offer, unless another process is first. Announced like any other.

        False when this release cannot read the definition. Another failure is raised, and the transfer tried again: it
        tells of the same occurrence.
        """
        try:
            next_ms = Recurrence.from_json(definition).next_ms(come_ms, now_ms)
        except ArgumentError as error:
            logger.warning("queue %r: the recurring offer %r cannot go on: %s", keys.ready, name, error)
            return False
        self._connections.run(calls.advance(keys, self._options.envelope, name, definition, come_ms, next_ms))
        return True

    def _probe(self) -> None:
        """Two commands for a client with one queue: a PING on the subscription, a look at each queue's head."""
        if not self._tasks:
            return
        self._subscription.probe()
        for task in list(self._tasks.values()):
            if not self._look(task):
                break
        self._timer.arm(_PROBE, self._probe_us, lambda: self._inbox.put(_Probe()))

    def _look(self, task: _Task) -> bool:
        """Reads when the head is due. False when Redis cannot be reached."""
        try:
            due_ms = self._connections.run(commands.head(task.keys))
        except ClosedError:
            return False
        except RedissonDQError as error:
            logger.warning("queue %r: a look at its head failed: %s", task.keys.ready, error)
            return not isinstance(error, RedisConnectionError)
        if due_ms is not None:
            self._carry_out(task, task.engine.announced(due_ms, _now_us()))
        return True
