"""Takes from several sources in rotation, each of which may live on another node of a cluster.

No blocking command spans nodes. So each source has a blocking pop of its own: a background task, and a connection while
it blocks. One more background task looks first, at all sources that no pop is blocked on. It takes an equal share from
each source that has something. It begins behind the source that gave last, so a full one never starves another. When
all are empty it opens their pops.

A blocked pop says that its list is empty. It stays blocked for a moment when nobody waits any more. Unblocking all pops
after each value, and blocking them again for the next, would cost more than the values do. A value that comes to such a
pop goes back to its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.receiving.lookouts import Lookouts
from redisson_dq._async.receiving.pump import Pump
from redisson_dq._async.receiving.receiver import Notice, Receiver
from redisson_dq._async.receiving.taker import Taker
from redisson_dq._concurrency import AsyncBackgroundTask, AsyncCancelled, AsyncInbox
from redisson_dq._log import Log
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.waiting.line import WAKE
from redisson_dq.waiting.rotation import Rotation, evenly
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.taken import Taken

__all__ = ["STAY", "RoundRobinReceiver"]

logger = Log()

#: How long pops stay blocked when nobody waits.
STAY = 1.0


class RoundRobinReceiver(Receiver):
    """Takes from several sources for all local callers, over one connection for each source."""

    def __init__(
        self,
        connections: Connections,
        notices: AsyncInbox[Notice],
        sources: Sequence[Source],
        lookouts: Lookouts | None = None,
    ) -> None:
        super().__init__(connections, notices, sources, lookouts)
        self._sources = {source.key: source for source in sources}
        self._rotation = Rotation(list(self._sources))
        # Sources that had values at the last look, and have not been asked since.
        self._full: list[str] = []
        self._task: AsyncBackgroundTask | None = None
        self._is_running = False
        self._is_looking = False

    @property
    def trouble(self) -> RedisConnectionError | None:
        """Why nothing can be taken just now. A pump that has nothing to do may not have heard that Redis is back."""
        return next(filter(None, (pump.trouble for pump in self._pumps.values() if pump.is_busy)), None)

    # -- where it differs --------------------------------------------------------------------------------------------

    def _make_pumps(self, sources: Sequence[Source]) -> Mapping[str, Taker]:
        # The receiver's background task reads the inbox of the line, so each pump has a bell of its own.
        return {
            key: Pump(self._connections, source, self.line, debts, AsyncInbox(self._clock), self._beginner, stay=STAY)
            for key, source, debts in ((each.key, each, self._debts[each.key]) for each in sources)
        }

    @property
    def _is_attended(self) -> bool:
        return all(pump.is_attended for pump in self._pumps.values()) if self._shares else self._is_running

    def _serve(self) -> None:
        if self._shares:
            for pump in self._pumps.values():
                pump.wake()
            return
        if not self._is_running:
            self._is_running = True
            self._beginner.begin(self._begin)
        self._inbox.put(WAKE)

    def _begin(self) -> None:
        self._task = AsyncBackgroundTask(self._run, f"redisson_dq-round-robin-{self.line.name}", shielded=True)

    def _answer_expired(self) -> Taker | None:
        if (trouble := self.trouble) is not None:
            self.line.answer_expired(trouble)
        elif self._shares:
            # A source that is not watched is asked, which answers them.
            if all(pump.is_blocked for pump in self._pumps.values()):
                self.line.asked()
                self.line.answer_expired()
        elif not self._is_looking:
            self.line.answer_expired()
        return None

    def _nobody_waits(self) -> None:
        """The pops stay for a moment, then the background task ends them."""

    @property
    def is_at_rest(self) -> bool:
        return not self._is_running and super().is_at_rest

    async def shut(self) -> None:
        await super().shut()
        if not self._shares:
            self._inbox.put(WAKE)

    # -- the background task -----------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while free := await self._next_round():
            try:
                # A single list needs no look: its pop does not block while the list has values.
                found = len(free) > 1 and await self._look(free)
            except (Exception, AsyncCancelled) as error:
                logger.debug("queue %r: cannot look what is ready: %s", self.line.name, error)
                # It fails for the pumps as well, and they can tell why.
                found = False
            with self.line.mutex:
                self._is_looking = False
                if not found:
                    for key in free:
                        self._pumps[key].wake()
                self.line.answer_expired()

    async def _next_round(self) -> list[str]:
        """Waits for a caller. Gives the keys without a pop, in rotation; none when the background task has to end."""
        stayed = False
        while True:
            with self.line.mutex:
                self.line.admit()
                free = [key for key in self._rotation.order if not self._pumps[key].is_busy]
                if free and self.line.is_unserved(self._clock.monotonic()):
                    self._is_looking = True
                    self.line.asked()
                    return free
                if all(pump.is_blocked for pump in self._pumps.values()):
                    # So each list is empty. No command is needed for callers who have come since.
                    self.line.asked()
                self.line.answer_expired()
                if stayed and not self.line.anyone:
                    for pump in self._pumps.values():
                        pump.end()
                if (stayed and not self.line.anyone) or self.line.closed:
                    # A caller that comes from here on starts another background task.
                    self._is_running = False
                    if not self._inbox.count:
                        return []
                    self._is_running = True
                stay = None if self.line.anyone else STAY
            rung = await self._inbox.next(stay)
            stayed = rung is None
            if rung is not None:
                with self.line.mutex:
                    self.line.admit(rung)

    async def _look(self, keys: list[str]) -> bool:
        """Takes the values that are ready there for the callers that wait. False when it is time to block."""
        self._full = [key for key in self._full if key in keys]
        looked = not self._full
        if looked:
            # Errors are left to the pops, which retry or tell.
            lengths = await self._connections.run_many([self._sources[key].length() for key in keys], transaction=False)
            self._full = [key for key, length in zip(keys, lengths, strict=True) if isinstance(length, int) and length]
        with self.line.mutex:
            wanted = self.line.claim(self._clock.monotonic())
        asked, self._full = self._full[:wanted], self._full[wanted:]
        shares = dict(zip(asked, evenly(wanted, len(asked)), strict=True))
        requests = {key: self._sources[key].more(share) for key, share in shares.items()}
        sent = {key: request for key, request in requests.items() if request is not None}
        values: list[Taken] = []
        lost = {key: request for key, request in sent.items() if request.repeatable}
        try:
            outcomes = await self._connections.run_many(list(sent.values()), transaction=False)
            for key, found in zip(sent, outcomes, strict=True):
                if not getattr(found, "maybe_done", False):
                    lost.pop(key, None)
                if isinstance(found, list) and found:
                    values += found
                    self._rotation.gave(key)
        except RedissonDQError:
            # Nothing was sent.
            lost.clear()
            raise
        finally:
            with self.line.mutex:
                self.line.unclaim(wanted)
                for key, request in lost.items():
                    self._pumps[key].recover(request)
                self.line.admit()
                self.line.took(values)
                self._distribute(values)
        # Others may have taken the values of an earlier look.
        return bool(values) or (bool(asked) and not looked)
