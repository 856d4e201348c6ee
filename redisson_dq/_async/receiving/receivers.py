"""The receivers of one client, and the background task that handles callers who leave."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.receiving.beginning import Beginner
from redisson_dq._async.receiving.lookouts import Lookouts
from redisson_dq._async.receiving.receiver import Notice, Receiver
from redisson_dq._concurrency import AsyncBackgroundTask, AsyncInbox, AsyncPromise, AsyncWork
from redisson_dq.calls.confirming import subject
from redisson_dq.errors import ClosedError, RedisConnectionError, RedissonDQError
from redisson_dq.scheduling.clock import Clock
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.waits.line import Farewell, Waiter
from redisson_dq.wire.blocking import Source, Waitable
from redisson_dq.wire.request import Request

__all__ = ["Receivers"]

logger = logging.getLogger("redisson_dq")

T = TypeVar("T")

# How long the end of a receiver waits for the last reply before it cuts the connection, and how long after that.
_LAST_REPLY = 2.0
_LAST_STEPS = 0.5
_PAUSE, _LONGEST_PAUSE = 0.001, 0.02
# This many connections that waited for sets of queues stay open when nobody waits.
_IDLE_SETS = 8


class Receivers:
    """Makes receivers, one for all callers that wait on the same source, and ends them.

    A caller takes no lock here, and an interruption leaves nothing half done.
    """

    def __init__(self, connections: Connections) -> None:
        self.connections = connections
        self._clock = connections.clock
        self._receivers: dict[Waitable, Receiver] = {}
        self._notices: AsyncInbox[Notice] = AsyncInbox(self._clock)
        self._beginner = Beginner(self._clock, self._notices.put)
        self._lookouts = Lookouts(connections, self._beginner)
        # A permit is taken and put back in one step of C code.
        self._idle = [None] * _IDLE_SETS
        self._task: AsyncBackgroundTask | None = None
        self._closed = False

    def of(self, source: Waitable) -> Receiver:
        """The receiver of a source. Raises ClosedError."""
        self.connections.check()
        receiver = self._receivers.get(source)
        if receiver is None:
            receiver = self._receivers.setdefault(source, self._made(source.sources))
        # First it is put into the table, then ``closed`` is read. So either the closing call finds it there, or this
        # call sees the closing.
        if self._closed:
            raise ClosedError("the client is closed; make a new one with connect()")
        if self._task is None:
            self._start()
        return receiver

    def run_beside(self, work: AsyncWork, name: str) -> None:
        """Runs something in a background task of its own. The caller need not wait for it.

        The background task starts it: to start a thread takes many steps, between which a signal handler may raise.
        """
        self.connections.check()
        self._start()
        self._notices.put(partial(self._begin, work, name))

    async def answered(self, request: Request[T], within: float | None, name: str) -> T:
        """The result of a request that has to come in this many seconds.

        In a background task: neither a connection that is being made nor a missing reply holds up the caller. Raises
        the errors of the request, and RedisConnectionError when the time is over.
        """
        answer: AsyncPromise[T | RedissonDQError] = AsyncPromise(self._clock)
        self.run_beside(partial(self._answer, request, within, answer), name)
        await answer.wait(within)
        if not answer.filled:
            raise RedisConnectionError(
                f"{subject(request)}: no answer in time; the command was sent and may have been carried out",
                maybe_done=True,
            )
        if isinstance(answer.value, RedissonDQError):
            raise answer.value
        return answer.value

    async def _answer(
        self, request: Request[T], within: float | None, answer: AsyncPromise[T | RedissonDQError]
    ) -> None:
        try:
            result = await self.connections.run(request, within=within)
            answer.fill(result)
        except RedissonDQError as error:
            answer.fill(error)

    def _start(self) -> None:
        if self._task is None:
            # When two callers start one each, the two share the work.
            self._task = AsyncBackgroundTask(
                self._run, "redisson_dq-receivers", shielded=True, on_end=self._end_with_loop
            )

    async def quiet(self, receivers: Sequence[Receiver]) -> bool:
        """Waits until every value on its way has a caller. False when that takes too long."""
        return await _until(lambda: all(receiver.is_quiet for receiver in receivers), self._clock, _LAST_REPLY)

    def leases(self, key: str) -> bool:
        """Whether values of the list with this key are received under a lease here."""
        return any(source.leases(key) for source in list(self._receivers))

    def _made(self, sources: tuple[Source, ...]) -> Receiver:
        # Calls may wait for ever-new sets of queues, and would have all seats.
        is_set = sources[0].at_once(1) is None
        lookouts = None if is_set or self._lookouts.take_seats(sources) else self._lookouts
        if len(sources) == 1:
            return Receiver(self.connections, self._notices, sources, lookouts, self._idle if is_set else None)
        from redisson_dq._async.receiving.round_robin import RoundRobinReceiver

        return RoundRobinReceiver(self.connections, self._notices, sources, lookouts)

    async def end(self, *keys: str) -> None:
        """Ends every wait that needs an open handle of one of these keys with ClosedError. No item is lost."""
        ends = [source for source in list(self._receivers) if any(source.ends_with(key) for key in keys)]
        # Others may end some of them just now.
        ending = [each for each in (self._receivers.pop(source, None) for source in ends) if each is not None]
        await self._end(ending)
        for receiver in ending:
            self._lookouts.leave_seats(receiver.sources)

    async def aclose(self) -> None:
        """Ends every wait with ClosedError, then the background tasks and their connections. No item is lost."""
        self._closed = True
        await self._end(list(self._receivers.values()))
        await self._lookouts.aclose()
        self._notices.put(self._stop)

    async def _end(self, receivers: list[Receiver]) -> None:
        for receiver in receivers:
            self._notices.put(receiver.shut)
        if not await _at_rest(receivers, self._clock, _LAST_REPLY):
            for receiver in receivers:
                if not receiver.is_at_rest:
                    await receiver.hang_up()
            await _at_rest(receivers, self._clock, _LAST_STEPS)

    def _end_with_loop(self) -> None:
        """The loop ends and nobody has closed the client."""
        self._closed = True
        for receiver in list(self._receivers.values()):
            self._notices.put(receiver.shut)
        self._notices.put(self._stop)

    # -- the background task -----------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            notice = await self._notices.get()
            if notice == self._stop:
                break
            await self._handle(notice)
        # Callers who were given values may still leave without them.
        pauses, waited = Pauses(_PAUSE, _LONGEST_PAUSE), 0.0
        while waited < _LAST_REPLY and any(
            # A caller may still add one, and gets the error that the client is closed.
            each.are_looks_open or not each.is_at_rest
            for each in list(self._receivers.values())
        ):
            seconds = pauses.next()
            last = await self._notices.next(seconds)
            if last is None:
                waited += seconds
            elif last != self._stop:
                await self._handle(last)
        await self._lookouts.aclose()
        self._notices.put(self._stop)

    async def _handle(self, notice: Notice) -> None:
        try:
            waiter = notice.waiter if isinstance(notice, Farewell) else notice
            if isinstance(waiter, Waiter):
                await waiter.owner.gone(waiter)
            else:
                await waiter()
        except Exception:
            # A defect must not end the waits of all others.
            logger.exception("unexpected error while serving a caller: %r", notice)

    async def _begin(self, work: AsyncWork, name: str) -> None:
        self._beginner.begin(work, name, shielded=False)

    async def _stop(self) -> None:
        """The notice that ends the background task."""


async def _at_rest(receivers: list[Receiver], clock: Clock, timeout: float) -> bool:
    # Not before the background task has seen the notices.
    return await _until(lambda: all(each.line.closed and each.is_at_rest for each in receivers), clock, timeout)


async def _until(is_so: Callable[[], bool], clock: Clock, timeout: float) -> bool:
    # The pauses are added up: where a test's clock does not move, short pauses end all the same.
    pauses, waited = Pauses(_PAUSE, _LONGEST_PAUSE), 0.0
    while not is_so():
        if waited > timeout:
            return False
        seconds = pauses.next()
        await clock.async_sleep(seconds)
        waited += seconds
    return True
