"""One background task with one connection that takes from one source for those who wait.

The reply of a blocking pop is a value that exists nowhere else any more. So nothing that may be interrupted reads it.
The background task reads it, and hands it to the caller that has waited longest. A value for which nobody waits goes
back to where it came from.
"""

from __future__ import annotations

import contextlib
import logging
import math
import time
from typing import Any

from redis.exceptions import RedisError, ResponseError

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.connecting.dedicated import Dedicated
from redisson_dq._async.connecting.explaining import end_of_wait, explained
from redisson_dq._async.receiving.put_backs import PutBacks
from redisson_dq._async.receiving.waiters import SOON, WAKE, Waiter, Waiters
from redisson_dq._concurrency import (
    AsyncBackgroundTask,
    AsyncCancelled,
    AsyncInbox,
    AsyncSwitch,
    async_give_way,
    async_sleep,
)
from redisson_dq._redis import is_out_of_memory, is_passing, pack, translate
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["BlockingPop"]

logger = logging.getLogger("redisson_dq")

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
# How long the background task and its connection stay when nobody waits, so that a take() in a loop finds them.
_LINGER = 10.0
# Pause between two looks while the server has no memory for a blocking command.
_PAUSE_WHEN_FULL = 0.05
# An unblock can overtake the blocking command that it is meant for. Then it is repeated at this interval.
_UNBLOCK_PAUSE = 0.005
_UNBLOCK_TRIES = 100
# The server ends a pop this much before the caller's time is over. So the pop has ended when the caller looks.
_HEAD_START = 0.0015
# A pop that has been blocked for so many seconds has found nothing. Or else Redis stands still.
_LONG = 0.03
# A pop that took at most this much longer than a round trip did not wait. There was a value, and there may be more.
_AT_ONCE = 0.001
# A stand-in that comes back within so many seconds after it was told that nothing is left does not look again.
_EMPTY = 0.005
# In a transaction no command blocks. Where Redis allows no transaction, a command blocks for so many seconds.
_AT_MOST = 0.001
_PING = pack(("PING",))


