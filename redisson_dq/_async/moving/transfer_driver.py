"""Drives the engines of one client: feeds them what happens, carries out what they decide."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from typing import Any, Union

import attrs

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.dedicated import NOBODYS_CHANNEL
from redisson_dq._async.connecting.subscription import Subscription
from redisson_dq._async.moving.departure import Departure
from redisson_dq._async.moving.recurring import advance
from redisson_dq._async.moving.task import Task
from redisson_dq._async.moving.tidying import Tidying
from redisson_dq._clock import now_us
from redisson_dq._concurrency import AsyncBackgroundTask, AsyncInbox, async_give_way
from redisson_dq._options import Options
from redisson_dq.errors import ClosedError, RedisConnectionError, RedissonDQError
from redisson_dq.items import TransferCounts
from redisson_dq.requests.inner.delayed_side import warn_of_expired, warn_of_quarantine
from redisson_dq.scheduling.engine import RESERVE_US, Action, Do, Engine, Role, State
from redisson_dq.scheduling.head_start import HeadStart
from redisson_dq.scheduling.server_clock import ServerClock
from redisson_dq.scheduling.timer import Timer
from redisson_dq.wire import calls, commands
from redisson_dq.wire.forms import tell_newer
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["TransferDriver"]

logger = logging.getLogger("redisson_dq")

_PROBE = "probe"
# While Redis does not answer, the next probe comes so soon, in us.
_PROBE_AGAIN_US = 1_000_000

# The keyspace events after which a sorted set may have another head that is due sooner.
_ADDING = frozenset(
    {b"zadd", b"zincr", b"zunionstore", b"zinterstore", b"zdiffstore", b"zrangestore"}
    | {b"rename_to", b"restore", b"copy_to", b"move_to"}
)

# What is over is looked for so soon after a transfer, in us.
_TIDY_US = 30_000_000

# How long aclose() waits for the answer of a transfer that is under way, and for handing over its queues.
_LAST_ANSWER = 2.0

# Processes in reserve step in one after the other, within so many us. So the first of them is the next mover.
_STAGGER_US = 15_000


@attrs.frozen
class _Attach:
    keys: QueueKeys
    holder: object


@attrs.frozen
class _Detach:
    keys: QueueKeys
    holder: object


@attrs.frozen
class _Subscribed:
    channel: str


@attrs.frozen
class _Announced:
    channel: str
    due_ms: int


@attrs.frozen
class _Look:
    task: Task


@attrs.frozen
class _Fired:
    task: Task


@attrs.frozen
class _Transfer:
    task: Task
    departure: Departure


@attrs.frozen
class _TimeToTidy:
    task: Task


@attrs.frozen
class _Probe:
    pass


@attrs.frozen
class _Stop:
    pass


_TaskNotice = Union[_Subscribed, _Announced, _Look, _Fired, _Transfer, _TimeToTidy]
_Notice = Union[_Attach, _Detach, _Probe, _TaskNotice]


class TransferDriver:
    """The transfer tasks of one client: one per queue name, all run by one background task.

    Everything that happens goes through one inbox, so an engine is only ever called from the background task. A
    transfer goes through it too: queues with much to move take turns, one call each.
    """

    def __init__(
        self, connections: Connections, options: Options, receives: Callable[[str], bool], counts: TransferCounts
    ) -> None:
        """``counts`` are the client's counts of transfers."""
        self._connections = connections
        self._options = options
        self._counts = counts
        # Tells whether this client receives from the list with this key.
        self._receives = receives
        self._probe_us = int(options.probe_interval * 1_000_000)
        # Whether the last probe had no answer.
        self._is_away = False
        #: The name by which the scripts tell this client from others that move the same queue.
        self.id = connections.client
        self._reserve_us = RESERVE_US + random.randrange(_STAGGER_US)
        self._timer = Timer()
        self._head_start = HeadStart(busy_wait=options.busy_wait)
        # The clock of the one server, where it is not a cluster.
        self.clock = ServerClock()
        self._inbox: AsyncInbox[_Notice | _Stop] = AsyncInbox()
        #: What it knows of each queue that it moves, by the channel.
        self.tasks: dict[str, Task] = {}
        self._subscription = Subscription(
            connections,
            self._on_subscribed,
            self._on_published,
            role="subscription",
            queues=lambda: [task.keys.ready for task in list(self.tasks.values())],
        )
        # The same tasks by the channel of the keyspace events of their timeout set, where those are listened to.
        self._watched: dict[str, Task] = {}
        self._closing = False
        self._task = AsyncBackgroundTask(self._run, "redisson_dq-mover")

    def attach(self, keys: QueueKeys, holder: object) -> None:
        """Moves the queue's due items as long as it has a holder. The first one starts its transfer task.

        May be called twice with one holder: a caller that was interrupted does not know whether it has called.
        """
        self._inbox.put(_Attach(keys, holder))

    def detach(self, keys: QueueKeys, holder: object) -> None:
        """Lets a holder go, if it is one. The last one ends the queue's transfer task."""
        self._inbox.put(_Detach(keys, holder))

    async def aclose(self) -> None:
        """Ends the subscription, the timer and the background task. The data stays as it is."""
        self._closing = True
        self._timer.close()
        self._inbox.put(_Stop())
        await self._task.stop(_LAST_ANSWER)
        # Last, as the background task may just have been starting it.
        await self._subscription.aclose()

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
        if channel == NOBODYS_CHANNEL:
            # The end of a blocked pop is published there. A subscription without queues holds that channel.
            return
        try:
            due_ms = int(body)
            if due_ms < 0:
                # A second message, which is for Redisson (``scripts/include/look_again.lua``).
                return
        except ValueError:
            logger.warning("channel %r: a message that is no due time was ignored: %.60r", channel, body)
            return
        self._inbox.put(_Announced(channel, due_ms))

    def _look_at(self, task: Task) -> None:
        # However many events come meanwhile, one look that is not sent yet covers all of them.
        if not task.looking:
            task.looking = True
            self._inbox.put(_Look(task))

    async def _run(self) -> None:
        while True:
            notice = await self._inbox.get()
            # Notices from before _Stop do not hold up aclose().
            if self._closing or isinstance(notice, _Stop):
                await self._hand_over(list(self.tasks.values()))
                return
            try:
                await self._handle(notice)
            except Exception:
                # A defect in one queue must not stop the delivery of all others.
                logger.exception("unexpected error while handling %r", notice)

    async def _handle(self, notice: _Notice) -> None:
        if isinstance(notice, _Attach):
            await self._attach(notice.keys, notice.holder)
        elif isinstance(notice, _Detach):
            await self._detach(notice.keys, notice.holder)
        elif isinstance(notice, _Probe):
            await self._probe()
        else:
            await self._handle_task_notice(notice)

    async def _handle_task_notice(self, notice: _TaskNotice) -> None:
        at_us = now_us()
        # A channel stands for the queue as it is now. A timer or a transfer belongs to the task that asked for it.
        if isinstance(notice, (_Subscribed, _Announced)):
            current = self.tasks.get(notice.channel)
            if current is None:
                return
            if isinstance(notice, _Subscribed):
                self._carry_out(current, current.engine.subscribed(), at_us)
            else:
                self._carry_out(current, current.engine.announced(notice.due_ms, at_us), at_us)
        elif isinstance(notice, _Look):
            notice.task.looking = False
            if notice.task.engine.state is not State.CLOSED:
                await self._look(notice.task)
        elif isinstance(notice, _Fired):
            departure, notice.task.departure = notice.task.departure, None
            self._carry_out(notice.task, notice.task.engine.fired(at_us), at_us, departure)
        elif isinstance(notice, _TimeToTidy):
            if notice.task.engine.state is not State.CLOSED:
                await notice.task.tidying.tidy()
        elif notice.task.engine.state is not State.CLOSED:
            await self._transfer(notice.task, notice.departure)

    def _carry_out(
        self, task: Task, actions: tuple[Action, ...], at_us: int, departure: Departure | None = None
    ) -> None:
        """Carries out what the engine has decided at ``at_us``."""
        for action in actions:
            if action.do is Do.TRANSFER:
                self._inbox.put(_Transfer(task, departure or Departure()))
            elif action.do is Do.ARM:
                self._arm(task, at_us + action.delay_us)
            else:
                self._timer.disarm(task.keys.channel)

    def _arm(self, task: Task, departs_us: int) -> None:
        delay_us = departs_us - now_us()
        task.departure = None
        # A pause needs no head start, and a reserve is to be late.
        if task.engine.state is State.ARMED and task.engine.role is not Role.RESERVE:
            delay_us -= self._head_start.us
            alarm_us = departs_us - self._head_start.us if delay_us > 0 else None
            task.departure = Departure(departs_us, alarm_us, busy_wait=self._options.busy_wait)
        self._timer.arm(task.keys.channel, max(0, delay_us), lambda: self._inbox.put(_Fired(task)))

    async def _attach(self, keys: QueueKeys, holder: object) -> None:
        task = self.tasks.get(keys.channel)
        if task is None:
            if not self.tasks:
                self._timer.arm(_PROBE, self._probe_us, lambda: self._inbox.put(_Probe()))
            task = self.tasks[keys.channel] = self._made(keys)
            await self._subscription.add(keys.channel)
            if self._options.wakeups == "keyspace":
                self._watched[self._keyspace_channel(keys)] = task
                await self._subscription.add(self._keyspace_channel(keys))
        task.holders.add(holder)

    def _made(self, keys: QueueKeys) -> Task:
        soon_us = min(_TIDY_US, self._probe_us)
        tidying = Tidying(keys, self._connections, self._timer, soon_us, lambda: self._inbox.put(_TimeToTidy(task)))
        task = Task(keys, Engine(self._reserve_us, self._clock_of_a_queue()), self._connections, tidying)
        return task

    def _clock_of_a_queue(self) -> ServerClock:
        # The nodes of a cluster have a clock each.
        return ServerClock() if self._connections.is_cluster else self.clock

    async def _detach(self, keys: QueueKeys, holder: object) -> None:
        task = self.tasks.get(keys.channel)
        if task is None or holder not in task.holders:
            return
        task.holders.discard(holder)
        if not task.holders:
            del self.tasks[keys.channel]
            task.closed()
            self._carry_out(task, task.engine.close(), now_us())
            if not self.tasks:
                self._timer.disarm(_PROBE)
                self._is_away = False
                self._connections.outage.gave_up(_PROBE)
            await self._subscription.remove(keys.channel)
            await self._hand_over([task])
            if self._watched.pop(self._keyspace_channel(keys), None) is not None:
                await self._subscription.remove(self._keyspace_channel(keys))

    def _keyspace_channel(self, keys: QueueKeys) -> str:
        return f"__keyspace@{self._connections.database}__:{keys.timeout}"

    async def _hand_over(self, tasks: list[Task]) -> None:
        """Lets others go on at once with the queues that this client is the mover of. One round trip, if any."""
        requests = [calls.hand_over(task.keys, self.id) for task in tasks if task.engine.led]
        if requests:
            try:
                await self._connections.run_many(requests, transaction=False)
            except RedissonDQError as error:
                # They step in on their own, a little later.
                logger.debug("cannot hand %d queues over: %s", len(requests), error)

    async def _transfer(self, task: Task, departure: Departure) -> None:
        try:
            actions, at_us = await self._transferred(task, departure)
        except ClosedError:
            return
        except Exception as error:
            # Every error counts: an engine that never hears of the transfer's end would move nothing any more.
            if task.failed(error):
                self._head_start = HeadStart(busy_wait=self._options.busy_wait)
            await self._connections.refresh()
            at_us = now_us()
            actions = task.engine.failed(at_us)
        self._carry_out(task, actions, at_us)

    async def _transferred(self, task: Task, departure: Departure) -> tuple[tuple[Action, ...], int]:
        """Makes one call, and takes in what it tells. Gives what is to be done, and when the answer was read."""
        request = calls.transfer(
            task.keys,
            self._options.transfer_batch,
            self._options.remember_ms,
            self.id,
            cluster=self._connections.is_cluster,
            listens=self._subscription.hears(task.keys.channel),
            slowness=task.pace.slowness,
            step=task.hints.words(),
        )
        result = await self._connections.run(request, before_sending=departure.wait, after_sending=departure.stand_back)
        read_us = now_us()
        # Callers get the delivered values before this client works on the answer.
        await async_give_way()
        advanced = [
            await advance(self._connections, self._options, task.keys, come, result.now_us) for come in result.recurring
        ]
        warn_of_quarantine(task.keys, result.set_aside)
        warn_of_expired(task.keys, result.expired)
        for name, form in result.newer:
            tell_newer(task.keys.ready, getattr(task.keys, name), name, form)
        if task.answered(read_us - departure.sent_us, result.moved, result.step):
            await self._measure_way(task)
        if departure.way_us is not None:
            self._head_start.learn(departure.way_us)
        next_ms = result.next_ms
        if len(advanced) == self._options.transfer_batch and any(advanced):
            # There may be more occurrences than one reply holds.
            next_ms = result.now_us // 1000
        actions = task.engine.transferred(next_ms, Role(result.role), result.now_us, departure.sent_us, read_us)
        if task.engine.role is not Role.RESERVE:
            # What was moved, or offered since, may be remembered for a while.
            task.tidying.moved()
        self._counts.sent += 1
        self._counts.early += task.engine.was_early
        return actions, read_us

    async def _measure_way(self, task: Task) -> None:
        """Long transfers tell of a slow server, or of a long way to it. A call without work shows the way alone."""
        sent_us = now_us()
        await self._connections.run(commands.server_time_us(task.keys.timeout))
        task.pace.way_took(now_us() - sent_us)

    async def _probe(self) -> None:
        """Two commands for a client with one queue: a PING on the subscription, a look at each queue's head.

        One more for a queue in which something waits, in the same round trip: the server's time. One more for a queue
        that it receives from: a look for values whose receiver died before it had leased them.
        """
        if not self.tasks:
            return
        error: RedisConnectionError | None = None
        try:
            if not self._is_away:
                await self._subscription.probe()
            error = await self._probe_queues()
        except Exception:
            # A defect. It must not end the probes.
            logger.exception("unexpected error in a probe")
        self._is_away = error is not None
        # Only this tells of a server that stands still: whoever waits for a reply without a time waits on.
        if error is None:
            self._connections.outage.ended(_PROBE)
        else:
            self._connections.outage.began(_PROBE, error)
        # In a cluster the others' items would wait for the node that does not answer.
        soon = error is not None and not self._connections.is_cluster
        pause_us = min(self._probe_us, _PROBE_AGAIN_US) if soon else self._probe_us
        self._timer.arm(_PROBE, pause_us, lambda: self._inbox.put(_Probe()))

    async def _probe_queues(self) -> RedisConnectionError | None:
        for task in list(self.tasks.values()):
            error = await self._look(task)
            if error is None and self._receives(task.keys.ready):
                error = await task.arrivals.look(self._connections)
            if error is not None:
                return error
        return None

    async def _look(self, task: Task) -> RedisConnectionError | None:
        """Reads when the head is due. Gives the error when Redis cannot be reached.

        An armed timer follows the server's clock as it was, so the clock is read again.
        """
        requests: list[Request[Any]] = [commands.head(task.keys)]
        if task.engine.state is State.ARMED:
            requests.append(commands.server_time_us(task.keys.timeout))
        sent_us = now_us()
        try:
            replies = await self._connections.run_many(requests, transaction=False)
        except ClosedError:
            return None
        except RedissonDQError as error:
            replies = [error]
        read_us = now_us()
        due_ms, *times = replies
        if isinstance(due_ms, RedisConnectionError):
            logger.debug("queue %r: a look at its head failed: %s", task.keys.ready, due_ms)
            return due_ms
        if isinstance(due_ms, RedissonDQError):
            logger.warning("queue %r: a look at its head failed: %s", task.keys.ready, due_ms)
            # A transfer tells whether the queue can be moved, and is tried again until it can.
            self._carry_out(task, task.engine.subscribed(), read_us)
            return None
        if times and isinstance(times[0], int):
            task.engine.measured(times[0], sent_us, read_us)
        if due_ms is not None:
            self._carry_out(task, task.engine.announced(due_ms, read_us), read_us)
        return None
