"""The callers that wait on one source, and the pump that takes for them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Union

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.receiving.beginning import Beginner, Begun
from redisson_dq._async.receiving.lookouts import Lookouts
from redisson_dq._async.receiving.looks import PATIENCE, Looks
from redisson_dq._async.receiving.pump import Pump
from redisson_dq._async.receiving.put_backs import PutBacks
from redisson_dq._concurrency import AsyncInbox, AsyncMutex, AsyncPromise, AsyncWork
from redisson_dq.errors import ClosedError, RedisConnectionError, RedissonDQError
from redisson_dq.scheduling.clock import Clock
from redisson_dq.waits.line import Answer, Answering, Farewell, Lifeline, Line, Waiter
from redisson_dq.waits.rotation import SharedSources
from redisson_dq.waits.watched import WatchedSource
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["Notice", "Receiver", "Taker", "time_left"]

# How much later than its timeout a call returns, when Redis has not answered by then.
_GRACE = 0.15
# How long a caller waits until its bytes are set aside.
_ASIDE_TIMEOUT = 30.0

#: What takes from one source for the callers of a line: over a connection of its own, or by a lookout. Its triggers
#: come under the mutex of the line. Its properties may be read without it, and may have changed a moment later.
Taker = Union[Pump, WatchedSource]

#: A message to the background task of all receivers: something to do, or a caller that is gone.
Notice = Union[AsyncWork, Waiter, Farewell]


def time_left(deadline: float, clock: Clock) -> float:
    """How many seconds a call still waits for Redis when its time is over at ``deadline``."""
    return max(0.0, deadline + _GRACE - clock.monotonic())


class Receiver(Looks):
    """Takes from one source for all local callers, over one connection.

    The methods of the first section are for callers. They hand their work to background tasks by notices, so an
    interruption at any point does no harm. Background tasks run all other methods.
    """

    def __init__(
        self,
        connections: Connections,
        notices: AsyncInbox[Notice],
        sources: Sequence[Source],
        lookouts: Lookouts | None = None,
        idle: list[None] | None = None,
    ) -> None:
        """``notices`` is the inbox of the background task that serves the callers of all receivers. With ``lookouts``
        its sources share connections with others. ``idle`` has permits for own connections that wait for nobody.
        """
        self._inbox: AsyncInbox[Waiter | str] = AsyncInbox(connections.clock)
        line = Line(sources[0].key, self._inbox, AsyncMutex())
        super().__init__(connections, notices, line, sources)
        self._idle = idle
        self._beginner = Beginner(self._clock, notices.put)
        self._asides: dict[object, Begun] = {}
        # Shared pumps in whose place others are. Values may still be on their way back there.
        self._replaced: list[Taker] = []
        self._pumps = self._shared_pumps(sources, lookouts) if lookouts else self._make_pumps(sources)
        #: The first of them, and of a receiver of one source the only one.
        self.pump = next(iter(self._pumps.values()))

    # -- for callers -------------------------------------------------------------------------------------------------

    async def receive(self, timeout: float | None, limit: int = 1, lifeline: Lifeline | None = None) -> list[Taken]:
        """From one value to ``limit`` of them, or none after ``timeout`` seconds.

        A caller with a ``lifeline`` has the values once it has called ``keep()``. When the lifeline is dropped before,
        they go back.

        Raises ClosedError when the client or the last handle is closed meanwhile, WrongTypeError and RedisReplyError as
        Redis does. Raises RedisConnectionError when the time is over and Redis was not reachable.
        """
        mine = lifeline or Lifeline()
        deadline = math.inf if timeout is None else self._clock.monotonic() + timeout
        answer: AsyncPromise[Answer] = AsyncPromise(self._clock)
        waiter = Waiter(limit, deadline, answer, self._notices.put, self, mine)
        self._connections.try_at_once()
        try:
            self._inbox.put(waiter)
            if self.line.closed or mine.is_withdrawn:
                raise ClosedError(f"queue {self.line.name!r}: the handle is closed")
            # Nearly all have one source, and are spared a call.
            is_attended = self.pump.is_running if len(self._pumps) == 1 else self._is_attended
            if not is_attended and not waiter.answer.filled:
                self._notices.put(self.attend)
            await answer.wait(timeout)
            if not waiter.answer.filled:
                self._notices.put(partial(self.expire, waiter))
                await answer.wait(PATIENCE)
            if not waiter.answer.filled:
                self._notices.put(partial(self.insist, waiter))
                await answer.wait(_GRACE - PATIENCE)
            if not waiter.answer.filled:
                # Read once: a background task may find meanwhile that Redis is back.
                if (trouble := self.trouble) is not None:
                    raise trouble
                # Redis has not answered. Values that come later go back, also those that come before the caller keeps.
                waiter.leave()
                return []
            given = answer.value
            if isinstance(given, RedissonDQError):
                raise given
            if lifeline is None or not given:
                mine.keep()
            return given
        except BaseException:
            waiter.leave()
            # It has let go. A second notice would have to be read, and the next call would wait for that.
            mine.waiter = None
            raise

    def enter(self, limit: int, lifeline: Lifeline, answer: Answering) -> None:
        """Puts a caller in line that does not wait here. Some thread or task fills its ``answer``.

        A caller that wants no values any more calls :meth:`withdraw`. Otherwise as with :meth:`receive`. A closed line
        answers with ClosedError. No caller is answered twice.
        """
        waiter = Waiter(limit, math.inf, answer, self._notices.put, self, lifeline)
        self._inbox.put(waiter)
        if self.line.closed:
            # It may have been closed before the caller was in the inbox, and nobody may come to that any more.
            with self.line.mutex:
                self.line.admit()
        elif not self._is_attended:
            self._notices.put(self.attend)

    def recover(self, request: Request[list[Taken]]) -> None:
        """Sends a repeatable request of its source again, whose reply a caller has lost.

        Its values are for the first caller in line. Without one they go back.
        """
        self._notices.put(partial(self._recover, request))

    def withdraw(self, lifeline: Lifeline) -> None:
        """Ends the wait of one caller with ClosedError, unless it has been answered already.

        The wait need not have begun.
        """
        lifeline.is_withdrawn = True
        if (waiter := lifeline.waiter) is not None:
            self._notices.put(partial(self._withdraw, waiter))

    async def set_aside(
        self, lifeline: Lifeline, undecodable: list[Taken], key: str, deadline: float | None
    ) -> RedissonDQError | None:
        """Puts values that a caller was given, and that no codec can read, into the list ``key``.

        Returns the error with which Redis refused them, or says that Redis has not answered by the deadline. The values
        do not go back any more, whatever the caller does.
        """
        waiter = lifeline.waiter
        assert waiter is not None
        answer: AsyncPromise[RedissonDQError | None] = AsyncPromise(self._clock)
        self._notices.put(partial(self._set_aside, waiter, undecodable, key, answer))
        await answer.wait(_ASIDE_TIMEOUT if deadline is None else time_left(deadline, self._clock))
        if not answer.filled:
            return RedisConnectionError(f"list {key!r}: no answer from Redis in time", maybe_done=True)
        return answer.value

    @property
    def trouble(self) -> RedisConnectionError | None:
        """Why nothing can be taken just now."""
        return self.pump.trouble

    # -- differences between the kinds of receiver, under the mutex --------------------------------------------------

    def _make_pumps(self, sources: Sequence[Source]) -> Mapping[str, Taker]:
        debts = self._debts
        return {
            each.key: Pump(
                self._connections, each, self.line, debts[each], self._inbox, self._beginner, idle=self._idle
            )
            for each in sources
        }

    def _shared_pumps(self, sources: Sequence[Source], lookouts: Lookouts) -> Mapping[str, Taker]:
        together, connections, debts = SharedSources(self.line), self._connections, self._debts
        for each in sources:
            backs = PutBacks(connections, each, self.line)
            together.add(
                WatchedSource(self.line, each, debts[each], backs, self._clock.monotonic, lookouts, self._stop_sharing)
            )
        return {each.source.key: each for each in together.all}

    def _stop_sharing(self) -> None:
        """Redis does not let a client watch many keys. Each source has a pump of its own from here on."""
        shared = [pump for pump in self._pumps.values() if isinstance(pump, WatchedSource)]
        if shared:
            for each in shared:
                # It still reads the replies that are under way.
                each.is_replaced = True
            self._replaced += shared
            self._pumps = self._make_pumps([each.source for each in shared])
            self.pump = next(iter(self._pumps.values()))
        for pump in self._pumps.values():
            if pump.debts:
                pump.wake()
        self._serve()

    @property
    def _shares(self) -> bool:
        """Whether its sources share connections with others."""
        return isinstance(self.pump, WatchedSource)

    @property
    def _takers(self) -> list[Taker]:
        """The pumps, and those in whose place they are."""
        return [*self._pumps.values(), *self._replaced]

    @property
    def _is_attended(self) -> bool:
        """Whether somebody reads the inbox of the line. Read without the mutex."""
        return self.pump.is_running

    def _serve(self) -> None:
        """Makes sure that somebody serves those who wait."""
        self.pump.wake()

    def _answer_expired(self) -> Pump | None:
        """Answers callers whose time is over. Returns the pump whose command may have to end before that."""
        self.pump.answer_expired()
        return self.pump if isinstance(self.pump, Pump) else None

    def _nobody_waits(self) -> None:
        self.pump.end()

    # -- notices -----------------------------------------------------------------------------------------------------

    async def attend(self) -> None:
        with self.line.mutex:
            self._serve()

    async def expire(self, waiter: Waiter) -> None:
        """The time of a caller is over."""
        with self.line.mutex:
            self.line.admit()
            self.line.expire(waiter)
            pump = self._answer_expired()
            self._serve()
        if pump is not None:
            await pump.end_in_time()

    async def insist(self, waiter: Waiter) -> None:
        """The server has not ended the pop. The pop goes on for others, or began late, or Redis hangs."""
        with self.line.mutex:
            if waiter in self.line.waiting:
                self._answer_expired()
                if not self.line.anyone:
                    self._nobody_waits()

    async def gone(self, waiter: Waiter) -> None:
        """A caller has left, or vanished."""
        with self.line.mutex:
            self.line.admit()
            if waiter.request is not None:
                # The caller may have left it before.
                self.pump.debts.admit()
                if not (waiter.answer.filled or waiter.is_gone):
                    # The request may have taken values. Sent again, it gives the same values.
                    self.pump.recover(waiter.request)
            self._distribute(self.line.leave(waiter))
            if not self.line.anyone:
                self._nobody_waits()
            self._serve()

    async def _recover(self, request: Request[list[Taken]]) -> None:
        with self.line.mutex:
            self.pump.recover(request)

    def _distribute(self, values: list[Taken]) -> None:
        """Gives values to others who wait, or back to where they came from."""
        left = self.line.give(values)
        for pump in self._pumps.values():
            pump.put_away([taken for taken in left if taken.key in pump.source.keys])

    async def _withdraw(self, waiter: Waiter) -> None:
        with self.line.mutex:
            self.line.admit()
            self.line.withdraw(waiter)
            if not self.line.anyone:
                self._nobody_waits()
            self._serve()

    async def _set_aside(
        self, waiter: Waiter, undecodable: list[Taken], key: str, answer: AsyncPromise[RedissonDQError | None]
    ) -> None:
        with self.line.mutex:
            waiter.forget(undecodable)
            work = partial(self._put_aside, [taken.data for taken in undecodable], key, answer)
            self._asides[answer] = self._beginner.begin(work, f"redisson_dq-aside-{self.line.name}")

    async def _put_aside(self, values: list[bytes], key: str, answer: AsyncPromise[RedissonDQError | None]) -> None:
        try:
            answer.fill(await self._connections.undecodable.put(values, key))
        finally:
            with self.line.mutex:
                del self._asides[answer]

    # -- the end -----------------------------------------------------------------------------------------------------

    async def shut(self) -> None:
        """Ends every wait with ClosedError, and the background tasks as soon as their values are back."""
        with self.line.mutex:
            self.line.shut()
            for pump in self._takers:
                pump.close()

    async def hang_up(self) -> None:
        """Cuts the connections. Values in the replies on them are lost."""
        for pump in self._takers:
            cut = pump if isinstance(pump, Pump) else pump.asked_by
            if cut is not None:
                await cut.hang_up()

    @property
    def is_quiet(self) -> bool:
        """Whether every value on its way has a caller that waits for it. May be read without the mutex."""
        is_leaving = self.are_lookers_leaving or self.line.are_leaving
        return not is_leaving and not self._inbox.count and all(pump.is_quiet for pump in self._takers)

    @property
    def is_at_rest(self) -> bool:
        """Whether it holds no value and has no background task. May be read without the mutex."""
        owes = any(debts.has_request for debts in list(self._debts.values()))
        return self.line.is_at_rest and not (self._asides or owes) and all(pump.is_at_rest for pump in self._takers)