class BlockingPop:
    """Takes from one source while somebody waits; its fields are guarded by the mutex of the waiters."""

    def __init__(
        self,
        connections: Connections,
        source: Source,
        waiters: Waiters,
        bell: AsyncInbox[Waiter | str],
        *,
        stay: float = 0.0,
        is_open: bool = True,
    ) -> None:
        """``bell`` wakes the background task.

        ``stay``: for how long a pop goes on when the last caller's time is over.
        """
        self._connections = connections
        self.source = source
        self._key = source.key
        # The name under which it reports an outage.
        self._place = f"wait {id(self)}"
        #: Repeatable requests whose replies are lost, or have not come yet. The next connection begins with them.
        self.unanswered: list[Request[list[Taken]]] = []
        #: The keys that its values come from.
        self.keys = source.keys
        self._waiters = waiters
        self._bell = bell
        self._stay = stay
        self._closes_itself = not is_open
        self._backs = PutBacks(connections, source, waiters, self.put_away)
        self._closing = AsyncSwitch()
        self._task: AsyncBackgroundTask | None = None
        self._unblocker: AsyncBackgroundTask | None = None
        self._dedicated: Dedicated | None = None
        # Whether its callers stand in for the background task. It has nobody to stay for then.
        self._has_stand_in = False
        # Whether a blocking command may have set a value aside that only a look takes.
        self._owes_look = False
        # When a reply told last that nothing was left, on the monotonic clock.
        self._emptied = -math.inf
        self._began = 0.0
        self._until = math.inf
        self._nudges = 0
        self._is_ending = False
        self._round_trip = 0.0
        #: Whether it may take. Where it does not start open, it stays open until it finds that nobody waits.
        self.is_open = is_open
        self.is_running = False
        #: Whether the background task waits for the bell, which nobody has rung.
        self.is_idle = False
        #: Whether the blocking command is on its way or stands in Redis.
        self.is_blocked = False
        #: Why nothing can be taken just now.
        self.trouble: RedisConnectionError | None = None

    # -- for the receiver, under the mutex ---------------------------------------------------------------------------

    def wake(self) -> None:
        """Lets the background task look for work. Starts one where none runs."""
        if not self.is_running:
            self.is_running = True
            self._task = AsyncBackgroundTask(self._run, f"redisson_dq-receiver-{self._key}", shielded=True)
        self.is_idle = False
        self._bell.put(WAKE)

    async def stand_in(self, waiter: Waiter) -> None:
        """Takes in the place of the background task until this caller has its answer. So nobody has to be woken for it.

        Does nothing where a background task runs, and leaves to one what may take long: to connect, and what goes
        wrong. When the caller is cancelled, the background task asks again for what the reply may have told of. No
        signal handler may interrupt the caller. Not under the mutex.
        """
        with self._waiters.mutex:
            self._has_stand_in = True
            if self.is_running or self._dedicated is None:
                return
            self.is_running, self.is_idle = True, False
        await self._run(waiter)

    def stand_down(self) -> None:
        """Is told that nobody stands in any more. The connection goes when nobody has waited for a while."""
        if self._has_stand_in:
            self._has_stand_in = False
            self.wake()

    def close_if_at_rest(self) -> None:
        """Where its background task has nothing to do: the receiver looks again before the next pop."""
        if self.is_idle or not self.is_running:
            self.is_open = False

    def put_away(self, values: list[Taken]) -> None:
        """Puts values back where they came from, in the order in which they were taken.

        Until they are back it is open. A look by others would find what stands behind them.
        """
        if values:
            self.is_open = True
            self._backs.add(values)
            self.wake()

    def recover(self, request: Request[list[Taken]]) -> None:
        """Sends a repeatable request again. Its sender does not wait for the reply any more."""
        self.unanswered.append(request)
        self.wake()

    def end(self) -> None:
        """Ends a blocked pop that nobody waits for. The pop's reply tells whether it had popped a value."""
        if self.is_blocked and not self._is_ending:
            self._is_ending = True
            self._unblocker = AsyncBackgroundTask(self._unblock, f"redisson_dq-unblock-{self._key}", shielded=True)

    def close(self) -> None:
        """Ends the background task as soon as its values are back."""
        self._closing.on()
        self.end()
        if self.is_running:
            self._bell.put(WAKE)
        elif self._dedicated is not None:
            self.wake()

    @property
    def is_at_rest(self) -> bool:
        """Whether it has no background task and no value. May be read without the mutex."""
        return not (self.is_running or self._backs.are_left or self._is_ending)

    @property
    def is_quiet(self) -> bool:
        """Whether it holds no value, and none is on its way to it. May be read without the mutex."""
        rests = self.is_idle or not self.is_running or (self.is_blocked and self._waiters.anyone)
        return rests and not self._backs.surplus and not self._is_ending

    @property
    def found_nothing(self) -> bool:
        """Whether it is blocked, and would have answered by now if there had been a value."""
        return self.is_blocked and time.monotonic() - self._began >= _LONG

    async def end_in_time(self) -> None:
        """Ends a blocked pop when the last caller's time is over. Not under the mutex.

        The server ends it by itself, but looks at its clock when something happens, or at the next of ten times a
        second. So a PING comes behind the pop, on the same connection. No other command does: Redis 7.0 panics when a
        client that CLIENT PAUSE postpones is unblocked.
        """
        with self._waiters.mutex:
            dedicated = self._dedicated
            if not self.is_blocked or self._waiters.anyone or dedicated is None:
                return
            if self._until > time.monotonic() or not dedicated.may_send_aside:
                self.end()
                return
            if self._nudges:
                return
            # The background task reads a reply more from here on, whether the pop has ended meanwhile or not.
            self._nudges = 1
        await dedicated.send_aside(_PING)

    async def hang_up(self) -> None:
        """Cuts the connection; the background task ends. What the reply on it may hold is lost."""
        dedicated = self._dedicated
        if dedicated is not None:
            await dedicated.hang_up()

    # -- the end of a pop without an end -----------------------------------------------------------------------------

    async def _unblock(self) -> None:
        pause = _UNBLOCK_PAUSE
        tries = 0
        while True:
            with self._waiters.mutex:
                dedicated = self._dedicated
                self._admit()
                if not self.is_blocked or self._waiters.anyone or dedicated is None:
                    self._is_ending = False
                    return
            reason: BaseException | str = "Redis does not know of it any more"
            try:
                if await dedicated.unblock():
                    with self._waiters.mutex:
                        self._is_ending = False
                    return
                tries += 1
            except ResponseError as error:
                reason, tries = error, _UNBLOCK_TRIES
            except (RedisError, OSError, RedissonDQError, AsyncCancelled) as error:
                # Redis cannot be reached, or stands still. The pop may still end with a value.
                logger.debug("queue %r: cannot end a blocking pop yet: %s", self._key, error)
                pause = min(_LONGEST_PAUSE, max(pause, _FIRST_PAUSE) * 2)
            if tries == _UNBLOCK_TRIES:
                # Redis forbids the unblock, or lost this connection without our noticing. The connection is closed, or
                # the pop would take a value that nobody gets.
                logger.warning("queue %r: cannot end a blocking pop, closing its connection: %s", self._key, reason)
                await dedicated.hang_up()
                with self._waiters.mutex:
                    self._is_ending = False
                return
            await async_sleep(pause)

    # -- the background task -----------------------------------------------------------------------------------------

    async def _run(self, stand_in: Waiter | None = None) -> None:
        pause = _FIRST_PAUSE
        while await self._next_round(stand_in):
            began = time.monotonic()
            try:
                if not self._backs.are_left:
                    await (self._ask_again() if self._waiters.closed else self._take(stand_in))
                elif not await self._backs.send():
                    await self._backs.pause(self._closing, pause)
                    pause = min(_LONGEST_PAUSE, pause * 2)
                    continue
            except (Exception, AsyncCancelled) as error:
                await self._disconnect()
                if stand_in is not None:
                    # The background task finds out what is wrong, and outlasts it.
                    logger.debug("queue %r: a wait broke: %s", self._key, error)
                    with self._waiters.mutex:
                        self._leave()
                    if isinstance(error, AsyncCancelled):
                        raise
                    return
                trouble = await end_of_wait(self._connections, self.source, error)
                if isinstance(trouble, RedisConnectionError):
                    with self._waiters.mutex:
                        self.trouble = trouble
                        if trouble.maybe_done:
                            self._waiters.doubt()
                        self._waiters.answer_expired(trouble)
                    self._connections.outage.began(self._place, trouble)
                    if time.monotonic() - began > _LONGEST_PAUSE:
                        # Redis could be reached since the last trouble: nothing has come, so nothing has told.
                        pause = _FIRST_PAUSE
                    logger.debug("queue %r: waiting again in %.2f s: %s", self._key, pause, error)
                    await self._connections.refresh()
                    await self._closing.wait(pause)
                    pause = min(_LONGEST_PAUSE, pause * 2)
                elif trouble is not None:
                    with self._waiters.mutex:
                        self._waiters.fail(trouble)
                        self._served()
            else:
                self._trouble_is_over()
                pause = _FIRST_PAUSE
        self._connections.outage.gave_up(self._place)

    async def _next_round(self, stand_in: Waiter | None) -> bool:
        """Waits until there is something to do. False when the background task, or its stand-in, has to end."""
        lingered = False
        while True:
            with self._waiters.mutex:
                self._admit()
                self._waiters.answer_expired()
                self._backs.surplus = self._waiters.give(self._backs.surplus)
                is_for_others = self._dedicated is None or self._backs.are_left
                if stand_in is not None and (stand_in.answer.filled or is_for_others):
                    self._leave()
                    return False
                if self._has_work:
                    return True
                if self._closes_itself and not self._waiters.anyone:
                    self.is_open = False
                retires = self._waiters.closed or lingered
                if retires or self._has_stand_in:
                    # A caller that comes from here on starts another background task, or stands in for one.
                    self.is_running = False
                    if not self._bell.count:
                        retired = self._dedicated if retires else None
                        self._dedicated = None if retires else self._dedicated
                        break
                    self.is_running = True
                self.is_idle = True
            rung = await self._bell.next(_LINGER)
            lingered = rung is None
            with self._waiters.mutex:
                self.is_idle = False
                if isinstance(rung, Waiter):
                    self._waiters.admit(rung)
        if retired is not None:
            await retired.aclose()
        return False

    @property
    def _has_work(self) -> bool:
        """Whether there is something to do. Read under the mutex."""
        if self._backs.are_left or self.unanswered or (self.is_open and self._waiters.is_unserved):
            return True
        return self._owes_look and not self._waiters.closed

    def _leave(self) -> None:
        """Ends the work of a stand-in. What is left is for a background task."""
        self.is_running = False
        if self._has_work or self._waiters.closed or self._bell.count:
            self.wake()

    def _admit(self) -> None:
        # Where another background task reads the inbox, it would miss the notices that this one took from it.
        if self._bell is self._waiters.inbox:
            self._waiters.admit()

    def _served(self) -> None:
        # That background task also waits until the waits end.
        if self._bell is not self._waiters.inbox:
            self._waiters.inbox.put(WAKE)

    async def _take(self, stand_in: Waiter | None) -> None:
        """Takes once for those who wait, and hands it out."""
        dedicated = await self._connected()
        taken = [] if stand_in is not None and self._is_empty else await self._look(dedicated)
        try:
            taken = taken or await self._block(dedicated)
        except ResponseError as error:
            if not (self.source.sets_aside and is_out_of_memory(error)):
                raise
            # A full server refuses a blocking command that would move a value. It refuses no look, so a look finds what
            # is there.
            logger.debug("queue %r: waiting again in %.2f s: %s", self._key, _PAUSE_WHEN_FULL, error)
            self._trouble_is_over()
            await self._closing.wait(_PAUSE_WHEN_FULL)
        if not taken:
            return
        self._emptied = time.monotonic() if taken[-1].left == 0 else -math.inf
        try:
            after = self.source.after(taken, self._backs.answered)
            if after is not None:
                await self._backs.follow(after)
        finally:
            self._give(taken)
        if not self._has_stand_in:
            # The caller that was given a value goes on first. It may be back in line already.
            await async_give_way()

    @property
    def _is_empty(self) -> bool:
        owes = self.unanswered or self._owes_look
        return not owes and time.monotonic() - self._emptied < _EMPTY

    async def _ask_again(self) -> None:
        """Once it is closed: sends requests with a lost reply again. So the values that they took go back."""
        request = self.unanswered[0]
        try:
            taken = await self._connections.run(request, when_closed=True)
        except (RedissonDQError, AsyncCancelled) as error:
            if self._backs.gives_up or (
                isinstance(error, RedissonDQError) and not isinstance(error, RedisConnectionError)
            ):
                logger.warning("queue %r: what a lost reply told of waits for its deadline: %s", self._key, error)
                self._replied(request)
            else:
                await self._backs.pause(self._closing)
            return
        self._replied(request)
        self._give(taken)

    def _give(self, taken: list[Taken]) -> None:
        with self._waiters.mutex:
            self._admit()
            self._waiters.took(taken)
            self.put_away(self._waiters.give(taken))
            self._served()

    def _trouble_is_over(self) -> None:
        self.trouble = None
        self._connections.outage.ended(self._place)

    async def _connected(self) -> Dedicated:
        if self._dedicated is None:
            self._dedicated = dedicated = await self._connections.dedicated(self._key, "receiver", self._key)
            try:
                await dedicated.connect()
                began = time.monotonic()
                await dedicated.learn_id()
            except ResponseError:
                raise
            except (RedisError, OSError) as error:
                # No pop was sent. One that was sent before may have taken something for somebody who still waits.
                with self._waiters.mutex:
                    in_doubt = self._waiters.is_in_doubt
                raise translate(error, f"queue {self._key!r}", sent=in_doubt) from error
            self._round_trip = time.monotonic() - began
        return self._dedicated

    async def _look(self, dedicated: Dedicated) -> list[Taken]:
        """Takes what the source finds without blocking, for all who wait.

        A look that is owed is made even for nobody.
        """
        with self._waiters.mutex:
            count = self._waiters.claim()
            request = self.source.look(count) if count or self._owes_look else None
            if self.unanswered:
                request = self.unanswered[0]
            if request is not None:
                self._waiters.asked()
        try:
            found = [] if request is None else await self._exchange(dedicated, request)
            self._owes_look = False
            return found
        except ResponseError as error:
            if request is None or is_passing(error):
                raise
            # Redis would refuse it again at once. What was set aside comes with the next look, whoever makes it.
            self._owes_look = False
            # The error may be about a key that only this request uses. A plain look at the keys tells which one.
            raise await explained(self._connections, request, error) from error
        finally:
            with self._waiters.mutex:
                self._waiters.unclaim(count)

    async def _exchange(self, dedicated: Dedicated, request: Request[list[Taken]]) -> list[Taken]:
        """Sends one request on this connection. When the connection breaks before the reply, a repeatable request is
        sent first on the next connection.
        """
        if request.repeatable and request not in self.unanswered:
            self.unanswered.append(request)
        try:
            reply = await dedicated.exchange(request)
        except ResponseError:
            self._replied(request)
            raise
        self._replied(request)
        return self._connections.parsed(request, reply)

    def _replied(self, request: Request[list[Taken]]) -> None:
        if request in self.unanswered:
            self.unanswered.remove(request)

    async def _block(self, dedicated: Dedicated) -> list[Taken]:
        if self.trouble is not None:
            # Nothing tells that a command has begun to block. A command that does not block tells whether blocking is
            # allowed.
            self._owes_look = self.source.sets_aside
            allowed = await dedicated.transact(self.source.words(_AT_MOST))
            self._trouble_is_over()
            if allowed is not None:
                return await self._popped(dedicated, allowed, [], at_once=True)
        with self._waiters.mutex:
            if not self._waiters.is_unserved:
                return []
            self._waiters.asked()
            self._began = began = time.monotonic()
            seconds = self._waiters.patience() - _HEAD_START
            if self._waiters.anyone:
                seconds += self._stay
            self.is_blocked = seconds > SOON
            # Until the pop is sent, a PING would come before it, and its reply would be read as the pop's.
            self._until = math.inf
            behind = self.source.behind() if self.is_blocked else None
        reply: Any = None
        refusal: ResponseError | None = None
        # When the reply is lost, a look finds the value that it may have told of.
        self._owes_look = self.source.sets_aside
        try:
            if not self.is_blocked:
                # A command in a transaction does not block. So this pop takes only what is there.
                reply = await dedicated.transact(self.source.words(_AT_MOST))
            else:
                words = self.source.words(0 if seconds == math.inf else seconds)
                if behind is None:
                    await dedicated.send(*words)
                else:
                    self.unanswered.append(behind)
                    await dedicated.send_together(words, behind)
                self._until = began + seconds
                reply = await dedicated.read()
        except ResponseError as error:
            refusal = error
        finally:
            with self._waiters.mutex:
                self.is_blocked = False
                nudges, self._nudges = self._nudges, 0
        took = time.monotonic() - began
        taken = [] if behind is None else await self._taken_behind(dedicated, behind)
        if refusal is not None and not taken:
            # The connection may go on after a refusal, so no reply may be left on it.
            for _ in range(nudges):
                await dedicated.read()
            raise refusal
        if reply is not None:
            self._round_trip = min(self._round_trip, took)
        return await self._popped(dedicated, reply, taken, nudges, at_once=took < self._round_trip + _AT_ONCE)

    async def _taken_behind(self, dedicated: Dedicated, request: Request[list[Taken]]) -> list[Taken]:
        """The reply to the request that was sent together with the blocking command."""
        try:
            taken = self._connections.parsed(request, await dedicated.read())
        except ResponseError as error:
            # A look follows where a value has come. It may be sent with the script's text, and it can tell why not.
            logger.debug("queue %r: refused behind a blocking pop: %s", self._key, error)
            taken = []
        self._replied(request)
        return taken

    async def _popped(
        self, dedicated: Dedicated, reply: Any, taken: list[Taken], nudges: int = 0, *, at_once: bool
    ) -> list[Taken]:
        """The values of the blocking command and of the request behind it, and what else is ready."""
        taken = taken or ([] if reply is None else self.source.taken(reply))
        self._owes_look = reply is not None and not taken
        try:
            for _ in range(nudges):
                await dedicated.read()
            if self._owes_look:
                return await self._look(dedicated)
            if taken and taken[-1].left != 0:
                taken += await self._more(dedicated, taken, at_once=at_once)
        except Exception:
            if not taken:
                raise
            # The values that came are handed out. The next round has another connection.
            logger.debug("queue %r: the connection broke behind a reply", self._key, exc_info=True)
            await self._disconnect()
        return taken

    async def _more(self, dedicated: Dedicated, taken: list[Taken], *, at_once: bool) -> list[Taken]:
        """What else is ready for those who wait, by one command that does not block."""
        with self._waiters.mutex:
            self._admit()
            self._waiters.took(taken)
            count = self._waiters.claim(len(taken)) if at_once or self._waiters.wants_many else 0
        try:
            request = self.source.more(count) if count else None
            # Redis will refuse the next blocking pop as well, and that one can tell why.
            with contextlib.suppress(ResponseError):
                return [] if request is None else await self._exchange(dedicated, request)
            return []
        finally:
            with self._waiters.mutex:
                self._waiters.unclaim(count)

    async def _disconnect(self) -> None:
        dedicated, self._dedicated = self._dedicated, None
        if dedicated is not None:
            await dedicated.aclose()
