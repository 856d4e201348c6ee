"""Notices handlers that make no progress: their slots are taken, values wait, and nothing was settled for a long
time.
"""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Callable, Sequence
from datetime import timedelta

from redisson_dq._async.runtime import Runtime
from redisson_dq._async.worker.repeating import Rounds
from redisson_dq._common.texts import counted
from redisson_dq._concurrency import AsyncFailure, AsyncSwitch
from redisson_dq._concurrency.handler_pools import AsyncHandlerPool
from redisson_dq._concurrency.stacks import AsyncPulse, async_stack_of
from redisson_dq.errors import RedissonDQError
from redisson_dq.items import Stall
from redisson_dq.scheduling.clock import SYSTEM, client_parts
from redisson_dq.wire import calls
from redisson_dq.working.assigning import Assigner
from redisson_dq.working.handling import Handling
from redisson_dq.working.incoming import QueueIntake
from redisson_dq.working.roster import Post

__all__ = ["EVERY", "LONG", "ProgressWatch"]

logger = logging.getLogger("redisson_dq")

#: How often it looks. A shorter handling is never noticed.
EVERY = 5.0
#: After this many seconds without a change, a worker looks at its handlings and reports them to other workers.
LONG = 60.0
# An event loop that is blocked for this many seconds is reported.
_STILL = 15.0
# How many queues one look asks about, and how much of a stack is noted in Redis.
_MOST_ASKED, _MOST_STACK = 32, 2000
# A value that was parked less than this many seconds ago waits for the handler that parked it.
_PARKED = 15.0


