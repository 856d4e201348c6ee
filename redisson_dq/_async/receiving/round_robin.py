"""Takes from several sources in rotation, each of which may live on another node of a cluster.

No blocking command spans nodes. So each source has a blocking pop of its own: a background task, and a connection while
it blocks. One more background task looks first, at all sources that no pop is blocked on. It takes an equal share from
each source that has something. It begins after the source that gave last, so a full one never starves another. When all
are empty it opens their pops.

A blocked pop says that its list is empty. It stays blocked for a moment when nobody waits any more. Unblocking all pops
after each value, and blocking them again for the next, would cost more than the values do. A value that comes to such a
pop goes back to its place.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.receiving.beginning import Begun
from redisson_dq._async.receiving.lookouts import Lookouts
from redisson_dq._async.receiving.pump import Pump
from redisson_dq._async.receiving.receiver import Notice, Receiver, Taker
from redisson_dq._concurrency import AsyncCancelled, AsyncInbox
from redisson_dq._redis import translate
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.waits.line import WAKE
from redisson_dq.waits.rotation import Rotation, evenly
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.taken import Taken

__all__ = ["STAY", "RoundRobinReceiver"]

logger = logging.getLogger("redisson_dq")

#: How long pops stay blocked when nobody waits.
STAY = 1.0
# How often the one pump is looked at that tries after a refusal, and the seconds between two looks.
_LOOKS, _BETWEEN = 20, 0.05


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
        self._rotation = Rotation([source.key for source in sources])
        # The background task: whether there is one, whether it looks, and whether it waits for its bell.
        self._is_running = self._is_looking = self._listens = False
        # Sources that had values at the last look, and have not been asked since.
        self._full: list[str] = []
        self._task: Begun | None = None

    @property
    def trouble(self) -> RedisConnectionError | None:
        """Why nothing can be taken just now. A pump that has nothing to do may not have noticed that Redis is back."""
        return next(filter(None, (pump.trouble for pump in self._pumps.values() if pump.is_busy)), None)

    # -- where it differs --------------------------------------------------------------------------------------------

    def _make_pumps(self, sources: Sequence[Source]) -> Mapping[str, Taker]:
        # The receiver's background task reads the inbox of the line, so each pump has a bell of its own.
        return {
            each.key: Pump(
                self._connections,
                each,
                self.line,
                self._debts[each],
                AsyncInbox(self._clock),
                self._beginner,
                stay=STAY,
            )
            for each in sources
        }

    @property
    def _is_attended(self) -> bool:
        return all(pump.is_running for pump in self._pumps.values()) if self._shares else self._is_running

    def _serve(self) -> None:
        if self._shares:
            for pump in self._pumps.values():
                pump.wake()
        elif self._is_running:
            self._ring()
        else:
            self._is_running = True
            self._task = self._beginner.begin(self._run, f"redisson_dq-round-robin-{self.line.name}")

    def _ring(self) -> None:
        # Callers ring the bell themselves, but others may have emptied the inbox since.
        if self._listens:
            self._inbox.put(WAKE)

    def _answer_expired(self) -> Pump | None:
        if (trouble := self.trouble) is not None:
            self.line.answer_expired(trouble)
        elif self._shares:
            unwatched = [pump for pump in self._pumps.values() if not pump.is_blocked]
            # Those are asked, which answers them. A reply that is under way may be older than the end of their time.
            for pump in unwatched:
                pump.answer_expired()
            if not unwatched:
                self.line.asked()
                self.line.answer_expired()
        elif not self._is_looking:
            self.line.answer_expired()
        return None

    def _nobody_waits(self) -> None:
        """The pops stay for a moment, then the background task ends them."""

    @property
    def is_quiet(self) -> bool:
        # A look has the values that it found until it is over.
        return not self._is_looking and super().is_quiet

    @property
    def is_at_rest(self) -> bool:
        return not self._is_running and super().is_at_rest

    async def shut(self) -> None:
        await super().shut()
        if not self._shares:
            with self.line.mutex:
                self._ring()

    # -- the background task -----------------------------------------------------------------------------------------

    async def _run(self) -> None:
        """Looks while somebody waits and no pop is blocked, then lets the pumps block, and waits for its bell.

        When nobody waits any more, the pops stay blocked for a moment, for callers who come back.
        """
        has_stayed = False
        while True:
            with self.line.mutex:
                self.line.admit()
                # The keys without a blocked pop, in rotation.
                free = [key for key in self._rotation.order if not self._pumps[key].is_busy]
                is_unserved = bool(free) and self.line.is_unserved(self._clock.monotonic())
                # The pump of a single list asks by itself. Where each pop is blocked, each list is empty, and no
                # command is needed for callers who have come since.
                if (is_unserved and len(free) > 1) or all(pump.is_blocked for pump in self._pumps.values()):
                    self.line.asked()
                if not is_unserved:
                    self.line.answer_expired(self.trouble)
                waits = self.line.anyone
                if not is_unserved and (self.line.closed or (has_stayed and not waits)) and self._leaves():
                    return
                self._is_looking, self._listens = is_unserved, not is_unserved
            if is_unserved:
                has_stayed = False
                await self._look_and_block(free)
                continue
            rung = await self._inbox.next(None if waits else STAY)
            has_stayed = rung is None
            with self.line.mutex:
                self._listens = False
                if rung is not None:
                    self.line.admit(rung)

    def _leaves(self) -> bool:
        """Ends the pops, and the background task. False where somebody came who still found it here."""
        if not self.line.closed:
            for pump in self._pumps.values():
                pump.end()
        # In this order: a caller rings first, and then looks whether there is a background task.
        self._is_running = False
        self._is_running = self._inbox.count > 0
        return not self._is_running

    async def _look_and_block(self, free: Sequence[str]) -> None:
        try:
            # A single list needs no look: its pop does not block while the list has values.
            found = len(free) > 1 and await self._look(free)
        except (Exception, AsyncCancelled) as error:
            logger.debug("queue %r: cannot see what is ready: %s", self.line.name, error)
            self._missed(dict.fromkeys(free, error), may_take=False)
            found = False
        if not found and self.line.is_refused:
            await self._try_one(self._pumps[free[0]])
        with self.line.mutex:
            self._is_looking = False
            for key in () if found or self.line.is_refused else free:
                self._pumps[key].wake()
            # Not those that the look failed for. The pumps that block for them now retry, or raise.
            self.line.answer_expired(self.trouble)

    async def _try_one(self, pump: Taker) -> None:
        """Lets one pump try after a refusal. If Redis refuses again, it answers all callers, and no other connects."""
        with self.line.mutex:
            self.line.is_refused = False
            pump.wake()
        blocked = 0
        for _ in range(_LOOKS):
            await self._clock.async_sleep(_BETWEEN)
            blocked = blocked + 1 if pump.is_blocked else 0
            if self.line.is_refused or self.line.closed or pump.trouble or blocked > 1 or not pump.is_busy:
                break

    async def _look(self, keys: Sequence[str]) -> bool:
        """Takes the values that are ready there for the callers that wait. False when it is time to block."""
        self._full = [key for key in self._full if key in keys]
        looked = not self._full
        if looked:
            asks = [self._pumps[key].source.length() for key in keys]
            lengths = await self._connections.run_many(asks)
            self._missed(dict(zip(keys, lengths, strict=True)), may_take=False)
            self._full = [key for key, length in zip(keys, lengths, strict=True) if isinstance(length, int) and length]
        with self.line.mutex:
            wanted = self.line.claim(self._clock.monotonic())
        asked, self._full = self._full[:wanted], self._full[wanted:]
        shares = dict(zip(asked, evenly(wanted, len(asked)), strict=True))
        requests = {key: self._pumps[key].source.more(share) for key, share in shares.items()}
        sent = {key: request for key, request in requests.items() if request is not None}
        values: list[Taken] = []
        lost = {key: request for key, request in sent.items() if request.repeatable}
        try:
            outcomes = await self._connections.run_many(list(sent.values()))
            self._missed(dict(zip(sent, outcomes, strict=True)), may_take=True)
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

    def _missed(self, outcomes: Mapping[str, object], *, may_take: bool) -> None:
        """Leaves the errors among the outcomes of a look to the pumps, which retry or raise. Meanwhile no caller gets
        the answer that nothing is there. ``may_take``: the request may have taken something.
        """
        errors = {key: outcome for key, outcome in outcomes.items() if isinstance(outcome, BaseException)}
        if not errors:
            return
        with self.line.mutex:
            self.line.broke()
            if not any(isinstance(error, RedisConnectionError) for error in errors.values()):
                self.line.is_refused = len(errors) == len(outcomes)
            for key, error in errors.items():
                pump = self._pumps[key]
                if isinstance(error, RedisConnectionError) and isinstance(pump, Pump):
                    pump.met(_of_queue(error, key, may_take=may_take))


def _of_queue(error: RedisConnectionError, key: str, *, may_take: bool) -> RedisConnectionError:
    """The error of a look at many queues, for those who wait for this one."""
    cause = error.__cause__
    if not isinstance(cause, Exception):
        return error
    made = translate(cause, f"queue {key!r}", sent=may_take and error.maybe_done)
    return made if isinstance(made, RedisConnectionError) else error
