"""The actions of a pump: values are handed out and go back, failures are diagnosed, pauses pass.

``popping.py`` has the actions on the connection. An action is given everything that the pumper has in hand. It gives
the next trigger, or None where the engine has to choose, and all that is in hand then.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from redis.exceptions import ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.explaining import end_of_wait
from redisson_dq._async.receiving.idle import IdleConnections
from redisson_dq._async.receiving.popping import ActionResult, Popping
from redisson_dq._async.receiving.put_backs import PutBacks
from redisson_dq._concurrency import AsyncCancelled, AsyncInbox, AsyncSwitch, async_give_way
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.waits.in_hand import EMPTY, InHand
from redisson_dq.waits.line import WAKE, Waiter
from redisson_dq.waits.pop_engine import PopEngine
from redisson_dq.waits.pop_table import BY_CALLERS, Do, State, Trigger
from redisson_dq.wire.taken import Taken

__all__ = ["Actions"]

logger = logging.getLogger("redisson_dq")

# How long the background task and its connection stay when nobody waits, so that a take() in a loop finds them.
_LINGER = 10.0
# Pauses between two looks while the server has no memory for a blocking command.
_FIRST_WHEN_FULL, _LONGEST_WHEN_FULL = 0.05, 1.0


class Actions:
    """Carries out the actions of one pump. Only its pumper calls them.

    The pump calls the methods of the first section, from other threads and tasks too.
    """

    def __init__(
        self,
        connections: Connections,
        engine: PopEngine,
        backs: PutBacks,
        bell: AsyncInbox[Waiter | str],
        idle: IdleConnections | None = None,
    ) -> None:
        """``bell`` wakes the background task. ``backs`` sends values back. ``idle`` limits how many wait for nobody."""
        self._idle = idle
        self._connections = connections
        self._clock = connections.clock
        self._engine = engine
        self._line = engine.line
        self._source = engine.source
        self._key = engine.source.key
        self._backs = backs
        self._bell = bell
        self._when_full = Pauses(_FIRST_WHEN_FULL, _LONGEST_WHEN_FULL)
        #: The actions on the connection.
        self.popping = popping = Popping(connections, engine, bell)
        # The name under which it reports an outage.
        self._part = f"wait {id(self)}"
        #: On once the pump is closed.
        self.closing = AsyncSwitch(self._clock)
        self.of: dict[Do, Callable[[InHand], Any]] = {
            Do.WAIT: self._wait,
            Do.PUT_BACK: self._put_back,
            Do.REPEAT: self._repeat,
            Do.CONNECT: popping.connect,
            Do.LOOK: popping.look,
            Do.PROBE: popping.probe,
            Do.BLOCK: popping.block,
            Do.SETTLE: popping.settle,
            Do.GATHER: popping.gather,
            Do.GIVE: self._give,
            Do.GIVE_WAY: self._give_way,
            Do.DISCONNECT: popping.disconnect,
            Do.DIAGNOSE: self._diagnose,
            Do.FAIL: self._fail_callers,
            Do.PAUSE: self._pause,
            Do.RETRY: self._retry,
            Do.REST: self._rest,
        }

    # -- for the pump ------------------------------------------------------------------------------------------------

    def choose(self, *, is_answered: bool) -> Trigger:
        """Classifies the work that is left, when the callers in the inbox are in the line. Under the mutex.

        Notes a bell that rang since the pumper has given it up.
        """
        if self.popping.admit() and self._engine.state is State.LINGERED:
            self._engine.step(Trigger.RANG)
        self.popping.retire_if_over()
        # In an outage the last command was cut, and has not told that there is nothing.
        self._line.answer_expired(self._engine.trouble)
        self._backs.surplus = self._line.give(self._backs.surplus)
        return self._engine.choice(
            self._clock.monotonic(),
            is_answered=is_answered,
            is_connected=self.popping.dedicated is not None,
            has_returns=self._backs.are_left,
        )

    @property
    def is_away(self) -> bool:
        """Whether some part of the client cannot reach Redis."""
        return self._connections.outage.is_going_on

    def is_back(self) -> None:
        """Redis can be reached. Not under the mutex: observers hear of it."""
        self._connections.outage.ended(self._part)

    def gave_up(self) -> None:
        """Nobody tries any more."""
        self._connections.outage.gave_up(self._part)

    def _served(self) -> None:
        # The reader of the inbox also waits until the waits end.
        if self._bell is not self._line.inbox:
            self._line.inbox.put(WAKE)

    # -- actions that send nothing for callers -----------------------------------------------------------------------

    async def _wait(self, held: InHand) -> ActionResult:
        stays = self._idle is None or self._idle.enter()
        try:
            rung = await self._bell.next(_LINGER if stays else 0)
        finally:
            if stays and self._idle is not None:
                self._idle.leave()
        if isinstance(rung, Waiter):
            with self._line.mutex:
                self._line.admit(rung)
        return Trigger.LINGERED if rung is None else Trigger.RANG, held

    async def _put_back(self, held: InHand) -> ActionResult:
        if not await self._backs.send():
            return Trigger.STUCK, held
        return Trigger.DONE, held

    async def _repeat(self, held: InHand) -> ActionResult:
        taken = await self._backs.repeat(self._engine.debts)
        if taken is None:
            return Trigger.STUCK, held
        return Trigger.CAME if taken else Trigger.MISSED, held.with_values(taken)

    # -- values that came --------------------------------------------------------------------------------------------

    async def _give(self, held: InHand) -> ActionResult:
        """Hands out the values that came. Those that nobody waits for go back."""
        try:
            await self._hand_out(held.taken)
        except (Exception, AsyncCancelled) as error:
            # They were handed out all the same.
            return self.popping.failed(EMPTY, error)
        return Trigger.DONE, EMPTY

    async def _hand_out(self, taken: list[Taken]) -> None:
        self._when_full.reset()
        self._engine.was_left(taken[-1].left, self._clock.monotonic())
        try:
            after = self._source.after(taken, self._backs.answered)
            if after is not None:
                await self._backs.follow(after)
        finally:
            with self._line.mutex:
                self.popping.admit()
                self._line.took(taken)
                self._backs.again(self._line.give(taken))
                self._served()

    async def _give_way(self, held: InHand) -> ActionResult:
        # A caller that pumps goes on itself.
        if self._engine.pumper not in BY_CALLERS:
            await async_give_way()
        return None, held

    # -- failures ----------------------------------------------------------------------------------------------------

    async def _diagnose(self, held: InHand) -> ActionResult:
        assert held.error is not None
        reason = await end_of_wait(self._connections, self._source, held.error)
        is_refusal = reason is not None and isinstance(reason.__cause__, ResponseError)
        return self._engine.diagnosed(reason, is_refusal=is_refusal), held.failed(reason)

    async def _fail_callers(self, held: InHand) -> ActionResult:
        assert isinstance(held.error, RedissonDQError)
        with self._line.mutex:
            self._line.fail(held.error)
            self._served()
        return None, held

    async def _pause(self, held: InHand) -> ActionResult:
        """Waits for Redis to come back."""
        assert isinstance(held.error, RedisConnectionError)
        with self._line.mutex:
            seconds = self._engine.suffer(held.error, self._clock.monotonic())
        self._connections.outage.began(self._part, held.error, self._engine.chose)
        logger.debug("queue %r: waiting again in %.2f s: %s", self._key, seconds, held.error)
        await self._connections.refresh()
        await self.closing.wait(seconds)
        return Trigger.DONE, held

    async def _retry(self, held: InHand) -> ActionResult:
        """Waits before values or requests are sent again. A caller that comes does not wait for that."""
        seconds = self._backs.pause_of(self._engine.longer_pause())
        if self._line.closed:
            await self._clock.async_sleep(seconds)
        elif isinstance(rung := await self._bell.next(seconds), Waiter):
            with self._line.mutex:
                self._line.admit(rung)
        return Trigger.DONE, held

    async def _rest(self, held: InHand) -> ActionResult:
        """Waits: a full server refuses a blocking command that would move a value. It refuses no look."""
        seconds = self._when_full.next()
        logger.debug("queue %r: waiting again in %.2f s: %s", self._key, seconds, held.refusal)
        await self.closing.wait(seconds)
        return Trigger.DONE, held
