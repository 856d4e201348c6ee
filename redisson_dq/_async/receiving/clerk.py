"""Does for sources that share a connection what takes time, so that no lookout waits for it."""

from __future__ import annotations

import heapq
import itertools
import logging
from functools import partial
from typing import Any

from redis.exceptions import ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.explaining import end_of_wait
from redisson_dq._async.receiving.beginning import Beginner, Begun
from redisson_dq._concurrency import AsyncCancelled, AsyncInbox, AsyncMutex, AsyncWork
from redisson_dq._redis import is_denied, refusal_of, translate
from redisson_dq.errors import RedissonDQError
from redisson_dq.scheduling.clock import Clock
from redisson_dq.waits.rotation import SharedSources
from redisson_dq.waits.steps import Bell, Diagnose, Do, Pause, StepFailed, WaitStep
from redisson_dq.waits.watched import LATE, WatchedSource

__all__ = ["Clerk"]

logger = logging.getLogger("redisson_dq")

# Three to watch and to take, and a look for the cause.
_COMMANDS_OF_A_TRY = 4


class Clerk:
    """Carries out the steps that watched sources ask for (``waits/troubles.py``)."""

    def __init__(self, connections: Connections, beginner: Beginner) -> None:
        self._connections = connections
        self._works = _Works(connections.clock, "lookout-clerk", beginner)
        # The clerk may wait for a node that hangs. The end of a pause may free callers from that node.
        self._pauses = _Works(connections.clock, "lookout-pauses", beginner)

    def later(self, work: AsyncWork, after: float = 0.0) -> None:
        """Does something outside the lookouts: at once, or after some seconds where it sends nothing to a node."""
        (self._pauses if after else self._works).add(work, after)

    async def end_works(self) -> None:
        """Waits for nothing any more."""
        await self._pauses.aclose()
        await self._works.aclose()

    # -- for watched sources, under the mutex of their line ----------------------------------------------------------

    def carry_out(self, source: WatchedSource, step: WaitStep) -> None:
        """Does a step, and reports its outcome to the source."""
        if isinstance(step, Bell):
            self.later(partial(self._over, source, step), step.seconds)
        elif isinstance(step, Pause):
            self.later(partial(self._pause, source, step))
        else:
            self.later(partial(self._do, source, step))

    def end_pause(self, source: WatchedSource, step: WaitStep) -> None:
        """Ends a pause before its time."""
        self.later(partial(self._over, source, step))

    def free_late(self, sources: SharedSources, now: float) -> None:
        """Soon lets others take for the callers of a line."""
        self.later(partial(self._free, sources, now + LATE), LATE)

    def gave_up(self, source: WatchedSource) -> None:
        """Nobody waits any more for a source in trouble."""
        self._connections.outage.gave_up(source.part)
        self._connections.tries.forget(source.part)

    # -- others ------------------------------------------------------------------------------------------------------

    def tell_answered(self, source: WatchedSource) -> None:
        """Reports that Redis has answered. Not under the mutex: observers hear of it."""
        if source.has_answered:
            source.has_answered = False
            self._connections.outage.ended(source.part)
            self._connections.tries.succeeded(source.part)

    # -- the work ----------------------------------------------------------------------------------------------------

    async def _free(self, sources: SharedSources, now: float) -> None:
        with sources.line.mutex:
            sources.forgo_late_claims(now)

    async def _over(self, source: WatchedSource, step: WaitStep, outcome: Any = None) -> None:
        if isinstance(step, Pause):
            self._connections.tries.begins(source.part)
        with source.line.mutex:
            source.go_on(step, outcome)
        self.tell_answered(source)

    async def _do(self, source: WatchedSource, step: WaitStep) -> None:
        backs: Any = source.backs
        try:
            if isinstance(step, Diagnose):
                outcome: Any = await self._diagnose(source, step)
            else:
                outcome = await (backs.send() if step is Do.PUT_BACK else backs.repeat(source.debts))
        except (Exception, AsyncCancelled) as error:
            outcome = StepFailed(error)
        await self._over(source, step, outcome)

    async def _pause(self, source: WatchedSource, pause: Pause) -> None:
        """Begins a pause. It is longer where others are refused too, for the same reason."""
        over, outage, tries = partial(self._over, source, pause), self._connections.outage, self._connections.tries
        cause, resume = refusal_of(pause.reason), partial(self.later, over)
        seconds = tries.refused(source.part, cause, pause.seconds, resume, _COMMANDS_OF_A_TRY)
        outage.began(source.part, pause.reason, source.chose)
        logger.debug("queue %r: waiting again in %.2f s: %s", source.source.key, seconds, pause.reason)
        await self._connections.refresh()
        self.later(over, 0.0 if source.line.closed else seconds)

    async def _diagnose(self, source: WatchedSource, step: Diagnose) -> tuple[RedissonDQError | None, bool]:
        error = step.error
        if await self._may_block(source, step):
            with source.line.mutex:
                source.give_up()
            return None, False
        try:
            if source.line.count == 0 and isinstance(error, ResponseError):
                return translate(error, f"queue {source.source.key!r}"), True
            return await end_of_wait(self._connections, source.source, error, step.request), True
        except RedissonDQError as failure:
            return failure, True

    async def _may_block(self, source: WatchedSource, step: Diagnose) -> bool:
        """Whether the user lacks rights that a pump of its own would not need, as it takes by a blocking command."""
        # A script is sent after that command too. Where nobody waits, the refusal of another source is enough.
        if (step.request is not None and step.request.script) or not source.line.count:
            return False
        if not (isinstance(step.error, ResponseError) and is_denied(step.error)):
            return False
        try:
            return await self._connections.may_send(source.source.key, source.source.words(LATE))
        except RedissonDQError:
            return False


