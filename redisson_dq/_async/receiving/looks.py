"""The looks of callers at the values that are ready, each in a round trip of the caller's own."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._concurrency import AsyncInbox, AsyncPromise
from redisson_dq._redis import passes
from redisson_dq.errors import RedisConnectionError, RedisReplyError, RedissonDQError
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import Lifeline, Line, Waiter
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken

__all__ = ["PATIENCE", "Looks"]

#: How much later than a caller's timeout Redis may still answer by itself, in seconds.
PATIENCE = 0.03


class Looks:
    """The base of a receiver: its callers that look themselves, until they have kept their values."""

    def __init__(
        self, connections: Connections, notices: AsyncInbox[Any], line: Line, sources: Sequence[Source]
    ) -> None:
        """``notices`` is the inbox of the background task that serves the callers."""
        self._connections = connections
        self._clock = connections.clock
        self._notices = notices
        self.line = line
        #: The sources. A look is for a receiver of one source that has one.
        self.sources = tuple(sources)
        # Pumps may be replaced, the debts stay.
        self._debts = {source: Debts() for source in sources}
        #: Whether the last look found something at once. The next look may then do so too.
        self.has_backlog = False
        # Callers that may not have kept the values of their look yet.
        self._lookers: deque[Waiter] = deque()

    async def look(self, limit: int, lifeline: Lifeline, timeout: float | None) -> list[Taken]:
        """Up to ``limit`` values that are ready, in one round trip of the caller's own.

        The lifeline is as with ``receive``. A request whose reply was lost is sent again, and gives the same
        values. With a ``timeout`` of 0 this call sends it again, and raises when no answer comes. Otherwise the
        receiver sends it again, and the values are for the first caller in line then. The look finds nothing when no
        connection is idle, or when Redis cannot be reached, refuses for a while, or has not answered in time.
        """
        waits = timeout != 0
        if waits and timeout is not None:
            limit = int(min(limit, self.line.affordable(timeout)))
        request = self.sources[0].look(limit)
        assert request is not None
        waiter = Waiter(limit, 0.0, AsyncPromise(self._clock), self._notices.put, self, lifeline)
        waiter.request = request
        lookers = self._lookers
        try:
            while lookers and (first := lookers[0]).is_settled:
                lookers.remove(first)
        except (IndexError, ValueError):
            # Another thread has removed the same caller.
            pass
        lookers.append(waiter)
        try:
            if waits:
                # Making a connection would hold up the caller for as long as the server hangs.
                within = None if timeout is None else timeout + PATIENCE
                taken = await self._connections.run(request, within=within, at_hand=True)
            else:
                taken = await self._insisted(request)
        except BaseException as error:
            # There is nothing to let go of. A second notice would have to be read, and the next call would wait for
            # that.
            lifeline.waiter = None
            self._look_missed(waiter, error, again=waits)
            if waits and isinstance(error, RedissonDQError) and passes(error):
                return []
            raise
        waiter.answer.fill(taken)
        if not taken:
            waiter.farewell = None
        self.has_backlog = bool(taken)
        # They are the caller's once it has called keep().
        return taken

    def _look_missed(self, waiter: Waiter, error: BaseException, *, again: bool) -> None:
        """No reply came. With ``again`` the receiver sends the request again, as the caller does not.

        The values are for the first caller in line then.
        """
        self.has_backlog = False
        if not isinstance(error, RedissonDQError):
            waiter.leave()
        elif not getattr(error, "maybe_done", False):
            # It has taken nothing. Waking the background task for that would let the next look find others first.
            waiter.farewell = None
        elif again:
            # It is owed before the caller gets in line, as its values were first.
            self._debts[self.sources[0]].leave_request(waiter)
            self._notices.put(self.attend)
        else:
            waiter.leave()

    async def attend(self) -> None:
        """Makes sure that somebody serves those who wait, and pays the debts."""
        raise NotImplementedError

    async def _insisted(self, request: Request[list[Taken]]) -> list[Taken]:
        try:
            return await self._connections.run(request)
        except RedisConnectionError as error:
            if not error.maybe_done:
                raise
        try:
            return await self._connections.run(request)
        except (RedisConnectionError, RedisReplyError) as error:
            # The first try may have been carried out, also when the next one finds no server, or is refused.
            error.maybe_done = True
            raise

    # -- for others, also without the mutex --------------------------------------------------------------------------

    @property
    def are_lookers_leaving(self) -> bool:
        """Whether values of a caller that leaves still have to be put back."""
        return any(waiter.is_leaving and not waiter.is_gone for waiter in list(self._lookers))

    @property
    def are_looks_open(self) -> bool:
        """Whether a caller may still leave without keeping the values of its look."""
        return not all(waiter.is_settled for waiter in list(self._lookers))
