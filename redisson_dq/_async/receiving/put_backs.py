"""Values that nobody waits for, on their way back to where they came from."""

from __future__ import annotations

import logging

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._concurrency import AsyncCancelled
from redisson_dq._redis import passes
from redisson_dq.errors import RedissonDQError
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import Line
from redisson_dq.waits.steps import Backs
from redisson_dq.wire.blocking import PutBack, Source
from redisson_dq.wire.taken import Taken

__all__ = ["PutBacks"]

logger = logging.getLogger("redisson_dq")

# For how long values of a receiver that was closed are sent, and how often.
_LAST_TRIES = 1.5
_LAST_PAUSE = 0.1


class PutBacks(Backs):
    """Sends values and requests of one source until Redis has them.

    Its own fields belong to the task that sends for the source: its pumper, or its lookout and the clerk, one after the
    other.
    """

    def __init__(self, connections: Connections, source: Source, line: Line) -> None:
        super().__init__()
        self._connections = connections
        self._clock = connections.clock
        self._source = source
        self._line = line
        # When it stops trying, once the receiver is closed.
        self._give_up_at: float | None = None
        # For how long it has paused since then. A test's clock may not move.
        self._paused = 0.0

    async def follow(self, after: PutBack) -> None:
        """Sends the request that has to follow a take. Where Redis is away, that is sent before the next take."""
        try:
            await self._connections.run(after.request)
            self.answered[after.key] = after.nonce
        except RedissonDQError as error:
            if passes(error):
                self._again_unchanged(after)
            else:
                logger.warning("queue %r: the follow-up of a take failed: %s", self._source.key, error)
        except AsyncCancelled:
            # The end of a loop cancels a connection that is being made.
            self._again_unchanged(after)
            raise

    def _again_unchanged(self, back: PutBack) -> None:
        with self._line.mutex:
            self.unsure.append(back)

    async def send(self) -> bool:
        """Puts back the values that nobody waits for. False when some of them have to be sent again.

        Values that come meanwhile do not count.
        """
        with self._line.mutex:
            unsure, surplus, self.unsure, self.surplus = self.unsure, self.surplus, [], []
        made = self._made(surplus)
        is_done = made is not None
        for back in [*unsure, *(made or ())]:
            try:
                await self._connections.run(back.request, when_closed=True)
                self.answered[back.key] = back.nonce
            except (Exception, AsyncCancelled) as error:
                # Where a defect shows, it may have been sent.
                is_defect = not isinstance(error, (RedissonDQError, AsyncCancelled))
                maybe_done = getattr(error, "maybe_done", is_defect)
                is_done = self._gave_up(back, error, is_unsure=back in unsure or maybe_done) and is_done
        return is_done

    def _made(self, values: list[Taken]) -> list[PutBack] | None:
        """The put-backs of values; None where a defect shows, and the values are left."""
        try:
            return self._source.put_back(values, self.answered)
        except Exception as error:
            if self.gives_up:
                self._lost(values, error)
                return []
            logger.exception(
                "queue %r: unexpected error while putting %d popped values back", self._source.key, len(values)
            )
            with self._line.mutex:
                self.again(values)
            return None

    async def repeat(self, debts: Debts) -> list[Taken] | None:
        """Once it is closed: sends a request with a lost reply again. So the values that it took go back.

        Returns its values, or None when it has to be tried again.
        """
        with self._line.mutex:
            debts.admit()
            request = debts.first
        if request is None:
            return []
        taken: list[Taken] = []
        try:
            taken = await self._connections.run(request, when_closed=True)
        except (RedissonDQError, AsyncCancelled) as error:
            lasts = isinstance(error, RedissonDQError) and not passes(error)
            if not self.gives_up and not lasts:
                return None
            logger.warning(
                "queue %r: values of a lost reply return at their lease deadline: %s", self._source.key, error
            )
        debts.paid(request)
        return taken

    def pause_of(self, seconds: float) -> float:
        """How long to wait before the next try: shortly once the receiver is closed, and not for ever from then on."""
        if not self._line.closed:
            return seconds
        if self._give_up_at is None:
            self._give_up_at = self._clock.monotonic() + _LAST_TRIES
        pause = min(seconds, _LAST_PAUSE)
        self._paused += pause
        return pause

    @property
    def gives_up(self) -> bool:
        """Whether it was closed, and has tried long enough to put values back."""
        if self._give_up_at is None:
            return False
        return self._paused > _LAST_TRIES or self._clock.monotonic() > self._give_up_at

    def _gave_up(self, back: PutBack, error: BaseException, *, is_unsure: bool) -> bool:
        """Whether a put-back that has failed is given up. Otherwise it is kept, to be sent again."""
        if not back.values and isinstance(error, RedissonDQError) and (self.gives_up or not passes(error)):
            logger.warning("queue %r: the follow-up of a take failed: %s", self._source.key, error)
            return True
        if (self.gives_up and isinstance(error, Exception)) or (is_unsure and not back.request.repeatable):
            self._lost(back.values, error)
            return True
        if back.values:
            logger.warning("queue %r: cannot put %d popped values back: %s", self._source.key, len(back.values), error)
        if is_unsure:
            self._again_unchanged(back)
        else:
            with self._line.mutex:
                self.again(back.values)
        return False

    def _lost(self, values: list[Taken], error: BaseException) -> None:
        data = [taken.data for taken in values]
        logger.error("queue %r: popped values may not be back in Redis: %s; they are %r", self._source.key, error, data)
