"""Background tasks of a worker that look again and again: for deadlines, and for a Redis that hangs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.moving.arrivals import Arrivals
from redisson_dq._concurrency import AsyncBackgroundTask, AsyncSwitch
from redisson_dq.scheduling.pauses import Pauses

__all__ = ["LAST_ANSWER", "Deadlines", "Prober", "Rounds"]

logger = logging.getLogger("redisson_dq")

#: How long the end waits for an answer that is under way.
LAST_ANSWER = 2.0
# The name of the probes in an outage.
_PART = "worker"
# While Redis does not answer, the next probe comes after such pauses.
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 5.0


class Rounds:
    """Looks again and again. ``changed`` begins the next look at once, and is off when a look begins."""

    def __init__(self, changed: AsyncSwitch, name: str) -> None:
        self._changed = changed
        self._ends = False
        self._task = AsyncBackgroundTask(self._run, f"redisson_dq-{name}")

    async def _look(self) -> float | None:
        """Looks once. Returns after how many seconds it looks again; None: when that is asked for."""
        raise NotImplementedError

    def abandon(self) -> None:
        """Ends soon."""
        self._ends = True
        self._changed.on()

    async def aclose(self) -> None:
        self.abandon()
        await self._task.stop(LAST_ANSWER)

    async def _run(self) -> None:
        while not self._ends:
            self._changed.off()
            seconds = await self._look()
            if seconds != 0 and not self._ends:
                await self._changed.wait(seconds)


class Deadlines(Rounds):
    """The end of a handling's time, and of the wait for a batch. ``look`` does what is due, as :meth:`_look`."""

    def __init__(self, changed: AsyncSwitch, look: Callable[[], float | None]) -> None:
        self._due = look
        super().__init__(changed, "deadlines")

    async def aclose(self) -> None:
        self.abandon()
        await self._task.join()

    async def _look(self) -> float | None:
        try:
            return self._due()
        except Exception:
            logger.exception("worker: an action at a deadline failed")
            return 0.0


class Prober(Rounds):
    """Notices that Redis hangs, which no wait does, and values that came for a receiver that died.

    Probes every this many ``seconds`` the queues whose due items this process does not move, with one command for each.
    For the others the transfer driver probes.
    """

    def __init__(self, connections: Connections, seconds: float, arrivals: Callable[[], Iterable[Arrivals]]) -> None:
        self._connections = connections
        self._seconds = seconds
        self._arrivals = arrivals
        self._pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        super().__init__(AsyncSwitch(connections.clock), "probing")

    async def aclose(self) -> None:
        await super().aclose()
        self._connections.outage.gave_up(_PART)

    async def _look(self) -> float:
        tried = self._connections.clock.monotonic()
        for arrivals in self._arrivals():
            error = await arrivals.look(self._connections)
            if error is not None:
                if not self._ends:
                    self._connections.outage.began(_PART, error, tried)
                return min(self._seconds, self._pauses.next())
            if self._ends:
                break
        self._pauses.reset()
        self._connections.outage.ended(_PART)
        return self._seconds
