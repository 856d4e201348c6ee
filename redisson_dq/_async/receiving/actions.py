"""The actions of a pump: commands on the connection of its source, and the replies to them.

The reply to a blocking command is a value that exists nowhere else any more. So nothing that may be interrupted reads
it. A background task reads it, and hands it to the caller that has waited longest. A worker may do so itself, as a
stand-in. A value for which nobody waits goes back to where it came from.

An action is given everything that the pumper has in hand. It gives the next trigger, or None where the engine has to
choose, and all that is in hand then.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from functools import partial
from typing import Any

from redis.exceptions import RedisError, ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.dedicated import Dedicated
from redisson_dq._async.connecting.explaining import end_of_wait, explained
from redisson_dq._async.receiving.idle import IdleConnections
from redisson_dq._async.receiving.put_backs import PutBacks
from redisson_dq._concurrency import AsyncCancelled, AsyncInbox, AsyncSwitch, async_give_way
from redisson_dq._log import Log
from redisson_dq._redis import is_out_of_memory, is_passing, translate
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.waiting.debts import LOOK, repeat
from redisson_dq.waiting.in_hand import EMPTY, InHand
from redisson_dq.waiting.line import WAKE, Waiter
from redisson_dq.waiting.pop_engine import AT_MOST, PopEngine
from redisson_dq.waiting.pop_table import BY_CALLERS, Do, State, Trigger
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["Actions", "ActionResult"]

logger = Log()

#: The trigger that came of an action, and all that is in hand for the next one.
ActionResult = tuple[Trigger | None, InHand]

# How long the background task and its connection stay when nobody waits, so that a take() in a loop finds them.
_LINGER = 10.0
# Pause between two looks while the server has no memory for a blocking command.
_PAUSE_WHEN_FULL = 0.05


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
        # The name under which it reports an outage.
        self._part = f"wait {id(self)}"
        #: On once the pump is closed.
        self.closing = AsyncSwitch(self._clock)
        #: The connection, from the action that makes it until it is retired.
        self.dedicated: Dedicated | None = None
        self._retired: list[Dedicated] = []
        # Whether nobody has rung the bell for long.
        self._lingered = False
        self.of: dict[Do, Callable[[InHand], Any]] = {
            Do.WAIT: self._wait,
            Do.PUT_BACK: self._put_back,
            Do.REPEAT: self._repeat,
            Do.CONNECT: self._connect,
            Do.LOOK: self._look,
            Do.PROBE: self._probe,
            Do.BLOCK: self._block,
            Do.SETTLE: self._settle,
            Do.GATHER: self._gather,
            Do.GIVE: self._give,
            Do.GIVE_WAY: self._give_way,
            Do.DISCONNECT: self.disconnect,
            Do.DIAGNOSE: self._diagnose,
            Do.FAIL: self._fail_callers,
            Do.PAUSE: self._pause,
            Do.RETRY: self._retry,
            Do.REST: self._rest,
        }

    # -- for the pump ------------------------------------------------------------------------------------------------

    def choose(self, *, is_answered: bool) -> Trigger:
        """Classifies the work that is left, when the callers in the inbox are in the line. Under the mutex."""
        # Somebody may have come since the bell was given up.
        lingered = not self.admit() and self._lingered
        self._lingered = False
        self._line.answer_expired()
        self._backs.surplus = self._line.give(self._backs.surplus)
        return self._engine.choice(
            self._clock.monotonic(),
            is_answered=is_answered,
            is_connected=self.dedicated is not None,
            has_returns=self._backs.are_left,
            lingered=lingered,
        )

    def admit(self) -> bool:
        """Takes callers into the line, where no other background task does. Under the mutex. Gives whether it rang."""
        if self._bell is self._line.inbox:
            return self._line.admit()
        # Somebody else reads the inbox, and would miss the callers that this one took from it.
        rang = False
        while self._bell.poll() is not None:
            rang = True
        return rang

    def failed(self, held: InHand, error: BaseException) -> ActionResult:
        """An action failed, and values that came may be in hand."""
        logger.debug("queue %r: a wait broke: %r", self._key, error)
        held = held.failed(error)
        return self._engine.failure(held), held

    def retire(self) -> None:
        """Nobody uses the connection any more. Under the mutex."""
        if self.dedicated is not None:
            self._retired.append(self.dedicated)
            self.dedicated = None

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

    @property
    def _connection(self) -> Dedicated:
        assert self.dedicated is not None
        return self.dedicated

    # -- actions that send nothing for callers -----------------------------------------------------------------------

    async def _wait(self, held: InHand) -> ActionResult:
        stays = self._idle is None or self._idle.enter()
        try:
            rung = await self._bell.next(_LINGER if stays else 0)
        finally:
            if stays and self._idle is not None:
                self._idle.leave()
        self._lingered = rung is None
        if isinstance(rung, Waiter):
            with self._line.mutex:
                self._line.admit(rung)
        return Trigger.RANG, held

    async def _put_back(self, held: InHand) -> ActionResult:
        if not await self._backs.send():
            return Trigger.STUCK, held
        return Trigger.DONE, held

    async def _repeat(self, held: InHand) -> ActionResult:
        taken = await self._backs.repeat(self._engine.debts)
        if taken is None:
            return Trigger.STUCK, held
        return Trigger.CAME if taken else Trigger.NONE, held.with_values(taken)

    async def _connect(self, held: InHand) -> ActionResult:
        self.dedicated = dedicated = await self._connections.dedicated(self._key, "receiver", self._key)
        try:
            await dedicated.connect()
            began = self._clock.monotonic()
            await dedicated.learn_id()
        except ResponseError:
            raise
        except (RedisError, OSError) as error:
            # No pop was sent. One that was sent before may have taken something for somebody who still waits.
            with self._line.mutex:
                in_doubt = self._line.is_in_doubt
            raise translate(error, f"queue {self._key!r}", sent=in_doubt) from error
        self._engine.round_trip = self._clock.monotonic() - began
        return Trigger.DONE, held

    async def disconnect(self, held: InHand) -> ActionResult:
        """Closes the connections that nobody uses any more."""
        # The next pumper may already have one of its own to close.
        with self._line.mutex:
            retired, self._retired = self._retired, []
        for dedicated in retired:
            await dedicated.aclose()
        return None, held

    # -- actions that take -------------------------------------------------------------------------------------------

    async def _look(self, held: InHand) -> ActionResult:
        """Takes the values that are ready, without blocking, for all callers that wait. It also pays a debt."""
        engine = self._engine
        with self._line.mutex:
            look = engine.look(self._clock.monotonic())
        request = look.request
        try:
            taken = [] if request is None else await self._exchange(request)
        except ResponseError as error:
            if request is None or is_passing(error):
                raise
            # Redis would refuse it again at once. A value that was set aside comes with the next look of any caller.
            engine.debts.paid(LOOK)
            # The error may be about a key that only this request uses. A plain look at the keys tells which one.
            raise await explained(self._connections, request, error) from error
        finally:
            with self._line.mutex:
                self._line.unclaim(look.count)
        engine.looked(look)
        if taken:
            return Trigger.CAME, held.with_values(taken)
        return Trigger.NONE if engine.state is State.FETCHING else None, held

    async def _exchange(self, request: Request[list[Taken]]) -> list[Taken]:
        """Sends one request on the connection. A repeatable one is owed until its reply has been read."""
        debts, debt = self._engine.debts, repeat(request)
        if request.repeatable:
            debts.owe(debt)
        try:
            reply = await self._connection.exchange(request)
        except ResponseError:
            debts.paid(debt)
            raise
        debts.paid(debt)
        return self._connections.parsed(request, reply)

    async def _probe(self, held: InHand) -> ActionResult:
        try:
            reply = await self._connection.try_without_blocking(self._source.words(AT_MOST), self._source.keys)
        except ResponseError as error:
            return Trigger.ANSWERED, held.answered(self._clock.monotonic(), refusal=error)
        return Trigger.ANSWERED, held.answered(self._clock.monotonic(), reply)

    async def _block(self, held: InHand) -> ActionResult:
        seconds = min(held.span, self._connections.longest_block)
        sent = partial(self._engine.sent, held)
        try:
            reply = await self._connection.block(
                self._source.words(0 if seconds == math.inf else seconds), self._source.keys, held.behind, sent, seconds
            )
        except ResponseError as error:
            return Trigger.ANSWERED, held.answered(self._clock.monotonic(), refusal=error)
        return Trigger.ANSWERED, held.answered(self._clock.monotonic(), reply)

    async def _settle(self, held: InHand) -> ActionResult:
        """Reads the replies behind the blocking command. The connection may go on, so none is left on it."""
        engine = self._engine
        if held.behind is not None:
            held = held.with_values(await self._taken_behind(held.behind))
            engine.was_read()
        elif held.reply is not None:
            held = held.with_values(self._source.taken(held.reply))
        engine.notes_aside(held)
        try:
            while engine.replies:
                await self._connection.read()
                engine.was_read()
            if held.is_refused and isinstance(held.refusal, ResponseError):
                if self._source.sets_aside and is_out_of_memory(held.refusal):
                    return Trigger.FULL, held
                raise held.refusal
            trigger = engine.settled(held)
        except (Exception, AsyncCancelled) as error:
            return self.failed(held, error)
        return trigger, held

    async def _taken_behind(self, request: Request[list[Taken]]) -> list[Taken]:
        """The reply to the request that was sent together with the blocking command."""
        try:
            taken = self._connections.parsed(request, await self._connection.read_behind(request))
        except ResponseError as error:
            # A look follows where a value has come. It may be sent with the script's text, and it can tell why not.
            logger.debug("queue %r: refused behind a blocking pop: %s", self._key, error)
            taken = []
        self._engine.debts.paid(repeat(request))
        return taken

    async def _gather(self, held: InHand) -> ActionResult:
        """Takes more values for the callers that wait, by one command that does not block."""
        with self._line.mutex:
            self.admit()
            self._line.took(held.taken)
            wants = self._engine.wants_more(held)
            count = self._line.claim(self._clock.monotonic(), len(held.taken)) if wants else 0
        try:
            request = self._source.more(count) if count else None
            if request is not None:
                # Redis will refuse the next blocking pop as well, and that one can tell why.
                with contextlib.suppress(ResponseError):
                    held = held.with_values(held.taken + await self._exchange(request))
        except (Exception, AsyncCancelled) as error:
            return self.failed(held, error)
        finally:
            with self._line.mutex:
                self._line.unclaim(count)
        return Trigger.CAME, held

    async def _give(self, held: InHand) -> ActionResult:
        """Hands out the values that came. Those that nobody waits for go back."""
        try:
            await self._hand_out(held.taken)
        except (Exception, AsyncCancelled) as error:
            # They were handed out all the same.
            return self.failed(EMPTY, error)
        return Trigger.DONE, EMPTY

    async def _hand_out(self, taken: list[Taken]) -> None:
        self._engine.was_left(taken[-1].left, self._clock.monotonic())
        try:
            after = self._source.after(taken, self._backs.answered)
            if after is not None:
                await self._backs.follow(after)
        finally:
            with self._line.mutex:
                self.admit()
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
        if isinstance(held.error, RedissonDQError):
            with self._line.mutex:
                self._line.fail(held.error)
                self._served()
        return None, held

    async def _pause(self, held: InHand) -> ActionResult:
        """Waits for Redis to come back."""
        assert isinstance(held.error, RedisConnectionError)
        with self._line.mutex:
            seconds = self._engine.suffer(held.error, self._clock.monotonic())
        self._connections.outage.began(self._part, held.error)
        logger.debug("queue %r: waiting again in %.2f s: %s", self._key, seconds, held.error)
        await self._connections.refresh()
        await self.closing.wait(seconds)
        return Trigger.DONE, held

    async def _retry(self, held: InHand) -> ActionResult:
        """Waits before values or requests are sent again."""
        await self._backs.pause(self.closing, self._engine.longer_pause())
        return Trigger.DONE, held

    async def _rest(self, held: InHand) -> ActionResult:
        """Waits a moment: a full server refuses a blocking command that would move a value. It refuses no look."""
        logger.debug("queue %r: waiting again in %.2f s: %s", self._key, _PAUSE_WHEN_FULL, held.refusal)
        await self.closing.wait(_PAUSE_WHEN_FULL)
        return Trigger.DONE, held
