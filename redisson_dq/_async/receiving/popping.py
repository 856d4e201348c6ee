"""The commands of a pump: on the connection of its source, and the replies to them.

The reply to a blocking command is a value that exists nowhere else any more. So nothing that may be interrupted reads
it. A background task reads it, and hands it to the caller that has waited longest. A worker may do so itself, as a
stand-in. Values for which nobody waits go back to where they came from.

Each method is an action of the pop table, as in ``actions.py``.
"""

from __future__ import annotations

import contextlib
import logging
import math
from functools import partial

from redis.exceptions import RedisError, ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.dedicated import Dedicated
from redisson_dq._async.connecting.explaining import explained
from redisson_dq._concurrency import AsyncCancelled, AsyncInbox
from redisson_dq._redis import is_out_of_memory, is_passing, translate
from redisson_dq.waits.debts import LOOK, repeat
from redisson_dq.waits.in_hand import InHand
from redisson_dq.waits.line import Waiter
from redisson_dq.waits.pop_engine import AT_MOST, PopEngine
from redisson_dq.waits.pop_table import State, Trigger
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["ActionResult", "Popping"]

logger = logging.getLogger("redisson_dq")

#: The trigger that came of an action, and all that is in hand for the next one.
ActionResult = tuple[Trigger | None, InHand]


class Popping:
    """The connection of one pump, and the actions that send on it or read from it, which only its pumper calls."""

    def __init__(self, connections: Connections, engine: PopEngine, bell: AsyncInbox[Waiter | str]) -> None:
        self._connections = connections
        self._clock = connections.clock
        self._engine = engine
        self._line = engine.line
        self._source = engine.source
        self._key = engine.source.key
        self._bell = bell
        #: The connection, from the action that makes it until it is retired.
        self.dedicated: Dedicated | None = None
        self._retired: list[Dedicated] = []

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

    # -- the connection ----------------------------------------------------------------------------------------------

    def retire(self) -> None:
        """Nobody uses the connection any more. Under the mutex."""
        if self.dedicated is not None:
            self._retired.append(self.dedicated)
            self.dedicated = None

    def retire_if_over(self) -> None:
        """Closes the connection if it leads to the wrong server by now. The caller holds the mutex."""
        if self.dedicated is not None and self.dedicated.is_over:
            self.retire()

    async def connect(self, held: InHand) -> ActionResult:
        """Makes the connection."""
        await self.disconnect(held)
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

    @property
    def _connection(self) -> Dedicated:
        assert self.dedicated is not None
        return self.dedicated

    # -- commands ----------------------------------------------------------------------------------------------------

    async def look(self, held: InHand) -> ActionResult:
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
        return Trigger.MISSED if engine.state is State.FETCHING else None, held

    async def _exchange(self, request: Request[list[Taken]]) -> list[Taken]:
        """Sends one request on the connection. A repeatable one is owed until its reply has been read."""
        debts, debt = self._engine.debts, repeat(request)
        is_repeated = debt in debts.all
        if request.repeatable:
            debts.owe(debt)
        try:
            reply = await self._connection.exchange(request)
        except ResponseError as error:
            # One that is repeated may have taken values before. A refusal that passes does not tell.
            if not (is_repeated and is_passing(error)):
                debts.paid(debt)
            raise
        debts.paid(debt)
        return self._connections.parsed(request, reply)

    async def probe(self, held: InHand) -> ActionResult:
        """Sends the blocking command in a transaction, where it does not block."""
        try:
            reply = await self._connection.try_without_blocking(self._source.words(AT_MOST), self._source.keys)
        except ResponseError as error:
            return Trigger.ANSWERED, held.answered(self._clock.monotonic(), refusal=error)
        return Trigger.ANSWERED, held.answered(self._clock.monotonic(), reply)

    async def block(self, held: InHand) -> ActionResult:
        """Sends the blocking command, and reads its reply."""
        seconds = min(held.span, self._connections.longest_block)
        sent = partial(self._engine.sent, held)
        try:
            reply = await self._connection.block(
                self._source.words(0 if seconds == math.inf else seconds), self._source.keys, held.behind, sent, seconds
            )
        except ResponseError as error:
            return Trigger.ANSWERED, held.answered(self._clock.monotonic(), refusal=error)
        return Trigger.ANSWERED, held.answered(self._clock.monotonic(), reply)

    async def settle(self, held: InHand) -> ActionResult:
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

    async def gather(self, held: InHand) -> ActionResult:
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
