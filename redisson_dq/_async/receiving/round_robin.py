"""Takes from several sources in turns, each of which may live on another node of a cluster.

No blocking command spans nodes. So each source has a blocking pop of its own: a background task, and a connection while
it blocks. One more background task looks first, at all sources that no pop is blocked on. It takes an equal share from
each source that has something. It begins behind the source that gave last, so a full one never starves another. When
all are empty it opens their pops.

A blocked pop says that its list is empty. It stays blocked for a moment when nobody waits any more. Unblocking all pops
after each value, and blocking them again for the next, would cost more than the values do. A value that comes to such a
pop goes back to its place.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.receiving.blocking_pop import BlockingPop
from redisson_dq._async.receiving.receiver import Notice, Receiver
from redisson_dq._async.receiving.waiters import WAKE
from redisson_dq._concurrency import AsyncBackgroundTask, AsyncCancelled, AsyncInbox
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.taken import Taken

__all__ = ["STAY", "RoundRobinReceiver"]

logger = logging.getLogger("redisson_dq")

#: How long pops stay blocked when nobody waits.
STAY = 1.0


class RoundRobinReceiver(Receiver):
    """Takes from several sources for all local callers, over one connection for each source."""

    def __init__(self, connections: Connections, notices: AsyncInbox[Notice], sources: Sequence[Source]) -> None:
        super().__init__(connections, notices, sources)
        self._sources = {source.key: source for source in sources}
        # The source whose turn it is comes first.
        self._order = list(self._sources)
        # Sources that had values at the last look, and have not been asked since.
        self._full: list[str] = []
        self._task: AsyncBackgroundTask | None = None
        self._is_running = False
        self._is_looking = False

    # -- where it differs --------------------------------------------------------------------------------------------

    def _make_pops(self, sources: Sequence[Source]) -> dict[str, BlockingPop]:
        return {
            each.key: BlockingPop(self._connections, each, self.waiters, AsyncInbox(), stay=STAY, is_open=False)
            for each in sources
        }

    @property
    def _is_attended(self) -> bool:
        return self._is_running

    def _serve(self) -> None:
        if not self._is_running:
            self._is_running = True
            self._task = AsyncBackgroundTask(self._run, f"redisson_dq-round-robin-{self.waiters.name}", shielded=True)
        self.waiters.inbox.put(WAKE)

    def _answer_expired(self) -> BlockingPop | None:
        if self.trouble is not None:
            self.waiters.answer_expired(self.trouble)
        elif not self._is_looking:
            self.waiters.answer_expired()
        return None

    def _nobody_waits(self) -> None:
        """The pops stay for a moment, then the background task ends them."""

    @property
    def is_at_rest(self) -> bool:
        return not self._is_running and super().is_at_rest

    async def shut(self) -> None:
        await super().shut()
        self.waiters.inbox.put(WAKE)

    # -- the background task -----------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while free := await self._next_round():
            try:
                # A single list needs no look: its pop does not block while the list has values.
                found = len(free) > 1 and await self._look(free)
            except (Exception, AsyncCancelled) as error:
                logger.debug("queue %r: cannot look what is ready: %s", self.waiters.name, error)
                # What fails here fails for the pops as well, and they can tell why.
                found = False
            with self.waiters.mutex:
                self._is_looking = False
                if not found:
                    for key in free:
                        self._pops[key].is_open = True
                        self._pops[key].wake()
                self.waiters.answer_expired()

    async def _next_round(self) -> list[str]:
        """Waits for a caller. Gives the keys without an open pop, in turn; none when the background task has to end."""
        stayed = False
        while True:
            with self.waiters.mutex:
                self.waiters.admit()
                for pop in self._pops.values():
                    pop.close_if_at_rest()
                free = [key for key in self._order if not self._pops[key].is_open]
                if self.waiters.is_unserved and free:
                    self._is_looking = True
                    self.waiters.asked()
                    return free
                if all(pop.is_blocked for pop in self._pops.values()):
                    # So each list is empty. No command is needed for callers who have come since.
                    self.waiters.asked()
                self.waiters.answer_expired()
                if stayed and not self.waiters.anyone:
                    for pop in self._pops.values():
                        pop.end()
                if (stayed and not self.waiters.anyone) or self.waiters.closed:
                    # A caller that comes from here on starts another background task.
                    self._is_running = False
                    if not self.waiters.inbox.count:
                        return []
                    self._is_running = True
                stay = None if self.waiters.anyone else STAY
            rung = await self.waiters.inbox.next(stay)
            stayed = rung is None
            if rung is not None:
                with self.waiters.mutex:
                    self.waiters.admit(rung)

    async def _look(self, keys: list[str]) -> bool:
        """Takes what is ready there for those who wait. False when it is time to block."""
        self._full = [key for key in self._full if key in keys]
        looked = not self._full
        if looked:
            # Errors are left to the pops, which retry or tell.
            lengths = await self._connections.run_many([self._sources[key].length() for key in keys], transaction=False)
            self._full = [key for key, length in zip(keys, lengths, strict=True) if isinstance(length, int) and length]
        with self.waiters.mutex:
            wanted = self.waiters.claim()
        asked, self._full = self._full[:wanted], self._full[wanted:]
        shares = {key: wanted // len(asked) + (place < wanted % len(asked)) for place, key in enumerate(asked)}
        requests = {key: self._sources[key].more(share) for key, share in shares.items()}
        sent = {key: request for key, request in requests.items() if request is not None}
        values: list[Taken] = []
        try:
            outcomes = await self._connections.run_many(list(sent.values()), transaction=False)
            for key, found in zip(sent, outcomes, strict=True):
                if isinstance(found, list) and found:
                    values += found
                    self._pass_turn(key)
        finally:
            with self.waiters.mutex:
                self.waiters.unclaim(wanted)
                self.waiters.admit()
                self.waiters.took(values)
                self._distribute(values)
        # Others may have taken what an earlier look found.
        return bool(values) or (bool(asked) and not looked)

    def _pass_turn(self, key: str) -> None:
        """This source gave values. All others come before it now."""
        behind = self._order.index(key) + 1
        self._order = self._order[behind:] + self._order[:behind]