class _Works:
    """A background task that does one thing after the other. It lives as long as there is something to do."""

    def __init__(self, clock: Clock, name: str, beginner: Beginner) -> None:
        self._clock = clock
        self._name = name
        self._beginner = beginner
        self._mutex = AsyncMutex()
        self._inbox: AsyncInbox[tuple[float, int, AsyncWork]] = AsyncInbox(clock)
        self._numbers = itertools.count()
        self._is_running = False
        self._is_closing = False
        self._task: Begun | None = None

    def add(self, work: AsyncWork, after: float = 0.0) -> None:
        """Runs ``work`` after ``after`` seconds, or at once when it is closed."""
        self._inbox.put((self._clock.monotonic() + after, next(self._numbers), work))
        with self._mutex:
            if not self._is_running:
                self._is_running = True
                self._task = self._beginner.begin(self._run, f"redisson_dq-{self._name}")

    async def aclose(self) -> None:
        """Waits for nothing any more. It ends when all is done."""
        self._is_closing = True
        with self._mutex:
            if self._is_running:
                self._inbox.put((self._clock.monotonic(), next(self._numbers), _nothing))

    async def _run(self) -> None:
        works: list[tuple[float, int, AsyncWork]] = []
        while True:
            with self._mutex:
                if not works and not self._inbox.count:
                    self._is_running = False
                    return
            now = self._clock.monotonic()
            waits = max(0.0, works[0][0] - now) if works and not self._is_closing else 0.0
            came = await self._inbox.next(waits)
            if came is not None:
                heapq.heappush(works, came)
                continue
            if works and (self._is_closing or works[0][0] <= self._clock.monotonic()):
                await self._do(heapq.heappop(works)[2])

    async def _do(self, work: AsyncWork) -> None:
        try:
            await work()
        except (Exception, AsyncCancelled):
            # A defect must not end the waits of all others.
            logger.exception("unexpected error beside a lookout")


async def _nothing() -> None:
    """Wakes the background task."""