class ProgressWatch(Rounds):
    """Looks every few seconds at the handlings that go on. Asks Redis only about those that have run for a long
    time.
    """

    def __init__(
        self,
        runtime: Runtime,
        assigner: Assigner,
        pool: AsyncHandlerPool,
        intakes: Callable[[], Sequence[QueueIntake]],
        default: float,
    ) -> None:
        """``default`` is for how many seconds a handler may go on that has not ended before."""
        self._runtime, self._clock = runtime, runtime.clock
        self._assigner, self._pool, self._intakes = assigner, pool, intakes
        self._default = default
        self._stalls: dict[Post, Stall] = {}
        self._still: Stall | None = None
        # Handlings that were reported one by one.
        self._slow: set[Handling] = set()
        self._seconds = client_parts(self._clock).housekeeping(min(EVERY, default / 4))
        self._pulse = AsyncPulse(min(_STILL, default), self._stands_still, starts=self._clock is SYSTEM)
        super().__init__(AsyncSwitch(self._clock), "progress")

    @property
    def stalls(self) -> tuple[Stall, ...]:
        """The handlers that make no progress at present."""
        still = self._still
        return (*self._stalls.values(), *(() if still is None else (still,)))

    async def aclose(self) -> None:
        self.abandon()
        await self._pulse.aclose()
        await super().aclose()
        self._stalls = {}

    async def _look(self) -> float:
        self._pulse.beat()
        self._still = None
        try:
            await self._check()
        except RedissonDQError:
            # The outage is reported elsewhere. Nobody knows whether values wait.
            pass
        except AsyncFailure:
            logger.exception("worker: cannot check whether handlers make progress")
        return self._seconds

    # -- one look ----------------------------------------------------------------------------------------------------

    async def _check(self) -> None:
        now = self._clock.monotonic()
        by_post: dict[Post, list[Handling]] = {}
        for handling in self._assigner.holding:
            by_post.setdefault(handling.post, []).append(handling)
        self._slow.intersection_update(each for some in by_post.values() for each in some)
        is_full = self._assigner.free == 0
        last_change = max((post.last_change for post in by_post), default=now)
        stalls: dict[Post, Stall] = {}
        for post, handlings in by_post.items():
            handler = post.handler
            # Where the worker has no slot left, none of its queues makes progress as long as nothing ends.
            since = now - (last_change if is_full else post.last_change)
            patience = post.patience(self._default)
            # Other processes may have the slots of a limit.
            is_taken = is_full or post.running >= handler.concurrency or handler.admission is not None
            if is_taken and since > min(patience, LONG):
                waiting = await self._waiting(post, handlings, since, patience, now, of_all=is_full)
                if waiting and since > patience:
                    stalls[post] = self._stall(post, handlings, since, waiting)
            if post not in stalls:
                self._tell_slow(handlings, patience, now)
        before, self._stalls = self._stalls, stalls
        for post, stall in stalls.items():
            if post not in before:
                logger.warning("%s", stall)
        for post in before.keys() - stalls.keys():
            logger.info("queue %r: %s makes progress again", post.handler.queue, post.handler.name)

    async def _waiting(
        self, post: Post, handlings: Sequence[Handling], since: float, patience: float, now: float, *, of_all: bool
    ) -> int:
        """How many values wait for the handler, or for any slot of the worker. Notes in Redis that it takes long."""
        oldest = handlings[0]
        note = {
            "client": self._runtime.connections.client,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "handler": post.handler.name,
            "running": len(handlings),
            "since_s": round(since, 1),
            "patience_s": round(patience, 1),
            "stack": self._stack_of(oldest)[-_MOST_STACK:],
        }
        intakes = list(self._intakes()) if of_all else [oldest.intake]
        sides = [side for intake in intakes for side in intake.sides][:_MOST_ASKED]
        words = json.dumps(note)
        client = self._runtime.connections.client
        asked = [calls.progress(side.keys, client, words) for side in sides]
        answers = await self._runtime.connections.run_many(asked)
        parked = int(now - post.last_parked < _PARKED)
        return parked + sum(each for each in answers if isinstance(each, int))

    def _stall(self, post: Post, handlings: Sequence[Handling], since: float, waiting: int) -> Stall:
        oldest, count = handlings[0], len(handlings)
        text = (
            f"{counted(count, 'handling is', 'handlings are')} running, nothing was settled for {since:.0f} s, "
            f"and {counted(waiting, 'value waits', 'values wait')}"
        )
        return self._made(oldest.intake, post.handler.name, text, since, count, waiting, self._stack_of(oldest))

    @staticmethod
    def _made(
        intake: QueueIntake, handler: str, text: str, since: float, running: int, waiting: int, stack: str
    ) -> Stall:
        return Stall(
            queue=intake.sides[0].keys.ready,
            what=f"{handler or 'the program'} makes no progress",
            error=TimeoutError(text),
            name=intake.name,
            handler=handler,
            since=timedelta(seconds=since),
            running=running,
            waiting=waiting,
            stack=stack,
            host=socket.gethostname(),
            pid=os.getpid(),
        )

    def _stack_of(self, handling: Handling) -> str:
        return async_stack_of(handling.where, self._pool.inside.get(handling.where))

    def _tell_slow(self, handlings: Sequence[Handling], patience: float, now: float) -> None:
        """Logs single handlings that take unusually long, once each. The handler makes progress with its other
        handlings.
        """
        for handling in handlings:
            if now - handling.began > patience and handling not in self._slow:
                self._slow.add(handling)
                logger.warning(
                    "queue %r: a handling of %s has run for %.0f s, which is unusual for it, and is at\n%s",
                    handling.intake.name,
                    handling.handler.name,
                    now - handling.began,
                    self._stack_of(handling),
                )

    def _stands_still(self, seconds: float, stack: str, task: object) -> None:
        """The event loop does not run: so nothing is received, renewed or settled. Another thread calls this."""
        holding = self._assigner.holding
        handling = next((each for each in holding if each.where is task), None)
        intake = next(iter(self._intakes()), None) if handling is None else handling.intake
        if intake is None:
            return
        # Another part of the program may block the loop.
        name = "" if handling is None else handling.handler.name
        text = f"the event loop has been blocked for {seconds:.0f} s, so nothing is received, renewed or settled"
        first = self._still is None
        self._still = self._made(intake, name, text, seconds, len(holding), 0, stack)
        if first:
            logger.warning("%s", self._still)
