"""Probes for queues whose due items this process does not move. For the others the transfer driver probes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.moving.arrivals import Arrivals
from redisson_dq._concurrency import AsyncBackgroundTask, AsyncSwitch
from redisson_dq.scheduling.pauses import Pauses

__all__ = ["Prober"]

# Its name in an outage.
_PART = "worker"
# While Redis does not answer, the next probe comes after such pauses.
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 5.0
# How long the end waits for an answer that is under way.
_LAST_ANSWER = 2.0


class Prober:
    """Notices that Redis hangs, which no wait does, and values that came for a receiver that died.

    Probes every this many ``seconds``, with one command for each queue.
    """

    def __init__(self, connections: Connections, seconds: float, arrivals: Callable[[], Iterable[Arrivals]]) -> None:
        self._connections = connections
        self._seconds = seconds
        self._arrivals = arrivals
        self._changed = AsyncSwitch(connections.clock)
        self._ends = False
        self._worker = AsyncBackgroundTask(self._run, "redisson_dq-probing")

    async def aclose(self) -> None:
        self._ends = True
        self._changed.on()
        await self._worker.stop(_LAST_ANSWER)
        self._connections.outage.gave_up(_PART)

    async def _run(self) -> None:
        pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        while not self._ends:
            error, tried = None, self._connections.clock.monotonic()
            for arrivals in self._arrivals():
                error = await arrivals.look(self._connections)
                if error is not None or self._ends:
                    break
            if error is None:
                pauses.reset()
                self._connections.outage.ended(_PART)
            elif not self._ends:
                self._connections.outage.began(_PART, error, tried)
            self._changed.off()
            if not self._ends:
                await self._changed.wait(self._seconds if error is None else min(self._seconds, pauses.next()))
