"""Ends leases in batches: all that ended while the last batch was under way go in one round trip.

Acks may go along with the next receive of their queue instead, in the same call. Where values wait for slots, it also
looks for free ones (:mod:`redisson_dq.working.slot_looks`).
"""

from __future__ import annotations

import logging
from typing import Any

from redisson_dq._async.connecting.connections import Connections
from redisson_dq._async.worker.repeating import LAST_ANSWER
from redisson_dq._concurrency import AsyncBackgroundTask, AsyncInbox
from redisson_dq.calls.endings import Ending, Nack
from redisson_dq.calls.settling import Settling
from redisson_dq.errors import DurabilityError, RedissonDQError
from redisson_dq.scheduling.pauses import Pauses
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.wire.request import Request
from redisson_dq.working.ends import END, ENDED, LOOK, PART, EndsLeases, Settlement, doubt
from redisson_dq.working.hooks import Hooks

__all__ = ["Settler", "call_up_more"]

logger = logging.getLogger("redisson_dq")

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
# One script call ends this many.
_AT_ONCE = 1000
# Between two checks whether the last outcomes are sent.
_CHECK = 0.05


class Settler(EndsLeases):
    """Sends acks and nacks of all queues of a worker. One that Redis does not take is tried until the lease ends."""

    def __init__(self, connections: Connections, hooks: Hooks) -> None:
        self._connections = connections
        inbox: AsyncInbox[Any] = AsyncInbox(connections.clock)
        outage, refusals, operations = connections.outage, connections.refusals, connections.operations
        super().__init__(inbox, connections.clock, hooks, outage, refusals, operations)
        # The same inbox, which is read here.
        self._inbox = inbox
        self._worker = AsyncBackgroundTask(self._run, "redisson_dq-settling", on_end=self._tear_away)

    async def aclose(self, timeout: float, timeout_away: float) -> None:
        """Sends the settlements that are left, within ``timeout`` seconds, and ``timeout_away`` while Redis is away."""
        self._settlements.put(END)
        began = self._clock.monotonic()
        while not await self._worker.join(_CHECK):
            passed = self._clock.monotonic() - began
            if passed > (min(timeout, timeout_away) if self._outage.is_going_on else timeout):
                self._gives_up = True
                # Wakes it from its pause.
                self._settlements.put(END)
                await self._worker.stop(LAST_ANSWER)
                break
        if not self._has_ended:
            self._tell_of_doubt()

    async def _run(self) -> None:
        try:
            await self._send_all()
        finally:
            # From here on nobody reads the inbox. A settlement that still comes finds that, or is found here.
            self._has_ended = True
            pending, self._pending = self._pending, []
            for settlement in pending:
                self._lose(settlement, ENDED)
            self._lose_rest()
            self._outage.gave_up(PART)

    async def _send_all(self) -> None:
        """Sends until nothing is left after the last settlement."""
        ends = False
        pauses = Pauses(_FIRST_PAUSE, _LONGEST_PAUSE)
        while self._pending or not ends:
            first = await self._inbox.next(pauses.next() if self._pending else self._looks.wait)
            while first is not None:
                if first is END:
                    ends = True
                elif first is not LOOK:
                    self._pending.append(first)
                first = self._settlements.poll()
            if not ends and not self._pending:
                await self._look()
            if self._pending:
                try:
                    self._pending = await self._send(self._pending)
                except Exception:
                    # A defect. These values come again at their deadlines.
                    logger.exception("worker: %d leases cannot be ended", len(self._pending))
                    self._pending = []
                if not self._pending:
                    pauses.reset()
                    if self._outage.is_going_on:
                        # Nothing is sent again, so no later answer would end the outage.
                        self._outage.gave_up(PART)

    async def _look(self) -> None:
        """Calls up values for slots that have become free without notice."""
        for source in self._looks.due():
            if source.call_up() is None:
                self._looks.forget(source)
            else:
                await call_up_more(self._connections, source)

    async def _send(self, settlements: list[Settlement]) -> list[Settlement]:
        """One round trip. Returns the ones that Redis did not take, and whose leases still run."""
        groups: dict[tuple[Settling, Ending], list[Settlement]] = {}
        for settlement in settlements:
            groups.setdefault((settlement.lease.settling, settlement.how), []).append(settlement)
        batches = [
            (settling, how, _as_sent(how, some[start : start + _AT_ONCE]))
            for (settling, how), some in groups.items()
            for start in range(0, len(some), _AT_ONCE)
        ]
        requests = []
        for settling, how, batch in batches:
            request = how.request(settling, [settlement.lease.id for settlement in batch])
            requests.append(settling.durably(request, None))
        # A slot may be free now.
        sources = dict.fromkeys(settling.source for settling, _ in groups)
        looks = [(source, look) for source in sources if (look := source.call_up()) is not None]
        results: list[Any]
        called_up: list[Any] = []
        told = [self.settling(how.name, batch) for _, how, batch in batches]
        tried = self._clock.monotonic()
        try:
            if len(requests) + len(looks) == 1:
                results = [await self._connections.run(requests[0])]
            else:
                together: list[Request[Any]] = [*requests, *(look for _, look in looks)]
                results = await self._connections.run_many(together)
                results, called_up = results[: len(requests)], results[len(requests) :]
        except RedissonDQError as error:
            results = [error] * len(requests)
        for settles, result in zip(told, results, strict=True):
            if settles is not None:
                settles.end_settling(result)
        # Each batch has its own error: one node of a cluster may be away, and another one refuse.
        failed: dict[Settlement, RedissonDQError] = {}
        for (settling, how, batch), result in zip(batches, results, strict=True):
            if isinstance(result, DurabilityError):
                logger.warning("queue %r: done, but not confirmed in time: %s", batch[0].lease.name, result)
                result = [how.done] * len(batch)
            if isinstance(result, RedissonDQError):
                failed.update(dict.fromkeys(batch, result))
                doubt(batch, result)
                self._refused(settling.source.key, result)
                continue
            self._refusals.ended((PART, settling.source.key))
            self.answered(batch, result)
        self._failed(failed.values(), tried)
        for (source, _), count in zip(looks, called_up, strict=False):
            if count and not isinstance(count, RedissonDQError):
                await call_up_more(self._connections, source)
        # In the order in which they were put.
        return [each for each in settlements if each in failed and self._still(each, failed[each])]


def _as_sent(how: Ending, batch: list[Settlement]) -> list[Settlement]:
    """One call puts values that go to the head back in their order. They were put last one first."""
    return batch[::-1] if isinstance(how, Nack) and how.is_to_head else batch


async def call_up_more(connections: Connections, source: LeaseSource) -> None:
    """Checks the values that a call has just called up.

    Programs that take without a lease, such as Redisson's ``take()``, may have been faster than the receives. Then the
    next values are called up, until one stays or none waits. Raises nothing of this library: a wait that begins later
    calls up as well.
    """
    try:
        count = 1
        while count and (request := source.call_up()) is not None:
            count = await connections.run(request)
    except RedissonDQError as error:
        logger.debug("list %r: no further value is called up: %s", source.key, error)
