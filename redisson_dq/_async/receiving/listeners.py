"""Background tasks that take values and hand them to a consumer of the user's."""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from redisson_dq._async.receiving.receiver import Receiver
from redisson_dq._async.receiving.receivers import Receivers
from redisson_dq._common.texts import shown
from redisson_dq._concurrency import AsyncBackgroundTask, AsyncCallback, AsyncSwitch, async_call
from redisson_dq._redis import refusal_of
from redisson_dq.errors import ArgumentError, ClosedError, RedissonDQError
from redisson_dq.observing.operations import OperationKind
from redisson_dq.scheduling.clock import Clock
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.scheduling.tries import commands_of_a_wait
from redisson_dq.waits.line import Lifeline
from redisson_dq.wire.blocking import Taken, Waitable

__all__ = ["Decode", "Listener", "Listeners", "Named", "end_listeners"]

logger = logging.getLogger("redisson_dq")

# Between two tries, when Redis refuses the pop or a value cannot be read.
_PAUSE, _LONGEST_PAUSE = 0.5, 5.0


class Decode(Protocol):
    """Decodes the taken values, without those that cannot be read where the client skips them."""

    async def __call__(self, taken: list[Taken], receiver: Receiver, lifeline: Lifeline) -> list[Any]: ...


class Named(Protocol):
    """A queue by its name, which may change."""

    @property
    def name(self) -> str: ...


class Listeners:
    """The subscriptions of one handle, each by its id."""

    def __init__(self, queue: Named, receivers: Receivers, decode: Decode, running: set[Listener]) -> None:
        """``running`` has all listeners of the client while they run."""
        self.queue, self.receivers, self.decode, self.running = queue, receivers, decode, running
        self._by_id: dict[int, Listener] = {}
        # An id is never given again. So a second unsubscribe ends nobody else's subscription.
        self._ids = itertools.count(1)

    def add(self, source: Callable[[], Waitable], consumer: AsyncCallback[Any]) -> int:
        """Starts one, and gives its id. ``source`` says what it takes from. Raises ClosedError."""
        # The receiver that its background task will ask for. A closed client raises here.
        self.receivers.of(source())
        listener = Listener(self, source, consumer)
        listener_id = next(self._ids)
        self._by_id[listener_id] = listener
        return listener_id

    async def end(self, listener_id: int) -> None:
        """Ends one, and waits for its consumer to return. Does nothing for an id that is not there.

        Raises ArgumentError for what is no id.
        """
        if type(listener_id) is not int:
            raise ArgumentError(
                f"queue {self.queue!r}: unsubscribe() takes the id that subscribe_on_elements() gave, not "
                f"{shown(listener_id)}"
            )
        listener = self._by_id.pop(listener_id, None)
        if listener is not None:
            await listener.stop()

    async def end_all(self) -> None:
        """Ends them one after the other."""
        for listener_id in list(self._by_id):
            await self.end(listener_id)

    def move(self) -> None:
        """Lets all of them ask again for the source that they take from."""
        for listener in list(self._by_id.values()):
            listener.move()


class Listener:
    """Takes from one source until it is stopped, one value after the other."""

    def __init__(self, listeners: Listeners, source: Callable[[], Waitable], consumer: AsyncCallback[Any]) -> None:
        self._of = listeners
        self._queue = listeners.queue
        self._connections = listeners.receivers.connections
        self._clock = self._connections.clock
        self._source = source
        self._consumer = consumer
        self._stopped = False
        # Ends a pause before its time.
        self._going_on = AsyncSwitch(self._clock)
        self._wait: tuple[Receiver, Lifeline] | None = None
        self._pauses = Pauses(_PAUSE, _LONGEST_PAUSE)
        self._waits_since = math.inf
        self._holds: list[Any] = []
        self._has_ended = False
        self._task = AsyncBackgroundTask(self._run, f"redisson_dq-listener-{self._queue.name}")
        # Not before it has its background task: the call that closes the client asks for that task.
        listeners.running.add(self)
        if self._has_ended:
            listeners.running.discard(self)

    @property
    def is_current(self) -> bool:
        """Whether its consumer is the caller."""
        return self._task.is_current

    async def stop(self) -> None:
        """Ends the wait, and waits for the consumer to return."""
        self.end()
        await self._task.join()

    def end(self) -> None:
        """Ends the wait; no value is taken any more."""
        self._stopped = True
        self._going_on.on()
        self.move()

    async def has_ended(self, timeout: float) -> bool:
        """Whether the consumer has returned within ``timeout`` seconds.

        If not, the log has the values that it holds.
        """
        ended = await self._task.join(timeout)
        if not ended:
            logger.error(
                "queue %r: the client is closed, and a consumer has not returned; it holds %.500r",
                self._queue.name,
                self._holds,
            )
        return ended

    def move(self) -> None:
        """Ends the wait under the name that the queue had when it began."""
        if self._wait is not None:
            receiver, lifeline = self._wait
            receiver.withdraw(lifeline)

    async def _run(self) -> None:
        try:
            while not self._stopped:
                for value in await self._wait_for_one():
                    self._holds = [value]
                    try:
                        with self._connections.operations.around(OperationKind.PROCESS, "process", self._queue.name):
                            await async_call(self._consumer, value)
                    except Exception:
                        logger.exception("queue %r: a listener's consumer failed", self._queue.name)
                    self._holds = []
        finally:
            self._has_ended = True
            self._connections.refusals.ended(self)
            self._connections.tries.forget(self)
            self._of.running.discard(self)

    async def _pause(self, error: RedissonDQError, source: Waitable) -> None:
        tries = self._connections.tries
        commands = commands_of_a_wait(len(source.sources))
        seconds = tries.refused(self, refusal_of(error), self._pauses.next(), self._going_on.on, commands)
        await self._going_on.wait(seconds)
        tries.begins(self)
        if not self._stopped:
            self._going_on.off()

    def _waits(self) -> bool:
        """Whether a wait has gone on long enough to show that Redis has not refused it."""
        return self._clock.monotonic() - self._waits_since > _PAUSE

    async def _wait_for_one(self) -> list[Any]:
        """The next value, or none after an end or an error."""
        source = self._source()
        try:
            receiver, lifeline = self._of.receivers.of(source), Lifeline()
            # The lifeline is set first. So either end() and move() find it, or this call sees what they have set.
            self._wait = receiver, lifeline
            if self._stopped or self._source() != source:
                return []
            self._waits_since = self._clock.monotonic()
            taken = await receiver.receive(None, 1, lifeline)
            self._holds = [each.data for each in taken]
            values = await self._of.decode(taken, receiver, lifeline)
            lifeline.keep()
        except ClosedError:
            # Unless the queue has been renamed since.
            self._stopped = self._stopped or self._source() == source
        except RedissonDQError as error:
            if self._waits():
                self._pauses.reset()
            if self._connections.refusals.began(self, source.key, "a listener cannot take values", error, self._waits):
                logger.error("queue %r: a listener cannot take: %s", self._queue.name, error)
            await self._pause(error, source)
        else:
            self._pauses.reset()
            self._connections.refusals.ended(self)
            self._connections.tries.succeeded(self)
            return values
        finally:
            self._waits_since = math.inf
        return []


async def end_listeners(listeners: Sequence[Listener], grace: float, clock: Clock) -> None:
    """Ends them, and gives their consumers this many seconds to return."""
    for listener in listeners:
        listener.end()
    deadline = clock.monotonic() + grace
    for listener in listeners:
        await listener.has_ended(max(0.0, deadline - clock.monotonic()))
