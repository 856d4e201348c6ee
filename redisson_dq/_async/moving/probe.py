"""The probe: whether the subscription answers, and when the heads of the queues are due."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.moving.task import Decided, Task
from redisson_dq._concurrency import AsyncWork
from redisson_dq.errors import ClosedError, RedisConnectionError, RedissonDQError
from redisson_dq.scheduling.engine import State
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.scheduling.timer import Timer
from redisson_dq.wire import commands
from redisson_dq.wire.request import Request

__all__ = ["Probe", "look"]

logger = logging.getLogger("redisson_dq")

# The name of its alarm, and of the place where it reports an outage.
_NAME = "probe"
# While Redis does not answer, these are the pauses before the next probe, in seconds.
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 5.0


class Probe:
    """Runs every ``interval_us``, from :meth:`start` to :meth:`stop`.

    A probe costs three commands for a client with one queue. They are a PING on the subscription, a write that changes
    nothing, and a look at each queue's head. A replica refuses the write. It is left out while a pop is blocked. One
    more command for a queue in which something waits, in the same round trip: the server's time. One more for a queue
    that the client receives from: a look for values whose receiver died before it had leased them.
    """

    def __init__(
        self,
        connections: Connections,
        timer: Timer,
        interval_us: int,
        *,
        ring: Callable[[], None],
        ping: AsyncWork,
        look: AsyncWork,
    ) -> None:
        """``ring`` is called by the timer when :meth:`run` is to be called.

        ``ping`` asks the subscription. ``look`` reads the heads, and raises RedisConnectionError when it cannot.
        """
        self._connections = connections
        self._timer = timer
        self._interval_us = interval_us
        self._ring = ring
        self._ping = ping
        self._look = look
        self._pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        # Whether the last probe had no answer.
        self._is_away = False

    def start(self) -> None:
        """Begins with the first queue."""
        self._timer.arm(_NAME, self._interval_us, self._ring)

    def stop(self) -> None:
        """Ends when the last queue has gone."""
        self._timer.disarm(_NAME)
        self._is_away = False
        self._connections.outage.gave_up(_NAME)

    async def run(self) -> None:
        """Makes one probe, and has the timer armed for the next one."""
        error: RedisConnectionError | None = None
        tried = self._connections.clock.monotonic()
        try:
            if not self._is_away:
                await self._ping()
            await self._look()
        except RedisConnectionError as failure:
            error = failure
        except Exception:
            # A defect. It must not end the probes.
            logger.exception("unexpected error in a probe")
        self._is_away = error is not None
        # Only the probe notices a server that hangs: a wait for a reply without a time limit just goes on.
        if error is None:
            self._pauses.reset()
            self._connections.outage.ended(_NAME)
        else:
            self._connections.outage.began(_NAME, error, tried)
        # In a cluster the others' items would wait for the node that does not answer.
        soon = error is not None and not self._connections.is_cluster
        pause_us = int(self._pauses.next() * 1_000_000) if soon else self._interval_us
        self._timer.arm(_NAME, min(self._interval_us, pause_us), self._ring)


async def look(connections: Connections, task: Task) -> Decided:
    """Reads when the queue's head is due, and asks the engine. Raises RedisConnectionError.

    An armed timer follows the server's clock as it was, so the clock is read again.
    """
    requests: list[Request[Any]] = [commands.head(task.keys)]
    if task.engine.state is State.ARMED:
        requests.append(commands.server_time_us(task.keys.timeout))
    sent_us = connections.clock.now_us()
    try:
        await connections.check_pause(task.keys.timeout)
        replies = await connections.run_many(requests)
    except ClosedError:
        return Decided()
    except RedissonDQError as error:
        replies = [error]
    read_us = connections.clock.now_us()
    due_ms, *times = replies
    if isinstance(due_ms, RedisConnectionError):
        logger.debug("queue %r: cannot read its head: %s", task.keys.ready, due_ms)
        raise due_ms
    if isinstance(due_ms, RedissonDQError):
        logger.warning("queue %r: cannot read its head: %s", task.keys.ready, due_ms)
        # A transfer says whether the queue can be moved, and is tried again until it can.
        return Decided() if task.engine.state is State.PAUSING else Decided(task.engine.subscribed(), read_us)
    if times and isinstance(times[0], int):
        task.engine.measured(times[0], sent_us, read_us)
    return Decided() if due_ms is None else Decided(task.engine.announced(due_ms, read_us), read_us)
